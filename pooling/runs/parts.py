"""Take large runs in parts: each part is a file of a private folder, and a job imports the whole.

The folder run-uploads/ID below the artifact folder holds about.json, the parts and perhaps topics.tsv; it goes when
the run is imported, when its owner drops it, or after KEPT. There is no row of an upload: what is in the folder is the
truth, so that sending can go on after anything.
"""

import hashlib
import json
import re
import shutil
import uuid
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from core.errors import UserError
from core.files.artifacts import artifact_path, write_json, writing
from core.jobs.lifecycle import start_job
from core.jobs.progress import Progress
from core.models import Job
from pooling.enums import PoolingJob
from pooling.models import Graph, System
from pooling.runs.adapters.registry import known_suffix
from pooling.runs.imports import TOPICS, Imported, check_topics_size, import_run, pool_of_runs
from pooling.runs.trec_read import TrecError
from pooling.training.train import SystemError_, check_name

PART_BYTES = 8 << 20  # of one part
MOST_PARTS = 256  # 2 GiB
MOST_UNPACKED = 8 << 30  # of the whole run
MOST_OPEN = 3  # uploads of one person
KEPT = timedelta(hours=24)
NAME = "the upload"  # what messages of the job call the file: others who watch jobs see them


class UploadError(UserError):
    """An upload is missing, incomplete, too large, or a part is not what was sent."""


class Part(NamedTuple):
    """Describe a part that is there: its number from 1, bytes, and SHA-256."""

    number: int
    bytes: int
    sha256: str


class Upload(NamedTuple):
    """Hold an upload: its id, what was said of the run, and until when it is kept."""

    id: str
    about: dict[str, Any]
    expires_at: datetime

    @property
    def folder(self) -> Path:
        return _root() / self.id

    def parts(self) -> list[Part]:
        """Return the parts that are there, by number."""
        found = sorted(self.folder.glob("part-*.json"))
        return [Part(**json.loads(path.read_text(encoding="utf-8"))) for path in found]


def create_upload(graph: Graph, user: User, *, name: str, file_name: str, **options: Any) -> Upload:
    """Open an upload for a run called `name`; `options` are family, pool, form and scores_decide of import_run."""
    check_name(graph, name)
    if options.get("pool"):
        pool_of_runs(graph, options["pool"])
    sweep_uploads()
    mine = [one for one in uploads() if one.about["user"] == user.pk]
    if len(mine) >= MOST_OPEN:
        raise UploadError(f"You have {len(mine)} uploads that are not finished: finish or delete one of them first.")
    about = {"graph": graph.pk, "user": user.pk, "name": name, "file_name": file_name[:200], **options}
    number = str(uuid.uuid4())
    folder = _root() / number
    folder.mkdir(parents=True, mode=0o700)
    write_json(folder / "about.json", about | {"expires_at": (timezone.now() + KEPT).isoformat()})
    return get_upload(number, user)


def get_upload(number: str, user: User) -> Upload:
    """Return an own upload; UploadError if nobody or somebody else has this id."""
    found = _read(_root() / number) if re.fullmatch(r"[0-9a-f-]{36}", number) else None
    if found is None or found.about["user"] != user.pk:
        raise UploadError("There is no such upload of yours; it may be over, or older than a day: begin anew.")
    return found


def put_part(upload: Upload, number: int, content: bytes, sha256: str) -> Part:
    """Keep a part, in the place of an earlier one of its number; UploadError if it is not what was sent."""
    if not 1 <= number <= MOST_PARTS:
        raise UploadError(f"Part {number}: give 1 to {MOST_PARTS}, of at most {PART_BYTES:,} bytes each.")
    if not content or len(content) > PART_BYTES:
        raise UploadError(f"Part {number} has {len(content):,} bytes: send 1 to {PART_BYTES:,}.")
    part = Part(number, len(content), _check_sum(f"Part {number}", content, sha256))
    with writing(upload.folder / f"part-{number:04}") as aside:
        aside.write_bytes(content)
    write_json(upload.folder / f"part-{number:04}.json", part._asdict())
    return part


def put_topics(upload: Upload, content: bytes, sha256: str) -> None:
    """Keep the topics file of the run, in the place of an earlier one; UploadError if it is not what was sent."""
    check_topics_size(len(content))
    _check_sum("The topics file", content, sha256)
    with writing(upload.folder / TOPICS) as aside:
        aside.write_bytes(content)


def _check_sum(called: str, content: bytes, sha256: str) -> str:
    """Return the SHA-256 of what arrived; UploadError if it is not what was sent."""
    if (found := hashlib.sha256(content).hexdigest()) != sha256.lower():
        raise UploadError(f"{called} arrived with SHA-256 {found}, not {sha256[:64]}: send it again.")
    return found


def finish(upload: Upload, parts: int, user: User) -> Job:
    """Start the job that imports the parts 1 to `parts`; UploadError names missing ones."""
    there = {part.number for part in upload.parts()}
    missing = [str(number) for number in range(1, parts + 1) if number not in there]
    if missing or parts < 1:
        few = ", ".join(missing[:20]) or "1"
        raise UploadError(f"Parts are missing: {few}. Send them, then finish again.")
    graph = Graph.objects.get(pk=upload.about["graph"])
    return start_job(PoolingJob.IMPORT_RUN, graph=graph, params={"upload": upload.id, "parts": parts}, user=user)


def drop(upload: Upload) -> None:
    """Delete an upload."""
    shutil.rmtree(upload.folder, ignore_errors=True)


def run_import(job: Job, progress: Progress) -> None:
    """Import the run of an upload, and delete the upload; one that was imported already is left as it is."""
    sweep_uploads()
    upload = _read(_root() / str(job.params["upload"]))
    if upload is None:
        raise UploadError("The upload is gone: it was deleted, or is older than a day. Send the run again.")
    try:
        told = _import(upload, int(job.params["parts"]), progress)
    except SystemError_ as error:  # its words have the name of the run, and others watch jobs
        drop(upload)
        raise UploadError("The name of the run was taken meanwhile: send it again under another name.") from error
    except UserError:
        drop(upload)  # the same file would be refused again
        raise
    for note in told.notes:
        progress.log(note)
    drop(upload)


def _import(upload: Upload, parts: int, progress: Progress) -> Imported:
    about = upload.about
    graph, user = Graph.objects.get(pk=about["graph"]), User.objects.get(pk=about["user"])
    pool = pool_of_runs(graph, about["pool"]) if about.get("pool") else None
    whole = upload.folder / f"whole{known_suffix(about['file_name'])}"
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
    with transaction.atomic():
        System.every.filter(pk=system.pk).update(settings=system.settings | {"file": about["file_name"]})


def _join(upload: Upload, parts: int, whole: Path) -> None:
    """Write the parts, one after the other, as one file; TrecError if one was damaged since."""
    with writing(whole) as aside, aside.open("wb") as out:
        for part in upload.parts()[:parts]:
            content = (upload.folder / f"part-{part.number:04}").read_bytes()
            if hashlib.sha256(content).hexdigest() != part.sha256:
                raise TrecError(f"Part {part.number} was damaged on the server: send the run again.")
            out.write(content)


def uploads() -> Iterator[Upload]:
    """Yield every upload that is there."""
    for folder in sorted(_root().glob("*")):
        if (found := _read(folder)) is not None:
            yield found


def sweep_uploads() -> int:
    """Delete uploads that are over, and return how many; folders that have no about.json for long too."""
    gone = 0
    for folder in list(_root().glob("*")):
        if _ends(folder) < timezone.now():
            shutil.rmtree(folder, ignore_errors=True)
            gone += 1
    return gone


def _ends(folder: Path) -> datetime:
    """Return when an upload is over; a folder without about.json may be one that is being made."""
    if (found := _read(folder)) is not None:
        return found.expires_at
    made = folder.stat().st_mtime if folder.exists() else 0.0
    return datetime.fromtimestamp(made, UTC) + KEPT


def _root() -> Path:
    return artifact_path("run-uploads")


def _read(folder: Path) -> Upload | None:
    try:
        about = json.loads((folder / "about.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return Upload(folder.name, about, datetime.fromisoformat(about["expires_at"]))
