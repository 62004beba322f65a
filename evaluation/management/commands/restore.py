"""Restore a backup."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management import call_command

from core.management.shell import ShellCommand, Ticker
from evaluation.keeping.restore import restore


class Command(ShellCommand):
    help = (
        "Restore a backup, made with SQLite or PostgreSQL, into an empty database and an empty artifact folder, and "
        "compare every table and file. A damaged backup is refused before anything is written."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="archive that the command backup wrote")

    def handle(self, *args: Any, **options: Any) -> str:
        call_command("migrate", verbosity=0, interactive=False)
        found = restore(options["file"], Ticker())
        done = f"Restored {options['file'].name}: {found.rows:,} rows, {found.files:,} files, all as in the backup."
        return "\n".join([done, *found.notes])
