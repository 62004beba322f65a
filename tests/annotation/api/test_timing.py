"""Time tells nobody which of their questions are checks."""

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from tests.postgres import own_database

ROUNDS = 40
REQUESTS = ("a wrong lease", "a refused link", "renewed", "repeated", "a refused change")
TIMED = ("a refused link", "renewed", "repeated", "a refused change")  # a wrong lease looks up less
Told = dict[str, Any]


def measure(var: Path, like: str, rounds: int, names: Sequence[str] = ()) -> Told:
    """Run timing.py on a database of its own."""
    with own_database("timing", like=like) as url:
        env = os.environ | {"DATABASE_URL": url, "TRIPLEPOOL_VAR": str(var), "OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "tests.annotation.api.timing", str(rounds), *names]
        done = subprocess.run(command, env=env, cwd=settings.BASE_DIR, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stderr[-3000:]
    found: Told = json.loads(done.stdout.splitlines()[-1])
    assert min(found.pop("checks")) >= 15
    return found


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory, migrated_postgres: str) -> Iterator[Told]:
    yield measure(tmp_path_factory.mktemp("timing"), migrated_postgres, ROUNDS, TIMED)


def outside(one: Told) -> list[float]:
    return [one[by] for by in ("minimum", "median") if not 0.4 <= one[by] <= 0.6]


@pytest.mark.postgres
@pytest.mark.timing
@pytest.mark.parametrize("name", TIMED)
def test_checks_and_slots_take_the_same_time_and_look_the_same(
    told: Told, tmp_path: Path, migrated_postgres: str, name: str
):
    """Of 88 questions of each kind, chance alone leaves 0.4 to 0.6 in one of 50: such a one is the mean of three."""
    one = told[name]
    assert one["slots"] == one["checks"] and len(one["slots"]) == 1  # status, headers, size, text, statements
    print(name, one["minimum"], one["median"])
    if outside(one):
        all_of_them = [one, *(measure(tmp_path, migrated_postgres, ROUNDS, [name])[name] for _ in range(2))]
        mean = {by: statistics.fmean(found[by] for found in all_of_them) for by in ("minimum", "median")}
        assert not outside(mean), [(found["minimum"], found["median"]) for found in all_of_them]


@pytest.mark.postgres
@pytest.mark.parametrize("name", REQUESTS)
def test_checks_and_slots_are_answered_by_the_same_statements(quick: Told, name: str):
    assert quick[name]["slots"] == quick[name]["checks"]
    assert len(quick[name]["slots"]) == 1


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory, migrated_postgres: str) -> Iterator[Told]:
    yield measure(tmp_path_factory.mktemp("quick"), migrated_postgres, 1)
