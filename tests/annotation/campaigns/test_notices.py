"""What managers are told by the bell and by mail, once."""

from datetime import datetime, timedelta

import pytest
from django.core import mail
from django.utils import timezone

from annotation.campaigns import notices as module
from annotation.campaigns.lifecycle import open_campaign
from annotation.campaigns.notices import Notice, notices, send_next_digest, settings_of, unseen
from annotation.campaigns.overview import overview
from annotation.campaigns.trend import is_stalled, trend
from annotation.models import Campaign, Flag, Label, NoticeSettings
from annotation.people.simulated import NAME
from core.enums import JobState
from core.jobs.registry import BEATS
from core.later import Later
from core.models import Job
from pooling.enums import PoolingJob
from tests.annotation.factories import label_and_release, make_pool, report_of

NOW = timezone.now()


def ago(**before: float) -> datetime:
    return NOW - timedelta(**before)


def told(world, since: datetime) -> list[tuple[str, str]]:
    return [(notice.kind, notice.path) for notice in notices(world.manager, since, NOW)]


def ended(world, state: JobState = JobState.DONE, *, hours: float = 1, by: str = "manager") -> Job:
    who = getattr(world, by)
    return Job.objects.create(kind=PoolingJob.SCORE, state=state, finished_at=ago(hours=hours), created_by=who)


@pytest.fixture
def reported(world) -> Flag:
    flag = report_of(world, world.ann, "name", "who?")
    Flag.objects.update(created_at=ago(hours=2))
    return flag


@pytest.fixture
def sends(settings, world) -> None:
    settings.EMAIL_IS_SET = True
    world.manager.email = "boss@example.org"
    world.manager.save()


def test_reports_without_answer_are_told_by_campaign(world, reported) -> None:
    report_of(world, world.ben)
    Flag.objects.update(created_at=ago(hours=2))
    (notice,) = notices(world.manager, ago(days=1), NOW)
    assert (
        notice == Notice(ago(hours=2), "reports", notice.text, "/pools/p1/campaign/inbox")
        and "2 reports" in notice.text
    )
    assert told(world, ago(hours=1)) == []
    Flag.objects.update(replied_at=NOW)
    assert told(world, ago(days=1)) == []


def test_own_reports_and_those_of_archived_pools_are_not_told(world, reported) -> None:
    Flag.objects.update(person=world.manager)
    assert told(world, ago(days=1)) == []
    Flag.objects.update(person=world.ann)
    assert len(told(world, ago(days=1))) == 1
    world.pool.archived = True
    world.pool.save()
    assert told(world, ago(days=1)) == []


def test_own_jobs_that_ended_are_told_newest_first(world) -> None:
    done, failed = ended(world, hours=3), ended(world, JobState.FAILED, hours=2)
    ended(world, JobState.CANCELLED)
    ended(world, by="researcher")
    Job.objects.create(kind=PoolingJob.SCORE, state=JobState.RUNNING, created_by=world.manager)
    assert told(world, ago(days=1)) == [("failed", f"/jobs/{failed.pk}"), ("job", f"/jobs/{done.pk}")]
    assert told(world, ago(hours=2.5)) == [("failed", f"/jobs/{failed.pk}")]


@pytest.mark.parametrize(
    ("days", "state", "stalls"), [(4, "open", True), (2, "open", False), (4, "paused", False), (10, "open", False)]
)
def test_campaign_is_told_when_it_begins_to_stall(world, days, state, stalls) -> None:
    label_and_release(world, world.campaign.items.first(), ann="Y")
    Label.objects.update(created_at=ago(days=days))
    Campaign.objects.update(state=state)
    assert told(world, ago(days=5)) == ([("stalled", "/pools/p1/campaign")] if stalls else [])


def test_labels_of_simulated_people_keep_no_campaign_going_in_notice_and_overview(world) -> None:
    first, second = world.campaign.items.all()[:2]
    label_and_release(world, first, ann="Y")
    Label.objects.update(created_at=ago(days=4))
    label_and_release(world, second, ben="Y")
    assert told(world, ago(days=5)) == []
    world.ben.username = f"{NAME}1"
    world.ben.set_unusable_password()
    world.ben.save()
    assert told(world, ago(days=5)) == [("stalled", "/pools/p1/campaign")]
    counts = overview(world.campaign)
    assert is_stalled(world.campaign, counts.left, trend(world.campaign, counts, NOW).last, NOW)


def test_bell_asks_a_constant_number_of_queries(world, reported, django_assert_max_num_queries) -> None:
    for name in ("p2", "p3", "p4"):
        label_and_release(world, open_campaign(make_pool(world.pool.graph, name)).items.first())
    Campaign.objects.update(created_at=ago(days=4))
    for _ in range(5):
        ended(world)
    with django_assert_max_num_queries(5):
        assert unseen(world.manager, NOW) == 10  # a report, five jobs, and four campaigns that nobody began


def test_finished_campaign_does_not_stall(world) -> None:
    Campaign.objects.update(created_at=ago(days=4))
    assert told(world, ago(days=5)) == [("stalled", "/pools/p1/campaign")]
    world.campaign.items.update(state="settled")
    assert told(world, ago(days=5)) == []


def test_bell_counts_since_the_person_looked(world, reported) -> None:
    ended(world, hours=5)
    assert unseen(world.manager, NOW) == 2
    NoticeSettings.objects.create(person=world.manager, seen_at=ago(hours=3))
    assert unseen(world.manager, NOW) == 1
    ended(world, hours=24 * 31)
    NoticeSettings.objects.update(seen_at=None)
    assert unseen(world.manager, NOW) == 2  # nothing is older than thirty days


# -- the digest ----------------------------------------------------------------------------------------------


def test_digest_is_sent_once_a_day_and_tells_each_notice_once(world, reported, sends, settings) -> None:
    settings.SITE_URL = "https://labels.example.org"
    assert send_next_digest(NOW) and not send_next_digest(NOW + timedelta(hours=23))
    (message,) = mail.outbox
    (notice,) = notices(world.manager, ago(days=1), NOW)
    assert message.to == ["boss@example.org"] and notice.text in message.body
    assert "://labels.example.org/pools/p1/campaign/inbox\n" in message.body
    assert not send_next_digest(NOW + timedelta(hours=25)) and len(mail.outbox) == 1  # told already
    Flag.objects.update(created_at=NOW + timedelta(hours=26))
    assert send_next_digest(NOW + timedelta(hours=50)) and len(mail.outbox) == 2


def test_no_digest_where_nothing_happened(world, sends) -> None:
    assert not send_next_digest(NOW) and mail.outbox == []


@pytest.mark.parametrize("why", ["switched off", "no address", "no mail", "no manager", "not active"])
def test_no_digest_to_who_wants_or_may_get_none(world, reported, sends, settings, why) -> None:
    if why == "switched off":
        NoticeSettings.objects.create(person=world.manager, digest=False)
    elif why == "no mail":
        settings.EMAIL_IS_SET = False
    elif why == "no manager":
        world.manager.groups.clear()
    else:
        world.manager.email = "" if why == "no address" else world.manager.email
        world.manager.is_active = why != "not active"
        world.manager.save()
    assert not send_next_digest(NOW) and mail.outbox == []


def test_mail_server_that_fails_is_asked_again_a_day_later_about_both_days(world, reported, sends, monkeypatch) -> None:
    monkeypatch.setattr(module, "send", lambda *_: False)
    assert not send_next_digest(NOW)
    own = settings_of(world.manager)
    assert (own.digest_at, own.told_until) == (NOW, NOW - timedelta(days=1))
    monkeypatch.undo()
    Flag.objects.update(created_at=NOW - timedelta(hours=2))
    assert not send_next_digest(NOW + timedelta(hours=1))
    ended(world, hours=-20)
    assert send_next_digest(NOW + timedelta(days=1))
    assert "Done: score run." in mail.outbox[0].body and "1 report" in mail.outbox[0].body


def test_of_two_workers_at_once_one_sends(world, reported, sends, monkeypatch) -> None:
    def first_is_faster(person):
        own = settings_of(person)
        NoticeSettings.objects.filter(pk=own.pk).update(digest_at=NOW)
        return own

    monkeypatch.setattr(module, "settings_of", first_is_faster)
    assert not send_next_digest(NOW) and mail.outbox == []


def test_workers_send_digests() -> None:
    assert Later("annotation.campaigns.notices.send_next_digest") in BEATS
