"""Open a folder, a zip or tar archive, or a single file as named bytes, without unpacking anything to disk."""

import io
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO

from core.files.file_names import in_utf8
from core.files.lines import LinesTooLargeError, Unpacking, check_ratio
from core.files.reason import reason
from core.files.tar_headers import DAMAGED, BoundedTarInfo, is_tar
from pooling.graphs.source_data import GraphError, GraphTooLargeError

MOST_BYTES = 4 << 30  # of all files that are read, unpacked
MOST_FILES = 10_000
LEAST_LINE = 80  # files of n bytes may have n / 80 lines together: each costs 400 bytes of memory
FEW_LINES = 10_000
PART = 1 << 20
Reader = Callable[[int], bytes]  # most bytes -> the file


@dataclass(frozen=True)
class SourceFiles:
    """Hold the files of a source by their path in it, without the ending .gz; `name` is what messages call it.

    `most`: bytes of all files together, unpacked; `sizes` and `lines`: of those that were read.
    """

    name: str
    readers: dict[str, Reader]
    most: int
    sizes: dict[str, int] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)

    def __iter__(self) -> Iterator[str]:
        return iter(self.readers)

    def read(self, path: str) -> bytes:
        """Return a file, unpacked. GraphError if it cannot be read or is too large."""
        left = self.most - sum(size for name, size in self.sizes.items() if name != path)
        try:
            data = self.readers[path](left)
        except LinesTooLargeError as error:
            raise GraphTooLargeError(str(error)) from None
        except (OSError, EOFError, zlib.error, zipfile.BadZipFile, tarfile.TarError, RuntimeError) as error:
            raise GraphError(f"{path} cannot be read ({reason(error)}): copy or pack it again.") from None
        self.sizes[path] = len(data)
        self.lines[path] = max(data.count(b"\n"), data.count(b"\r"))
        if sum(self.lines.values()) > (most := max(self.most // LEAST_LINE, FEW_LINES)):
            raise GraphTooLargeError(f"{path} has more lines than the {most:,} that are read: import a part of them.")
        return data


def open_source(path: Path, name: str = "", most: int | None = None) -> SourceFiles:
    """Return the files of a folder, of a .zip or .tar(.gz) archive, or one file. GraphError says why not.

    `name`: what messages call it; `most`: bytes of all files, unpacked, 4 GiB if None.
    """
    called, limit = name or str(path), MOST_BYTES if most is None else most
    if path.is_dir():
        found = {
            in_utf8(at.relative_to(path).as_posix()): _of_file(at) for at in sorted(path.rglob("*")) if at.is_file()
        }
    elif not path.is_file():
        raise GraphError(f"{called} is neither a folder nor a file: check the path.")
    elif zipfile.is_zipfile(path):
        found = _of_zip(path, called)
    elif path.suffix == ".zip":
        raise GraphError(f"{called} is not a complete zip file: copy or pack it again.")
    elif path.suffix != ".gz" or path.name.endswith(".tar.gz"):
        if is_tar(path):
            found = _of_tar(path, called, limit)
        elif path.suffix in (".gz", ".tar"):
            raise GraphError(f"{called} is not a complete tar file: copy or pack it again.")
        else:
            found = {path.name: _of_file(path)}
    else:
        found = {path.name: _of_file(path)}
    _check_number(len(found), called)
    kept = {name: reader for name, reader in found.items() if not _is_hidden(name)}
    if not kept:
        raise GraphError(f"{called} holds no file: give a folder or archive with files of triples.")
    return SourceFiles(called, {name.removesuffix(".gz"): _unpacked(name, of) for name, of in kept.items()}, limit)


def _check_number(files: int, called: str) -> None:
    if files > MOST_FILES:
        raise GraphError(f"{called} holds more than {MOST_FILES:,} files: give the folder of the graph alone.")


def _is_hidden(name: str) -> bool:
    return any(part.startswith((".", "__MACOSX")) for part in PurePosixPath(name).parts)


def _of_file(path: Path) -> Reader:
    def read(most: int) -> bytes:
        with path.open("rb") as file:
            return _limited(file, path.name, most)

    return read


def _of_zip(path: Path, called: str) -> dict[str, Reader]:
    try:
        archive = zipfile.ZipFile(path)
    except (OSError, zipfile.BadZipFile, ValueError) as error:
        raise GraphError(f"{called} cannot be read ({error}): copy or pack it again.") from None
    _check_number(len(archive.infolist()), called)

    def reader(info: zipfile.ZipInfo) -> Reader:
        return lambda most: _member(archive, info, most)

    return {info.filename: reader(info) for info in archive.infolist() if not info.is_dir()}


def _check_ratio(size: int, packed: int, name: str) -> None:
    try:
        check_ratio(size, packed, name)
    except LinesTooLargeError as error:
        raise GraphTooLargeError(str(error)) from None


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, most: int) -> bytes:
    _check_ratio(info.file_size, info.compress_size, info.filename)
    return _limited(archive.open(info), info.filename, most)


def _of_tar(path: Path, called: str, most: int) -> dict[str, Reader]:
    """List the files of an archive; it is unpacked as it is listed, so that its size is watched here too."""
    # a name that is not UTF-8 is shown as \xe9: no page, message or row takes the surrogates that Python makes of it
    archive = tarfile.open(path, tarinfo=BoundedTarInfo, errors="backslashreplace")  # noqa: SIM115 - its members are read later
    found: dict[str, Reader] = {}
    total = 0

    def reader(member: tarfile.TarInfo) -> Reader:
        return lambda most: _limited(archive.extractfile(member) or io.BytesIO(), member.name, most)

    try:
        for member in archive:
            total += member.size
            if total > most:
                raise _too_large(member.name, most)
            _check_ratio(total, path.stat().st_size, called)
            if member.isfile():
                found[member.name] = reader(member)
                _check_number(len(found), called)
    except DAMAGED as error:
        raise GraphError(f"{called} cannot be read ({error}): copy or pack it again.") from None
    return found


def _unpacked(name: str, reader: Reader) -> Reader:
    if not name.endswith(".gz"):
        return reader
    return lambda most: _limited(io.BufferedReader(Unpacking(io.BytesIO(reader(most)), name)), name, most)


def _limited(stream: IO[bytes] | io.BufferedReader, name: str, most: int) -> bytes:
    """Read a stream to its end; GraphError once it is longer than what is left of the limit."""
    parts, total = [], 0
    while part := stream.read(PART):
        total += len(part)
        if total > most:
            raise _too_large(name, most)
        parts.append(part)
    return b"".join(parts)


def _too_large(name: str, most: int) -> GraphTooLargeError:
    told = f"{most >> 30} GiB" if most >= 1 << 30 else f"{max(most, 0):,} bytes"
    return GraphTooLargeError(
        f"{name} is larger than the {told} that are left for unpacked files: import a part of them."
    )
