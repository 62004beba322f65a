"""Kinds of job: each app registers its own, and each names a function that exists."""

from config.stages import STAGE
from core.jobs.registry import JOB_TYPES, handler_of
from core.models import Job


def test_every_kind_has_a_function_a_queue_and_a_stage() -> None:
    assert {kind for kind in JOB_TYPES if callable(handler_of(kind))} == {
        "train",
        "build-pool",
        "extend-pool",
        "filter-pool",
        "open-campaign",
        "release-triples",
        "score",
        "score-system",
        "score-shard",
        "import-graph",
        "import-run",
        "evaluate",
        "export",
        "open-world",
        "send-webhooks",
    }
    assert {one.queue for one in JOB_TYPES.values()} == {"cpu", "gpu"}
    assert {one.stage for one in JOB_TYPES.values()} <= set(STAGE)


def test_a_job_is_called_as_its_app_calls_it() -> None:
    assert [Job(kind=kind).get_kind_display() for kind in ("train", "export")] == ["train system", "export test set"]
