"""import_graph NAME (--tsv DIR | --pykeen DATASET | --family-tree ...): see DESIGN §4."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from pooling.graphs.bundled import FamilyOptions, family_tree, read_pykeen, read_tsv
from pooling.graphs.imports import GraphError, GraphSourceData, check_new_name, import_graph
from pooling.graphs.source_data import plural
from pooling.models import Graph


class Command(BaseCommand):
    help = "Import a knowledge graph from a TSV folder, from PyKEEN, or from the family generator."

    def add_arguments(self, parser: ArgumentParser) -> None:
        default = FamilyOptions()
        parser.add_argument("name", help="what the graph is called")
        source = parser.add_mutually_exclusive_group(required=True)
        source.add_argument("--tsv", metavar="DIR", help="folder with train, valid, test (.tsv or .txt, or .gz)")
        source.add_argument("--pykeen", metavar="DATASET", help="a dataset that PyKEEN ships: Nations, UMLS, Kinships")
        source.add_argument("--family-tree", action="store_true", help="draw families; all true facts are known")
        family = parser.add_argument_group("with --family-tree")
        family.add_argument("--families", type=int, help=f"number of families (default {default.families})")
        family.add_argument("--people", type=int, help=f"most people of one family (default {default.people})")
        family.add_argument("--seed", type=int, help=f"seed of everything drawn (default {default.seed})")
        family.add_argument("--density", type=float, help=f"share of facts kept (default {default.density})")
        family.add_argument(
            "--train-share", type=float, help=f"share of kept facts for training (default {default.train_share})"
        )
        parser.add_argument(
            "--unseen",
            choices=("keep", "drop"),
            default="keep",
            help="valid and test triples with entities that train does not have (default keep)",
        )
        parser.add_argument("--json", action="store_true", help="print the result as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            check_new_name(options["name"])
            source, asked = self._source(options)
            graph = import_graph(
                options["name"], source, unseen=options["unseen"], options=asked, progress=self._progress
            )
        except GraphError as error:
            raise CommandError(str(error)) from error
        self._print_json(graph) if options["json"] else self._print(graph)

    def _source(self, options: dict[str, Any]) -> tuple[GraphSourceData, dict[str, Any]]:
        """The source's data, and what was asked for, as the graph's row remembers it."""
        given = {
            key: options[key]
            for key in ("families", "people", "seed", "density", "train_share")
            if options[key] is not None
        }
        if options["family_tree"]:
            family = FamilyOptions(**given)
            return family_tree(family), {"family_tree": vars(family)}
        if given:
            names = ", ".join(f"--{key.replace('_', '-')}" for key in given)
            raise GraphError(f"{names}: only with --family-tree; leave it out or draw families.")
        if options["pykeen"]:
            return read_pykeen(options["pykeen"]), {"pykeen": options["pykeen"]}
        self.stderr.write(f"reading {options['tsv']}")
        return read_tsv(options["tsv"]), {"tsv": options["tsv"]}

    def _progress(self, stage: str, done: int, total: int) -> None:
        self.stderr.write(f"{stage}: {done} of {total}")

    def _print_json(self, graph: Graph) -> None:
        counts = {key: getattr(graph, f"num_{key}") for key in _COUNTS}
        result = {"name": graph.name, "source": graph.source, **counts, "report": graph.report}
        self.stdout.write(json.dumps({**result, "closed_world": graph.has_closed_world}, ensure_ascii=False))

    def _print(self, graph: Graph) -> None:
        counts = ", ".join(plural(getattr(graph, f"num_{key}"), *words) for key, words in _COUNTS.items())
        self.stdout.write(f"Graph {graph.name}: {counts}.")
        for entry in graph.report:
            self.stdout.write(f"- {entry['message']}")
            for example in entry["examples"]:
                self.stdout.write(f"    {example}")


_COUNTS = {
    "entities": ("entity", "entities"),
    "relations": ("relation",),
    "train": ("train triple",),
    "valid": ("valid triple",),
    "test": ("test triple",),
}
