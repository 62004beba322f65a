"""Import a knowledge graph from a TSV folder, from PyKEEN, or from the family generator."""

import json
from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from core.management.shell import ShellCommand
from pooling.graphs.bundled import FamilyOptions, family_tree, read_pykeen
from pooling.graphs.imports import check_new_name, import_graph
from pooling.graphs.source_data import GraphError, GraphSourceData, plural
from pooling.graphs.tsv import read_tsv
from pooling.models import Graph

_FAMILY: dict[str, tuple[type, str]] = {
    "families": (int, "number of families"),
    "people": (int, "most people of one family"),
    "seed": (int, "seed of everything drawn"),
    "density": (float, "share of facts kept"),
    "train_share": (float, "share of kept facts for training"),
}


class Command(ShellCommand):
    help = "Import a knowledge graph from a TSV folder, from PyKEEN, or from the family generator."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="what the graph is called")
        source = parser.add_mutually_exclusive_group(required=True)
        source.add_argument("--tsv", metavar="DIR", help="folder with train, valid, test (.tsv or .txt, or .gz)")
        source.add_argument("--pykeen", metavar="DATASET", help="a dataset that PyKEEN ships: Nations, UMLS, Kinships")
        source.add_argument("--family-tree", action="store_true", help="draw families; all true facts are known")
        family, default = parser.add_argument_group("with --family-tree"), FamilyOptions()
        for key, (kind, text) in _FAMILY.items():
            usual = getattr(default, key)
            family.add_argument(f"--{key.replace('_', '-')}", type=kind, help=f"{text} (default {usual})")
        parser.add_argument(
            "--unseen",
            choices=("keep", "drop"),
            default="keep",
            help="valid and test triples with entities that train does not have (default keep)",
        )
        parser.add_argument("--json", action="store_true", help="print the result as JSON")

    def handle(self, *args: Any, **options: Any) -> str:
        check_new_name(options["name"])
        source, asked = self._source(options)
        graph = import_graph(options["name"], source, unseen=options["unseen"], options=asked, progress=self._progress)
        return _json(graph) if options["json"] else "\n".join(_lines(graph))

    def _source(self, options: dict[str, Any]) -> tuple[GraphSourceData, dict[str, Any]]:
        """Return the source's data, and the options as the graph's row keeps them."""
        given = {key: options[key] for key in _FAMILY if options[key] is not None}
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


_COUNTS = {
    "entities": ("entity", "entities"),
    "relations": ("relation",),
    "train": ("train triple",),
    "valid": ("valid triple",),
    "test": ("test triple",),
}


def _json(graph: Graph) -> str:
    counts = {key: getattr(graph, f"num_{key}") for key in _COUNTS}
    result = {"name": graph.name, "source": graph.source, **counts, "report": graph.report}
    return json.dumps({**result, "closed_world": graph.has_closed_world}, ensure_ascii=False)


def _lines(graph: Graph) -> Iterator[str]:
    counts = ", ".join(plural(getattr(graph, f"num_{key}"), *words) for key, words in _COUNTS.items())
    yield f"Graph {graph.name}: {counts}."
    for entry in graph.report:
        yield f"- {entry['message']}"
        yield from (f"    {example}" for example in entry["examples"])
