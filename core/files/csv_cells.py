"""Write CSV that a spreadsheet opens without running a formula."""

import csv
import io
import re
from collections.abc import Iterable

SIGNS = "=+@\uff1d\uff0b\uff20\uff0d-"  # begin a formula; some spreadsheets take the full-width ones for one too
# spaces and signs without width, which a spreadsheet may drop before it looks for a formula; no line ends in them
BLANK = r"\x0b\x0c\x1c-\x20\x85\xa0\u1680\u2000-\u200f\u2028-\u202f\u205f-\u2069\u3000\ufeff"
START = re.compile(rf"[\t\r\n]|[{BLANK}]*[{SIGNS}]")
# where a spreadsheet that divides at semicolons or tabs, as in German, begins another cell: quotes do not keep it off
INNER = re.compile(rf"(?<=[;\t\r\n])(?=[\"{BLANK}]*[{SIGNS}])")


def safe_cell(text: str) -> str:
    """Return the text with an apostrophe wherever a spreadsheet would take what follows for a formula."""
    text = INNER.sub("'", text)
    return f"'{text}" if START.match(text) else text


def csv_of(rows: Iterable[Iterable[object]]) -> str:
    """Return rows, the header among them, as CSV (RFC 4180): texts made safe, numbers unchanged, None empty."""
    out = io.StringIO()
    csv.writer(out).writerows([safe_cell(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    return out.getvalue()
