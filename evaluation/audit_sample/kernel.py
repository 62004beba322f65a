"""Impute the answers that filters threw away, by the error rates of their audit sample."""

import numpy as np

from evaluation.measures.label_state import LabelState, States
from evaluation.measures.rank_table import Floats, Ints


def impute(state: States, rule: Ints, rate: Floats, chance: Floats) -> States:
    """Return one imputation, int8 [triples]: a triple of rule r is positive with probability rate[r].

    state int8 [triples]; rule int [triples], -1 where nothing is imputed; rate float [rules]; chance float
    [triples], uniform draws from [0, 1). The same draws with higher rates make the same triples positive and more.
    """
    missed = (rule >= 0) & (chance < np.append(rate, 0.0)[rule])
    return np.where(missed, LabelState.POSITIVE, state).astype(np.int8)
