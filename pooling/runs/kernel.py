"""Rank imported lists by their scores; ties are broken as in pooling/scoring/ranking.py."""

from typing import NamedTuple

import numpy as np

from pooling.questions.kernel import Csr
from pooling.scoring.ranks import tie_order


class Listed(NamedTuple):
    """Hold n returned entities, one question after the other (ascending), best first.

    `line` int64[n] is the index of each in the input; `question` int64, `entity` int32, `score` float64;
    strict, optimistic, pessimistic int32: positions among the entities of the question, from 1.
    """

    line: np.ndarray
    question: np.ndarray
    entity: np.ndarray
    score: np.ndarray
    strict: np.ndarray
    optimistic: np.ndarray
    pessimistic: np.ndarray


def list_positions(question: np.ndarray, entity: np.ndarray, score: np.ndarray, num_entities: int, seed: int) -> Listed:
    """Order n distinct (question, entity) pairs by descending score; `seed` makes the tie permutation.

    Equal scores share optimistic and pessimistic positions; the strict one breaks the tie by the permutation.
    """
    place = np.argsort(tie_order(num_entities, seed))
    line = np.lexsort((place[entity], -score, question))
    question, entity, score = question[line], entity[line], score[line]
    index = np.arange(len(line))
    first_of_question = np.ones(len(line), dtype=bool)
    first_of_question[1:] = question[1:] != question[:-1]
    first_of_tie = first_of_question.copy()
    first_of_tie[1:] |= score[1:] != score[:-1]
    start = np.maximum.accumulate(np.where(first_of_question, index, 0))
    tie = np.cumsum(first_of_tie) - 1
    begin = np.flatnonzero(first_of_tie)
    end = np.append(begin[1:], len(line))
    positions = (index + 1 - start, begin[tie] + 1 - start, end[tie] - start)
    return Listed(line, question, entity.astype(np.int32), score, *(p.astype(np.int32) for p in positions))


def contradictions(listed: Listed, rank: np.ndarray) -> np.ndarray:
    """Return the lines (int64, ascending) whose rank is not above all ranks of the next better score of the question.

    rank: int64[n] in the order of the input; a negative one contradicts too. Equal scores may have any ranks.
    """
    given = rank[listed.line]
    begin = np.flatnonzero(listed.strict == listed.optimistic)  # of each score, first in strict order
    tie = np.repeat(np.arange(len(begin)), np.diff(np.append(begin, len(given))))
    worst = np.maximum.reduceat(given, begin)[tie - 1] if len(begin) else given
    wrong = (given < 0) | ((listed.optimistic > 1) & (given <= worst))
    return np.sort(listed.line[wrong])


def places(counts: np.ndarray) -> np.ndarray:
    """Number the entries of each group from 0, int64; `counts` int[n]: of groups that follow one another."""
    return np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)


def csr_of(counts: np.ndarray, indices: np.ndarray) -> Csr:
    """Return rows of `counts` int[n] entries each, one after the other in `indices`."""
    return Csr(np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), indices)
