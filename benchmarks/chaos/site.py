"""The site of a chaos campaign: its own database, relays, web server and workers, each a child that ends with it."""

from __future__ import annotations

import contextlib
import ctypes
import ipaddress
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

import psycopg
import redis

from benchmarks.processes import children_of
from benchmarks.queue_load import ROOT, free_port
from tests.postgres import own_database

SILENT = 6.0  # seconds without a heartbeat after which a worker counts as dead; usually 30
DISK = 384  # MB: ten minutes write about 100; what is not used takes no memory
WEB_PROCESSES, WEB_THREADS = 2, 4
MARK = "triplepool-chaos"  # the key by which a database of Redis is known to be taken
CLONE_NEWNS = 0x00020000


class ChaosError(Exception):
    """The campaign cannot be played here; the message says why."""


def on_loopback(address: str, what: str, port: int) -> SplitResult:
    """Return the address with host and port; ChaosError unless it is one of this machine alone."""
    parts = urlsplit(address)
    host = "127.0.0.1" if parts.hostname == "localhost" else parts.hostname or ""
    try:
        loopback = ipaddress.ip_address(host).is_loopback
    except ValueError:
        loopback = False
    if not loopback:
        raise ChaosError(
            f"{what} is at {parts.hostname or 'a socket'}, but chaos plays on the loopback only. "
            "Give an address with 127.0.0.1."
        )
    account, at, _ = parts.netloc.rpartition("@")
    place = f"[{host}]" if ":" in host else host
    return parts._replace(netloc=f"{account}{at}{place}:{parts.port or port}")


class Child:
    """A process in a group of its own, which the site starts again when it ends."""

    def __init__(self, name: str, command: list[str], environment: Mapping[str, str], log: Path) -> None:
        self.name, self.usual, self.environment, self.log = name, command, environment, log
        self.command = command
        self.starts = 0
        self.is_wanted = True
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        return self.process.pid if self.process is not None else 0

    @property
    def is_alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def start(self) -> None:
        self.is_wanted = True
        self.starts += 1
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command, cwd=ROOT, env=dict(self.environment), process_group=0, stdout=log, stderr=log
            )

    def signal(self, number: int) -> None:
        """Send a signal to the whole group."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, number)

    def end(self) -> None:
        """Kill the group, and do not start it again."""
        self.is_wanted = False
        if self.process is not None:
            self.signal(signal.SIGKILL)
            self.process.wait()

    def processes(self) -> list[int]:
        """Return the ids of the processes that this one forked."""
        try:
            return children_of(self.pid)
        except OSError:
            return []


class Site:
    """Everything that a fault can hit."""

    def __init__(self, admin: str, broker: str, folder: Path, logs: Path, disk: str) -> None:
        self.folder, self.logs, self.disk = folder, logs, disk
        self.admin = admin  # the address of the database, past the relay
        self.artifacts = folder / "artifacts"
        self.port, to_database, to_redis = free_port(), free_port(), free_port()
        here, there = urlsplit(admin), urlsplit(broker)
        account, at, _ = here.netloc.rpartition("@")
        through = here._replace(netloc=f"{account}{at}127.0.0.1:{to_database}").geturl()
        messages = there._replace(netloc=f"127.0.0.1:{to_redis}").geturl()
        unset = {"ALLOWED_HOSTS", "TRUSTED_PROXIES", "DEBUG", "EMAIL_HOST", "SITE_URL"}
        self.environment = {name: value for name, value in os.environ.items() if name not in unset} | {
            "DATABASE_URL": through,
            "CELERY_BROKER_URL": messages,
            "CACHE_URL": messages,
            "TRIPLEPOOL_VAR": str(folder),
            "ARTIFACT_ROOT": str(self.artifacts),
            "SECRET_KEY": "only for this campaign",
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "JOB_HEARTBEAT_SECONDS": "1",
            "JOB_SILENT_SECONDS": str(SILENT),
            "WORKER_PROCESSES": "1",
            "OMP_NUM_THREADS": "1",
            "PYTHONWARNINGS": "ignore",
        }
        relay = [sys.executable, "-m", "benchmarks.chaos.relay"]
        self.to_database = self._child("database", [*relay, str(to_database), str(here.hostname), str(here.port)])
        self.to_redis = self._child("redis", [*relay, str(to_redis), str(there.hostname), str(there.port)])
        serve = f"--bind 127.0.0.1:{self.port} --workers {WEB_PROCESSES} --threads {WEB_THREADS} --timeout 60"
        self.web = self._child(
            "web", [sys.executable, "-m", "gunicorn", "config.wsgi", "--log-level", "warning", *serve.split()]
        )
        self.workers = [self._child(f"worker{i}", worker_command(f"chaos{i}")) for i in (1, 2)]
        self.children = [self.to_database, self.to_redis, self.web, *self.workers]
        self._over = threading.Event()

    def _child(self, name: str, command: list[str]) -> Child:
        return Child(name, command, self.environment, self.logs / f"{name}.log")

    @property
    def is_real_disk(self) -> bool:
        return self.disk.startswith("tmpfs")

    def prepare(self, people: int, adjudicators: int, items: int) -> dict[str, Any]:
        """Start the relays and have a child make graph, pool, campaign and people."""
        self.to_database.start()
        self.to_redis.start()
        wait_for_port(self._port(self.to_database))
        wait_for_port(self._port(self.to_redis))
        command = [sys.executable, "-m", "benchmarks.chaos.prepare", *map(str, (people, adjudicators, items))]
        with (self.logs / "prepare.log").open("wb") as log:
            done = subprocess.run(
                command, cwd=ROOT, env=self.environment, stdout=subprocess.PIPE, stderr=log, process_group=0
            )
        if done.returncode:
            raise ChaosError(f"The site could not be prepared: {(self.logs / 'prepare.log').read_text()[-2000:]}")
        prepared: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return prepared

    def serve(self) -> None:
        """Start web server and workers, and from then on whatever of the site ends."""
        for child in (self.web, *self.workers):
            child.start()
        threading.Thread(target=self._look_after, daemon=True).start()
        wait_for_answer(self.port)

    def _look_after(self) -> None:
        while not self._over.wait(0.3):
            for child in self.children:
                if child.is_wanted and not child.is_alive:
                    child.start()

    def end(self) -> None:
        """End every child, by its id."""
        self._over.set()
        time.sleep(0.4)  # nobody starts one any more
        for child in reversed(self.children):
            child.end()

    def _port(self, relay: Child) -> int:
        return int(relay.usual[3])

    def cut(self, relay: Child) -> None:
        relay.end()

    def mend(self, relay: Child) -> None:
        relay.start()
        wait_for_port(self._port(relay))

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Ask the database past the relay."""
        with psycopg.connect(self.admin, autocommit=True) as connection:
            return connection.execute(query, values).fetchall()


def worker_command(name: str, skew: float = 0) -> list[str]:
    """Return the command of a worker that leaves the processor to the web server, `skew` seconds ahead of time."""
    celery = ["benchmarks.chaos.skewed", str(skew)] if skew else ["celery"]
    what = "-A config worker --queues cpu,gpu --concurrency 1 --loglevel WARNING --without-gossip --without-mingle"
    return ["nice", "-n", "10", sys.executable, "-m", *celery, "--quiet", *what.split(), "--hostname", f"{name}@%h"]


def wait_for_port(port: int, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        time.sleep(0.05)
    raise ChaosError(f"Nothing listens on port {port}.")


def wait_for_answer(port: int, seconds: float = 120) -> None:
    """Wait until the web server answers a request, whatever it says."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        connection = HTTPConnection("127.0.0.1", port, timeout=seconds)
        with contextlib.suppress(OSError, HTTPException), contextlib.closing(connection):
            connection.request("GET", "/api/v1/campaigns")
            connection.getresponse().read()
            return
        time.sleep(0.05)
    raise ChaosError("The web server does not answer.")


@contextmanager
def site_for_a_while(server: str, redis_server: str, folder: Path, logs: Path) -> Iterator[Site]:
    """Make a site on an own database of this server and an empty one of Redis; nothing of it is left."""
    with ExitStack() as stack:
        disk = stack.enter_context(small_disk(folder / "artifacts"))
        address = on_loopback(server, "The database", 5432).geturl()
        database = stack.enter_context(own_database("chaos", address))
        broker = stack.enter_context(own_redis(on_loopback(redis_server, "Redis", 6379)))
        site = Site(database, broker, folder, logs, disk)
        stack.callback(site.end)
        yield site


@contextmanager
def own_redis(server: SplitResult) -> Iterator[str]:
    """Take an empty database of this server, and empty it at the end."""
    for number in (15, 14, 12, 11, 10, 9, 8, 7):
        address = server._replace(path=f"/{number}").geturl()
        with redis.Redis.from_url(address) as client:
            if client.dbsize() == 0 and client.set(MARK, os.getpid(), nx=True, ex=4 * 3600):
                break
    else:
        raise ChaosError("No database of Redis is empty: chaos takes one of its own.")
    try:
        yield address
    finally:
        with redis.Redis.from_url(address) as client:
            if client.get(MARK) == str(os.getpid()).encode():
                client.flushdb()


@contextmanager
def small_disk(folder: Path) -> Iterator[str]:
    """Make the folder a file system of its own if this process may, for itself alone; say what it is."""
    folder.mkdir(parents=True)
    is_mounted = os.geteuid() == 0 and _mount(folder)
    try:
        yield f"tmpfs of {DISK} MB" if is_mounted else "limit of file size (RLIMIT_FSIZE)"
    finally:
        if is_mounted:
            subprocess.run(["umount", str(folder)], check=False)


def _mount(folder: Path) -> bool:
    # a name space of mounts that ends with this process and its children: nobody else sees this one
    if sys.platform != "linux" or ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNS) != 0:
        return False
    commands = (["--make-rprivate", "/"], ["-t", "tmpfs", "-o", f"size={DISK}m,mode=700", "tmpfs", str(folder)])
    return all(subprocess.run(["mount", *args], capture_output=True).returncode == 0 for args in commands)
