"""Freeze the present judgements of a pool under a name."""

from argparse import ArgumentParser
from typing import Any

from core.management.shell import ShellCommand
from evaluation.labels.qrels import STATE_NAMES, freeze_qrels, freeze_warnings
from evaluation.labels.terms import given_terms
from evaluation.management.commands.edit_terms import add_terms
from pooling.enums import TO_PEOPLE
from pooling.pools.build import get_pool


class Command(ShellCommand):
    help = "Freeze the current judgements as qrels, which never change again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("pool")
        parser.add_argument("name", help="name of the new qrels; it cannot be used again")
        add_terms(parser)

    def handle(self, *args: Any, **options: Any) -> str:
        pool = get_pool(options["pool"])
        qrels = freeze_qrels(pool, options["name"], **given_terms(options))
        counts = {name: getattr(qrels, f"num_{name}") for name in STATE_NAMES.values()}
        self.warn(freeze_warnings(counts, pool.triples.filter(reason=TO_PEOPLE).count()))
        return f"{qrels}: {qrels.counts_in_words}; SHA-256 {qrels.sha256}"
