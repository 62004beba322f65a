"""Jobs by the API: polled by who may evaluate, cancelled and started again by managers, as on their page."""

from __future__ import annotations

import pytest

from core.enums import JobState
from core.models import AuditEntry, Job
from pooling.enums import PoolingJob
from tests.pages.world import make_job, make_pool


@pytest.fixture
def job(world) -> Job:
    return make_job(PoolingJob.BUILD_POOL, JobState.QUEUED, pool=make_pool(world["graph"], "second"))


def test_job_is_polled(world, sign_in):
    found = sign_in("researcher").get(f"/api/v1/jobs/{world['job'].pk}").json()
    assert (found["state"], found["percent"], found["system"], found["seconds_left"]) == ("running", 35, "rotate", 65.0)


def test_cancelled_and_started_again_and_recorded(job, sign_in):
    manager = sign_in("manager")
    assert manager.post(f"/api/v1/jobs/{job.pk}/cancel").json()["state"] == "cancelled"
    refused = manager.post(f"/api/v1/jobs/{job.pk}/cancel")
    assert (refused.status_code, refused.json()) == (
        409,
        {"error": f"Job {job.pk} is over already: there is nothing to cancel."},
    )
    assert manager.post(f"/api/v1/jobs/{job.pk}/retry").json()["state"] == "queued"
    acts = AuditEntry.objects.filter(about="build pool second").values_list("act", "person__username")
    assert list(acts) == [("job-retried", "manager"), ("job-cancelled", "manager")]


def test_a_running_job_is_asked_to_end(world, sign_in):
    assert sign_in("manager").post(f"/api/v1/jobs/{world['job'].pk}/cancel").json()["state"] == "running"
    world["job"].refresh_from_db()
    assert world["job"].cancel_requested


@pytest.mark.parametrize("number", ["0", "999999", "9" * 40])
def test_no_such_job_is_404(world, sign_in, number):
    assert sign_in("manager").get(f"/api/v1/jobs/{number}").status_code == 404
    assert sign_in("manager").post(f"/api/v1/jobs/{number}/cancel").status_code == 404


@pytest.mark.parametrize("act", ["cancel", "retry"])
def test_a_researcher_who_is_signed_in_moves_no_job(world, sign_in, act):
    """Without a token, whose scopes would refuse it before."""
    before = Job.objects.values().get(pk=world["job"].pk)
    assert sign_in("researcher").post(f"/api/v1/jobs/{world['job'].pk}/{act}").status_code == 403
    assert Job.objects.values().get(pk=world["job"].pk) == before
