"""The wheel, installed beside other projects' packages of the same names: the notebook library alone, and the site."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import sysconfig
import time
import urllib.error
import urllib.request
import zipfile
from pathlib import Path

import pytest

from evaluation.sections.help_pages import PAGES

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(sysconfig.get_paths()["purelib"])
OTHERS = ("pooling", "annotation", "evaluation", "core", "config")
# what numpy, pandas and scipy consist of
LIBRARY = ("numpy", "numpy.libs", "pandas", "pandas.libs", "scipy", "scipy.libs", "dateutil", "six.py")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    left_out = shutil.ignore_patterns(".*", "var", "build", "*.egg-info", "__pycache__", "measured", "images")
    shutil.copytree(ROOT, folder / "source", ignore=left_out)
    build = ["wheel", "--no-build-isolation", "--no-deps", "--no-index", "-q", "-w", str(folder), "."]
    subprocess.run([sys.executable, "-m", "pip", *build], cwd=folder / "source", check=True)
    [found] = folder.glob("*.whl")
    return found


def installed(wheel: Path, folder: Path) -> Path:
    """Return the site-packages of a new environment with the wheel and other projects' packages of its names."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python")]
    subprocess.run([*pip, "install", "--no-deps", "--no-index", "-q", str(wheel)], check=True)
    [packages] = folder.glob("lib/python3*/site-packages")
    for name in OTHERS:
        (packages / name).mkdir()
        (packages / name / "__init__.py").write_text("WHOSE = 'another project'\n")
    return packages


def run(folder: Path, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {"PATH": os.environ["PATH"], "HOME": str(folder), "OMP_NUM_THREADS": "1", **environment}
    return subprocess.run(command, cwd=folder, env=kept, capture_output=True, text=True, timeout=600)


@pytest.fixture(scope="module")
def notebook(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with numpy, pandas and scipy, and nothing else."""
    folder = tmp_path_factory.mktemp("notebook") / "env"
    packages = installed(wheel, folder)
    for name in LIBRARY:
        (packages / name).symlink_to(SHARED / name)
    return folder


@pytest.fixture(scope="module")
def site(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with all that the site needs."""
    folder = tmp_path_factory.mktemp("site") / "env"
    (installed(wheel, folder) / "shared.pth").write_text(f"{SHARED}\n")
    return folder


NOTEBOOK = """
import contextlib, importlib.util, io, json, pickle, sys
import annotation, evaluation, pooling

blocks = json.load(open(sys.argv[1]))
assert all(importlib.util.find_spec(name) is None for name in ("django", "torch", "pykeen"))
names = {}
for code, said in blocks:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, names)
    lines = [line.rstrip() for line in printed.getvalue().splitlines()]
    assert lines == said.splitlines(), (code, lines)
import triplepool
assert {one.WHOSE for one in (annotation, evaluation, pooling)} == {"another project"}
assert set(triplepool.__all__) <= set(dir(triplepool))
assert all(getattr(triplepool, name) is not None for name in triplepool.__all__)
print(len(blocks), triplepool.evaluate.__module__)
"""

PROCESSES = """
import multiprocessing
import evaluation
from triplepool import evaluate
from triplepool.example import ranked

if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.apply(evaluate, (ranked, ["map"]))
    print(found.equals(evaluate(ranked, ["map"])), evaluation.WHOSE)
"""


def test_notebook_page_runs_in_an_environment_without_django_or_torch(notebook: Path, tmp_path: Path):
    text = (ROOT / "docs" / "notebooks.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", text, re.S)
    (tmp_path / "blocks.json").write_text(json.dumps(blocks))
    done = run(notebook, "bin/python", "-c", NOTEBOOK, str(tmp_path / "blocks.json"))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{len(blocks)} triplepool._lib.evaluation.notebooks.comparisons\n" and len(blocks) >= 13


def test_what_the_library_gives_goes_to_other_processes(notebook: Path):
    (notebook / "processes.py").write_text(PROCESSES)
    done = run(notebook, "bin/python", "processes.py")
    assert (done.stdout, done.stderr) == ("True another project\n", "")


def test_a_measure_of_pykeen_says_what_it_needs(notebook: Path):
    program = "from triplepool import evaluate\nfrom triplepool.example import ranked\nevaluate(ranked, ['amri'])"
    done = run(notebook, "bin/python", "-c", program)
    assert "pip install 'triplepool[train]'" in done.stderr.splitlines()[-1]


def test_commands_without_the_site_say_what_to_install(notebook: Path):
    assert "graph" in run(notebook, "bin/triplepool", "--help").stdout
    done = run(notebook, "bin/triplepool", "graph", "list")
    assert (done.returncode, "pip install 'triplepool[site,train]'" in done.stderr) == (2, True)


def test_wheel_has_nothing_at_the_top_but_triplepool_and_all_that_the_site_reads(wheel: Path):
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names} == {"triplepool", "triplepool-0.1.0.dist-info"}
    inside = {name.removeprefix("triplepool/_site/") for name in names}
    wanted = {
        str(path.relative_to(ROOT))
        for folder in ("config", "core", "pooling", "annotation", "evaluation", "templates", "static", "fixtures")
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert wanted - inside == set()
    assert {f"docs/{page}.md" for page in PAGES} <= inside


def test_site_works_from_the_wheel_and_keeps_its_data_elsewhere(site: Path, tmp_path: Path):
    data = tmp_path / "data"

    def triplepool(*words: str) -> subprocess.CompletedProcess[str]:
        return run(site, "bin/triplepool", *words, XDG_DATA_HOME=str(data))

    before = {path for path in site.rglob("*") if "__pycache__" not in path.parts}
    assert "triplepool migrate" in triplepool("graph", "list").stderr
    assert triplepool("migrate", "--verbosity", "0").returncode == 0
    made = triplepool("graph", "import", "town", "--family-tree", "--families", "1", "--people", "12")
    assert made.returncode == 0, made.stderr
    rows = json.loads(triplepool("graph", "list", "--json").stdout)
    assert [row["name"] for row in rows] == ["town"]
    flat = json.loads(triplepool("show", "graph", "town", "--json").stdout)
    assert flat == rows[0] == json.loads(triplepool("graph", "show", "town", "--json").stdout)
    assert triplepool("graph", "import", "--help").stdout.startswith("usage: triplepool graph import")
    kept = {path.name for path in (data / "triplepool").iterdir()}
    assert {"triplepool.sqlite3", "artifacts", "secret_key"} <= kept
    assert {path for path in site.rglob("*") if "__pycache__" not in path.parts} - before == set()


def answer(url: str) -> int:
    for _ in range(120):
        try:
            with urllib.request.urlopen(url, timeout=20) as found:
                return int(found.status)
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            time.sleep(0.5)
    return 0


def test_site_is_served_from_the_wheel(site: Path, tmp_path: Path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        at = f"127.0.0.1:{free.getsockname()[1]}"
    environment = {"PATH": os.environ["PATH"], "HOME": str(site), "TRIPLEPOOL_VAR": str(tmp_path / "var")}
    migrate = run(site, "bin/triplepool", "migrate", "--verbosity", "0", TRIPLEPOOL_VAR=str(tmp_path / "var"))
    assert migrate.returncode == 0, migrate.stderr
    command = [str(site / "bin" / "triplepool"), "serve", "--bind", at, "--no-worker"]
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.DEVNULL) as served:
        try:
            found = [answer(f"http://{at}/{path}") for path in ("login", "static/css/base.css", "api/v1/schema")]
        finally:
            served.terminate()
    assert found == [200, 200, 200]
