"""What every test gets: its own artifact folder, and a clear word when a service it needs is absent.

A test marked `postgres`, `redis`, `browser` or `data` skips where that is not there; with CI=true it fails.
"""

import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from django.conf import settings as django_settings


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=0.5).close()
    except OSError:
        return False
    return True


def _missing_data() -> str:
    root = Path(django_settings.DATA_ROOT)
    return "" if root.is_dir() else f"no example data at {root}"


def _missing_postgres() -> str:
    return "" if _listens(5432) else "no PostgreSQL on 127.0.0.1:5432"


def _missing_redis() -> str:
    return "" if _listens(6379) else "no Redis on 127.0.0.1:6379"


def _missing_browser() -> str:
    found = Path("/usr/bin/chromium").exists() or shutil.which("chromium")
    return "" if found else "no Chromium (/usr/bin/chromium)"


NEEDS: dict[str, Callable[[], str]] = {
    "data": _missing_data,
    "postgres": _missing_postgres,
    "redis": _missing_redis,
    "browser": _missing_browser,
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what cannot run here: skipped with its reason, or left to fail in `pytest_runtest_setup` in CI."""
    reasons = dict.fromkeys(NEEDS, "")
    for name in {mark.name for item in items for mark in item.iter_markers() if mark.name in NEEDS}:
        reasons[name] = NEEDS[name]()
    for item in items:
        for mark in list(item.iter_markers()):
            if reason := reasons.get(mark.name):
                if os.environ.get("CI") == "true":
                    item.user_properties.append(("missing", reason))
                else:
                    item.add_marker(pytest.mark.skip(reason=reason))


def pytest_runtest_setup(item: pytest.Item) -> None:
    for name, value in item.user_properties:
        if name == "missing":
            pytest.fail(f"{value}, and CI=true does not allow skipping", pytrace=False)


@pytest.fixture(autouse=True)
def artifact_root(tmp_path: Path, settings) -> Path:
    """Nothing that a test writes lands in the artifact folder of the working copy."""
    settings.ARTIFACT_ROOT = tmp_path / "artifacts"
    return settings.ARTIFACT_ROOT
