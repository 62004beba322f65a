"""The language of every page: pages of people who label are translated, those of managers and researchers are not.

This is the one place that decides it. A view only marks its texts (gettext), and a page says its language in <html>.
"""

from collections.abc import Callable
from functools import lru_cache

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import Resolver404, resolve
from django.utils import translation
from django.utils.cache import patch_vary_headers

from core.people.languages import chosen_language
from core.people.roles import can_evaluate

# routes whose pages are in the language of whoever asks, also of a manager
TRANSLATED = frozenset(
    {
        *("login", "logout", "password-forgotten", "password-sent", "password-new", "password-new-done", "language"),
        *("invitation", "consent", "account", "account-password", "account-erase"),
        *("account-time-zone",),
        *("annotate", "campaign-training", "my-labels", "adjudicate", "disputes", "messages", "guidelines"),
        # answers that these pages show; calls by token have no session, so they stay English
        *("api-claim", "api-claim-disputed", "api-submit", "api-submit-decision", "api-change", "api-flag"),
        *("api-return", "api-renew", "api-release", "api-progress", "api-own-labels"),
    }
)
# routes of English texts that people who label may read too
ENGLISH = frozenset({"help", "help-page", "api-docs", "account-tokens", "account-data", "words"})


def language_of(request: HttpRequest) -> str:
    """Return the language of the answer to a request.

    Whatever else people who label ask for is their home page, their search or a refusal: all are in their language.
    """
    route = _route(request.path_info)
    is_call = request.path_info.startswith("/api/")
    if route in ENGLISH or (is_call and not (route in TRANSLATED and request.user.is_authenticated)):
        return settings.LANGUAGE_CODE
    if route not in TRANSLATED and can_evaluate(request.user):
        return settings.LANGUAGE_CODE
    return chosen_language(request.user) or translation.get_language_from_request(request)  # a cookie, or the header


@lru_cache(256)
def _route(path: str) -> str:
    """Return the name of the route of a path, or nothing; whoever labels asks for a few paths again and again."""
    try:
        return resolve(path).url_name or ""
    except Resolver404:
        return ""


class SpeakLanguage:
    """Answer every request in the language of its page."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        with translation.override(language_of(request)):
            response = self.get_response(request)
        if not request.user.is_authenticated and isinstance(response, HttpResponse):
            patch_vary_headers(response, ["Accept-Language"])
        return response
