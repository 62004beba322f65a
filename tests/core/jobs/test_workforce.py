"""The workers that `manage.py work` keeps alive: one for each GPU, with names of their own."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from core.enums import JobState
from core.jobs import workforce
from core.jobs.workforce import Post, Workforce, posts_of, unique_name
from core.machine import Device
from core.models import Job, Worker
from evaluation.enums import EvaluationJob
from tests.factories import make_job

TWO = [Device("A", 1, "GPU-aa"), Device("B", 2, "GPU-bb")]


@pytest.mark.parametrize(
    ("found", "queues", "posts"),
    [
        ([], ["cpu", "gpu"], [Post("cpu-gpu", "cpu,gpu", 3)]),
        ([], ["gpu"], [Post("gpu", "gpu", 3)]),
        (TWO, ["cpu"], [Post("cpu", "cpu", 3)]),
        (TWO, ["gpu"], [Post("gpu0", "gpu", 1, "GPU-aa"), Post("gpu1", "gpu", 1, "GPU-bb")]),
        (TWO[:1], ["cpu", "gpu"], [Post("gpu0", "gpu", 1, "GPU-aa"), Post("cpu", "cpu", 3, "")]),
    ],
)
def test_each_gpu_has_a_worker_and_the_cpu_one(monkeypatch, found, queues, posts):
    monkeypatch.setattr(workforce, "gpus", lambda: found)
    assert posts_of(queues, 3) == posts


def test_no_two_workers_share_a_name():
    names = {unique_name("gpu0") for _ in range(100)}
    assert len(names) == 100 and all(re.fullmatch(r"gpu0-[0-9a-f]{8}@[^@]+", name) for name in names)


class Process:
    returncode: int | None = None
    signals: list[int]

    def __init__(self) -> None:
        self.signals = []

    def poll(self) -> int | None:
        return self.returncode

    def send_signal(self, number: int) -> None:
        self.signals.append(number)


@pytest.fixture
def time_now(monkeypatch) -> list[float]:
    at = [1000.0]
    monkeypatch.setattr(workforce.time, "monotonic", lambda: at[0])
    return at


@pytest.fixture
def started(monkeypatch) -> list[tuple[Process, dict[str, object]]]:
    found: list[tuple[Process, dict[str, object]]] = []

    def start(queues: str, processes: int | None, **given: object) -> Process:
        found.append((Process(), {"queues": queues, "processes": processes, **given}))
        return found[-1][0]

    monkeypatch.setattr(workforce, "start_worker", start)
    return found


POSTS = [Post("gpu0", "gpu", 1, "GPU-aa"), Post("cpu", "cpu", 2, "")]


def test_a_dead_worker_is_started_again_after_longer_and_longer_pauses(started, time_now):
    told: list[str] = []
    force = Workforce(POSTS, told.append)
    assert [(one["queues"], one["processes"], one["devices"]) for _, one in started] == [
        ("gpu", 1, "GPU-aa"),
        ("cpu", 2, ""),
    ]
    time_now[0] += 100  # it lived for a while
    started[0][0].returncode = -9
    force.look_after()
    assert len(started) == 3 and started[2][1]["devices"] == "GPU-aa"
    assert re.fullmatch(r"Worker gpu0-\S+ ended \(exit code -9\); starting another now\.", told[0])
    for pause in (1, 3, 7):
        started[-1][0].returncode = 1
        number = len(started)
        force.look_after()
        time_now[0] += pause - 0.5
        force.look_after()
        assert len(started) == number
        time_now[0] += 0.5
        force.look_after()
        assert len(started) == number + 1
    assert len(set(force.names)) == len(started)


@pytest.mark.django_db
def test_workers_are_idle_when_none_has_a_job_and_all_have_started(started, time_now):
    force = Workforce(POSTS, print)
    time_now[0] += 50
    assert force.idle_seconds() == 0  # they are starting
    for name in force.names:
        Worker.objects.create(name=name, queues="cpu", seen_at=timezone.now())
    make_job(EvaluationJob.EXPORT, JobState.RUNNING, worker="others@here:1")
    time_now[0] += 5
    assert force.idle_seconds() == 5
    job = make_job(EvaluationJob.EXPORT, JobState.RUNNING, worker=f"{force.names[1]}:77")
    assert force.idle_seconds() == 0
    Job.objects.filter(pk=job.pk).update(state=JobState.DONE, finished_at=timezone.now())
    time_now[0] += 5
    assert force.idle_seconds() == 0  # it ended a moment ago
    Job.objects.filter(pk=job.pk).update(finished_at=timezone.now() - timedelta(seconds=9))
    time_now[0] += 4
    assert force.idle_seconds() == 4


@pytest.mark.django_db
def test_all_workers_are_ended_at_once_and_what_was_killed_goes_back(started, time_now, monkeypatch):
    told: list[str] = []
    force = Workforce(POSTS, told.append)
    waited: list[float] = []

    def stop(process: Process, patience: float) -> None:
        assert all(one.signals == [15] for one, _ in started)
        waited.append(patience)
        time_now[0] += 20

    monkeypatch.setattr(workforce, "stop_worker", stop)
    Worker.objects.create(name=force.names[0], queues="gpu", seen_at=timezone.now())
    job = make_job(EvaluationJob.EXPORT, JobState.RUNNING, worker=f"{force.names[0]}:77")
    force.stop()
    assert waited == [25, 5]
    job.refresh_from_db()
    assert (job.state, job.deaths, Worker.objects.count()) == ("queued", 0, 0)
    assert told == ["1 job took too long to stop: another worker takes over."]
