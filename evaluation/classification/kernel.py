"""Choose a threshold of the score for each relation, and measure the decisions that follow.

A triple is called true if its score is the threshold or more. Accuracy, precision, recall, F1 and average precision are
those of scikit-learn, with 0 where a share of nothing is asked for; tests compare.
"""

from dataclasses import dataclass

import numpy as np

from evaluation.measures.rank_table import Flags, Floats, Ints

LEAST = 10  # triples of a relation from which it has a threshold of its own


@dataclass(frozen=True)
class Thresholds:
    """Hold the threshold of each relation, float [relations], and which relations have their own, bool [relations]."""

    value: Floats
    own: Flags


@dataclass(frozen=True)
class Decisions:
    """Hold how well n decisions meet the truth."""

    n: int
    accuracy: float
    precision: float
    recall: float
    f1: float


def best_threshold(score: Floats, positive: Flags) -> float:
    """Return the threshold with the highest accuracy on n scores float [n] and truths bool [n]; nan for none.

    Candidates lie in the middle between two neighbouring scores, and at both ends: everything is true from the lowest
    score on, nothing above the highest. Of equally good ones the lowest is taken.
    """
    if not len(score):
        return float("nan")
    levels, place = np.unique(score.astype(np.float64), return_inverse=True)
    true = np.bincount(place, positive, len(levels))
    false = np.bincount(place, ~positive, len(levels))
    # right if the threshold lies below level i: the false ones under it and the true ones from it on
    right = np.concatenate([[0.0], np.cumsum(false)]) + true.sum() - np.concatenate([[0.0], np.cumsum(true)])
    at = int(np.argmax(right))
    if at == 0:
        return float(levels[0])
    return float((levels[at - 1] + levels[at]) / 2) if at < len(levels) else float(np.nextafter(levels[-1], np.inf))


def relation_thresholds(
    score: Floats, positive: Flags, relation: Ints, relations: int, least: int = LEAST
) -> Thresholds:
    """Return the best threshold of each relation from n scores, truths and relations, all [n].

    A relation with fewer than `least` triples, or without a true or without a false one, takes the best threshold of
    all triples together.
    """
    value = np.full(relations, best_threshold(score, positive))
    own = np.zeros(relations, dtype=bool)
    order = np.argsort(relation, kind="stable")
    names, start = np.unique(relation[order], return_index=True)
    for name, rows in zip(names.tolist(), np.split(order, start[1:]), strict=True):
        truths = positive[rows]
        if len(rows) >= least and truths.any() and not truths.all():
            value[name], own[name] = best_threshold(score[rows], truths), True
    return Thresholds(value, own)


def decisions(called: Flags, positive: Flags) -> Decisions:
    """Compare what was called true, bool [n], with the truth, bool [n]; nan where n is 0."""
    n, both = len(positive), int((called & positive).sum())
    if not n:
        return Decisions(0, *[float("nan")] * 4)
    precision, recall = both / max(int(called.sum()), 1), both / max(int(positive.sum()), 1)
    f1 = 2 * both / max(int(called.sum()) + int(positive.sum()), 1)
    return Decisions(n, float((called == positive).mean()), precision, recall, f1)


def average_precision(score: Floats, positive: Flags) -> float:
    """Return the sum over thresholds of (recall gained) * precision, of scores float [n]; nan without a true triple.

    Triples with equal scores share a threshold, so that their order does not matter.
    """
    if not positive.any():
        return float("nan")
    levels, place = np.unique(-score.astype(np.float64), return_inverse=True)
    true = np.cumsum(np.bincount(place, positive, len(levels)))
    every = np.cumsum(np.bincount(place, minlength=len(levels)))
    gained = np.diff(true, prepend=0.0) / positive.sum()
    return float((gained * true / every).sum())


def halves(question: Ints, rng: np.random.Generator) -> Flags:
    """Divide questions at random into halves; tell of each triple, by its question int [n], if it is in the first."""
    names, place = np.unique(question, return_inverse=True)
    first: Flags = (rng.permutation(len(names)) < len(names) // 2)[place]
    return first
