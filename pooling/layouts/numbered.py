"""Read layouts whose triples are numbers: OpenKE's 2id files, LibKGE's .del files, and RotatE's .dict files."""

from collections.abc import Mapping

from pooling.graphs.source_data import GraphError
from pooling.layouts.layout import Found, LayoutOptions, Triples
from pooling.layouts.side_files import DICTIONARIES, by_name, numbered_names
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
    return Found("LibKGE (.del)", {split: named(of, *names) for split, of in read.items()}, used=used)


def with_dictionaries(source: SourceFiles, found: Found) -> None:
    """Put names in the place of numbers where entities.dict and relations.dict are there and triples are numbers."""
    paths = [by_name(source, name) for name in DICTIONARIES]
    if not all(paths):
        return
    found.used.update(paths)
    names = [numbered_names(source.read(path), path) for path in paths]
    fields = {field for triples in found.splits.values() for row in triples.rows[:100] for field in row}
    if all(field.isdigit() for field in fields):
        found.splits = {split: named(of, *names) for split, of in found.splits.items()}
        found.layout = f"{found.layout}, numbers with entities.dict and relations.dict"


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
