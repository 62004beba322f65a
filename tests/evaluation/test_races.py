"""What is started while it is being deleted, and names that two want at once: a refusal in words on both databases."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

from tests.postgres import own_database

GONE = "GoneError: {} was deleted in the meantime, so nothing was changed."


def play(url: str, var: str) -> dict[str, list[str]]:
    env = os.environ | {"DATABASE_URL": url, "TRIPLEPOOL_VAR": var, "ARTIFACT_ROOT": f"{var}/artifacts"}
    program = "import tests.evaluation.races as races; races.main()"
    done = subprocess.run(
        [sys.executable, "-c", program], env=env, cwd=settings.BASE_DIR, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert url.startswith(found.pop("vendor"))
    return found


@pytest.fixture(scope="module", params=[pytest.param("postgresql", marks=pytest.mark.postgres), "sqlite"])
def played(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, migrated: Path
) -> Iterator[dict[str, list[str]]]:
    var = str(tmp_path_factory.mktemp("races"))
    if request.param == "sqlite":
        shutil.copy(migrated, f"{var}/races.sqlite3")
        yield play(f"sqlite:///{var}/races.sqlite3", var)
        return
    like = request.getfixturevalue("migrated_postgres")
    with own_database("races", like=like, durable=False) as url:
        yield play(url, var)


def test_nothing_is_started_on_a_pool_that_is_being_deleted(played) -> None:
    assert played["pool_goes"] == ["done", *[GONE.format("Pool one-pool")] * 10]


def test_nothing_is_started_below_a_graph_that_is_being_deleted(played) -> None:
    assert played["graph_goes"] == ["done", *map(GONE.format, ["System distmult", "Pool two-pool", "Graph two"])]


def test_who_deletes_waits_for_a_job_that_is_being_started(played) -> None:
    refused = "stays. The job is at work on it: cancel it first, or wait for its end."
    assert played["job_comes_first"] == [
        "done",
        f"KeepingError: three-pool {refused}",
        f"KeepingError: three {refused}",
    ]
    assert played["extension_comes_first"] == ["done", f"KeepingError: four/distmult {refused}"]


def test_a_pool_does_not_grow_by_a_system_that_is_being_deleted(played) -> None:
    assert played["system_goes_before_an_extension"] == ["done", GONE.format("System distmult")]


def test_of_those_who_make_a_pool_of_one_name_one_wins(played) -> None:
    taken = "PoolError: There is a pool 'same' already: choose another name, or go on with that one."
    assert played["one_name"] == [taken, taken, "done"]
