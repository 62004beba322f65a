"""Invitations and roles at the same moment, in threads on a real database: one account, one manager left."""

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

from annotation.webhooks.upkeep import MOST
from tests.postgres import own_database

SCENES = ("one_link:8", "one_name:8", "signed_in:8", "last_managers:6", "removed_webhook:5", "many_webhooks:8")
Played = dict[str, dict[str, Any]]


def play(url: str, var: Path) -> Played:
    """Run guests.py on a database of its own: one program, since starting it is the slow part."""
    env = os.environ | {"DATABASE_URL": url, "TRIPLEPOOL_VAR": str(var)}
    command = [sys.executable, "-m", "tests.annotation.guests", *SCENES]
    done = subprocess.run(command, env=env, cwd=settings.BASE_DIR, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr[-3000:]
    found: Played = json.loads(done.stdout.splitlines()[-1])
    assert url.startswith(str(found.pop("vendor")))
    return found


@pytest.fixture(scope="module", params=[pytest.param("postgresql", marks=pytest.mark.postgres), "sqlite"])
def played(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, migrated: Path
) -> Iterator[Played]:
    var = tmp_path_factory.mktemp("guests")
    if request.param == "sqlite":
        shutil.copy(migrated, f"{var}/guests.sqlite3")
        yield play(f"sqlite:///{var / 'guests.sqlite3'}", var)
        return
    like = request.getfixturevalue("migrated_postgres")
    with own_database("guests", like=like, durable=False) as url:
        yield play(url, var)


def test_a_link_that_eight_open_at_once_makes_one_account(played) -> None:
    assert played["one_link"] == {"told": ["InvitationError"] * 7 + ["done"], "people": 1, "roles": 1, "used": 1}


def test_a_name_that_is_chosen_eight_times_at_once_is_one_account_and_the_other_links_stay_good(played) -> None:
    assert played["one_name"] == {"told": ["PersonError"] * 7 + ["done"], "people": 1, "left": 7}


def test_a_link_that_people_with_accounts_accept_at_once_gives_one_role(played) -> None:
    assert played["signed_in"] == {"told": ["InvitationError"] * 7 + ["done"], "managers": 1}


def test_of_managers_who_all_leave_at_once_one_stays(played) -> None:
    assert played["last_managers"] == {"told": ["PersonError"] + ["done"] * 5, "managers": 1}


def test_a_webhook_that_is_removed_while_events_are_told_stops_no_event_and_is_removed_once(played) -> None:
    assert played["removed_webhook"] == {"told": ["GoneError"] + ["done"] * 6, "removed": 1, "left": 0}


def test_webhooks_that_are_added_at_once_are_no_more_than_a_site_may_have(played) -> None:
    assert played["many_webhooks"] == {"told": ["WebhookError"] * 7 + ["done"], "webhooks": MOST}
