"""Keep the computed figures of a pool in the database: each is computed once for a version of labels and ranks.

A figure is what is kept, a row of `Figure`; a part is the piece of an analysis page whose sections a figure holds.
Light figures are computed by the first visitor (`current_figure`, `part_figure`), heavy ones by a job (`start_part`).
"""

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db import IntegrityError
from django.db.models import Count, Max, Q

from annotation.judging.judgements import live_labels
from core import clock
from core.callbacks import Tell
from core.database import gone
from core.enums import LIVE, JobState
from core.errors import UserError
from core.jobs.fencing import fenced
from core.jobs.lifecycle import start_job
from core.jobs.queues import unserved
from core.jobs.registry import JOB_TYPES
from core.models import Job
from evaluation.enums import EvaluationJob
from evaluation.labels.label_sets import label_set
from evaluation.labels.pool_table import pool_table, ranks_version, version, whole_table
from evaluation.models import Figure
from evaluation.sections.builders import numbered
from evaluation.sections.compared import compared_notes, compared_of
from evaluation.sections.section import Analysis, Part
from evaluation.sections.seed_notes import seed_notes
from evaluation.sections.settings import Settings
from pooling.models import Pool

MOST_ASKED = 30  # computations of one person that wait or run
# Seeds, full test and frozen or imported qrels do not change with the labels.
UNLABELLED = ("seeds", "full-test", "qrels", "imported")
FORM = 28  # of the content: one more whenever numbers or words of figures change
KEPT = 300  # figures of a pool: those that were computed longest ago go
CLAIM = timedelta(seconds=15)  # after which a computation counts as dead
BUSY = "Somebody else's visit is computing this right now. Load the page again in a moment."
WAIT, LOOK_AGAIN = 2.0, 0.05  # seconds
REST = timedelta(minutes=1)  # between two computations of a heavy part that follows the labels
LONGEST_KEY = 160

Content = dict[str, Any]


class FigureBusy(UserError):  # noqa: N818 - nothing is wrong: the figure is there in a moment
    """Another visitor is computing a figure that has no older version."""


# -- figures ----------------------------------------------------------------------------------------------------


def figure_key(what: str, query: str) -> str:
    """Return the key of a figure that has settings; a query that is too long for its column is told by its SHA-256."""
    if len(query) > LONGEST_KEY:
        query = hashlib.sha256(query.encode()).hexdigest()
    return f"{what}?{query}"


def figure_version(pool: Pool, labels: Sequence[str] = ("current",)) -> str:
    """Return the version of what figures under these label sets are computed from."""
    kinds = _kinds(labels)
    if kinds <= set(UNLABELLED):
        return f"{FORM}/{ranks_version(pool)}"
    if kinds & {"annotator", "until"}:  # single labels, also those that judge nothing yet
        last = live_labels().filter(item__campaign__pool=pool).aggregate(at=Max("pk"), n=Count("pk"))
        return f"{FORM}/{version(pool)}/{last['at']}/{last['n']}"
    return f"{FORM}/{version(pool)}"


def is_of_earlier_form(version: str) -> bool:
    """Tell whether a figure was kept by an earlier TriplePool, which may have told its numbers in other words."""
    return version.partition("/")[0] != str(FORM)


def current_figure(pool: Pool, key: str, now: str, compute: Callable[[], Content], *, heavy: bool = False) -> Figure:
    """Return a figure as of version `now`: read it if it was kept, else compute it.

    If two requests race for it, the loser waits, but not long: then it gets the kept figure of an older version, or
    FigureBusy where there is none. A heavy figure belongs to one job, which `start_job` ensures.
    """
    until = time.monotonic() + WAIT
    while True:
        kept = Figure.objects.filter(pool=pool, key=key).first() or _new(pool, key, heavy)
        if kept.version == now:
            return kept
        free = Q(claimed_until=None) | Q(claimed_until__lt=clock.now())
        if heavy or Figure.objects.filter(free, pk=kept.pk).update(claimed_until=clock.now() + CLAIM) == 1:
            return _compute(kept, now, compute)
        if time.monotonic() > until:
            if kept.version:
                return kept
            raise FigureBusy(BUSY)
        time.sleep(LOOK_AGAIN)


def _new(pool: Pool, key: str, heavy: bool) -> Figure:
    try:
        kept, _ = Figure.objects.get_or_create(pool=pool, key=key, defaults={"content": {}, "heavy": heavy})
    except IntegrityError as error:
        # no row lock: a reader of figures waits for a deletion of the pool, and for no other act on it
        raise gone(pool) from error
    # figures of jobs stay, and those that are being computed
    light = Figure.objects.filter(pool=pool, heavy=False, claimed_until=None).exclude(pk=kept.pk)
    old = light.order_by("-computed_at").values_list("pk", flat=True)[KEPT - 1 :]
    Figure.objects.filter(pk__in=list(old)).delete()
    return kept


def _compute(kept: Figure, now: str, compute: Callable[[], Content]) -> Figure:
    started = time.monotonic()
    row = Figure.objects.filter(pk=kept.pk)
    try:
        kept.content = compute()
    except BaseException:
        row.update(claimed_until=None)
        raise
    kept.version, kept.seconds = now, time.monotonic() - started
    kept.computed_at, kept.claimed_until = clock.now(), None
    found = {"content": kept.content, "version": now, "seconds": kept.seconds}
    with fenced():
        row.update(**found, computed_at=kept.computed_at, claimed_until=None)
    return kept


def kept_figure(pool: Pool, key: str) -> Figure | None:
    """Return a figure as it was last computed, however old; None if it never was."""
    return Figure.objects.filter(pool=pool, key=key).exclude(version="").first()


def last_heavy(pool: Pool) -> str:
    """Return when a job last kept a figure, as text; "" if none has."""
    at = Figure.objects.filter(pool=pool, heavy=True).exclude(version="").aggregate(at=Max("computed_at"))["at"]
    return at.isoformat() if at else ""


# -- parts of pages ---------------------------------------------------------------------------------------------


def part_key(analysis: Analysis, part: Part, settings: Settings) -> str:
    """Return the key of a part's figure: equal settings give equal keys."""
    query = _of_part(part, settings).query(analysis.settings)
    return figure_key(f"{analysis.key}/{part.key}", query)


def part_version(pool: Pool, analysis: Analysis, part: Part, settings: Settings) -> str:
    """Return the version of what the sections of a part are computed from."""
    found = figure_version(pool, _label_sets(analysis, part, settings))
    return f"{found}/{analysis.version(pool)}" if analysis.version else found


def follows_labels(analysis: Analysis, part: Part, settings: Settings) -> bool:
    """Tell whether new labels change a part; under frozen qrels alone, they don't."""
    return not _kinds(_label_sets(analysis, part, settings)) <= set(UNLABELLED)


def _label_sets(analysis: Analysis, part: Part, settings: Settings) -> list[str]:
    """Return the keys of the label sets that a part is computed from."""
    own = _of_part(part, settings)
    sets = [getattr(own, name) for name in ("labels", "against") if name in analysis.settings]
    return [*sets, *(() if part.labels else analysis.also)] or ["current"]


def _kinds(labels: Sequence[str]) -> set[str]:
    return {key.partition(":")[0] for key in labels}


def _of_part(part: Part, settings: Settings) -> Settings:
    if not part.labels:
        return settings
    # full test brings its own questions: both settings are the same figure, and one job
    questions = "grown" if part.labels == "full-test" else settings.questions
    return replace(settings, labels=part.labels, questions=questions)


def part_figure(pool: Pool, analysis: Analysis, part: Part, settings: Settings, tell: Tell | None = None) -> Figure:
    """Return the sections of a part for the current labels: kept, or computed now."""
    return _part_figure(pool, analysis, part, settings, part_version(pool, analysis, part, settings), tell)


def _part_figure(
    pool: Pool, analysis: Analysis, part: Part, settings: Settings, now: str, tell: Tell | None = None
) -> Figure:
    def compute() -> Content:
        context = analysis.context(pool, _of_part(part, settings), tell)
        every = whole_table(pool).systems
        sections = [numbered(section.content(), context.systems, every) for section in part.compute(context)]
        found = compared_of(context)
        if sections and (part.labels or part.key == analysis.parts[0].key):  # once a page, and where labels differ
            told = [*compared_notes(found), *([] if part.labels else seed_notes(context, asked=settings.by_family))]
            sections[0]["notes"] = list(dict.fromkeys([*told, *sections[0]["notes"]]))
        left_out = context.table.left_out
        return {"sections": sections, "systems": context.systems, "left_out": left_out, "compared": found}

    return current_figure(pool, part_key(analysis, part, settings), now, compute, heavy=part.heavy)


def kept_part_figure(pool: Pool, analysis: Analysis, part: Part, settings: Settings) -> Figure | None:
    """Return a part as it was last computed; None if it never was."""
    return kept_figure(pool, part_key(analysis, part, settings))


class PartState(NamedTuple):
    """Hold a part of a page with its figure, which is old where labels or ranks have changed since."""

    part: Part
    figure: Figure | None
    is_old: bool


def part_state(pool: Pool, analysis: Analysis, part: Part, settings: Settings) -> PartState:
    """Return a part for a page or a file: a light one as of now, a heavy one as a job last computed it."""
    now = part_version(pool, analysis, part, settings)
    if part.heavy:
        figure = kept_part_figure(pool, analysis, part, settings)
    else:
        figure = _part_figure(pool, analysis, part, settings, now)
    return PartState(part, figure, figure is None or figure.version != now)


def analysis_content(pool: Pool, analysis: Analysis, settings: Settings) -> Content:
    """Return everything that a page shows, for JSON; undefined values are null, with their reason."""
    return {
        "pool": pool.name,
        "analysis": analysis.key,
        "settings": {field: getattr(settings, field) for field in analysis.settings},
        "parts": [
            {
                "part": part.key,
                "computed": figure is not None,
                "is_old": is_old and (figure is None or part.heavy),
                "computed_at": figure.computed_at if figure else None,
                "compared": figure.content.get("compared") if figure else None,
                "sections": figure.content["sections"] if figure else [],
            }
            for part, figure, is_old in (part_state(pool, analysis, part, settings) for part in analysis.parts)
        ],
    }


# -- jobs of heavy parts ----------------------------------------------------------------------------------------


def start_part(pool: Pool, analysis: Analysis, part: Part, settings: Settings, user: User | None = None) -> Job:
    """Start a job that computes a heavy part; return the job that is doing so already, if there is one."""
    return start_job(EvaluationJob.EVALUATE, pool=pool, params=_params(analysis, part, settings), user=user)


def ask_part(pool: Pool, analysis: Analysis, part: Part, settings: Settings, user: User) -> Job:
    """Start a part's job for a person, or return the one that is doing so already.

    UserError at once, not a failing job, for labels that do not exist, and for somebody with `MOST_ASKED` jobs that
    are not over: each other seed is another one, and all wait behind them.
    """
    label_set(pool, pool_table(pool), settings.labels)
    if not is_live(part_job(pool, analysis, part, settings)):
        asked = Job.objects.filter(kind=EvaluationJob.EVALUATE, created_by=user, state__in=LIVE).count()
        if asked >= MOST_ASKED:
            raise UserError(
                f"{asked} computations that you asked for are waiting or under way. Ask again when some are done, or"
                " cancel those that you do not need on their pages."
            )
    return start_part(pool, analysis, part, settings, user)


def part_job(pool: Pool, analysis: Analysis, part: Part, settings: Settings) -> Job | None:
    """Return the job that is computing a part, or the last one that did."""
    jobs = pool.jobs.filter(kind=EvaluationJob.EVALUATE, params=_params(analysis, part, settings))
    return jobs.order_by("-pk").first()


def is_live(job: Job | None) -> bool:
    return job is not None and job.state in LIVE


def may_follow(job: Job | None) -> bool:
    """Tell whether a part that was computed once may be computed again for new labels without being asked for.

    It may not where its last job was cancelled or failed, nor right after the last one, nor without a worker.
    """
    if unserved([JOB_TYPES[EvaluationJob.EVALUATE].queue]):
        return False
    if job is None:
        return True
    return job.state == JobState.DONE and (job.finished_at is None or clock.now() - job.finished_at > REST)


def _params(analysis: Analysis, part: Part, settings: Settings) -> dict[str, str]:
    return {"analysis": analysis.key, "part": part.key, "settings": _of_part(part, settings).query(analysis.settings)}
