"Import a knowledge graph from files in one of many layouts, from PyKEEN, or from the family generator."

import json
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from core.management.shell import ShellCommand
from pooling.graphs.bundled import FAMILIES, FamilyOptions, bundled_source
from pooling.graphs.imports import check_new_name, import_graph
from pooling.graphs.source_data import GraphError, GraphSourceData, plural
from pooling.graphs.tsv import read_tsv
from pooling.layouts.layout import LayoutOptions
from pooling.layouts.preview import preview_lines
from pooling.layouts.recognise import read_layout
from pooling.layouts.tables import SEPARATORS
from pooling.models import Graph

LAYOUT_OPTIONS = ("folder", "separator", "columns", "header", "ignore_time", "drop_qualifiers", "link_pattern")
_FAMILY: dict[str, tuple[type, str]] = {
    "families": (int, "number of families"),
    "people": (int, "largest number of people in a family"),
    "seed": (int, "seed of all random choices"),
    "density": (float, "share of facts kept"),
    "train_share": (float, "share of kept facts for training"),
}


class Command(ShellCommand):
    help = "Import a knowledge graph from files in one of many layouts, from PyKEEN, or from the family generator."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="name of the new graph")
        source = parser.add_mutually_exclusive_group(required=True)
        known = "folder, .zip, .tar.gz or file in a layout of docs/formats.md; the command shows what it read first"
        source.add_argument("path", nargs="?", metavar="PATH", help=known)
        source.add_argument("--tsv", metavar="DIR", help="folder with train, valid, test (.tsv or .txt, or .gz)")
        source.add_argument("--pykeen", metavar="DATASET", help="a dataset that PyKEEN ships: Nations, UMLS, Kinships")
        source.add_argument(
            "--family-tree", action="store_true", help="draw families, for which all true facts are known"
        )
        family, default = parser.add_argument_group("with --family-tree"), FamilyOptions()
        for key, (kind, text) in _FAMILY.items():
            usual = getattr(default, key)
            family.add_argument(f"--{key.replace('_', '-')}", type=kind, help=f"{text} (default {usual})")
        _add_layout_options(parser)
        parser.add_argument(
            "--unseen",
            choices=("keep", "drop"),
            default="keep",
            help="keep or drop valid and test triples with entities that train lacks (default keep)",
        )
        parser.add_argument("--json", action="store_true", help="print the result as JSON")

    def handle(self, *args: Any, **options: Any) -> str:
        check_new_name(options["name"])
        if "" in (options["path"], options["pykeen"]):
            raise GraphError("The source of the graph is empty: write a path, or the name of a data set.")
        if options["path"]:
            found = self._layout(options)
            if found is None:
                return "Nothing was imported."
            source, asked = found
        else:
            source, asked = self._source(options)
        graph = import_graph(options["name"], source, unseen=options["unseen"], options=asked, progress=self._progress)
        return _json(graph) if options["json"] else "\n".join(_lines(graph))

    def _source(self, options: dict[str, Any]) -> tuple[GraphSourceData, dict[str, Any]]:
        """Return the source's data, and the options as the graph's row keeps them."""
        given = {key: options[key] for key in _FAMILY if options[key] is not None}
        if options["family_tree"]:
            return bundled_source(FAMILIES, **given)
        if given:
            names = ", ".join(f"--{key.replace('_', '-')}" for key in given)
            raise GraphError(f"{names}: only with --family-tree; leave it out or draw families.")
        if options["pykeen"]:
            return bundled_source(options["pykeen"])
        self.stderr.write(f"reading {options['tsv']}")
        return read_tsv(options["tsv"]), {"tsv": options["tsv"]}

    def _layout(self, options: dict[str, Any]) -> tuple[GraphSourceData, dict[str, Any]] | None:
        """Read a path, show what was found, and ask; None where the answer is no."""
        shares = tuple(options["shares"])
        asked = LayoutOptions(
            **{key: options[key] for key in LAYOUT_OPTIONS}, shares=(shares[0], shares[1]), seed=options["split_seed"]
        )
        self.stderr.write(f"reading {options['path']}")
        reading = read_layout(options["path"], asked)
        for line in preview_lines(reading):
            self.stderr.write(line)
        if not options["yes"]:
            if not sys.stdin.isatty():
                raise GraphError("Nobody can be asked whether this is right: add --yes to import it as shown.")
            self.stderr.write("Import this? [y/N] ", ending="")
            if input().strip().lower() not in ("y", "yes"):
                return None
        return reading.source_data(), {"path": options["path"], "layout": reading.found.layout}

    def _progress(self, stage: str, done: int, total: int) -> None:
        self.stderr.write(f"{stage}: {done} of {total}")


def _add_layout_options(parser: ArgumentParser) -> None:
    usual = LayoutOptions()
    files = parser.add_argument_group("with PATH")
    files.add_argument("--yes", action="store_true", help="import without asking")
    files.add_argument("--folder", default="", help="folder of the splits, if there are several")
    files.add_argument("--separator", default="", choices=("", *SEPARATORS), help="separator of the columns")
    files.add_argument("--columns", default="", help="order of head, relation and tail, as hrt or htr")
    first = "whether the first line names the columns (usually detected)"
    files.add_argument("--header", default="", choices=("", "yes", "no"), help=first)
    files.add_argument("--ignore-time", action="store_true", help="drop the time of quadruples")
    files.add_argument("--drop-qualifiers", action="store_true", help="drop the qualifiers after a triple")
    pattern = "link for entities without one, such as https://www.wikidata.org/wiki/{id}"
    files.add_argument("--link-pattern", default="", metavar="URL", help=pattern)
    shares = "shares of valid and test if there are no splits (default {:g} {:g})".format(*usual.shares)
    files.add_argument("--shares", nargs=2, type=float, default=usual.shares, metavar=("VALID", "TEST"), help=shares)
    files.add_argument("--split-seed", type=int, default=usual.seed, help="seed of these splits (default 0)")


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
