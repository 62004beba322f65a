"""Number rank rows by sorted integer keys, one for each (question, entity)."""

from typing import NamedTuple

import numpy as np

from pooling.questions.kernel import Csr, Questions, questions_from_keys


class Rows(NamedTuple):
    """Hold n rows: side int8, given entity int32, relation int32, candidate entity int32."""

    side: np.ndarray
    given: np.ndarray
    relation: np.ndarray
    candidate: np.ndarray

    @property
    def size(self) -> int:
        return len(self.side)


def rows_of(triples: np.ndarray) -> Rows:
    """Return both sides of m triples int[m, 3]: the m tail questions first, then the m head questions."""
    head, relation, tail = np.asarray(triples, dtype=np.int32).reshape(-1, 3).T
    side = np.repeat(np.array([0, 1], dtype=np.int8), len(head))
    return Rows(side, np.concatenate([head, tail]), np.concatenate([relation, relation]), np.concatenate([tail, head]))


def question_keys(questions: Questions | Rows, num_entities: int, num_relations: int) -> np.ndarray:
    """Return the int64 key of each question; keys order by side, relation, given entity."""
    given = questions.entity if isinstance(questions, Questions) else questions.given
    return (questions.side.astype(np.int64) * num_relations + questions.relation) * num_entities + given


def row_keys(rows: Rows, num_entities: int, num_relations: int) -> np.ndarray:
    """Return the int64 key of each row. 2·R·E² stays below 2⁶³ up to a thousand relations on 50 million entities."""
    return question_keys(rows, num_entities, num_relations) * num_entities + rows.candidate


def group_rows(keys: np.ndarray, num_entities: int, num_relations: int) -> tuple[Questions, Csr]:
    """Return distinct sorted row keys as questions and, for each, its wanted candidates (ascending)."""
    question, candidate = np.divmod(keys, num_entities)
    distinct, counts = np.unique(question, return_counts=True)
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return questions_from_keys(distinct, num_entities, num_relations), Csr(indptr, candidate.astype(np.int32))


def find(keys: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return the place of each wanted key in the sorted `keys`, int64; -1 where it is missing."""
    if len(keys) == 0:
        return np.full(len(wanted), -1, dtype=np.int64)
    place = np.searchsorted(keys, wanted)
    place[place == len(keys)] = 0
    return np.where(keys[place] == wanted, place, -1)
