"""Find or make the account of a person whom a provider of single sign-on vouches for."""

import re
import secrets
import unicodedata
from collections.abc import Iterator

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.utils.translation import gettext_lazy as _

from annotation.enums import AnnotationAct
from annotation.errors import PersonError
from annotation.models import Identity
from annotation.people.accounts import end_sessions, give_role, make_account
from core.people.audit_log import record
from core.people.tokens import revoke_all

LONGEST = 191  # allauth takes no longer one
SWITCHED_OFF = _("Your account is switched off. Ask a manager.")
SEVERAL = _("Several accounts here have your e-mail address. Ask a manager.")
NO_SUBJECT = _("Your provider does not say who you are. Ask a manager.")


def person_of(issuer: str, subject: str, *, email: str = "", name: str = "", role: str = "") -> User:
    """Return the account of a person; PersonError if it may not sign in.

    The first time, it is the one account with this e-mail address, or a new one with `role`, a role of the site.
    `email` must be verified by the provider; empty: not known. `name` is what a new account is called if it can be.
    """
    check_subject(subject)
    try:
        with transaction.atomic():
            user = _known(issuer, subject) or _first(issuer, subject, email, name, role)
    except IntegrityError:  # two requests of one person at the same moment
        found = _known(issuer, subject)
        if found is None:
            raise
        user = found
    if not user.is_active:
        raise PersonError(SWITCHED_OFF)
    return user


def check_subject(subject: str) -> None:
    """Raise PersonError for a provider's id of a person that cannot be kept."""
    if not (subject and subject.strip()) or len(subject) > LONGEST or "\0" in subject:
        raise PersonError(NO_SUBJECT)


def _known(issuer: str, subject: str) -> User | None:
    known = Identity.objects.filter(issuer=issuer, subject=subject).select_related("person").first()
    return known.person if known else None


def _first(issuer: str, subject: str, email: str, name: str, role: str) -> User:
    try:
        validate_email(email)
    except ValidationError:
        email = ""
    user = _with_address(email)
    made = user is None
    if user is None:
        user = _make(name or email.partition("@")[0], email)
        if role:
            give_role(user, role)
    elif user.is_active:
        _take_over(user)
    else:
        raise PersonError(SWITCHED_OFF)
    Identity.objects.create(person=user, issuer=issuer, subject=subject)
    record(None, AnnotationAct.IDENTITY_ADDED, subject=user, made=made)
    return user


def _with_address(email: str) -> User | None:
    """Return the account with this address. The database may take other letters for the same: compare them here."""
    if not email:
        return None
    found = [one for one in User.objects.filter(email__iexact=email) if one.email.lower() == email.lower()]
    if len(found) > 1:
        raise PersonError(SEVERAL)
    return found[0] if found else None


def _take_over(user: User) -> None:
    """End what somebody else may hold of an account: nobody here checked that its address was theirs."""
    user.set_unusable_password()
    user.save(update_fields=["password"])
    end_sessions(user)
    revoke_all(user)
    Identity.objects.filter(person=user).delete()


def _make(wanted: str, email: str) -> User:
    for name in _names(wanted):
        try:
            return make_account(name, None, email)
        except PersonError:  # taken, or looks like another
            continue
    raise PersonError(NO_SUBJECT)


def _names(wanted: str) -> Iterator[str]:
    plain = re.sub(r"[^\w.@+-]", "", unicodedata.normalize("NFKC", wanted))[:100]
    if plain:
        yield plain
    yield from (f"{plain or 'person'}-{secrets.token_hex(3)}" for _ in range(3))
    yield from (f"person-{secrets.token_hex(4)}" for _ in range(3))
