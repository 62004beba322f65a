"""Find the predictive distributions of a pool's runs, and the right answers of a label set for max-k."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from django.contrib.auth.models import User

from core.enums import LIVE, JobState
from core.models import Job
from evaluation.labels.label_sets import LabelSet
from evaluation.labels.pool_table import PoolTable, pool_table
from evaluation.labels.scored_runs import RunsByState, score_again, sort_runs
from evaluation.max_k.kernel import first_drawn
from evaluation.measures.label_state import LabelState, positive
from evaluation.measures.rank_table import Flags, Ints
from pooling.enums import PoolingJob
from pooling.models import Pool, Run
from pooling.questions.kernel import Csr, answers_csr, questions_from_keys
from pooling.runs.distributions import Predictive, has_predictive, read_predictive
from pooling.runs.score import wanted_triples
from pooling.scoring.rank_rows import find

Which = Literal["filtered", "raw"]
WHICH: tuple[Which, ...] = ("filtered", "raw")
KEPT = 24  # runs in memory
OUTSIDE = "imported runs keep no scores of all entities"


@dataclass(frozen=True)
class RightAnswers:
    """q questions (sorted keys int64[q]) and their answers by labels or test (`filtered`), or train or valid too.

    A test triple that the labels call negative is no answer. Every question has a filtered answer.
    """

    keys: Ints
    filtered: Csr
    raw: Csr

    def of(self, which: Which) -> Csr:
        return self.filtered if which == "filtered" else self.raw


def right_answers(table: PoolTable, chosen: LabelSet) -> RightAnswers:
    """Return the right answers of the asked questions that have an answer under a label set."""
    ranks, graph = table.ranks, table.graph
    is_positive = positive(chosen.state)
    asked = np.zeros(ranks.questions, dtype=bool)
    asked[ranks.question[is_positive[ranks.triple]]] = True
    if chosen.asked is not None:
        asked &= chosen.asked
    held_out = is_positive | (table.is_test & (chosen.state != LabelState.NEGATIVE))
    rows = held_out[ranks.triple] & asked[ranks.question]
    keys = table.question_keys[asked]
    own = (np.cumsum(asked) - 1)[ranks.question[rows]] * graph.num_entities + ranks.entity[rows]
    size = (graph.num_entities, graph.num_relations)
    known = answers_csr(questions_from_keys(keys, *size), np.concatenate([graph.train, graph.valid]), *size)
    every = np.union1d(own, _codes(known, graph.num_entities))
    filtered, raw = (_csr(codes, len(keys), graph.num_entities) for codes in (np.unique(own), every))
    return RightAnswers(keys, filtered, raw)


def _codes(csr: Csr, num_entities: int) -> Ints:
    row = np.repeat(np.arange(len(csr.indptr) - 1), np.diff(csr.indptr))
    return row * num_entities + csr.indices


def _csr(codes: Ints, questions: int, num_entities: int) -> Csr:
    row, entity = np.divmod(codes, num_entities)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=questions))]).astype(np.int64)
    return Csr(indptr, entity.astype(np.int32))


def find_runs(pool: Pool, table: PoolTable, asked: Sequence[str] = ()) -> RunsByState:
    """Sort the evaluated systems of a pool by whether their run has its predictive distributions."""
    wanted = wanted_triples(pool, table.graph)
    return sort_runs(pool, table, lambda run: has_predictive(run, wanted), asked)


def left_out(pool: Pool, found: RunsByState) -> dict[str, str]:
    """Return the reason for each system that is not shown."""
    again = f"its run lacks its distributions; score_runs {pool.name} stores them"
    return dict.fromkeys(found.missing, again) | dict.fromkeys(found.imported, OUTSIDE)


def score_missing(pool: Pool, user: User | None = None) -> list[Job]:
    """Start a job for each system whose run lacks its distributions, or return the one under way."""
    return score_again(pool, find_runs(pool, pool_table(pool)).missing, user)


def scoring_jobs(pool: Pool) -> list[Job]:
    """Return jobs that store distributions for a pool: the last of each system if live or failed, live ones of all."""
    kinds = (PoolingJob.SCORE, PoolingJob.BUILD_POOL, PoolingJob.EXTEND_POOL)
    jobs = pool.jobs.filter(kind__in=kinds).select_related("system").order_by("pk")
    last = {(job.kind, job.system_id): job for job in jobs if job.params.get("predictive", True)}
    return [
        job
        for job in last.values()
        if job.state in LIVE or (job.state == JobState.FAILED and job.kind == PoolingJob.SCORE)
    ]


class StoredRun:
    """The distributions of a run, and the places of its returned entities among the known answers."""

    def __init__(self, predictive: Predictive, num_entities: int) -> None:
        self.predictive = predictive
        self.num_entities = num_entities

    @cached_property
    def answer_codes(self) -> Ints:
        return _codes(self.predictive.answers, self.num_entities)

    def _places(self, entity: Ints) -> Ints:
        """Return the place of entities [n, m] in answers.indices, int32; -1: no known answer. Padding may have any."""
        codes = np.arange(len(entity))[:, None] * self.num_entities + entity
        return find(self.answer_codes, codes.ravel()).reshape(entity.shape).astype(np.int32)

    @cached_property
    def top(self) -> Ints:
        return self._places(self.predictive.top_entity)

    @cached_property
    def drawn(self) -> Ints:
        return self._places(self.predictive.draws)

    @cached_property
    def first(self) -> Flags:
        return first_drawn(self.predictive.draws)


_stored: OrderedDict[tuple[int, str], StoredRun] = OrderedDict()


def stored_run(run: Run, num_entities: int) -> StoredRun:
    """Return a stored run, from memory while the run has not changed."""
    key = (run.pk, run.sha256)
    found = _stored.get(key) or StoredRun(read_predictive(run), num_entities)
    _stored[key] = found
    _stored.move_to_end(key)
    while len(_stored) > KEPT:
        _stored.popitem(last=False)
    return found
