"""Export a completed test set to a folder."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from core import clock
from core.management.shell import ShellCommand
from core.people.audit_log import record
from evaluation.enums import EvaluationAct
from evaluation.labels.qrels import freeze_qrels, get_qrels
from evaluation.labels.terms import given_terms
from evaluation.management.commands.edit_terms import add_terms
from evaluation.test_sets.export import check_folder, export_test_set
from evaluation.test_sets.files import ExportOptions
from pooling.pools.build import get_pool


class Command(ShellCommand):
    help = (
        "Export the test set of frozen qrels: triples, judgements, labels, TREC files. Without --qrels, the "
        "command freezes the current labels first."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("pool")
        parser.add_argument("folder", type=Path, help="folder to write")
        parser.add_argument("--qrels", help="name of frozen qrels")
        add_terms(parser)
        for name, text in (
            ("without-runs", "leave out runs and their measures"),
            ("without-evidence", "leave out evidence links"),
            ("positives-only", "export only lines about positive triples"),
            ("strict", "leave assumed negatives unjudged (-1) in TREC qrels"),
        ):
            parser.add_argument(f"--{name}", action="store_true", help=text)

    def handle(self, *args: Any, **options: Any) -> str:
        asked = ExportOptions(
            not options["without_runs"], not options["without_evidence"], options["positives_only"], options["strict"]
        )
        terms = given_terms(options)
        if options["qrels"] and terms:
            raise CommandError("These qrels have terms already: edit_terms changes them.")
        pool = get_pool(options["pool"])
        check_folder(options["folder"])  # before anything is frozen
        if options["qrels"]:
            qrels = get_qrels(pool, options["qrels"])
        else:
            qrels = freeze_qrels(pool, f"export-{clock.now():%Y%m%d-%H%M%S}", **terms)
            self.stderr.write(f"Froze the present judgements as qrels {qrels.name}.")
        files = export_test_set(qrels, options["folder"], asked)
        record(None, EvaluationAct.TEST_SET_EXPORTED, pool=pool, about=pool.name, qrels=qrels.name)
        return "\n".join(f"{path}  {path.stat().st_size:,} bytes" for path in files)
