"""Import a run that was uploaded to a page or the API, small enough to be read while its sender waits."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.files.uploadedfile import UploadedFile

from pooling.models import Graph, Pool
from pooling.runs.imports import NOT_KNOWN, Imported, import_run
from pooling.runs.trec_read import TrecError

MOST_BYTES = 50_000_000  # as sent, and unpacked: 436,000 lines of FB15k-237 take two seconds and 140 MB


def import_sent_run(
    graph: Graph, file: UploadedFile[Any], *, name: str, user: User, family: str = NOT_KNOWN, pool: Pool | None = None
) -> Imported:
    """Import an uploaded run file; TrecError as import_run, or if it is too large."""
    size = file.size or 0
    if size > MOST_BYTES:
        raise TrecError(
            f"The file has {size:,} bytes; at most {MOST_BYTES:,} can be sent here. "
            "Use import_run on the server instead."
        )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run"  # its own name is told, never used as a path
        with path.open("wb") as kept:
            for piece in file.chunks():
                kept.write(piece)
        return import_run(
            graph, path, name=name, family=family, pool=pool, user=user, file_name=str(file.name), max_bytes=MOST_BYTES
        )
