"""Read what comes beside triples: texts, types and links of entities, domains, templates, names of numbers."""

import json
import re
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from pooling.graphs.source_data import GraphError, Problems, SideTable, Together, raise_problems
from pooling.graphs.tsv import SIDE_TABLES, split_fields
from pooling.layouts.layout import Found
from pooling.layouts.source_files import SourceFiles
from pooling.layouts.tables import decoded, read_table

LABELS = ("entity2text.txt", "entity2label.txt")
DESCRIPTIONS = ("entity2textlong.txt",)
RELATION_LABELS = ("relation2text.txt", "relation2label.txt", "relation_strings.del")
TYPES = ("entity2type.txt", "entity2types.txt")
# what a file beside the triples says of where the folder comes from
BESIDE = {"entities.json": "CoDEx's JSON", "entity2types.json": "CoDEx's JSON", "entity2text.txt": "KG-BERT's texts"}
_SPACES = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029]+")
DICTIONARIES = ("entities.dict", "relations.dict")
NUMBERS = ("entity2id.txt", "relation2id.txt")


def by_name(source: SourceFiles, name: str) -> str:
    """Return the path of the file of this name, the one that lies highest; "" if there is none."""
    found = [path for path in source if PurePosixPath(path).name == name]
    return min(found, key=lambda path: (path.count("/"), path), default="")


def read_side_files(source: SourceFiles, found: Found, together: Together) -> None:
    """Add texts, types, links, domains and templates to what was found, from the first file that has them.

    What is wrong in them goes to `together`.
    """
    problems: list[str] = []
    own = {stem: _own(source, stem, found, problems) for stem in SIDE_TABLES}
    together(raise_problems, problems)

    def codex(name: str, key: str) -> SideTable | None:
        return together(_codex, source, name, key, found)

    def pairs(names: tuple[str, ...]) -> SideTable | None:
        return together(_pairs, source, names, found)

    found.labels = found.labels or own["entity_labels"] or pairs(LABELS) or codex("entities.json", "label")
    found.types = found.types or own["entity_types"] or pairs(TYPES) or together(_codex_types, source, found)
    found.domain_range = found.domain_range or own["relation_domain_range"]
    found.templates = found.templates or own["relation_templates"]
    found.relation_labels = (
        found.relation_labels or own["relation_labels"] or pairs(RELATION_LABELS) or codex("relations.json", "label")
    )
    found.descriptions = (
        found.descriptions or own["entity_descriptions"] or pairs(DESCRIPTIONS) or codex("entities.json", "description")
    )
    found.aliases = found.aliases or own["entity_aliases"]
    found.links = found.links or own["entity_links"] or codex("entities.json", "wiki")
    names = {PurePosixPath(path).name for path in found.used}
    known = dict.fromkeys(words for name, words in BESIDE.items() if name in names)
    found.layout = " with ".join([found.layout, *known])


def tidy(table: SideTable | None) -> SideTable | None:
    """Return the table with one space for each run of spaces, line breaks and control characters in its texts."""
    if table is None:
        return None
    rows = [(key, *(_SPACES.sub(" ", text).strip() for text in texts)) for key, *texts in table.rows]
    return replace(table, rows=rows)


def _own(source: SourceFiles, stem: str, found: Found, problems: list[str]) -> SideTable | None:
    """Read one of this program's own files (docs/formats.md); add what is wrong in it to `problems`."""
    path = by_name(source, f"{stem}.tsv") or by_name(source, f"{stem}.txt")
    if not path:
        return None
    found.used.add(path)
    columns, may_be_empty = SIDE_TABLES[stem]
    flat = split_fields(source.read(path), path, columns, may_be_empty, problems).to_pylist()
    return SideTable(path, list(zip(*(flat[i :: len(columns)] for i in range(len(columns))), strict=True)))


def _pairs(source: SourceFiles, names: tuple[str, ...], found: Found) -> SideTable | None:
    """Read a table of two columns: an entity, and its label or type."""
    path = next((path for name in names if (path := by_name(source, name))), "")
    if not path:
        return None
    found.used.add(path)
    lines = decoded(source.read(path), path).replace("\r\n", "\n").rstrip("\n").split("\n")
    rows = [tuple(line.split("\t", 1)) for line in lines]
    problems = Problems()
    for number, row in enumerate(rows, 1):
        if len(row) < 2:
            what = "one column where there are two, separated by a tab: correct the line."
            problems.add(path, number, what, row[0])
    problems.raise_any()
    return SideTable(path, rows)


def _codex(source: SourceFiles, name: str, key: str, found: Found) -> SideTable | None:
    """Read CoDEx's entities.json or relations.json: {id: {label, description, wiki}}, in English if there is one."""
    known = _json(source, name, found)
    rows = [(of, str(texts[key])) for of, texts in known.items() if isinstance(texts, dict) and texts.get(key)]
    return SideTable(_json_path(source, name), rows, has_lines=False) if rows else None


def _codex_types(source: SourceFiles, found: Found) -> SideTable | None:
    """Read CoDEx's entity2types.json, {id: [type ids]}, with the names of types.json where that is there."""
    of_entity = _json(source, "entity2types.json", found)
    names = _json(source, "types.json", found) if of_entity else {}

    def name(key: str) -> str:
        of = names.get(key)
        return str(of["label"]) if isinstance(of, dict) and of.get("label") else key

    rows = [(entity, name(str(of))) for entity, types in of_entity.items() for of in types]
    return SideTable(_json_path(source, "entity2types.json"), rows, has_lines=False) if rows else None


def _json_path(source: SourceFiles, name: str) -> str:
    """Return the path of the file of this name, the English one if there are several; "" if there is none."""
    paths = sorted(path for path in source if PurePosixPath(path).name == name)
    return next((path for path in paths if "en" in PurePosixPath(path).parts), paths[0] if paths else "")


def _json(source: SourceFiles, name: str, found: Found) -> dict[str, Any]:
    path = _json_path(source, name)
    if not path:
        return {}
    found.used.add(path)
    try:
        known = json.loads(decoded(source.read(path), path))
    except json.JSONDecodeError as error:
        raise GraphError(f"{path}:{error.lineno}: this is not JSON ({error.msg}): copy the file again.") from None
    except RecursionError:
        raise GraphError(f"{path}: this is JSON within JSON, too deep to be read: copy the file again.") from None
    if not isinstance(known, dict):
        raise GraphError(f"{path}: a list where there is an object with a key for each entity.")
    return known


def numbered_names(data: bytes, file: str, *, name_first: bool = False, skip: int = 0) -> dict[str, str]:
    """Return the name of each number, of lines with a number and a name, or a name and a number.

    GraphError for a line of another form, or a number that is there twice.
    """
    table = read_table(data, file, skip=skip)
    found: dict[str, str] = {}
    problems = Problems()
    for i, row in enumerate(table.rows):
        number, name = (row[1], row[0]) if name_first else (row[0], row[1])
        number = number.strip()
        if not number.isdecimal():
            problems.add(file, table.lines[i], f"{number!r} is not a number: correct the line.", table.text(i))
        elif number in found:
            what = f"number {number} is there twice: correct one of the lines."
            problems.add(file, table.lines[i], what, table.text(i))
        found.setdefault(number, name.strip())
    problems.raise_any()
    return found
