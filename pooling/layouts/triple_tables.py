"""Read triples from tables: find the columns of head, relation and tail, and what stands beyond them."""

import re
from collections.abc import Iterable, Mapping

from pooling.enums import Split
from pooling.graphs.source_data import GraphError, Problems, Together, plural
from pooling.layouts.layout import LayoutOptions, Triples
from pooling.layouts.source_files import SourceFiles
from pooling.layouts.tables import ROLES, TextTable, check_count, read_table, roles_of, text_lines

TIME = re.compile(r"^[-+]?[\d#]{1,4}([-/.][\d#]{1,2}){0,2}([T ].*)?$|^\d{9,13}$")
TIME_NAME = re.compile(r"time|date|year|since|until|^ts$")
CLEARLY = 0.5  # of the distinct values of another column: that many a column of relations has at most
ORDERS = ("hrt", "htr", "rht", "rth", "thr", "trh")


def read_splits(
    source: SourceFiles, paths: Mapping[Split, str], options: LayoutOptions, order: str = ""
) -> dict[Split, Triples]:
    """Return the triples of each file. A first line that counts the others is compared with them.

    `order`: of the columns, where the layout says it. Otherwise it is found once, from the lines of all files.
    GraphError for a file with other columns, names that are empty, and times or qualifiers that were not asked to be
    left out.
    """
    counted = {split: _has_count(source.read(path), path) for split, path in paths.items()}
    problems, together = Problems(), Together()
    tables = {}
    for split, path in paths.items():
        table = together(_table, source.read(path), path, options, counted[split], problems)
        if table is not None:
            tables[split] = table
    usual = options.columns or order or sniffed_order(tables.values(), all(counted.values()))
    found = {split: _triples(table, options, usual, problems) for split, table in tables.items()}
    together(problems.raise_any)
    together.raise_any()
    return found


def _has_count(data: bytes, file: str) -> bool:
    """Return whether the first line is a number alone, above lines of several fields."""
    lines = [line for line in text_lines(data, file, Problems()) if line.strip()]  # what is no text is told later
    return len(lines) > 1 and lines[0].strip().isdecimal() and not lines[1].strip().isdecimal()


def _table(data: bytes, file: str, options: LayoutOptions, has_count: bool, problems: Problems) -> TextTable:
    keep, before = 3 if options.drop_qualifiers else None, problems.count
    table = read_table(
        data, file, options.separator, int(has_count), keep, least=3, header=options.header, problems=problems
    )
    if has_count and problems.count == before:
        check_count(data, file, len(table.rows))
    if table.rows and table.width < 3:
        raise GraphError(f"{file}: {table.width} columns, separated by {table.separator}: triples need three.")
    return table


def _triples(table: TextTable, options: LayoutOptions, order: str, problems: Problems) -> Triples:
    """Return the triples of a table; `order` is that of its columns, unless a header names them."""
    file, named = table.file, roles_of(table.header)
    places = named or _places(order)
    right = _right(table, places)
    if right is None:
        _check_rest(table, places, options, bool(named))
    h, r, t = (places[role] for role in ROLES)
    rows, lines = [], []
    for i, fields in enumerate(table.rows):
        row = (fields[h].strip(), fields[r].strip(), fields[t].strip())
        if not all(row):
            missing = list(ROLES)[row.index("")]
            what = f"the {missing} is empty: fill it in or remove the line."
            problems.add(file, table.lines[i], what, table.text(i))
        elif right is None or right[i]:
            rows.append(row)
            lines.append(table.lines[i])
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


def sniffed_order(tables: Iterable[TextTable], counted: bool = False) -> str:
    """Return hrt, or htr where the third column is that of relations.

    It is if it has far fewer different values than the second, or fewer and no name of the first column, where the
    second has some. It is not if it alone has names of the first column. Numbers below a count are htr (OpenKE).
    """
    rows = [row for table in tables if not roles_of(table.header) for row in table.rows]
    if counted and all(field.isdecimal() for row in rows[:100] for field in row[:3]):
        return "htr"
    first, middle, last = ({row[i].strip() for row in rows} for i in range(3))
    middle_is_known, last_is_known = not first.isdisjoint(middle), not first.isdisjoint(last)
    if middle_is_known != last_is_known:
        return "htr" if middle_is_known and len(last) < len(middle) else "hrt"
    return "htr" if len(last) <= CLEARLY * len(middle) and len(rows) > 3 else "hrt"


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
