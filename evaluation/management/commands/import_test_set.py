"""Import a judged test set made elsewhere: a pool and its judgements at once."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from core.management.shell import file_bytes, user_errors
from evaluation.labels.import_qrels import FORMATS
from evaluation.test_sets.imports import import_test_set
from pooling.graphs.imports import get_graph


class Command(BaseCommand):
    help = (
        "Import a judged test set: TSV head, relation, tail, label, or TREC qrels; plain or .gz. Its triples become an "
        "imported pool, its judgements qrels of the same name. All of it is taken, or nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("graph")
        parser.add_argument("file", type=Path)
        parser.add_argument("--name", required=True)
        parser.add_argument("--format", choices=list(FORMATS), default="tsv")
        parser.add_argument(
            "--seeds",
            type=Path,
            metavar="FILE",
            help="TSV of the test triples that were sampled; default: those that the file calls positive",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        file = options["file"]
        raw = file_bytes(file)
        with user_errors():
            qrels = import_test_set(
                get_graph(options["graph"]),
                raw,
                file.name,
                name=options["name"],
                format=options["format"],
                seeds_file=options["seeds"],
            )
        pool = qrels.pool
        for entry in pool.report:
            self.stderr.write(f"left out, {entry['kind']}: {entry['count']} lines")
            for example in entry["examples"]:
                self.stderr.write(f"  {example}")
        self.stdout.write(
            f"{pool.name}: {pool.seeds.count():,} seeds, {pool.triples.count():,} pooled triples; "
            f"{qrels.num_positive:,} positive, {qrels.num_negative:,} negative, "
            f"{qrels.num_assumed_negative:,} assumed negative, {qrels.num_unjudged:,} unjudged"
        )
        for note in qrels.notes:
            self.stdout.write(note)
        self.stdout.write(f"Next: score_runs {pool.name}, then evaluate {pool.name} --labels imported:{qrels.name}")
