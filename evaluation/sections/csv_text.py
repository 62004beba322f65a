"""Write a table of the evaluation as CSV."""

from typing import Any

from core.files.csv_cells import csv_of
from pooling.systems.shown_names import shown_name


def csv_text(table: dict[str, Any]) -> str:
    """Write a table of a section as CSV, with columns for low, high, mean, sd where cells have them.

    Systems have the names of files and addresses; behind all columns, `system_name` is the name that pages show.
    The foot stays out: a reader would take it for a system called n. It is in the JSON of the page.
    """
    columns, rows = table["columns"], table["rows"]
    more = [
        [
            extra
            for extra in ("low", "high", "mean", "sd", "n", "moved")
            if any(isinstance(r[i], dict) and extra in r[i] for r in rows)
        ]
        for i in range(len(columns))
    ]
    reasons = any(isinstance(c, dict) and c.get("reason") for row in rows for c in row)
    head = [
        name
        for column, extra in zip(columns, more, strict=True)
        for name in (column["key"], *(f"{column['key']}_{e}" for e in extra))
    ]
    systems = [i for i, column in enumerate(columns) if column.get("kind") == "system"]
    head += [f"{columns[i]['key']}_name" for i in systems]
    lines: list[list[Any]] = [[*head, *(["undefined"] if reasons else [])]]
    for row in rows:
        line: list[Any] = []
        for value, extra in zip(row, more, strict=True):
            inner = value if isinstance(value, dict) else {"value": value}
            line += [inner.get("value"), *(inner.get(e) for e in extra)]
        line += [shown_name(str(row[i])) for i in systems]
        if reasons:
            said = [
                f"{column['label']}: {value['reason']}"
                for column, value in zip(columns, row, strict=True)
                if isinstance(value, dict) and value.get("reason")
            ]
            line.append("; ".join(said))
        lines.append(line)
    return csv_of(lines)
