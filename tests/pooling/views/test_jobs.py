"""Jobs in the browser: progress, cancel, start again, live partials that stop."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from core.enums import JobState
from core.files import usage
from core.files.artifacts import artifact_path
from core.jobs.pace import pace_of
from core.models import Job, SiteVersion, Worker
from core.templatetags.figures import duration
from core.version import code_version, web_words, words
from pooling.enums import PoolingJob
from tests.page import element, has, links, notices, parse, posts
from tests.pages.world import make_job, make_person, make_pool, make_system, make_worker


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


def test_a_job_that_is_over_has_no_rate_and_no_time_left(graph, manager):
    done = make_job(system=make_system(graph, "transe"), state=JobState.DONE)
    page = manager.get(f"/jobs/{done.pk}").content.decode()
    assert element(page, "done").text
    assert not parse(page).has("rate") and not parse(page).has("time-left")


def test_pace_counts_in_the_unit_of_the_job(graph):
    building = make_job(
        PoolingJob.BUILD_POOL, pool=make_pool(graph), done=20, total=100, unit="questions", seconds_left=8
    )
    now = pace_of(building)
    assert (now.done, now.total, now.unit, now.per_second) == (20, 100, "questions", 10)
    assert pace_of(make_job(state=JobState.QUEUED)).seconds_so_far is None
    ending = make_job(PoolingJob.BUILD_POOL, pool=building.pool, done=20, total=100, seconds_left=0.4)
    assert ending.time_left is None
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


def test_a_worker_of_one_queue_leaves_the_jobs_of_the_other_waiting(graph, manager):
    make_job(state=JobState.QUEUED)  # of queue gpu
    Worker.objects.create(name="w", queues="cpu", seen_at=timezone.now())
    page = manager.get("/jobs")
    assert page.context["unserved"] == ["gpu"]
    assert "No worker takes the jobs of queue gpu" in element(page, "no-worker").text
    assert element(page, "unserved").text and element(page, "queue-gpu").all(test="unserved")
    Worker.objects.update(queues="cpu,gpu")
    assert not has(manager.get("/jobs"), "unserved")


def test_a_queue_tells_its_length_and_how_long_its_oldest_job_waits(graph, manager):
    now = timezone.now()
    for minutes in (3, 7):
        make_job(state=JobState.QUEUED, heartbeat_at=now - timedelta(minutes=minutes))
    make_job(state=JobState.RUNNING, heartbeat_at=now - timedelta(hours=1))
    make_worker()
    cpu, gpu = manager.get("/jobs").context["queues"]
    assert (cpu.name, cpu.length, cpu.oldest, cpu.workers) == ("cpu", 0, None, 1)
    assert (gpu.name, gpu.length, gpu.workers) == ("gpu", 2, 1)
    assert gpu.oldest == pytest.approx(420, abs=30)


def test_workers_tell_their_device_and_what_they_do_to_managers_alone(graph, manager, client):
    SiteVersion.objects.update_or_create(pk=1, defaults={"version": "2"})
    given = {"host": "node-7", "device": "NVIDIA A10G", "memory": 24 * 10**9, "version": "2", "queues": "gpu"}
    for name, more in (("gpu0@node-7", {}), ("gpu1@node-7", {"version": "1"})):
        Worker.objects.create(name=name, seen_at=timezone.now(), **{**given, **more})
    job = make_job(state=JobState.RUNNING, worker="gpu0@node-7:123")
    page = manager.get("/jobs")
    busy, other = page.context["workers"]
    assert (busy.jobs, busy.memory, busy.problem) == ([job], "24 GB", "")
    assert (other.jobs, other.problem) == ([], words("1", "2"))
    shown = element(page, "workers").text
    for word in ("gpu0@node-7", "node-7", "NVIDIA A10G", "24 GB", "takes no job"):
        assert word in shown
    assert has(page, "other-version")
    client.force_login(make_person("rae", site="researcher"))
    assert not has(client.get("/jobs"), "workers")


def test_the_version_of_the_site_is_shown_and_a_web_process_of_another_one_says_so(manager, client):
    own = code_version()
    SiteVersion.objects.update_or_create(pk=1, defaults={"version": own})
    page = manager.get("/jobs")
    assert element(page, "version").text.strip() == f"Version of the site: {own}."
    assert not has(page, "other-web")
    SiteVersion.objects.update(version="2")
    page = manager.get("/jobs")
    assert element(page, "version").text.strip() == "Version of the site: 2."
    assert element(page, "other-web").text.strip() == web_words(own, "2")
    client.force_login(make_person("rae", site="researcher"))
    assert not has(client.get("/jobs"), "version")


def test_a_job_that_fits_no_worker_says_so_in_the_list_and_on_its_page(graph, manager):
    job = make_job(state=JobState.QUEUED, needs=40 * 10**9)
    worker = Worker.objects.create(name="w", queues="gpu", seen_at=timezone.now(), memory=24 * 10**9)
    for address in ("/jobs", f"/jobs/{job.pk}"):
        said = element(manager.get(address), "misfit").text
        assert "needs 40 GB of memory, and the largest worker of queue gpu has 24 GB" in said
    Worker.objects.filter(pk=worker.pk).update(memory=48 * 10**9)
    for address in ("/jobs", f"/jobs/{job.pk}"):
        assert not has(manager.get(address), "misfit")


@pytest.mark.parametrize("count", [1, 3])
def test_queries_do_not_grow(count: int, graph, manager, django_assert_num_queries):
    pool = make_pool(graph)
    for i in range(count):
        make_job(system=make_system(graph, f"rotate-s{i}"), pool=pool)
    with django_assert_num_queries(11):  # workers, their version, what they do, what waits, the size of the database
        manager.get("/jobs")


def test_live_workers_with_a_wrong_clock_are_named(manager):
    for name, off, ago in (("right", 4.0, 0), ("ahead", 62.0, 0), ("behind", -62.0, 0), ("dead", 62.0, 3600)):
        seen = timezone.now() - timedelta(seconds=ago)
        Worker.objects.create(name=name, queues="cpu", seen_at=seen, clock_off=off)
    assert [worker.name for worker in manager.get("/jobs").context["wrong_clocks"]] == ["ahead", "behind"]
    page = manager.get("/jobs")
    assert page.content.decode().count('data-test="wrong-clock"') == 2
    assert "behind: The clock of its machine is 62 s behind the database" in page.content.decode()


def test_managers_see_what_the_disk_holds(manager, client, monkeypatch):
    sizes = usage.DiskUse(3 * 2**20, 5 * 2**20, 7 * 2**30, False)
    monkeypatch.setattr("pooling.views.jobs.disk_use", lambda: sizes)
    told = " ".join(element(manager.get("/jobs"), "disk").text.replace("\xa0", " ").split())
    assert told == "Disk: artifact folder 3.0 MB, database 5.0 MB, 7.0 GB free."
    client.force_login(make_person("reader", site="researcher"))
    page = client.get("/jobs")
    assert has(page, "queues") and not has(page, "disk")


@pytest.mark.usefixtures("db")
def test_disk_use_is_measured(monkeypatch):
    monkeypatch.setattr(usage, "_measured", {})
    artifact_path("runs").mkdir(parents=True, exist_ok=True)
    artifact_path("runs/x").write_bytes(b"?" * 5000)
    use = usage.disk_use()
    assert use.artifacts >= 5000 and use.database > 0 and use.free > 0 and use.is_cache is False


@pytest.fixture
def building(graph) -> Job:
    """A pool that is being built, with a system's part: it has two shards done, one running and one that waits."""
    whole = make_job(PoolingJob.BUILD_POOL, pool=make_pool(graph), worker="gpu@a:1")
    part = make_job(PoolingJob.SCORE_SYSTEM, parent=whole, params={"name": "one"}, worker="gpu@a:1")
    for n, state in enumerate(("done", "done", "running", "queued"), 1):
        name = f"questions of shard {n}"
        make_job(PoolingJob.SCORE_SHARD, parent=part, params={"name": name}, state=JobState(state), worker="gpu@b:1")
    return whole


def test_the_list_shows_parts_below_their_job(building: Job, manager):
    page = manager.get("/jobs").content.decode()
    assert element(page, "parts-done").text == "2 of 4 parts are done."
    assert [link.text for link in parse(page).all(test="part")[1].all(tag="a")] == ["questions of shard 3"]
    rows = parse(page).all(tag="tbody")[0].all(tag="tr")
    assert len(rows) == 2  # the job, and what its parts do


def test_the_page_of_a_job_shows_all_parts_that_are_not_over(building: Job, manager):
    parts = parse(manager.get(f"/jobs/{building.pk}").content.decode()).all(test="part")
    assert [one["class"] for one in parts] == ["part-1", "part-2", "part-2"]
    assert "gpu@b:1" in parts[1].text


def test_a_part_names_its_job_and_has_no_buttons(building: Job, manager):
    part = building.parts.get()
    page = manager.get(f"/jobs/{part.pk}")
    assert f"/jobs/{building.pk}" in links(page)
    assert posts(page) == []
    [said] = notices(manager.post(f"/jobs/{part.pk}/cancel", follow=True))
    assert f"part of job {building.pk}" in said


def test_a_worker_is_at_the_part_not_at_the_job_that_has_it(building: Job, manager):
    Worker.objects.create(name="gpu@a", queues="gpu", seen_at=timezone.now())
    page = manager.get("/jobs").content.decode()
    row = parse(page).all(test="worker")[0]
    assert [link.text for link in row.all(tag="a")] == ["score system one"]
