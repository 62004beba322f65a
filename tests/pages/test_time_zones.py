"""Pages show times in the zone of the person; files, calls and statistics by day stay in UTC."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.db import connection
from django.template import Context, Template
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation.people.invitations import invite, send
from annotation.people.own_data import erase, own_data
from config.time_zones import TellTime
from core.models import Job, Preferences
from core.people.languages import choose_language
from core.people.time_zones import choose_zone, chosen_zone, zone_of
from core.zones import city, short_name, zone, zones
from tests.page import read
from tests.pages.test_access import url_of

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).resolve().parents[2]
NOON = datetime(2026, 1, 15, 12, 0, tzinfo=UTC)


def text(response) -> str:
    return re.sub(r"\s+", " ", response.content.decode())


@pytest.fixture
def job(world: dict) -> Job:
    found = world["job"]
    Job.objects.filter(pk=found.pk).update(created_at=NOON)
    return found


@pytest.mark.parametrize(
    ("name", "moment", "shown"),
    [
        ("Asia/Kolkata", NOON, "15 Jan 2026, 17:30 IST"),
        ("Asia/Kathmandu", NOON, "15 Jan 2026, 17:45 UTC+05:45"),
        ("America/St_Johns", NOON, "15 Jan 2026, 08:30 NST"),
        ("Pacific/Auckland", NOON, "16 Jan 2026, 01:00 NZDT"),
        # Berlin, the last minute of winter and the first of summer; then the hour that is there twice
        ("Europe/Berlin", datetime(2026, 3, 29, 0, 59, tzinfo=UTC), "29 Mar 2026, 01:59 CET"),
        ("Europe/Berlin", datetime(2026, 3, 29, 1, 0, tzinfo=UTC), "29 Mar 2026, 03:00 CEST"),
        ("Europe/Berlin", datetime(2026, 10, 25, 0, 30, tzinfo=UTC), "25 Oct 2026, 02:30 CEST"),
        ("Europe/Berlin", datetime(2026, 10, 25, 1, 30, tzinfo=UTC), "25 Oct 2026, 02:30 CET"),
    ],
)
def test_a_page_shows_the_persons_time(world: dict, sign_in, job, name: str, moment: datetime, shown: str):
    Job.objects.filter(pk=job.pk).update(created_at=moment)
    choose_zone(world["manager"], name)
    assert f"Queued {shown}" in text(sign_in("manager").get(url_of("job", world)))


def test_without_a_choice_it_is_the_sites(world: dict, sign_in, job, settings):
    client = sign_in("researcher")
    assert "Queued 15 Jan 2026, 12:00 UTC" in text(client.get(url_of("job", world)))
    settings.SITE_TIME_ZONE = "Europe/Berlin"
    assert "Queued 15 Jan 2026, 13:00 CET" in text(client.get(url_of("job", world)))
    rows = client.get(reverse("jobs") + "?part=rows")  # a partial too
    assert "Queued (Europe/Berlin)" in text(rows) and "15 Jan, 13:00" in text(rows)
    assert timezone.get_current_timezone_name() == "UTC"  # nothing is left to the next request


def test_a_person_chooses_in_the_account_and_can_go_back_to_the_sites(world: dict, sign_in):
    client = sign_in("annotator")
    address = reverse("account-time-zone")
    choose_language(world["annotator"], "de")
    assert client.post(address, {"time_zone": "Asia/Kolkata"}).status_code == 302
    page = client.get(reverse("account"))
    form = read(page).one("time-zone")
    chosen = [one["value"] for one in form.all(tag="option") if "selected" in one]
    assert chosen == ["Asia/Kolkata"] and "Zeitzone ist gespeichert" in text(page) and "Asien" in text(page)
    assert "Asia/Kolkata; dort ist es" in text(page) and re.search(r"\d\d:\d\d IST", text(page))
    row = Preferences.objects.get(person=world["annotator"])
    assert (row.language, row.time_zone) == ("de", "Asia/Kolkata")  # a choice leaves the others
    assert client.post(address, {"time_zone": ""}).status_code == 302
    row.refresh_from_db()
    assert (row.language, row.time_zone) == ("de", "")
    for wrong in ({"time_zone": "Europe/Nowhere"}, {"time_zone": "../etc/passwd"}, {"time_zone": "a\0b"}, {}):
        assert client.post(address, wrong).status_code == 404


@pytest.mark.parametrize(("role", "page"), [("annotator", "account"), ("manager", "account"), ("manager", "jobs")])
def test_choices_and_roles_are_read_by_one_query_a_request(world: dict, sign_in, role: str, page: str):
    choose_zone(world[role], "Asia/Kolkata")
    client = sign_in(role)
    with CaptureQueriesContext(connection) as seen:
        client.get(reverse(page))
    read = [query["sql"] for query in seen.captured_queries if "core_preferences" in query["sql"]]
    assert len(read) == 1 and "auth_group" in read[0]
    assert sum("auth_user_groups" in query["sql"] for query in seen.captured_queries) == 1


def test_a_zone_that_this_machine_does_not_know_is_the_sites(world: dict, settings):
    Preferences.objects.create(person=world["annotator"], time_zone="Mars/Olympus")
    settings.SITE_TIME_ZONE = "Europe/Berlin"
    assert (chosen_zone(world["annotator"]), zone_of(world["annotator"])) == ("", "Europe/Berlin")
    assert [zone(name) for name in ("Mars/Olympus", "../Berlin", "/etc/passwd", "a\0b")] == [UTC] * 4


def test_own_data_have_it_and_erasure_takes_it(world: dict):
    person = world["annotator"]
    choose_zone(person, "Asia/Kolkata")
    assert own_data(person)["account"]["time_zone"] == "Asia/Kolkata"
    erase(person, by=person)
    assert not Preferences.objects.filter(person=person).exists()


def test_files_and_calls_stay_in_utc(world: dict, sign_in):
    world["manager"].date_joined = NOON
    world["manager"].save()
    choose_zone(world["manager"], "Asia/Kolkata")
    client = sign_in("manager")
    data = json.loads(client.get(reverse("account-data")).content)
    assert data["account"]["joined"] == "2026-01-15T12:00:00Z"
    seen = []

    def look(request):
        seen.append(timezone.get_current_timezone_name())

    for path in ("/api/jobs", "/jobs"):
        request = type("Request", (), {"path_info": path, "user": world["manager"]})()
        TellTime(look)(request)
    assert seen == ["UTC", "Asia/Kolkata"]


def test_a_mail_says_utc_whoever_sends_it(world: dict, mailoutbox, settings):
    settings.EMAIL_IS_SET = True
    found, _ = invite("annotator", world["campaign"], by=world["manager"])
    found.expires_at = NOON
    with timezone.override(zone("Asia/Kolkata")):
        assert send("nora@example.org", "annotation/people/invitation_mail.txt", {"invitation": found, "url": "x"})
    assert "until 15 Jan 2026, 12:00 UTC" in mailoutbox[0].body


def test_no_template_writes_the_zone_by_hand():
    for path in (ROOT / "templates").rglob("*.html"):
        page = path.read_text(encoding="utf-8")
        assert not re.search(r"\|date:\"[^\"]*\" ?\}\}\s*UTC", page), f"{path.name}: use |moment"


def test_moment_writes_nothing_for_no_time():
    assert Template("{{ at|moment }}{{ at|moment:'H:i' }}").render(Context({"at": None})) == ""
    with timezone.override(zone("Asia/Kolkata")):
        assert (
            Template("{{ at|moment:'H:i' }} {% zone_name %}").render(Context({"at": NOON})) == "17:30 IST Asia/Kolkata"
        )


def test_zones_are_by_region_and_typed_by_their_city():
    every = zones()
    assert "Europe/Berlin" in every["Europe"] and "Etc" not in every
    assert city("America/Argentina/Buenos_Aires") == "Buenos Aires (Argentina)"
    assert [city(name) for name in every["America"]] == sorted(city(name) for name in every["America"])
    assert short_name(NOON.astimezone(zone("Asia/Kathmandu"))) == "UTC+05:45"


@pytest.mark.parametrize(
    ("given", "told"), [(" Europe/Berlin ", "Europe/Berlin UTC"), ("", "UTC UTC"), ("CET+1", "TIME_ZONE is 'CET+1'")]
)
def test_setting_is_checked_at_start(tmp_path: Path, given: str, told: str):
    code = "from config import settings; print(settings.SITE_TIME_ZONE, settings.TIME_ZONE)"
    env = os.environ | {"TIME_ZONE": given, "TRIPLEPOOL_VAR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert told in done.stdout + done.stderr
    assert (done.returncode == 0) == (given != "CET+1")
