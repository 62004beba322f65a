"""Draw the questions of a study, and keep the positions of their open answers at each checkpoint: a file a system."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from core.files.artifacts import writing
from pooling.graphs.opening import closed_world_triples, open_graph
from pooling.models import Graph, System
from pooling.questions.kernel import TAIL, Csr, Questions, answers_csr, without
from pooling.systems import get_model

if TYPE_CHECKING:
    from pooling.scoring.ranks import RankingResult

Ids = NDArray[np.int32]


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
    # the place of each name in alphabetical order
    relation_place, entity_place = (np.argsort(np.argsort(names)) for names in (arrays.relations, arrays.entities))
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


@dataclass(frozen=True)
class StudyRanks:
    """Positions of w open answers, ordered by question, at c checkpoints."""

    question: Ids  # [w]
    entity: Ids  # [w]
    test: NDArray[np.bool_]  # [w]: in the graph's test set; the others are missing
    entities: Ids  # [1]: of the graph
    epochs: Ids  # [c], ascending
    strict: Ids  # [c, w] positions among the entities that are no answers in train or valid
    optimistic: Ids  # [c, w]
    pessimistic: Ids  # [c, w]

    @classmethod
    def of(cls, answers: OpenAnswers) -> StudyRanks:
        """Return the ranks of no checkpoint yet."""
        none = np.zeros((0, len(answers.test)), np.int32)
        size = np.array([answers.entities], np.int32)
        return cls(answers.question, answers.open.indices, answers.test, size, np.zeros(0, np.int32), none, none, none)

    def with_epoch(self, epoch: int, scored: RankingResult) -> StudyRanks:
        names = ("strict", "optimistic", "pessimistic")
        more = {name: np.concatenate([getattr(self, name), getattr(scored, name)[None]]) for name in names}
        return replace(self, epochs=np.append(self.epochs, np.int32(epoch)), **more)


def rank_answers(scorer: Any, answers: OpenAnswers, seed: int) -> RankingResult:
    """Return the positions of the open answers; `seed` is of the order that breaks ties."""
    from pooling.scoring.ranking import score_questions

    nothing = Csr(np.zeros(len(answers.open.indptr), np.int64), np.zeros(0, np.int32))
    return score_questions(
        scorer, answers.questions, masked=answers.known, top_masked=nothing, wanted=answers.open, top_k=0, seed=seed
    )


def untrained(graph: Graph, system: System) -> Any:
    """Return the scorer of a system before its first epoch."""
    from pooling.scoring.scorer import Scorer, build_model, resolve_device

    settings = dict(system.settings)
    device, arrays = resolve_device(settings.pop("device", "auto")), open_graph(graph)
    spec = get_model(system.kind)
    model = build_model(spec, arrays.num_entities, arrays.num_relations, settings, system.seed, arrays.train)
    return Scorer(spec, model, device)


def write_ranks(path: Path, ranks: StudyRanks) -> None:
    with writing(path) as aside, aside.open("wb") as file:
        np.savez(file, **{f.name: getattr(ranks, f.name) for f in fields(StudyRanks)})


def read_ranks(path: Path) -> StudyRanks | None:
    """Read the ranks of a system; None where nothing was evaluated yet."""
    if not path.exists():
        return None
    with np.load(path) as file:
        return StudyRanks(**{f.name: file[f.name] for f in fields(StudyRanks)})
