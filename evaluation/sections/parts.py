"""Parts of the analysis pages: computed when somebody looks, or by a job where that takes long."""

import hashlib
from dataclasses import replace
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from core.callbacks import Tell
from core.enums import LIVE, JobState
from core.jobs.lifecycle import live_workers, start_job
from core.models import Job
from evaluation.enums import EvaluationJob
from evaluation.labels.label_sets import label_set
from evaluation.labels.pool_table import pool_table
from evaluation.models import Figure
from evaluation.sections.figure_cache import figure, kept_figure, version_of
from evaluation.sections.section import Analysis, Context, Part
from evaluation.sections.settings import Settings
from pooling.models import Pool

LONGEST_KEY = 160


REST = timedelta(minutes=1)  # between two computations of a heavy part that follows the labels


def part_key(analysis: Analysis, part: Part, settings: Settings) -> str:
    """Under which a part is kept: the same settings give the same key."""
    query = _of_part(part, settings).query(analysis.settings)
    if len(query) > LONGEST_KEY:
        query = hashlib.sha256(query.encode()).hexdigest()
    return f"{analysis.key}/{part.key}?{query}"


def rests_on(pool: Pool, analysis: Analysis, part: Part, settings: Settings) -> str:
    """The version of what the sections of a part are computed from."""
    own = _of_part(part, settings)
    chosen = () if part.labels else analysis.also
    sets = [getattr(own, name) for name in ("labels", "against") if name in analysis.settings]
    found = version_of(pool, [*sets, *chosen] or ["current"])
    return f"{found}/{analysis.version(pool)}" if analysis.version else found


def _of_part(part: Part, settings: Settings) -> Settings:
    if not part.labels:
        return settings
    # the full test set brings its own questions: both settings are the same figure, and one job
    questions = "grown" if part.labels == "full-test" else settings.questions
    return replace(settings, labels=part.labels, questions=questions)


def part_figure(pool: Pool, analysis: Analysis, part: Part, settings: Settings, tell: Tell | None = None) -> Figure:
    """The sections of a part for the labels of this moment: kept, or computed now."""

    def compute() -> dict[str, Any]:
        context = Context(pool, _of_part(part, settings), tell)
        sections = [section.content() for section in part.compute(context)]
        return {"sections": sections, "systems": context.systems, "left_out": context.table.left_out}

    now = rests_on(pool, analysis, part, settings)
    return figure(pool, part_key(analysis, part, settings), now, compute, heavy=part.heavy)


def latest_part(pool: Pool, analysis: Analysis, part: Part, settings: Settings) -> Figure | None:
    """A heavy part as a job last computed it; None: never."""
    return kept_figure(pool, part_key(analysis, part, settings))


def kept_parts(pool: Pool, analysis: Analysis, settings: Settings) -> list[tuple[Part, Figure | None, bool]]:
    """For a file: quick parts as of now, heavy ones as they were last computed; and whether each is old."""
    found = []
    for part in analysis.parts:
        read = latest_part if part.heavy else part_figure
        figure = read(pool, analysis, part, settings)
        is_old = figure is None or (part.heavy and figure.version != rests_on(pool, analysis, part, settings))
        found.append((part, figure, is_old))
    return found


def analysis_content(pool: Pool, analysis: Analysis, settings: Settings) -> dict[str, Any]:
    """Everything that the page shows, for JSON; undefined values are null, with their reason."""
    return {
        "pool": pool.name,
        "analysis": analysis.key,
        "settings": {field: getattr(settings, field) for field in analysis.settings},
        "parts": [
            {
                "part": part.key,
                "computed": figure is not None,
                "is_old": is_old,
                "computed_at": figure.computed_at if figure else None,
                "sections": figure.content["sections"] if figure else [],
            }
            for part, figure, is_old in kept_parts(pool, analysis, settings)
        ],
    }


def start_part(pool: Pool, analysis: Analysis, part: Part, settings: Settings, user: User | None = None) -> Job:
    """Have a job compute a heavy part; one that is on its way already is it."""
    return start_job(EvaluationJob.EVALUATE, pool=pool, params=_params(analysis, part, settings), user=user)


def ask_part(pool: Pool, analysis: Analysis, part: Part, settings: Settings, user: User | None = None) -> Job:
    """start_part for a person: UserError here, not a job that fails, where these labels are not to be had."""
    label_set(pool, pool_table(pool), settings.labels)
    return start_part(pool, analysis, part, settings, user)


def part_job(pool: Pool, analysis: Analysis, part: Part, settings: Settings) -> Job | None:
    """The job that is computing a part, or the last one that did."""
    jobs = pool.jobs.filter(kind=EvaluationJob.EVALUATE, params=_params(analysis, part, settings))
    return jobs.order_by("-pk").first()


def is_live(job: Job | None) -> bool:
    return job is not None and job.state in LIVE


def may_follow(job: Job | None) -> bool:
    """Whether a part that was computed once may be computed again for new labels without being asked for.

    Not where its last job was cancelled or failed, nor right after the last one.
    """
    if not live_workers().exists():
        return False  # nobody would do it
    if job is None:
        return True
    return job.state == JobState.DONE and (job.finished_at is None or timezone.now() - job.finished_at > REST)


def _params(analysis: Analysis, part: Part, settings: Settings) -> dict[str, str]:
    return {"analysis": analysis.key, "part": part.key, "settings": _of_part(part, settings).query(analysis.settings)}
