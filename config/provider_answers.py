"""Take an answer of the provider of single sign-on only if it is small and comes in time."""

import io
import threading
import time
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from urllib3.exceptions import HTTPError

MOST_BYTES = 1_000_000
SECONDS = 10.0  # from the first byte of the content to the last; each read has SOCIALACCOUNT_REQUESTS_TIMEOUT
IS_AWAY = threading.Event()  # set while the last thing that this process asked the provider was not answered


class Limited(HTTPAdapter):
    """Read each answer whole as it comes, and refuse one that is beyond the limits."""

    def send(self, *args: Any, **kwargs: Any) -> requests.Response:
        try:
            response = super().send(*args, **kwargs)
            with response.raw as raw:
                response.raw = io.BytesIO(_read(raw))
        except (HTTPError, OSError) as error:  # OSError: also that of requests
            IS_AWAY.set()
            raise requests.ConnectionError("No answer, or not in time, or too much of it.") from error
        IS_AWAY.clear()
        return response


def _read(raw: Any) -> bytes:
    until, found = time.monotonic() + SECONDS, bytearray()
    while part := raw.read1(65_536, decode_content=True):
        found += part
        if len(found) > MOST_BYTES or time.monotonic() > until:
            raise OSError
    return bytes(found)
