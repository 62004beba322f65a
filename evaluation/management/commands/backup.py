"""Back up the database and the artifacts."""

import os
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.template.defaultfilters import filesizeformat

from core.management.shell import ShellCommand, Ticker
from evaluation.keeping.backup import BackupError, write_backup


class Command(ShellCommand):
    help = (
        "Write the database and all its files into FILE (.tar, .tar.gz or .tar.zst), and test FILE by restoring it "
        "into an empty place. FILE holds hashes of passwords: protect it like the database."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="archive to write")
        without = "skip the test restore, which needs as much disk space again"
        parser.add_argument("--no-check", action="store_true", help=without)

    def handle(self, *args: Any, **options: Any) -> str:
        file, unchecked = options["file"], options["no_check"]
        written = write_backup(file.absolute(), Ticker(), None if unchecked else _restorable)
        checked = "not checked" if unchecked else "restored in an empty place and found equal"
        size = f"{written.rows:,} rows, {written.files:,} files, {filesizeformat(written.bytes)}"
        return "\n".join([f"{file}: {size}; {checked}", *written.notes])


def _restorable(archive: Path) -> None:
    """Restore the archive into an SQLite database and a folder beside it, and delete both; BackupError if it fails."""
    with tempfile.TemporaryDirectory(prefix=".check-", dir=archive.parent) as folder:
        environment = {
            **os.environ,
            "DATABASE_URL": f"sqlite:///{folder}/check.sqlite3",
            "ARTIFACT_ROOT": f"{folder}/artifacts",
            "ARTIFACT_STORE": "",  # the site's own is neither empty nor to be written to
            "TRIPLEPOOL_VAR": f"{folder}/var",
        }
        command = [sys.executable, "manage.py", "restore", str(archive)]
        done = subprocess.run(command, cwd=settings.BASE_DIR, env=environment, stdout=subprocess.PIPE, text=True)
        if done.returncode:
            raise BackupError("The trial restore failed, so that no backup was kept.")
