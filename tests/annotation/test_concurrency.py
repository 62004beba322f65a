"""Threads and processes on a real database: two labels by two people an item, one third slot a conflict, none lost."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from annotation.labelling.queue import MAX_LEASED
from annotation.people.forgotten import PER_ADDRESS
from tests.postgres import own_database

COMMON = (
    "batches:8:120:1", "taking_back:8:36", "busy_tabs:10:24", "two_tabs:6:24", "same_moment:30",
    "adjudicators:8:40", "greedy:6:200", "gold_in_tabs:40", "withdrawn_twice:4:24", "erased:6", "checks_twice:12",
    "lookalikes", "many_ask:24",
)  # fmt: skip
PROGRAM = "import tests.annotation.crowd, tests.annotation.scenes as scenes; scenes.main()"  # crowd sets Django up
Played = dict[str, dict[str, Any]]


def play(url: str, var: Path, *scenes: str) -> Played:
    """Run scenes.py on a database of their own: one program, since starting it is the slow part."""
    env = os.environ | {"DATABASE_URL": url, "TRIPLEPOOL_VAR": str(var), "ARTIFACT_ROOT": str(var / "artifacts")}
    command = [sys.executable, "-c", PROGRAM, *scenes]
    done = subprocess.run(command, env=env, cwd=settings.BASE_DIR, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert url.startswith(found.pop("vendor"))
    return {scene.partition(":")[0]: result for scene, result in found.items()}


def all_labelled(items: int) -> dict[str, Any]:
    return {
        "died": True,
        "conflicts": True,
        "undecided": 0,
        "labels": 2 * items,
        "items left": 0,
        "live": 2 * items,
        "surplus": 0,
        "wrong": {},
    }


@pytest.fixture(scope="module", params=[pytest.param("postgresql", marks=pytest.mark.postgres), "sqlite"])
def played(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, migrated: Path
) -> Iterator[Played]:
    var = tmp_path_factory.mktemp("crowd")
    if request.param == "sqlite":
        shutil.copy(migrated, f"{var}/crowd.sqlite3")
        yield play(f"sqlite:///{var / 'crowd.sqlite3'}", var, "processes:4:48", *COMMON)
        return
    like = request.getfixturevalue("migrated_postgres")
    with own_database("crowd", like=like, durable=False) as url:
        yield play(url, var, "crowd:16:60", *COMMON)


def test_crowd_with_repeats_and_deaths_leaves_two_labels_an_item_and_a_third_a_conflict(played) -> None:
    """16 threads and 60 items on PostgreSQL; 4 processes and 48 items on SQLite."""
    found, items = (played["crowd"], 60) if "crowd" in played else (played["processes"], 48)
    assert found == all_labelled(items)


@pytest.mark.slow
@pytest.mark.postgres
def test_crowd_of_500_items_leaves_the_same(tmp_path: Path, migrated_postgres: str) -> None:
    with own_database("crowd", like=migrated_postgres, durable=False) as url:
        assert play(url, tmp_path, "crowd:32:500") == {"crowd": all_labelled(500)}


def test_crowd_that_releases_batches_itself_makes_every_triple_an_item_once(played) -> None:
    """120 triples in ten questions of twelve, one question a batch: nobody releases two where one was wanted."""
    assert played["batches"] == {
        "died": True,
        "conflicts": True,
        "undecided": 0,
        "labels": 240,
        "items left": 0,
        "live": 240,
        "surplus": 0,
        "wrong": {},
        "every triple once": True,
        "places once": True,
        "batches": 10,
        "numbered": True,
    }


def test_labels_taken_back_while_people_label_break_nothing(played) -> None:
    found = played["taking_back"]
    found.pop("surplus", None)  # answers to questions that were given back under somebody's hands
    assert found == {
        "something was taken back": True,
        "items left": 0,
        "of who was withdrawn": 0,
        "live": 72,
        "wrong": {},
    }


def test_tabs_that_load_renew_answer_and_leave_at_once_lose_no_answer(played) -> None:
    found = played["busy_tabs"]
    assert found.pop("live", 0) + found.pop("surplus", 0) > 0
    assert found == {"wrong": {}}


def test_one_person_in_several_tabs_holds_no_item_twice_and_answers_once(played) -> None:
    assert played["two_tabs"] == {"reports": 1, "different": 1, "answers": 6, "live": 1, "surplus": 0, "wrong": {}}


def test_one_person_in_several_tabs_holds_no_more_than_anybody(played) -> None:
    assert played["greedy"] == {"held": MAX_LEASED}


def test_gold_shows_in_no_tab_without_items_of_its_question(played) -> None:
    assert played["gold_in_tabs"] == {"not shown": 0, "looked": True, "alone": 0}


def test_labels_withdrawn_twice_at_once_are_told_once(played) -> None:
    assert played["withdrawn_twice"] == {"told": [0, 0, 0, 24], "live": 0, "surplus": 0, "wrong": {}}


def test_a_person_who_leaves_while_their_answer_is_written_keeps_it_and_leaves(played) -> None:
    assert played["erased"] == {"held": 0, "erased": True, "live": 1, "surplus": 0, "wrong": {}}


def test_gold_items_and_rechecks_that_two_managers_draw_at_once_follow_each_other(played) -> None:
    assert played["checks_twice"] == {"gold": [3, 0], "again": [4, 4], "checks": 8, "golds": 3}


def test_of_names_that_look_alike_and_are_made_at_once_the_second_is_refused(played) -> None:
    assert played["lookalikes"] == {"made": ["Anna"], "refused": 1}


def test_of_many_who_ask_for_a_password_link_at_once_from_one_address_a_few_are_taken(played) -> None:
    assert played["many_ask"] == {"taken": PER_ADDRESS}


def test_two_answers_at_the_same_moment_see_each_other(played) -> None:
    assert played["same_moment"] == {"states": {"disputed": 15, "settled": 15}, "live": 60, "surplus": 0, "wrong": {}}


def test_adjudicators_at_once_decide_every_dispute_once(played) -> None:
    assert played["adjudicators"] == {"decided": 40, "sent away": 0, "live": 80, "surplus": 0, "wrong": {}}
