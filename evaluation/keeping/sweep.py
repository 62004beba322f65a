"""Delete files of runs, systems, archives and studies that no row names, such as those that a killed process left."""

import logging
import shutil
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

from django.db.models import Min
from django.utils import timezone

from core.enums import LIVE
from core.files.artifacts import artifact_path
from core.models import Job
from evaluation.keeping.tables import owners_of_artifacts

logger = logging.getLogger(__name__)
FOLDERS = ("runs", "systems", "exports", "studies")
KEPT = timedelta(days=1)  # whoever writes files before their row is done by then
MARGIN = timedelta(hours=1)  # between the clocks of the database and of the disk
EVERY = 3600.0  # seconds between two sweeps of a worker
_next = float("-inf")  # of time.monotonic


def sweep_now_and_then() -> None:
    """Sweep if this process has not done so within the hour."""
    global _next
    if time.monotonic() >= _next:
        _next = time.monotonic() + EVERY
        sweep_orphans()


def sweep_orphans() -> list[Path]:
    """Delete what no row names and nobody has changed for a day; return it.

    What was changed after the oldest job under way began stays too: that job may still be writing it.
    """
    oldest = timezone.now() - KEPT
    began = Job.objects.filter(state__in=LIVE).aggregate(first=Min("created_at"))["first"]
    if began is not None:
        oldest = min(oldest, began - MARGIN)
    there = [path for name in FOLDERS if artifact_path(name).is_dir() for path in sorted(artifact_path(name).iterdir())]
    named = _named()  # read after the folders: what has got its row in between is not taken for an orphan
    old = [path for path in _orphans(there, named) if _changed_at(path) < oldest.timestamp()]
    for path in old:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    if old:
        logger.warning("deleted %s files or folders that no row names: %s", len(old), ", ".join(map(str, old[:5])))
    return old


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
