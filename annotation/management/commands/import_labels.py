"""Import labels made elsewhere."""

import json
from argparse import ArgumentParser
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.judging.judgements import ImportReport, import_labels
from core.management.shell import user_errors
from pooling.pools.build import get_pool

_NAMED = 100  # irregular lines that are printed; --json has all


class Command(BaseCommand):
    help = "Add the labels of a file (head, relation, tail, Y/N/?, …) to a pool. Again it adds nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("pool")
        parser.add_argument("file", type=Path)
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        with user_errors():
            report = import_labels(get_pool(options["pool"]), options["file"])
        if options["json"]:
            content = asdict(report)
            for kind in ("skipped", "notes"):
                content[kind] = [line._asdict() for line in getattr(report, kind)]
            self.stdout.write(json.dumps(content))
        else:
            self._write(report, options["file"].name)
        if not report.imported and not report.known:
            raise CommandError(f"{options['file'].name} has no label that could be imported.")

    def _write(self, report: ImportReport, name: str) -> None:
        for title, lines in (("skipped", report.skipped), ("irregular", report.notes)):
            for line in lines[:_NAMED]:
                self.stderr.write(f"{name}:{line.line}: {line.reason} ({title})")
            if len(lines) > _NAMED:
                self.stderr.write(f"… and {len(lines) - _NAMED:,} more lines {title}; --json names all")
        self.stdout.write(
            f"{report.read:,} lines: {report.imported:,} labels imported, {report.known:,} known already, "
            f"{len(report.skipped):,} lines skipped, {len(report.notes):,} irregular but imported\n"
            f"triples: {report.positive:,} positive, {report.negative:,} negative, "
            f"{report.undecided:,} undecided"
        )
