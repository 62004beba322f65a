"""Name what is known about a triple, and derive the sets of triples that measures need."""

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

States = NDArray[np.int8]  # [triples], values of LabelState
Flags = NDArray[np.bool_]


class LabelState(IntEnum):
    """Name what is known about a triple: an int8 for each.

    Not pooled, pooled but unjudged, and judged negative are three different things.

    Examples
    --------
    >>> from triplepool import LabelState
    >>> [state.name for state in LabelState]
    ['NOT_POOLED', 'UNJUDGED', 'ASSUMED_NEGATIVE', 'NEGATIVE', 'POSITIVE']
    """

    NOT_POOLED = 0
    UNJUDGED = 1
    ASSUMED_NEGATIVE = 2
    NEGATIVE = 3
    POSITIVE = 4


def positive(state: States) -> Flags:
    """Flag the triples that are answers on both their sides."""
    return np.equal(state, LabelState.POSITIVE)


def nonrelevant(state: States, assumed_is_judged: bool = True) -> Flags:
    """Flag the triples that count as judged and wrong; filtered ones only if `assumed_is_judged`."""
    judged = state == LabelState.NEGATIVE
    return judged | (state == LabelState.ASSUMED_NEGATIVE) if assumed_is_judged else judged


def unjudged(state: States, assumed_is_judged: bool = True) -> Flags:
    """Flag the triples in the pool without a judgement: trec_eval's -1, which infAP needs."""
    waiting = state == LabelState.UNJUDGED
    return waiting if assumed_is_judged else waiting | (state == LabelState.ASSUMED_NEGATIVE)


def without_labels(state: States, dropped: Flags) -> States:
    """Return a copy of `state` in which the `dropped` triples of the pool are UNJUDGED."""
    ignored = dropped & (state != LabelState.NOT_POOLED)
    return np.where(ignored, LabelState.UNJUDGED, state).astype(np.int8)


def impute(state: States, rule: NDArray[np.int64], rate: NDArray[np.float64], chance: NDArray[np.float64]) -> States:
    """Return one imputation, int8 [triples]: a triple of rule r is positive with probability rate[r].

    state int8 [triples]; rule int [triples], -1 where nothing is imputed; rate float [rules]; chance float
    [triples], uniform draws from [0, 1). The same draws with higher rates make the same triples positive and more.
    """
    missed = (rule >= 0) & (chance < np.append(rate, 0.0)[rule])
    return np.where(missed, LabelState.POSITIVE, state).astype(np.int8)
