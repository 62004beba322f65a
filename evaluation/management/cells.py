"""Print rows as a table of a terminal."""

from collections.abc import Sequence
from typing import Any


def cell(value: Any) -> str:
    """Return a value as people read it: `-` for nothing, lists with commas."""
    if value is None or value == "":
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "-"
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return lines with aligned columns, the names of the columns first."""
    lines = [list(columns), *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(columns))]
    return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)
