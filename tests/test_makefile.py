"""The Makefile on machines that lack something: in an empty folder, with a stand-in for Python."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from django.conf import settings

ROOT = Path(settings.BASE_DIR)
pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="no make")

# Answers as python3 would: is it new enough, can it make environments; and makes one that notes what is asked of it.
PYTHON = """#!/bin/sh
case "$2" in
  *version_info*) exit {old} ;;
  *ensurepip*) exit {bare} ;;
esac
if [ "$1 $2" = "-m venv" ]; then
  mkdir -p "$3/bin"
  printf '#!/bin/sh\\necho "$@" >> asked\\n' > "$3/bin/python"
  chmod +x "$3/bin/python"
fi
"""


INSTALL = "-m pip install --quiet --disable-pip-version-check"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "requirements.txt").write_text("one==1\n")
    (tmp_path / "requirements-dev.txt").write_text("-r requirements.txt\ntwo==1\n")
    return tmp_path


def make(folder: Path, *arguments: str, old: int = 0, bare: int = 0) -> subprocess.CompletedProcess[str]:
    python = folder / "python3"
    python.write_text(PYTHON.format(old=old, bare=bare))
    python.chmod(0o755)
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}
    return subprocess.run(
        ["make", f"PYTHON={python}", *arguments], cwd=folder, env=environment, capture_output=True, text=True
    )


def asked(folder: Path) -> list[str]:
    return [line for line in (folder / "asked").read_text().splitlines() if "--version" not in line]


def test_an_old_python_is_named_and_nothing_is_made(folder: Path):
    done = make(folder, "demo", old=1)
    assert done.returncode != 0
    assert "TriplePool needs Python 3.11 or newer" in done.stderr
    assert not (folder / ".venv").exists()


def test_a_python_without_venv_is_told_how_to_get_it(folder: Path):
    done = make(folder, "test", bare=1)
    assert done.returncode != 0
    assert "apt-get install python3-venv" in done.stderr
    assert not (folder / ".venv").exists()


def test_requirements_are_installed_once_and_again_when_they_change(folder: Path):
    install = f"{INSTALL} -r requirements.txt"
    assert make(folder, "environment").returncode == 0
    assert make(folder, "environment").returncode == 0
    assert asked(folder) == [install]
    (folder / "requirements.txt").write_text("one==2\n")
    assert make(folder, "environment").returncode == 0
    assert asked(folder) == [install, install]


def test_development_installs_both_files_with_one_call_and_the_site_then_nothing(folder: Path):
    install = f"{INSTALL} -r requirements-dev.txt"
    for goal in ("development", "development", "environment"):
        assert make(folder, goal).returncode == 0
    assert asked(folder) == [install]
    for name in ("requirements.txt", "requirements-dev.txt"):
        (folder / name).write_text("changed==2\n")
        assert make(folder, "development").returncode == 0
    assert asked(folder) == [install] * 3


def test_development_after_the_site_installs_what_is_missing(folder: Path):
    for goal in ("environment", "development"):
        assert make(folder, goal).returncode == 0
    assert asked(folder) == [f"{INSTALL} -r requirements.txt", f"{INSTALL} -r requirements-dev.txt"]


@pytest.mark.parametrize(("goal", "file"), [("test", "-dev"), ("test-slow", "-dev"), ("lint", "-dev"), ("serve", "")])
def test_what_a_goal_installs(folder: Path, goal: str, file: str):
    make(folder, goal)
    assert asked(folder)[0] == f"{INSTALL} -r requirements{file}.txt"


def test_an_install_that_failed_is_tried_again(folder: Path):
    assert make(folder, "environment").returncode == 0
    (folder / "requirements.txt").write_text("one==2\n")
    fails = '#!/bin/sh\necho "$@" >> asked\ncase "$*" in *install*) exit 1 ;; esac\n'
    (folder / ".venv/bin/python").write_text(fails)
    assert make(folder, "environment").returncode != 0
    assert make(folder, "environment").returncode != 0
    assert len(asked(folder)) == 3


def test_demo_serves_unless_told_not_to(folder: Path):
    assert make(folder, "demo").returncode == 0
    assert make(folder, "demo", "SERVE=0", "PORT=8123").returncode == 0
    assert [line for line in asked(folder) if "manage.py" in line] == [
        "manage.py migrate --verbosity 0",
        "manage.py demo --bind 127.0.0.1:8000",
        "manage.py migrate --verbosity 0",
        "manage.py demo --bind 127.0.0.1:8123 --no-serve",
    ]


def test_no_slow_test_is_no_failure_but_a_failing_one_is(folder: Path):
    assert make(folder, "environment").returncode == 0
    for code, ends_well in ((0, True), (5, True), (1, False)):
        (folder / ".venv/bin/python").write_text(f'#!/bin/sh\ncase "$*" in *pytest*) exit {code} ;; esac\n')
        assert (make(folder, "test-slow").returncode == 0) == ends_well, code


def test_ci_runs_what_the_readme_names():
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    lines = script.read_text().splitlines()
    assert "set -euo pipefail" in lines
    assert [line for line in lines if line.startswith("make ")] == ["make lint", "make docs", "make test"]
    assert "make test     #" in (ROOT / "README.md").read_text()
