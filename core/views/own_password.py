"""Check the password of somebody who is signed in, before an act that a stolen session must not do."""

from django.contrib.auth import authenticate
from django.http import HttpRequest


def is_own_password(request: HttpRequest, typed: str) -> bool:
    """Return whether this is the person's password. Wrong ones count, and are limited, as at sign-in."""
    found = authenticate(request, username=request.user.get_username(), password=typed)
    return found is not None and found.pk == request.user.pk
