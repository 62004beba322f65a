"""Read triples from tables: find the columns of head, relation and tail, and what stands beyond them."""

import re

from pooling.graphs.source_data import GraphError
from pooling.layouts.layout import LayoutOptions, Triples
from pooling.layouts.tables import ROLES, TextTable, read_table, roles_of

TIME = re.compile(r"^[-+]?\d{1,4}([-/.]\d{1,2}){0,2}([T ].*)?$|^\d{9,13}$")
CLEARLY = 0.5  # of the distinct values of another column: that many a column of relations has at most
ORDERS = ("hrt", "htr", "rht", "rth", "thr", "trh")


def read_triples(data: bytes, file: str, options: LayoutOptions, skip: int = 0, order: str = "") -> Triples:
    """Return the triples of a file; `order`: of its columns, where the layout or a header does not say it.

    GraphError for a file with other columns, names that are empty, and times or qualifiers that were not asked to be
    left out.
    """
    table = read_table(data, file, options.separator, skip, 3 if options.drop_qualifiers else None)
    if table.rows and table.width < 3:
        raise GraphError(f"{file}: {table.width} columns, separated by {table.separator}: triples need three.")
    places = roles_of(table.header) or _places(options.columns or order or _sniffed_order(table))
    right = _right(table)
    if right is None:
        _check_rest(table, places, options)
    h, r, t = (places[role] for role in ROLES)
    rows, lines = [], []
    for i, fields in enumerate(table.rows):
        row = (fields[h].strip(), fields[r].strip(), fields[t].strip())
        if not all(row):
            missing = list(ROLES)[row.index("")]
            raise GraphError(f"{file}:{table.first_line + i}: the {missing} is empty: fill it in or remove the line.")
        if right is None or right[i]:
            rows.append(row)
            lines.append(table.first_line + i)
    named = table.header or sorted(places, key=lambda role: places[role])
    wrong = "" if right is None else f"; {len(right) - len(rows):,} lines that are labelled wrong were left out"
    return Triples(file, rows, lines, f"separated by {table.separator}; columns {', '.join(named)}{wrong}")


def _places(order: str) -> dict[str, int]:
    if order not in ORDERS:
        raise GraphError(f"Columns {order!r}: give the order of head, relation and tail as one of {', '.join(ORDERS)}.")
    by_letter = {role[0]: role for role in ROLES}
    return {by_letter[letter]: i for i, letter in enumerate(order)}


def _sniffed_order(table: TextTable) -> str:
    """Return hrt, or htr where the third column has far fewer different values than the second."""
    middle, last = (len({row[i] for row in table.rows}) for i in (1, 2))
    return "htr" if last <= CLEARLY * middle and len(table.rows) > 3 else "hrt"


def _right(table: TextTable) -> list[bool] | None:
    """Return whether each line is labelled right (1, not 0 or -1) in a fourth column; None without such labels."""
    if table.width != 4 or table.header:
        return None
    labels = {row[3].strip() for row in table.rows}
    return [row[3].strip() == "1" for row in table.rows] if "1" in labels and labels <= {"1", "-1", "0"} else None


def _check_rest(table: TextTable, places: dict[str, int], options: LayoutOptions) -> None:
    """Raise GraphError for columns beyond the triple, unless the options leave them out."""
    if table.width == 3 or table.header:
        return
    rest = [table.rows[0][i] for i in range(table.width) if i not in places.values()]
    is_time = table.width <= 5 and all(TIME.match(row[3].strip()) for row in table.rows[:100])
    if is_time and not options.ignore_time:
        raise GraphError(f"{table.file}: a fourth column of times ({rest[0]}): leave times out with --ignore-time.")
    if not is_time and not options.drop_qualifiers:
        raise GraphError(
            f"{table.file}: {table.width} columns, after the triple {', '.join(rest[:3])}: leave qualifiers out with"
            " --drop-qualifiers, or give three columns."
        )
