"""Read the lines of a text file, plain or gzip, within bounds: what is small as sent may be huge when unpacked."""

import gzip
import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

from core.errors import TooLargeError, UserError

LONGEST_LINE = PART = 1 << 20  # bytes
RATIO, UNSUSPECTED = 100, 5_000_000  # text packs about 10 to 1; up to 5 MB unpacked, no file is taken for a bomb
DAMAGED = (OSError, EOFError, zlib.error)  # what a damaged gzip file raises


class Bounds(NamedTuple):
    """Say how many bytes a file may have, unpacked, and how many lines."""

    bytes: int
    lines: int


SENT = Bounds(100_000_000, 2_000_000)  # of a file that a page or the API takes
ON_SERVER = Bounds(4 << 30, 10_000_000)  # of a file that a command reads


class LinesError(UserError):
    """A file is not text of lines."""


class LinesTooLargeError(LinesError, TooLargeError):
    """A file has more bytes or lines than are read."""


class Unpacking(io.RawIOBase):
    """The content of a gzip file as a stream; LinesTooLargeError at a bomb, which has far more bytes than text has."""

    def __init__(self, packed: IO[bytes], name: str) -> None:
        self.packed, self.name, self.read_so_far = packed, name, 0
        self.file = gzip.GzipFile(fileobj=packed)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        n = self.file.readinto(buffer)
        self.read_so_far += n
        check_ratio(self.read_so_far, self.packed.tell(), self.name)
        return n


def check_ratio(size: int, packed: int, name: str) -> None:
    """Raise LinesTooLargeError for a bomb: `size` bytes from `packed` ones, a ratio that no text has."""
    if size > UNSUSPECTED and size > RATIO * packed:
        raise LinesTooLargeError(f"{name} unpacks to more than {RATIO} times its size, as no text does: pack it again.")


def unpacked(raw: bytes, name: str, most: int) -> bytes:
    """Return the content of a gzip file, at most `most` bytes; LinesError if it is damaged, larger or a bomb."""
    text = bytearray()
    try:
        file = Unpacking(io.BytesIO(raw), name)
        while part := file.read(PART):
            text += part
            if len(text) > most:
                raise too_many_bytes(name, most)
    except DAMAGED as error:
        raise LinesError(f"{name} is a damaged .gz file ({error}): copy or pack it again.") from error
    return bytes(text)


def lines_of(path: Path, bounds: Bounds = SENT) -> Iterator[tuple[int, str]]:
    """Yield number and text of each line that is not empty; .gz files are unpacked. LinesError as text_lines."""
    try:
        with path.open("rb") as file:
            if path.suffix != ".gz":
                yield from text_lines(file, path.name, bounds)
                return
            try:
                yield from text_lines(io.BufferedReader(Unpacking(file, path.name)), path.name, bounds)
            except DAMAGED as error:
                raise LinesError(f"{path.name} is a damaged .gz file ({error}): copy or pack it again.") from error
    except OSError as error:
        raise LinesError(f"{path}: {error.strerror or error}") from error


def text_lines(file: IO[bytes], name: str, bounds: Bounds = SENT) -> Iterator[tuple[int, str]]:
    """Yield number and text of each line that is not empty; a byte order mark is skipped.

    LinesError names the line that is not UTF-8, holds a NUL or is too long; LinesTooLargeError says what is too much.
    """
    number = read = 0
    while raw := file.readline(LONGEST_LINE + 1):
        number, read = number + 1, read + len(raw)
        if read > bounds.bytes:
            raise too_many_bytes(name, bounds.bytes)
        if number > bounds.lines:
            raise LinesTooLargeError(f"{name} has more than {bounds.lines:,} lines, the most that are read here.")
        if len(raw) > LONGEST_LINE:
            raise LinesError(f"{name}:{number}: has more than {LONGEST_LINE:,} bytes; end each line with a line feed.")
        text = _decoded(raw, name, number)
        if text.strip():
            yield number, text.rstrip("\n").rstrip("\r")


def _decoded(raw: bytes, name: str, number: int) -> str:
    try:
        text = raw.decode("utf-8-sig" if number == 1 else "utf-8")  # a byte-order mark is not part of the first name
    except UnicodeDecodeError as error:
        raise LinesError(f"{name}:{number}: is not UTF-8; save the file as UTF-8.") from error
    if "\0" in text:
        raise LinesError(f"{name}:{number}: holds a NUL character, which text has not; save the file as UTF-8.")
    return text


def too_many_bytes(name: str, most: int) -> LinesTooLargeError:
    """Return the error that says that a file is too large."""
    return LinesTooLargeError(f"{name} holds more than {most:,} bytes of text, the most that are read here.")
