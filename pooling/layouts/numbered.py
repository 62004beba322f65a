"""Read layouts whose triples are numbers: OpenKE's 2id files, LibKGE's .del files, and RotatE's .dict files."""

from collections.abc import Mapping

from pooling.enums import Split
from pooling.graphs.source_data import GraphError, Problems, SideTable
from pooling.layouts.layout import Found, LayoutOptions, Triples
from pooling.layouts.side_files import DICTIONARIES, NUMBERS, by_name, numbered_names
from pooling.layouts.source_files import SourceFiles
from pooling.layouts.split_names import find_splits
from pooling.layouts.tables import check_count, text_lines
from pooling.layouts.triple_tables import read_splits


def openke(source: SourceFiles, options: LayoutOptions) -> Found | None:
    """Read train2id.txt (head, tail, relation), with entity2id.txt and relation2id.txt; each may begin with a count."""
    paths = find_splits((path for path in source if path.endswith("2id.txt")), options.folder, "2id")
    if not paths:
        return None
    entities, relations = (_names_of(source, name) for name in NUMBERS)
    used = {*paths.values(), *(by_name(source, name) for name in NUMBERS)}
    read = read_splits(source, paths, options, order="htr")
    splits = named(read, entities, relations)
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
    read = read_splits(source, splits, options, order="hrt")
    return Found(
        "LibKGE (.del)",
        named(read, *names),
        labels=_strings(source, "entity_strings.del", names[0], used),
        relation_labels=_strings(source, "relation_strings.del", names[1], used),
        used=used,
    )


def _strings(source: SourceFiles, name: str, names: Mapping[str, str], used: set[str]) -> SideTable | None:
    """Read texts of entities or relations, by their number or by their id."""
    path = by_name(source, name)
    if not path:
        return None
    used.add(path)
    pairs = [line.partition("\t") for line in text_lines(source.read(path), path) if line]
    by_number = all(key in names for key, _, _ in pairs) and not {key for key, _, _ in pairs} <= set(names.values())
    return SideTable(path, [(names[key] if by_number else key, text) for key, _, text in pairs])


def with_dictionaries(source: SourceFiles, found: Found) -> None:
    """Put names in the place of numbers where triples are numbers, and files have the names (.dict, or 2id.txt)."""
    fields = {field for triples in found.splits.values() for row in triples.rows[:100] for field in row}
    are_numbers = all(field.isdecimal() for field in fields)
    for files in (DICTIONARIES, NUMBERS):
        paths = [by_name(source, name) for name in files]
        if not all(paths):
            continue
        found.used.update(paths)
        if are_numbers:
            names = [_numbers(source, path) for path in paths]
            found.splits = named(found.splits, *names)
            found.layout = f"{found.layout}, numbers with {' and '.join(files)}"
            return


def _numbers(source: SourceFiles, path: str) -> dict[str, str]:
    """Read numbers with their names: the number first in a .dict, last in a 2id.txt, which may begin with a count."""
    data = source.read(path)
    if path.endswith(".dict"):
        return numbered_names(data, path)
    has_count = text_lines(data, path)[0].strip().isdecimal()
    found = numbered_names(data, path, name_first=True, skip=int(has_count))
    if has_count:
        check_count(data, path, len(found))
    return found


def named(
    splits: Mapping[Split, Triples], entities: Mapping[str, str], relations: Mapping[str, str]
) -> dict[Split, Triples]:
    """Return triples of names in the place of numbers; GraphError names the lines of numbers without a name."""
    problems = Problems()
    found = {split: _named(triples, entities, relations, problems) for split, triples in splits.items()}
    problems.raise_any()
    return found


def _named(triples: Triples, entities: Mapping[str, str], relations: Mapping[str, str], problems: Problems) -> Triples:
    rows = []
    for i, (h, r, t) in enumerate(triples.rows):
        try:
            rows.append((entities[h], relations[r], entities[t]))
        except KeyError as error:
            kind = "relation" if h in entities and t in entities else "entity"
            problems.add(triples.file, triples.lines[i], f"no {kind} has the number {error.args[0]}.")
    return Triples(triples.file, rows, triples.lines, f"{triples.form}, numbers with names")


def _names_of(source: SourceFiles, name: str) -> dict[str, str]:
    path = by_name(source, name)
    if not path:
        raise GraphError(f"{name} is missing: it says which name each number stands for.")
    return _numbers(source, path)
