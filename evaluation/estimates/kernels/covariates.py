"""Describe the triples of a pool for the model that imputes their labels: ranks, depth, and what is known of questions.

A rank tells more the closer it is to the top, so each system's rank enters as its logarithm, its inverse, and whether
it is 1, at most 3, and at most 10. What the systems have in common is kept apart from what one of them says alone.
Shallow triples are drawn more often than deep ones, or all of them are, and what a rank tells differs between them. So
triples have a band of depth, in which every covariate has a slope of its own.
"""

from typing import NamedTuple

import numpy as np

from evaluation.estimates.kernels.weights import CERTAIN, Sample
from evaluation.measures.rank_table import Floats, Ints, Order, RankTable

FAR = 1e4  # a rank from which on it does not matter how far
DEPTHS = (1, 2, 5)  # pool depths at which the yield may change its course
BANDS = (2, 5)  # the last depth of each band but the deepest, where the sample has one stratum


class Effect(NamedTuple):
    """A term of the model that differs between groups: group int [n], and the covariate it multiplies, [n]."""

    group: Ints
    x: Floats


class Covariates(NamedTuple):
    """Covariates of n triples, each with mean 0 and standard deviation 1: shared [n, k], own [n, systems * l].

    band int [n]: the stratum of a sample with several strata, else the band of depth; from 0.
    """

    shared: Floats
    own: Floats
    effects: list[Effect]
    band: Order


def covariates(table: RankTable, sample: Sample, depth: Ints) -> Covariates:
    """Return the covariates of the triples with a stratum, in the order of triples; depth int [triples]."""
    might = np.flatnonzero(sample.stratum != CERTAIN)
    known = np.log1p(table.candidates.max(initial=0) - table.candidates)
    certain = _in_question(table, sample.positive & (sample.stratum == CERTAIN))
    pooled = _in_question(table, sample.stratum != CERTAIN)
    shared, own, effects = [np.log(np.maximum(depth[might], 1))], [], []
    shared += [(depth[might] <= end).astype(np.float64) for end in DEPTHS]
    sides = []
    for side in (0, 1):
        row = _rows(table, side, len(sample.stratum))[might]
        rank = np.where(row >= 0, table.strict[:, row], 0).astype(np.float64)
        rank[rank == 0] = np.inf
        forms = _forms(rank)
        shared += [*forms.mean(axis=1), forms[0].max(axis=0)]
        own += [*(forms - forms.mean(axis=1, keepdims=True)).reshape(-1, len(might))]
        question = np.where(row >= 0, table.question[row], table.questions)
        sides.append((question, _scaled(forms[0].mean(axis=0)[None])[:, 0]))
        for of in (np.sign(certain), np.log1p(certain), np.log1p(pooled), known):
            shared.append(np.append(of, 0.0)[question])
    relation = np.append(table.relation, -1)[np.where(sides[0][0] < table.questions, sides[0][0], sides[1][0])]
    every = np.ones(len(might))
    for question, closeness in sides:
        effects += [Effect(question, every), Effect(question, closeness), Effect(relation, closeness)]
    effects.append(Effect(relation, every))
    stratum = sample.stratum[might] if sample.population.size > 1 else np.searchsorted(BANDS, depth[might])
    band = np.unique(stratum, return_inverse=True)[1].astype(np.intp)
    return Covariates(_scaled(np.array(shared)), _scaled(np.array(own)), effects, band)


def _forms(rank: Floats) -> Floats:
    """Return what a rank [systems, n] enters as, [forms, systems, n]; the first is larger where it is closer."""
    return np.stack([-np.log(np.minimum(rank, FAR)), 1.0 / rank, *((rank <= k).astype(np.float64) for k in (1, 3, 10))])


def _in_question(table: RankTable, flagged: np.ndarray) -> Floats:
    """Count the flagged triples of each question, [questions]."""
    return np.bincount(table.question[flagged[table.triple]], minlength=table.questions).astype(np.float64)


def _rows(table: RankTable, side: int, triples: int) -> Order:
    """Return the row of each triple on a side, [triples]; -1 where the table has none."""
    row = np.full(triples, -1)
    at = np.flatnonzero(table.side[table.question] == side)
    row[table.triple[at]] = at
    return row


def _scaled(values: Floats) -> Floats:
    """Turn covariates [k, n] into columns [n, k] of mean 0 and standard deviation 1; what never differs is 0."""
    centred = values - values.mean(axis=1, keepdims=True)
    spread = centred.std(axis=1, keepdims=True)
    return np.divide(centred, spread, out=np.zeros_like(centred), where=spread > 1e-9).T
