"""WSGI entry point: gunicorn config.wsgi."""

import contextlib
import ctypes
import os
from typing import Any

from django.core.exceptions import TooManyFieldsSent
from django.core.handlers.wsgi import WSGIHandler, WSGIRequest
from django.core.wsgi import get_wsgi_application

from core.files.bucket import check_in_child
from core.version import code_version

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -3, -8  # as in malloc.h


class Request(WSGIRequest):
    """Take a charset that cannot read the address for an unknown one: Django would fail before any handler."""

    def _set_content_type_params(self, meta: dict[str, Any]) -> None:
        try:
            super()._set_content_type_params(meta)  # type: ignore[misc]  # no stub knows it
        except (ValueError, LookupError, TooManyFieldsSent):  # idna and hex, say; too many parameters are refused later
            self._encoding = None


def _give_back_memory() -> None:
    """Have the C library, where it is glibc, keep less of the memory that was freed.

    All threads share one heap; of its own accord each keeps what it freed. Pieces of 3 MiB and more go back to the
    system at once; otherwise the size grows with the largest piece that was freed. Up to 16 MiB of smaller ones stay:
    to ask for them again would take a third of the time of new figures.
    """
    with contextlib.suppress(OSError, AttributeError):
        library = ctypes.CDLL(None)
        library.mallopt(M_ARENA_MAX, 1)
        library.mallopt(M_MMAP_THRESHOLD, 3 << 20)
        library.mallopt(M_TRIM_THRESHOLD, 16 << 20)


_give_back_memory()
WSGIHandler.request_class = Request
_answer = get_wsgi_application()


def application(environ: dict[str, Any], start_response: Any) -> Any:
    """Answer a request; a HEAD gets headers alone: for a body beside them gunicorn writes a line to the log."""
    body: Any = _answer(environ, start_response)
    if environ["REQUEST_METHOD"] != "HEAD":
        return body
    body.close()
    return ()


check_in_child()
code_version()  # of what is imported now, whatever is checked out later
