"""Read tar archives from anywhere: what describes a member is held in memory, so its size has a bound."""

import tarfile
import zlib
from pathlib import Path
from typing import Self

MOST_DESCRIBED = 1 << 20  # bytes of a long name or of extended headers; paths have 4 KiB
# the types of headers that the library reads as a whole before it knows the member
_DESCRIBING = (
    *(tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK),
    *(tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE),
)
# what the library raises while it lists a damaged archive; headers one after the other can exceed its recursion
DAMAGED = (tarfile.TarError, OSError, EOFError, zlib.error, ValueError, RecursionError)


class BoundedTarInfo(tarfile.TarInfo):
    """A member whose long name or extended headers are refused, before they are read, if they are too large."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        found = super().frombuf(buf, encoding, errors)
        if found.type in _DESCRIBING and found.size > MOST_DESCRIBED:
            raise tarfile.ReadError(f"a name or header of {found.size:,} bytes, which no archive needs")
        return found


def is_tar(path: Path) -> bool:
    """Return whether this is a tar archive, plain or compressed, whose first member can be read."""
    try:
        tarfile.open(path, tarinfo=BoundedTarInfo).close()
    except DAMAGED:
        return False
    return True
