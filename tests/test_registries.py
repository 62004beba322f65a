"""A measure, a system, a filter, an order and an exported file each take one new file and one line in a registry.

Here they are added to a copy of the program in just this way; tests/evaluation/toys.py uses them there.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

ROOT = Path(settings.BASE_DIR)
FOLDERS = ("core", "pooling", "annotation", "evaluation", "config", "tests", "docs", "fixtures")
COPIED = (*FOLDERS, "manage.py", "pyproject.toml")
LINKED = ("templates", "static", "README.md", "CHANGELOG.md", "Makefile")

SYSTEM = (ROOT / "docs" / "example_system.py").read_text(encoding="utf-8")
FILTER = """
from pooling.pools.kernels.filter_base import Filter


def first_relation(found):
    return found.triples[:, 1] == 0


TOY = Filter("toy", "of the first relation", "Triples of the first relation are toys.", first_relation)
"""
ORDER = """
import numpy as np

from pooling.orders.base import Order, Pick, best


def pick(pool, progress, size, seed, settings):
    last = np.arange(pool.size)
    return Pick.of(best(last, last, ~progress.released, size))


TOY = Order("toy", "Toy", "Last come first.", "For tests.", "made up", False, pick)
"""
MEASURE = """
from evaluation.measures.macro import first_rank
from evaluation.measures.measure import Measure


def reversed_rank(answers, k=None):
    return 100.0 - first_rank(answers)


ROWS = (
    Measure(
        "macro_toy", "Macro Toy", "macro", "none", None, 100.0, True,
        "A hundred minus the mean position of the best answer. It is for tests.",
        "mean over q of 100 - first(q)", "made up", reversed_rank,
        offered=(None,),
        missing="the run returned no answer to {missing} of {n} questions; a toy needs one to each",
    ),
)
"""
FILE = """
def lines(content):
    yield f"{len(content.frozen.triples)} triples"
"""


def add(root: Path, file: str, text: str, registry: str, before: str, line: str, importing: str = "") -> None:
    """Write a new file, and put one line (and its import) into a registry."""
    (root / file).write_text(text.lstrip("\n"), encoding="utf-8")
    path = root / registry
    old = path.read_text(encoding="utf-8")
    assert old.count(before) == 1, (registry, before)
    new = old.replace(before, before + line)
    if importing:
        head, future, rest = new.rpartition("from __future__ import annotations\n")
        new = head + future + importing + "\n" + rest if future else new.replace("\nfrom ", f"\n{importing}\nfrom ", 1)
    path.write_text(new, encoding="utf-8")


@pytest.mark.slow
def test_toys_take_one_file_and_one_line_each(tmp_path: Path) -> None:
    for name in COPIED:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copyfile
        copy(ROOT / name, tmp_path / name)
    for name in LINKED:
        (tmp_path / name).symlink_to(ROOT / name)
    add(
        tmp_path,
        "pooling/systems/cp.py",
        SYSTEM,
        "pooling/systems/__init__.py",
        "SYSTEMS: dict[str, Entry] = {\n    spec.name: spec\n    for spec in (\n",
        "        cp.SPEC,\n",
        "from pooling.systems import cp",
    )
    add(
        tmp_path,
        "pooling/orders/toy.py",
        ORDER,
        "pooling/orders/__init__.py",
        "order.name: order for order in (",
        "TOY, ",
        "from pooling.orders.toy import TOY",
    )
    add(
        tmp_path,
        "pooling/pools/kernels/toy.py",
        FILTER,
        "pooling/pools/kernels/filters.py",
        "    for f in (\n",
        "        TOY,\n",
        "from pooling.pools.kernels.toy import TOY",
    )
    add(
        tmp_path,
        "evaluation/test_sets/toy.py",
        FILE,
        "evaluation/test_sets/files.py",
        "\nFILES = (\n",
        '    ExportedFile("toy.txt", "how many triples there are", toy.lines),\n',
        "from evaluation.test_sets import toy",
    )
    add(
        tmp_path,
        "evaluation/measures/toy.py",
        MEASURE,
        "evaluation/measures/registry.py",
        "FILES = (micro, ",
        "toy, ",
        "from evaluation.measures import toy",
    )
    environment = {key: value for key, value in os.environ.items() if key != "DATABASE_URL"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/evaluation/toys.py"],
        cwd=tmp_path,
        env={**environment, "TRIPLEPOOL_VAR": str(tmp_path / "var")},
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert "6 passed" in done.stdout
