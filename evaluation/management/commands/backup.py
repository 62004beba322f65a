"""Back up the database and the artifacts."""

import os
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.template.defaultfilters import filesizeformat

from core.management.shell import Ticker, user_errors
from evaluation.keeping.backup import BackupError, write_backup


class Command(BaseCommand):
    help = (
        "Write the database and every file that belongs to it into FILE (.tar, .tar.gz or .tar.zst), and check it by "
        "restoring it into an empty place. It holds hashes of passwords: keep it as the database itself."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument(
            "--no-check", action="store_true", help="leave the trial restore away, which needs as much disk again"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        with user_errors():
            target = options["file"].absolute()
            written = write_backup(target, Ticker(), None if options["no_check"] else _restorable)
        checked = "not checked" if options["no_check"] else "restored in an empty place and found equal"
        self.stdout.write(
            f"{options['file']}: {written.rows:,} rows, {written.files:,} files, {filesizeformat(written.bytes)}; "
            f"{checked}"
        )
        for note in written.notes:
            self.stdout.write(note)


def _restorable(archive: Path) -> None:
    """Have the restore command fill an SQLite database and a folder beside the archive, which then go again."""
    with tempfile.TemporaryDirectory(prefix=".check-", dir=archive.parent) as folder:
        environment = {
            **os.environ,
            "DATABASE_URL": f"sqlite:///{folder}/check.sqlite3",
            "ARTIFACT_ROOT": f"{folder}/artifacts",
            "TRIPLEPOOL_VAR": f"{folder}/var",
        }
        done = subprocess.run(
            [sys.executable, "manage.py", "restore", str(archive)],
            cwd=settings.BASE_DIR,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=None,
            text=True,
        )
        if done.returncode:
            raise BackupError("The trial restore failed, so that no backup was kept.")
