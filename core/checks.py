"""Checks that Django runs before it touches the database."""

from collections.abc import Sequence
from typing import Any

from django.core.checks import CheckMessage, Error, Tags, register
from django.db import connections
from django.db.migrations.loader import MigrationLoader

from core.files import bucket
from core.files.bucket import StoreError
from core.version import APPS

HINT = (
    "Databases from before November 2026 cannot be carried over. Start with an empty one: move the folder var away, "
    "or set DATABASE_URL and ARTIFACT_ROOT to new places."
)
STORE_HINT = "docs/settings.md describes the variables: Artifacts in a store."


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
