"""Names of time zones, as the IANA data base has them. Settings read this file: it imports no models."""

from collections.abc import Mapping
from datetime import UTC, datetime, tzinfo
from functools import cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from django.core.exceptions import ImproperlyConfigured

REGIONS = (
    "Africa", "America", "Antarctica", "Arctic", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific",
)  # fmt: skip


@cache
def zones() -> dict[str, list[str]]:
    """Return the zones to choose from by region, each by name; none on a machine without the data base."""
    every = sorted(available_timezones())
    return {region: sorted((name for name in every if name.startswith(f"{region}/")), key=city) for region in REGIONS}


def city(name: str) -> str:
    """Return how a list of one region names a zone: Berlin, or Knox (Indiana). What people type comes first."""
    _, *between, last = name.replace("_", " ").split("/")
    return f"{last} ({between[0]})" if between else last


def is_zone(name: str) -> bool:
    """Return whether this is a zone to choose."""
    return name == "UTC" or name in zones().get(name.partition("/")[0], ())


def zone(name: str) -> tzinfo:
    """Return the zone of a name; UTC if this machine does not know it."""
    if name == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC


def read_zone(env: Mapping[str, str]) -> str:
    """Return the site's zone; ImproperlyConfigured if this machine knows none of this name."""
    name = env.get("TIME_ZONE", "").strip() or "UTC"
    if not is_zone(name):
        raise ImproperlyConfigured(
            f"TIME_ZONE is {name!r}, which is not a time zone of this machine: write it as in Europe/Berlin, or "
            "leave it out for UTC."
        )
    return name


def short_name(moment: datetime) -> str:
    """Return the zone of a time in few letters: UTC, CET, or UTC+05:45 for a zone without letters."""
    name = moment.tzname() or ""
    return name if name.isalpha() else f"UTC{moment.isoformat()[-6:]}"
