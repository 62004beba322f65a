"""List the kinds of job that compute figures, write test sets and run studies."""

from core.jobs.registry import JobType
from evaluation.enums import EvaluationAct, EvaluationJob
from pooling.enums import PoolingAct
from pooling.jobs import training_left, training_needs

JOBS = (
    JobType(EvaluationJob.EVALUATE, "cpu", "evaluation.pages.job.run_evaluate", "measures"),
    JobType(
        EvaluationJob.EXPORT,
        "cpu",
        "evaluation.test_sets.export.run_export",
        "test-set",
        EvaluationAct.TEST_SET_EXPORTED,
    ),
    JobType(
        EvaluationJob.OPEN_WORLD,
        "gpu",
        "evaluation.open_world.study.run_study",
        "systems",
        PoolingAct.SYSTEMS_TRAINED,
        trains=True,
        leave=training_left,
        needs=training_needs,
    ),
)
