"""Run the job that computes a heavy part of an analysis."""

from urllib.parse import parse_qs

from django.utils.datastructures import MultiValueDict

from core.jobs.progress import Progress
from core.models import Job
from evaluation.pages.registry import get_analysis
from evaluation.sections.figure_cache import part_figure
from evaluation.sections.settings import parse_settings


def run_evaluate(job: Job, progress: Progress) -> None:
    assert job.pool is not None
    asked = {"analysis": "stability", "part": "labels", "settings": "", **job.params}  # jobs had no params at first
    analysis = get_analysis(asked["analysis"])
    settings = parse_settings(MultiValueDict(parse_qs(asked["settings"], keep_blank_values=True)), analysis.settings)

    def tell(done: int, total: int) -> None:
        progress.report(analysis.key, done, total, "steps")

    part_figure(job.pool, analysis, analysis.part(asked["part"]), settings, tell)
