"""Filter a pool anew, before labelling begins."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from core.management.shell import user_errors
from pooling.management.options import filters_named
from pooling.pools.build import get_pool
from pooling.pools.filtering import refilter_pool
from pooling.pools.kernels.filters import FILTERS
from pooling.pools.report import pool_counts


class Command(BaseCommand):
    help = "Filter a pool by other filters. Refused once the pool is frozen or has a campaign."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("pool")
        parser.add_argument("--filters", required=True, help=f"of {', '.join(FILTERS)}; or category, none")

    def handle(self, *args: Any, **options: Any) -> None:
        filters = filters_named(options["filters"])
        with user_errors():
            pool = get_pool(options["pool"])
            changed = refilter_pool(pool, filters)
        counts = pool_counts(pool)
        for name in filters:
            self.stdout.write(f"  {name:16}{counts['by_reason'].get(name, 0):>9,}")
        self.stdout.write(
            f"{pool.name}: {counts['pooled']:,} pooled triples, {counts['filtered']:,} filtered, "
            f"{counts['to_people']:,} to people; {changed:,} changed their reason"
        )
