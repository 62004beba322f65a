"""Read a folder of TSV files: fast on millions of lines, exact about the line that is wrong."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from core.files.lines import LinesError, unpacked
from pooling.enums import GraphSource, Split
from pooling.graphs.source_data import (
    MAX_EXAMPLES,
    MAX_PROBLEMS,
    MOST_PROBLEMS,
    GraphError,
    GraphSourceData,
    SideTable,
    SplitRows,
    plural,
    printable,
    raise_problems,
    report_entry,
    the_line,
)

ENDINGS = (".tsv", ".txt", ".tsv.gz", ".txt.gz")
TRIPLE = ("head", "relation", "tail")
# stem of each file that may come with the triples: its columns, and which of them may be empty
SIDE_TABLES: dict[str, tuple[tuple[str, ...], frozenset[int]]] = {
    "entity_labels": (("entity", "label"), frozenset()),
    "entity_types": (("entity", "type"), frozenset()),
    "relation_domain_range": (("relation", "domain", "range"), frozenset({1, 2})),
    "relation_templates": (("relation", "statement", "tail question", "head question"), frozenset()),
    "relation_labels": (("relation", "label"), frozenset()),
    "entity_descriptions": (("entity", "description"), frozenset()),
    "entity_aliases": (("entity", "alias"), frozenset()),
    "entity_links": (("entity", "link"), frozenset()),
}
MOST_BYTES = 4 << 30  # of a file, unpacked
MOST_LINES = 50_000_000
_TAB, _NEWLINE, _RETURN, _NUL = 9, 10, 13, 0


def read_tsv(folder: str | Path) -> GraphSourceData:
    """Read a folder of train, valid and test triples; GraphError names up to 20 problems with file and line.

    The files of `SIDE_TABLES` are read where they are there.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise GraphError(f"{folder} is not a folder: give the folder that holds train.tsv, valid.tsv and test.tsv.")
    problems: list[str] = []
    paths = {split: _find(folder, split.value, problems, needed=True) for split in Split}
    fields = {split: _read_triples(path, problems) for split, path in paths.items() if path}
    tables = {stem: _read_side_table(folder, stem, problems) for stem in SIDE_TABLES}
    raise_problems(problems)
    keys, rows = encode([fields[split] for split in Split])
    splits = {split: SplitRows(_name(paths[split]), rows[i]) for i, split in enumerate(Split)}
    return GraphSourceData(
        source=GraphSource.TSV,
        keys=keys,
        splits=splits,
        labels=tables["entity_labels"],
        types=tables["entity_types"],
        domain_range=tables["relation_domain_range"],
        templates=tables["relation_templates"],
        relation_labels=tables["relation_labels"],
        descriptions=tables["entity_descriptions"],
        aliases=tables["entity_aliases"],
        links=tables["entity_links"],
        report=_whitespace(keys, splits),
    )


def read_triple_files(source: GraphSource, paths: dict[Split, Path]) -> GraphSourceData:
    """Read triples only, from three files that exist (a dataset that PyKEEN ships)."""
    problems: list[str] = []
    fields = [_read_triples(paths[split], problems) for split in Split]
    raise_problems(problems)
    keys, rows = encode(fields)
    splits = {split: SplitRows(paths[split].name, rows[i]) for i, split in enumerate(Split)}
    return GraphSourceData(source=source, keys=keys, splits=splits, report=_whitespace(keys, splits))


def encode(fields: list[pa.LargeStringArray]) -> tuple[list[str], list[npt.NDArray[np.int64]]]:
    """Encode flat fields (h, r, t, h, r, t, ...) of several files as one vocabulary and an int64[n, 3] per file."""
    together = pa.concat_arrays(fields).dictionary_encode()
    codes = together.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    ends = np.cumsum([len(part) for part in fields])[:-1]
    return cast("list[str]", together.dictionary.to_pylist()), [part.reshape(-1, 3) for part in np.split(codes, ends)]


def _find(folder: Path, stem: str, problems: list[str], needed: bool = False) -> Path | None:
    """Return the one file of this stem; add a problem if there are several, or if a needed one is missing."""
    found = [folder / (stem + ending) for ending in ENDINGS if (folder / (stem + ending)).is_file()]
    if len(found) > 1:
        names = " and ".join(path.name for path in found)
        problems.append(f"{folder}: {stem}. is there {len(found)} times ({names}): keep one of them.")
    if needed and not found:
        problems.append(f"{folder}: there is no {stem}.tsv (nor {stem}.txt, nor either with .gz): add it.")
    return found[0] if len(found) == 1 else None


def _name(path: Path | None) -> str:
    return path.name if path else ""


def _read_triples(path: Path, problems: list[str]) -> pa.LargeStringArray:
    """Return the flat fields of a file of triples; with problems, add them and return no fields."""
    before = len(problems)
    fields = split_fields(_bytes_of(path, problems), path.name, TRIPLE, frozenset(), problems)
    if not len(fields) and len(problems) == before:
        problems.append(f"{path.name}: there are no triples in it: a graph needs train, valid and test triples.")
    return fields


def _read_side_table(folder: Path, stem: str, problems: list[str]) -> SideTable | None:
    path = _find(folder, stem, problems)
    if path is None:
        return None
    columns, may_be_empty = SIDE_TABLES[stem]
    flat = split_fields(_bytes_of(path, problems), path.name, columns, may_be_empty, problems).to_pylist()
    return SideTable(path.name, list(zip(*(flat[i :: len(columns)] for i in range(len(columns))), strict=True)))


def _bytes_of(path: Path, problems: list[str]) -> bytes:
    try:
        data = path.read_bytes()
        return unpacked(data, path.name, MOST_BYTES) if path.suffix == ".gz" else data
    except LinesError as error:
        problems.append(str(error))
    except OSError as error:
        problems.append(f"{path.name}: cannot be read ({error.strerror}): check the file and its permissions.")
    return b""


def split_fields(
    data: bytes, file: str, columns: tuple[str, ...], may_be_empty: frozenset[int], problems: list[str]
) -> pa.LargeStringArray:
    """Return all fields of a TSV file in one flat array, row after row; add problems with file and line.

    Lines end with LF or CR LF; the last one may lack it. A byte order mark is skipped. With any problem the
    array is empty.
    """
    empty = pa.array([], pa.large_string())
    data = data.removeprefix(b"\xef\xbb\xbf")
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n")
    if data and not data.endswith(b"\n"):
        data += b"\n"
    if (lines := data.count(b"\n")) > MOST_LINES:
        problems.append(f"{file}: has {lines:,} lines, and at most {MOST_LINES:,} are read.")
        return empty
    text = np.frombuffer(data, np.uint8)
    separators = np.flatnonzero((text == _TAB) | (text == _NEWLINE))
    line_ends = np.flatnonzero(text[separators] == _NEWLINE)  # as indices into separators
    widths = np.diff(line_ends, prepend=-1)
    found = [
        *_bad_bytes(data, text, separators[line_ends]),
        *_bad_widths(widths, columns),
        *_empty_fields(separators, widths, columns, may_be_empty),
    ]
    ends = separators[line_ends]
    for i, (line, what) in enumerate(sorted(found)):
        start = int(ends[line - 2]) + 1 if line > 1 else 0
        shown = the_line(printable(data[start : int(ends[line - 1])])) if i < MAX_PROBLEMS else ""
        problems.append(f"{file}:{line}: {what}{shown}")
    if found or not len(separators):
        return empty
    kept = np.ones(len(text), bool)
    kept[separators] = False
    # Field i ends at separator i, less the i separators that were taken out before it.
    offsets = np.concatenate([[0], separators - np.arange(len(separators))]).astype(np.int64)
    return pa.LargeStringArray.from_buffers(len(separators), pa.py_buffer(offsets), pa.py_buffer(text[kept]))


def _bad_bytes(data: bytes, text: npt.NDArray[np.uint8], ends: npt.NDArray[np.int64]) -> list[tuple[int, str]]:
    """List lines that are not UTF-8, or hold a carriage return or NUL; `ends`: where lines end in `text`."""
    found: list[tuple[int, str]] = []
    try:
        data.decode()
    except UnicodeDecodeError:
        found += islice(_not_text(data), MOST_PROBLEMS)
    for code, name in ((_RETURN, "a carriage return"), (_NUL, "a NUL byte")):
        lines = np.unique(np.searchsorted(ends, np.flatnonzero(text == code))) + 1
        found += [(int(line), f"there is {name} inside the line: take it out.") for line in lines[:MOST_PROBLEMS]]
    return found


def _not_text(data: bytes) -> Iterator[tuple[int, str]]:
    for line, content in enumerate(data.split(b"\n")[:-1], 1):
        try:
            content.decode()
        except UnicodeDecodeError as error:
            yield line, f"byte 0x{content[error.start]:02x} is not UTF-8: save the file as UTF-8."


def _bad_widths(widths: npt.NDArray[np.int64], columns: tuple[str, ...]) -> list[tuple[int, str]]:
    wrong = np.flatnonzero(widths != len(columns))[:MOST_PROBLEMS]
    expected = f"{len(columns)} ({', '.join(columns)}, separated by tabs): correct the line or remove it."
    return [(int(line) + 1, f"{plural(int(widths[line]), 'column')} instead of {expected}") for line in wrong]


def _empty_fields(
    separators: npt.NDArray[np.int64],
    widths: npt.NDArray[np.int64],
    columns: tuple[str, ...],
    may_be_empty: frozenset[int],
) -> list[tuple[int, str]]:
    empty = np.flatnonzero(np.diff(separators, prepend=-1) == 1)  # as numbers of fields
    ends = np.cumsum(widths)
    lines = np.searchsorted(ends, empty, side="right")
    places = empty - (ends - widths)[lines]
    wrong = (widths[lines] == len(columns)) & ~np.isin(places, list(may_be_empty))
    return [
        (int(line) + 1, f"column {place + 1} ({columns[place]}) is empty: fill it in or remove the line.")
        for line, place in zip(lines[wrong][:MOST_PROBLEMS], places[wrong], strict=False)
    ]


def _whitespace(keys: list[str], splits: dict[Split, SplitRows]) -> list[dict[str, object]]:
    """Report fields with white space around them: it is part of the key, and mostly a mistake."""
    around = np.array([key != key.strip() for key in keys], bool)
    places = [
        (f"{split.file}:{row + 1}", keys[split.rows[row, column]])
        for split in splits.values()
        for row, column in np.argwhere(around[split.rows])
    ]
    if not places:
        return []
    message = f"{plural(len(places), 'field')} with white space at an end; it was kept as part of the name."
    return [report_entry("whitespace", len(places), message, (f"{p} {key!r}" for p, key in places[:MAX_EXAMPLES]))]
