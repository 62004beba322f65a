"""Delete artifacts that no row names, such as those that a killed process left, here and in the store."""

import logging
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

from django.conf import settings
from django.db.models import Min
from django.utils import timezone

from core.enums import LIVE
from core.files import bucket
from core.files.artifacts import artifact_path
from core.files.storage import FETCHING, drop
from core.models import Job
from evaluation.keeping.tables import owners_of_artifacts

logger = logging.getLogger(__name__)
FOLDERS = ("graphs", "systems", "runs", "qrels", "exports", "studies", "parts")
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


class Orphans(NamedTuple):
    """Hold what no row names: files and folders of this machine, and keys of the store."""

    paths: list[Path]
    keys: list[str]


def sweep_orphans() -> list[Path]:
    """Delete what no row names and nobody has changed for a day; return what was on this machine."""
    found = find_orphans()
    delete_orphans(found)
    return found.paths


def find_orphans() -> Orphans:
    """Return what no row names and nobody has changed for a day.

    What was changed after the oldest job under way began is left out too: that job may still be writing it.
    """
    oldest = timezone.now() - KEPT
    began = Job.objects.filter(state__in=LIVE).aggregate(first=Min("created_at"))["first"]
    if began is not None:
        oldest = min(oldest, began - MARGIN)
    stored = [found for name in FOLDERS for found in bucket.objects(name)] if bucket.is_set() else []
    places = [artifact_path(name) for name in (*FOLDERS, FETCHING)]
    there = [path for place in places if place.is_dir() for path in sorted(place.iterdir())]
    named = _named()  # read after the folders: what has got its row in between is not taken for an orphan
    paths = [path for path in _orphans(there, named) if _changed_at(path) < oldest.timestamp()]
    of_none = [found for found in stored if named.isdisjoint(artifact_path(found.key).parents)]
    return Orphans(paths, [found.key for found in of_none if found.changed_at < oldest])


def delete_orphans(found: Orphans) -> None:
    for path in found.paths:
        drop(path.relative_to(artifact_path("")).as_posix())
    if found.keys:
        bucket.delete(found.keys)
    for number, what, some in (
        (len(found.paths), "files or folders", map(str, found.paths[:5])),
        (len(found.keys), "objects of the store", found.keys[:5]),
    ):
        if number:
            logger.warning("deleted %s %s that no row names: %s", number, what, ", ".join(some))


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
