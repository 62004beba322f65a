"""Open a folder, a zip archive or a single file as named bytes of bounded size."""

import zipfile
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO, TypeVar

from core.files.lines import check_ratio
from core.files.reason import reason
from pooling.runs.adapters.base import NONE_IMPORTED, Outside
from pooling.runs.trec_read import TrecError

T = TypeVar("T")


def names_of(path: Path) -> list[str]:
    """Return the names of the files in a folder or zip archive, or the name of a single file."""
    if path.is_dir():
        return sorted(str(one.relative_to(path)) for one in path.rglob("*") if one.is_file())
    if is_archive(path):
        with zipfile.ZipFile(path) as archive:
            return sorted(one.filename for one in archive.infolist() if not one.is_dir())
    return [path.name] if path.is_file() else []


def is_archive(path: Path) -> bool:
    """Tell whether a file is a zip archive; .npz files are too."""
    return path.is_file() and zipfile.is_zipfile(path)


def begins_as_zip(path: Path) -> bool:
    """Tell whether a file begins as zip archives do, complete or not."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(2) == b"PK"


def size_of(path: Path, wanted: Callable[[str], bool]) -> int:
    """Return how many bytes the wanted files of a folder, zip archive or single file have unpacked."""
    if is_archive(path):
        with zipfile.ZipFile(path) as archive:
            return sum(one.file_size for one in archive.infolist() if wanted(one.filename))
    if path.is_dir():
        return sum((path / name).stat().st_size for name in names_of(path) if wanted(name))
    return path.stat().st_size


def beginnings(outside: Outside, wanted: Callable[[str], bool], read: Callable[[IO[bytes]], T]) -> dict[str, T]:
    """Return what `read` finds at the beginning of each wanted file, by name; nothing else is read."""
    if is_archive(outside.path):
        with zipfile.ZipFile(outside.path) as archive:
            return beginnings_in(archive, wanted, read)
    single, found = outside.path.is_file(), {}
    for name in names_of(outside.path):
        if wanted(name):
            with (outside.path if single else outside.path / name).open("rb") as file:
                found[name] = read(file)
    return found


def beginnings_in(
    archive: zipfile.ZipFile, wanted: Callable[[str], bool], read: Callable[[IO[bytes]], T]
) -> dict[str, T]:
    """Return what `read` finds at the beginning of each wanted file of an archive, by name; nothing else is read."""
    found = {}
    for one in archive.infolist():
        if wanted(one.filename):
            with archive.open(one) as file:
                found[one.filename] = read(file)
    return found


def members(outside: Outside, wanted: Callable[[str], bool]) -> dict[str, bytes]:
    """Read the files whose name is `wanted`, by name; TrecError if one is damaged, or all of them are too large."""
    try:
        if outside.path.is_dir():
            return _of_folder(outside, wanted)
        if is_archive(outside.path):
            return _of_archive(outside, wanted)
        return {outside.name: outside.path.read_bytes()}
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile, RuntimeError) as error:
        raise outside.refusal(f"cannot be read ({reason(error)}); {NONE_IMPORTED}") from error


def _of_folder(outside: Outside, wanted: Callable[[str], bool]) -> dict[str, bytes]:
    return {name: (outside.path / name).read_bytes() for name in names_of(outside.path) if wanted(name)}


def _of_archive(outside: Outside, wanted: Callable[[str], bool]) -> dict[str, bytes]:
    with zipfile.ZipFile(outside.path) as archive:
        chosen = [one for one in archive.infolist() if not one.is_dir() and wanted(one.filename)]
        check_unpacked(outside, chosen)
        for one in chosen:
            check_ratio(one.file_size, one.compress_size, f"{outside.name}: {one.filename}")
        return {one.filename: archive.read(one) for one in chosen}


def check_unpacked(outside: Outside, chosen: Iterable[zipfile.ZipInfo]) -> None:
    """Raise TrecError if these files of an archive have more bytes than may be sent."""
    size = sum(one.file_size for one in chosen)  # what zipfile reads at most
    if outside.max_bytes is not None and size > outside.max_bytes:
        raise TrecError(
            f"{outside.name} holds {size:,} bytes unpacked; at most {outside.max_bytes:,} can be sent here. "
            f"Send it in parts, or use import_run on the server; {NONE_IMPORTED}"
        )
