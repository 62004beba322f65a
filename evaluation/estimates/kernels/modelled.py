"""Estimate measures from labels that a model imputes where nothing was drawn.

Every imputation is a pool that might be: drawn triples have their labels, the others likely ones. The measures of each
are computed as for a judged pool; their mean is the estimate, their spread the interval.
"""

from collections.abc import Sequence

import numpy as np

from core.callbacks import Tell
from evaluation.estimates.kernels.covariates import covariates
from evaluation.estimates.kernels.imputation import impute
from evaluation.estimates.kernels.intervals import Estimate, of_imputed
from evaluation.estimates.kernels.quantities import WIDER
from evaluation.estimates.kernels.weights import CERTAIN, Sample
from evaluation.measures.label_state import LabelState
from evaluation.measures.prepared import Prepared, prepare
from evaluation.measures.rank_table import Flags, Floats, Ints, keep_rows
from evaluation.measures.values import values


def modelled(
    prepared: Prepared,
    sample: Sample,
    asked: Flags,
    depth: Ints,
    names: Sequence[str],
    rng: np.random.Generator,
    tell: Tell,
) -> dict[str, Estimate]:
    """Return the named measures [systems] and the counts positives, answers and questions [1].

    asked bool [questions]: those that are evaluated. depth int [triples]: of the pool, at which a triple was found.
    """
    table = prepared.table
    might = sample.stratum != CERTAIN
    of_pool = prepare(keep_rows(table, (might | sample.positive)[table.triple] & asked[table.question]))
    undrawn = np.flatnonzero(might & ~sample.drawn)
    imputed = np.zeros((1, 0), dtype=bool)
    if undrawn.size:
        drawn = sample.drawn[might]
        given = covariates(table, sample, depth)
        imputed = impute(given, drawn, sample.positive[might][drawn], rng, tell)
    found = []
    for labels in imputed:
        positive = sample.positive.copy()
        positive[undrawn] = labels
        found.append(_measured(of_pool, positive, names))
    return of_imputed(found, WIDER)


def _measured(of_pool: Prepared, positive: Flags, names: Sequence[str]) -> dict[str, Floats]:
    state = np.where(positive, LabelState.POSITIVE, LabelState.NEGATIVE).astype(np.int8)
    answers = state[of_pool.table.triple] == LabelState.POSITIVE
    asked = np.unique(of_pool.table.question[answers])
    counts = {"positives": positive.sum(), "answers": answers.sum(), "questions": asked.size}
    measured = {name: value.mean() for name, value in values(of_pool, state, names).items()}
    return measured | {name: np.array([float(count)]) for name, count in counts.items()}
