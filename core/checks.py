"""Checks that Django runs before it touches the database."""

from collections.abc import Callable, Sequence
from typing import Any

from django.conf import settings
from django.core.cache import cache
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.db import connection, connections
from django.db.migrations.loader import MigrationLoader

from core.files import bucket
from core.files.bucket import StoreError
from core.version import APPS

HINT = (
    "Databases from before November 2026 cannot be carried over. Start with an empty one: move the folder var away, "
    "or set DATABASE_URL and ARTIFACT_ROOT to new places."
)
STORE_HINT = "docs/settings.md describes the variables: Artifacts in a store."
REACH_HINT = "Is the server running, does it listen on an address that this machine reaches, is the password right?"
SECONDS = 2  # that a broker is waited for


@register(Tags.database)
def refuse_unknown_migrations(*, databases: Sequence[str] | None, **_: Any) -> list[CheckMessage]:
    """Refuse a database with migrations that this version does not have: `migrate` would leave it half-changed."""
    errors: list[CheckMessage] = []
    for alias in databases or []:
        loader = MigrationLoader(connections[alias])
        known = set(loader.disk_migrations)
        unknown = sorted(key for key in loader.applied_migrations if key[0] in APPS and key not in known)
        if unknown:
            app, name = unknown[0]
            words = f"The database was made by another version of TriplePool ({app}.{name}). Nothing was changed."
            errors.append(Error(words, hint=HINT, id="core.E001"))
    return errors


@register(Tags.files, deploy=True)
def try_store(**_: Any) -> list[CheckMessage]:
    """Write to the store of ARTIFACT_STORE, if one is set, and read it back."""
    try:
        bucket.check()
    except StoreError as error:
        return [Error(str(error), hint=STORE_HINT, id="core.E002")]
    return []


def _ask_database() -> None:
    connection.ensure_connection()


def _ask_broker() -> None:
    from kombu import Connection  # takes a tenth of a second, which other commands save

    options = settings.CELERY_BROKER_TRANSPORT_OPTIONS
    with Connection(settings.CELERY_BROKER_URL, transport_options=options, connect_timeout=SECONDS) as broker:
        broker.ensure_connection(max_retries=1, timeout=SECONDS)


def _ask_cache() -> None:
    cache.set("check", 1, 5)
    if cache.get("check") != 1:  # the cache itself never fails: its log has the reason
        raise OSError("what was written could not be read")


SERVERS: dict[str, tuple[str, Callable[[], None]]] = {
    "DATABASE_URL": ("database", _ask_database),
    "CELERY_BROKER_URL": ("broker", _ask_broker),
    "CACHE_URL": ("cache", _ask_cache),
}


@register(deploy=True)
def reach_servers(**_: Any) -> list[CheckMessage]:
    """Ask database, broker and cache: a machine whose settings lead nowhere says so before its units start."""
    errors: list[CheckMessage] = []
    for setting, (name, ask) in SERVERS.items():
        try:
            ask()
        except Exception as error:  # every server fails in its own way
            reason = str(error).strip().partition("\n")[0] or type(error).__name__
            words = f"The {name} of {setting} does not answer: {reason}"
            errors.append(Error(words, hint=REACH_HINT, id="core.E003"))
    return errors


@register(deploy=True)
def name_missing_servers(**_: Any) -> list[CheckMessage]:
    """Name what a site for others lacks: without these settings, each machine or process keeps its own."""
    if not settings.PRODUCTION:
        return []
    if settings.DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
        words = "The database is SQLite: other machines don't see it. Set DATABASE_URL to PostgreSQL for them."
        return [Warning(words, id="core.W001")]
    missing: list[CheckMessage] = []
    if settings.CELERY_BROKER_URL.startswith("filesystem:"):
        words = "CELERY_BROKER_URL is not set: the broker is a folder of this machine, which other machines don't see."
        missing.append(Warning(words, id="core.W002"))
    if "LOCATION" not in settings.CACHES["default"]:
        words = "CACHE_URL is not set: each web process counts API requests by itself."
        missing.append(Warning(words, id="core.W003"))
    return missing
