"""Read Neo4j's csv: what neo4j-admin takes (:START_ID, :ID, …), and what apoc.export.csv writes (_start, _id, …)."""

from collections.abc import Iterable

from pooling.enums import Split
from pooling.graphs.source_data import GraphError, SideTable
from pooling.layouts.layout import Found, LayoutOptions, Triples
from pooling.layouts.source_files import SourceFiles
from pooling.layouts.tables import TextTable, read_table

NAMES = ("name", "label", "title")  # of properties that are labels, the first that a file has


def neo4j(source: SourceFiles, options: LayoutOptions) -> Found | None:
    """Read csv files of relationships and of nodes; names of nodes are labels, their labels types."""
    headers = {path: _header(source, path) for path in source if path.lower().endswith(".csv")}
    edges = [path for path, header in headers.items() if ":START_ID" in header]
    if not edges:
        return _apoc(source, [path for path, header in headers.items() if "_start" in header and "_type" in header])
    tables = [_table(source, path) for path in edges]
    rows: list[tuple[str, str, str]] = []
    for table in tables:
        start, kind, end = (_place(table, name) for name in (":START_ID", ":TYPE", ":END_ID"))
        rows += [(row[start], row[kind], row[end]) for row in table.rows]
    if not rows:
        raise GraphError(
            f"{', '.join(edges)}: no line below the names of columns: give relationships and names in one file."
        )
    lines = [line for table in tables for line in table.lines]
    triples = Triples(", ".join(edges), rows, lines, ":START_ID, :TYPE, :END_ID")
    nodes = [_table(source, path) for path, header in headers.items() if ":ID" in header and path not in edges]
    keys = [_place(table, ":ID") for table in nodes]
    return Found(
        "Neo4j (csv)",
        {Split.TRAIN: triples},
        labels=_side(nodes, (_labels(table, key) for table, key in zip(nodes, keys, strict=True))),
        types=_side(nodes, (_types(table, key, ":LABEL", ";") for table, key in zip(nodes, keys, strict=True))),
        used={*edges, *(table.file for table in nodes)},
    )


def _apoc(source: SourceFiles, paths: list[str]) -> Found | None:
    """Read one file of nodes (with an _id) and relationships (with _start, _end and _type)."""
    if not paths:
        return None
    if len(paths) > 1:
        raise GraphError(f"{', '.join(paths[:5])} are each a whole export of Neo4j: give one.")
    table = _table(source, paths[0])
    start, kind, end, key = (_place(table, name) for name in ("_start", "_type", "_end", "_id"))
    edges = [(i, row) for i, row in enumerate(table.rows) if row[start]]
    rows = [(row[start], row[kind], row[end]) for _, row in edges]
    lines = [table.lines[i] for i, _ in edges]
    nodes = TextTable(table.file, table.separator, table.header, [row for row in table.rows if row[key]], ())
    return Found(
        "Neo4j (csv of apoc.export)",
        {Split.TRAIN: Triples(table.file, rows, lines, "_start, _type, _end")},
        labels=_side([nodes], [_labels(nodes, key)]),
        types=_side([nodes], [_types(nodes, key, "_labels", ":")]),
        used={table.file},
    )


def _header(source: SourceFiles, path: str) -> str:
    return source.read(path).split(b"\n", 1)[0].decode(errors="replace")


def _table(source: SourceFiles, path: str) -> TextTable:
    return read_table(source.read(path), path, "comma", header="yes")


def _labels(table: TextTable, key: int) -> list[tuple[str, ...]]:
    named = [name.split(":")[0].lower() for name in table.header]
    at = next((named.index(name) for name in NAMES if name in named), None)
    return [] if at is None else [(row[key], row[at]) for row in table.rows if row[at]]


def _types(table: TextTable, key: int, column: str, separator: str) -> list[tuple[str, ...]]:
    if column not in table.header:
        return []
    at = table.header.index(column)
    return [(row[key], kind) for row in table.rows for kind in row[at].split(separator) if kind]


def _side(nodes: list[TextTable], parts: Iterable[list[tuple[str, ...]]]) -> SideTable | None:
    rows = [row for part in parts for row in part]
    return SideTable(", ".join(table.file for table in nodes), rows, has_lines=False) if rows else None


def _place(table: TextTable, name: str) -> int:
    found = next((i for i, given in enumerate(table.header) if given.split("(")[0].endswith(name)), -1)
    if found < 0:
        raise GraphError(f"{table.file}: no column {name} in its first line: add it.")
    return found
