"""docs/benchmarks.md sums up docs/measured: each of its figures is in the section that it links to."""

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.utils.text import slugify

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
    assert len(ROWS) == 31
