"""Read delimited text whose separator and header are not known: tab, comma, semicolon, bar, or white space."""

import csv
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from pooling.graphs.source_data import GraphError, plural

SEPARATORS = {"tab": "\t", "comma": ",", "semicolon": ";", "bar": "|", "space": " "}
SAMPLED = 200  # lines that are looked at
AGREE = 0.9  # share of them with the same number of fields
ROLES = {  # names of columns, by what they hold
    "head": {"head", "h", "subject", "subj", "s", "source", "src", "from", "start", ":start_id", "head_id", "node1",
             "entity1", "subject_id", "source_id", "e1", "lhs"},
    "relation": {"relation", "rel", "r", "predicate", "pred", "p", "property", "edge", "metaedge", ":type", "edge_type",
                 "relationship", "relation_id", "type", "predicate_id"},
    "tail": {"tail", "t", "object", "obj", "o", "target", "tgt", "to", "end", ":end_id", "tail_id", "node2", "entity2",
             "object_id", "target_id", "e2", "rhs"},
}  # fmt: skip


@dataclass(frozen=True)
class TextTable:
    """Hold the rows of a text file, all of one width, with the line of each. `header`: names, or none."""

    file: str
    separator: str
    header: tuple[str, ...]
    rows: list[list[str]]
    lines: Sequence[int]

    @property
    def width(self) -> int:
        return len(self.rows[0]) if self.rows else len(self.header)


def decoded(data: bytes, file: str) -> str:
    """Return text; GraphError names the line that is not UTF-8."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise GraphError(
            f"{file}:{line}: byte 0x{data[error.start]:02x} is not UTF-8: save the file as UTF-8."
        ) from None


def text_lines(data: bytes, file: str) -> list[str]:
    """Return the lines of a text, whatever ends them."""
    text = decoded(data, file).replace("\r\n", "\n")
    return (text if "\n" in text else text.replace("\r", "\n")).split("\n")


def check_count(data: bytes, file: str, lines: int) -> None:
    """Raise GraphError if the count in the first line is not the number of lines after it."""
    first = text_lines(data, file)[0].strip()
    if int(first) != lines:
        follow = "1 line follows" if lines == 1 else f"{lines:,} lines follow"
        raise GraphError(f"{file}:1: the count is {int(first):,}, and {follow}: copy the file again.")


def read_table(
    data: bytes,
    file: str,
    separator: str = "",
    skip: int = 0,
    keep: int | None = None,
    *,
    least: int = 2,
    header: str = "",
) -> TextTable:
    """Return the table of a file: `separator` by name, else the one that fits most lines; `skip` lines before it.

    `keep`: number of first fields to keep of each line; None keeps all. `least`: prefer a separator that gives at
    least this many columns. `header`: "yes" or "no"; "" finds out whether the first line names columns. Empty lines,
    and columns beyond `least` that are empty in every line, are left out.

    GraphError names the line with another number of fields.
    """
    every = text_lines(data, file)
    numbers = [i for i, line in enumerate(every, 1) if i > skip and line.strip()]
    lines = [every[i - 1] for i in numbers]
    if not lines:
        return TextTable(file, separator or "tab", (), [], [])
    chosen, width = _fitting(lines[:SAMPLED], file, separator, keep, least)
    try:
        rows = [row[:keep] for row in _split(lines, chosen)]
    except csv.Error as error:
        raise GraphError(f"{file} cannot be read as a table ({error}): look for a quote that never ends.") from None
    _check_widths(rows, width, f"separated by {chosen}", file, numbers, least)
    while width > least and not any(row[width - 1].strip() for row in rows):
        width -= 1
    if width < len(rows[0]):
        rows = [row[:width] for row in rows]
    names = tuple(name.strip() for name in rows[0])
    has_names = roles_of(names) or any(name.startswith(":") or name.endswith(":ID") for name in names)
    if header == "yes" or (has_names and header != "no"):
        return TextTable(file, chosen, names, rows[1:], numbers[1:])
    return TextTable(file, chosen, (), rows, numbers)


def _check_widths(rows: list[list[str]], width: int, how: str, file: str, numbers: Sequence[int], least: int) -> None:
    """Raise GraphError that names the first line with another number of fields."""
    for i, row in enumerate(rows):
        if len(row) != width:
            qualifiers = " If its last fields are qualifiers, leave them out with --drop-qualifiers."
            raise GraphError(
                f"{file}:{numbers[i]}: {plural(len(row), 'field')} where most lines have {width}, {how}: correct the"
                f" line, or name another separator.{qualifiers if len(row) > width == least == 3 else ''}"
            )


def roles_of(header: tuple[str, ...]) -> dict[str, int]:
    """Return the place of head, relation and tail by the names of columns; {} where one of them has no name."""
    names = [name.lower().lstrip("#?").strip() for name in header]
    found = {role: next((i for i, name in enumerate(names) if name in known), -1) for role, known in ROLES.items()}
    return found if min(found.values()) >= 0 and len(set(found.values())) == len(ROLES) else {}


def _split(lines: list[str], separator: str) -> list[list[str]]:
    if separator == "space":
        return [line.split() for line in lines]
    if separator == "tab":  # no quotes: an id may begin with one
        return [line.split("\t") for line in lines]
    return list(csv.reader(lines, delimiter=SEPARATORS[separator]))


def _fitting(lines: list[str], file: str, asked: str, keep: int | None, least: int) -> tuple[str, int]:
    """Return the separator with which most lines have one number of fields, if possible `least`, and that number."""
    if asked and asked not in SEPARATORS:
        raise GraphError(f"There is no separator {asked!r}: choose {', '.join(SEPARATORS)}.")
    found = []
    for name in [asked] if asked else SEPARATORS:
        try:
            counts = Counter(len(row[:keep]) for row in _split(lines, name))
        except csv.Error:  # a quote that never ends
            continue
        width, agreeing = counts.most_common(1)[0]
        if width > 1 and agreeing >= AGREE * len(lines):
            found.append((name, width))
    if found:
        return next((fit for fit in found if fit[1] >= least), found[0])
    kinds = asked or "tab, comma, semicolon, bar or white space"
    raise GraphError(
        f"{file}: the lines have no common number of fields separated by {kinds}: give a table. If the fields after"
        " the third are qualifiers, leave them out with --drop-qualifiers."
    )
