"""Apply the open-world theory to a judged pool: β by relation, reported and expected values of each system."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from evaluation.labels.label_sets import LabelSet, questions_asked
from evaluation.labels.pool_table import EvaluationError, PoolTable
from evaluation.measures.label_state import LabelState
from evaluation.measures.prepared import Labelled
from evaluation.measures.rank_table import Flags, Floats
from evaluation.open_world.kernels.pool import AnswerCounts, count_answers, mean_expected, missing_share
from evaluation.open_world.kernels.theory import gain_of

LEAST_JUDGED = 20  # candidates of a relation; those with fewer are one group
CURVE = np.linspace(0.02, 1.0, 50)


@dataclass(frozen=True)
class ReportedMetric:
    """One metric, [systems] each; `completed`, of the seeds with new answers filtered out, is the strength ℓ."""

    sparse: Floats  # of the seeds, new answers counted as wrong
    completed: Floats
    every: Floats  # of seeds and new answers, other answers filtered out
    expected: Floats  # of the seeds, by theory from `completed` and β
    curve: Floats  # [strengths of CURVE], what is expected of each


@dataclass(frozen=True)
class PoolWorld:
    """The questions of the seeds under one label set; questions and relations are those of the rank table."""

    table: PoolTable
    labels: LabelSet
    seeds: Flags  # [triples]
    asked: Flags  # [questions]
    found: AnswerCounts  # [questions]

    @property
    def relation(self) -> NDArray[np.int64]:
        return self.table.ranks.relation.astype(np.int64)

    @cached_property
    def by_relation(self) -> AnswerCounts:
        return self.found.by_group(self.relation, self.table.graph.num_relations, self.asked)

    @cached_property
    def total(self) -> AnswerCounts:
        return AnswerCounts(*(counts[self.asked].sum(keepdims=True) for counts in self.found))

    @cached_property
    def enough(self) -> Flags:
        """Return which relations have a β of their own, [relations]."""
        return self.by_relation.judged >= LEAST_JUDGED

    @cached_property
    def questions(self) -> NDArray[np.int64]:
        """Return the number of questions of each relation, [relations]."""
        return np.bincount(self.relation[self.asked], minlength=self.table.graph.num_relations)

    @cached_property
    def few(self) -> AnswerCounts:
        """Return the counts of all other relations together, [1]."""
        others = ~self.enough
        return AnswerCounts(*(counts[others].sum(keepdims=True) for counts in self.by_relation))

    @cached_property
    def beta(self) -> Floats:
        """Return β by relation, [relations]; where few are judged, that of their group or else of the pool."""
        together = float(missing_share(self.few)[0])
        if self.few.judged[0] < LEAST_JUDGED:
            together = float(missing_share(self.total)[0])
        return np.where(self.enough, missing_share(self.by_relation), together)

    @cached_property
    def _ranks(self) -> tuple[Floats, Floats, Floats, NDArray[np.int64]]:
        """Return ranks [systems, answers] of seeds sparse, seeds completed, all answers; and the questions of seeds."""
        prepared = self.labels.prepared
        sparse = np.where(self.seeds, LabelState.POSITIVE, LabelState.NOT_POOLED).astype(np.int8)
        before, after = Labelled(prepared, sparse), Labelled(prepared, self.labels.state)
        asked = self.asked[after.answer_question]
        seed = self.seeds[prepared.table.triple[after.answer_row]]
        return (
            before.micro_rank,
            after.micro_rank[:, asked & seed],
            after.micro_rank[:, asked],
            before.answer_question.astype(np.int64),
        )

    @property
    def num_seed_answers(self) -> int:
        return int(self._ranks[3].size)

    @property
    def num_answers(self) -> int:
        return int(self._ranks[2].shape[1])

    def reported(self, metric: str) -> ReportedMetric:
        gain = gain_of(metric)
        *ranks, question = self._ranks
        sparse, completed, every = (gain(of).mean(axis=1) for of in ranks)
        answers = (self.found.test + self.found.new)[question]
        beta = self.beta[self.relation[question]]
        told = mean_expected(answers, beta, np.concatenate([completed, CURVE]), metric)
        return ReportedMetric(sparse, completed, every, told[: completed.size], told[completed.size :])


def pool_world(table: PoolTable, labels: LabelSet) -> PoolWorld:
    """Return the open world of a label set. EvaluationError where nothing is judged, and for full test."""
    if labels.key == "full-test":
        raise EvaluationError("Full test has no judged candidates: choose labels of the pool.")
    seeds = table.is_test & (labels.state == LabelState.POSITIVE)
    if not seeds.any():
        raise EvaluationError(f"There is no seed under {labels.name}: a pool has its questions from its seeds.")
    asked = questions_asked(table, seeds)
    world = PoolWorld(table, labels, seeds, asked, count_answers(table.ranks, labels.state, table.is_test))
    if not world.total.judged[0]:
        raise EvaluationError(
            f"No candidate is judged under {labels.name}, so nothing is known of missing answers: label some"
            " candidates, or choose labels that have judgements."
        )
    return world
