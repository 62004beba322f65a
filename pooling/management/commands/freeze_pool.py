"""Freeze a pool."""

from argparse import ArgumentParser
from typing import Any

from core.management.shell import ShellCommand
from pooling.pools.build import freeze_pool, get_pool


class Command(ShellCommand):
    help = "Freeze a pool. It can no longer grow, and its filters can no longer change. You cannot undo this."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("pool")

    def handle(self, *args: Any, **options: Any) -> str:
        pool = get_pool(options["pool"])
        freeze_pool(pool)
        return f"{pool.name} is frozen: {pool.triples.count():,} triples, depth {pool.depth}"
