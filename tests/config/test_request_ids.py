"""Each request has an id: a trusted proxy's, or one of the site's own. It is sent back, and in the log."""

from __future__ import annotations

import json
import re

import pytest
from django.test import Client

from config.proxies import read_proxies
from core.logs import JsonLines
from core.people.tokens import create_token
from tests.factories import make_person

OWN = re.compile(r"[0-9a-f]{32}")


@pytest.mark.parametrize(("peer", "sent", "taken"), [
    ("10.0.0.2", "Root=1-678912:a/b+c@d.e_f", True),
    ("10.0.0.2", "", False),
    ("10.0.0.2", "two words", False),
    ("10.0.0.2", 'x"}\n{', False),
    ("10.0.0.2", "x" * 129, False),
    ("203.0.113.5", "made-up", False),
])  # fmt: skip
def test_a_trusted_proxys_id_is_taken_and_others_get_a_new_one(peer: str, sent: str, taken: bool, settings):
    settings.TRUSTED_PROXIES = read_proxies("10.0.0.0/8")
    asked = {"REMOTE_ADDR": peer, "HTTP_X_REQUEST_ID": sent}
    first, second = (Client().get("/healthz", **asked)["X-Request-ID"] for _ in range(2))
    if taken:
        assert first == second == sent
    else:
        assert OWN.fullmatch(first) and OWN.fullmatch(second) and first != second


def said(caplog: pytest.LogCaptureFixture) -> dict[str, object]:
    found: dict[str, object] = json.loads(caplog.text.splitlines()[-1])
    return found


def test_what_django_writes_of_a_request_has_its_id_and_person(db, caplog):
    caplog.handler.setFormatter(JsonLines())
    person = make_person("ann", "researcher")
    client = Client()
    answer = client.get("/nothing-here")
    assert said(caplog)["request_id"] == answer["X-Request-ID"] and "user_id" not in said(caplog)
    client.force_login(person, backend="config.sign_in.Accounts")
    answer = client.get("/graphs/nothing-here")
    line = said(caplog)
    assert (line["message"], line["request_id"]) == ("Not Found: /graphs/nothing-here", answer["X-Request-ID"])
    assert line["user_id"] == person.pk


def test_the_person_of_a_token_is_named_too(db, caplog):
    caplog.handler.setFormatter(JsonLines())
    person = make_person("bob", "researcher")
    _, token = create_token(person, "t", ["read"], 1)
    Client().get("/api/v1/graphs/nothing-here", headers={"Authorization": f"Token {token}"})
    assert said(caplog)["user_id"] == person.pk
