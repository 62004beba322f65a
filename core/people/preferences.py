"""What a person chose for themselves, read once for each request."""

from typing import Any

from django.contrib.auth.models import AnonymousUser, User

from core.models import Preferences
from core.people.roles import site_roles


def preferences_of(person: User | AnonymousUser) -> Preferences | None:
    """Return what a person chose; None if they chose nothing. The person's object keeps it: a request reads it once."""
    site_roles(person)  # one query reads both
    return getattr(person, "preferences", None)  # where there is no row, Django raises an AttributeError


def prefer(person: User, **chosen: Any) -> None:
    """Keep these choices of a person; the others stay."""
    row, _ = Preferences.objects.update_or_create(person=person, defaults=chosen)
    person.preferences = row
