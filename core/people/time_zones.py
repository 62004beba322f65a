"""The time zone in which a person reads times, as they chose it."""

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User

from core.people.preferences import prefer, preferences_of
from core.zones import is_zone


def choose_zone(person: User, name: str) -> None:
    """Keep the zone of a person, one of core.zones; empty: the site's."""
    prefer(person, time_zone=name)


def chosen_zone(person: User | AnonymousUser) -> str:
    """Return the zone that a person chose; empty if they chose none, or this machine does not know it."""
    found = preferences_of(person)
    return found.time_zone if found and is_zone(found.time_zone) else ""


def zone_of(person: User | AnonymousUser) -> str:
    """Return the zone of a person's pages: the chosen one, or the site's."""
    return chosen_zone(person) or settings.SITE_TIME_ZONE
