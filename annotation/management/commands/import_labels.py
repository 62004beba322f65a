"""Import labels made elsewhere."""

import json
from argparse import ArgumentParser
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from annotation.judging.label_import import NAMED, ImportReport, import_labels
from core.management.shell import ShellCommand
from pooling.pools.build import get_pool

_NAMED = 100  # irregular lines that are printed; --json has more


class Command(ShellCommand):
    help = (
        "Add the labels of a file to a pool: head, relation, tail, Y/N/?, …, or the labels.jsonl of a test set. A "
        "second run adds nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("pool")
        parser.add_argument("file", type=Path, help="file of labels; see docs/formats.md")
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        name = options["file"].name
        report = import_labels(get_pool(options["pool"]), options["file"])
        if options["json"]:
            lines = {kind: [line._asdict() for line in getattr(report, kind)] for kind in ("skipped", "notes")}
            self.stdout.write(json.dumps({**asdict(report), **lines}))
        else:
            self.warn(_irregular(report, name))
            self.stdout.write(
                f"{report.read:,} lines: {report.imported:,} labels imported, {report.known:,} known already, "
                f"{report.num_skipped:,} lines skipped, {report.num_notes:,} irregular but imported\n"
                f"triples: {report.positive:,} positive, {report.negative:,} negative, {report.undecided:,} undecided"
            )
        if not report.imported and not report.known:
            raise CommandError(f"{name} has no label that could be imported.")


def _irregular(report: ImportReport, name: str) -> Iterator[str]:
    for title, n, lines in (
        ("skipped", report.num_skipped, report.skipped),
        ("irregular", report.num_notes, report.notes),
    ):
        yield from (f"{name}:{line.line}: {line.reason} ({title})" for line in lines[:_NAMED])
        if n > _NAMED:
            yield f"… and {n - _NAMED:,} more lines {title}; --json names the first {NAMED:,}"
