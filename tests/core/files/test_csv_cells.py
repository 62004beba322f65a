"""Cells that a spreadsheet shows, and does not run."""

import csv
import io

import pytest

from core.files.csv_cells import csv_of, safe_cell


@pytest.mark.parametrize("start", [*"=+-@＝＋－＠", "\t", "\r", "\n"])
def test_cell_that_begins_a_formula_gets_an_apostrophe(start):
    assert safe_cell(f"{start}1+1") == f"'{start}1+1"


@pytest.mark.parametrize(
    "blank", [" ", "   ", "\u00a0", "\u3000", "\ufeff", "\u200b", "\u2028", "\u202e", "\x0b", "\x85"]
)
def test_a_formula_behind_blanks_is_one_too(blank):
    assert safe_cell(f"{blank}=1") == f"'{blank}=1"
    assert safe_cell(f"a;{blank}=1") == f"a;'{blank}=1"
    assert safe_cell(f"a{blank}=1;b{blank}1") == f"a{blank}=1;b{blank}1"


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("a;=1+1", "a;'=1+1"), ('a;""@SUM(1)', "a;'\"\"@SUM(1)"), ("a\tb;c\t-1", "a\tb;c\t'-1"),
        ("a\n=1;+2", "a\n'=1;'+2"), ("a\r\n＝1", "a\r\n'＝1"), ("a; -1", "a;' -1"), ("=1;=2", "'=1;'=2"),
    ],
)  # fmt: skip
def test_a_spreadsheet_that_divides_at_other_signs_finds_no_formula_either(text, safe):
    """German ones divide at semicolons, and take only a quote at the beginning of a cell for one."""
    assert safe_cell(text) == safe


@pytest.mark.parametrize("text", ["ann", "a=b", "", "'=1", "1.5", "a; b", "a;b", "two\nlines", "a;'=1"])
def test_other_cells_stay(text):
    assert safe_cell(text) == text


def test_csv_keeps_numbers_and_what_needs_quotes_and_leaves_none_empty():
    text = csv_of([("name", "gain"), ('=cmd("a, b")', -0.5), ("two\nlines", None)])
    assert list(csv.reader(io.StringIO(text, newline=""))) == [
        ["name", "gain"],
        ['\'=cmd("a, b")', "-0.5"],
        ["two\nlines", ""],
    ]
