"""Check the password of somebody who is signed in, before an act that a stolen session must not do."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import TypedDict, cast

from django.conf import settings
from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext

LATELY = timedelta(minutes=10)


def has_password(user: User) -> bool:
    """Return whether the person can sign in by password."""
    return settings.PASSWORD_SIGN_IN and user.has_usable_password()


def is_own_password(request: HttpRequest, typed: str) -> bool:
    """Return whether this is the person's password. Wrong ones count, and are limited, as at sign-in.

    Somebody without a password must have signed in during the last ten minutes; ValidationError says so.
    """
    user = cast("User", request.user)
    if not has_password(user):
        at = user.last_login
        if at is None or at < timezone.now() - LATELY:
            told = gettext("You have no password here. Sign out, sign in again, and do this within ten minutes.")
            raise ValidationError(told, "signed_in_long_ago")
        return True
    found = authenticate(request, username=request.user.get_username(), password=typed)
    return found is not None and found.pk == request.user.pk


class OwnPassword(TypedDict):
    """What an OwnPasswordForm has to know of the person."""

    has_password: bool
    is_password: Callable[[str], bool]


def own_password(request: HttpRequest) -> OwnPassword:
    """Return the arguments of an OwnPasswordForm for the person who is signed in."""
    return {"has_password": has_password(cast("User", request.user)), "is_password": partial(is_own_password, request)}
