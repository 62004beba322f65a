"""Write a backup: every row of the database and every file that a row owns, in one tar file with checksums.

manifest.json is written last, so that a file that was cut off has none. docs/keeping.md has the layout.
"""

import gzip
import hashlib
import io
import json
import os
import tarfile
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any, NamedTuple

import pyarrow as pa
from django.db import connection

from core import clock
from core.callbacks import TellStage
from core.database import one_moment
from core.files.artifacts import writing
from core.files.storage import DamagedError, borrowed, exists, files_below
from evaluation.keeping.backup_error import BackupError
from evaluation.keeping.signing import signed
from evaluation.keeping.tables import TableSum, migrations, owners_of_artifacts, tables
from evaluation.models import Export

FORMAT = 2  # 1: before the database was laid out anew in November 2026
MANIFEST = "manifest.json"
ENDINGS = (".tar", ".tar.gz", ".tar.zst")
_PART = 4 * 2**20  # bytes of rows in one member of the backup
_ATTEMPTS = 3


class _UnreadableError(Exception):
    """Report a file that could not be read to its end, so that the archive cannot go on."""

    def __init__(self, file: str) -> None:
        super().__init__(file)
        self.file = file


class OwnedArtifact(NamedTuple):
    """Hold an artifact and the row that owns it; `sha256` of one of its files, empty while it is not finished."""

    row: str
    reference: str
    sha256: str
    remade: bool  # it can be written again from the rest of the backup


class BackupSummary(NamedTuple):
    """Sum up a backup."""

    rows: int
    files: int
    bytes: int  # of the backup file
    missing: dict[str, str]  # file -> its row: zip files of test sets that did not exist
    damaged: dict[str, str]  # file or folder -> its row: what was missing, unreadable or differed from its checksum
    signature: str = ""  # what a restore tells about it

    @property
    def notes(self) -> list[str]:
        """Return a line for each missing or damaged file, with what to do."""
        gone = [
            f"Not in the backup, since it was missing: {file} of {row}. It is written again, with the same bytes, when "
            "somebody asks for it on the page Export."
            for file, row in self.missing.items()
        ]
        harmed = [
            f"Damaged when the backup was made: the files of {row} in {file} are missing or differ from their "
            f"checksum. The backup has what is left of them. {_ADVICE[row.partition(' ')[0] == 'export']}"
            for file, row in self.damaged.items()
        ]
        return [*filter(None, [self.signature]), *gone, *harmed]


_ADVICE = (
    "Put them back from an earlier backup, or delete what they belong to.",
    "Delete the file: it is written again when somebody asks for it on the page Export.",
)


def write_backup(target: Path, tell: TellStage, check: Callable[[Path], None] | None = None) -> BackupSummary:
    """Write a backup that only its owner can read; `check` is called with it before it gets its name.

    People and jobs may go on: the rows come from one database snapshot. A missing or damaged file is listed, and the
    backup goes on: one broken file must not cost the site its backup.
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
    return BackupSummary(rows, files, size, manifest["missing"], manifest["damaged"])


def _consistent(aside: Path, name: str, tell: TellStage) -> dict[str, Any]:
    """Write the backup, and again where files differ from their rows, since a job may have just replaced them.

    What differs twice is damaged, and is listed.
    """
    said: dict[str, str] | None = None
    skipped: set[str] = set()
    for _ in range(_ATTEMPTS):
        manifest = _readable(aside, name, tell, skipped)
        if manifest["damaged"] in ({}, said):
            break
        said = manifest["damaged"]
    return manifest


def _readable(aside: Path, name: str, tell: TellStage, skipped: set[str]) -> dict[str, Any]:
    """Write the backup, and again without each file that turns out to be unreadable, which is added to `skipped`."""
    while True:
        aside.unlink(missing_ok=True)
        try:
            return _write(aside, name, tell, skipped)
        except _UnreadableError as error:
            skipped.add(error.file)


def _write(aside: Path, name: str, tell: TellStage, skipped: Collection[str]) -> dict[str, Any]:
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
            "damaged": {},
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
            if one.remade and one.sha256 and not exists(one.reference):
                manifest["missing"][one.reference] = one.row
            elif not _add_files(members, one, skipped):
                manifest["damaged"][one.reference] = one.row
        tell("files of graphs, systems, runs and the rest", len(owned), len(owned))
        manifest = signed(manifest)
        members.add_bytes(MANIFEST, json.dumps(manifest, indent=1, ensure_ascii=False).encode(), listed=False)
    return manifest


def _owned() -> Iterator[OwnedArtifact]:
    """Yield the artifacts of all rows of all models."""
    for model in owners_of_artifacts():
        rows = model._base_manager.exclude(artifact="").order_by("pk")
        for row in rows.only("pk", "artifact", "sha256"):
            remade = isinstance(row, Export)
            words = str(row) if remade else f"{model._meta.verbose_name} {row.pk}"
            yield OwnedArtifact(words, row.artifact, row.sha256, remade)  # type: ignore[attr-defined]


def _add_files(members: "_Members", owned: OwnedArtifact, skipped: Collection[str]) -> bool:
    """Add the files of an artifact; return whether all were read and one has the checksum of the row."""
    sums, whole = [], True
    try:
        with borrowed(owned.reference) as path:
            for file in files_below(path):
                name = (PurePosixPath("artifacts", owned.reference) / file.relative_to(path).as_posix()).as_posix()
                added = None if name in skipped else members.add_file(name, file)
                whole &= added is not None
                sums.append(added)
    except DamagedError:  # none of the files can be had
        return False
    return whole and (not owned.sha256 or owned.sha256 in sums)


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

    def add_file(self, name: str, path: Path) -> str | None:
        """Add a file and return its checksum; None if it cannot be opened. Raise _UnreadableError if reading fails."""
        if name in self.sums:  # rows may share an artifact
            return str(self.sums[name]["sha256"])
        try:
            file = path.open("rb")
        except OSError:
            return None
        with file:
            size = os.fstat(file.fileno()).st_size
            try:
                return self._add(name, _Source(file, name), size)
            except OSError as error:
                if error.errno is not None:  # of the disk that is written to
                    raise
                raise _UnreadableError(name) from error  # it ended early

    def _add(self, name: str, file: "IO[bytes] | _Source", size: int, listed: bool = True) -> str:
        info = tarfile.TarInfo(name)
        info.size, info.mode = size, 0o600
        reader = Reader(file)
        self.tar.addfile(info, reader)  # read() is all it needs
        if listed:
            self.sums[name] = {"bytes": size, "sha256": reader.sum.hexdigest()}
        return reader.sum.hexdigest()


class Reader:
    """Read a file and sum it up on the way."""

    def __init__(self, file: "IO[bytes] | _Source") -> None:
        self.file, self.sum = file, hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        content = self.file.read(size)
        self.sum.update(content)
        return content


class _Source:
    """Read a file of the site, whose errors are told from those of the disk that the backup is written to."""

    def __init__(self, file: IO[bytes], name: str) -> None:
        self.file, self.name = file, name

    def read(self, size: int = -1) -> bytes:
        try:
            return self.file.read(size)
        except OSError as error:
            raise _UnreadableError(self.name) from error


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
