"""A person's connection to the site: a session, a CSRF token, and requests that are timed."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode
from uuid import uuid4

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext

KEEP_ALIVE = 1.5  # seconds; gunicorn closes a connection that has been idle for two


class Browser:
    """Open a connection with a session and a CSRF token, like a browser."""

    def __init__(self, port: int, session: str, timeout: float = 60) -> None:
        token = uuid4().hex
        self.connection = HTTPConnection("127.0.0.1", port, timeout=timeout)
        self.used = 0.0
        self.retry_after = 0.0  # seconds, as the last answer asked
        self.headers = {"Cookie": f"sessionid={session}; csrftoken={token}", "X-CSRFToken": token}

    def post(self, path: str, content: dict[str, Any]) -> tuple[int, dict[str, Any], float]:
        """Send JSON to API v1; return status, answer and milliseconds."""
        body = json.dumps(content)
        status, answer, taken = self._ask("POST", f"/api/v1/{path}", body, "application/json")
        return status, json.loads(answer), taken

    def get(self, path: str) -> tuple[int, dict[str, Any]]:
        """Ask API v1; return status and answer."""
        status, answer, _ = self._ask("GET", f"/api/v1/{path}")
        return status, json.loads(answer)

    def fill(self, path: str, fields: dict[str, Any]) -> int:
        """Send the form of a page; return the status."""
        return self._ask("POST", f"/{path}", urlencode(fields), "application/x-www-form-urlencoded")[0]

    def _ask(self, method: str, path: str, body: str = "", kind: str = "") -> tuple[int, bytes, float]:
        begin = time.perf_counter()
        if begin - self.used > KEEP_ALIVE:
            self.connection.close()  # the next request opens it again
        self.connection.request(method, path, body or None, self.headers | ({"Content-Type": kind} if kind else {}))
        response = self.connection.getresponse()
        answer = response.read()
        self.used = time.perf_counter()
        self.retry_after = float(response.headers.get("Retry-After") or 0)
        return response.status, answer, 1000 * (self.used - begin)


@contextmanager
def chromium(address: str, session: str, **options: Any) -> Iterator[BrowserContext]:
    """Yield Chromium with a session at an address, 1,280 px wide. `options` are those of Playwright's contexts."""
    from tests.chromium import launched

    with launched() as browser:
        context = browser.new_context(viewport={"width": 1280, "height": 900}, **options)
        context.add_cookies([{"name": "sessionid", "value": session, "url": address}])
        yield context
