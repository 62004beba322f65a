"""Filter a pool anew, before labelling begins."""

from argparse import ArgumentParser
from typing import Any

from core.management.shell import ShellCommand
from pooling.graphs.opening import open_graph
from pooling.management.pool_command import filters_named
from pooling.pools.build import get_pool
from pooling.pools.filtering import refilter_pool, why_types_idle
from pooling.pools.kernels.filters import FILTERS_HELP
from pooling.pools.report import pool_counts


class Command(ShellCommand):
    help = "Change the filters of a pool. This is refused if the pool is frozen or has a campaign."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("pool")
        parser.add_argument("--filters", required=True, help=FILTERS_HELP)

    def handle(self, *args: Any, **options: Any) -> str:
        filters = filters_named(options["filters"])
        pool = get_pool(options["pool"])
        changed = refilter_pool(pool, filters)
        if idle := why_types_idle(open_graph(pool.graph), filters):
            self.warn([idle])
        counts = pool_counts(pool)
        taken = "".join(f"  {name:16}{counts['by_reason'].get(name, 0):>9,}\n" for name in filters)
        return (
            f"{taken}{pool.name}: {counts['pooled']:,} pooled triples, {counts['filtered']:,} filtered, "
            f"{counts['to_people']:,} to people; {changed:,} changed their reason"
        )
