"""Keep uploaded files of a graph aside until somebody confirms what was read; then import them, at once or as a job.

A folder of an upload is ARTIFACT_ROOT/uploads/<token>: the files, and upload.json with its person. Nothing is written
to the database before the import. An upload is its person's alone, and is swept after a day.
"""

import json
import os
import re
import shutil
import uuid
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from math import inf
from pathlib import Path, PurePosixPath
from typing import Any

from django.contrib.auth.models import User
from django.core.files.uploadedfile import UploadedFile

from core import clock
from core.files import bucket
from core.files.artifacts import artifact_path
from core.files.storage import delete, drop, local, publish
from core.jobs.fencing import fenced
from core.jobs.lifecycle import start_job
from core.jobs.progress import Progress
from core.models import Job
from pooling.enums import PoolingJob
from pooling.graphs.imports import check_new_name, import_graph
from pooling.graphs.source_data import GraphError, GraphTooLargeError, plural
from pooling.layouts.layout import LayoutOptions
from pooling.layouts.recognise import Reading, read_layout
from pooling.models import Graph

MOST_BYTES = 100_000_000  # of all files of an upload, as sent and again when unpacked
MOST_FILES = 50  # sent at once; an archive may hold more
AT_ONCE = 20_000  # triples that are imported in the request, which takes about a second; more are a job
KEPT = timedelta(days=1)
ON_SERVER = "Import a larger graph on the server: the command is import_graph (Help, Commands)."
NOT_KEPT = "The uploaded files are not kept any more: upload them again."
INDEX, FILES = "upload.json", "files"


@dataclass(frozen=True)
class Upload:
    """Hold the files that somebody sent."""

    token: str
    folder: Path
    names: list[str]

    @property
    def source(self) -> Path:
        """Return what is read: the only file, which may be an archive, or the folder of all."""
        return self.folder / FILES / self.names[0] if len(self.names) == 1 else self.folder / FILES

    @property
    def called(self) -> str:
        return self.names[0] if len(self.names) == 1 else plural(len(self.names), "file")

    @property
    def suggested_name(self) -> str:
        """Return a name for the graph, from the name of an archive; "" of several files."""
        stem = self.names[0].split(".")[0] if len(self.names) == 1 else ""
        return re.sub(r"[^\w-]+", "-", stem, flags=re.ASCII).strip("-").lower()[:80]


def keep_upload(files: Sequence["UploadedFile[Any]"], user: User) -> Upload:
    """Keep files that were sent; GraphError if they are too many or too large, or two have one name."""
    sweep_uploads()
    names = [PurePosixPath(str(file.name).replace("\\", "/")).name for file in files]
    _check_sent(files, names)
    token = str(uuid.uuid4())
    folder = artifact_path("uploads") / token
    aside = folder.with_name(f".{token}.part")
    try:
        (aside / FILES).mkdir(parents=True)
        aside.chmod(0o700)
        for file, name in zip(files, names, strict=True):
            with (aside / FILES / name).open("wb") as kept:
                for piece in file.chunks():
                    kept.write(piece)
        (aside / INDEX).write_text(json.dumps({"person": user.pk, "names": names}), encoding="utf-8")
        aside.rename(folder)
        publish(f"uploads/{token}")  # a job may run elsewhere
    except OSError as error:
        raise GraphError(f"The files could not be kept ({error.strerror or error}): try again later.") from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return Upload(token, folder, names)


def _check_sent(files: Sequence["UploadedFile[Any]"], names: list[str]) -> None:
    if not files:
        raise GraphError("No file was sent: choose the files of a graph, or one archive.")
    if len(files) > MOST_FILES:
        raise GraphError(f"{len(files):,} files were sent, at most {MOST_FILES} are taken: pack them into one archive.")
    if odd := [name for name in names if name.startswith(".") or not name or len(name.encode()) > 200 or "\0" in name]:
        told = "rename it, to at most 200 bytes and with no dot in front"
        raise GraphError(f"{odd[0][:80]!r} cannot be the name of a file here: {told}.")
    if double := sorted({name for name in names if names.count(name) > 1}):
        raise GraphError(f"{double[0]} was sent twice: pack a folder with other folders into one archive.")
    if (size := sum(file.size or 0 for file in files)) > MOST_BYTES:
        raise GraphTooLargeError(f"The files have {size:,} bytes, at most {MOST_BYTES:,} can be sent here. {ON_SERVER}")


def find_upload(token: str | uuid.UUID, user: User) -> Upload | None:
    """Return an upload of this person; None if it was swept, or is somebody else's."""
    folder = local(f"uploads/{token}")
    try:
        kept = json.loads((folder / INDEX).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return Upload(str(token), folder, kept["names"]) if kept["person"] == user.pk else None


def drop_upload(upload: Upload) -> None:
    """Delete the files of an upload."""
    delete(f"uploads/{upload.token}")


def sweep_uploads(*, dry: bool = False) -> int:
    """Delete uploads that nobody looked at for a day, unless `dry`; return how many."""
    oldest = clock.now() - KEPT
    stored = bucket.objects("uploads") if bucket.is_set() else ()
    keys = [found.key for found in stored if found.changed_at < oldest]
    places = artifact_path("uploads").glob("*") if artifact_path("uploads").is_dir() else ()
    old = [place.name for place in places if _changed(place) < oldest.timestamp()]
    if not dry:
        if keys:
            bucket.delete(keys)
        for name in old:
            drop(f"uploads/{name}")
    return len({*old, *(key.split("/")[1] for key in keys)})


def _changed(place: Path) -> float:
    """Return when a folder changed last; infinity if another request has deleted it."""
    try:
        return place.stat().st_mtime
    except FileNotFoundError:
        return inf


def read_upload(upload: Upload, options: LayoutOptions) -> Reading:
    """Read the files of an upload; GraphError says what is wrong, and names no folder of this machine."""
    try:
        # it is in use: swept a day from now. Not touch(): that makes a file where another import deleted the folder
        os.utime(upload.folder)
        return read_layout(upload.source, options, name=upload.called, most=MOST_BYTES)
    except FileNotFoundError as error:
        raise GraphError(NOT_KEPT) from error


def import_upload(upload: Upload, name: str, options: LayoutOptions, unseen: str, user: User) -> Graph | Job:
    """Import an upload: a small graph at once, a larger one as a job. GraphError says why not; the files stay then."""
    check_new_name(name)
    reading = read_upload(upload, options)
    if sum(len(of.rows) for of in reading.found.splits.values()) > AT_ONCE:
        asked = {"name": name, "unseen": unseen, "upload": upload.token, "options": asdict(options)}
        return start_job(PoolingJob.IMPORT_GRAPH, params=asked, user=user)
    graph = import_graph(
        name, reading.source_data(), unseen=unseen, options=_kept_options(upload, reading, options), created_by=user
    )
    drop_upload(upload)
    return graph


def run_import(job: Job, progress: Progress) -> None:
    """Import the upload of a job; a graph that an attempt before has stored is left as it is."""
    asked = job.params
    graph = Graph.objects.filter(name=asked["name"], options__upload=asked["upload"]).first()
    upload = find_upload(asked["upload"], job.created_by) if job.created_by else None
    if graph is None:
        if upload is None:
            raise GraphError(NOT_KEPT)
        progress.report("read files", 0, 1)
        given = asked["options"]
        options = LayoutOptions(**{**given, "shares": tuple(given["shares"])})
        reading = read_upload(upload, options)
        graph = import_graph(
            asked["name"],
            reading.source_data(),
            unseen=asked["unseen"],
            options=_kept_options(upload, reading, options),
            created_by=job.created_by,
            progress=lambda stage, done, total: progress.report(stage, done, total),
        )
    with fenced():
        Job.objects.filter(pk=job.pk).update(graph=graph)
    progress.log(f"graph {graph.name}: {plural(graph.num_train, 'train triple')}")
    if upload is not None:
        drop_upload(upload)


def _kept_options(upload: Upload, reading: Reading, options: LayoutOptions) -> dict[str, Any]:
    """Return what the graph's row keeps: the files, the layout, and options that are not as usual."""
    usual = asdict(LayoutOptions())
    changed = {key: value for key, value in asdict(options).items() if value != usual[key]}
    return {"files": upload.names[:MOST_FILES], "layout": reading.found.layout, "upload": upload.token, **changed}
