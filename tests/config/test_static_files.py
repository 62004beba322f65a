"""After collectstatic, pages name files by their hash, and browsers keep them for good."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from config.folders import is_collected

ASK = """
import re, sys
import django
django.setup()
from django.test import Client
from django.test.utils import setup_test_environment
setup_test_environment()
page = Client().get("/login").content.decode()
for address in re.findall(r'(?:src|href)="(/static/[^"]+)"', page):
    answer = Client().get(address, headers={"Accept-Encoding": "gzip"})
    print(address, answer.status_code, answer.get("Cache-Control"), answer.get("Content-Encoding"))
"""


@pytest.fixture(scope="module")
def collected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("static")
    done = manage(root, "manage.py", "collectstatic", "--noinput", "--verbosity", "0")
    assert done.returncode == 0, done.stderr
    return root


def manage(root: Path, *command: str, **more: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"STATIC_ROOT": str(root), "DJANGO_SETTINGS_MODULE": "config.settings"} | more
    return subprocess.run(
        [sys.executable, *command], cwd=settings.BASE_DIR, env=environment, capture_output=True, text=True, timeout=300
    )


def test_a_page_names_files_by_their_hash_and_they_are_kept(collected: Path, migrated: Path):
    done = manage(collected, "-c", ASK, DATABASE_URL=f"sqlite:///{migrated}")
    lines = [line.split(" ", 1) for line in done.stdout.splitlines()]
    assert lines and not done.stderr
    for address, answer in lines:
        assert re.search(r"\.[0-9a-f]{12}\.\w+$", address), address
        assert answer.startswith("200 max-age=315360000, public, immutable"), (address, answer)
    assert any(answer.endswith("gzip") for address, answer in lines if address.endswith((".js", ".css")))


def test_modules_import_each_other_by_these_names(collected: Path):
    names = json.loads((collected / "staticfiles.json").read_text())["paths"]
    page = (collected / names["js/annotate.js"]).read_text()
    imported = re.findall(r'from "\./(lib/[^"]+)"', page)
    assert imported and all(re.search(r"\.[0-9a-f]{12}\.js$", name) for name in imported)
    assert all((collected / "js" / name).is_file() for name in imported)


def test_files_that_changed_since_are_served_from_the_checkout(tmp_path: Path):
    made, source = tmp_path / "made", tmp_path / "source"
    for folder in (made, source / "js"):
        folder.mkdir(parents=True)
    (source / "js" / "a.js").write_text("1")
    assert not is_collected(made, source)
    (made / "staticfiles.json").write_text("{}")
    assert is_collected(made, source)
    later = (made / "staticfiles.json").stat().st_mtime + 5
    os.utime(source / "js" / "a.js", (later, later))
    assert not is_collected(made, source)
