"""The language of the pages on which a person labels, as they chose it."""

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User

from core.models import Preferences


def choose_language(person: User, code: str) -> None:
    """Keep the language of a person, one of settings.LANGUAGES."""
    Preferences.objects.update_or_create(person=person, defaults={"language": code})


def chosen_language(person: User | AnonymousUser) -> str:
    """Return the language that a person chose; empty if they chose none, or it is no longer offered."""
    rows = Preferences.objects.filter(person=person.pk) if person.is_authenticated else Preferences.objects.none()
    code = rows.values_list("language", flat=True).first() or ""
    return code if code in dict(settings.LANGUAGES) else ""
