"""Give each attempt at training a system a folder of its own, so that a paused one cannot overwrite another's files."""

import os
import re
import shutil
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from core.files.artifacts import ArtifactError, artifact_path
from core.files.storage import StoreError, delete, files_below, local, publish
from core.jobs.fencing import fenced
from core.jobs.progress import Progress
from pooling.enums import SystemState
from pooling.models import System


def new_folder(system: System) -> str:
    """Return a folder that no other attempt at training `system` has, relative to the artifact folder."""
    return f"systems/{system.pk}-{uuid.uuid4().hex[:12]}"


def drop_folder(system: System, relative: str) -> None:
    """Delete a folder of an earlier attempt at training `system`; another folder stays."""
    if re.fullmatch(rf"systems/{system.pk}([-.]\w+)?", relative):
        delete(relative)


def take_over(system: System) -> None:
    """Let this attempt train in a folder of its own, from the checkpoints of the one before it, whose folder goes.

    If that one was only paused, it writes to a folder that nobody reads any more.
    """
    old, relative = system.artifact, new_folder(system)
    try:
        if old and local(old, newest=True).is_dir():
            unfinished = shutil.ignore_patterns("*.part")
            shutil.copytree(artifact_path(old), artifact_path(relative), ignore=unfinished, copy_function=_link)
            publish(relative, replaces=True, last=False)  # nobody may find less in the store than before
        with fenced(further=False, brief=True):
            System.objects.filter(pk=system.pk).update(state=SystemState.TRAINING, note="", artifact=relative)
    except BaseException as error:
        delete(relative)
        if isinstance(error, OSError):
            raise not_written(system, error) from error
        raise
    system.artifact = relative
    drop_folder(system, old)


def _link(source: str, target: str) -> None:
    """Let both names be the same file, which later checkpoints replace but never change; copy where that cannot be."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


UPLOAD_SECONDS = 300.0  # of training that another machine repeats at most


@contextmanager
def uploads(system: System, progress: Progress) -> Iterator[Callable[[], None]]:
    """Give a function that uploads new checkpoints if five minutes may pass before the next; upload at the end too.

    Only fresh checkpoints are uploaded: one that waits is up to four minutes old already. The next one is expected
    after the longest time between two so far. The end is also a failure, a cancellation and a worker that is
    stopped. A store that does not answer in between stops no training.
    """
    uploaded = written = time.monotonic()
    seen, longest = _versions(system), 0.0

    def now_and_then() -> None:
        nonlocal uploaded, written, seen, longest
        if (found := _versions(system)) == seen:
            return
        seen, now = found, time.monotonic()
        longest, written = max(longest, now - written), now
        if now + longest - uploaded < UPLOAD_SECONDS:
            return
        try:
            publish(system.artifact, replaces=True, last=False)
        except StoreError as error:
            progress.log(f"the checkpoint was not uploaded, the next one will be: {error}")
        uploaded = now

    try:
        yield now_and_then
    except BaseException:
        with suppress(StoreError):  # what went wrong first is told
            publish(system.artifact, replaces=True, last=False)
        raise
    publish(system.artifact, replaces=True)


def _versions(system: System) -> set[tuple[str, int, int]]:
    """Return what tells whether a file of the system's folder was replaced: its name, inode and time of change."""
    stats = {file.name: file.stat() for file in files_below(artifact_path(system.artifact))}
    return {(name, stat.st_ino, stat.st_mtime_ns) for name, stat in stats.items()}


def not_written(system: System, error: OSError) -> ArtifactError:
    """Return the error for a checkpoint that the disk refuses."""
    return ArtifactError(
        f"The checkpoint of {system.name} could not be written: {error.strerror or error}. The last whole one, "
        "if there is one, is still there: free some disk space, then start the job again."
    )
