"""Forgotten passwords: who gets a mail, how often, and in which language."""

from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import User
from django.core import mail

from annotation.models import PasswordRequest
from annotation.people import forgotten
from annotation.people.forgotten import HOUR, KEPT, PER_PERSON, answer_next, ask, folded
from annotation.people.own_data import erase
from core.jobs.registry import BEATS
from core.later import Later
from core.people.languages import choose_language

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def ann(settings) -> User:
    settings.EMAIL_IS_SET, settings.SITE_URL = True, "https://labels.example.org"
    return User.objects.create_user("ann", "Ann@example.org", "a long pass phrase")


def test_workers_answer() -> None:
    assert Later("annotation.people.forgotten.answer_next") in BEATS


def test_one_mail_a_call_the_oldest_request_first(ann) -> None:
    ben = User.objects.create_user("ben", "ben@example.org", "a long pass phrase")
    for i, email in enumerate(("nobody@example.org", "ben@example.org", "ann@example.org")):
        ask(email, "198.51.100.1", now=NOW + timedelta(seconds=i))
    assert [answer_next(NOW + HOUR) for _ in range(3)] == [True, True, False]
    assert [message.to for message in mail.outbox] == [[ben.email], [ann.email]]


def test_all_accounts_of_an_address_get_a_link_each() -> None:
    User.objects.create_user("ann2", "ann@EXAMPLE.org", "a long pass phrase")
    ask("ann@example.org", None, now=NOW)
    assert answer_next(NOW)
    assert [("name ann " in one.body, "name ann2 " in one.body) for one in mail.outbox] == [
        (True, False),
        (False, True),
    ]


def test_a_person_gets_few_mails_an_hour_however_the_address_is_written_and_wherever() -> None:
    for i, email in enumerate(
        ("ann@example.org", "ANN@example.org", "ann@eXample.org", "ａnn@example.org", "Ann@example.org")
    ):
        ask(email, f"198.51.100.{i}", now=NOW)
        answer_next(NOW)
    assert len(mail.outbox) == PER_PERSON
    ask("ann@example.org", None, now=NOW + HOUR)
    assert answer_next(NOW + HOUR)


def test_no_mail_to_who_cannot_sign_in_and_none_without_a_server(settings) -> None:
    User.objects.update(is_active=False)
    ask("ann@example.org", None, now=NOW)
    assert not answer_next(NOW)
    User.objects.update(is_active=True)
    ask("ann@example.org", None, now=NOW)
    settings.EMAIL_IS_SET = False
    assert not answer_next(NOW) and mail.outbox == []
    assert PasswordRequest.objects.filter(handled_at=None).count() == 1


def test_a_mail_server_that_fails_is_not_asked_again(monkeypatch) -> None:
    monkeypatch.setattr(forgotten, "send", lambda *_: False)
    ask("ann@example.org", None, now=NOW)
    assert [answer_next(NOW), answer_next(NOW)] == [False, False]
    assert not PasswordRequest.objects.filter(handled_at=None).exists()


def test_a_mail_that_fails_is_the_last_for_its_address(monkeypatch) -> None:
    User.objects.create_user("ann2", "ann@example.org", "a long pass phrase")
    tried: list[str] = []
    monkeypatch.setattr(forgotten, "send", lambda to, *_: bool(tried.append(to)))
    ask("ann@example.org", None, now=NOW)
    assert not answer_next(NOW) and len(tried) == 1


def test_mail_is_in_the_language_of_the_person(ann) -> None:
    choose_language(ann, "de")
    ask("ann@example.org", None, now=NOW)
    assert answer_next(NOW)
    assert "einmal" in mail.outbox[0].body and "works once" not in mail.outbox[0].body


def test_requests_are_deleted_after_a_day_and_with_the_person(ann) -> None:
    ask("nobody@example.org", None, now=NOW)
    assert not answer_next(NOW + KEPT) and PasswordRequest.objects.count() == 1
    assert not answer_next(NOW + KEPT + HOUR) and not PasswordRequest.objects.exists()
    ask("ann@example.org", None, now=NOW)
    ask("nobody@example.org", None, now=NOW)
    erase(ann)
    assert PasswordRequest.objects.get().email == "nobody@example.org"


def test_addresses_that_a_database_takes_for_the_same_are_counted_together() -> None:
    assert folded("ａnn.ſmith@EXAMPLE.org") == folded("Ann.Smith@example.org") == "ann.smith@example.org"
