"""Open an exported test set: a folder, or a zip file of it, unpacked within bounds."""

import gzip
import stat
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from lzma import LZMAError
from pathlib import Path, PureWindowsPath
from typing import IO

from core.errors import TooLargeError
from core.files.artifacts import sha256_of
from core.files.lines import check_ratio
from core.files.reason import reason
from evaluation.labels.pool_table import EvaluationError
from pooling.pools.files import several

NAME = "test_set.json"  # what a folder says of itself; description.py reads it
SUMS = "CHECKSUMS.sha256"
MOST_BYTES = 50 << 30  # of an archive that a command reads, unpacked
MOST_SENT_BYTES = 1 << 30  # of one that is sent to the site, unpacked
MOST_MEMBERS = 10_000  # an export has about thirty files, and three for each system
PART = 1 << 20
ADVICE = "Copy or export it again. Nothing was imported."
_UNREADABLE = (zipfile.BadZipFile, OSError, EOFError, RuntimeError, ValueError, LZMAError, struct.error, zlib.error)


class TestSetTooLargeError(EvaluationError, TooLargeError):
    """Say that the files of a test set are larger than is read here."""

    __test__ = False  # not a test, whatever pytest makes of its name


@contextmanager
def opened(path: Path, called: str, most: int) -> Iterator[Path]:
    """Give the folder with test_set.json: the one named, the only one in it, or that of a zip file, unpacked.

    called: what messages name it; most: bytes that the files of a zip file have, unpacked, those in .gz files too.
    """
    if path.is_dir():
        yield _top(path)
        return
    if not zipfile.is_zipfile(path):
        what = "is neither a folder nor a zip file" if path.exists() else "does not exist"
        raise EvaluationError(f"{called} {what}: give what export_test_set wrote. Nothing was imported.")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "test-set"
        folder.mkdir()
        try:
            _unpack(path, folder, called, most)
        except _UNREADABLE as error:
            raise EvaluationError(f"{called} cannot be unpacked: {reason(error)}. {ADVICE}") from error
        yield _top(folder)


def _top(folder: Path) -> Path:
    inside = [one for one in folder.iterdir() if one.is_dir()]
    return inside[0] if not (folder / NAME).exists() and len(inside) == 1 else folder


def _unpack(path: Path, folder: Path, called: str, most: int) -> None:
    """Write the files of a zip file below `folder`, counting the bytes that there are, not those that it tells."""
    left = most
    with zipfile.ZipFile(path) as packed:
        members = packed.infolist()
        if len(members) > MOST_MEMBERS:
            raise TestSetTooLargeError(
                f"{called} has {len(members):,} files, and a test set at most {MOST_MEMBERS:,}: give the zip file of "
                "one test set. Nothing was imported."
            )
        _check_names(members, called)
        for member in members:
            place = folder.joinpath(*PureWindowsPath(member.filename).parts)
            if member.is_dir():
                place.mkdir(parents=True, exist_ok=True)
                continue
            place.parent.mkdir(parents=True, exist_ok=True)
            check_ratio(member.file_size, member.compress_size, f"{called}: {member.filename}")
            with packed.open(member) as source, place.open("xb") as target:
                left = _copied(source, target, left)
            if place.suffix == ".gz":
                with gzip.open(place) as inside:
                    left = _copied(inside, None, left)
            if left < 0:
                raise TestSetTooLargeError(
                    f"{called} has more than {_size(most)} when it is unpacked: import it on the server, with "
                    "import_test_set, or export it without runs. Nothing was imported."
                )


def _copied(source: IO[bytes] | gzip.GzipFile, target: IO[bytes] | None, left: int) -> int:
    """Copy a file, to nowhere if there is no target, and return how many bytes are left; negative ends it early."""
    while left >= 0 and (part := source.read(PART)):
        left -= len(part)
        if target and left >= 0:
            target.write(part)
    return left


def _check_names(members: list[zipfile.ZipInfo], called: str) -> None:
    """Raise EvaluationError that names members which lie outside the folder, are links, or are there twice."""
    wrong: list[str] = []
    seen: set[tuple[str, ...]] = set()
    for member in members:
        parts = PureWindowsPath(member.filename).parts  # splits at / and at \, and knows both kinds of roots
        told = repr(member.filename[:80])
        if PureWindowsPath(member.filename).anchor or ".." in parts or not parts:
            wrong.append(f"{told} would lie outside the folder of the test set")
        elif stat.S_ISLNK(member.external_attr >> 16):
            wrong.append(f"{told} is a link, not a file")
        elif parts in seen:
            wrong.append(f"{told} is there twice")
        seen.add(parts)
    if wrong:
        raise EvaluationError(several([f"{called}: {line}" for line in wrong], ADVICE))


def _size(most: int) -> str:
    return f"{most >> 30:,} GiB" if most >= 1 << 30 else f"{most:,} bytes"


def check_sums(folder: Path, called: str, needed: tuple[str, ...]) -> None:
    """Raise EvaluationError that names the files which are missing or are not those that were written."""
    path = folder / SUMS
    if not path.is_file():
        raise EvaluationError(f"{called} has no {SUMS}: give what export_test_set wrote. Nothing was imported.")
    told = [line.partition("  ") for line in path.read_text(encoding="utf-8", errors="replace").splitlines()]
    names = {name for _, _, name in told}
    wrong = [f"{name} is missing" for name in needed if name not in names]
    for sha256, _, name in told:
        if not _is_below(folder, name):
            wrong.append(f"{name[:200]} is missing")
        elif sha256_of(folder / name) != sha256:
            wrong.append(f"{name} is not the file that was written (SHA-256 differs)")
    if wrong:
        raise EvaluationError(several(wrong, ADVICE))


def _is_below(folder: Path, name: str) -> bool:
    try:
        return (folder / name).resolve().is_relative_to(folder.resolve()) and (folder / name).is_file()
    except (OSError, ValueError):  # no name that a file can have
        return False
