"""Put files that come with a form on the disk."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.core.files.uploadedfile import UploadedFile


@contextmanager
def kept_file(file: UploadedFile[Any] | None, name: str = "") -> Iterator[Path | None]:
    """Write an upload to a temporary file for the length of the block and give its path; None if nothing was sent.

    Without `name` it is called as the sender called it, since messages name it: the last part of that name.
    """
    if file is None:
        yield None
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / (name or Path(str(file.name)).name or "file")
        path.write_bytes(file.read())
        yield path
