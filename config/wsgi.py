"""WSGI entry point: gunicorn config.wsgi."""

import os
from typing import Any

from django.core.exceptions import TooManyFieldsSent
from django.core.handlers.wsgi import WSGIHandler, WSGIRequest
from django.core.wsgi import get_wsgi_application

from core.files.bucket import check_in_child
from core.version import code_version

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")


class Request(WSGIRequest):
    """Take a charset that cannot read the address for an unknown one: Django would fail before any handler."""

    def _set_content_type_params(self, meta: dict[str, Any]) -> None:
        try:
            super()._set_content_type_params(meta)  # type: ignore[misc]  # no stub knows it
        except (ValueError, LookupError, TooManyFieldsSent):  # idna and hex, say; too many parameters are refused later
            self._encoding = None


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
