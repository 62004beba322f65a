"""Read layouts of single projects: Hetionet's sif, OGB's csv, Neo4j's export."""

from pathlib import PurePosixPath

from pooling.enums import Split
from pooling.graphs.source_data import GraphError, SideTable
from pooling.layouts.layout import Found, LayoutOptions, Triples
from pooling.layouts.side_files import by_name
from pooling.layouts.source_files import SourceFiles
from pooling.layouts.tables import TextTable, read_table


def hetionet(source: SourceFiles, options: LayoutOptions) -> Found | None:
    """Read a .sif file (source, metaedge, target) and a table of nodes with id, name and kind."""
    path = next((path for path in source if path.endswith(".sif")), "")
    if not path:
        return None
    table = read_table(source.read(path), path, options.separator)
    if table.width != 3:
        raise GraphError(f"{path}: {table.width} columns where a .sif file has three (source, edge, target).")
    rows = [(row[0], row[1], row[2]) for row in table.rows]
    found = Found("Hetionet (.sif)", {Split.TRAIN: Triples(path, rows, table.lines, "source, edge, target")})
    found.used.add(path)
    for nodes in (path for path in source if "nodes" in PurePosixPath(path).name):
        found.used.add(nodes)
        known = _with_header(source.read(nodes), nodes)
        found.labels = _columns(known, "id", "name")
        found.types = _columns(known, "id", "kind")
    return found


def ogb(source: SourceFiles, options: LayoutOptions) -> Found | None:
    """Read raw/edge.csv and raw/edge_reltype.csv (numbers), with the names in mapping/."""
    edges, kinds = by_name(source, "edge.csv"), by_name(source, "edge_reltype.csv")
    if not (edges and kinds):
        return None
    pairs = read_table(source.read(edges), edges, "comma").rows
    types = [line.strip() for line in source.read(kinds).decode().split()]
    if len(pairs) != len(types):
        raise GraphError(f"{edges} has {len(pairs):,} lines and {kinds} {len(types):,}: copy both files again.")
    entities, relations = (_mapping(source, name) for name in ("nodeidx2entityid.csv", "reltype2relid.csv"))
    try:
        rows = [(entities[h], relations[r], entities[t]) for (h, t), r in zip(pairs, types, strict=True)]
    except KeyError as error:
        raise GraphError(f"{edges}: no name in mapping/ for the number {error.args[0]}.") from None
    used = {edges, kinds, *filter(None, (by_name(source, n) for n in ("nodeidx2entityid.csv", "reltype2relid.csv")))}
    triples = Triples(
        edges, rows, range(1, len(rows) + 1), "head and tail, the relation in edge_reltype.csv, numbers with names"
    )
    return Found("OGB (csv)", {Split.TRAIN: triples}, used=used)


def _mapping(source: SourceFiles, name: str) -> dict[str, str]:
    path = by_name(source, name)
    if not path:
        raise GraphError(f"mapping/{name} is missing: it says which name each number stands for.")
    rows = read_table(source.read(path), path, "comma").rows
    return {row[0]: row[1] for row in rows if row[0].isdigit()}  # the first line names the columns


def neo4j(source: SourceFiles, options: LayoutOptions) -> Found | None:
    """Read csv files of relationships (:START_ID, :TYPE, :END_ID) and of nodes (:ID, name, :LABEL)."""
    tables = [
        read_table(data, path, "comma")
        for path in source
        if path.endswith(".csv") and b":START_ID" in (data := source.read(path)).split(b"\n", 1)[0]
    ]
    if not tables:
        return None
    rows: list[tuple[str, str, str]] = []
    for table in tables:
        start, kind, end = (_place(table, name) for name in (":START_ID", ":TYPE", ":END_ID"))
        rows += [(row[start], row[kind], row[end]) for row in table.rows]
    names = ", ".join(table.file for table in tables)
    lines = [line for table in tables for line in table.lines]
    found = Found("Neo4j (csv)", {Split.TRAIN: Triples(names, rows, lines, ":START_ID, :TYPE, :END_ID")})
    found.used.update(table.file for table in tables)
    labels, types = list[tuple[str, ...]](), list[tuple[str, ...]]()
    for path in source:
        if path.endswith(".csv") and ":ID" in (header := source.read(path).split(b"\n", 1)[0].decode(errors="replace")):
            if ":START_ID" in header:
                continue
            nodes = read_table(source.read(path), path, "comma")
            found.used.add(path)
            key = next(i for i, name in enumerate(nodes.header) if name.split("(")[0].endswith(":ID"))
            named = [name.split(":")[0].lower() for name in nodes.header]
            if "name" in named or "label" in named:
                at = named.index("name") if "name" in named else named.index("label")
                labels += [(row[key], row[at]) for row in nodes.rows if row[at]]
            if ":LABEL" in nodes.header:
                at = nodes.header.index(":LABEL")
                types += [(row[key], kind) for row in nodes.rows for kind in row[at].split(";") if kind]
    found.labels = SideTable("nodes", labels) if labels else None
    found.types = SideTable("nodes", types) if types else None
    return found


def _with_header(data: bytes, file: str) -> TextTable:
    table = read_table(data, file)
    return table if table.header else TextTable(file, table.separator, tuple(table.rows[0]), table.rows[1:], 2)


def _columns(table: TextTable, key: str, value: str) -> SideTable | None:
    names = [name.lower() for name in table.header]
    if key not in names or value not in names:
        return None
    k, v = names.index(key), names.index(value)
    return SideTable(table.file, [(row[k], row[v]) for row in table.rows if row[v]])


def _place(table: TextTable, name: str) -> int:
    found = next((i for i, given in enumerate(table.header) if given.split("(")[0].endswith(name)), -1)
    if found < 0:
        raise GraphError(f"{table.file}: no column {name} in its first line.")
    return found
