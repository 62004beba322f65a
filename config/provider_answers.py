"""Take an answer of the provider of single sign-on only if it is small and comes in time."""

import contextlib
import io
import socket
import threading
import time
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError

MOST_BYTES = 1_000_000
SECONDS = 10.0  # for an answer, headers and all
SLOW_SECONDS = 3.0
# set while the last thing that this process asked the provider was not answered, or so slowly that a few who sign in
# would hold up the site
IS_AWAY = threading.Event()


_timers = threading.local()


class _Timed(HTTPConnection):
    """A connection that ends in time: the timeout of a socket starts again with each byte."""

    def connect(self) -> None:
        super().connect()  # bounded by SOCIALACCOUNT_REQUESTS_TIMEOUT, and so is what TLS agrees on
        timer = threading.Timer(SECONDS, _end, [self.sock])
        timer.daemon = True
        _timers.running.append(timer)
        timer.start()


class _TimedHttps(_Timed, HTTPSConnection):
    pass


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Timed


class _HttpsPool(HTTPSConnectionPool):
    ConnectionCls = _TimedHttps


def _end(sock: socket.socket) -> None:
    with contextlib.suppress(OSError):
        # not that of an SSLSocket, which forgets its encryption while the other thread uses it
        socket.socket.shutdown(sock, socket.SHUT_RDWR)


class Limited(HTTPAdapter):
    """Read each answer whole as it comes, and refuse one that is beyond the limits."""

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = {"http": _Pool, "https": _HttpsPool}

    def send(self, *args: Any, **kwargs: Any) -> requests.Response:
        began = time.monotonic()
        timers: list[threading.Timer] = []
        _timers.running = timers
        try:
            response = super().send(*args, **kwargs)
            with response.raw as raw:
                response.raw = io.BytesIO(_read(raw))
            if time.monotonic() - began > SECONDS:  # an answer that was ended can look complete
                raise OSError
        except (HTTPError, OSError) as error:  # OSError: also that of requests
            IS_AWAY.set()
            raise requests.ConnectionError("No answer, or not in time, or too much of it.") from error
        finally:
            for timer in timers:
                timer.cancel()
            self.close()  # a connection that is used again would have no timer
        if time.monotonic() - began > SLOW_SECONDS:
            IS_AWAY.set()
        else:
            IS_AWAY.clear()
        return response


def _read(raw: Any) -> bytes:
    found = bytearray()
    while part := raw.read1(65_536, decode_content=True):
        found += part
        if len(found) > MOST_BYTES:
            raise OSError
    return bytes(found)
