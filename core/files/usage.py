"""Tell how much of the disk the site uses."""

import os
import shutil
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from django.conf import settings
from django.db import connection

from core.files import bucket

EVERY = 600.0  # seconds for which a measured folder is believed: a large one takes a while
_measured: dict[Path, tuple[float, int]] = {}


class DiskUse(NamedTuple):
    """Hold bytes: of the artifact folder, which is a cache if there is a store, of the database, and what is free."""

    artifacts: int
    database: int
    free: int
    is_cache: bool


def disk_use() -> DiskUse:
    return DiskUse(artifact_bytes(), database_bytes(), free_bytes(), bucket.is_set())


def artifact_bytes() -> int:
    """Return the bytes of the artifact folder of this machine; each process measures it every ten minutes at most."""
    folder, now = Path(settings.ARTIFACT_ROOT), time.monotonic()
    at, size = _measured.get(folder, (float("-inf"), 0))
    if now - at >= EVERY:
        at, size = now, _size(folder)
        _measured[folder] = at, size
    return size


def free_bytes() -> int:
    """Return what is free on the disk of the artifact folder."""
    folder = Path(settings.ARTIFACT_ROOT)
    return shutil.disk_usage(next(one for one in (folder, *folder.parents) if one.exists())).free


def database_bytes() -> int:
    """Return the size of the database, as it says itself."""
    postgres = "SELECT pg_database_size(current_database())"
    sqlite = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"
    with connection.cursor() as cursor:
        cursor.execute(postgres if connection.vendor == "postgresql" else sqlite)
        return int(cursor.fetchone()[0])


def _size(folder: Path) -> int:
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):  # deleted meanwhile
                total += Path(place, name).lstat().st_size
    return total
