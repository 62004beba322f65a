"""Read which columns the tables of a written test set have, for its dataset card and croissant.json."""

import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from evaluation.test_sets.files import FILES, about

INTEGERS = frozenset({
    "depth", "version", "answers", "active_ms", "away_ms", "question_version", "guideline_version",
})  # fmt: skip


Kind = type[str] | type[int] | type[float] | type[bool]


class Table(NamedTuple):
    """Describe a table that has a row at least."""

    name: str  # of its file
    columns: dict[str, Kind]
    has_header: bool

    @property
    def stem(self) -> str:
        return Path(self.name).name.split(".")[0]

    @property
    def about(self) -> str:
        return about(self.name)


def tables(folder: Path, names: Iterable[str]) -> list[Table]:
    """Return the tables of those files of a folder that are registered as one and have a row, in FILES' order."""
    there = set(names)
    found = (
        Table(file.name, {column: _type(file.name, column) for column in columns}, file.records)
        for file in FILES
        if file.name in there and (columns := _columns(folder / file.name, file.records, file.columns))
    )
    return list(found)


def _columns(path: Path, has_header: bool, columns: tuple[str, ...]) -> list[str]:
    """Return the columns in the header of a table or of all its JSON objects; none where there is no record."""
    if not (has_header or columns):
        return []
    if path.suffix == ".jsonl":
        with path.open(encoding="utf-8") as lines:  # an object leaves out what it has no value for
            return list(dict.fromkeys(key for line in lines for key in json.loads(line)))
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
        first, second = file.readline(), file.readline()
    if has_header:
        return first.rstrip("\n").split("\t") if second else []
    return list(columns) if first else []


def _type(name: str, column: str) -> Kind:
    measure = name.startswith("per_question") and column not in ("question", "system", "answers")
    if measure or (name, column) == ("measures.tsv", "value"):
        return float
    if column == "bulk":
        return bool
    return int if column in INTEGERS else str
