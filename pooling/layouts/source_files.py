"""Open a folder, a zip or tar archive, or a single file as named bytes, without unpacking anything to disk."""

import gzip
import io
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pooling.graphs.source_data import GraphError

MOST_BYTES = 4 << 30  # of one file when unpacked
MOST_FILES = 10_000
PART = 1 << 20


@dataclass(frozen=True)
class SourceFiles:
    """Hold the files of a source by their path in it, without the ending .gz; `name` is what messages call it."""

    name: str
    readers: dict[str, Callable[[], bytes]]

    def __iter__(self) -> Iterator[str]:
        return iter(self.readers)

    def read(self, path: str) -> bytes:
        """Return a file, unpacked. GraphError if it cannot be read or is too large."""
        try:
            return self.readers[path]()
        except (OSError, EOFError, zlib.error, zipfile.BadZipFile, tarfile.TarError, RuntimeError) as error:
            raise GraphError(f"{path} cannot be read ({error}): copy or pack it again.") from None


def open_source(path: Path) -> SourceFiles:
    """Return the files of a folder, of a .zip or .tar(.gz) archive, or one file. GraphError says why not."""
    if path.is_dir():
        found = {str(at.relative_to(path).as_posix()): at.read_bytes for at in sorted(path.rglob("*")) if at.is_file()}
    elif not path.is_file():
        raise GraphError(f"{path} is neither a folder nor a file: check the path.")
    elif zipfile.is_zipfile(path):
        found = _of_zip(path)
    elif path.suffix != ".gz" or path.name.endswith(".tar.gz"):
        found = _of_tar(path) if tarfile.is_tarfile(path) else {path.name: path.read_bytes}
    else:
        found = {path.name: path.read_bytes}
    kept = {name: reader for name, reader in found.items() if not _is_hidden(name)}
    if not kept:
        raise GraphError(f"{path} holds no file.")
    if len(kept) > MOST_FILES:
        raise GraphError(
            f"{path} holds {len(kept):,} files, at most {MOST_FILES:,} are looked at: give the folder of the graph."
        )
    return SourceFiles(str(path), {name.removesuffix(".gz"): _unpacked(name, reader) for name, reader in kept.items()})


def _is_hidden(name: str) -> bool:
    return any(part.startswith((".", "__MACOSX")) for part in PurePosixPath(name).parts)


def _of_zip(path: Path) -> dict[str, Callable[[], bytes]]:
    archive = zipfile.ZipFile(path)

    def reader(info: zipfile.ZipInfo) -> Callable[[], bytes]:
        return lambda: _limited(archive.open(info), info.filename)

    return {info.filename: reader(info) for info in archive.infolist() if not info.is_dir()}


def _of_tar(path: Path) -> dict[str, Callable[[], bytes]]:
    archive = tarfile.open(path)  # noqa: SIM115 - its members are read later

    def reader(member: tarfile.TarInfo) -> Callable[[], bytes]:
        return lambda: _limited(archive.extractfile(member) or io.BytesIO(), member.name)

    return {member.name: reader(member) for member in archive if member.isfile()}


def _unpacked(name: str, reader: Callable[[], bytes]) -> Callable[[], bytes]:
    if not name.endswith(".gz"):
        return reader
    return lambda: _limited(gzip.GzipFile(fileobj=io.BytesIO(reader())), name)


def _limited(stream: object, name: str) -> bytes:
    """Read a stream to its end; GraphError once it is longer than a file may be."""
    parts, total = [], 0
    while part := stream.read(PART):  # type: ignore[attr-defined]
        total += len(part)
        if total > MOST_BYTES:
            raise GraphError(f"{name} is larger than {MOST_BYTES >> 30} GiB when unpacked: import a part of it.")
        parts.append(part)
    return b"".join(parts)
