"""The page Notices, and the bell that leads there."""

from datetime import timedelta

from django.utils import timezone

from annotation.campaigns.notices import unseen
from annotation.models import Flag, NoticeSettings
from annotation.views.notices import DIGEST_OFF, DIGEST_ON
from tests.annotation.factories import report_of
from tests.page import read

URL = "/notices"


def test_to_look_at_notices_is_to_have_seen_them(world, manager) -> None:
    report_of(world, world.ann, "name", "who?")
    Flag.objects.update(created_at=timezone.now() - timedelta(hours=1))
    assert unseen(world.manager) == 1
    (notice,) = read(manager.get(URL)).all("notice")
    assert (
        notice.has("new") and notice["data-kind"] == "reports" and notice.has(tag="a", href="/pools/p1/campaign/inbox")
    )
    assert unseen(world.manager) == 0
    (notice,) = read(manager.get(URL)).all("notice")
    assert not notice.has("new")


def test_page_without_notices_says_so(world, manager) -> None:
    assert read(manager.get(URL)).has("empty")


def test_digest_is_switched_off_and_on(world, manager, settings) -> None:
    assert read(manager.get(URL)).has("no-mail")
    settings.EMAIL_IS_SET = True
    assert read(manager.get(URL)).has("no-address")
    world.manager.email = "boss@example.org"
    world.manager.save()
    for value, said in (("off", DIGEST_OFF), ("on", DIGEST_ON)):
        assert read(manager.get(URL)).one(tag="button", name="digest")["value"] == value
        assert manager.post(URL, {"digest": value})["Location"] == URL
        assert NoticeSettings.objects.get(person=world.manager).digest is (value == "on")
        assert read(manager.get(URL)).messages == [said]


def test_bell_is_for_managers(world, manager, as_user) -> None:
    assert read(manager.get("/pools")).has(tag="a", class_="bell")
    assert not read(as_user(world.researcher).get("/pools")).has(tag="a", class_="bell")
    assert as_user(world.ann).get(URL).status_code == 403
