"""Write a backup: every row of the database and every file that a row owns, in one tar file with checksums.

manifest.json is written last, so that a file that was cut off has none. docs/keeping.md has the layout.
"""

import gzip
import hashlib
import io
import json
import os
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

import pyarrow as pa
from django.apps import apps
from django.conf import settings
from django.db import connection

from core import clock
from core.callbacks import TellStage
from core.database import one_moment
from core.errors import UserError
from core.files.artifacts import artifact_path, writing
from evaluation.keeping.removal import files_below
from evaluation.keeping.tables import TableSum, migrations, tables
from evaluation.models import Export

FORMAT = 2  # 1: before the database was laid out anew in November 2026
MANIFEST = "manifest.json"
ENDINGS = (".tar", ".tar.gz", ".tar.zst")
_PART = 4 * 2**20  # bytes of rows in one member of the backup
_ATTEMPTS = 3


class BackupError(UserError):
    """Say why a backup cannot be written, read or restored."""


class _ChangedError(BackupError):
    """Report a file that differs from its row, perhaps because a job has just replaced it."""


class OwnedArtifact(NamedTuple):
    """Hold an artifact and the row that owns it; `sha256` of one of its files, empty while it is not finished."""

    row: str
    path: Path
    sha256: str
    remade: bool  # it can be written again from the rest of the backup


class BackupSummary(NamedTuple):
    """Sum up a backup."""

    rows: int
    files: int
    bytes: int  # of the backup file
    missing: dict[str, str]  # file -> its row: zip files of test sets that did not exist

    @property
    def notes(self) -> list[str]:
        """Return a line for each missing file, with what to do."""
        return [
            f"Not in the backup, since it was missing: {file} of {row}. It is written again, with the same bytes, when "
            "somebody asks for it on the page Export."
            for file, row in self.missing.items()
        ]


def write_backup(target: Path, tell: TellStage, check: Callable[[Path], None] | None = None) -> BackupSummary:
    """Write a backup that only its owner can read; `check` is called with it before it gets its name.

    People and jobs may go on: the rows come from one database snapshot. Raise BackupError if a file that a row owns is
    missing or damaged, since a backup would keep the damage. The zip file of a test set may be missing: it is listed.
    """
    if not target.name.endswith(ENDINGS):
        raise BackupError(f"{target.name}: end the name in {', '.join(ENDINGS)}.")
    if target.exists():
        raise BackupError(f"{target} exists: name a new file; nothing was written.")
    with writing(target) as aside:
        manifest = _consistent(aside, target.name, tell)
        if check is not None:
            check(aside)
        size = aside.stat().st_size
    rows = sum(table["rows"] for table in manifest["tables"].values())
    files = sum(name.startswith("artifacts/") for name in manifest["members"])
    return BackupSummary(rows, files, size, manifest["missing"])


def _consistent(aside: Path, name: str, tell: TellStage) -> dict[str, Any]:
    """Write the backup, and again where a job replaced files after the rows were read; fail on the same fault twice."""
    said = ""
    for _ in range(_ATTEMPTS):
        try:
            return _write(aside, name, tell)
        except _ChangedError as error:
            aside.unlink()
            if str(error) == said:
                raise
            said = str(error)
    raise BackupError(f"Files changed while they were read: {said}. Try again when fewer jobs run.")


def _write(aside: Path, name: str, tell: TellStage) -> dict[str, Any]:
    with compressed(aside, name) as stream, tarfile.open(fileobj=stream, mode="w|") as tar, one_moment():
        members = _Members(tar)
        manifest: dict[str, Any] = {
            "format": FORMAT,
            "made_at": clock.now().isoformat(timespec="seconds"),
            "database": connection.vendor,
            "migrations": migrations(),
            "tables": {},
            "members": members.sums,
            "missing": {},
        }
        owned = list(_owned())
        every = tables()
        for done, table in enumerate(every):
            tell("tables", done, len(every))
            found = TableSum()
            for number, part in enumerate(_parts(table.lines(found))):
                members.add_bytes(f"database/{table.name}/{number:06}.jsonl", part)
            manifest["tables"][table.name] = {"columns": table.columns, "rows": found.rows, "sha256": found.sha256}
        tell("tables", len(every), len(every))
        for done, one in enumerate(owned):
            tell("files of graphs, systems, runs and the rest", done, len(owned))
            if one.remade and one.sha256 and not one.path.exists():
                manifest["missing"][_relative(one.path)] = one.row
            else:
                _add_files(members, one)
        tell("files of graphs, systems, runs and the rest", len(owned), len(owned))
        members.add_bytes(MANIFEST, json.dumps(manifest, indent=1, ensure_ascii=False).encode(), listed=False)
    return manifest


def _owned() -> Iterator[OwnedArtifact]:
    """Yield the artifacts of all rows of all models."""
    for model in apps.get_models():
        if any(field.name == "artifact" for field in model._meta.concrete_fields):
            rows = model._base_manager.exclude(artifact="").order_by("pk")
            for row in rows.only("pk", "artifact", "sha256"):
                remade = isinstance(row, Export)
                words = str(row) if remade else f"{model._meta.verbose_name} {row.pk}"
                yield OwnedArtifact(words, artifact_path(row.artifact), row.sha256, remade)  # type: ignore[attr-defined]


def _add_files(members: "_Members", owned: OwnedArtifact) -> None:
    sums = []
    for file in files_below(owned.path):
        try:
            sums.append(members.add_file(f"artifacts/{_relative(file)}", file))
        except OSError as error:
            raise _ChangedError(f"{file} cannot be read: {error.strerror or error}") from error
    if owned.sha256 and owned.sha256 not in sums:
        advice = "put them back from an earlier backup, or delete what they belong to"
        if owned.remade:
            advice = "delete the file; it is written again when somebody asks for it on the page Export"
        what = f"The files of {owned.row} in {owned.path} are missing or damaged (SHA-256 differs)"
        raise _ChangedError(f"{what}: {advice}")


def _relative(path: Path) -> str:
    return path.relative_to(settings.ARTIFACT_ROOT).as_posix()


def _parts(lines: Iterator[str]) -> Iterator[bytes]:
    held, size = [], 0
    for line in lines:
        held.append(line.encode() + b"\n")
        size += len(held[-1])
        if size >= _PART:
            yield b"".join(held)
            held, size = [], 0
    if held:
        yield b"".join(held)


class _Members:
    """Add members to a tar file and keep their checksums."""

    def __init__(self, tar: tarfile.TarFile) -> None:
        self.tar = tar
        self.sums: dict[str, dict[str, Any]] = {}

    def add_bytes(self, name: str, content: bytes, listed: bool = True) -> None:
        self._add(name, io.BytesIO(content), len(content), listed)

    def add_file(self, name: str, path: Path) -> str:
        if name in self.sums:  # rows may share an artifact
            return str(self.sums[name]["sha256"])
        with path.open("rb") as file:
            return self._add(name, file, os.fstat(file.fileno()).st_size)

    def _add(self, name: str, file: IO[bytes], size: int, listed: bool = True) -> str:
        info = tarfile.TarInfo(name)
        info.size, info.mode = size, 0o600
        reader = Reader(file)
        self.tar.addfile(info, reader)  # read() is all it needs
        if listed:
            self.sums[name] = {"bytes": size, "sha256": reader.sum.hexdigest()}
        return reader.sum.hexdigest()


class Reader:
    """Read a file and sum it up on the way."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file, self.sum = file, hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        content = self.file.read(size)
        self.sum.update(content)
        return content


@contextmanager
def compressed(path: Path, name: str) -> Iterator[Any]:
    """Open a new file at `path` that only its owner can read, compressed as the ending of `name` says."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        if name.endswith(".gz"):
            with gzip.GzipFile(fileobj=file, mode="wb", compresslevel=6, mtime=0) as packed:
                yield packed
        elif name.endswith(".zst"):
            with pa.CompressedOutputStream(pa.PythonFile(file, mode="w"), "zstd") as stream:
                yield stream
        else:
            yield file
