"""Threads on a real database: two labels by two people an item, one third slot a conflict, none lost."""

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
Scene = Callable[..., dict[str, Any]]


def play(url: str, var: Path, scene: str, *numbers: int) -> dict[str, Any]:
    """Run a scene of crowd.py on a database of its own."""
    env = {
        **os.environ,
        "DATABASE_URL": url,
        "TRIPLEPOOL_VAR": str(var),
        "ARTIFACT_ROOT": str(var / "artifacts"),
    }
    command = [sys.executable, "-m", "tests.annotation.crowd", scene, *map(str, numbers)]
    done = subprocess.run(
        command, env=env, cwd=settings.BASE_DIR, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.fixture(params=[pytest.param("postgresql", marks=pytest.mark.postgres), "sqlite"])
def scene(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Scene]:
    def run(url: str) -> Scene:
        def played(name: str, *numbers: int) -> dict[str, Any]:
            found = play(url, tmp_path, name, *numbers)
            assert found.pop("vendor") == request.param
            return found

        return played

    if request.param == "sqlite":
        yield run(f"sqlite:///{tmp_path / 'crowd.sqlite3'}")
        return
    name = f"crowd_{uuid4().hex[:12]}"
    with psycopg.connect(SERVER, autocommit=True) as server:
        server.execute(f'CREATE DATABASE "{name}"')
    try:
        yield run(f"{SERVER.rpartition('/')[0]}/{name}")
    finally:
        with psycopg.connect(SERVER, autocommit=True) as server:
            server.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def test_eight_people_label_sixty_items_with_repeats_and_deaths(scene) -> None:
    assert scene("crowd", 8, 60) == {
        "given": 120, "labels": 120, "surplus": 0, "labels_per_item": {"2": 60}, "wrong": {},
    }  # fmt: skip


def test_two_answers_at_the_same_moment_see_each_other(scene) -> None:
    assert scene("same_moment", 30) == {"labels": 60, "surplus": 0, "labels_per_item": {"2": 30}, "wrong": {}}


def test_one_person_in_several_tabs_holds_no_item_twice_and_answers_once(scene) -> None:
    assert scene("two_tabs", 6, 24) == {
        "doubled": 0, "different": 1, "answers": 6, "labels": 1, "surplus": 0,
        "labels_per_item": {"0": 23, "1": 1}, "wrong": {},
    }  # fmt: skip


def test_adjudicators_at_once_decide_every_dispute_once(scene) -> None:
    assert scene("adjudicators", 4, 24) == {
        "decided": 24, "labels": 72, "surplus": 0, "labels_per_item": {"2": 24}, "wrong": {},
    }  # fmt: skip
