"""Celery wakes, the row decides: which job a worker takes, and when an idle one sends messages."""

from __future__ import annotations

import os
import threading
import time
from types import SimpleNamespace

import pytest
from django.utils import timezone

from core import tasks, version
from core.enums import JobState
from core.jobs import execution, lifecycle, queues, watcher
from core.jobs.execution import do_next, execute
from core.jobs.queues import able_workers, misfit
from core.jobs.registry import HANDLERS
from core.machine import Device
from core.models import Job, SiteVersion, Worker
from evaluation.enums import EvaluationJob
from pooling.enums import PoolingJob
from tests.factories import make_job

pytestmark = pytest.mark.django_db


@pytest.fixture
def done(monkeypatch) -> list[int]:
    """Return the jobs that were done; they do nothing."""
    found: list[int] = []
    for kind in (EvaluationJob.EXPORT, EvaluationJob.EVALUATE, PoolingJob.TRAIN):
        monkeypatch.setitem(HANDLERS, kind, lambda job, progress: found.append(job.pk))
    return found


@pytest.fixture
def sent(monkeypatch) -> list[str]:
    found: list[str] = []
    monkeypatch.setattr(watcher, "wake", found.append)
    return found


@pytest.fixture
def memory(monkeypatch):
    """Set the memory of this machine, in bytes."""

    def use(number: int) -> None:
        for module in (execution, watcher):
            monkeypatch.setattr(module, "own_device", lambda: Device("toy", number))

    use(0)
    return use


def worker(name: str, names: str, **fields: object) -> Worker:
    return Worker.objects.create(name=name, queues=names, seen_at=timezone.now(), **fields)


# -- which job is taken -----------------------------------------------------------------------------------------


def test_the_oldest_queued_job_of_the_queue_is_taken_and_only_that(done, memory):
    make_job(EvaluationJob.EXPORT, JobState.RUNNING)
    make_job(PoolingJob.TRAIN)
    first, second = make_job(EvaluationJob.EVALUATE), make_job(EvaluationJob.EXPORT)
    assert do_next("cpu", "w:1")
    assert done == [first.pk]
    assert do_next("cpu", "w:1")
    assert done == [first.pk, second.pk]
    assert not do_next("cpu", "w:1")
    assert Job.objects.filter(state=JobState.QUEUED).count() == 1


def test_if_another_worker_is_faster_the_next_job_is_tried(done, memory, monkeypatch):
    first, second = make_job(EvaluationJob.EXPORT), make_job(EvaluationJob.EXPORT)

    def claim(pk: int, name: str) -> bool:
        if pk == first.pk:  # taken between the look and the claim
            Job.objects.filter(pk=pk).update(state=JobState.RUNNING)
        return execute(pk, name)

    monkeypatch.setattr(execution, "execute", claim)
    assert do_next("cpu", "w:1")
    assert done == [second.pk]


def test_a_job_that_needs_more_memory_than_the_worker_has_is_left_to_others(done, memory):
    large, small = make_job(PoolingJob.TRAIN, needs=2_000), make_job(PoolingJob.TRAIN, needs=1_000)
    memory(1_000)
    assert do_next("gpu", "w:1")
    assert not do_next("gpu", "w:1")
    assert done == [small.pk]
    memory(0)  # not known
    assert do_next("gpu", "w:1")
    assert done == [small.pk, large.pk]


@pytest.mark.parametrize(("site", "takes"), [("", True), ("mine", True), ("another", False)])
def test_a_worker_of_another_version_than_the_site_takes_no_job(done, memory, monkeypatch, site, takes):
    monkeypatch.setattr(execution, "code_version", lambda: "mine")
    SiteVersion.objects.all().delete()
    if site:
        SiteVersion.objects.create(version=site)
    make_job(EvaluationJob.EXPORT)
    assert do_next("cpu", "w:1") == takes


# -- who is woken -----------------------------------------------------------------------------------------------


def test_a_queue_with_a_waiting_job_gets_as_many_messages_as_its_workers_can_hold(sent, memory):
    watcher.wake_for_waiting(["cpu", "gpu"])
    assert sent == []
    worker("a", "cpu", processes=4)
    worker("b", "cpu,gpu", processes=2)
    make_job(EvaluationJob.EXPORT, JobState.RUNNING)
    make_job(EvaluationJob.EXPORT)
    make_job(EvaluationJob.EXPORT)
    watcher.wake_for_waiting(["cpu", "gpu"])
    assert sent == ["cpu"] * 6
    watcher.wake_for_waiting(["gpu"])
    assert sent == ["cpu"] * 6


def test_nobody_is_woken_for_a_job_that_does_not_fit(sent, memory):
    memory(1_000)
    make_job(PoolingJob.TRAIN, needs=2_000)
    watcher.wake_for_waiting(["gpu"])
    assert sent == []


@pytest.mark.parametrize(("active", "other", "woken"), [(1, False, True), (2, False, False), (1, True, False)])
def test_a_worker_looks_for_jobs_only_while_it_is_idle_and_of_the_sites_version(
    monkeypatch, memory, active, other, woken
):
    looked: list[list[str]] = []
    monkeypatch.setattr(watcher, "wake_for_waiting", looked.append)
    monkeypatch.setattr(watcher.state, "active_requests", set(range(active)))
    monkeypatch.setattr(watcher.state, "reserved_requests", set())
    queue = SimpleNamespace(name="cpu")
    consumer = SimpleNamespace(
        hostname="w@here", hub=object(), pool=SimpleNamespace(num_processes=2, info={}),
        task_consumer=SimpleNamespace(queues=[queue]),
    )  # fmt: skip
    own = watcher._Watcher(consumer, SimpleNamespace())
    own.beat_due, own.is_other = float("inf"), other
    own.look()
    assert looked == ([["cpu"]] if woken else [])


class Message:
    def __init__(self, name: str) -> None:
        self.id, self.acknowledged = name, False

    def acknowledge(self) -> None:
        self.acknowledged = True


def test_a_message_that_a_busy_worker_holds_for_long_is_acknowledged(monkeypatch):
    """RabbitMQ would end the channel, and with it the worker."""
    waits, running = Message("waits"), Message("running")
    monkeypatch.setattr(watcher.state, "reserved_requests", {waits, running})
    monkeypatch.setattr(watcher.state, "active_requests", {running})
    held = watcher.let_go({}, 100.0)
    assert held == {"waits": 100.0}
    held = watcher.let_go(held, 100.0 + watcher.HELD_SECONDS - 1)
    assert (held, waits.acknowledged) == ({"waits": 100.0}, False)
    watcher.let_go(held, 100.0 + watcher.HELD_SECONDS)
    assert (waits.acknowledged, running.acknowledged) == (True, False)
    assert watcher.let_go({}, 900.0) == {}


# -- versions and memory ----------------------------------------------------------------------------------------


def test_migrate_writes_the_version_of_the_code(db):
    SiteVersion.objects.all().delete()
    version.write_site_version()
    version.write_site_version()
    assert list(SiteVersion.objects.values_list("version", flat=True)) == [version.code_version()]
    assert version.code_version().startswith("0.1.0+")


@pytest.mark.parametrize("name", ["core/jobs/one.py", "config/urls.py", "templates/a.html", "static/js/a.js"])
def test_every_change_of_the_source_changes_the_version(tmp_path, name):
    """An update without a migration too: else a worker of the old code would take jobs of the new."""
    file = tmp_path / name
    file.parent.mkdir(parents=True)
    file.write_text("1")
    before = version.source_digest(tmp_path)
    (tmp_path / "docs").mkdir()
    for other in (file.with_suffix(".pyc"), file.with_name(".a.py"), tmp_path / "docs" / "a.py"):
        other.write_text("2")  # bytecode, a file of an editor, and what no process runs
    assert version.source_digest(tmp_path) == before
    file.write_text("2")
    assert version.source_digest(tmp_path) != before
    file.write_text("1")
    assert version.source_digest(tmp_path) == before
    file.rename(file.with_stem("other"))
    assert version.source_digest(tmp_path) != before


@pytest.mark.parametrize(("broker", "written"), [("filesystem://localhost", True), ("redis://127.0.0.1/0", False)])
def test_a_worker_of_a_site_on_one_machine_makes_its_version_that_of_the_site(settings, monkeypatch, broker, written):
    """There, code can change without `migrate`; elsewhere, workers of other machines must not change the version."""
    monkeypatch.setattr(tasks.connection, "close", lambda: None)
    SiteVersion.objects.update_or_create(pk=1, defaults={"version": "old"})
    settings.CELERY_BROKER_URL = broker
    tasks.on_worker_init()
    assert SiteVersion.objects.get().version == (version.code_version() if written else "old")


def test_migrate_to_tables_without_a_version_writes_none():
    class Older:
        def get_model(self, app: str, name: str) -> None:
            raise LookupError

    version.write_site_version(apps=Older())


def test_a_worker_says_once_that_the_site_has_another_version(caplog, monkeypatch):
    monkeypatch.setattr(watcher, "code_version", lambda: "1")
    told = watcher._tell_of_version("w@here", "1", False)
    assert (told, caplog.records) == (False, [])
    told = watcher._tell_of_version("w@here", "2", told)
    assert watcher._tell_of_version("w@here", "2", told)
    assert [one.message for one in caplog.records] == [f"worker w@here: {version.words('1', '2')}"]


def test_workers_of_another_version_are_not_able():
    SiteVersion.objects.update_or_create(pk=1, defaults={"version": "2"})
    worker("old", "cpu", version="1")
    worker("new", "cpu", version="2")
    worker("unknown", "cpu")
    assert sorted(one.name for one in able_workers()) == ["new", "unknown"]


def test_a_job_that_fits_no_worker_says_so():
    job = make_job(PoolingJob.TRAIN, needs=40 * 10**9)
    small = [worker("a", "gpu", memory=24 * 10**9), worker("b", "cpu", memory=99 * 10**9)]
    assert misfit(job, small) == (
        "It needs 40 GB of memory, and the largest worker of queue gpu has 24 GB. "
        "Start a worker with more memory, or choose a lower embedding_dim."
    )
    assert misfit(job, []) == ""
    assert misfit(job, [*small, worker("c", "gpu", memory=40 * 10**9)]) == ""
    assert misfit(job, [*small, worker("d", "gpu")]) == ""  # its memory is not known
    job.state = JobState.RUNNING
    assert misfit(job, small) == ""


def test_needs_are_written_when_a_job_is_started(monkeypatch):
    one = lifecycle.JOB_TYPES[EvaluationJob.EXPORT]
    monkeypatch.setitem(lifecycle.JOB_TYPES, EvaluationJob.EXPORT, one._replace(needs=lambda *about: 7))
    assert lifecycle.start_job(EvaluationJob.EXPORT).needs == 7
    assert lifecycle.start_job(EvaluationJob.EVALUATE).needs == 0
    assert queues.kinds_of(["cpu", "gpu"]) == list(lifecycle.JOB_TYPES)


@pytest.mark.filterwarnings("ignore:This process")  # forking beside threads is what this is about
def test_no_process_is_forked_while_the_watcher_uses_the_database(monkeypatch):
    """Celery forks where a process died; a copy of an open SQLite file, closed in it, damages the database."""
    looking, over = threading.Event(), threading.Event()

    def look(self) -> None:
        looking.set()
        time.sleep(0.5)
        looking.clear()

    monkeypatch.setattr(watcher._Watcher, "__init__", lambda self, *args: None)
    monkeypatch.setattr(watcher._Watcher, "look", look)
    thread = threading.Thread(target=watcher.watch, args=(SimpleNamespace(hostname="w"), over))
    thread.start()
    try:
        for _ in range(3):
            assert looking.wait(5)
            child = os.fork()
            if child == 0:
                os._exit(int(looking.is_set()))
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        over.set()
        thread.join()
