"""Merge the known positions of a run with the first candidates that it stored, for many questions at once."""

from typing import NamedTuple

import numpy as np

from pooling.scoring.rank_rows import find


class Merged(NamedTuple):
    """Hold the lists of n questions: `entity[indptr[i]:indptr[i + 1]]` is the list of question i, best first."""

    entity: np.ndarray  # int32
    indptr: np.ndarray  # int64[n + 1]


def merge(
    question: np.ndarray, entity: np.ndarray, position: np.ndarray, candidates: np.ndarray, num_entities: int
) -> Merged:
    """List the entities of each of n questions in strict order, up to the first position that the run does not hold.

    question, entity, position int[m]: entities whose position is known, 0 where the run did not return one; no entity
    and no position but 0 twice in a question. candidates int32[n, K]: the stored first ones, best first, -1 where
    there are no more; without those entities, they fill the places that these leave free.
    """
    n, width = candidates.shape
    known = np.sort(question.astype(np.int64) * num_entities + entity)
    each = (np.arange(n)[:, None] * num_entities + candidates).ravel()
    waiting = (candidates >= 0) & (find(known, each) < 0).reshape(n, width)
    many = waiting.sum(axis=1)
    order = np.lexsort((position, question))
    order = order[position[order] > 0]
    question, entity, position = (question[order].astype(np.int64), entity[order], position[order].astype(np.int64))
    first = np.searchsorted(question, np.arange(n))
    before = np.arange(len(question)) - first[question]  # known ones of the question above it
    free = position - 1 - before  # places above that candidates must fill
    held = free <= many[question]
    # the j-th waiting candidate is below j others and all known ones with at most j free places above them
    row, _ = np.nonzero(waiting)
    start = np.cumsum(many) - many
    j = np.arange(len(row)) - start[row]
    step = width + int(free.max(initial=0)) + 2
    above = np.searchsorted(question * step + free, row * step + j, side="right") - first[row]
    length = many + np.bincount(question[held], minlength=n)
    indptr = np.concatenate([[0], np.cumsum(length)]).astype(np.int64)
    merged = np.empty(indptr[-1], dtype=np.int32)
    merged[indptr[row] + j + above] = candidates[waiting]
    merged[indptr[question[held]] + position[held] - 1] = entity[held]
    return Merged(merged, indptr)
