"""A cluster whose machines share no disk makes what one machine makes, whatever happens to it: the same bytes.

A machine is a worker with a folder and a network of its own: all that it says to database, broker and store goes
through relays that can be cut. The store is moto's S3, the database an own one on PostgreSQL. What happens: kill -9 and
SIGTERM while machines train, a machine that is paused until another one has its job, and while they score, 20 s without
a network and a restart of the database. As no test may stop the server, the restart is what clients see of one: every
session is ended, and new ones are refused for a while.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit
from uuid import uuid4

import psycopg
import pytest
from django.conf import settings as django_settings
from kombu import Connection

from tests import stores
from tests.cluster_worker import EPOCHS, KINDS
from tests.postgres import SERVER, own_database

pytestmark = [pytest.mark.cluster, pytest.mark.postgres]

Found = TypeVar("Found")
BROKERS = [
    pytest.param("redis://127.0.0.1:6379/12", marks=pytest.mark.redis, id="redis"),
    pytest.param("amqp://127.0.0.1:5672//", marks=pytest.mark.rabbitmq, id="rabbitmq"),
]
CUT = 20.0  # seconds without a network: first nothing comes back, then connections are refused
AWAY = 4.0  # seconds that the database refuses connections
LONG = 300.0  # seconds that anything may take where the machine is busy
RELAYS = """
import asyncio, sys
from benchmarks.chaos.relay import relay
async def all_of_them():
    ends = [one.split(":") for one in sys.argv[1:]]
    await asyncio.gather(*(relay(int(port), host, int(server)) for port, host, server in ends))
asyncio.run(all_of_them())
"""


def common_environment(folder: Path) -> dict[str, str]:
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "OMP_NUM_THREADS": "1",
        "WORKER_PROCESSES": str(os.cpu_count()),  # one thread for each
        "JOB_HEARTBEAT_SECONDS": "0.5",
        "JOB_SILENT_SECONDS": "8",
        "EPOCH_SECONDS": "0.5",
        "TRIPLEPOOL_VAR": str(folder),
        "ARTIFACT_ROOT": str(folder / "artifacts"),
        "DEEDS": str(folder / "deeds"),
        "QUEUE": "cpu",
    }
    for name in ("CELERY_BROKER_URL", "ARTIFACT_STORE", "CACHE_URL"):
        environment.pop(name, None)
    return environment


def does(environment: dict[str, str], *command: str) -> Any:
    """What a process prints last, as JSON."""
    done = subprocess.run(
        [sys.executable, *command],
        env=environment, cwd=django_settings.BASE_DIR, capture_output=True, text=True, timeout=LONG,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert stores.SECRET not in done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1]) if done.stdout else None


def free_ports(number: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        found = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(number)]
        return [one.getsockname()[1] for one in found]


class Machine:
    """A folder, relays to the three services, and perhaps a worker."""

    def __init__(self, site: Site, name: str) -> None:
        self.name, self.folder = name, site.folder / name
        self.folder.mkdir()
        (self.folder / "deeds").touch()
        real = {
            "DATABASE_URL": site.database,
            "CELERY_BROKER_URL": site.broker,
            "AWS_ENDPOINT_URL": stores.s3_address(),
        }
        self.ends, self.environment = [], common_environment(self.folder) | stores.s3_environment()
        for port, (setting, address) in zip(free_ports(3), real.items(), strict=True):
            parts = urlsplit(address)
            self.ends.append(f"{port}:{parts.hostname}:{parts.port}")
            self.environment[setting] = address.replace(f"{parts.hostname}:{parts.port}", f"127.0.0.1:{port}")
        self.environment |= {"ARTIFACT_STORE": site.store, "QUEUE": site.queue, "PACE": str(site.folder / "pace")}
        self.worker: subprocess.Popen[bytes] | None = None
        self.connect()

    def connect(self) -> None:
        command = [sys.executable, "-c", RELAYS, *self.ends]
        self.relays = subprocess.Popen(command, cwd=django_settings.BASE_DIR, process_group=0)
        end = time.monotonic() + LONG
        for one in self.ends:
            while True:
                with contextlib.suppress(OSError):
                    socket.create_connection(("127.0.0.1", int(one.partition(":")[0])), timeout=5).close()
                    break
                assert time.monotonic() < end, "the relays do not listen"
                time.sleep(0.05)

    def disconnect(self) -> None:
        self.relays.kill()
        self.relays.wait()

    def work(self) -> None:
        what = f"-A config worker --queues {self.environment['QUEUE']} --concurrency 1 --loglevel WARNING"
        quiet = ["--without-gossip", "--without-mingle", "--hostname", f"{self.name}@here"]
        command = [sys.executable, "-m", "tests.cluster_worker", "--quiet", *what.split(), *quiet]
        with (self.folder.parent / f"{self.name}.log").open("a") as log:
            self.worker = subprocess.Popen(
                command, cwd=django_settings.BASE_DIR, env=self.environment, process_group=0, stdout=log, stderr=log
            )

    def does(self, step: str) -> Any:
        return does(self.environment, "-m", "tests.cluster_worker", "step", step)

    def kill(self) -> None:
        if self.worker is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.worker.pid, signal.SIGKILL)
            self.worker.wait()

    def pause(self) -> None:
        assert self.worker is not None
        os.killpg(self.worker.pid, signal.SIGSTOP)

    def go_on(self) -> None:
        assert self.worker is not None
        os.killpg(self.worker.pid, signal.SIGCONT)

    def stop(self) -> int:
        """End the worker by SIGTERM and return its exit code."""
        assert self.worker is not None
        self.worker.send_signal(signal.SIGTERM)
        return self.worker.wait(timeout=60)

    def deeds(self, kind: str) -> list[tuple[Any, ...]]:
        lines = [json.loads(line) for line in (self.folder / "deeds").read_text().splitlines()]
        return [tuple(line[1:]) for line in lines if line[0] == kind]

    def lose_disk(self) -> None:
        shutil.rmtree(self.folder / "artifacts")


class Site:
    def __init__(self, folder: Path, database: str, broker: str, store: str) -> None:
        self.folder, self.database, self.broker, self.store = folder, database, broker, store
        self.queue = f"cluster-{uuid4().hex[:8]}"
        self.machines: list[Machine] = []
        self.pace(0)

    def machine(self, name: str, *, works: bool = True) -> Machine:
        """A new machine with an empty disk."""
        made = Machine(self, name)
        self.machines.append(made)
        if works:
            made.work()
        return made

    def pace(self, seconds: float) -> None:
        (self.folder / "pace.new").write_text(str(seconds))
        (self.folder / "pace.new").rename(self.folder / "pace")

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.database) as connection:
            return connection.execute(query).fetchall()

    def value(self, query: str) -> Any:
        found = self.rows(query)
        return found[0][0] if found else None

    def deeds(self, kind: str) -> list[tuple[Any, ...]]:
        return [deed for machine in self.machines for deed in machine.deeds(kind)]

    def wait(self, find: Callable[[], Found], what: str) -> Found:
        end = time.monotonic() + LONG
        while not (found := find()):
            jobs = self.rows("SELECT id, kind, state, worker, attempts, deaths, error FROM core_job ORDER BY id")
            assert time.monotonic() < end, f"{what} did not happen in {LONG:.0f} s; jobs: {jobs}"
            assert not any(row[2] == "failed" for row in jobs), jobs
            time.sleep(0.05)
        return found

    def trains(self, machine: Machine, first: int, last: int) -> int | None:
        """The job with which this machine is in the middle of a training, between these epochs."""
        return self.value(
            "SELECT job.id FROM core_job AS job JOIN pooling_system AS system ON system.id = job.system_id "
            f"WHERE job.state = 'running' AND job.worker LIKE '{machine.name}@%' "
            f"AND system.state = 'training' AND system.epochs_done BETWEEN {first} AND {last}"
        )

    def restart_database(self) -> None:
        name = self.database.rpartition("/")[2]
        with psycopg.connect(SERVER, autocommit=True) as server:
            server.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false')
            server.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name])
            time.sleep(AWAY)
            server.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true')


@pytest.fixture
def site(request: pytest.FixtureRequest, tmp_path: Path, settings, monkeypatch) -> Iterator[Site]:
    stores.use("s3", settings, tmp_path, monkeypatch)
    with own_database("cluster") as database:
        made = Site(tmp_path, database, request.param, settings.ARTIFACT_STORE)
        environment = common_environment(tmp_path) | {"DATABASE_URL": database}
        does(environment, "manage.py", "migrate", "-v0")
        try:
            yield made
        finally:
            for machine in made.machines:
                machine.kill()
                machine.disconnect()
            with Connection(made.broker) as connection:
                connection.default_channel.queue_delete(made.queue)


@pytest.fixture(scope="module")
def one_machine(migrated: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What one process makes on SQLite and a plain folder, without shards or faults."""
    folder = tmp_path_factory.mktemp("one")
    shutil.copy(migrated, folder / "db.sqlite3")
    environment = common_environment(folder) | {"DATABASE_URL": f"sqlite:///{folder / 'db.sqlite3'}"}
    return does(environment, "-m", "tests.cluster_worker", "step", "alone")


@pytest.mark.django_db  # `migrated` is a copy of the tests' database, which only such tests make
@pytest.mark.parametrize("site", BROKERS, indirect=True)
def test_a_cluster_makes_what_one_machine_makes_whatever_happens_to_it(site: Site, one_machine):
    began = time.monotonic()
    web = site.machine("web", works=False)
    web.does("begin")
    through_kill_and_sigterm(site)
    print(f"trained after {time.monotonic() - began:.0f} s")
    through_cut_and_restart(site, web)
    print(f"built after {time.monotonic() - began:.0f} s")

    for machine in site.machines[1:]:
        machine.kill()
    figures = web.does("label")
    site.machine("exporter")
    site.wait(lambda: site.value("SELECT id FROM evaluation_export WHERE artifact != ''"), "the export")
    web.lose_disk()
    assert {"figures": figures, **web.does("download")} == one_machine

    print(f"all after {time.monotonic() - began:.0f} s")
    states = Counter(site.rows("SELECT state FROM core_job WHERE parent_id IS NULL"))
    assert states == {("done",): len(KINDS) + 2}
    assert site.value("SELECT count(*) FROM core_job WHERE parent_id IS NOT NULL") == 0


def through_kill_and_sigterm(site: Site) -> None:
    """Train the systems. One machine is killed and one is stopped, and both lose their disks."""
    first, second = site.machine("first"), site.machine("second")
    killed = site.wait(lambda: site.trains(first, 3, EPOCHS - 8), "the first machine's training")
    first.kill()
    first.lose_disk()
    site.wait(lambda: site.value(f"SELECT deaths FROM core_job WHERE id = {killed}") == 1, "the sweep")

    given = site.wait(lambda: site.trains(second, 2, EPOCHS - 4), "the second machine's training")
    deaths = site.value(f"SELECT deaths FROM core_job WHERE id = {given}")
    assert second.stop() == 0
    assert site.rows(f"SELECT state, deaths FROM core_job WHERE id = {given}") == [("queued", deaths)]
    second.lose_disk()

    for name in ("third", "fourth", "fifth"):
        site.machine(name)
    paused = through_pause(site)
    over = "SELECT count(*) = 3 FROM core_job WHERE kind = 'train' AND state = 'done'"
    site.wait(lambda: site.value(over), "the end of training")
    for pk, log in site.rows("SELECT id, log FROM core_job WHERE kind = 'train'"):
        assert log.count("fell silent; queued again") == [killed, paused].count(pk), log
        assert log.count("is asked to end; queued again") == (pk == given), log

    epochs = Counter(site.deeds("epoch"))
    assert len(epochs) == len(KINDS) * EPOCHS
    # checkpoints are uploaded after each epoch: whoever is killed repeats one at most, whoever is stopped repeats none;
    # the epoch of the paused machine is trained again, and it ends one more before it learns that it lost the job
    assert epochs.total() - len(epochs) <= 3, epochs


def through_pause(site: Site) -> int:
    """Pause a machine that trains until another one goes on with its job, and return that job."""
    machines = site.machines[-3:]

    def in_the_middle() -> list[tuple[Machine, int]]:
        at_work = [one for one in machines if one.deeds("epoch")]
        return [(one, job) for one in at_work if (job := site.trains(one, 1, EPOCHS - 8))]

    machine, job = site.wait(in_the_middle, "a training to pause")[0]
    machine.pause()
    of_job = f"FROM pooling_system AS system JOIN core_job AS job ON job.system_id = system.id WHERE job.id = {job}"
    done = site.value(f"SELECT epochs_done {of_job}")
    further = f"SELECT epochs_done {of_job} AND job.worker NOT LIKE '{machine.name}@%' AND epochs_done > {done + 1}"
    site.wait(lambda: site.value(further), "training of the paused machine's system by another one")
    machine.go_on()
    return job


def through_cut_and_restart(site: Site, web: Machine) -> None:
    """Build the pool. The machine that has the job loses its network, then all machines lose the database."""
    site.pace(3)
    machines = site.machines[-3:]
    web.does("build")
    job = site.value("SELECT id FROM core_job WHERE kind = 'build-pool'")
    running = (
        "SELECT DISTINCT split_part(worker, '@', 1) FROM core_job WHERE kind = 'score-shard' AND state = 'running'"
    )
    site.wait(lambda: len(site.rows(running)) >= 2, "scoring by two machines at the same time")

    owner = site.value(f"SELECT split_part(worker, '@', 1) FROM core_job WHERE id = {job}")
    (cut,) = [machine for machine in machines if machine.name == owner]
    cut.relays.send_signal(signal.SIGSTOP)
    time.sleep(CUT / 2)
    cut.disconnect()
    time.sleep(CUT / 2)
    cut.connect()
    taken = f"SELECT worker NOT LIKE '{owner}@%' FROM core_job WHERE id = {job} AND attempts > 1"
    site.wait(lambda: site.value(taken), "the next attempt at the build")
    before = len(cut.deeds("shard"))
    site.wait(lambda: len(cut.deeds("shard")) > before, "work of the machine whose network is back")

    site.restart_database()
    assert site.value(f"SELECT state FROM core_job WHERE id = {job}") != "done"  # it happened in the middle
    site.pace(0)
    site.wait(lambda: site.value(f"SELECT state FROM core_job WHERE id = {job}") == "done", "the end of the build")

    scored = Counter(site.deeds("shard"))
    done = [machine.name for machine in machines if machine.deeds("shard")]
    print(f"{len(scored)} shards by {done}, {scored.total() - len(scored)} of them begun again")
    assert len(scored) > 30 and len(done) == len(machines)
    # the machine without a network, and each of the three when the database went away: a shard at most
    assert scored.total() - len(scored) <= 1 + len(machines), scored
