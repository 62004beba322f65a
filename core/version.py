"""The version of this code, and of the site: workers of another version take no jobs.

The release number alone would not tell two checkouts apart, so the names of the migrations join it: code with other
tables must not touch the rows. `migrate` writes the version that it ran with into the one row of `SiteVersion`.
"""

import hashlib
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db.models import Model

from core.libraries import versions_of

APPS = ("core", "pooling", "annotation", "evaluation")


@cache
def code_version() -> str:
    """Return the version of the code that this process runs, like 0.1.0+3fa9c1; asked at start, it stays."""
    root = Path(settings.BASE_DIR)
    project = root / "pyproject.toml"  # of a checkout; a wheel has the release in its metadata
    if project.is_file():
        release = tomllib.loads(project.read_text(encoding="utf-8"))["project"]["version"]
    else:
        release = versions_of("triplepool").get("triplepool", "0")
    names = sorted(f"{app}/{file.name}" for app in APPS for file in (root / app / "migrations").glob("0*.py"))
    return f"{release}+{hashlib.sha256(' '.join(names).encode()).hexdigest()[:6]}"


def site_version() -> str:
    """Return the version that last migrated the database; empty if it is not known."""
    from core.models import SiteVersion

    return SiteVersion.objects.values_list("version", flat=True).first() or ""


def is_other(version: str, site: str) -> bool:
    """Return whether a worker of this version must leave the jobs of the site alone."""
    return bool(version and site and version != site)


def words(version: str, site: str) -> str:
    """Say that a worker has another version than the site, and what to do."""
    return (
        f"It has version {version}, the site {site}, so it takes no job. Update its code to that of the site and start "
        "it again; if its code is the newer one, run manage.py migrate."
    )


def write_site_version(**given: Any) -> None:
    """Write the version after `migrate`; its tables may be those of an older migration."""
    registry = given.get("apps")
    try:
        model: type[Model] = (registry or _apps()).get_model("core", "SiteVersion")
    except LookupError:
        return
    manager = model._default_manager.using(given.get("using", "default"))
    manager.update_or_create(pk=1, defaults={"version": code_version()})


def _apps() -> Any:
    from django.apps import apps

    return apps
