"""The site without its database, and without its cache."""

from __future__ import annotations

import json
import logging
import os
import socket
import subprocess
import sys

import pytest
from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.test import Client

from core import cache as module
from core.cache import CacheThatMayFail
from core.database import is_away
from tests.page import has, parse

DEAD = "127.0.0.1:1"  # nothing listens there
ASK = """
import json
import django
django.setup()
from django.test import Client
client = Client(raise_request_exception=False, headers={"host": "127.0.0.1"})
client.cookies["sessionid"] = "x" * 32
seen = {}
for path in ("/", "/pools", "/login?next=/", "/api/v1/pools", "/api/v1/campaigns/p/claim", "/api/v1/labels"):
    ask = client.post if path.endswith(("claim", "labels")) else client.get
    answer = ask(path, headers={"Authorization": "Token tp_x"} if "/api/" in path else {})
    told = answer.content.decode()
    seen[path] = [answer.status_code, answer.headers.get("Retry-After"), answer["Content-Type"], told]
print(json.dumps(seen))
"""


def test_without_its_database_the_site_says_so_and_when_to_ask_again():
    environment = os.environ | {"DATABASE_URL": f"postgres://nobody:x@{DEAD}/none"}
    done = subprocess.run(
        [sys.executable, "-c", ASK], cwd=settings.BASE_DIR, env=environment, capture_output=True, text=True, timeout=300
    )
    seen = json.loads(done.stdout)
    assert {path: (status, after) for path, (status, after, *_) in seen.items() if path != "/login?next=/"} == {
        "/": (503, "10"), "/pools": (503, "10"), "/api/v1/pools": (503, "10"),
        "/api/v1/campaigns/p/claim": (503, "10"), "/api/v1/labels": (503, "10"),
    }  # fmt: skip
    for path, (status, _, kind, content) in seen.items():
        if "/api/" in path:
            assert kind == "application/json" and set(json.loads(content)) == {"error"}
        else:
            assert status == 503 and has(content, "away")
    assert DEAD not in str(seen)


@pytest.mark.parametrize(
    ("error", "away"),
    [
        (OperationalError("connection to server failed"), True),
        (OperationalError("database is locked"), True),
        (InterfaceError("connection already closed"), True),
        (OperationalError("no such table: core_job"), False),
        (ValueError("x"), False),
        (None, False),
    ],
)
def test_the_database_is_away_and_no_query_is_wrong(error, away):
    assert is_away(error) is away


SEND = """
import time
import django
django.setup()
from core.jobs.lifecycle import _send
begin = time.monotonic()
_send(1, "export")
print(time.monotonic() - begin)
"""


def test_a_broker_that_accepts_and_never_answers_holds_nobody_for_long():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        environment = os.environ | {"CELERY_BROKER_URL": f"redis://127.0.0.1:{silent.getsockname()[1]}/0"}
        done = subprocess.run(
            [sys.executable, "-c", SEND],
            cwd=settings.BASE_DIR,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
        )
    assert float(done.stdout) < 15
    assert "job 1: no message could be sent" in done.stderr


def test_connections_are_looked_at_before_they_are_used_again():
    assert settings.DATABASES["default"]["CONN_HEALTH_CHECKS"] is True


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/api/", "/api/none", "/api/v2/pools", "/api/v1/none", "/api/v1/pools/a%00b"])
@pytest.mark.parametrize("method", ["get", "post", "delete"])
def test_errors_of_the_api_are_json_in_one_shape(path: str, method: str):
    answer = getattr(Client(), method)(path)
    assert answer.status_code in (400, 401, 404)
    assert set(answer.json()) == {"error"}


def test_a_host_that_is_not_ours_is_told_as_json():
    answer = Client(headers={"host": "elsewhere.example"}).get("/api/v1/pools")
    assert (answer.status_code, answer.json()) == (400, {"error": "This request cannot be read."})


@pytest.mark.django_db
def test_a_failure_is_told_in_words(monkeypatch):
    monkeypatch.setattr("pooling.api.views.Pools.initial", lambda *args, **kwargs: 1 / 0)
    client = Client(raise_request_exception=False)
    answer = client.get("/api/v1/pools")
    assert answer.status_code == 500 and set(answer.json()) == {"error"}
    monkeypatch.setattr("config.languages.language_of", lambda request: 1 / 0)
    answer = client.get("/login")
    assert answer.status_code == 500 and parse(answer).one(tag="h1").text == "Something broke"


@pytest.fixture
def dead_cache(monkeypatch):
    monkeypatch.setattr(module._Client, "away_until", float("-inf"))
    monkeypatch.setattr(module._Client, "told_at", float("-inf"))
    return CacheThatMayFail(f"redis://{DEAD}/0", {})


def test_a_cache_that_is_away_is_empty_and_is_told_once_a_minute(dead_cache, caplog, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    with caplog.at_level(logging.WARNING):
        for second in range(0, 121, 10):
            now[0] = 1000.0 + second
            dead_cache.set("a", 1)
            assert dead_cache.get("a") is None and dead_cache.get("a", 7) == 7
    assert [record.message.split(",")[0] for record in caplog.records] == [
        "The cache (CACHE_URL) does not answer"
    ] * 3  # at 0, 60 and 120 seconds
    assert (dead_cache.add("a", 1), dead_cache.incr("a"), dead_cache.delete("a"), dead_cache.get_many(["a"])) == (
        True, 1, False, {},
    )  # fmt: skip
    assert dead_cache.get_or_set("a", lambda: 3) == 3


@pytest.mark.django_db
def test_without_its_cache_the_api_answers(monkeypatch, dead_cache):
    """The throttle opens: nobody is refused because nobody counts."""
    from core.api.throttle import ByRole

    monkeypatch.setattr(ByRole, "cache", dead_cache)
    assert {Client().get("/api/v1/schema").status_code for _ in range(3)} == {200}
