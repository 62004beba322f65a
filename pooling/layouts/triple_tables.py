"""Read triples from tables: find the columns of head, relation and tail, and what stands beyond them."""

import re

from pooling.graphs.source_data import GraphError, plural
from pooling.layouts.layout import LayoutOptions, Triples
from pooling.layouts.tables import ROLES, TextTable, read_table, roles_of

TIME = re.compile(r"^[-+]?[\d#]{1,4}([-/.][\d#]{1,2}){0,2}([T ].*)?$|^\d{9,13}$")
TIME_NAME = re.compile(r"time|date|year|since|until|^ts$")
CLEARLY = 0.5  # of the distinct values of another column: that many a column of relations has at most
ORDERS = ("hrt", "htr", "rht", "rth", "thr", "trh")


def read_triples(data: bytes, file: str, options: LayoutOptions, skip: int = 0, order: str = "") -> Triples:
    """Return the triples of a file; `order`: of its columns, where the layout or a header does not say it.

    GraphError for a file with other columns, names that are empty, and times or qualifiers that were not asked to be
    left out.
    """
    keep = 3 if options.drop_qualifiers else None
    table = read_table(data, file, options.separator, skip, keep, least=3, header=options.header)
    if table.rows and table.width < 3:
        raise GraphError(f"{file}: {table.width} columns, separated by {table.separator}: triples need three.")
    named = roles_of(table.header)
    places = named or _places(options.columns or order or _sniffed_order(table))
    right = _right(table, places)
    if right is None:
        _check_rest(table, places, options, bool(named))
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
    form = f"separated by {table.separator}; columns {', '.join(_column_names(table, places))}"
    if right is not None:
        form += f"; {plural(len(right) - len(rows), 'line')} labelled wrong left out"
    return Triples(file, rows, lines, form)


def _column_names(table: TextTable, places: dict[str, int]) -> list[str]:
    """Return what each column was taken for, and the names of a header; others are left out."""
    roles = {place: role for role, place in places.items()}
    if not table.header:
        return [roles[place] for place in sorted(roles)]
    return [
        name or "no name" if i in roles else f"({name or 'no name'} left out)" for i, name in enumerate(table.header)
    ]


def _places(order: str) -> dict[str, int]:
    if order not in ORDERS:
        raise GraphError(f"Columns {order!r}: give the order of head, relation and tail as one of {', '.join(ORDERS)}.")
    by_letter = {role[0]: role for role in ROLES}
    return {by_letter[letter]: i for i, letter in enumerate(order)}


def _sniffed_order(table: TextTable) -> str:
    """Return hrt, or htr where the third column has far fewer different values than the second."""
    middle, last = (len({row[i] for row in table.rows}) for i in (1, 2))
    return "htr" if last <= CLEARLY * middle and len(table.rows) > 3 else "hrt"


def _right(table: TextTable, places: dict[str, int]) -> list[bool] | None:
    """Return whether each line is labelled right (1, not 0 or -1) in a fourth column; None without such labels."""
    if table.width != 4:
        return None
    (place,) = set(range(4)) - set(places.values())
    labels = {row[place].strip() for row in table.rows}
    return [row[place].strip() == "1" for row in table.rows] if "1" in labels and labels <= {"1", "-1", "0"} else None


def _check_rest(table: TextTable, places: dict[str, int], options: LayoutOptions, named: bool) -> None:
    """Raise GraphError for columns beyond the triple, unless the options leave them out, or a header names others."""
    if table.width == 3 or not table.rows:
        return
    others = [i for i in range(table.width) if i not in places.values()]
    rest = [table.rows[0][i] for i in others]
    is_time = table.width <= 5 and all(TIME.match(row[others[0]].strip()) for row in table.rows[:100])
    if named:  # an index or a weight is no time
        is_time = any(TIME_NAME.search(table.header[i].lower()) for i in others)
    if named and not is_time:
        return
    if is_time and not options.ignore_time:
        raise GraphError(f"{table.file}: a column of times ({rest[0]}): leave times out with --ignore-time.")
    if not is_time and not options.drop_qualifiers:
        raise GraphError(
            f"{table.file}: {table.width} columns, after the triple {', '.join(rest[:3])}: leave qualifiers out with"
            " --drop-qualifiers, or give three columns."
        )
