"""Delete artifacts that no row names, such as those that a killed process left, here and in the store."""

import logging
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.db.models import Min
from django.utils import timezone

from core.enums import LIVE
from core.files import bucket
from core.files.artifacts import artifact_path
from core.files.bucket import StoredObject
from core.files.storage import FETCHING, drop
from core.models import Job
from evaluation.keeping.tables import owners_of_artifacts

logger = logging.getLogger(__name__)
FOLDERS = ("graphs", "systems", "runs", "qrels", "exports", "studies")
KEPT = timedelta(days=1)  # whoever writes files before their row is done by then
MARGIN = timedelta(hours=1)  # between the clocks of the database and of the disk
EVERY = 3600.0  # seconds between two sweeps of a worker
EVERY_WITH_STORE = 6 * 3600.0  # each lists the whole store
_next = float("-inf")  # of time.monotonic


_SWEEP = """
import os, django
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()
from evaluation.keeping.sweep import sweep_orphans
sweep_orphans()
"""


def sweep_now_and_then() -> None:
    """Sweep if this process has not done so within the hour."""
    global _next
    if time.monotonic() < _next:
        return
    _next = time.monotonic() + (EVERY_WITH_STORE if bucket.is_set() else EVERY)
    if bucket.is_set():  # not in the process of a worker that forks others: see bucket.py
        subprocess.run([sys.executable, "-c", _SWEEP], cwd=settings.BASE_DIR, timeout=EVERY, check=False)
    else:
        sweep_orphans()


def sweep_orphans() -> list[Path]:
    """Delete what no row names and nobody has changed for a day; return it.

    What was changed after the oldest job under way began stays too: that job may still be writing it.
    """
    oldest = timezone.now() - KEPT
    began = Job.objects.filter(state__in=LIVE).aggregate(first=Min("created_at"))["first"]
    if began is not None:
        oldest = min(oldest, began - MARGIN)
    stored = [found for name in FOLDERS for found in bucket.objects(name)] if bucket.is_set() else []
    places = [artifact_path(name) for name in (*FOLDERS, FETCHING)]
    there = [path for place in places if place.is_dir() for path in sorted(place.iterdir())]
    named = _named()  # read after the folders: what has got its row in between is not taken for an orphan
    old = [path for path in _orphans(there, named) if _changed_at(path) < oldest.timestamp()]
    for path in old:
        drop(path.relative_to(artifact_path("")).as_posix())
    _sweep_store(stored, named, oldest)
    if old:
        logger.warning("deleted %s files or folders that no row names: %s", len(old), ", ".join(map(str, old[:5])))
    return old


def _sweep_store(stored: list[StoredObject], named: set[Path], oldest: datetime) -> None:
    """Delete the objects that are of no artifact that a row names."""
    of_none = [found.key for found in stored if named.isdisjoint(artifact_path(found.key).parents)]
    old = {found.key for found in stored if found.changed_at < oldest}
    if gone := [key for key in of_none if key in old]:
        bucket.delete(gone)
        logger.warning("deleted %s objects of the store that no row names: %s", len(gone), ", ".join(gone[:5]))


def _named() -> set[Path]:
    """Return the artifacts of all rows, and the folders that they are in."""
    found: set[Path] = set()
    for model in owners_of_artifacts():
        names = model._base_manager.exclude(artifact="").order_by().values_list("artifact", flat=True)
        found.update(map(artifact_path, names))
    return found


def _orphans(there: list[Path], named: set[Path]) -> Iterator[Path]:
    """Yield what is not named; of a folder that holds something named, what it holds beside that."""
    holding = {parent for path in named for parent in path.parents}
    for path in there:
        if path in named:
            continue
        if path in holding:
            yield from _orphans(sorted(path.iterdir()), named)
        else:
            yield path


def _changed_at(path: Path) -> float:
    """Return when the file, or any file or folder below it, was changed last; infinity if it is going just now."""
    try:
        below = () if path.is_symlink() or not path.is_dir() else tuple(path.rglob("*"))
        return max(one.lstat().st_mtime for one in (path, *below))
    except FileNotFoundError:
        return float("inf")
