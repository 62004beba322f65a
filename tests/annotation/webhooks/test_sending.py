"""What is sent, and what counts as arrived."""

from __future__ import annotations

import contextlib
import re
import socket
import ssl
import threading
import time
from pathlib import Path

import pytest
from django.conf import settings as site

from annotation.webhooks import sending
from annotation.webhooks.sending import send_message
from annotation.webhooks.signing import new_salt, secret_of
from tests.annotation.webhooks.receiver import Receiver, answer_with


def send(receiver: Receiver, body: bytes = b'{"a": 1}') -> sending.Outcome:
    return send_message(receiver.url, "whsec_1", "test", "id-1", body)


def is_genuine():
    """The function that docs/webhooks.md gives to receivers."""
    text = (Path(site.BASE_DIR) / "docs" / "webhooks.md").read_text()
    found: dict = {}
    exec(re.search(r"```python\n(.*?)```", text, re.S)[1], found)
    return found["is_genuine"]


def test_the_function_of_the_docs_accepts_what_is_sent_and_nothing_else(receiver) -> None:
    check = is_genuine()
    assert send(receiver) == (204, "")
    path, headers, body = receiver.got[0]
    signed = headers["X-TriplePool-Signature"]
    assert path == "/hook?key=letmein"
    assert (headers["X-TriplePool-Event"], headers["X-TriplePool-Delivery"]) == ("test", "id-1")
    assert check("whsec_1", signed, body)
    assert not check("whsec_2", signed, body)
    assert not check("whsec_1", signed, body + b" ")
    old = signed.replace(signed[2:12], str(int(time.time()) - 400))
    assert not check("whsec_1", old, body)


def test_secret_follows_from_the_salt_and_the_key_of_the_site(settings) -> None:
    salt = new_salt()
    secret = secret_of(salt)
    assert secret == secret_of(salt) != secret_of(new_salt()) and salt not in secret
    settings.SECRET_KEY = "another"
    assert secret_of(salt) != secret


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_redirect_is_not_followed(receiver, status) -> None:
    receiver.answer = lambda request: answer_with(request, status, Location="/elsewhere")
    outcome = send(receiver)
    assert (outcome.status, outcome.arrived, len(receiver.got)) == (status, False, 1)


@pytest.mark.parametrize(("status", "arrived"), [(200, True), (299, True), (400, False), (410, False), (500, False)])
def test_message_arrived_if_the_answer_is_2xx(receiver, status, arrived) -> None:
    receiver.answer = lambda request: answer_with(request, status)
    assert (send(receiver).status, send(receiver).arrived) == (status, arrived)


def test_server_that_drips_is_left_in_time(receiver, monkeypatch) -> None:
    """Each byte comes within the timeout of the socket, and the answer never ends."""
    monkeypatch.setattr(sending, "SECONDS", 0.6)

    def drip(request) -> None:
        try:
            for _ in range(100):
                request.wfile.write(b"H")
                time.sleep(0.1)
        except OSError:
            pass

    receiver.answer = drip
    began = time.monotonic()
    outcome = send(receiver)
    assert outcome == (None, sending._LATE) and time.monotonic() - began < 3


def test_server_that_drips_within_the_handshake_is_left_in_time(settings, monkeypatch) -> None:
    """As above, but the encryption is never agreed on; the time to connect counts too."""
    monkeypatch.setattr(sending, "SECONDS", 1.0)
    connect = socket.create_connection
    monkeypatch.setattr(socket, "create_connection", lambda *args: time.sleep(0.8) or connect(*args))
    settings.WEBHOOK_PRIVATE_HOSTS = ["127.0.0.1"]

    def drip(server: socket.socket) -> None:
        there, _ = server.accept()
        with contextlib.suppress(OSError):
            there.sendall(b"\x16\x03\x03\x10\x00")  # a record of 4 kB begins
            for _ in range(50):
                there.sendall(b"\x02")
                time.sleep(0.1)
        there.close()

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=drip, args=[server], daemon=True).start()
        began = time.monotonic()
        outcome = send_message(f"https://127.0.0.1:{server.getsockname()[1]}/", "s", "test", "1", b"")
    assert outcome == (None, sending._LATE) and time.monotonic() - began < 1.5


def test_endless_body_is_not_read(receiver) -> None:
    def pour(request) -> None:
        answer_with(request, 200)
        try:
            while True:
                request.wfile.write(b"x" * 65536)
        except OSError:
            pass

    receiver.answer = pour
    began = time.monotonic()
    assert send(receiver).arrived and time.monotonic() - began < 3


def test_no_server_and_no_http_are_told_apart_from_an_answer(receiver) -> None:
    receiver.answer = lambda request: request.wfile.write(b"220 mail\r\n")
    assert send(receiver) == (None, "No connection, or no answer that is HTTP.")
    assert send_message("http://127.0.0.1:9/", "s", "test", "1", b"") == (
        None,
        "No connection, or no answer that is HTTP.",
    )


def test_https_needs_a_certificate_that_is_trusted(receiver) -> None:
    outcome = send_message(receiver.url.replace("http:", "https:"), "s", "test", "1", b"")
    assert outcome == (None, "Its certificate, or the encryption, was not accepted.")
    assert ssl.create_default_context().verify_mode == ssl.CERT_REQUIRED


def test_proxy_of_the_environment_is_not_used(receiver, monkeypatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert send(receiver).arrived
