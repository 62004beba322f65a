"""Import a pool made elsewhere."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from core.files.lines import ON_SERVER
from core.management.shell import ShellCommand
from pooling.graphs.opening import get_graph
from pooling.management.pool_command import filters_named, irregular_lines, pool_line
from pooling.pools.build import import_pool
from pooling.pools.diagnosis import diagnosis_of, diagnosis_says
from pooling.pools.kernels.filters import DEFAULT_TEXT, FILTERS_HELP


class Command(ShellCommand):
    help = "Import a pool: TSV of head, relation, tail, smallest depth [, provenance], and its seed triples."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("graph")
        parser.add_argument("--name", required=True)
        parser.add_argument(
            "--file", type=Path, required=True, metavar="POOL.tsv", help="file of pooled triples; see docs/formats.md"
        )
        parser.add_argument("--seeds", type=Path, required=True, metavar="FILE", help="TSV of the sampled test triples")
        parser.add_argument("--filters", default=DEFAULT_TEXT, help=f"{FILTERS_HELP} (default {DEFAULT_TEXT})")

    def handle(self, *args: Any, **options: Any) -> str:
        filters, graph = filters_named(options["filters"]), get_graph(options["graph"])
        name, file, seeds = options["name"], options["file"], options["seeds"]
        pool = import_pool(graph, name=name, file=file, seeds_file=seeds, filters=filters, bounds=ON_SERVER)
        self.warn(irregular_lines(pool))
        found = diagnosis_of(pool)
        return "\n".join([pool_line(pool), *(diagnosis_says(found) if found else ())])
