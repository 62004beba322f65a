"""Read delimited text whose separator and header are not known: tab, comma, semicolon, bar, or white space."""

import codecs
import csv
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from pooling.graphs.source_data import GraphError, Problems, plural, printable

SEPARATORS = {"tab": "\t", "comma": ",", "semicolon": ";", "bar": "|", "space": " "}
SAMPLED = 200  # lines that are looked at
AGREE = 0.9  # share of them with the same number of fields
MOST_AGREE = 0.5  # enough to name the others, where no separator does better
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

    def text(self, row: int) -> str:
        """Return a row as the text of its line."""
        return SEPARATORS[self.separator].join(self.rows[row])


def decoded(data: bytes, file: str, problems: Problems | None = None) -> str:
    """Return text. Lines that are not UTF-8 are added to `problems`; without it, GraphError names them."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        told = Problems() if problems is None else problems
        for number, line in enumerate(data.removeprefix(codecs.BOM_UTF8).split(b"\n"), 1):
            try:
                line.decode()
            except UnicodeDecodeError as error:
                what = f"byte 0x{line[error.start]:02x} is not UTF-8: save the file as UTF-8."
                told.add(file, number, what, printable(line))
        if problems is None:
            told.raise_any()
        return data.decode("utf-8-sig", errors="replace")


def text_lines(data: bytes, file: str, problems: Problems | None = None) -> list[str]:
    """Return the lines of a text, whatever ends them; as to `problems`, see `decoded`."""
    text = decoded(data, file, problems).replace("\r\n", "\n")
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
    problems: Problems | None = None,
) -> TextTable:
    """Return the table of a file: `separator` by name, else the one that fits most lines; `skip` lines before it.

    `keep`: number of first fields to keep of each line; None keeps all. `least`: prefer a separator that gives at
    least this many columns. `header`: "yes" or "no"; "" finds out whether the first line names columns. Empty lines,
    and columns beyond `least` that are empty in every line, are left out.

    Lines with another number of fields are added to `problems` and left out. Where lines are not UTF-8, they alone are
    added, and the table is empty. Without `problems`, GraphError names them.
    """
    before = problems.count if problems else 0
    every = text_lines(data, file, problems)
    if problems and problems.count > before:  # what it holds may be anything
        return TextTable(file, separator or "tab", (), [], [])
    numbers = [i for i, line in enumerate(every, 1) if i > skip and line.strip()]
    lines = [every[i - 1] for i in numbers]
    if not lines:
        return TextTable(file, separator or "tab", (), [], [])
    chosen, width = _fitting(lines[:SAMPLED], file, separator, keep, least)
    try:
        rows, numbers = _numbered(lines, numbers, chosen, keep)
    except csv.Error as error:
        raise GraphError(f"{file} cannot be read as a table ({error}): look for a quote that never ends.") from None
    told = Problems() if problems is None else problems
    if any(len(row) != width for row in rows):
        _tell_widths(rows, width, f"separated by {chosen}", file, numbers, least, every, told)
        right = [i for i, row in enumerate(rows) if len(row) == width]
        rows, numbers = [rows[i] for i in right], [numbers[i] for i in right]
    if problems is None:
        told.raise_any()
    while width > least and not any(row[width - 1].strip() for row in rows):
        width -= 1
    if width < len(rows[0]):
        rows = [row[:width] for row in rows]
    names = tuple(name.strip() for name in rows[0])
    has_names = roles_of(names) or any(name.startswith(":") or name.endswith(":ID") for name in names)
    if header == "yes" or (has_names and header != "no"):
        return TextTable(file, chosen, names, rows[1:], numbers[1:])
    return TextTable(file, chosen, (), rows, numbers)


def _tell_widths(
    rows: list[list[str]],
    width: int,
    how: str,
    file: str,
    numbers: Sequence[int],
    least: int,
    every: list[str],
    problems: Problems,
) -> None:
    """Tell of each line with another number of fields."""
    for number, row in zip(numbers, rows, strict=True):
        if len(row) != width:
            qualifiers = " If its last fields are qualifiers, leave them out with --drop-qualifiers."
            what = (
                f"{plural(len(row), 'field')} where most lines have {width}, {how}: correct the line, or name another"
                f" separator.{qualifiers if len(row) > width == least == 3 else ''}"
            )
            problems.add(file, number, what, every[number - 1])


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


def _numbered(
    lines: list[str], numbers: list[int], separator: str, keep: int | None
) -> tuple[list[list[str]], list[int]]:
    """Return the fields of each row, and the number of its first line: in quotes a row may go over several lines."""
    if separator in ("space", "tab"):
        return [row[:keep] for row in _split(lines, separator)], numbers
    rows, first = [], []
    reader = csv.reader(lines, delimiter=SEPARATORS[separator])
    at = 0
    for row in reader:
        rows.append(row[:keep])
        first.append(numbers[at])
        at = reader.line_num
    return rows, first


def _fitting(lines: list[str], file: str, asked: str, keep: int | None, least: int) -> tuple[str, int]:
    """Return the separator with which most lines have one number of fields, if possible `least`, and that number."""
    if asked and asked not in SEPARATORS:
        raise GraphError(f"There is no separator {asked!r}: choose {', '.join(SEPARATORS)}.")
    found, nearly = [], []
    for name in [asked] if asked else SEPARATORS:
        try:
            counts = Counter(len(row[:keep]) for row in _split(lines, name))
        except csv.Error:  # a quote that never ends
            continue
        width, agreeing = counts.most_common(1)[0]
        if width > 1 and agreeing >= AGREE * len(lines):
            found.append((name, width))
        elif width >= max(2, least) and agreeing > MOST_AGREE * len(lines) and name != "space":  # prose has spaces
            nearly.append((name, width))
    if found or (found := nearly):
        return next((fit for fit in found if fit[1] >= least), found[0])
    kinds = asked or "tab, comma, semicolon, bar or white space"
    raise GraphError(
        f"{file}: the lines have no common number of fields separated by {kinds}: give a table. If the fields after"
        " the third are qualifiers, leave them out with --drop-qualifiers."
    )
