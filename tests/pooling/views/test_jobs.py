"""Jobs in the browser: progress, cancel, start again, live partials that stop."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from core.enums import JobState
from core.jobs.pace import pace_of
from core.models import Job, Worker
from core.templatetags.figures import duration
from pooling.enums import PoolingJob
from tests.page import element, has, links, notices, parse, posts
from tests.pages.world import make_job, make_pool, make_system, make_worker


@pytest.fixture
def job(graph) -> Job:
    return make_job(system=make_system(graph, "rotate"))


def test_running_job_shows_stage_count_rate_and_time_left(job: Job, manager):
    html = manager.get(f"/jobs/{job.pk}").content.decode()
    assert element(html, "stage").text == job.stage
    assert (element(html, "progress")["max"], element(html, "progress")["value"]) == ("100", "35")
    assert (element(html, "done").text, element(html, "rate").text) == ("3.5", "0.10")
    assert element(html, "done-of").text.split()[-1] == "10"
    assert element(html, "time-left").text == duration(65)
    assert len(parse(html).all(tag="polyline")) == 2


def test_pace_counts_in_the_unit_of_the_job(graph):
    building = make_job(
        PoolingJob.BUILD_POOL, pool=make_pool(graph), done=20, total=100, unit="questions", seconds_left=8
    )
    now = pace_of(building)
    assert (now.done, now.total, now.unit, now.per_second) == (20, 100, "questions", 10)
    assert pace_of(make_job(state=JobState.QUEUED)).seconds_so_far is None
    begun = make_job(PoolingJob.BUILD_POOL, pool=building.pool, done=4, total=100, seconds_left=8)
    assert (pace_of(begun).seconds_left, pace_of(begun).per_second) == (None, 12)  # a guess is not told as a time
    over = make_job(state=JobState.DONE, finished_at=timezone.now(), seconds_left=3)
    assert (pace_of(over).seconds_left, pace_of(over).per_second) == (None, None)


def test_cancel_of_a_running_job_asks_it_to_stop(job: Job, manager):
    assert manager.post(f"/jobs/{job.pk}/cancel")["Location"] == f"/jobs/{job.pk}"
    job.refresh_from_db()
    assert (job.state, job.cancel_requested) == ("running", True)
    page = manager.get(f"/jobs/{job.pk}")
    assert has(page, "cancelling")
    assert posts(page) == []


def test_cancel_of_a_queued_job_is_at_once_and_it_can_be_started_again(graph, manager):
    job = make_job(state=JobState.QUEUED)
    manager.post(f"/jobs/{job.pk}/cancel")
    job.refresh_from_db()
    assert job.state == "cancelled"
    assert posts(manager.get(f"/jobs/{job.pk}")) == [reverse("job-retry", args=[job.pk])]
    manager.post(f"/jobs/{job.pk}/retry")
    job.refresh_from_db()
    assert job.state == "queued"


def test_what_cannot_be_done_is_said(graph, manager):
    job = make_job(state=JobState.DONE)
    for act in ("cancel", "retry"):
        [said] = notices(manager.post(f"/jobs/{job.pk}/{act}", follow=True))
        assert said.startswith(f"Job {job.pk} ")
    job.refresh_from_db()
    assert (job.state, job.cancel_requested) == ("done", False)


def test_failed_job_shows_its_error_escaped(graph, manager):
    job = make_job(state=JobState.FAILED, error="no <b>memory</b>", log="x <i>y</i>\n")
    html = manager.get(f"/jobs/{job.pk}").content.decode()
    assert (element(html, "error").text, element(html, "error").children) == (job.error, [job.error])
    assert element(html, "log").children == [job.log.rstrip("\n")]


@pytest.mark.parametrize(
    ("state", "polls"), [("queued", 1), ("running", 1), ("done", 0), ("failed", 0), ("cancelled", 0)]
)
def test_partials_ask_again_until_the_job_is_over(state: str, polls: int, graph, manager):
    job = make_job(state=JobState(state))
    for url, part in ((f"/jobs/{job.pk}", "progress"), ("/jobs", "rows")):
        html = manager.get(url, {"part": part}).content.decode()
        assert html.count('hx-trigger="every 2s"') == polls
        assert "<html" not in html


def test_jobs_are_filtered_by_state(graph, manager):
    running, done = make_job(), make_job(state=JobState.DONE)
    addresses = list(links(manager.get("/jobs", {"state": "done"})))
    assert f"/jobs/{done.pk}" in addresses
    assert f"/jobs/{running.pk}" not in addresses


def test_queued_jobs_without_a_worker(graph, manager):
    make_job(state=JobState.QUEUED)
    assert has(manager.get("/jobs"), "no-worker")
    make_worker()
    assert not has(manager.get("/jobs"), "no-worker")


@pytest.mark.parametrize("count", [1, 3])
def test_queries_do_not_grow(count: int, graph, manager, django_assert_num_queries):
    pool = make_pool(graph)
    for i in range(count):
        make_job(system=make_system(graph, f"rotate-s{i}"), pool=pool)
    with django_assert_num_queries(7):
        manager.get("/jobs")


def test_live_workers_with_a_wrong_clock_are_named(manager):
    for name, off, ago in (("right", 4.0, 0), ("ahead", 62.0, 0), ("behind", -62.0, 0), ("dead", 62.0, 3600)):
        seen = timezone.now() - timedelta(seconds=ago)
        Worker.objects.create(name=name, queues="cpu", seen_at=seen, clock_off=off)
    assert [worker.name for worker in manager.get("/jobs").context["wrong_clocks"]] == ["ahead", "behind"]
    page = manager.get("/jobs")
    assert page.content.decode().count('data-test="wrong-clock"') == 2
    assert "behind: The clock of its machine is 62 s behind the database" in page.content.decode()
