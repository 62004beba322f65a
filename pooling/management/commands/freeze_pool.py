"""Freeze a pool."""

from argparse import ArgumentParser
from typing import Any

from core.management.shell import ShellCommand
from pooling.pools.build import freeze_pool, get_pool


class Command(ShellCommand):
    help = "Freeze a pool: from then on it neither grows nor is filtered anew. There is no way back."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("pool")

    def handle(self, *args: Any, **options: Any) -> str:
        pool = get_pool(options["pool"])
        freeze_pool(pool)
        return f"{pool.name} is frozen: {pool.triples.count():,} triples, depth {pool.depth}"
