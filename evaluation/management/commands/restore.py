"""Restore a backup."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand

from core.management.shell import Ticker, user_errors
from evaluation.keeping.restore import restore


class Command(BaseCommand):
    help = (
        "Put a backup into an empty database and an empty artifact folder, made by SQLite or PostgreSQL, and compare "
        "every table and file with it. A damaged backup is refused before anything is written."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        call_command("migrate", verbosity=0, interactive=False)
        with user_errors():
            found = restore(options["file"], Ticker())
        self.stdout.write(
            f"Restored {options['file'].name}: {found.rows:,} rows, {found.files:,} files, all as in the backup."
        )
        for note in found.notes:
            self.stdout.write(note)
