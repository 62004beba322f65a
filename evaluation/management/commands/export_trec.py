"""Export a pool in TREC form."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from core.management.shell import ShellCommand
from evaluation.labels.qrels import get_qrels
from evaluation.test_sets.export import export_trec
from pooling.pools.build import get_pool


class Command(ShellCommand):
    help = (
        "Export topics, pool, qrels and runs to a new folder, for trec_eval, pytrec_eval and ir_measures. The files "
        "are those of the folder trec/ of a test set. The command freezes nothing; for a permanent test set, use "
        "export_test_set."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("pool")
        parser.add_argument("folder", type=Path, help="folder to write")
        parser.add_argument("--qrels", help="name of frozen qrels; default: the current labels")
        parser.add_argument("--strict", action="store_true", help="leave assumed negatives unjudged (-1)")

    def handle(self, *args: Any, **options: Any) -> str:
        pool = get_pool(options["pool"])
        qrels = get_qrels(pool, options["qrels"]) if options["qrels"] else None
        files = export_trec(pool, options["folder"], qrels, options["strict"])
        return "\n".join(f"{path}: {path.stat().st_size:,} bytes" for path in files)
