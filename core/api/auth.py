"""Authenticate calls of the API: by a session, or by a token that its owner made for some purpose."""

from datetime import timedelta
from typing import Any

from knox.auth import TokenAuthentication
from rest_framework.authentication import SessionAuthentication, get_authorization_header
from rest_framework.request import Request

from core import clock
from core.models import ApiToken

SEEN = timedelta(minutes=1)  # the least time between two writes of a token's last use


class SignedIn(SessionAuthentication):
    """Accept sessions with CSRF; answer 401, not 403, to a call without one."""

    def authenticate_header(self, request: Request) -> str:
        return "Session"


class Token(TokenAuthentication):
    """Accept `Authorization: Bearer tp_…` or `Token tp_…`.

    knox looks the hash up and refuses expired tokens and inactive people.
    """

    def authenticate_header(self, request: Request) -> str:
        """Return the scheme of the request, which knox compares with this."""
        scheme = get_authorization_header(request).partition(b" ")[0]
        return "Bearer" if scheme.lower() == b"bearer" else str(super().authenticate_header(request))

    def authenticate_credentials(self, token: bytes) -> tuple[Any, ApiToken]:
        try:
            token.decode()
        except UnicodeDecodeError:
            token = b"none"  # knox would answer 500
        user, found = super().authenticate_credentials(token)
        now = clock.now()
        if found.last_used_at is None or found.last_used_at < now - SEEN:
            ApiToken.objects.filter(pk=found.pk).update(last_used_at=now)
        return user, found
