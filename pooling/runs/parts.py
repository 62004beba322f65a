"""Take large runs in parts: each part is a file of a private folder, and a job (parts_import.py) imports the whole.

The folder run-uploads/ID below the artifact folder holds about.json, the parts and perhaps topics.tsv. After the import
outcome.json takes the place of the parts: it keeps for the owner what was found in the file, since others may watch the
job. The folder goes when its owner drops it, or after KEPT. There is no row of an upload: what is in the folder is the
truth, so that sending can go on after anything.
"""

import hashlib
import json
import re
import uuid
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db import transaction

from core import clock
from core.database import held
from core.enums import LIVE
from core.errors import UserError
from core.files.artifacts import artifact_path, json_bytes
from core.files.storage import delete, keep_only, share, shared
from core.jobs.lifecycle import start_job
from core.models import Job
from pooling.enums import PoolingJob
from pooling.models import Graph
from pooling.runs.imports import TOPICS, check_topics_size, pool_of_runs
from pooling.training.train import check_name

PART_BYTES = 8 << 20  # of one part
MOST_PARTS = 256  # 2 GiB
MOST_OPEN = 3  # uploads of one person
KEPT = timedelta(hours=24)
ABOUT, OUTCOME = "about.json", "outcome.json"
OVER = "This upload is over: its run was imported or refused. Begin a new one to send another file."


class UploadError(UserError):
    """An upload is missing, incomplete, too large, or a part is not what was sent."""


class Part(NamedTuple):
    """Describe a part that is there: its number from 1, bytes, and SHA-256."""

    number: int
    bytes: int
    sha256: str


class Outcome(NamedTuple):
    """Hold how an import ended: why the run was refused ("" if it was imported), and notes on it, a sentence each."""

    refused: str = ""
    notes: Sequence[str] = ()


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

    def outcome(self) -> Outcome | None:
        """Return how the import ended; None while it is not over."""
        try:
            return Outcome(**json.loads((self.folder / OUTCOME).read_text(encoding="utf-8")))
        except FileNotFoundError:
            return None


def create_upload(graph: Graph, user: User, *, name: str, file_name: str, **options: Any) -> Upload:
    """Open an upload for a run called `name`; `options` are family, pool, form and scores_decide of import_run."""
    check_name(graph, name)
    if options.get("pool"):
        pool_of_runs(graph, options["pool"])
    sweep_uploads()
    about = {"graph": graph.pk, "user": user.pk, "name": name, "file_name": file_name[:200], **options}
    number = str(uuid.uuid4())
    with transaction.atomic():
        held(user)  # requests at the same time are counted one by one
        mine = [one for one in uploads() if one.about["user"] == user.pk and one.outcome() is None]
        if len(mine) >= MOST_OPEN:
            raise UploadError(f"You have {len(mine)} uploads that are not finished: finish or delete one first.")
        (_root() / number).mkdir(parents=True, mode=0o700)
        share(_name(number), ABOUT, json_bytes(about | {"expires_at": (clock.now() + KEPT).isoformat()}))
    return get_upload(number, user)


def get_upload(number: str, user: User) -> Upload:
    """Return an own upload; UploadError if nobody or somebody else has this id."""
    found = read_upload(number) if re.fullmatch(r"[0-9a-f-]{36}", number) else None
    if found is None or found.about["user"] != user.pk:
        raise UploadError("There is no such upload of yours; it may be over, or older than a day: begin anew.")
    return found


def refused_uploads(graph: Graph, user: User) -> list[tuple[Upload, str]]:
    """Return the own uploads for a graph whose run was refused, and why, newest first."""
    mine = [one for one in uploads() if (one.about["user"], one.about["graph"]) == (user.pk, graph.pk)]
    found = [(one, end.refused) for one in mine if (end := one.outcome()) and end.refused]
    return sorted(found, key=lambda pair: pair[0].expires_at, reverse=True)


def put_part(upload: Upload, number: int, content: bytes, sha256: str) -> Part:
    """Keep a part, in the place of an earlier one of its number; UploadError if it is not what was sent."""
    _check_open(upload)
    if not 1 <= number <= MOST_PARTS:
        raise UploadError(f"Part {number}: give 1 to {MOST_PARTS}, of at most {PART_BYTES:,} bytes each.")
    if not content or len(content) > PART_BYTES:
        raise UploadError(f"Part {number} has {len(content):,} bytes: send 1 to {PART_BYTES:,}.")
    part = Part(number, len(content), _check_sum(f"Part {number}", content, sha256))
    share(_name(upload.id), f"part-{number:04}", content)
    share(_name(upload.id), f"part-{number:04}.json", json_bytes(part._asdict()))
    return part


def put_topics(upload: Upload, content: bytes, sha256: str) -> None:
    """Keep the topics file of the run, in the place of an earlier one; UploadError if it is not what was sent."""
    _check_open(upload)
    check_topics_size(len(content))
    _check_sum("The topics file", content, sha256)
    share(_name(upload.id), TOPICS, content)


def _check_open(upload: Upload) -> None:
    if upload.outcome() is not None:
        raise UploadError(OVER)


def _check_sum(called: str, content: bytes, sha256: str) -> str:
    """Return the SHA-256 of what arrived; UploadError if it is not what was sent."""
    if not sha256:
        raise UploadError(f"{called} came without its SHA-256: send it in the header X-Checksum-SHA256.")
    if (found := hashlib.sha256(content).hexdigest()) != sha256.lower():
        raise UploadError(f"{called} arrived with SHA-256 {found}, not {sha256[:64]}: send it again.")
    return found


def finish(upload: Upload, parts: int, user: User) -> Job:
    """Start the job that imports the parts 1 to `parts`, or return the live one; UploadError names missing parts."""
    _check_open(upload)
    there = {part.number for part in upload.parts()}
    missing = [str(number) for number in range(1, parts + 1) if number not in there]
    if missing or parts < 1:
        few = ", ".join(missing[:20]) or "1"
        raise UploadError(f"Parts are missing: {few}. Send them, then finish again.")
    live = Job.objects.filter(kind=PoolingJob.IMPORT_RUN, params__upload=upload.id, state__in=LIVE).first()
    if live is not None:
        return live
    graph = Graph.objects.get(pk=upload.about["graph"])
    return start_job(PoolingJob.IMPORT_RUN, graph=graph, params={"upload": upload.id, "parts": parts}, user=user)


def drop(upload: Upload) -> None:
    """Delete an upload."""
    delete(_name(upload.id))


def close(upload: Upload, outcome: Outcome) -> None:
    """Keep how the import ended, and delete all else but what was said of the run."""
    if read_upload(upload.id) is None:  # dropped meanwhile
        return
    share(_name(upload.id), OUTCOME, json_bytes(outcome._asdict()))
    keep_only(_name(upload.id), (ABOUT, OUTCOME))


def uploads() -> Iterator[Upload]:
    """Yield every upload that is there."""
    for folder in sorted(shared("run-uploads", "*.json").glob("*")):
        if (found := _read(folder)) is not None:
            yield found


def sweep_uploads(*, dry: bool = False) -> int:
    """Delete uploads that are over, unless `dry`; return how many. A folder without about.json for long is one too."""
    over = [one.name for one in shared("run-uploads", "*.json").glob("*") if _ends(one) < clock.now()]
    if not dry:
        for name in over:
            delete(_name(name))
    return len(over)


def _ends(folder: Path) -> datetime:
    """Return when an upload is over; a folder without about.json may be one that is being made."""
    if (found := _read(folder)) is not None:
        return found.expires_at
    try:
        made = folder.stat().st_mtime
    except FileNotFoundError:
        made = 0.0
    return datetime.fromtimestamp(made, UTC) + KEPT


def read_upload(number: str) -> Upload | None:
    """Return the upload of an id, whoever its owner is; None if it is gone."""
    return _read(shared(_name(number), "*.json"))


def fetch_parts(upload: Upload) -> None:
    """Bring the parts to this machine; other machines may have got them."""
    shared(_name(upload.id))


def _name(number: str) -> str:
    return f"run-uploads/{number}"


def _root() -> Path:
    return artifact_path("run-uploads")


def _read(folder: Path) -> Upload | None:
    try:
        about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return Upload(folder.name, about, datetime.fromisoformat(about["expires_at"]))
