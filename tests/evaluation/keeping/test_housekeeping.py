"""What has had its time goes, and nothing else; without --yes, nothing does."""

from __future__ import annotations

import io
import os
from datetime import timedelta

import pytest
from axes.models import AccessAttempt, AccessLog
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.core.management import call_command

from annotation.models import Invitation
from annotation.people.invitations import find_invitation, invite, refusal
from core import clock
from core.files import bucket
from core.files.artifacts import artifact_path
from core.models import ApiToken, Worker
from core.people.tokens import create_token
from evaluation.keeping.housekeeping import tidy
from pooling.runs import parts
from tests import stores
from tests.factories import make_person

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
KINDS = [
    "expired sessions", "failed sign-ins that no longer count", "expired API tokens",
    "unused invitations that expired 30 days ago", "rows of workers that ended",
    "uploads of graphs that nobody imported", "uploads of runs that are over", "files or folders that no row names",
]  # fmt: skip


def place(name: str, age: timedelta) -> None:
    folder = artifact_path(name)
    folder.mkdir(parents=True)
    (folder / "x").write_bytes(b"?")
    when = (clock.now() - age).timestamp()
    for one in (folder / "x", folder):
        os.utime(one, (when, when))


def attempt(name: str, age: timedelta) -> None:
    made = AccessAttempt.objects.create(username=name, ip_address="10.0.0.1", failures_since_start=1)
    AccessAttempt.objects.filter(pk=made.pk).update(attempt_time=clock.now() - age)


def invitation(by: User, expired: timedelta, **changes: object) -> str:
    made, secret = invite("researcher", by=by)
    Invitation.objects.filter(pk=made.pk).update(expires_at=clock.now() - expired, **changes)
    return secret


@pytest.fixture
def boss(db: None) -> User:
    """Make one old and one new thing of each kind."""
    boss, now = make_person("boss", "manager"), clock.now()
    for name, age in (("old", HOUR), ("new", -HOUR)):
        Session.objects.create(session_key=name, session_data="", expire_date=now - age)
        create_token(boss, name, ["read"], 1)
    ApiToken.objects.filter(name="old").update(expiry=now - HOUR)
    attempt("old", timedelta(minutes=16))
    attempt("new", timedelta(minutes=14))
    AccessLog.objects.create(username="boss", ip_address="10.0.0.1")
    AccessLog.objects.update(attempt_time=now - 400 * DAY)  # it tells that the address is boss's
    invitation(boss, 31 * DAY)
    invitation(boss, 31 * DAY, uses=1)
    for name, age in (("old", 25), ("new", 23)):
        Worker.objects.create(name=name, queues="cpu", seen_at=now - timedelta(hours=age))
        place(f"uploads/{name}", timedelta(hours=age))
        place(f"run-uploads/{name}", timedelta(hours=age))
        place(f"runs/9-{name}", timedelta(hours=age))
    return boss


def left() -> list[set[str]]:
    rows = (Session, "session_key"), (AccessAttempt, "username"), (ApiToken, "name"), (Worker, "name")
    folders = ("uploads", "run-uploads", "runs")
    return [
        *({str(value) for value in model.objects.values_list(field, flat=True)} for model, field in rows),
        *({path.name for path in artifact_path(name).iterdir()} for name in folders),
    ]


def housekeeping(*words: str) -> list[str]:
    out = io.StringIO()
    call_command("housekeeping", *words, stdout=out)
    return out.getvalue().splitlines()


def test_a_dry_run_counts_and_changes_nothing(boss: User):
    before = left()
    counted = [f"{1:>12} {kind}" for kind in KINDS]
    assert housekeeping() == [*counted, "Nothing was deleted: --yes deletes it."]
    assert left() == before and Invitation.objects.count() == 2
    assert housekeeping("--yes") == [*counted, "Deleted."]
    assert left() == [{"new"}] * 6 + [{"9-new"}]
    assert [one.uses for one in Invitation.objects.all()] == [1] and AccessLog.objects.count() == 1
    assert housekeeping("--yes") == [*(f"{0:>12} {kind}" for kind in KINDS), "Deleted."]


def test_the_link_of_an_invitation_says_for_a_month_that_it_expired(boss: User):
    secret = invitation(boss, 29 * DAY)
    housekeeping("--yes")
    found = find_invitation(secret)
    assert found is not None and "has expired" in str(refusal(found))


def test_uploads_and_orphans_of_the_store_are_counted_and_go(boss: User, settings, tmp_path, monkeypatch):
    stores.use("file", settings, tmp_path, monkeypatch)
    for name in ("uploads/far", "run-uploads/far", "runs/8-far"):
        bucket.put(f"{name}/0123/x", b"?")
        bucket.put(f"{name}/manifest.json", b"{}")
    real, old = bucket.objects, clock.now() - 2 * DAY
    monkeypatch.setattr(bucket, "objects", lambda folder: (one._replace(changed_at=old) for one in real(folder)))
    later = clock.now() + parts.KEPT + HOUR
    before = stores.objects()
    found = dict(tidy(delete=False))
    assert (found["uploads of graphs that nobody imported"], found["objects of the store that no row names"]) == (2, 2)
    assert stores.objects() == before
    monkeypatch.setattr(parts.clock, "now", lambda: later)
    assert dict(tidy(delete=True))["uploads of graphs that nobody imported"] >= 2
    assert [one for one in stores.objects() if not one.startswith("run-uploads")] == []
