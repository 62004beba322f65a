"""Draw the questions of a study, and find their answers outside train and valid."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pooling.graphs.opening import closed_world_triples, open_graph
from pooling.models import Graph
from pooling.questions.kernel import TAIL, Csr, Questions, answers_csr, without


@dataclass(frozen=True)
class OpenAnswers:
    """q questions: `known` are their answers in train and valid, `open` all others; `test` bool [open]."""

    questions: Questions
    known: Csr
    open: Csr
    test: NDArray[np.bool_]
    entities: int

    @property
    def question(self) -> NDArray[np.int32]:
        """Return the question of each open answer, [open]."""
        return np.repeat(np.arange(len(self.open.indptr) - 1, dtype=np.int32), np.diff(self.open.indptr))


def open_answers(graph: Graph, *, questions: int, least: int, seed: int) -> OpenAnswers:
    """Draw `questions` tail questions with `least` answers or more among all true facts; all if there are fewer.

    They are drawn by the names of head and relation: the same for every graph of the same facts.
    """
    arrays, world = open_graph(graph), closed_world_triples(graph)
    size = arrays.num_entities, arrays.num_relations
    relation_place, entity_place = (_places(names) for names in (arrays.relations, arrays.entities))
    key = relation_place[world[:, 1]] * size[0] + entity_place[world[:, 0]]
    _, first, count = np.unique(key, return_index=True, return_counts=True)
    enough = first[count >= least]
    chosen = np.random.default_rng([seed, 1]).choice(enough.size, min(questions, enough.size), replace=False)
    fact = enough[np.sort(chosen)]
    asked = Questions(np.full(len(fact), TAIL, np.int8), world[fact, 0], world[fact, 1])
    known = answers_csr(asked, np.concatenate([arrays.train, arrays.valid]), *size)
    found = without(answers_csr(asked, world, *size), known, size[0])
    missing = without(found, answers_csr(asked, arrays.test, *size), size[0])
    row, row_missing = (np.repeat(np.arange(len(fact)), np.diff(csr.indptr)) for csr in (found, missing))
    test = ~np.isin(row * size[0] + found.indices, row_missing * size[0] + missing.indices)
    return OpenAnswers(asked, known, found, test, size[0])


def _places(names: list[str]) -> NDArray[np.int64]:
    """Return the place of each name in alphabetical order."""
    return np.argsort(np.argsort(np.array(names))).astype(np.int64)
