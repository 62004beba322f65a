"""Make, list and revoke API tokens of a person. A token is shown once; only its hash is stored."""

from collections.abc import Collection
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils.translation import gettext

from core import clock
from core.enums import CoreAct, TokenScope
from core.errors import UserError
from core.models import ApiToken
from core.people.audit_log import record
from core.people.roles import Right, has_right

MOST_DAYS = 365
MOST_TOKENS = 20  # of one person


class TokenError(UserError):
    """A token cannot be made or revoked as asked."""


_NEEDS = {TokenScope.READ: Right.EVALUATE, TokenScope.RUN: Right.BRING_RUNS, TokenScope.MANAGE: Right.MANAGE}


def scopes_for(person: User) -> list[TokenScope]:
    """Return the scopes that tokens of the person can have; those of people without a role of the site only label."""
    return [scope for scope, right in _NEEDS.items() if has_right(person, right)] or [TokenScope.LABEL]


def create_token(person: User, name: str, scopes: Collection[str], days: int) -> tuple[ApiToken, str]:
    """Return a new row and the token itself, which nobody can read again; raise TokenError for a wrong choice."""
    name = name.strip()
    if not name or len(name) > 80:
        raise TokenError("Give the token a name of 1 to 80 characters, by which you will know it.")
    if not 1 <= days <= MOST_DAYS:
        raise TokenError(f"A token lives 1 to {MOST_DAYS} days, not {days}.")
    known = scopes_for(person)
    if not scopes or not set(scopes) <= set(known):
        raise TokenError(f"Choose what the token is for, of: {', '.join(known)}.")
    with transaction.atomic():
        held = User.objects.select_for_update().get(pk=person.pk)  # requests at the same time are counted one by one
        live = tokens_of(held)
        live.filter(expiry__lt=clock.now()).delete()
        if live.count() >= MOST_TOKENS:
            raise TokenError(f"You have {MOST_TOKENS} tokens: revoke one that you do not use.")
        try:
            with transaction.atomic():
                made: tuple[ApiToken, str] = ApiToken.objects.create(
                    user=held, name=name, scopes=sorted(scopes), expiry=timedelta(days=days)
                )
        except IntegrityError as error:
            raise TokenError(f"You have a token named {name}: revoke it, or take another name.") from error
        record(person, CoreAct.TOKEN_MADE, scopes=sorted(scopes), days=days)
    return made


def tokens_of(person: User) -> QuerySet[ApiToken]:
    """Return a person's tokens, newest first; expired ones are deleted when one is made or used."""
    return ApiToken.objects.filter(user=person)


def revoke_token(person: User, name: str) -> None:
    """End a token of the person at once; do nothing if it is gone already."""
    if tokens_of(person).filter(name=name).delete()[0]:
        record(person, CoreAct.TOKEN_REVOKED)


def revoke_all(person: User, by: User | None = None) -> int:
    """End all tokens of a person, as when the account is switched off; return their number."""
    deleted, _ = tokens_of(person).delete()
    if deleted:
        record(by, CoreAct.TOKEN_REVOKED, subject=person, tokens=deleted)
    return deleted


class EndsTokens:
    """A password validator that refuses nothing: it ends a person's tokens when their password is a new one.

    Django calls it wherever a password is set: on pages, in the admin, by commands; not when it hashes one anew. The
    sessions end by themselves: each holds a hash of the password.
    """

    def validate(self, password: str, user: User | None = None) -> None:
        pass

    def get_help_text(self) -> str:
        return gettext("With a new password, your other sessions and your API tokens end.")

    def password_changed(self, password: str, user: User | None = None) -> None:
        if user is not None:
            revoke_all(user)


def token_data(person: User) -> list[dict[str, Any]]:
    """Return what the person's own data file says of their tokens."""
    return list(tokens_of(person).values("name", "token_key", "scopes", "created", "expiry", "last_used_at"))
