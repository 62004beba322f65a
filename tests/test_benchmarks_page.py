"""docs/benchmarks.md sums up docs/measured: each of its figures is in the section that it links to."""

import re
import subprocess
from pathlib import Path

import pytest
from django.conf import settings
from django.utils.text import slugify

from benchmarks import all as every
from benchmarks.report import Summary

DOCS = Path(settings.BASE_DIR) / "docs"
ROWS = [line for line in (DOCS / "benchmarks.md").read_text(encoding="utf-8").splitlines() if "| **" in line]


def section(link: str) -> str:
    """Return the text of the section of docs/measured that a link names."""
    file, _, anchor = link.partition("#")
    parts = re.split(r"^## ", (DOCS / file).read_text(encoding="utf-8"), flags=re.M)[1:]
    return next(part for part in parts if slugify(part.splitlines()[0]) == anchor)


@pytest.mark.parametrize("row", ROWS)
def test_figures_are_in_the_section(row: str):
    figures = re.findall(r"\*\*([^*]+)\*\*", row)
    numbers = [re.match(r"[\d.,]+|none", figure).group() for figure in figures]
    (link,) = re.findall(r"\]\((measured/[^)]+)\)", row)
    text = section(link)
    assert [number for number in numbers if not re.search(rf"(?<![\d.]){re.escape(number)}(?![\d])", text)] == []


def test_page_has_rows():
    assert len(ROWS) == 42


@pytest.mark.parametrize("floor", [None, 0.25])
def test_a_last_line_is_read_back(floor: float | None):
    figure = Summary("ranks, TransE (L1): p95", 0.5, "the target", 12e-6, floor)
    assert Summary.read(str(figure)) == figure and figure.ratio == 24e-6


def test_a_script_that_fails_has_its_last_words_and_no_figures(monkeypatch):
    def run(command, **more):
        bad = command[1].endswith("pool.py")
        return subprocess.CompletedProcess(command, int(bad), "a: 4 x b (0.5 s, 2 s)\n", "Traceback\nno space left\n")

    monkeypatch.setattr(every.subprocess, "run", run)
    assert every.row("export", every.run("export")) == "| a | 500 ms | b | 2 s |  | 4 |"
    assert every.row("pool", every.run("pool")) == "| pool | exit status 1: no space left | | | | |"


@pytest.mark.parametrize("name", every.SCRIPTS)
def test_every_script_of_all_ends_with_a_summary(name: str):
    code = (Path(settings.BASE_DIR) / "benchmarks" / f"{name}.py").read_text(encoding="utf-8")
    assert "Summary(" in code and re.search(r"\n    +print\((Summary\(.+|main_figure|least)\)\n", code)
