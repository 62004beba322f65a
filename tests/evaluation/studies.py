"""A tiny open-world study, for the tests of all layers."""

from __future__ import annotations

from core.jobs.execution import execute
from evaluation.models import Study
from evaluation.open_world.study import StudyOptions, create_study, prepare_study, start_study

TINY = StudyOptions(
    families=1,
    people=40,
    densities=(0.9, 0.6),
    systems=("distmult", "transe"),
    questions=30,
    min_answers=4,
    settings={"epochs": "3", "embedding_dim": "8"},
    checkpoints=3,
    seed=7,
    device="cpu",
)


def make_study(name: str = "tiny") -> Study:
    """Its row, graphs and systems; nothing is trained."""
    study = create_study(name, TINY)
    prepare_study(study)
    return study


def finish(study: Study) -> None:
    """Do all of its jobs; needs a transactional database."""
    for job in start_study(study):
        assert execute(job.pk, "w") is True
        job.refresh_from_db()
        assert (job.state, job.error) == ("done", "")
