"""The parts of an analysis as its page shows them: figures, their age, and the jobs that compute them."""

from dataclasses import dataclass
from typing import Any

from core.enums import JobState
from core.models import Job
from evaluation.labels.label_sets import frozen_name
from evaluation.models import Figure
from evaluation.sections.figure_cache import is_live, may_follow, part_job, part_state, start_part
from evaluation.sections.section import Analysis, Part
from evaluation.sections.settings import Settings
from pooling.models import Pool


@dataclass(frozen=True)
class PartWithJob:
    """A part with its figure, whether labels or ranks have changed since, and the newest job of a heavy part."""

    part: Part
    figure: Figure | None
    is_old: bool
    job: Job | None

    @property
    def is_live(self) -> bool:
        return is_live(self.job)

    @property
    def ended(self) -> str:
        """Return the state of a last job that failed or was cancelled, else ''."""
        return self.job.state if self.job and self.job.state in (JobState.FAILED, JobState.CANCELLED) else ""

    @property
    def sections(self) -> list[dict[str, Any]]:
        return self.figure.content["sections"] if self.figure else []


def parts_with_jobs(pool: Pool, analysis: Analysis, settings: Settings) -> list[PartWithJob]:
    """Return the parts of an analysis whose needed sections are there.

    The job of a heavy part is started here if the part was computed before, so it follows the labels, or if it is one
    that frozen qrels have at once.
    """
    found: list[PartWithJob] = []
    for part in analysis.parts:
        if part.needs and part.needs not in {s["key"] for other in found for s in other.sections}:
            continue
        _, figure, is_old = part_state(pool, analysis, part, settings)
        job = part_job(pool, analysis, part, settings) if part.heavy else None
        has_begun = figure is not None or (part.at_once and frozen_name(settings.labels) != "")
        if part.heavy and is_old and has_begun and not is_live(job) and may_follow(job):
            job = start_part(pool, analysis, part, settings)
        found.append(PartWithJob(part, figure, is_old, job))
    return found
