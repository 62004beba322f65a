"""Invitations and roles at the same moment, in threads on a real database: one account, one manager left."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from django.conf import settings

SERVER = os.environ.get("TEST_POSTGRES_URL", "postgresql://postgres@127.0.0.1:5432/test")
Scene = Callable[[str, int], dict[str, Any]]


@pytest.fixture(params=[pytest.param("postgresql", marks=pytest.mark.postgres), "sqlite"])
def scene(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Scene]:
    def play(url: str) -> Scene:
        def played(name: str, number: int) -> dict[str, Any]:
            env = {**os.environ, "DATABASE_URL": url, "TRIPLEPOOL_VAR": str(tmp_path)}
            command = [sys.executable, "-m", "tests.annotation.guests", name, str(number)]
            done = subprocess.run(
                command, env=env, cwd=settings.BASE_DIR, capture_output=True, text=True, timeout=900
            )
            assert done.returncode == 0, done.stderr[-3000:]
            found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
            assert found.pop("vendor") == request.param
            return found

        return played

    if request.param == "sqlite":
        yield play(f"sqlite:///{tmp_path / 'guests.sqlite3'}")
        return
    name = f"guests_{uuid4().hex[:12]}"
    with psycopg.connect(SERVER, autocommit=True) as server:
        server.execute(f'CREATE DATABASE "{name}"')
    try:
        yield play(f"{SERVER.rpartition('/')[0]}/{name}")
    finally:
        with psycopg.connect(SERVER, autocommit=True) as server:
            server.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def test_a_link_that_eight_open_at_once_makes_one_account(scene) -> None:
    assert scene("one_link", 8) == {
        "told": ["InvitationError"] * 7 + ["done"], "people": 1, "roles": 1, "used": 1,
    }  # fmt: skip


def test_a_name_that_is_chosen_eight_times_at_once_is_one_account_and_the_other_links_stay_good(
    scene,
) -> None:
    assert scene("one_name", 8) == {"told": ["PersonError"] * 7 + ["done"], "people": 1, "left": 7}


def test_a_link_that_people_with_accounts_accept_at_once_gives_one_role(scene) -> None:
    assert scene("signed_in", 8) == {"told": ["InvitationError"] * 7 + ["done"], "managers": 1}


def test_of_managers_who_all_leave_at_once_one_stays(scene) -> None:
    found = scene("last_managers", 6)
    assert found == {"told": ["PersonError"] + ["done"] * 5, "managers": 1}
