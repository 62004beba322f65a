"""Import a pool made elsewhere."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from core.management.shell import user_errors
from pooling.graphs.imports import get_graph
from pooling.management.options import filters_named
from pooling.pools.build import import_pool
from pooling.pools.report import pool_counts


class Command(BaseCommand):
    help = "Import a pool: TSV of head, relation, tail, smallest depth [, provenance], and its seed triples."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("graph")
        parser.add_argument("--name", required=True)
        parser.add_argument("--file", type=Path, required=True, metavar="POOL.tsv")
        parser.add_argument("--seeds", type=Path, required=True, metavar="FILE")
        parser.add_argument("--filters", default="category,types")

    def handle(self, *args: Any, **options: Any) -> None:
        filters = filters_named(options["filters"])
        with user_errors():
            pool = import_pool(
                get_graph(options["graph"]),
                name=options["name"],
                file=options["file"],
                seeds_file=options["seeds"],
                filters=filters,
            )
        for entry in pool.report:
            self.stderr.write(f"left out, {entry['kind']}: {entry['count']} lines")
            for example in entry["examples"]:
                self.stderr.write(f"  {example}")
        counts = pool_counts(pool)
        self.stdout.write(
            f"{pool.name}: {counts['seeds']:,} seeds, {counts['pooled']:,} pooled triples, "
            f"{counts['filtered']:,} filtered, {counts['to_people']:,} to people"
        )
