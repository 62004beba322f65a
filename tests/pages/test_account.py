"""One's own account, a forgotten password, and what a person takes away or erases."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.people.accounts import add_person, password_path
from annotation.people.forgotten import PER_ADDRESS, TOO_MANY, answer_next
from annotation.people.own_data import preview_erasure
from annotation.views.account import NewPassword, PasswordChange
from annotation.views.people import LAST_MANAGER
from config.sign_in import ADD_MANAGER, TRIES
from core.people.tokens import create_token
from tests.page import content, element, has, parse, read, refused

PHRASE = "quite another phrase"


@pytest.fixture
def annotator(sign_in):
    return sign_in("annotator")


def test_name_leads_to_the_account(annotator):
    assert parse(annotator.get("/")).one(tag="a", href="/account", class_="person").text == "annotator"


def test_own_e_mail_is_saved(world: dict, annotator):
    mine = {"password": "look around here"}
    assert annotator.post("/account", mine | {"email": "a@example.org"})["Location"] == "/account"
    assert User.objects.get(username="annotator").email == "a@example.org"
    assert User.objects.get(username="adjudicator").email == ""
    annotator.post("/account", mine | {"email": ""})
    assert User.objects.get(username="annotator").email == ""


@pytest.mark.parametrize("password", ["", "wrong"])
def test_e_mail_changes_by_the_password_only(world: dict, annotator, password: str):
    asked = {"email": "thief@example.org", "password": password}
    assert refused(annotator.post("/account", asked)) == {"password": ["password_incorrect"]}
    assert User.objects.get(username="annotator").email == ""


def test_an_e_mail_that_stays_needs_no_password(world: dict, annotator):
    assert annotator.post("/account", {"email": ""})["Location"] == "/account"


GUESSES = {
    "/account": {"email": "thief@example.org", "password": "wrong"},
    "/account/password": {"old_password": "wrong", "new_password1": PHRASE, "new_password2": PHRASE},
    "/account/erase": {"typed": "annotator", "password": "wrong"},
}


@pytest.mark.parametrize("page", GUESSES)
def test_guesses_with_a_stolen_session_are_limited_like_those_at_sign_in(world: dict, annotator, page: str):
    given = [annotator.post(page, GUESSES[page]).status_code for _ in range(TRIES)]
    assert given[-2:] == [422, 429]
    for url, typed in GUESSES.items():  # the right one comes too late, on both pages and at sign-in
        right = {key: "look around here" if value == "wrong" else value for key, value in typed.items()}
        assert has(annotator.post(url, right), "locked")
    assert Client().post("/login", {"username": "annotator", "password": "look around here"}).status_code == 429
    there = Client(REMOTE_ADDR="203.0.113.9")
    assert there.post("/login", {"username": "annotator", "password": "look around here"}).status_code == 302


def test_a_new_password_ends_the_lock_of_its_name(world: dict, annotator):
    for _ in range(TRIES):
        Client().post("/login", {"username": "annotator", "password": "wrong"})
    typed = GUESSES["/account/password"] | {"old_password": "look around here"}
    assert annotator.post("/account/password", typed, REMOTE_ADDR="203.0.113.9")["Location"] == "/account"
    assert Client().post("/login", {"username": "annotator", "password": PHRASE}).status_code == 302


def test_settings_of_the_browser_are_closed_lists(annotator):
    radios = content(annotator.get("/account")).all(tag="input", type="radio")
    assert [(one["name"], one["value"]) for one in radios] == [
        ("theme", "auto"),
        ("theme", "light"),
        ("theme", "dark"),
        ("view", "one"),
        ("view", "group"),
        ("keys", "on"),
        ("keys", "off"),
        ("pace", "300"),
        ("pace", "600"),
        ("pace", "1000"),
    ]


def test_password_is_changed_and_other_sessions_end(world: dict, sign_in):
    here, there = sign_in("annotator"), sign_in("annotator")
    wrong = {"old_password": "wrong", "new_password1": PHRASE, "new_password2": PHRASE}
    assert refused(here.post("/account/password", wrong)) == {"old_password": ["password_incorrect"]}
    assert here.post("/account/password", wrong | {"old_password": "look around here"})["Location"] == "/account"
    assert here.get("/account").status_code == 200
    assert there.get("/account").status_code == 302


def test_a_new_password_ends_all_tokens_of_the_person_and_of_no_other(world: dict, annotator):
    tokens = [create_token(world[who], "mine", ["label"], 1)[1] for who in ("annotator", "adjudicator")]
    typed = {"old_password": "look around here", "new_password1": PHRASE, "new_password2": PHRASE}
    assert statuses(tokens) == [200, 200]
    assert annotator.post("/account/password", typed | {"old_password": "wrong"}).status_code == 422
    assert statuses(tokens) == [200, 200]
    annotator.post("/account/password", typed)
    assert statuses(tokens) == [401, 200]


def test_a_new_password_by_a_link_ends_all_sessions_and_tokens(world: dict, annotator, client):
    tokens = [create_token(world["annotator"], "mine", ["label"], 1)[1]]
    form = client.get(password_path(world["annotator"]), follow=True).redirect_chain[-1][0]
    assert (annotator.get("/account").status_code, statuses(tokens)) == (200, [200])
    assert client.post(form, {"new_password1": PHRASE, "new_password2": "another"}).status_code == 422
    client.post(form, {"new_password1": PHRASE, "new_password2": PHRASE})
    assert (annotator.get("/account").status_code, statuses(tokens)) == (302, [401])


def test_a_password_that_is_only_hashed_anew_ends_no_token(world: dict, client, settings):
    tokens = [create_token(world["annotator"], "mine", ["label"], 1)[1]]
    before = User.objects.get(username="annotator").password
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.ScryptPasswordHasher", *settings.PASSWORD_HASHERS]
    client.post("/login", {"username": "annotator", "password": "look around here"})
    assert User.objects.get(username="annotator").password != before
    assert statuses(tokens) == [200]


@pytest.mark.parametrize("same_session", [True, False])
def test_a_link_used_twice_at_once_sets_one_password_and_tells_the_other(world: dict, monkeypatch, same_session: bool):
    """The second request comes between the first one's check of the link and its write."""
    path, first, second = password_path(world["annotator"]), Client(), Client()
    form = first.get(path, follow=True).redirect_chain[-1][0]
    if same_session:
        second.cookies = first.cookies.copy()
    else:
        second.get(path, follow=True)
    answers = []

    def read_form(view: NewPassword, real: Any = NewPassword.get_form_kwargs) -> dict:
        if len(answers) == 0:
            answers.append(None)
            answers[0] = second.post(form, {"new_password1": "of the second", "new_password2": "of the second"})
        return real(view)

    monkeypatch.setattr(NewPassword, "get_form_kwargs", read_form)
    answers.append(first.post(form, {"new_password1": PHRASE, "new_password2": PHRASE}))
    assert answers[0]["Location"] == "/password/new/done"
    assert has(answers[1], "link-refused")
    assert User.objects.get(username="annotator").check_password("of the second")


def test_a_password_change_undoes_nothing_that_was_done_meanwhile(world: dict, annotator, monkeypatch):
    typed = {"old_password": "look around here", "new_password1": PHRASE, "new_password2": PHRASE}

    def valid(view: PasswordChange, form: Any, real: Any = PasswordChange.form_valid) -> Any:
        User.objects.filter(username="annotator").update(is_active=False, email="new@example.org")
        return real(view, form)

    monkeypatch.setattr(PasswordChange, "form_valid", valid)
    annotator.post("/account/password", typed)
    found = User.objects.get(username="annotator")
    assert (found.is_active, found.email) == (False, "new@example.org")


def test_of_two_password_changes_at_once_the_later_is_refused(world: dict, annotator, sign_in, monkeypatch):
    other, answers = sign_in("annotator"), []
    typed = {"old_password": "look around here", "new_password1": PHRASE, "new_password2": PHRASE}

    def valid(view: PasswordChange, form: Any, real: Any = PasswordChange.form_valid) -> Any:
        if not answers:
            answers.append(None)
            answers[0] = other.post(
                "/account/password", typed | {"new_password1": "of the other", "new_password2": "of the other"}
            )
        return real(view, form)

    monkeypatch.setattr(PasswordChange, "form_valid", valid)
    answer = annotator.post("/account/password", typed)
    assert answers[0]["Location"] == "/account"
    assert set(refused(answer)) == {"old_password"}
    assert User.objects.get(username="annotator").check_password("of the other")


def statuses(tokens: list[str]) -> list[int]:
    bearers = (Client(headers={"Authorization": f"Bearer {token}"}) for token in tokens)
    return [bearer.get("/api/v1/campaigns").status_code for bearer in bearers]


def test_own_data_are_a_file_of_ones_own(world: dict, annotator):
    response = annotator.get("/account/data.json")
    assert response["Content-Disposition"] == 'attachment; filename="triplepool-own-data.json"'
    assert response["Cache-Control"] == "no-store"
    data = response.json()
    assert data["account"]["name"] == "annotator"
    assert [(row["pool"], row["role"]) for row in data["campaigns"]] == [("town-pool", "annotator")]
    assert "adjudicator" not in response.content.decode()


def test_who_erases_the_own_data_is_signed_out(world: dict, annotator):
    assert has(annotator.get("/account/erase"), "erased")
    mine = {"password": "look around here"}
    annotator.post("/account/erase", mine | {"typed": "someone"})
    for wrong in ("", "wrong"):
        answer = annotator.post("/account/erase", {"typed": "annotator", "password": wrong})
        assert refused(answer) == {"password": ["password_incorrect"]}
    assert User.objects.filter(username="annotator").exists()
    response = annotator.post("/account/erase", mine | {"typed": "annotator"})
    assert has(response, "erased") and not has(response, "kept")
    assert not User.objects.filter(username="annotator").exists()
    assert annotator.get("/account").status_code == 302
    answer = Client().post("/login", {"username": "annotator", "password": "look around here"})
    assert has(answer, "wrong")


def test_pages_of_an_account_have_one_frame(annotator):
    for path in ("", "/tokens", "/password", "/erase"):
        page = parse(annotator.get(f"/account{path}"))
        assert page.one(tag="main")["class"] == "main" and page.has(class_="lead")
        crumbs = page.one(tag="nav", class_="breadcrumbs").all(tag="a")
        assert [link["href"] for link in crumbs] == (["/account"] if path else [])


def test_erasing_speaks_to_the_person_and_of_what_there_is(world: dict, annotator, sign_in):
    person, manager = world["annotator"], sign_in("manager")
    found = preview_erasure(person)
    assert (found.imported, found.comments, found.reports) == (0, 0, 0)
    mine, theirs = (content(client.get(f"{page}/erase")) for client, page in (
        (annotator, "/account"), (manager, f"/people/{person.pk}")
    ))  # fmt: skip
    for page in (mine, theirs):
        rows = [
            row["data-test"]
            for part in ("erased", "kept")
            for row in page.one(part).all(tag="li")
            if "data-test" in row
        ]
        there = {"email": found.email, "roles": found.roles, "labels": found.labels}
        assert rows == ["name", *(row for row in ("email", "sign-ins", "roles", "labels") if there.get(row, True))]
    assert "person" not in mine.one("erased").text and "your" in mine.one("erased").text.lower()
    assert "you" not in theirs.one("erased").text.lower()
    person.memberships.all().delete()
    User.objects.filter(pk=person.pk).update(email="")
    rows = content(manager.get(f"/people/{person.pk}/erase")).one("erased").all(tag="li")
    assert [row["data-test"] for row in rows] == ["name", "sign-ins"]


@pytest.mark.parametrize("page", ["/account", "/account/erase", "/account/tokens"])
def test_nobody_without_a_password_is_asked_for_one(world: dict, sign_in, settings, page: str):
    client = sign_in("researcher")
    assert read(client.get(page)).has(tag="input", name="password")
    settings.PASSWORD_SIGN_IN = False
    assert not read(client.get(page)).has(tag="input", name="password")


@pytest.mark.parametrize("minutes", [9, 11])
def test_without_a_password_the_own_data_are_erased_soon_after_sign_in_only(world: dict, annotator, settings, minutes):
    settings.PASSWORD_SIGN_IN = False
    User.objects.filter(username="annotator").update(last_login=timezone.now() - timedelta(minutes=minutes))
    answer = annotator.post("/account/erase", {"typed": "annotator"})
    assert User.objects.filter(username="annotator").exists() is (minutes > 10)
    if minutes > 10:
        assert refused(answer) == {"__all__": ["signed_in_long_ago"]}


def test_the_last_manager_is_told_why_not(world: dict, sign_in):
    manager = sign_in("manager")
    assert element(manager.get("/account/erase"), "refused").text == LAST_MANAGER.format("manager")
    manager.post("/account/erase", {"typed": "manager"})
    assert User.objects.filter(username="manager").exists()


def test_without_e_mail_the_page_says_whom_to_ask_and_nothing_is_sent(world: dict, client):
    User.objects.filter(username="annotator").update(email="a@example.org")
    for response in (client.get("/password/forgotten"), client.post("/password/forgotten", {"email": "a@example.org"})):
        assert has(response, "no-mail")
        assert not content(response).has(tag="input", name="email")
    assert mail.outbox == []


def test_forgotten_password_is_sent_a_link_that_works(world: dict, client, settings):
    settings.EMAIL_IS_SET, settings.SITE_URL = True, "https://labels.example.org"
    User.objects.filter(username="annotator").update(email="a@example.org")
    assert client.post("/password/forgotten", {"email": "A@example.org"})["Location"] == "/password/forgotten/sent"
    assert mail.outbox == [] and answer_next()
    (message,) = mail.outbox
    assert (message.to, message.subject) == (["a@example.org"], "A new password for TriplePool")
    path = re.search(r"https://labels.example.org(/password/new/\S+)", message.body).group(1)
    form = client.get(path, follow=True).redirect_chain[-1][0]
    assert client.post(form, {"new_password1": PHRASE, "new_password2": PHRASE})["Location"] == "/password/new/done"
    assert User.objects.get(username="annotator").check_password(PHRASE)


def test_page_does_the_same_whether_or_not_the_address_is_known(world: dict, client, settings):
    settings.EMAIL_IS_SET = True
    User.objects.filter(username="annotator").update(email="a@example.org")
    User.objects.filter(username="adjudicator").update(email="off@example.org", is_active=False)
    done = []
    for email in ("a@example.org", "off@example.org", "nobody@example.org"):
        with CaptureQueriesContext(connection) as queries:
            answer = client.post("/password/forgotten", {"email": email})
        tables = [re.findall(r'(?:FROM|INTO) "(\w+)"', query["sql"]) for query in queries]
        done.append((answer.status_code, answer["Location"], [table for found in tables for table in found]))
    assert done == [(302, "/password/forgotten/sent", ["annotation_passwordrequest"] * 2)] * 3
    assert answer_next() and not answer_next()
    assert [message.to for message in mail.outbox] == [["a@example.org"]]


def test_one_network_address_asks_for_few_links(world: dict, client, settings):
    settings.EMAIL_IS_SET = True
    answers = [client.post("/password/forgotten", {"email": f"p{i}@example.org"}) for i in range(PER_ADDRESS + 1)]
    assert [answer.status_code for answer in answers] == [302] * PER_ADDRESS + [429]
    assert content(answers[-1]).one(id="id_email_error").text == str(TOO_MANY)
    assert client.post("/password/forgotten", {"email": "no address"}).status_code == 422
    elsewhere = Client(REMOTE_ADDR="198.51.100.1").post("/password/forgotten", {"email": "p@example.org"})
    assert elsewhere.status_code == 302


def test_link_goes_to_no_other_host(world: dict, client, settings):
    settings.EMAIL_IS_SET, settings.SITE_URL = True, "https://labels.example.org"
    User.objects.filter(username="annotator").update(email="a@example.org")
    for host, status in (("evil.example", 400), ("testserver:6666", 302)):
        response = client.post("/password/forgotten", {"email": "a@example.org"}, headers={"host": host})
        assert response.status_code == status
    assert answer_next()
    assert re.findall(r"https?://[^/]+/", mail.outbox[0].body) == ["https://labels.example.org/"]


def test_without_an_address_of_the_site_no_link_is_mailed(world: dict, client, settings):
    settings.EMAIL_IS_SET, settings.SITE_URL = True, ""
    assert has(client.get("/password/forgotten"), "no-mail")


def test_after_a_wrong_password_the_cursor_is_in_its_field(client, world) -> None:
    page = read(client.post("/login", {"username": "ann", "password": "wrong"}))
    name, password = (page.one(tag="input", id=f"id_{one}") for one in ("username", "password"))
    assert (name["value"], "autofocus" in name, "autofocus" in password) == ("ann", False, True)
    assert page.one("wrong")["id"] == password["aria-describedby"]
    page = read(client.get("/login"))
    assert "autofocus" in page.one(tag="input", id="id_username")


@pytest.mark.parametrize(("who", "is_offered"), [("annotator", True), ("adjudicator", True), ("manager", False)])
def test_the_other_language_is_in_the_header_of_people_who_label(sign_in, who, is_offered) -> None:
    page = parse(sign_in(who).get("/account"))
    assert page.has("languages") == is_offered
    if is_offered:
        assert page.one("languages").texts(tag="button") == ["Deutsch"]
        assert page.one("language").texts(tag="button") == ["English", "Deutsch"]


def test_the_sign_in_page_of_a_site_without_manager_says_how_to_make_one(db, client, django_assert_num_queries):
    with django_assert_num_queries(1):
        page = read(client.get("/login"))
    assert (page.has("no-account"), ADD_MANAGER in page.one("no-manager").text) == (False, True)
    client.cookies["django_language"] = "de"
    assert "Passwort" in read(client.get("/login")).one("no-manager").text
    add_person("mara", "manager")
    page = read(client.get("/login"))
    assert (page.has("no-account"), page.has("no-manager")) == (True, False)
