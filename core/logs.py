"""Write logs as lines of JSON (LOG_FORMAT=json), each with the request or job that it belongs to.

In either format, a request that cannot be served as it was sent is one line, and no line has a secret link.
"""

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

from django.urls import Resolver404, resolve

# what each line of this thread says besides its message; a value that is a function is asked when a line is written
FIELDS: ContextVar[dict[str, Any]] = ContextVar("FIELDS", default={})  # noqa: B039 (never changed, only replaced)


@contextmanager
def logged_with(**fields: Any) -> Iterator[None]:
    """Add fields to every line that this thread writes within the block."""
    token = FIELDS.set({**FIELDS.get(), **fields})
    try:
        yield
    finally:
        FIELDS.reset(token)


class JsonLines(logging.Formatter):
    """Format a record as one line: time (UTC), level, logger, message, the fields, and a traceback if there is one."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        asked = {name: value() if callable(value) else value for name, value in FIELDS.get().items()}
        line |= {name: value for name, value in asked.items() if value is not None}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


class WithoutSecretLinks(logging.Filter):
    """Take the secret out of the address of a link that works for whoever has it, in lines about a request to it."""

    def filter(self, record: logging.LogRecord) -> bool:
        request = getattr(record, "request", None)
        if request is None or not isinstance(record.args, tuple):
            return True
        try:
            secret = resolve(request.path_info).kwargs.get("token")
        except Resolver404:
            return True
        if isinstance(secret, str):  # the UUID of an upload lets nobody in but the person whose it is
            record.args = tuple(one.replace(secret, "…") if isinstance(one, str) else one for one in record.args)
        return True


class OneLineForRefused(logging.Filter):
    """Take the traceback out of records of requests that were refused, as for a host name that is not the site's.

    Anybody can send those, and a scanner many: each would fill a page of the log.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        if 400 <= getattr(record, "status_code", 0) < 500:
            record.exc_info = record.exc_text = None
        return True
