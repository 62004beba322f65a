"""Find the judged triples of a label set, and what each run says of them and of validation."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from django.contrib.auth.models import User

from core.models import Job
from evaluation.classification.kernel import Thresholds, halves, relation_thresholds
from evaluation.labels.label_sets import LabelSet
from evaluation.labels.pool_table import PoolTable, pool_table
from evaluation.labels.scored_runs import RunsByState, score_again, sort_runs
from evaluation.measures.label_state import nonrelevant, positive
from evaluation.measures.rank_table import Flags, Floats, Ints
from pooling.models import Pool, Run
from pooling.runs.distributions import has_predictive, read_tail_scores
from pooling.runs.score import wanted_triples
from pooling.runs.validation import Validation, has_validation, read_validation

LACKS = "its run lacks validation scores or predictive distributions; score_runs {pool} stores them"
OUTSIDE = "imported runs keep no scores of judged and validation triples"


@dataclass(frozen=True)
class JudgedTriples:
    """Hold n triples with a truth: triples int32 [n, 3], which are true bool [n], and their tail question int [n]."""

    triples: np.ndarray
    truth: Flags
    question: Ints

    @property
    def n(self) -> int:
        return len(self.truth)

    @property
    def relation(self) -> Ints:
        return self.triples[:, 1]


@dataclass(frozen=True)
class Scored:
    """Hold what one system gives the judged triples, float [n], and its validation triples."""

    system: str
    score: Floats
    validation: Validation

    def from_validation(self, relations: int) -> Thresholds:
        """Return the thresholds that validation gives."""
        seen = self.validation
        return relation_thresholds(seen.score.astype(np.float64), seen.positive, seen.triples[:, 1], relations)

    def margins(self, judged: JudgedTriples, relations: int) -> Floats:
        """Return by how much each judged triple is above the threshold of its relation, float [n]."""
        return self.score - self.from_validation(relations).value[judged.relation]

    def margins_by_halves(self, judged: JudgedTriples, relations: int, rng: np.random.Generator) -> Floats:
        """Return the same with the thresholds of the other half of the judged questions."""
        first, found = halves(judged.question, rng), np.empty(judged.n)
        for here in (first, ~first):
            of = relation_thresholds(self.score[~here], judged.truth[~here], judged.relation[~here], relations)
            found[here] = self.score[here] - of.value[judged.relation[here]]
        return found


def judged_triples(table: PoolTable, chosen: LabelSet, assumed_is_judged: bool) -> JudgedTriples:
    """Return the triples that a label set calls true or false; assumed negatives are false only if asked for."""
    truth = positive(chosen.state)
    kept = truth | nonrelevant(chosen.state, assumed_is_judged)
    triples = table.triples[kept]
    _, question = np.unique(triples[:, :2], axis=0, return_inverse=True)
    return JudgedTriples(triples, truth[kept], question.reshape(-1))


def find_runs(pool: Pool, table: PoolTable, asked: Sequence[str] = ()) -> RunsByState:
    """Sort the evaluated systems of a pool by whether their run has all scores."""
    wanted = wanted_triples(pool, table.graph)
    return sort_runs(pool, table, lambda run: has_validation(run) and has_predictive(run, wanted), asked)


def left_out(pool: Pool, found: RunsByState) -> dict[str, str]:
    """Return the reason for each system that is not shown."""
    return dict.fromkeys(found.missing, LACKS.format(pool=pool.name)) | dict.fromkeys(found.imported, OUTSIDE)


def scored_by(name: str, run: Run, judged: JudgedTriples) -> Scored:
    """Return the scores of one ready system."""
    return Scored(name, read_tail_scores(run, judged.triples).astype(np.float64), read_validation(run))


def score_missing(pool: Pool, user: User | None = None) -> list[Job]:
    """Start a job for each system whose run lacks scores, or return the one under way."""
    return score_again(pool, find_runs(pool, pool_table(pool)).missing, user)
