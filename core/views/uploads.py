"""Files that come with a form, as files on the disk."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.core.files.uploadedfile import UploadedFile


@contextmanager
def kept_file(file: UploadedFile[Any] | None) -> Iterator[Path | None]:
    """The path of what was sent, for the length of the block; None where nothing was.

    It is called as the sender called it, since messages name it; of that name only the last part is used.
    """
    if file is None:
        yield None
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / (Path(str(file.name)).name or "file")
        path.write_bytes(file.read())
        yield path
