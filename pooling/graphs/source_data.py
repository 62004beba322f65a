"""Define what a source of a graph returns to the importer, and how it reports problems."""

from bisect import insort
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt

from core.errors import TooLargeError, UserError
from pooling.enums import GraphSource, Split

P = ParamSpec("P")
R = TypeVar("R")
MAX_PROBLEMS = 20  # shown at once
MOST_PROBLEMS = 10_000  # counted, of one kind in one file
MAX_EXAMPLES = 5  # of one kind in a report
MAX_SHOWN = 80  # characters of a wrong line

Codes = npt.NDArray[np.int64]


class GraphError(UserError):
    """Say why a graph is missing or cannot be imported: which file and line, what is wrong, what to do.

    `problems`: one sentence for each, the first ones; `count`: of all.
    """

    problems: list[str]
    count: int

    def __init__(self, message: str, problems: list[str] | None = None, count: int = 1) -> None:
        super().__init__(message)
        self.problems, self.count = problems or [message], count


class GraphTooLargeError(GraphError, TooLargeError):
    """Say that files of a graph are larger than is read here; nothing was imported."""


@dataclass(frozen=True)
class SplitRows:
    """Hold the triples of one split as the source has them, repeats included."""

    file: str  # as messages name it
    rows: Codes  # [n, 3]: head, relation, tail as indices into GraphSourceData.keys
    lines: Codes | None = None  # [n]: the line of each row; None: row i is on line i + 1

    def line(self, row: int) -> int:
        """Return the line of a row in the file, from 1."""
        return row + 1 if self.lines is None else int(self.lines[row])


@dataclass(frozen=True)
class SideTable:
    """Hold a file that comes with the triples (labels, types, ...) as rows of text.

    `has_lines`: row i is on line i + 1; False where rows are no lines, as in JSON.
    """

    file: str
    rows: Sequence[tuple[str, ...]]
    has_lines: bool = True

    def counted(self, rows: int) -> str:
        """Return a number of rows in words."""
        return plural(rows, "line") if self.has_lines else plural(rows, "entry", "entries")

    def place(self, row: int) -> str:
        """Return the file, with the line of a row from 0 if it has one."""
        return f"{self.file}:{row + 1}" if self.has_lines else self.file


@dataclass(frozen=True)
class GraphSourceData:
    """Hold everything that a source knows; only the number of columns of each row was checked."""

    source: GraphSource
    keys: list[str]  # the vocabulary of entities and relations together
    splits: Mapping[Split, SplitRows]  # all three
    labels: SideTable | None = None  # entity, label
    types: SideTable | None = None  # entity, type
    domain_range: SideTable | None = None  # relation, domain, range
    templates: SideTable | None = None  # relation, statement, tail question, head question
    relation_labels: SideTable | None = None  # relation, label
    descriptions: SideTable | None = None  # entity, description
    aliases: SideTable | None = None  # entity, alias; a line for each
    links: SideTable | None = None  # entity, link
    link_pattern: str = ""  # makes links of entities that have none, such as https://www.wikidata.org/wiki/{id}
    closed_world: Codes | None = None  # [n, 3]: all true triples, where they are known
    report: list[dict[str, Any]] = field(default_factory=list)


def report_entry(kind: str, count: int, message: str, examples: Iterable[str]) -> dict[str, Any]:
    """Return one entry of Graph.report."""
    return {"kind": kind, "count": count, "message": message, "examples": list(examples)}


class Problems:
    """Count what is wrong in files and keep the first problems only: a file may have millions of bad lines."""

    def __init__(self) -> None:
        self.first: dict[str, list[tuple[int, str, str]]] = {}  # by file: line, what is wrong, its text
        self.count = 0

    def add(self, file: str, line: int, what: str, text: str = "") -> None:
        """Add what is wrong in a line, with the advice after a colon, and the text of the line where it helps."""
        self.count += 1
        first = self.first.setdefault(file, [])
        if len(first) < MAX_PROBLEMS or line < first[-1][0]:
            insort(first, (line, what, the_line(text)))
            del first[MAX_PROBLEMS:]

    def raise_any(self) -> None:
        """Raise a GraphError with the first problems and how many there are, if there are any; an advice comes once."""
        given: set[str] = set()
        told = []
        for file, problems in self.first.items():
            for line, what, text in problems:
                short, _, advice = what.partition(": ")
                told.append(f"{file}:{line}: {f'{short}.' if advice and advice in given else what}{text}")
                given.add(advice)
        raise_problems(told[:MAX_PROBLEMS], self.count)


def raise_problems(problems: list[str], count: int = 0) -> None:
    """Raise a GraphError with the first problems, one per line, if there are any. `count`: of all, if not all given."""
    if problems:
        count = max(count, len(problems))
        more = count - MAX_PROBLEMS
        least = "at least " if len(problems) >= MOST_PROBLEMS else ""
        rest = [f"… and {least}{more:,} more problems, {least}{count:,} in all."] if more > 0 else []
        raise GraphError("\n".join(problems[:MAX_PROBLEMS] + rest), problems[:MAX_PROBLEMS], count)


class Together:
    """Go on after a GraphError, so that one message can name the problems of all files."""

    def __init__(self) -> None:
        self.errors: list[GraphError] = []

    def __call__(self, read: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R | None:
        """Return what a call returns, None where it raises GraphError. What is too large ends everything."""
        try:
            return read(*args, **kwargs)
        except GraphTooLargeError:
            raise
        except GraphError as error:
            if str(error) not in map(str, self.errors):  # a file that is read twice
                self.errors.append(error)
            return None

    def raise_any(self) -> None:
        """Raise what was raised: the only error as it is, several as one with the first problems of all.

        Where files have the same problem, it comes once, after their names.
        """
        if len(self.errors) == 1:
            raise self.errors[0]
        if self.errors:
            alike: dict[str, list[str]] = {}
            for problem in (problem for error in self.errors for problem in error.problems):
                where, _, what = problem.partition(": ")
                alike.setdefault(what, []).append(where)
            told = [f"{', '.join(where)}: {what}" for what, where in alike.items()]
            raise_problems(told, len(told) + sum(error.count - len(error.problems) for error in self.errors))


def printable(line: bytes) -> str:
    """Return the start of a line as text, bytes that are not UTF-8 as \\xfc."""
    return line[: 4 * MAX_SHOWN + 4].decode(errors="backslashreplace")


def the_line(text: str) -> str:
    """Return the text of a line for a message, shortened, with tabs and what cannot be printed escaped; "" if empty."""
    short = text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 1]}…"
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in short)
    return f" The line: {shown}" if shown.strip() else ""


def plural(count: int, one: str, many: str = "") -> str:
    """Return a count with its noun: '1 triple', '2,000 triples'."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"
