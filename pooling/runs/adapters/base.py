"""Define what an adapter gets and gives, and turn named rows into the numbers of a run."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from core.callbacks import Tell
from core.files.lines import check_ratio
from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.runs.trec_read import RunFile, Topics, TrecError, Wrong, entity_of, find_repeats, question_of
from pooling.scoring.rank_rows import find

LEAST_LINE = 20  # bytes of a short TREC line: what may have n bytes may have n / 20 rows
NONE_IMPORTED = "nothing was imported."


@dataclass
class Outside:
    """Hold a file or folder from outside, what messages call it, and what it may answer.

    Unpacked it may have `max_bytes`; `progress(done, total)` is told how far reading is.
    """

    path: Path
    name: str
    graph: GraphArrays
    topics: Topics
    max_bytes: int | None = None
    progress: Tell | None = None
    most_rows: int | None = field(init=False)

    def __post_init__(self) -> None:
        self.most_rows = None if self.max_bytes is None else self.max_bytes // LEAST_LINE

    def refusal(self, problem: str) -> TrecError:
        """Return the error that names the file: `problem` says what is wrong and what to do."""
        return TrecError(f"{self.name}: {problem}")

    def check_rows(self, rows: int) -> None:
        """Raise an error if there are more rows than may be sent, or than a file of this size can have."""
        if self.path.is_file():
            check_ratio(rows * LEAST_LINE, self.path.stat().st_size, self.name)
        if self.most_rows is not None and rows > self.most_rows:
            raise self.refusal(
                f"has {rows:,} rows; at most {self.most_rows:,} can be sent here. Send the file in parts, or use "
                f"import_run on the server; {NONE_IMPORTED}"
            )


class Answers(NamedTuple):
    """Hold the rows of a run; notes for its reader, a sentence each; and positions where the form says them.

    position int64[n]: place of each row among all candidates, answers of train and valid removed; None where the
    lists are whole to their end, so that places follow from the scores.
    """

    file: RunFile
    notes: list[str]
    position: np.ndarray | None = None


@dataclass(frozen=True)
class Adapter:
    """Describe a form of runs: its name, what writes it and what a file has, how to know it, and how to read it."""

    name: str
    title: str
    content: str
    knows: Callable[[Path], bool]
    read: Callable[[Outside], Answers]

    @property
    def words(self) -> str:
        """Return the content as plain text."""
        return self.content.replace("`", "")


def resolved(codes: np.ndarray, names: Sequence[str], look_up: Callable[[str], int | str], wrong: Wrong) -> np.ndarray:
    """Look up each name once and return the id of every row, int64[n]; rows whose name is unknown are added to wrong.

    codes: int[n], index into `names`; `look_up` returns an id, or what is wrong in words. Rows are numbered from 1.
    """
    found = [look_up(name) for name in names]
    ids = np.array([-1 if isinstance(one, str) else one for one in found], dtype=np.int64)
    values = ids[codes] if len(ids) else np.zeros(0, np.int64)
    for row in np.flatnonzero(values < 0).tolist():
        wrong.add(row + 1, str(found[codes[row]]))
    return values


def rows_of_names(
    outside: Outside,
    question: tuple[np.ndarray, Sequence[str]],
    entity: tuple[np.ndarray, Sequence[str]],
    score: np.ndarray,
    rank: np.ndarray,
) -> RunFile:
    """Return rows given by question ids and entity keys (codes int[n], and names); TrecError names up to 20 rows."""
    wrong = Wrong(outside.name)
    asked = resolved(*question, lambda name: question_of(name, outside.graph, outside.topics), wrong)
    given = resolved(*entity, lambda name: entity_of(name, outside.graph, quoted=False), wrong)
    return checked(outside, asked, given, score, rank, wrong)


def checked(
    outside: Outside,
    question: np.ndarray,
    entity: np.ndarray,
    score: np.ndarray,
    rank: np.ndarray,
    wrong: Wrong | None = None,
    *,
    line: np.ndarray | None = None,
) -> RunFile:
    """Return rows as a RunFile; TrecError if one has no finite score, repeats another, or is in `wrong`.

    line: int64[n], the number of each row in the file; None: they are numbered from 1.
    """
    wrong = wrong or Wrong(outside.name)
    if line is None:
        line = np.arange(1, len(question) + 1)
    for row in np.flatnonzero(~np.isfinite(score)).tolist():
        wrong.add(int(line[row]), f"score {score[row]} is not a finite number")
    found = RunFile(line, question, entity, score.astype(np.float64), rank.astype(np.int64))
    find_repeats(found, outside.graph, wrong)
    wrong.refuse()
    if not len(question):
        raise outside.refusal(f"has no answer to {outside.topics.whose}; {NONE_IMPORTED}")
    return found


def question_of_ids(side: int, entity: np.ndarray, relation: np.ndarray, graph: GraphArrays) -> np.ndarray:
    """Return keys of questions, int64[n]: side 0 asks for the tail of (entity, relation), side 1 for the head."""
    code = side * graph.num_relations + relation.astype(np.int64)
    return code * graph.num_entities + entity.astype(np.int64)


def asked_rows(outside: Outside, question: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Return the rows whose question is a topic, int64[m], and a note on the others; programs answer all of test."""
    asked = find(outside.topics.keys, question) >= 0
    others = int((~asked).sum())
    note = f"{others:,} rows answer other questions than {outside.topics.whose} and were left out."
    return np.flatnonzero(asked), [note] if others else []


def places_by_score(question: np.ndarray, score: np.ndarray) -> np.ndarray:
    """Return the rank of each row by its score within its question, int64[n] from 1; higher scores come first."""
    order = np.lexsort((-score, question))
    rank = np.empty(len(order), np.int64)
    begin = np.searchsorted(question[order], question[order])
    rank[order] = np.arange(len(order)) - begin + 1
    return rank


def positions_of(answer: np.ndarray, question: np.ndarray, rank: np.ndarray) -> np.ndarray:
    """Return the position of each row in its question's list, int64[n], from filtered ranks; int64[n] each.

    answer: bool[n]. The rank of an answer is 1 + the candidates above it that are no answers; the rank of another
    candidate is its place among those that are no answers. Positions count both kinds.
    """
    order = np.lexsort((~answer, rank, question))  # at one rank, answers are above the candidate of that place
    ranked, group = rank[order], question[order]
    before = np.cumsum(answer[order]) - answer[order]
    first = np.searchsorted(group, group)
    position = np.empty(len(order), np.int64)
    position[order] = ranked + before - before[first]
    return position
