"""Read layouts of single projects: Hetionet's sif and OGB's csv."""

from pathlib import PurePosixPath

from pooling.enums import Split
from pooling.graphs.source_data import GraphError, SideTable, plural
from pooling.layouts.layout import Found, LayoutOptions, Triples
from pooling.layouts.side_files import by_name
from pooling.layouts.source_files import SourceFiles
from pooling.layouts.tables import TextTable, decoded, read_table


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
    if several := [path for path in source if PurePosixPath(path).name == "edge.csv" and path != edges]:
        raise GraphError(
            f"{edges} and {plural(len(several), 'other file', 'other files')} edge.csv: graphs with a folder for each"
            " relation are not read. Write their triples into one table of head, relation and tail."
        )
    ends = read_table(source.read(edges), edges, "comma")
    if ends.rows and ends.width != 2:
        raise GraphError(f"{edges}: {ends.width} columns where OGB has two, numbers of head and tail: copy it again.")
    pairs = ends.rows
    types = decoded(source.read(kinds), kinds).split()
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
    return {row[0]: row[1] for row in rows if row[0].isdecimal()}  # the first line names the columns


def _with_header(data: bytes, file: str) -> TextTable:
    return read_table(data, file, header="yes")


def _columns(table: TextTable, key: str, value: str) -> SideTable | None:
    names = [name.lower() for name in table.header]
    if key not in names or value not in names:
        return None
    k, v = names.index(key), names.index(value)
    return SideTable(table.file, [(row[k], row[v]) for row in table.rows if row[v]], has_lines=False)
