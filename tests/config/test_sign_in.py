"""Guesses at passwords: who is locked, who is slowed down, and who still gets in."""

from __future__ import annotations

import importlib

import pytest
from axes.models import AccessLog
from django.apps import apps
from django.contrib.auth.models import User
from django.test import Client, RequestFactory

from config import sign_in
from config.proxies import read_proxies
from config.sign_in import FEW, GUESSED, NAMES, TRIES, address_of
from tests.page import has

PASSWORD = "look around here"
HOME, ATTACKER = "198.51.100.1", "203.0.113.9"

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def people(settings) -> None:
    settings.TRUSTED_PROXIES = read_proxies("10.0.0.1")
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    for name in ("ann", "ben"):
        User.objects.create_user(name, password=PASSWORD)


def sign_in_from(address: str, name: str, password: str = "wrong", path: str = "/login"):
    client = Client(REMOTE_ADDR="10.0.0.1", headers={"X-Forwarded-For": f"1.1.1.1, {address}"})
    return client.post(path, {"username": name, "password": password})


def statuses(address: str, name: str, tries: int) -> list[int]:
    return [sign_in_from(address, name).status_code for _ in range(tries)]


def test_wrong_passwords_lock_the_name_for_the_address_they_came_from_only() -> None:
    assert statuses(ATTACKER, "ann", TRIES) == [200] * (TRIES - 1) + [429]
    locked = sign_in_from(ATTACKER, "ann", PASSWORD)
    assert (locked.status_code, has(locked, "locked")) == (429, True)
    assert sign_in_from(ATTACKER, "ben", PASSWORD).status_code == 302
    assert sign_in_from(HOME, "ann", PASSWORD).status_code == 302


def test_a_made_up_header_gives_no_new_tries() -> None:
    answers = [
        Client(REMOTE_ADDR=ATTACKER, headers={"X-Forwarded-For": f"9.9.9.{i}"}).post(
            "/login", {"username": "ann", "password": "wrong"}
        )
        for i in range(TRIES)
    ]
    assert answers[-1].status_code == 429


def guess_from_many(name: str) -> None:
    for i in range(GUESSED):
        assert sign_in_from(f"203.0.113.{i}", name).status_code == 200


def test_guesses_at_a_name_from_many_addresses_are_slowed_and_its_person_gets_in() -> None:
    guess_from_many("ann")
    assert statuses("203.0.113.200", "ann", FEW) == [200] * (FEW - 1) + [429]
    assert statuses("203.0.113.200", "ben", FEW) == [200] * FEW  # nobody guesses at this name
    assert sign_in_from(HOME, "ann", PASSWORD).status_code == 302


def test_a_person_keeps_all_tries_where_they_signed_in_before() -> None:
    assert sign_in_from(HOME, "ann", PASSWORD).status_code == 302
    guess_from_many("ann")
    assert statuses(HOME, "ann", FEW) == [200] * FEW


def test_an_address_that_tries_many_names_is_refused_but_for_people_who_sign_in_there() -> None:
    assert sign_in_from(ATTACKER, "ben", PASSWORD).status_code == 302
    tried = [sign_in_from(ATTACKER, f"name{i}").status_code for i in range(NAMES)]
    assert tried == [200] * (NAMES - 1) + [429]
    assert sign_in_from(ATTACKER, "ann", PASSWORD).status_code == 429
    assert sign_in_from(ATTACKER, "ben", PASSWORD).status_code == 302
    assert sign_in_from(ATTACKER, "another").status_code == 429  # an own account gives no new tries
    assert sign_in_from(HOME, "ann", PASSWORD).status_code == 302


def test_a_lock_ends_after_its_time_although_tries_go_on() -> None:
    statuses(ATTACKER, "ann", TRIES)
    before = sign_in.AccessAttempt.objects.values_list("attempt_time", "failures_since_start").get()
    assert sign_in_from(ATTACKER, "ann").status_code == 429
    assert sign_in.AccessAttempt.objects.values_list("attempt_time", "failures_since_start").get() == before


@pytest.mark.parametrize("name", ["n" * 256, "an\0n", "ﷺ" * 10, ""])
@pytest.mark.parametrize("path", ["/login", "/admin/login/"])
def test_a_name_that_cannot_be_one_is_refused_and_not_counted(name: str, path: str) -> None:
    answer = sign_in_from(HOME, name, path=path)
    assert (answer.status_code, bool(answer.context["form"].errors["username"])) == (200, True)
    assert path != "/login" or has(answer, "wrong")
    assert not sign_in.AccessAttempt.objects.exists()


def test_wrong_passwords_of_one_ipv6_network_are_counted_together() -> None:
    def of(address: str) -> str | None:
        return address_of(RequestFactory().get("/", REMOTE_ADDR=address))

    assert of("2001:db8:1:2:3::4") == of("2001:db8:1:2::5") == "2001:db8:1:2::"
    assert (of("2001:db8:1:3::4"), of("203.0.113.9"), of("")) == ("2001:db8:1:3::", "203.0.113.9", None)


def test_the_log_of_sign_ins_has_the_address_of_the_person() -> None:
    sign_in_from(HOME, "ann", PASSWORD)
    assert list(AccessLog.objects.values_list("username", "ip_address")) == [("ann", HOME)]


def test_nothing_of_a_form_is_kept_beside_a_wrong_password() -> None:
    """A refused password change has the new password in fields that axes does not know."""
    client = Client()
    client.force_login(User.objects.get(username="ann"), backend="config.sign_in.Accounts")
    new = {"old_password": "secret-1", "new_password1": "secret-2 is long", "new_password2": "secret-2 is long"}
    for path, typed in (("/account/password", new), ("/account", {"email": "secret-3@x.org", "password": "secret-4"})):
        client.post(path, typed)
    Client().post("/login?next=/secret-5", {"username": "ann", "password": "secret-6"})
    (kept,) = sign_in.AccessAttempt.objects.values()
    assert (kept["username"], kept["failures_since_start"]) == ("ann", 3)
    assert (kept["get_data"], kept["post_data"]) == ("", "") and "secret" not in str(kept)


def test_an_update_forgets_what_was_kept_before() -> None:
    kept = sign_in.AccessAttempt.objects.create(username="ann", ip_address=HOME, failures_since_start=2)
    sign_in.AccessAttempt.objects.update(post_data="new_password1=secret", get_data="next=/x")
    importlib.import_module("core.migrations.0007_no_forms_of_wrong_passwords").forget(apps, None)
    kept.refresh_from_db()
    assert (kept.get_data, kept.post_data, kept.failures_since_start) == ("", "", 2)


def test_signing_in_never_leads_back_to_the_page_to_sign_in() -> None:
    client = Client()
    assert client.post("/login?next=/login", {"username": "ann", "password": PASSWORD})["Location"] == "/"
    assert (client.get("/login?next=/login").status_code, client.get("/login?next=/login")["Location"]) == (302, "/")
    assert client.get("/login?next=/account")["Location"] == "/account"


def test_the_admin_has_no_password_page_of_its_own() -> None:
    client = Client()
    client.force_login(User.objects.create_superuser("root"))
    assert client.get("/admin/password_change/")["Location"] == "/account/password"
