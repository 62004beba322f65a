"""Turn DataFrames of runs and labels into a rank table; errors name the row that is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evaluation.measures.label_state import LabelState, States
from evaluation.measures.prepared import Prepared, prepare
from evaluation.measures.rank_table import Ints, Ranks, RankTable, tie_span

LABELS: dict[object, LabelState] = {
    1: LabelState.POSITIVE, 0: LabelState.NEGATIVE, -1: LabelState.UNJUDGED,
    "positive": LabelState.POSITIVE, "negative": LabelState.NEGATIVE,
    "assumed negative": LabelState.ASSUMED_NEGATIVE, "unjudged": LabelState.UNJUDGED,
}  # fmt: skip
Keys = NDArray[np.int64]


@dataclass(frozen=True)
class RankedRuns:
    """Hold where each system ranks each labelled candidate of each question, and the labels.

    Build it with `rank_table`. A row of its table is one (question, candidate) of the labels, and a triple of its own.

    Attributes
    ----------
    prepared : Prepared
        The sorted rank table.
    state : ndarray of int8 [rows]
        The `LabelState` of each row.
    systems : tuple
        Names of the systems.
    questions : Index [questions]
        Names of the questions.
    candidates : ndarray of object [rows]
        The candidate of each row.

    Examples
    --------
    >>> from triplepool.example import ranked
    >>> ranked.systems, len(ranked.questions), len(ranked.state)
    (('RotatE', 'TransE', 'Random'), 4, 20)
    """

    prepared: Prepared
    state: States  # [rows]
    systems: tuple[object, ...]
    questions: pd.Index  # [questions]
    candidates: NDArray[np.object_]  # [rows]

    def relabelled(self, qrels: pd.DataFrame) -> RankedRuns:
        """Put other labels on the same positions; a candidate that `qrels` does not name counts as not pooled.

        ValueError if it names a candidate that the table has no position of.
        """
        _check_labels(qrels)
        names = pd.MultiIndex.from_arrays([self.questions[self.prepared.table.question], self.candidates])
        at = names.get_indexer(pd.MultiIndex.from_arrays([qrels["question"], qrels["candidate"]]))
        if (at < 0).any():
            raise ValueError(
                f"qrels {_row(qrels, np.argmax(at < 0))} is not in the table, which has no position of it: "
                "build the table from labels that hold every candidate of both label sets"
            )
        state = np.full(self.state.shape, LabelState.NOT_POOLED, dtype=np.int8)
        state[at] = _states(qrels)
        return replace(self, state=state)


def rank_table(
    runs: pd.DataFrame,
    qrels: pd.DataFrame,
    candidates: int | Mapping[object, int] | None = None,
    rng: np.random.Generator | None = None,
) -> RankedRuns:
    """Find the positions of the labelled candidates in the runs.

    What a run does not list, it did not return: 1/rank and hits are 0, mean ranks undefined. Equal scores keep their
    optimistic and pessimistic positions; where one order is needed, a random permutation of all candidates breaks ties,
    the same for every system and question. Questions without a label are left out.

    Parameters
    ----------
    runs : DataFrame
        Columns system, question, candidate, and score (higher is better) or rank (from 1, none twice in a list). Lists
        must not hold known facts.
    qrels : DataFrame
        Columns question, candidate, label: 1 positive, 0 negative, -1 in the pool but unjudged, or these words, or
        "assumed negative".
    candidates : int or mapping of question to int, optional
        Candidates of a question, for measures adjusted for chance; by default those that are named.
    rng : numpy.random.Generator, optional
        Draws the permutation that breaks ties; seed 0 if left out.

    Returns
    -------
    RankedRuns
        Positions and labels.

    Raises
    ------
    ValueError
        Names the column, or the row by its index label, that is wrong.

    Examples
    --------
    >>> from triplepool import evaluate, rank_table
    >>> from triplepool.example import qrels, runs
    >>> evaluate(rank_table(runs, qrels), ["micro_mrr"]).round(3)
            micro_mrr
    system
    RotatE      1.000
    TransE      0.857
    Random      0.267
    """
    by_rank = _check_runs(runs)
    _check_labels(qrels)
    systems = tuple(pd.unique(runs["system"]))
    questions = pd.Index(pd.unique(qrels["question"]), name="question")
    asked = _asked(runs, qrels, questions)
    code, names = pd.factorize(pd.concat([qrels["candidate"], runs["candidate"]], ignore_index=True))
    labelled, listed = code[: len(qrels)].astype(np.int64), code[len(qrels) :].astype(np.int64)
    tie = None if by_rank else (rng or np.random.default_rng(0)).permutation(len(names))
    lists = _lists(runs[asked >= 0], systems, asked[asked >= 0], listed[asked >= 0], tie)
    question: Keys = questions.get_indexer(pd.Index(qrels["question"])).astype(np.int64)
    order = np.argsort(question, kind="stable")
    table = _table(question[order], labelled[order], lists, len(systems), len(names), candidates, questions)
    held = np.asarray(names, dtype=object)[table.entity]
    return RankedRuns(prepare(table), _states(qrels)[order], systems, questions, held)


class _Lists(NamedTuple):
    """Hold n lines of the runs: numbers of system, question and candidate, and three positions [n] each."""

    system: Keys
    question: Keys
    candidate: Keys
    positions: tuple[Keys, Keys, Keys]  # strict, optimistic, pessimistic


def _asked(runs: pd.DataFrame, qrels: pd.DataFrame, questions: pd.Index) -> Keys:
    """Return the number of each line's question in the labels, -1 where they do not have it."""
    asked: Keys = questions.get_indexer(pd.Index(runs["question"])).astype(np.int64)
    if len(runs) and len(qrels) and (asked < 0).all():
        raise ValueError(
            "no question of runs is in qrels: "
            f"runs has {_plain(runs['question'].iloc[0])!r}, qrels {_plain(questions[0])!r}"
        )
    return asked


def _lists(runs: pd.DataFrame, systems: tuple[object, ...], asked: Keys, listed: Keys, tie: Ints | None) -> _Lists:
    """Number the lines and find their positions: by rank without `tie`, by score with it."""
    system: Keys = pd.Index(systems).get_indexer(pd.Index(runs["system"])).astype(np.int64)
    if tie is None:
        rank = runs["rank"].to_numpy().astype(np.int64)
        return _Lists(system, asked, listed, (rank, rank, rank))
    key = system * (int(asked.max(initial=0)) + 1) + asked
    return _Lists(system, asked, listed, _positions(key, runs["score"].to_numpy(float), tie[listed]))


def _table(
    question: Keys,
    labelled: Keys,
    lists: _Lists,
    systems: int,
    names: int,
    candidates: int | Mapping[object, int] | None,
    questions: pd.Index,
) -> RankTable:
    """Build the table of labelled candidates, ordered by question."""
    row_key, key = question * names + labelled, lists.question * names + lists.candidate
    strict, optimistic, pessimistic = (
        _at(row_key, lists.system, key, position, systems) for position in lists.positions
    )
    zeros = np.zeros(len(questions), dtype=np.int32)
    named = np.bincount(np.unique(np.concatenate([row_key, key])) // max(names, 1), minlength=len(questions))
    longest = np.zeros(len(questions), dtype=np.int64)
    np.maximum.at(longest, lists.question, lists.positions[2])
    returned = np.bincount(lists.system * len(questions) + lists.question, minlength=systems * len(questions))
    return RankTable(
        question=question.astype(np.int32),
        entity=labelled.astype(np.int32),
        triple=np.arange(question.size, dtype=np.int32),
        strict=strict,
        optimistic=optimistic,
        pessimistic=pessimistic,
        side=zeros.astype(np.int8),
        relation=zeros,
        candidates=_sizes(candidates, questions, np.maximum(named, longest)),
        returned=returned.reshape(systems, len(questions)).astype(np.int32),
    )


def _positions(lists: Keys, score: NDArray[np.float64], tie: Ints) -> tuple[Keys, Keys, Keys]:
    """Return strict, optimistic and pessimistic position of each line in its list."""
    order = np.lexsort((tie, -score, lists))
    its_list, its_score = lists[order], score[order]
    same_list = np.zeros(order.shape, dtype=bool)
    same_list[1:] = its_list[1:] == its_list[:-1]
    same_score = same_list.copy()
    same_score[1:] &= its_score[1:] == its_score[:-1]
    begin, _ = tie_span(same_list)
    first, last = tie_span(same_score)
    found = np.empty((3, order.size), dtype=np.int64)
    found[:, order] = np.stack([np.arange(order.size), first, last]) - begin + 1
    return found[0], found[1], found[2]


def _at(row_key: Keys, system: Keys, key: Keys, position: Keys, systems: int) -> Ranks:
    """Return positions [systems, rows] of the labelled candidates; 0 where the system's list has none."""
    sorter = np.argsort(row_key)
    place = np.searchsorted(row_key, key, sorter=sorter)
    row = sorter[np.minimum(place, row_key.size - 1)] if row_key.size else np.zeros(key.shape, dtype=np.intp)
    found = row_key[row] == key if row_key.size else np.zeros(key.shape, dtype=bool)
    ranks = np.zeros((systems, row_key.size), dtype=np.int32)
    ranks[system[found], row[found]] = position[found]
    return ranks


def _sizes(
    given: int | Mapping[object, int] | None, questions: pd.Index, least: NDArray[np.int64]
) -> NDArray[np.int32]:
    """Return the candidates of each question, at least as many as its runs and labels name."""
    if given is None:
        return least.astype(np.int32)
    if isinstance(given, Mapping):
        missing = [question for question in questions if question not in given]
        if missing:
            raise ValueError(f"candidates has no number for question {missing[0]!r}")
        sizes = np.array([given[question] for question in questions], dtype=np.int64)
    else:
        sizes = np.full(len(questions), given, dtype=np.int64)
    short = np.flatnonzero(sizes < least)
    if short.size:
        q = short[0]
        raise ValueError(f"question {questions[q]!r} has {sizes[q]} candidates, but runs and labels need {least[q]}")
    return sizes.astype(np.int32)


# -- checks ----------------------------------------------------------------------------------------------------


def _check_runs(runs: pd.DataFrame) -> bool:
    """Check the runs; tell whether they are given by rank, not by score."""
    _check_keys(runs, "runs", ["system", "question", "candidate"])
    given = [column for column in ("score", "rank") if column in runs.columns]
    if len(given) != 1:
        raise ValueError(f"runs needs a column 'score' or a column 'rank', not {'both' if given else 'neither'}")
    if not pd.api.types.is_numeric_dtype(runs[given[0]]):
        raise ValueError(f"column '{given[0]}' of runs holds no numbers but {runs[given[0]].dtype}")
    value = runs[given[0]].to_numpy(dtype=float, na_value=np.nan)
    _refuse(~np.isfinite(value), runs, "runs", f"the {given[0]} is not a finite number")
    if given == ["score"]:
        return False
    _refuse((value < 1) | (value != np.floor(value)), runs, "runs", "a rank is a whole number from 1")
    twice = runs.duplicated(["system", "question", "rank"]).to_numpy()
    _refuse(twice, runs, "runs", "another candidate of the same list has the same rank")
    return True


def _check_labels(qrels: pd.DataFrame) -> None:
    _check_keys(qrels, "qrels", ["question", "candidate"], needed=["label"])
    known = "1, 0, -1, " + ", ".join(repr(name) for name in LABELS if isinstance(name, str))
    bad = ~qrels["label"].map(lambda label: label in LABELS).to_numpy(dtype=bool)
    _refuse(bad, qrels, "qrels", f"the label is not one of {known}")


def _check_keys(frame: pd.DataFrame, name: str, keys: list[str], needed: list[str] | None = None) -> None:
    missing = [column for column in [*keys, *(needed or [])] if column not in frame.columns]
    if missing:
        raise ValueError(f"{name} has no column '{missing[0]}'; it has {', '.join(map(str, frame.columns))}")
    for column in keys:
        _refuse(frame[column].isna().to_numpy(), frame, name, f"the {column} is empty")
    twice = frame.duplicated(keys).to_numpy()
    _refuse(twice, frame, name, f"the {', '.join(keys)} stand in an earlier row too")


def _refuse(bad: NDArray[np.bool_], frame: pd.DataFrame, name: str, reason: str) -> None:
    if bad.any():
        raise ValueError(f"{name} {_row(frame, np.argmax(bad))}: {reason}")


def _row(frame: pd.DataFrame, place: np.intp) -> str:
    """Describe a row for a message: its label in the index and its content."""
    held = ", ".join(f"{column} {_plain(value)!r}" for column, value in frame.iloc[int(place)].items())
    return f"row {_plain(frame.index[int(place)])!r} ({held})"


def _plain(value: object) -> object:
    return value.item() if isinstance(value, np.generic) else value


def _states(qrels: pd.DataFrame) -> States:
    return np.array([LABELS[label] for label in qrels["label"]], dtype=np.int8)
