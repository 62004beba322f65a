"""Freeze the present judgements of a pool under a name."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from core.management.shell import user_errors
from evaluation.labels.qrels import freeze_qrels
from pooling.pools.build import get_pool


class Command(BaseCommand):
    help = "Freeze the judgements of this moment; the file never changes again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("pool")
        parser.add_argument("name")
        parser.add_argument("--licence", default="", help="of the test set: CC-BY-4.0")
        parser.add_argument("--citation", default="", help="how the test set is to be cited")

    def handle(self, *args: Any, **options: Any) -> None:
        with user_errors():
            qrels = freeze_qrels(
                get_pool(options["pool"]), options["name"], licence=options["licence"], citation=options["citation"]
            )
        self.stdout.write(
            f"{qrels}: {qrels.num_positive:,} positive, {qrels.num_negative:,} negative, "
            f"{qrels.num_assumed_negative:,} assumed negative, {qrels.num_unjudged:,} unjudged; SHA-256 {qrels.sha256}"
        )
