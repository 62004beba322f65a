"""What every command and every web worker loads before it does anything."""

import os
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
asked = {"django", "torch", "pykeen", "pandas", "scipy.stats", "rdflib", "prometheus_client", "sentry_sdk"}
print(sorted(asked & set(sys.modules)))
"""


def test_pages_and_commands_start_without_heavy_libraries():
    """A web process has about 175 MiB with all addresses; torch would add 300 to that, scipy.stats 60, pandas 50."""
    done = subprocess.run(
        [sys.executable, "-c", ASK], cwd=settings.BASE_DIR, capture_output=True, text=True, timeout=300
    )
    assert done.stdout == "['django']\n", done.stderr


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
