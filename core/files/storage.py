"""Where artifacts are: in the artifact folder, or in a store that all machines share (ARTIFACT_STORE).

A reference is the field `artifact` of a row: a folder or a file that never changes, relative to the artifact folder.
Without a store, `local` gives its path and the other functions do nothing more than today. With one, the artifact
folder is a cache: code writes there, `publish` uploads before the row tells others, and `local` fetches what is not
here.

In the store, a file is <reference>/<16 digits of its SHA-256>/<name>, and <reference>/manifest.json lists the files
with bytes and SHA-256. The manifest is written last, so others see all of a reference or nothing. In the cache, a
marker in .published holds the manifest of what the store has too: only that may leave the cache, least recently used
first (ARTIFACT_CACHE_GB).
"""

import hashlib
import json
import logging
import os
import shutil
import time
import uuid
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from threading import Lock
from typing import NamedTuple, TypeVar
from urllib.parse import quote, unquote

from django.conf import settings
from django.utils.http import content_disposition_header

from core.files import bucket
from core.files.artifacts import ArtifactError, artifact_path, check_sha256, writing
from core.files.atomic_write import written_aside
from core.files.bucket import StoredObject, StoreError

logger = logging.getLogger(__name__)
MANIFEST = "manifest.json"
MARKERS, FETCHING = ".published", ".fetching"  # folders of the cache
IN_USE = 15 * 60.0  # seconds: what was asked for within them does not leave the cache
_AT_ONCE = 8  # files that are sent or fetched at the same time
_locks: defaultdict[str, Lock] = defaultdict(Lock)
Result = TypeVar("Result")


class DamagedError(ArtifactError):
    """The store's own files are missing or not as they were published."""


class Stored(NamedTuple):
    """Describe a published file."""

    bytes: int
    sha256: str


Manifest = dict[str, Stored]  # by name in the folder; "" of a reference that is a single file


def local(reference: str, *, newest: bool = False) -> Path:
    """Return the path of an artifact on this machine, fetched from the store if it is not here.

    A path where nothing is means that it is nowhere. With `newest`, a fetched copy of what still changes is replaced if
    the store has another. ArtifactError if the store's files are damaged or the disk is full; StoreError if it does not
    answer.
    """
    path = artifact_path(reference)
    if not reference or not bucket.is_set():
        return path
    with suppress(OSError):
        os.utime(_marker(reference))
    with _locks[reference]:
        if not path.exists() or (newest and (held := _held(reference)) and _manifest(reference) not in (None, held)):
            _fetch(reference)
    return path


def opened(reference: str, read: Callable[[Path], Result]) -> Result:
    """Return `read` of the local path; where it raises ArtifactError, fetch a damaged copy once more and repeat."""
    try:
        return read(local(reference))
    except ArtifactError:
        if not _fetched_anew(reference):
            raise
        return read(local(reference))


def checked(reference: str, name: str, sha256: str, advice: str = "") -> Path:
    """Return the path of a file of an artifact ("": the artifact itself) that has this SHA-256, else ArtifactError.

    `advice`: a sentence for the error, on what cannot be made again by repeating a step.
    """

    def read(place: Path) -> Path:
        check_sha256(place / name, sha256)
        return place / name

    try:
        return opened(reference, read)
    except ArtifactError as error:
        if not advice:
            raise
        raise ArtifactError(f"{error} {advice}") from error


@contextmanager
def borrowed(reference: str) -> Iterator[Path]:
    """Give the path of an artifact that is read once, as by a backup: the store's own files, not kept in the cache."""
    if not bucket.is_set():
        yield artifact_path(reference)
        return
    with _aside() as aside:
        yield aside if _download(reference, aside) is not None else artifact_path(reference)


def publish(reference: str, *, replaces: bool = False, last: bool = True, file_name: str = "") -> None:
    """Upload what was written at `reference`, before a row names it; without a store, do nothing.

    `replaces`: the reference still changes, as the checkpoints of a training do, `last` for the last time. `file_name`:
    of a download. ArtifactError if the store has other files under a reference that does not change.
    """
    path = artifact_path(reference)
    if not bucket.is_set() or not (files := files_below(path)):
        return
    before = (_manifest(reference) if replaces else None) or {}
    attributes = {"Content-Type": "application/zip", **_named(file_name)} if file_name else {}

    def sent(file: Path) -> tuple[str, Stored]:
        name = "" if file == path else file.relative_to(path).as_posix()
        with file.open("rb") as content:  # of a file that is replaced meanwhile, all is of the old one
            stored = Stored(os.fstat(content.fileno()).st_size, hashlib.file_digest(content, "sha256").hexdigest())
            if before.get(name) != stored:
                content.seek(0)
                bucket.put(_key(reference, name, stored), content, attributes=attributes)
        return name, stored

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        manifest = dict(pool.map(sent, files))
    if replaces:
        if manifest != before:
            bucket.put(f"{reference}/{MANIFEST}", _text(manifest))
            bucket.delete([_key(reference, *old) for old in before.items() if old not in manifest.items()])
    elif not bucket.put(f"{reference}/{MANIFEST}", _text(manifest), new=True) and _manifest(reference) != manifest:
        raise ArtifactError(f"The store has other files of {reference} already; they stay. Repeat the step.")
    if last:
        _mark(reference, manifest)
        _make_room(0)


def exists(reference: str) -> bool:
    """Tell whether an artifact is here or in the store, without fetching it."""
    path = artifact_path(reference)
    return path.exists() or (bucket.is_set() and _manifest(reference) is not None)


def sizes(reference: str) -> list[int]:
    """Return the bytes of each file of an artifact, without fetching it."""
    if bucket.is_set() and (manifest := _manifest(reference)) is not None:
        return [stored.bytes for stored in manifest.values()]
    return [file.stat().st_size for file in files_below(artifact_path(reference))]


def delete(*references: str) -> None:
    """Delete artifacts here and in the store. If the store does not answer, the sweep deletes them later."""
    for reference in filter(None, references):
        drop(reference)
        if bucket.is_set():
            try:
                bucket.delete([found.key for found in bucket.objects(reference)])
            except StoreError as error:
                logger.warning("%s stays in the store until the next sweep: %s", reference, error)


def presigned(reference: str) -> str | None:
    """Return an address where a published file can be fetched for an hour; None if the site must send it itself."""
    if not bucket.is_set() or (manifest := _manifest(reference)) is None or "" not in manifest:
        return None
    return bucket.signed(_key(reference, "", manifest[""]))


def files_below(path: Path) -> list[Path]:
    """Return the files of an artifact, a file or a folder, without half-written ones; none before it is written."""
    if path.is_file():
        return [path]
    return sorted(file for file in path.rglob("*") if file.is_file() and not file.name.startswith("."))


# -- folders that several machines write to ----------------------------------------------------------------------


def share(folder: str, name: str, content: bytes) -> None:
    """Write a file of a folder that several machines write to, as uploads in parts; all see it when this returns."""
    path, key = artifact_path(folder) / name, f"{folder}/{name}"
    if bucket.is_set():
        bucket.put(key, content)
    with writing(path) as aside:
        aside.write_bytes(content)
    if bucket.is_set() and (found := next((one for one in bucket.objects(folder) if one.key == key), None)):
        os.utime(path, (found.changed_at.timestamp(),) * 2)


def shared(folder: str, only: str = "*") -> Path:
    """Return the path of such a folder on this machine, with its files called `only` as they are in the store."""
    place, root = artifact_path(folder), artifact_path("")
    if not bucket.is_set():
        return place
    there = {found.key: found for found in bucket.objects(folder) if fnmatch(Path(found.key).name, only)}
    for path in place.rglob(only):
        if path.is_file() and not path.name.startswith(".") and path.relative_to(root).as_posix() not in there:
            path.unlink(missing_ok=True)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        list(pool.map(_copy, there.values()))
    return place


def keep_only(folder: str, names: Collection[str]) -> None:
    """Delete the files of such a folder that are not called so."""
    if bucket.is_set():
        bucket.delete([found.key for found in bucket.objects(folder) if Path(found.key).name not in names])
    for path in artifact_path(folder).iterdir():
        if path.name not in names:
            path.unlink(missing_ok=True)


def _copy(found: StoredObject) -> None:
    """Fetch a file unless it is here already: of the same size and time."""
    path, when = artifact_path(found.key), found.changed_at.timestamp()
    with suppress(FileNotFoundError):
        if (path.stat().st_size, round(path.stat().st_mtime, 3)) == (found.bytes, round(when, 3)):
            return
    if (content := bucket.read(found.key)) is None:  # deleted meanwhile
        return
    with writing(path) as aside:
        aside.write_bytes(content)
        os.utime(aside, (when, when))


# -- the store --------------------------------------------------------------------------------------------------


def _key(reference: str, name: str, stored: Stored) -> str:
    return f"{reference}/{stored.sha256[:16]}/{name or Path(reference).name}"


def _named(file_name: str) -> dict[str, str]:
    return {"Content-Disposition": content_disposition_header(as_attachment=True, filename=file_name) or "attachment"}


def _text(manifest: Manifest) -> bytes:
    return json.dumps({name: list(manifest[name]) for name in sorted(manifest)}, indent=1).encode()


def _read(text: bytes | None) -> Manifest | None:
    return None if text is None else {name: Stored(*stored) for name, stored in json.loads(text).items()}


def _manifest(reference: str) -> Manifest | None:
    """Return what the store has of a reference; None if it was not published."""
    return _read(bucket.read(f"{reference}/{MANIFEST}"))


def _download(reference: str, place: Path) -> Manifest | None:
    """Write the files of a reference to a new `place`, checked; None if it was not published.

    What differs from its checksum, or is gone, is fetched once more with the manifest that there is then.
    """
    for again in (True, False):
        if (manifest := _manifest(reference)) is None:
            return None
        _make_room(sum(stored.bytes for stored in manifest.values()))
        with _on_disk(), ThreadPoolExecutor(_AT_ONCE) as pool:
            fetched = partial(_download_file, reference, place)
            whole = list(pool.map(fetched, manifest, manifest.values()))
        if all(whole):
            return manifest
        wrong = list(manifest)[whole.index(False)] or Path(reference).name
        if again:
            shutil.rmtree(place) if place.is_dir() else place.unlink(missing_ok=True)
    raise DamagedError(
        f"{wrong} of {reference} in the store is missing or damaged (SHA-256 differs): restore it from a backup, or "
        "repeat the step that made it."
    )


def _download_file(reference: str, place: Path, name: str, stored: Stored) -> bool:
    """Write a file from the store; return whether it is what was published."""
    found, path = hashlib.sha256(), place / name
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("wb") as file:
            for piece in bucket.pieces(_key(reference, name, stored), stored.bytes):
                found.update(piece)
                file.write(piece)
    except FileNotFoundError:
        return False
    return found.hexdigest() == stored.sha256


# -- the cache --------------------------------------------------------------------------------------------------


@contextmanager
def _aside() -> Iterator[Path]:
    """Give a path below the artifact folder that no other process has; what is left there is deleted."""
    folder = artifact_path(f"{FETCHING}/{uuid.uuid4().hex}")
    try:
        with _on_disk():
            folder.mkdir(parents=True)
        yield folder / "files"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _on_disk() -> Iterator[None]:
    """Raise ArtifactError where the disk of the cache refuses."""
    try:
        yield
    except OSError as error:
        raise ArtifactError(
            f"What the store has could not be written to {settings.ARTIFACT_ROOT}: {error.strerror or error}. Free "
            "some disk space there, or set ARTIFACT_CACHE_GB to less than the disk has, and repeat the step."
        ) from error


def _fetch(reference: str) -> bool:
    """Put what the store has in its place, instead of what is there; return False if it was not published."""
    path = artifact_path(reference)
    with _aside() as aside:
        if (manifest := _download(reference, aside)) is None:
            return False
        with _on_disk():
            path.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileNotFoundError):
                path.rename(aside.with_name("before"))
            try:
                aside.rename(path)
            except OSError:  # another process was faster
                if not path.exists():
                    raise
            _mark(reference, manifest)
    return True


def _fetched_anew(reference: str) -> bool:
    """Replace a local copy that is not what was published; return False where nothing better can be had."""
    if not reference or not bucket.is_set():
        return False
    path = artifact_path(reference)
    with _locks[reference]:
        manifest = _manifest(reference)
        if manifest is None or (path.exists() and _held(reference) is None):  # still written here
            return False
        if all(_is_whole(path / name, stored) for name, stored in manifest.items()):
            return False
        return _fetch(reference)


def _is_whole(path: Path, stored: Stored) -> bool:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == stored.sha256
    except OSError:
        return False


def _marker(reference: str) -> Path:
    return artifact_path(MARKERS) / quote(reference, safe="")


def _mark(reference: str, manifest: Manifest) -> None:
    with written_aside(_marker(reference)) as aside:
        aside.write_bytes(_text(manifest))


def _held(reference: str) -> Manifest | None:
    """Return the manifest of what is in the cache and in the store; None of what is still written here."""
    try:
        return _read(_marker(reference).read_bytes())
    except FileNotFoundError:
        return None


def drop(reference: str) -> None:
    """Delete the local files of a reference; what the store has stays."""
    path = artifact_path(reference)
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()
    if bucket.is_set():
        _marker(reference).unlink(missing_ok=True)


def _make_room(needed: int) -> None:
    """Let what was not used for longest leave the cache, until `needed` more bytes fit below its limit."""
    if not (limit := int(settings.ARTIFACT_CACHE_GB * 10**9)):
        return
    held: list[tuple[float, int, str]] = []
    for marker in artifact_path(MARKERS).glob("[!.]*"):
        with suppress(OSError):
            manifest = _read(marker.read_bytes()) or {}
            size = sum(stored.bytes for stored in manifest.values())
            held.append((marker.stat().st_mtime, size, unquote(marker.name)))
    over = sum(size for _, size, _ in held) + needed - limit
    for used_at, size, reference in sorted(held):
        if over <= 0 or used_at > time.time() - IN_USE:
            break
        drop(reference)
        over -= size
