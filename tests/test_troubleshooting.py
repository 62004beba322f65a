"""docs/troubleshooting.md explains messages that the program has, in the words that it has."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest
from django.conf import settings

ROOT = Path(settings.BASE_DIR)
PAGE = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
ROWS = [row for row in re.findall(r"^\| (.+?) \|", PAGE, re.M) if row != "message"]


def text_of(node: ast.AST) -> str:
    """Return a string of the source with … for what is filled in."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return "".join(map(text_of, node.values)) if isinstance(node, ast.JoinedStr) else "…"


@cache
def strings() -> str:
    found = [(ROOT / "Makefile").read_text().replace('" \\\n\t    "', " ").replace("$(PYTHON)", "…")]
    for folder in ("core", "pooling", "annotation", "evaluation"):
        for path in (ROOT / folder).rglob("*.py"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            found += [text_of(node) for node in ast.walk(tree) if isinstance(node, ast.Constant | ast.JoinedStr)]
    return "\n".join(found)


@pytest.mark.parametrize("message", ROWS)
def test_messages_are_those_of_the_program(message: str):
    """Compare each piece between two placeholders, but for punctuation and single words."""
    pieces = [piece.strip(" .,:;()") for piece in message.split("…")]
    assert max(map(len, pieces)) >= 15
    assert not [piece for piece in pieces if " " in piece and piece not in strings()]


def test_page_explains_messages_of_every_part():
    assert len(ROWS) >= 25
