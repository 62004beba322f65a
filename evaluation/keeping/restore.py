"""Restore a backup into an empty database and folder. Nothing is written before all of it was read and found whole."""

import errno
import gzip
import json
import shutil
import struct
import tarfile
import uuid
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any

import pyarrow as pa
from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import DatabaseError, transaction

from core.callbacks import TellStage
from core.files import bucket
from core.files.artifacts import ArtifactError, sha256_of
from core.files.storage import FETCHING, MARKERS, delete, publish
from core.files.tar_headers import BoundedTarInfo
from evaluation.keeping.backup import FORMAT, MANIFEST, BackupSummary, Reader
from evaluation.keeping.backup_error import BackupError
from evaluation.keeping.signing import check_signature
from evaluation.keeping.tables import Table, migrations, owners_of_artifacts, reset_sequences, tables

ANOTHER = "Nothing was restored; take another backup."
_CHUNK = 2**20
_MOST_HELD = 2**26  # bytes of a member that is in memory as a whole; parts of tables have 4 MiB, or one large row
_DAMAGED = (
    *(tarfile.TarError, EOFError, zlib.error, pa.ArrowException, ValueError, OverflowError, RecursionError),
    struct.error,
)
_LEFT = ".restore-"  # prefix of the folder of a restore that runs or was killed


_NOT_BELOW = (FileExistsError, NotADirectoryError, IsADirectoryError)


def restore(path: Path, tell: TellStage) -> BackupSummary:
    """Fill the migrated, empty database and the empty artifact folder from a backup, and compare them with it.

    Raise BackupError, and change nothing, where the backup is damaged or of another version, the place is not empty,
    or what was written differs from the backup. Rows are one transaction; files are written aside, and renamed and
    published before its end.
    """
    every = {table.name: table for table in tables()}
    _check_empty(every.values())
    manifest = read_manifest(path, tell)
    _check_version(manifest, every)
    signature = check_signature(manifest, path.name)
    aside = Path(settings.ARTIFACT_ROOT) / f"{_LEFT}{uuid.uuid4().hex[:8]}"
    moved: list[Path] = []
    published: list[str] = []
    try:
        with transaction.atomic():
            files = _fill(path, every, aside, manifest, tell)
            reset_sequences(every.values())
            _compare(path, every, aside, manifest, tell)
            references = _references()
            _check_owned(path, manifest, references)
            moved += _move_in(aside)
            for reference in sorted(references) if bucket.is_set() else ():
                published.append(reference)
                publish(reference)
    except BaseException as error:
        for place in moved:  # the rows are not there either
            shutil.rmtree(place, ignore_errors=True)
        delete(*published)
        if isinstance(error, DatabaseError):
            raise BackupError(f"The database refused {path.name}: {error}. Nothing was restored.") from error
        if isinstance(error, _NOT_BELOW) or getattr(error, "errno", 0) == errno.ENAMETOOLONG:
            raise BackupError(f"{path.name} holds two files of one name, or a name too long. {ANOTHER}") from error
        if isinstance(error, OSError):
            words = f"The files could not be written to {settings.ARTIFACT_ROOT}: {error.strerror or error}"
            raise ArtifactError(f"{words}. Nothing was restored.") from error
        raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    rows = sum(table["rows"] for table in manifest["tables"].values())
    lost = manifest.get("missing", {}), manifest.get("damaged", {})
    return BackupSummary(rows, files, path.stat().st_size, *lost, signature)


def read_manifest(path: Path, tell: TellStage) -> dict[str, Any]:
    """Return the manifest of a backup after reading all of it; raise BackupError if a member differs. Write nothing."""
    try:
        manifest, found = _read(path, tell)
    except OSError as error:  # also what a damaged .zst or .gz gives
        raise BackupError(f"{path} cannot be read: {error.strerror or error}. Nothing was restored.") from error
    if not isinstance(manifest, dict):
        raise BackupError(f"{path.name} is not a complete backup: its manifest is missing. Nothing was restored.")
    if manifest.get("format") != FORMAT:
        raise BackupError(
            f"{path.name} has format {manifest.get('format')!r}, and this version of the program reads {FORMAT}: "
            "it was made by a version with another database. Restore it with the version that made it, export its test "
            "sets there, and import them here. Nothing was restored."
        )
    if lacking := [key for key in ("migrations", "tables", "members") if key not in manifest]:
        words = f"{path.name} is not a complete backup: its manifest has no {lacking[0]}"
        raise BackupError(f"{words}. {ANOTHER}")
    if strange := [key for key, fits in SHAPE.items() if key in manifest and not fits(manifest[key])]:
        raise BackupError(f"{path.name} is no backup: {strange[0]} of its manifest has another form. {ANOTHER}")
    told = manifest["members"]
    if wrong := sorted(name for name in {*told, *found} if told.get(name) != found.get(name)):
        more = f" and {len(wrong) - 1:,} more" if len(wrong) > 1 else ""
        words = f"{path.name} is damaged: {_shown(wrong[0])}{more} missing or changed since it was written"
        raise BackupError(f"{words}. {ANOTHER}")
    return manifest


def _shown(name: str) -> str:
    """Return a name without half of a character, which no terminal and no page can show."""
    return name.encode("utf-8", "backslashreplace").decode()


def _is_sum(one: Any, size: str) -> bool:
    """Return whether this is a checksum with the number of bytes or rows that it is of."""
    return (
        isinstance(one, dict) and type(one.get(size)) is int and one[size] >= 0 and isinstance(one.get("sha256"), str)
    )


def _are_texts(one: Any) -> bool:
    return isinstance(one, list) and all(isinstance(text, str) for text in one)


def _can_be_shown(one: Any) -> bool:
    return isinstance(one, str) and one.encode("utf-8", "ignore").decode() == one  # without half of a character


def _maps(one: Any, is_value: Callable[[Any], bool]) -> bool:
    return isinstance(one, dict) and all(map(is_value, one.values()))


# key of the manifest -> whether its value has the form that a backup gives it
SHAPE: dict[str, Callable[[Any], bool]] = {
    "migrations": _are_texts,
    "tables": lambda of: _maps(of, lambda one: _is_sum(one, "rows") and _are_texts(one.get("columns"))),
    "members": lambda of: _maps(of, lambda one: _is_sum(one, "bytes")),
    "missing": lambda of: _maps(of, _can_be_shown) and all(map(_can_be_shown, of)),
    "damaged": lambda of: _maps(of, _can_be_shown) and all(map(_can_be_shown, of)),
}


def _read(path: Path, tell: TellStage) -> tuple[Any, dict[str, dict[str, Any]]]:
    """Return the manifest, None where there is none, and size and checksum of every other member."""
    found: dict[str, dict[str, Any]] = {}
    manifest: Any = None
    size = path.stat().st_size if path.is_file() else 0
    with _opened(path) as (raw, tar):
        for member in tar:
            _check_name(member)
            tell("checksums of the backup", min(raw.tell(), size - 1), size)
            file = tar.extractfile(member)
            assert file is not None  # a regular file
            if member.name in found or (member.name == MANIFEST and manifest is not None):
                raise BackupError(f"{path.name} holds {member.name} twice. Nothing was restored.")
            if member.name == MANIFEST:
                manifest = json.loads(_whole(file, member))
            else:
                found[member.name] = {"bytes": member.size, "sha256": _drain(Reader(file))}
    tell("checksums of the backup", size, size)
    return manifest, found


def _whole(file: IO[bytes], member: tarfile.TarInfo) -> bytes:
    """Read the manifest or a part of a table, which are held in memory."""
    if member.size > _MOST_HELD:
        raise BackupError(f"{member.name} has {member.size:,} bytes, which no backup has. {ANOTHER}")
    return file.read()


@contextmanager
def _opened(path: Path) -> Iterator[tuple[IO[bytes], tarfile.TarFile]]:
    """Open a backup as a stream, whatever its compression; raise BackupError where it cannot be read."""
    try:
        with path.open("rb") as raw:
            start = raw.read(4)
            raw.seek(0)
            stream: Any = raw
            if start.startswith(b"\x1f\x8b"):
                stream = gzip.GzipFile(fileobj=raw)
            elif start == b"\x28\xb5\x2f\xfd":
                stream = pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), "zstd")
            with tarfile.open(fileobj=stream, mode="r|", tarinfo=BoundedTarInfo) as tar:
                yield raw, tar
    except _DAMAGED as error:
        raise BackupError(f"{path.name} is damaged, or no backup: {error}. Nothing was restored.") from error


def _check_name(member: tarfile.TarInfo) -> None:
    path = PurePosixPath(member.name)
    inside = member.name == MANIFEST or (len(path.parts) > 1 and path.parts[0] in ("database", "artifacts"))
    plain = not path.is_absolute() and ".." not in path.parts and "\\" not in member.name and "\0" not in member.name
    if not (inside and plain and member.isreg() and not member.issparse() and str(path) == member.name):
        raise BackupError(f"The backup holds {member.name[:200]!r}, which no backup has. Nothing was restored.")


def _check_empty(every: Any) -> None:
    held = [t for t in every if not t.comes_with_migrations and t.model._base_manager.exists()]
    if held:
        names = ", ".join(str(table.model._meta.verbose_name_plural) for table in held[:5])
        raise BackupError(
            f"The database is not empty (it has {names}). Restore into a new one: set DATABASE_URL or TRIPLEPOOL_VAR."
        )
    root = Path(settings.ARTIFACT_ROOT)
    no_matter = (_LEFT, MARKERS, FETCHING)
    there = [entry for entry in root.iterdir() if not entry.name.startswith(no_matter)] if root.is_dir() else []
    if there:
        raise BackupError(
            f"The artifact folder {root} is not empty ({there[0].name}). Restore into a new one: set ARTIFACT_ROOT or "
            "TRIPLEPOOL_VAR."
        )
    if bucket.is_set() and (found := next(bucket.objects(""), None)):
        raise BackupError(
            f"The store of ARTIFACT_STORE ({bucket.where()}) is not empty ({found.key}). Restore into a new one: set "
            "ARTIFACT_STORE to another bucket or prefix."
        )


def _check_version(manifest: dict[str, Any], every: dict[str, Table]) -> None:
    ours, theirs = set(migrations()), set(manifest["migrations"])
    columns = {name: table["columns"] for name, table in manifest["tables"].items()}
    if ours != theirs or columns != {name: table.columns for name, table in every.items()}:
        odd = sorted(ours ^ theirs) or [f"table {name}" for name in sorted(columns.keys() ^ every.keys())]
        which = f" ({odd[0]} is on one side only)" if odd else ""
        raise BackupError(
            f"The backup is of another version of the program{which}: restore it with that version, then update and "
            "run migrate. Nothing was restored."
        )
    for member in manifest["members"]:
        kind, _, below = member.partition("/")
        if kind == "database" and below.partition("/")[0] not in every:
            raise BackupError(
                f"The backup holds {member}, and the program has no table {below.partition('/')[0]}: it was changed by "
                f"hand, or comes from another program. {ANOTHER}"
            )


def _fill(path: Path, every: dict[str, Table], aside: Path, manifest: dict[str, Any], tell: TellStage) -> int:
    """Insert all rows, write the files to `aside`, and return the number of files."""
    for table in every.values():
        if table.comes_with_migrations:
            table.model._base_manager.all()._raw_delete(table.model._base_manager.db)
    total, files = len(manifest["members"]) + 1, 0  # the manifest is one too
    aside.mkdir(parents=True)
    with _opened(path) as (_, tar):
        for done, member in enumerate(tar):
            tell("restoring", done, total)
            file = tar.extractfile(member)
            assert file is not None
            kind, _, name = member.name.partition("/")
            if kind == "database":
                _insert(every[name.partition("/")[0]], member.name, _whole(file, member))
            elif kind == "artifacts":
                target = aside / name
                target.parent.mkdir(parents=True, exist_ok=True)
                with target.open("xb") as out:
                    shutil.copyfileobj(file, out, _CHUNK)
                files += 1
    tell("restoring", total, total)
    return files


_NO_ROW = (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, RecursionError, ValidationError)


def _insert(table: Table, member: str, lines: bytes) -> None:
    try:
        table.insert(lines.decode().rstrip("\n").split("\n"))
    except _NO_ROW as error:
        raise BackupError(
            f"{member} has a row that table {table.name} cannot hold: {error}. It was changed by hand, or comes from "
            f"another program. {ANOTHER}"
        ) from error


def _compare(path: Path, every: dict[str, Table], aside: Path, manifest: dict[str, Any], tell: TellStage) -> None:
    """Read back what was written, and raise BackupError where rows or files differ from the backup."""
    wrong = []
    for done, (name, told) in enumerate(manifest["tables"].items()):
        tell("comparing", done, len(manifest["tables"]))
        try:
            found = every[name].sum()
        except RecursionError:  # a database takes JSON deeper than we read it back
            raise BackupError(f"{path.name}: a row of table {name} is nested too deeply. {ANOTHER}") from None
        if (found.rows, found.sha256) != (told["rows"], told["sha256"]):
            wrong.append(f"{name}: {found.rows:,} rows of {told['rows']:,}")
    for name, told in manifest["members"].items():
        kind, _, below = name.partition("/")
        if kind == "artifacts" and sha256_of(aside / below) != told["sha256"]:
            wrong.append(below)
    tell("comparing", len(manifest["tables"]), len(manifest["tables"]))
    if wrong:
        raise BackupError(f"What was restored is not what the backup holds: {'; '.join(wrong[:5])}. Nothing was kept.")


def _references() -> set[str]:
    """Return the artifacts of all rows."""
    named = (
        model._base_manager.exclude(artifact="").values_list("artifact", flat=True) for model in owners_of_artifacts()
    )
    return set().union(*named)


def _check_owned(path: Path, manifest: dict[str, Any], references: set[str]) -> None:
    """Raise BackupError for a file that belongs to no row: no backup has one."""
    for member in manifest["members"]:
        kind, _, name = member.partition("/")
        place = PurePosixPath(name)
        if kind == "artifacts" and references.isdisjoint([name, *map(str, place.parents)]):
            raise BackupError(
                f"{path.name} holds {_shown(member)}, which no row of it names: it was changed by hand. {ANOTHER}"
            )


def _move_in(aside: Path) -> list[Path]:
    """Move the restored folders to their places. The artifact folder itself may be a mounted disk."""
    return [entry.rename(aside.parent / entry.name) for entry in sorted(aside.iterdir())]


def _drain(reader: Reader) -> str:
    while reader.read(_CHUNK):
        pass
    return reader.sum.hexdigest()
