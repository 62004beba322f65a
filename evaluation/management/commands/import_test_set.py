"""Import a judged test set made elsewhere: a pool and its judgements at once."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from core.management.shell import ShellCommand, file_bytes
from evaluation.labels.import_qrels import FORMATS, THRESHOLDS
from evaluation.test_sets.imports import import_test_set
from pooling.graphs.opening import get_graph
from pooling.management.pool_command import irregular_lines


class Command(ShellCommand):
    help = (
        "Import a judged test set: TSV head, relation, tail, label, or TREC qrels; plain or .gz. Its triples become an "
        "imported pool, its judgements qrels of the same name. All of it is taken, or nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("graph")
        parser.add_argument("file", type=Path, help="judgements: docs/formats.md")
        parser.add_argument("--name", required=True)
        parser.add_argument("--format", choices=list(FORMATS), default="tsv")
        graded = "the labels are grades from 0 to 3 (-1: unjudged), and this grade or more is positive"
        parser.add_argument("--threshold", type=int, choices=THRESHOLDS, help=graded)
        sampled = "TSV of the test triples that were sampled; default: those that the file calls positive"
        parser.add_argument("--seeds", type=Path, metavar="FILE", help=sampled)

    def handle(self, *args: Any, **options: Any) -> str:
        file, named = options["file"], {name: options[name] for name in ("name", "format", "threshold")}
        raw, graph = file_bytes(file), get_graph(options["graph"])
        qrels = import_test_set(graph, raw, file.name, seeds_file=options["seeds"], **named)
        pool = qrels.pool
        self.warn(irregular_lines(pool))
        counts = f"{pool.seeds.count():,} seeds, {pool.triples.count():,} pooled triples; {qrels.counts_in_words}"
        after = f"Next: score_runs {pool.name}, then evaluate {pool.name} --labels imported:{qrels.name}"
        return "\n".join([f"{pool.name}: {counts}", *qrels.notes, after])
