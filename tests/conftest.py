"""What every test gets: its own artifact folder, and a clear word when a service it needs is absent.

A test marked `postgres`, `redis`, `browser`, `nginx` or `data` skips where that is not there; with CI=true it fails.
One marked `rabbitmq` always skips, one marked `cuda` without a GPU.
"""

import gc
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis
import pytest
from django.conf import settings as django_settings
from django.db import connection

from tests import chromium
from tests.postgres import own_database

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# the same examples every time, however slow a busy machine is
hypothesis.settings.register_profile(
    "repeatable", derandomize=True, deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("repeatable")


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


def _missing_rabbitmq() -> str:
    return "" if _listens(5672) else "no RabbitMQ on 127.0.0.1:5672"


def _missing_browser() -> str:
    return "" if chromium.find() else f"no Chromium ({' or '.join(chromium.NAMES)})"


def _missing_gpu() -> str:
    import torch

    return "" if torch.cuda.is_available() else "PyTorch sees no GPU"


NEEDS: dict[str, Callable[[], str]] = {
    "data": _missing_data,
    "postgres": _missing_postgres,
    "redis": _missing_redis,
    "rabbitmq": _missing_rabbitmq,
    "browser": _missing_browser,
    "nginx": lambda: (
        "" if shutil.which("nginx", path=os.defpath + ":/usr/sbin:/sbin") else "no nginx (package nginx-light)"
    ),
    "cuda": _missing_gpu,
}


OPTIONAL = {"rabbitmq", "cuda"}  # few machines have them, CI does not: such tests are skipped there too

# the files that take longest, longest first: begun last, they would keep one process while the others are done
LONG = (
    "commands/test_demo", "annotation/test_concurrency", "jobs/test_worker_killed", "pages/test_accessible",
    "evaluation/browser", "annotation/browser", "systems/test_learning", "chaos/", "test_tutorial", "test_walk",
    "corpus/test_memory", "test_wheel", "deploy/test_kit", "test_first_walk",
)  # fmt: skip


def place(item: pytest.Item) -> int:
    path = item.path.as_posix()
    return next((place for place, name in enumerate(LONG) if name in path), len(LONG))


@pytest.hookimpl(trylast=True)  # pytest-django sorts too
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The long ones first. Mark what cannot run here: skipped with its reason, or left to fail in CI at its setup."""
    items.sort(key=place)
    reasons = dict.fromkeys(NEEDS, "")
    for name in {mark.name for item in items for mark in item.iter_markers() if mark.name in NEEDS}:
        reasons[name] = NEEDS[name]()
    for item in items:
        if item.get_closest_marker("browser"):
            # once in some thousand times Chromium loses an event; the summary names what was run again
            item.add_marker(pytest.mark.flaky(reruns=1))
        for mark in list(item.iter_markers()):
            if reason := reasons.get(mark.name):
                if os.environ.get("CI") == "true" and mark.name not in OPTIONAL:
                    item.user_properties.append(("missing", reason))
                else:
                    item.add_marker(pytest.mark.skip(reason=reason))


def pytest_collection_finish() -> None:
    """What is loaded by now stays: looking through torch and Django for garbage was a tenth of the suite's time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


def wait_out_midnight(seconds: int = 60) -> None:
    """What a test did before midnight UTC is not of today after it: none begins in the last minute of a day."""
    left = 86_400 - time.time() % 86_400
    if left < seconds:
        time.sleep(left)


def pytest_runtest_setup(item: pytest.Item) -> None:
    wait_out_midnight()
    for name, value in item.user_properties:
        if name == "missing":
            pytest.fail(f"{value}, and CI=true does not allow skipping", pytrace=False)
    if item.get_closest_marker("browser"):
        from playwright.sync_api import expect

        expect.set_options(timeout=60_000)  # 5 s are not much where the machine is busy


@pytest.fixture(scope="module")
def module_browser() -> Iterator["Browser"]:
    """Started once for the tests of a file."""
    with chromium.launched() as started:
        yield started


@pytest.fixture
def browser(module_browser: "Browser") -> Iterator["Browser"]:
    """What a test opens in it is closed when the test is over; name it after the server that it visits."""
    yield module_browser
    for context in module_browser.contexts:
        context.close()
    wait_for_requests()


def wait_for_requests(seconds: float = 30) -> None:
    """A page that closes leaves its last requests with the server: the database is not emptied under them."""
    for thread in threading.enumerate():
        if "process_request_thread" in thread.name:
            thread.join(seconds)


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup, django_db_blocker, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Besides what pytest-django does, keep a copy of the tests' database before any test has written into it."""
    path = tmp_path_factory.mktemp("migrated") / "triplepool.sqlite3"
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        # pytest-django makes no database where none of the chosen tests asks for one
        if connection.vendor == "sqlite" and connection.introspection.table_names(cursor):
            cursor.execute("VACUUM INTO %s", [str(path)])
        else:
            env = os.environ | {"DATABASE_URL": f"sqlite:///{path}"}
            command = [sys.executable, "manage.py", "migrate", "-v0"]
            subprocess.run(command, cwd=django_settings.BASE_DIR, env=env, check=True, timeout=300)
    return path


@pytest.fixture(scope="session")
def migrated(django_db_setup: Path) -> Path:
    """A database file as `migrate` leaves it. A process that needs one of its own gets a copy, and need not make it."""
    return django_db_setup


@pytest.fixture(scope="session")
def migrated_postgres() -> Iterator[str]:
    """The address of a PostgreSQL database as `migrate` leaves it, of which `own_database(…, like=…)` makes copies."""
    with own_database("migrated", durable=False) as url:
        env = os.environ | {"DATABASE_URL": url}
        command = [sys.executable, "manage.py", "migrate", "-v0"]
        subprocess.run(command, cwd=django_settings.BASE_DIR, env=env, check=True, timeout=300)
        yield url


@pytest.fixture(autouse=True)
def artifact_root(tmp_path: Path, settings) -> Path:
    """Nothing that a test writes lands in the artifact folder of the working copy."""
    settings.ARTIFACT_ROOT = tmp_path / "artifacts"
    return settings.ARTIFACT_ROOT


@pytest.fixture(autouse=True)
def _quick(settings) -> None:
    """What is slow on purpose or prepared for a long life is not: password hashes, and the list of static files."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    settings.WHITENOISE_AUTOREFRESH = True  # files are looked up when they are asked for, not for every Client()


@pytest.fixture(autouse=True)
def _no_throttle(settings) -> None:
    """Tests ask far more often than people, and the counts of one would be those of the next."""
    settings.API_RATES = dict.fromkeys(settings.API_RATES, "1000000/min")
