"""Write files so that a reader sees all of one, or the one before."""

import errno
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def written_aside(path: Path) -> Iterator[Path]:
    """Give a path beside `path` to write to; rename it onto `path` at the end, once it is on the disk.

    If anything fails (no disk space, a kill), the file that was at `path` is still there, whole. Process ids repeat
    between containers that share a folder, so the name has none. A link stays one; what is no file is never replaced.
    """
    if not path.name:  # "", "." or "/": no file can have this name
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if path.exists() and not path.is_file() and not path.is_dir():  # /dev/stdout would be gone for everybody
        raise OSError(errno.EINVAL, "it is a device or a pipe", str(path))
    if path.is_symlink():
        path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.{uuid.uuid4().hex[:12]}.part")
    try:
        yield aside
        with aside.open("rb") as file:
            os.fsync(file.fileno())
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)
