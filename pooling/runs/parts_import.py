"""Import the run of an upload in parts (parts.py) as a job, and keep what others must not read for its owner."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User

from core.errors import UserError
from core.files.artifacts import writing
from core.jobs.fencing import fenced
from core.jobs.progress import JobCancelled, Progress
from core.models import Job
from pooling.models import Graph, System
from pooling.runs.adapters.registry import known_suffix
from pooling.runs.imports import TOPICS, Imported, import_run, pool_of_runs
from pooling.runs.parts import Outcome, Upload, UploadError, close, fetch_parts, read_upload, sweep_uploads
from pooling.runs.trec_read import TrecError

MOST_UNPACKED = 8 << 30  # bytes of the whole run
NAME = "the upload"  # what messages call the file
REFUSED = (
    "The run was refused. Its owner can read why on the page Runs of the graph, or in `refused` of "
    "GET /api/v1/uploads/{}. Correct the file, then send it again."
)
BROKE = (
    "The run could not be imported because of an error of the program ({}). The parts are kept: finish the upload "
    "again. If that fails too, ask the person who runs this site: the server's log has the details."
)


def run_import(job: Job, progress: Progress) -> None:
    """Import the run of an upload, and keep how that ended; one that was imported already is left as it is.

    UploadError says nothing of the file: who may watch the job need not be its owner.
    """
    sweep_uploads()
    upload = read_upload(str(job.params["upload"]))
    if upload is None:
        raise UploadError("The upload is gone: it was deleted, or is older than a day. Send the run again.")
    outcome = upload.outcome() or _attempt(upload, int(job.params["parts"]), progress)
    with fenced():  # an attempt that was paused would find the name taken, and call that the end
        close(upload, outcome)
    if outcome.refused:
        raise UploadError(REFUSED.format(upload.id))


def _attempt(upload: Upload, parts: int, progress: Progress) -> Outcome:
    """Import the run, and return how that ended; UploadError if something else than the file is at fault."""
    try:
        told = _import(upload, parts, progress)
    except JobCancelled:
        raise
    except UserError as error:  # the same file would be refused again
        return Outcome(refused=str(error))
    except Exception as error:  # its words may hold lines of the file
        raise UploadError(BROKE.format(type(error).__name__)) from error
    if not told.system.private:
        for note in told.notes:
            progress.log(note)
    return Outcome(notes=told.notes)


def _import(upload: Upload, parts: int, progress: Progress) -> Imported:
    about = upload.about
    graph, user = Graph.objects.get(pk=about["graph"]), User.objects.get(pk=about["user"])
    pool = pool_of_runs(graph, about["pool"]) if about.get("pool") else None
    whole = upload.folder / f"whole{known_suffix(about['file_name'])}"
    fetch_parts(upload)
    _join(upload, parts, whole)
    topics = upload.folder / TOPICS
    told = import_run(
        graph,
        whole,
        name=about["name"],
        family=about["family"],
        pool=pool,
        form=about["form"],
        scores_decide=about["scores_decide"],
        topics_file=topics if topics.exists() else None,
        user=user,
        file_name=NAME,
        max_bytes=MOST_UNPACKED,
        progress=lambda stage, done, total: progress.report(_stage(stage), done, total, "bytes"),
    )
    _name_file(told.system, about)
    return told


def _stage(stage: str) -> str:
    """Return a stage without the names of a run that may be private."""
    return "reading the run" if stage.startswith("reading") else "writing the run"


def _name_file(system: System, about: Mapping[str, Any]) -> None:
    with fenced():
        System.every.filter(pk=system.pk).update(settings=system.settings | {"file": about["file_name"]})


def _join(upload: Upload, parts: int, whole: Path) -> None:
    """Write the parts, one after the other, as one file; TrecError if one was damaged since."""
    with writing(whole) as aside, aside.open("wb") as out:
        for part in upload.parts()[:parts]:
            content = (upload.folder / f"part-{part.number:04}").read_bytes()
            if hashlib.sha256(content).hexdigest() != part.sha256:
                raise TrecError(f"Part {part.number} was damaged on the server: send the run again.")
            out.write(content)
