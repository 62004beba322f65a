"""Give each attempt at training a system a folder of its own, so that a paused one cannot overwrite another's files."""

import os
import re
import shutil
import uuid

from core.files.artifacts import ArtifactError, artifact_path
from core.jobs.fencing import fenced
from pooling.enums import SystemState
from pooling.models import System


def new_folder(system: System) -> str:
    """Return a folder that no other attempt at training `system` has, relative to the artifact folder."""
    return f"systems/{system.pk}-{uuid.uuid4().hex[:12]}"


def drop_folder(system: System, relative: str) -> None:
    """Delete a folder of an earlier attempt at training `system`; another folder stays."""
    if re.fullmatch(rf"systems/{system.pk}([-.]\w+)?", relative):
        shutil.rmtree(artifact_path(relative), ignore_errors=True)


def take_over(system: System) -> None:
    """Let this attempt train in a folder of its own, from the checkpoints of the one before it, whose folder goes.

    If that one was only paused, it writes to a folder that nobody reads any more.
    """
    old, relative = system.artifact, new_folder(system)
    try:
        if old and artifact_path(old).is_dir():
            unfinished = shutil.ignore_patterns("*.part")
            shutil.copytree(artifact_path(old), artifact_path(relative), ignore=unfinished, copy_function=_link)
        with fenced(further=False):
            System.objects.filter(pk=system.pk).update(state=SystemState.TRAINING, note="", artifact=relative)
    except BaseException as error:
        shutil.rmtree(artifact_path(relative), ignore_errors=True)
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


def not_written(system: System, error: OSError) -> ArtifactError:
    """Return the error for a checkpoint that the disk refuses."""
    return ArtifactError(
        f"The checkpoint of {system.name} could not be written: {error.strerror or error}. The last whole one, "
        "if there is one, is still there: free some disk space, then start the job again."
    )
