"""Mails to a server that is slow, or answers a byte at a time."""

import socket
import threading
import time
from collections.abc import Iterator

import pytest
from django.core.mail import send_mail

from core import mail

ANSWERS = {"EHLO": "250 here", "MAIL": "250 ok", "RCPT": "250 ok", "DATA": "354 go", ".": "250 kept", "QUIT": "221 bye"}


def serve(port: socket.socket, drips: bool, taken: list[str]) -> None:
    try:
        peer, _ = port.accept()
        with peer, peer.makefile("r", encoding="ascii", newline="\r\n") as lines:
            if drips:
                for _ in range(1000):
                    peer.sendall(b"2")
                    time.sleep(0.02)
            peer.sendall(b"220 here\r\n")
            for line in lines:
                taken.append(line.strip())
                answer = ANSWERS.get(taken[-1].partition(" ")[0].upper())
                if answer:
                    peer.sendall(f"{answer}\r\n".encode())
    except OSError:
        pass


@pytest.fixture(params=[False, True], ids=["usual", "drips"])
def server(request, settings) -> Iterator[tuple[bool, list[str]]]:
    port, taken = socket.create_server(("127.0.0.1", 0)), []
    settings.EMAIL_BACKEND, settings.EMAIL_HOST = "core.mail.Backend", "127.0.0.1"
    settings.EMAIL_PORT = port.getsockname()[1]
    thread = threading.Thread(target=serve, args=(port, request.param, taken), daemon=True)
    thread.start()
    yield request.param, taken
    port.close()


def test_mail_is_sent_or_given_up_in_time(server, monkeypatch) -> None:
    drips, taken = server
    monkeypatch.setattr(mail, "SECONDS", 0.5 if drips else 60)
    before = time.monotonic()
    if drips:
        with pytest.raises(OSError):
            send_mail("Hello", "text", None, ["a@example.org"])
    else:
        assert send_mail("Hello", "text", None, ["a@example.org"]) == 1 and "Subject: Hello" in taken
    assert time.monotonic() - before < 5
    timers = [thread for thread in threading.enumerate() if isinstance(thread, threading.Timer)]
    for timer in timers:
        timer.join(5)
    assert not any(timer.is_alive() for timer in timers)  # none is left for a minute
