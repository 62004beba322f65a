"""Freeze the present judgements of a pool under a name."""

from argparse import ArgumentParser
from typing import Any

from core.management.shell import ShellCommand
from evaluation.labels.qrels import freeze_qrels
from pooling.pools.build import get_pool


class Command(ShellCommand):
    help = "Freeze the judgements of this moment; the file never changes again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("pool")
        parser.add_argument("name", help="name of the qrels, used once and for all")
        parser.add_argument(
            "--licence",
            default="",
            help="of the test set: an SPDX identifier such as CC-BY-4.0, LicenseRef-NAME, or other: and any text",
        )
        parser.add_argument("--citation", default="", help="how the test set is to be cited")

    def handle(self, *args: Any, **options: Any) -> str:
        terms = {name: options[name] for name in ("licence", "citation")}
        qrels = freeze_qrels(get_pool(options["pool"]), options["name"], **terms)
        return f"{qrels}: {qrels.counts_in_words}; SHA-256 {qrels.sha256}"
