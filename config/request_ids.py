"""Give each request an id, by which its lines in the logs of proxy and site are found together."""

import re
import uuid
import weakref
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.functional import SimpleLazyObject

from config.proxies import is_trusted
from core.logs import FIELDS

HEADER, SENT = "X-Request-ID", "HTTP_X_REQUEST_ID"
FORM = re.compile(r"[A-Za-z0-9._:/+=@-]{1,128}")


class RequestIds:
    """Take the id that a trusted proxy sent, or make one; send it back, and have it in every line of the log.

    The fields stay until the thread gets its next request: Django writes of a failed one after all middleware.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        sent = request.META.get(SENT, "")
        believed = is_trusted(request.META.get("REMOTE_ADDR", ""), settings.TRUSTED_PROXIES) and FORM.fullmatch(sent)
        found, here = sent if believed else uuid.uuid4().hex, weakref.ref(request)
        FIELDS.set({"request_id": found, "user_id": lambda: _user_id(here())})
        response = self.get_response(request)
        response[HEADER] = found
        return response


def _user_id(request: HttpRequest | None) -> int | None:
    """Return who sent the request, if that is known already: a line of the log asks no database."""
    user = vars(request).get("user") if request is not None else None
    if isinstance(user, SimpleLazyObject):
        user = vars(request).get("_cached_user")
    return getattr(user, "pk", None)
