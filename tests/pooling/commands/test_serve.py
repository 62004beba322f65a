"""serve: pages and a worker in one command; one signal ends both."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from annotation.enums import DUTIES
from tests.page import element, has


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def test_serve_says_that_its_port_is_taken_before_it_starts_anything(db):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(CommandError, match=rf"^Port {port} of 127\.0\.0\.1 is taken"):
            call_command("serve", "--bind", f"127.0.0.1:{port}")


@pytest.mark.parametrize("command", [["serve", "--bind", "127.0.0.1:1"], ["work"]])
def test_a_database_older_than_the_program_is_told_before_anything_starts(db, command: list[str]):
    MigrationRecorder(connection).record_unapplied("core", last := sorted(files_of("core"))[-1])
    with pytest.raises(CommandError, match=rf"^The database is older .* \(core\.{last} is missing\): run `python"):
        call_command(*command)


def files_of(app: str) -> list[str]:
    return [file.stem for file in (settings.BASE_DIR / app / "migrations").glob("0*.py")]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_serve_answers_and_ends_all_that_it_started(tmp_path: Path, migrated: Path):
    environment = {k: v for k, v in os.environ.items() if k not in ("DATABASE_URL", "CELERY_BROKER_URL")}
    environment |= {"TRIPLEPOOL_VAR": str(tmp_path), "WORKER_PROCESSES": "1"}
    port = free_port()
    shutil.copy(migrated, tmp_path / "triplepool.sqlite3")
    with (tmp_path / "log").open("w") as log:
        serve = subprocess.Popen(
            [sys.executable, "manage.py", "serve", "--bind", f"127.0.0.1:{port}"],
            cwd=settings.BASE_DIR,
            env=environment,
            stdout=log,
            stderr=log,
        )
    try:
        end = time.monotonic() + 300
        while True:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/login", timeout=60) as page:
                    assert page.status == 200
                    break
            except OSError:
                assert time.monotonic() < end, (tmp_path / "log").read_text()
                time.sleep(0.2)
        # nobody can manage the site yet: the terminal shows the way in, and the sign-in page says so
        with urllib.request.urlopen(told_link(tmp_path / "log", end), timeout=60) as page:
            assert element(page.read().decode(), "duty").text.endswith(str(DUTIES["manager"]))
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/login", timeout=60) as page:
            assert has(page.read().decode(), "no-manager")
        started = children(serve.pid)
        assert len(started) >= 2
        serve.send_signal(signal.SIGTERM)
        assert serve.wait(timeout=300) == 0
        end = time.monotonic() + 60
        while any(Path(f"/proc/{pid}").exists() for pid in started):
            assert time.monotonic() < end
            time.sleep(0.1)
        assert "Ending." in (tmp_path / "log").read_text()
    finally:
        if serve.poll() is None:
            serve.terminate()
            serve.wait(timeout=60)


def told_link(log: Path, end: float) -> str:
    """The link that `serve` has printed."""
    while (found := re.search(r"http://127\.0\.0\.1:\d+/invitations/\S{43}", log.read_text())) is None:
        assert time.monotonic() < end, log.read_text()
        time.sleep(0.2)
    return found[0]


def children(pid: int) -> list[int]:
    """All processes below this one."""
    try:
        direct = [int(p) for p in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:  # it ended in the meantime
        return []
    return direct + [below for child in direct for below in children(child)]
