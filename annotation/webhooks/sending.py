"""Send one message to an address that was checked, within a few seconds; follow no redirect and use no proxy."""

import contextlib
import http.client
import socket
import ssl
import threading
import time
from typing import NamedTuple

from annotation.webhooks.addresses import AddressRefused, Target, checked_target
from annotation.webhooks.signing import signature

SECONDS = 10.0  # from connecting to the end of the answer's headers
AGENT = "TriplePool-Webhook/1"


class Outcome(NamedTuple):
    """What came of one attempt: the status of the answer, if there was one, and what went wrong, in words."""

    status: int | None
    problem: str = ""

    @property
    def arrived(self) -> bool:
        return not self.problem


class _Checked(http.client.HTTPConnection):
    """A connection to the network address that was checked, whatever the name means by now."""

    def __init__(self, target: Target) -> None:
        super().__init__(target.host, target.port, timeout=SECONDS)
        self.target = target

    def connect(self) -> None:
        self.sock = socket.create_connection((self.target.address, self.target.port), self.timeout)
        if self.target.https:
            # kept before the handshake, so that the timer can end that too
            context = ssl.create_default_context()
            self.sock = context.wrap_socket(self.sock, server_hostname=self.target.host, do_handshake_on_connect=False)
            self.sock.do_handshake()


def send_message(url: str, secret: str, event: str, delivery: str, body: bytes) -> Outcome:
    """Post a body to an address, and return what came of it. Nothing of the answer but its status is read."""
    try:
        target = checked_target(url)
    except AddressRefused as error:
        return Outcome(None, str(error))
    connection = _Checked(target)
    late = threading.Event()

    def end() -> None:
        late.set()
        if connection.sock is not None:
            with contextlib.suppress(OSError):
                # not that of an SSLSocket, which forgets its encryption while the other thread uses it
                socket.socket.shutdown(connection.sock, socket.SHUT_RDWR)

    # the timeout of the socket starts again with each byte
    timer = threading.Timer(SECONDS, end)
    timer.start()
    try:
        headers = {
            "Content-Type": "application/json",
            "User-Agent": AGENT,
            "X-TriplePool-Event": event,
            "X-TriplePool-Delivery": delivery,
            "X-TriplePool-Signature": signature(secret, int(time.time()), body),
            "Connection": "close",
        }
        connection.request("POST", target.path, body, headers)
        status = connection.getresponse().status
    except TimeoutError:
        return Outcome(None, _LATE)
    except ssl.SSLError:
        return Outcome(None, _LATE if late.is_set() else "Its certificate, or the encryption, was not accepted.")
    except (OSError, http.client.HTTPException):
        return Outcome(None, _LATE if late.is_set() else "No connection, or no answer that is HTTP.")
    finally:
        timer.cancel()
        connection.close()
    return Outcome(status, "" if 200 <= status < 300 else _refusal(status))


_LATE = f"No answer within {SECONDS:.0f} seconds."


def _refusal(status: int) -> str:
    if 300 <= status < 400:
        return f"It answered {status}, which leads elsewhere. Redirects are not followed: enter the address itself."
    return f"It answered {status}; a message has arrived when the answer is 200 to 299."
