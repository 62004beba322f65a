"""Write CSV that a spreadsheet opens without running a formula."""

import csv
import io
import re
from collections.abc import Iterable

# first characters that a spreadsheet takes for a formula; some take the full-width ones for one too
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
# where a spreadsheet that divides at semicolons or tabs, as in German, begins another cell: quotes do not keep it off
INNER = re.compile(rf"(?<=[;\t\r\n])(?=\"*[{re.escape(''.join(FORMULA[:4] + FORMULA[7:]))}])")


def safe_cell(text: str) -> str:
    """Return the text with an apostrophe wherever a spreadsheet would take what follows for a formula."""
    text = INNER.sub("'", text)
    return f"'{text}" if text.startswith(FORMULA) else text


def csv_of(rows: Iterable[Iterable[object]]) -> str:
    """Return rows, the header among them, as CSV (RFC 4180): texts made safe, numbers unchanged, None empty."""
    out = io.StringIO()
    csv.writer(out).writerows([safe_cell(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    return out.getvalue()
