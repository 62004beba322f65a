"""What every command and every web worker loads before it does anything."""

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

ASK = """
import sys
import django
django.setup()
from django.urls import get_resolver
get_resolver().url_patterns
asked = {"django", "torch", "pykeen", "pandas", "rdflib", "prometheus_client", "sentry_sdk"}
asked |= {"scipy.stats", "scipy.sparse", "scipy.linalg", "scipy.ndimage"}
print(sorted(asked & set(sys.modules)))
"""


def test_pages_and_commands_start_without_heavy_libraries():
    """A web process has about 170 MiB with all addresses; torch would add 300 to that, scipy.stats 60, pandas 50."""
    done = subprocess.run(
        [sys.executable, "-c", ASK], cwd=settings.BASE_DIR, capture_output=True, text=True, timeout=300
    )
    assert done.stdout == "['django']\n", done.stderr


READ_EMPTY = """
import sys
import pyarrow
from pooling.runs.files import _read_coded
keys, codes = _read_coded(pyarrow.chunked_array([], pyarrow.string()), None)
print(keys.dtype, codes.dtype, len(keys), len(codes), "pandas" in sys.modules)
"""


def test_a_run_without_candidates_is_read_without_pandas():
    done = run("import django\ndjango.setup()" + READ_EMPTY, environment=dict(os.environ))
    assert done.stdout == "int64 int64 0 0 False\n"


@pytest.mark.skipif(sys.platform != "linux", reason="torch has another runtime for threads there")
@pytest.mark.parametrize(("given", "spins"), [({}, 10_000), ({"GOMP_SPINCOUNT": "77"}, 77)])
def test_threads_of_torch_soon_sleep_while_they_wait(given: dict[str, str], spins: int):
    """Awake, they keep cores busy that others wait for. A variable that is set outside stays."""
    environment = {name: value for name, value in os.environ.items() if name != "GOMP_SPINCOUNT"}
    environment |= {"OMP_DISPLAY_ENV": "VERBOSE", **given}
    done = run("import django\ndjango.setup()\nimport torch", environment=environment)
    assert f"GOMP_SPINCOUNT = '{spins}'" in done.stderr


GIVE_BACK = """
import gc
import config.wsgi
import numpy as np

def resident():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) >> 10

large = np.ones(30 << 17)
del large  # of its own accord the C library now holds pieces up to this size
pieces = [np.ones(9 << 17) for _ in range(10)]
above = [bytes(100_000) for _ in range(40)]  # so that the heap cannot be cut
before = resident()
del pieces
print(before - resident())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc takes advice")
def test_a_web_process_gives_freed_memory_back():
    assert int(run(GIVE_BACK, environment=dict(os.environ)).stdout) > 80  # MiB, of 90


MAKE = """
import sys
from pathlib import Path
import django
django.setup()
from tests.factories import judge_all, make_pool, make_systems, make_town
town = make_town(Path(sys.argv[1]))
make_systems(town, ["transe", "distmult"])
judge_all(make_pool(town))
"""
RUN = """
import runpy
import sys
try:
    runpy.run_path("manage.py", run_name="__main__")
finally:
    print(*sys.modules, file=sys.stderr)
"""
# what took more than half of the time of these commands (docs/measured/benchmarks.md, Start-up), or would
NOT_IMPORTED = {
    *("pandas", "scipy", "pyarrow.compute", "torch", "plotly", "matplotlib", "celery", "config.urls"),
    *("rest_framework.views", "drf_spectacular.openapi", "allauth", "sentry_sdk", "rdflib", "pykeen"),
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, migrated: Path) -> dict[str, str]:
    """Return the environment of a site with the labelled pool `p`."""
    var = tmp_path_factory.mktemp("site")
    database = shutil.copy(migrated, var / "triplepool.sqlite3")
    environment = os.environ | {
        "TRIPLEPOOL_VAR": str(var),
        "DATABASE_URL": f"sqlite:///{database}",
        "ARTIFACT_ROOT": str(var / "artifacts"),
        "DJANGO_SETTINGS_MODULE": "config.settings",
    }
    run(MAKE, str(var / "town"), environment=environment)
    return environment


def run(code: str, *arguments: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, cwd=settings.BASE_DIR, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.parametrize(
    ("arguments", "says", "heavy"),
    [
        (["--help"], "    pool_report", NOT_IMPORTED | {"numpy", "pyarrow"}),
        (["pool_report", "p"], "by relation category:", NOT_IMPORTED),
        (["evaluate", "p"], "distmult", NOT_IMPORTED),
    ],
    ids=["help", "pool_report", "evaluate"],
)
def test_a_command_imports_nothing_heavy_that_it_does_not_need(site, arguments, says, heavy):
    done = run(RUN, *arguments, environment=site)
    assert any(line.startswith(says) for line in done.stdout.splitlines())
    assert heavy.intersection(done.stderr.split()) == set()


def test_packages_of_another_project_in_the_current_folder_are_not_taken(tmp_path: Path):
    for name in ("core", "pooling", "annotation", "evaluation"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise RuntimeError('another project')\n")
    command = [sys.executable, str(Path(settings.BASE_DIR) / "manage.py"), "show", "--help"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout.startswith("usage: manage.py show")) == (0, True), done.stderr


COUNT = """
import django
django.setup()
from django.core.cache import cache
cache.get_or_set("counted by another process", 0, 60)
print(cache.incr("counted by another process"))
"""


@pytest.mark.redis
def test_with_a_cache_all_processes_count_together():
    environment = os.environ | {"CACHE_URL": "redis://127.0.0.1:6379/1"}
    counts = [
        subprocess.run(
            [sys.executable, "-c", COUNT],
            cwd=settings.BASE_DIR,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
        ).stdout
        for _ in range(2)
    ]
    assert int(counts[1]) == int(counts[0]) + 1
