"""Read layouts whose triples are numbers: OpenKE's 2id files, LibKGE's .del files, and RotatE's .dict files."""

from collections.abc import Mapping

from pooling.graphs.source_data import GraphError, SideTable
from pooling.layouts.layout import Found, LayoutOptions, Triples
from pooling.layouts.side_files import DICTIONARIES, NUMBERS, by_name, numbered_names
from pooling.layouts.source_files import SourceFiles
from pooling.layouts.split_names import find_splits
from pooling.layouts.tables import decoded
from pooling.layouts.triple_tables import read_triples


def openke(source: SourceFiles, options: LayoutOptions) -> Found | None:
    """Read train2id.txt (a count, then head, tail, relation), with entity2id.txt and relation2id.txt."""
    paths = find_splits((path for path in source if path.endswith("2id.txt")), options.folder, "2id")
    if not paths:
        return None
    entities, relations = (_after_count(source, name) for name in ("entity2id.txt", "relation2id.txt"))
    used = {*paths.values(), by_name(source, "entity2id.txt"), by_name(source, "relation2id.txt")}
    splits = {}
    for split, path in paths.items():
        data = source.read(path)
        triples = read_triples(data, path, options, skip=1, order="htr")
        _check_count(data, path, len(triples.rows))
        splits[split] = named(triples, entities, relations)
    return Found("OpenKE (numbers with entity2id.txt and relation2id.txt)", splits, used=used)


def libkge(source: SourceFiles, options: LayoutOptions) -> Found | None:
    """Read train.del and so on (numbers of head, relation, tail), with entity_ids.del and relation_ids.del."""
    splits = find_splits((path for path in source if path.endswith(".del")), options.folder)
    if not splits:
        return None
    used = {*splits.values()}
    names = []
    for name in ("entity_ids.del", "relation_ids.del"):
        path = by_name(source, name)
        if not path:
            raise GraphError(f"{name} is missing: it says which name each number stands for.")
        used.add(path)
        names.append(numbered_names(source.read(path), path))
    read = {split: read_triples(source.read(path), path, options, order="hrt") for split, path in splits.items()}
    labels = _strings(source, names[0], used)
    return Found("LibKGE (.del)", {split: named(of, *names) for split, of in read.items()}, labels=labels, used=used)


def _strings(source: SourceFiles, names: Mapping[str, str], used: set[str]) -> SideTable | None:
    """Read entity_strings.del: texts of entities, by their number or by their id."""
    path = by_name(source, "entity_strings.del")
    if not path:
        return None
    used.add(path)
    pairs = [
        line.partition("\t") for line in decoded(source.read(path), path).replace("\r\n", "\n").split("\n") if line
    ]
    by_number = all(key in names for key, _, _ in pairs) and not {key for key, _, _ in pairs} <= set(names.values())
    return SideTable(path, [(names[key] if by_number else key, text) for key, _, text in pairs])


def with_dictionaries(source: SourceFiles, found: Found) -> None:
    """Put names in the place of numbers where triples are numbers, and files have the names (.dict, or 2id.txt)."""
    fields = {field for triples in found.splits.values() for row in triples.rows[:100] for field in row}
    are_numbers = all(field.isdigit() for field in fields)
    for files in (DICTIONARIES, NUMBERS):
        paths = [by_name(source, name) for name in files]
        if not all(paths):
            continue
        found.used.update(paths)
        if are_numbers:
            names = [_numbers(source, path) for path in paths]
            found.splits = {split: named(of, *names) for split, of in found.splits.items()}
            found.layout = f"{found.layout}, numbers with {' and '.join(files)}"
            return


def _numbers(source: SourceFiles, path: str) -> dict[str, str]:
    """Read numbers with their names: the number first in a .dict, last in a 2id.txt, which may begin with a count."""
    data = source.read(path)
    if path.endswith(".dict"):
        return numbered_names(data, path)
    has_count = decoded(data, path).split("\n", 1)[0].strip().isdigit()
    return numbered_names(data, path, name_first=True, skip=int(has_count))


def named(triples: Triples, entities: Mapping[str, str], relations: Mapping[str, str]) -> Triples:
    """Return triples of names in the place of numbers; GraphError names the line of a number without a name."""
    rows = []
    for i, (h, r, t) in enumerate(triples.rows):
        try:
            rows.append((entities[h], relations[r], entities[t]))
        except KeyError as error:
            line = triples.lines[i]
            kind = "relation" if h in entities and t in entities else "entity"
            raise GraphError(f"{triples.file}:{line}: no {kind} has the number {error.args[0]}.") from None
    return Triples(triples.file, rows, triples.lines, f"{triples.form}, numbers with names")


def _after_count(source: SourceFiles, name: str) -> dict[str, str]:
    path = by_name(source, name)
    if not path:
        raise GraphError(f"{name} is missing: it says which name each number stands for.")
    data = source.read(path)
    found = numbered_names(data, path, name_first=True, skip=1)
    _check_count(data, path, len(found))
    return found


def _check_count(data: bytes, file: str, lines: int) -> None:
    """Raise GraphError where the first line is no count, or another one than there are lines."""
    first = decoded(data, file).split("\n", 1)[0].strip()
    if not first.isdigit():
        raise GraphError(f"{file}:1: {first[:40]!r} is no count of lines: the first line of this layout is one.")
    if int(first) != lines:
        raise GraphError(f"{file}:1: the count is {int(first):,}, and {lines:,} lines follow: copy the file again.")
