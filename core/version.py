"""The version of this code, and of the site: workers of another version take no jobs.

The release number alone would not tell two checkouts apart, so a digest of the source joins it: every update changes
the version, also one without a migration. `migrate` writes the version that it ran with into the one row of
`SiteVersion`.
"""

import hashlib
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db.models import Model

from core.libraries import versions_of

APPS = ("core", "pooling", "annotation", "evaluation")
SOURCE = (*APPS, "config", "templates", "static")  # what web and workers run on; the same in checkout and wheel
KINDS = {".py", ".html", ".txt", ".css", ".js", ".svg", ".mo"}


@cache
def code_version() -> str:
    """Return the version of the code that this process runs, like 0.1.0+3fa9c1; asked at start, it stays."""
    root = Path(settings.BASE_DIR)
    project = root / "pyproject.toml"  # of a checkout; a wheel has the release in its metadata
    if project.is_file():
        release = tomllib.loads(project.read_text(encoding="utf-8"))["project"]["version"]
    else:
        release = versions_of("triplepool").get("triplepool", "0")
    return f"{release}+{source_digest(root)}"


def source_digest(root: Path) -> str:
    """Return six characters that differ if any source file below `root` does, or has another name."""
    digest = hashlib.sha256()
    for name, file in sorted((file.relative_to(root).as_posix(), file) for file in _source_files(root)):
        content = file.read_bytes()
        digest.update(f"{name} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:6]


def _source_files(root: Path) -> Iterator[Path]:
    for folder in SOURCE:
        for file in (root / folder).rglob("*"):
            if file.suffix in KINDS and not file.name.startswith("."):
                yield file


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


def web_words(version: str, site: str) -> str:
    """Say that a web process has another version than the site, and what to do."""
    return (
        f"This page comes from a web process of version {version}, the site has {site}. Update its code to that of the "
        "site and start it again; if its code is the newer one, run manage.py migrate."
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
