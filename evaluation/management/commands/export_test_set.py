"""Export a completed test set to a folder."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from evaluation.domain.export import ExportOptions, check_folder, export_test_set
from evaluation.domain.qrels import freeze_qrels, get_qrels
from pooling.domain.audit import record
from pooling.domain.pool import get_pool
from pooling.enums import AuditAct
from pooling.management.shell import user_errors


class Command(BaseCommand):
    help = "Export frozen qrels: triples, judgements, TREC files, numbers, checksums. Freezes first if none is named."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("pool")
        parser.add_argument("folder", type=Path)
        parser.add_argument("--qrels", help="name of frozen qrels")
        parser.add_argument(
            "--strict", action="store_true", help="leave assumed negatives unjudged (-1) in TREC qrels"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        with user_errors():
            pool = get_pool(options["pool"])
            check_folder(options["folder"])  # before anything is frozen
            if options["qrels"]:
                qrels = get_qrels(pool, options["qrels"])
            else:
                qrels = freeze_qrels(pool, f"export-{timezone.now():%Y%m%d-%H%M%S}")
                self.stderr.write(f"Froze the present judgements as qrels {qrels.name}.")
            files = export_test_set(qrels, options["folder"], ExportOptions(strict=options["strict"]))
            record(None, AuditAct.TEST_SET_EXPORTED, pool=pool, about=pool.name, qrels=qrels.name)
        for path in files:
            self.stdout.write(f"{path}  {path.stat().st_size:,} bytes")
