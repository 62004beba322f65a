"""CSV files that a spreadsheet opens without running anything."""

import csv
import io
from collections.abc import Iterable

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")  # what a spreadsheet takes for the beginning of one


def safe_cell(text: str) -> str:
    """Text of a graph or a person that no spreadsheet takes for a formula: an apostrophe goes before it."""
    return f"'{text}" if text.startswith(FORMULA) else text


def csv_of(rows: Iterable[Iterable[object]]) -> str:
    """Rows, the header among them, as CSV (RFC 4180): texts made safe, numbers as they are, None left empty."""
    out = io.StringIO()
    csv.writer(out).writerows([safe_cell(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    return out.getvalue()
