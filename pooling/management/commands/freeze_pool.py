"""Freeze a pool."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from core.management.shell import user_errors
from pooling.pools.build import freeze_pool, get_pool


class Command(BaseCommand):
    help = "Freeze a pool: from then on it neither grows nor is filtered anew. There is no way back."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("pool")

    def handle(self, *args: Any, **options: Any) -> None:
        with user_errors():
            pool = get_pool(options["pool"])
            freeze_pool(pool)
        self.stdout.write(f"{pool.name} is frozen: {pool.triples.count():,} triples, depth {pool.depth}")
