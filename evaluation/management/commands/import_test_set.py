"""Import a judged test set made elsewhere: a pool and its judgements at once."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from core.management.shell import ShellCommand, file_bytes
from evaluation.labels.import_qrels import BOUNDS, FORMATS, THRESHOLDS
from evaluation.test_sets.imports import import_test_set
from evaluation.test_sets.restore import restore_test_set
from pooling.graphs.opening import get_graph
from pooling.management.pool_command import irregular_lines


class Command(ShellCommand):
    help = (
        "Import a test set that export_test_set wrote, as a folder or .zip: graph, pool, labels, runs and qrels. Or "
        "import judgements made elsewhere (GRAPH FILE --name POOL; TSV head, relation, tail, label, or TREC qrels; "
        "plain or .gz). Their triples become an imported pool, and the judgements become qrels of the same name. If "
        "something is wrong, nothing is imported."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "source", metavar="FOLDER_OR_GRAPH", help="folder or .zip that export_test_set wrote; or a graph"
        )
        parser.add_argument("file", type=Path, nargs="?", metavar="FILE", help="judgements of triples of this graph")
        parser.add_argument("--name", default="", help="name of the pool; default for a folder: its original name")
        parser.add_argument("--graph", default="", help="name of a folder's graph; default: its original name")
        parser.add_argument("--format", choices=list(FORMATS), default="tsv")
        graded = "read the labels as grades from 0 to 3 (-1: unjudged); this grade and higher ones are positive"
        parser.add_argument("--threshold", type=int, choices=THRESHOLDS, help=graded)
        sampled = "TSV of the sampled test triples; default: those that the file labels positive"
        parser.add_argument("--seeds", type=Path, metavar="FILE", help=sampled)

    def handle(self, *args: Any, **options: Any) -> str:
        if options["file"] is None:
            return self._restore(Path(options["source"]), options)
        if not options["name"]:
            raise CommandError("Give the new pool a name: --name POOL.")
        if options["graph"]:
            raise CommandError("--graph names the graph of a folder; here the graph is the first argument.")
        file, named = options["file"], {name: options[name] for name in ("name", "format", "threshold")}
        raw, graph = file_bytes(file, BOUNDS.bytes), get_graph(options["source"])
        qrels = import_test_set(graph, raw, file.name, seeds_file=options["seeds"], **named)
        pool = qrels.pool
        self.warn(irregular_lines(pool))
        counts = f"{pool.seeds.count():,} seeds, {pool.triples.count():,} pooled triples; {qrels.counts_in_words}"
        after = f"Next: score_runs {pool.name}, then evaluate {pool.name} --labels imported:{qrels.name}"
        return "\n".join([f"{pool.name}: {counts}", *qrels.notes, after])

    def _restore(self, path: Path, options: dict[str, Any]) -> str:
        if given := [f"--{name}" for name in ("seeds", "threshold") if options[name]]:
            raise CommandError(f"{' and '.join(given)}: not with a folder, which has its own seeds and judgements.")
        qrels = restore_test_set(path, name=options["name"], graph_name=options["graph"])
        pool = qrels.pool
        counts = f"{pool.seeds.count():,} seeds, {pool.triples.count():,} pooled triples; {qrels.counts_in_words}"
        systems = ", ".join(qrels.systems or []) or "none"
        lines = [f"graph {pool.graph.name}", f"{pool.name}: {counts}", f"systems: {systems}"]
        return "\n".join([*lines, f"Next: evaluate {pool.name} --labels qrels:{qrels.name}"])
