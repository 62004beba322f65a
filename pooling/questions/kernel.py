"""Hold questions about triples, and the entities that answer them, as arrays.

A question is one side of a triple masked: `(h, r, ?)`, side 0, or `(?, r, t)`, side 1.
"""

from typing import NamedTuple

import numpy as np

TAIL, HEAD = 0, 1  # side of a question: what is asked for


class Questions(NamedTuple):
    """Hold n questions: `side` int8[n], given `entity` int32[n], original `relation` id int32[n]."""

    side: np.ndarray
    entity: np.ndarray
    relation: np.ndarray


class Csr(NamedTuple):
    """List the entities of each question.

    Question i has `indices[indptr[i]:indptr[i + 1]]`, ascending; `indptr` int64[n + 1], `indices` int32[nnz].
    """

    indptr: np.ndarray
    indices: np.ndarray


def questions_of(triples: np.ndarray) -> tuple[Questions, np.ndarray, np.ndarray]:
    """Return the distinct questions of triples int[m, 3], ordered by side, relation and entity.

    The two int64[m] arrays give the place of each triple's tail question and head question in them.
    """
    keys, width, height = _sided(triples)
    distinct, place = np.unique(keys, return_inverse=True)
    place = place.reshape(-1).astype(np.int64)
    return questions_from_keys(distinct, width, height), place[: len(keys) // 2], place[len(keys) // 2 :]


def distinct_questions(triples: np.ndarray) -> Questions:
    """Return the distinct questions of triples int[m, 3], ordered by side, relation and entity.

    Takes a fraction of the memory of `questions_of`, which also gives the places of the triples.
    """
    keys, width, height = _sided(triples)
    return questions_from_keys(distinct(keys), width, height)


def distinct(keys: np.ndarray) -> np.ndarray:
    """Sort the numbers int64[m] in `keys` in place; return each of them once.

    Ten times faster than np.unique, which hashes.
    """
    keys.sort()
    first = np.ones(len(keys), dtype=bool)
    first[1:] = keys[1:] != keys[:-1]
    return keys[first]


def _sided(triples: np.ndarray) -> tuple[np.ndarray, int, int]:
    """Number each triple's tail question, then its head question: int64[2m], and the E and R of the numbers."""
    head, relation, tail = np.asarray(triples).reshape(-1, 3).T
    width = int(max(head.max(initial=0), tail.max(initial=0))) + 1
    height = int(relation.max(initial=0)) + 1
    keys = np.concatenate([relation, relation]).astype(np.int64)
    keys[len(relation) :] += height
    keys *= width
    keys[: len(relation)] += head
    keys[len(relation) :] += tail
    return keys, width, height


def questions_from_keys(keys: np.ndarray, num_entities: int, num_relations: int) -> Questions:
    """Return the questions of int64 keys, (side · num_relations + relation) · num_entities + entity, in their order."""
    side_relation, given = np.divmod(keys, num_entities)
    side, relation = np.divmod(side_relation, num_relations)
    return Questions(side.astype(np.int8), given.astype(np.int32), relation.astype(np.int32))


def answers_csr(questions: Questions, triples: np.ndarray, num_entities: int, num_relations: int) -> Csr:
    """Return the distinct answers that triples int[m, 3] hold for each question."""
    triples = np.asarray(triples, dtype=np.int64).reshape(-1, 3)
    head, relation, tail = triples.T
    # One sorted integer per (question, answer): side, relation, given entity, answer.
    known = np.concatenate(
        [
            (relation * num_entities + head) * num_entities + tail,
            ((num_relations + relation) * num_entities + tail) * num_entities + head,
        ]
    )
    known = distinct(known)
    key = questions.side.astype(np.int64) * num_relations + questions.relation
    key = (key * num_entities + questions.entity) * num_entities
    start = np.searchsorted(known, key)
    count = np.searchsorted(known, key + num_entities) - start
    indptr = np.concatenate([[0], np.cumsum(count)]).astype(np.int64)
    places = np.repeat(start - indptr[:-1], count) + np.arange(indptr[-1])
    return Csr(indptr, (known[places] % num_entities).astype(np.int32))


def without(csr: Csr, other: Csr, num_entities: int) -> Csr:
    """Drop from every list of `csr` the entities that `other` lists for the same question."""
    n = len(csr.indptr) - 1
    row = np.repeat(np.arange(n), np.diff(csr.indptr))
    other_row = np.repeat(np.arange(n), np.diff(other.indptr))
    keep = ~np.isin(row * num_entities + csr.indices, other_row * num_entities + other.indices)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row[keep], minlength=n))]).astype(np.int64)
    return Csr(indptr, csr.indices[keep])


def joined(csr: Csr, other: Csr, num_entities: int) -> Csr:
    """Return what either lists for a question, each entity once, ascending."""
    n = len(csr.indptr) - 1
    keys = [np.repeat(np.arange(n), np.diff(of.indptr)) * num_entities + of.indices for of in (csr, other)]
    row, entity = np.divmod(distinct(np.concatenate(keys)), num_entities)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=n))]).astype(np.int64)
    return Csr(indptr, entity.astype(np.int32))


def entries(csr: Csr, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find what the questions int[m] in `chosen` list.

    Returns for each entry its row in `chosen` and its place in `csr.indices`, int64 both.
    """
    start = csr.indptr[chosen]
    count = csr.indptr[chosen + 1] - start
    row = np.repeat(np.arange(len(chosen)), count)
    return row, np.arange(len(row)) + (start - (np.cumsum(count) - count))[row]


def name_of(questions: Questions, i: int) -> str:
    """Return question `i` in words, for messages."""
    side = "head" if questions.side[i] == HEAD else "tail"
    return f"{side} question of entity {questions.entity[i]}, relation {questions.relation[i]}"
