"""The language of the pages on which a person labels, as they chose it."""

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User

from core.people.preferences import prefer, preferences_of


def choose_language(person: User, code: str) -> None:
    """Keep the language of a person, one of settings.LANGUAGES."""
    prefer(person, language=code)


def chosen_language(person: User | AnonymousUser) -> str:
    """Return the language that a person chose; empty if they chose none, or it is no longer offered."""
    found = preferences_of(person)
    return found.language if found and found.language in dict(settings.LANGUAGES) else ""
