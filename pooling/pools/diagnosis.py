"""Diagnose by which rule a pool that was made elsewhere was pooled, from its triples, depths and seeds alone."""

from typing import Any, NamedTuple

import numpy as np

from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.models import Pool
from pooling.pools.kernels.gathering import Gathered
from pooling.questions.kernel import Questions, answers_csr, distinct_questions

BUCKETS = ((0, 0), (1, 1), (2, 5), (6, 20), (21, 100), (101, None))  # known answers of a question, least and most


class Bucket(NamedTuple):
    """Hold a range of known answers, in words, and the mean number of candidates of its questions."""

    known: str
    questions: int
    candidates: float | None


class Diagnosis(NamedTuple):
    """Hold what the candidates of m questions say of the rule; a candidate is a pooled or a seed triple.

    k: the pool's depth; short: questions with fewer than k candidates; impossible: those of them that no filtered pool
    leaves so short, since enough entities answer them in no split; by_depth: pooled triples by smallest depth.
    """

    k: int
    questions: int
    short: int
    impossible: int
    by_known: list[Bucket]
    by_depth: list[tuple[int, int]]

    @property
    def is_not_filtered(self) -> bool:
        return self.impossible > 0


def diagnose(gathered: Gathered, seeds: np.ndarray, graph: GraphArrays) -> Diagnosis:
    """Count the candidates of both questions of each seed int[n, 3] in a pool whose depth is its deepest triple's.

    A filtered pool leaves to each question its seeds and k more candidates, or all there are. The buckets count
    answers in train and valid.
    """
    questions = distinct_questions(seeds)
    k = int(gathered.depth.max(initial=1))
    candidates = _answers(questions, np.concatenate([gathered.triples, seeds]), graph)
    known = _answers(questions, np.concatenate([graph.train, graph.valid]), graph)
    facts = _answers(questions, np.concatenate([graph.train, graph.valid, graph.test]), graph)
    possible = graph.num_entities - facts + _answers(questions, seeds, graph)
    short = candidates < k
    depth, triples = np.unique(gathered.depth, return_counts=True)
    return Diagnosis(
        k,
        len(candidates),
        int(short.sum()),
        int((short & (possible >= k)).sum()),
        [_bucket(candidates, known, least, most) for least, most in BUCKETS],
        list(zip(depth.tolist(), triples.tolist(), strict=True)),
    )


def _answers(questions: Questions, triples: np.ndarray, graph: GraphArrays) -> np.ndarray:
    """Count the different answers that triples int[n, 3] give to each question, int64[m]."""
    return np.diff(answers_csr(questions, triples, *graph.shape).indptr)


def _bucket(candidates: np.ndarray, known: np.ndarray, least: int, most: int | None) -> Bucket:
    chosen = candidates[(known >= least) & (known <= (known.max(initial=least) if most is None else most))]
    words = f"> {least - 1}" if most is None else str(least) if least == most else f"{least}-{most}"
    return Bucket(words, len(chosen), float(chosen.mean()) if len(chosen) else None)


def diagnosis_of(pool: Pool) -> Diagnosis | None:
    """Return what was found when the pool was imported; None for a pool that was not diagnosed."""
    stored: dict[str, Any] = pool.diagnosis
    if not stored:
        return None
    by_known = [Bucket(**bucket) for bucket in stored["by_known"]]
    return Diagnosis(**{**stored, "by_known": by_known, "by_depth": [tuple(pair) for pair in stored["by_depth"]]})


def as_stored(found: Diagnosis) -> dict[str, Any]:
    """Return Pool.diagnosis."""
    return {**found._asdict(), "by_known": [bucket._asdict() for bucket in found.by_known]}


def diagnosis_says(found: Diagnosis) -> list[str]:
    """Say in two sentences how many questions are short, and what follows for the rule."""
    share = f"{100 * found.short / found.questions:.1f} %" if found.questions else "none"
    short = f"{found.short:,} of {found.questions:,} questions ({share}) have fewer than {found.k} candidates."
    if found.is_not_filtered:
        return [
            short,
            f"Not a filtered pool: {found.impossible:,} of them have {found.k} or more possible candidates, and a "
            f"filtered pool to depth {found.k} gives each of these at least {found.k}.",
        ]
    rest = "no question has fewer candidates than a filtered pool gives"
    return [short, f"Nothing speaks against a filtered pool: {rest}."]
