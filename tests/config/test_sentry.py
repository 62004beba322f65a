"""Errors reach Sentry, and nothing about people with them."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from core.errors import UserError

FAIL = """
import logging
import django
django.setup()
from django.conf import settings
settings.ALLOWED_HOSTS = ["testserver"]
from django.contrib.auth.decorators import login_not_required
from django.test import Client
from django.urls import path
from config import urls

@login_not_required
def fail(request, token):
    local = "local-" + token
    raise ZeroDivisionError("of the program\\nDETAIL: Key (username)=(secret-name)")

urls.urlpatterns.insert(0, path("fails/<str:token>", fail))
client = Client(raise_request_exception=False, REMOTE_ADDR="203.0.113.77")
client.cookies["another"] = "secret-session"
client.post("/fails/secret-token?email=secret@example.org", {"password": "secret-password"})
logging.getLogger("core.x").error("a job of %s", "secret-person")
import sentry_sdk
sentry_sdk.flush(20)
"""


@pytest.fixture
def sent() -> Iterator[tuple[str, list[str]]]:
    """Give the address of a server that plays Sentry, and what it was sent."""
    bodies: list[str] = []

    class Take(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            bodies.append((gzip.decompress(body) if self.headers["Content-Encoding"] == "gzip" else body).decode())
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *words: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Take)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://key@127.0.0.1:{server.server_port}/1", bodies
    finally:
        server.shutdown()
        server.server_close()


def test_an_error_is_reported_without_people(sent: tuple[str, list[str]], migrated: Path):
    dsn, bodies = sent
    environment = os.environ | {"SENTRY_DSN": dsn, "DATABASE_URL": f"sqlite:///{migrated}"}
    done = subprocess.run(
        [sys.executable, "-c", FAIL],
        cwd=settings.BASE_DIR, env=environment, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    events = [found for body in bodies for text in body.splitlines() if "platform" in (found := json.loads(text))]
    failed, logged = events
    [error] = failed["exception"]["values"]
    assert (failed["transaction"], error["type"], error["value"]) == (
        "/fails/{token}", "ZeroDivisionError", "of the program",
    )  # fmt: skip
    assert (logged["logger"], logged["logentry"]) == ("core.x", {"message": "a job of %s"})
    whole = "\n".join(bodies)
    assert "secret" not in whole and "203.0.113.77" not in whole


def test_what_users_are_told_is_not_reported():
    from config.sentry import cleaned

    address = {"transaction": "/invitations/secret", "transaction_info": {"source": "url"}}
    event: dict[str, Any] = {"level": "error", "user": {"id": 7}, "request": {"url": "/x"}, **address}
    assert cleaned(event, {"exc_info": (UserError, UserError("wrong file"), None)}) is None
    assert cleaned(event, {}) == {"level": "error"}


def test_without_the_library_the_message_says_what_to_do(tmp_path: Path):
    (tmp_path / "sentry_sdk.py").write_text("raise ModuleNotFoundError(name='sentry_sdk')")
    done = subprocess.run(
        [sys.executable, "-c", "import django; django.setup()"],
        cwd=settings.BASE_DIR, capture_output=True, text=True, timeout=300,
        env=os.environ | {"SENTRY_DSN": "http://key@127.0.0.1:1/1", "PYTHONPATH": str(tmp_path)},
    )  # fmt: skip
    assert "SENTRY_DSN is set, but there is no sentry_sdk: install sentry-sdk, or unset SENTRY_DSN." in done.stderr
