"""Machines whose clocks differ: the database's time decides, and a worker says that its clock is wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.utils import timezone

from core import clock
from core.jobs import watcher
from tests.postgres import own_database


@pytest.mark.postgres
def test_a_clock_that_is_an_hour_wrong_takes_no_job_from_a_live_worker(tmp_path: Path, migrated_postgres: str):
    with own_database("clocks", like=migrated_postgres, durable=False) as url:
        env = os.environ | {"DATABASE_URL": url, "TRIPLEPOOL_VAR": str(tmp_path)}
        command = [sys.executable, "-m", "tests.core.jobs.clocks", "1", "-1", "0"]
        done = subprocess.run(command, env=env, cwd=settings.BASE_DIR, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr[-3000:]
        played = json.loads(done.stdout.splitlines()[-1])
    right = {"taken": [True], "alive": "running", "workers": 1, "stamps off": [0.0] * 4}
    assert played == {hours: right | {"off": float(hours)} for hours in ("1", "-1", "0")}


@pytest.mark.parametrize(("seconds", "said"), [(62, "62 s ahead of"), (-7_000, "7,000 s behind"), (5, ""), (-4.9, "")])
def test_a_worker_says_once_that_its_clock_is_wrong(caplog, seconds: float, said: str):
    told = watcher._tell_of_clock("w@here", timedelta(seconds=seconds), False)
    watcher._tell_of_clock("w@here", timedelta(seconds=seconds), told)
    expected = f"worker w@here: The clock of its machine is {said} the database's: set it, for example by NTP."
    assert [entry.message for entry in caplog.records] == ([expected] if said else [])


def test_on_sqlite_the_time_is_the_machines(monkeypatch):
    now = timezone.now() + timedelta(days=3)
    monkeypatch.setattr(timezone, "now", lambda: now)
    assert (clock.now(), clock.clock_off()) == (now, timedelta(0))
