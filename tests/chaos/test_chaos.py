"""Two minutes of people and faults on PostgreSQL and Redis: nothing is lost, doubled or in a wrong state."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import psycopg
import pytest
from django.conf import settings

from benchmarks.chaos.faults import FAULTS
from tests.postgres import SERVER

pytestmark = [pytest.mark.slow, pytest.mark.postgres, pytest.mark.redis]


def own_databases() -> set[str]:
    with psycopg.connect(SERVER) as connection:
        rows = connection.execute("SELECT datname FROM pg_database WHERE datname LIKE 'chaos\\_%'").fetchall()
    return {name for (name,) in rows}


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_no_label_is_lost_or_doubled_whatever_fails():
    before = own_databases()
    command = [sys.executable, "manage.py", "chaos", "--database-url", SERVER, "--quick", "--every", "9"]
    done = subprocess.run(command, cwd=settings.BASE_DIR, capture_output=True, text=True, timeout=1200, env=os.environ)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr[-6000:]}"
    for fault in FAULTS:  # each happened
        assert re.search(rf"^\| {fault.name} \| [1-9]", done.stdout, re.M), fault.name
    assert "could not be done" not in done.stderr
    assert own_databases() <= before
