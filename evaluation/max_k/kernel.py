"""Compute max-k: how good the at most k entities are that a system returns for a question.

Source: Mei, Zhang, Mao and Deng, "On Link Prediction in Knowledge Bases: Max-K Criterion and Prediction Protocols",
SIGIR 2018. TopK returns the k entities with the highest scores, Sampling the distinct ones of k independent draws
from p, Greedy the first of p, as many as these draws would leave if k were large.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.measures.rank_table import Flags, Floats, Ints
from pooling.scoring.distributions import greedy_sizes

Numbers = float | NDArray[np.float64]


class Goodness(NamedTuple):
    """Precision, recall and F1; each [questions, ks], or a number."""

    precision: Numbers
    recall: Numbers
    f1: Numbers


# -- one question -----------------------------------------------------------------------------------------------


def greedy_size(p_sorted: ArrayLike, k: int) -> int:
    """Return the size of Greedy's set: k̂ + q, k̂ the last index with p ≥ 1/k, q the integer nearest to k·(1 − Σ p).

    p_sorted float[m], descending, the sum over its first k̂; what comes after its first k plays no part. A half is
    rounded to the even integer. From 1 to k. ValueError: p is not descending or not in [0, 1], or k is below 1.
    """
    p = np.asarray(p_sorted, dtype=np.float64).reshape(1, -1)
    _refuse_no_probability(p)
    if (p[:, 1:] > p[:, :-1]).any():
        raise ValueError("the probabilities are not in descending order")
    return int(greedy_sizes(p, k)[0])


def expected_sampling_recall(p_answers: ArrayLike, k: ArrayLike) -> Numbers:
    """Return the mean recall of Sampling: the mean over the answers of 1 − (1 − p)^k.

    p_answers float[n], the probability of each right answer; k a number, or an array, which gives an array.
    ValueError: there is no answer, a p outside [0, 1], or a k below 1.
    """
    p, ks = np.asarray(p_answers, dtype=np.float64).ravel(), _counts(k)
    _refuse_no_probability(p)
    if not p.size:
        raise ValueError("a question without an answer has no recall")
    with np.errstate(divide="ignore"):
        log_missed = np.log1p(-np.minimum(p, 1.0))  # -inf where p is 1 or rounds to more
    found = np.mean(-np.expm1(ks[..., None] * log_missed), axis=-1)
    return float(found) if np.ndim(k) == 0 else found


def oracle_limits(n_answers: ArrayLike, k: ArrayLike) -> tuple[Goodness, Goodness]:
    """Return the best precision, recall and F1 for n answers: of k entities, and of at most k (Lemma 1).

    Numbers, or arrays that broadcast. ValueError: n or k below 1.
    """
    n, ks = _counts(n_answers, "a number of answers"), _counts(k)
    recall, f1 = np.minimum(ks / n, 1.0), 2 * ks / (n + ks)
    top = Goodness(np.minimum(n / ks, 1.0), recall, np.minimum(2 * n / (n + ks), f1))
    most = Goodness(np.ones_like(recall), recall, np.minimum(f1, 1.0))
    return (top, most) if np.ndim(f1) else (Goodness(*map(float, top)), Goodness(*map(float, most)))


def _counts(given: ArrayLike, what: str = "k") -> Floats:
    numbers = np.asarray(given, dtype=np.float64)
    if not (numbers >= 1).all():
        raise ValueError(f"{what} is below 1")
    return numbers


def _refuse_no_probability(p: Floats) -> None:
    if not ((p >= 0) & (p <= 1 + 1e-9)).all():
        raise ValueError("a probability lies outside 0 to 1")


# -- all questions ----------------------------------------------------------------------------------------------


def greedy_sizes_by_k(p: Floats, ks: ArrayLike) -> Ints:
    """Return greedy_size of every question at every k, int64[n, ks].

    p [n, m], each row descending, m ≥ max(ks) or all of E. Each p is put where it first counts among the thresholds
    1/k; running sums over k do the rest.
    """
    k = np.atleast_1d(np.asarray(ks, dtype=np.float64))
    order = np.argsort(-k, kind="stable")  # thresholds ascend
    n, m, width = *p.shape, len(k)
    reached = np.searchsorted(1.0 / k[order], p.ravel(), side="right")  # by so many of the largest k
    at = np.repeat(np.arange(n), m) * (width + 1) + width - reached
    first = np.bincount(at, minlength=n * (width + 1)).reshape(n, width + 1)[:, :width]
    ahead = np.cumsum(first, axis=1)  # k̂ of the ks in ascending order
    mass = np.concatenate([np.zeros((n, 1)), np.cumsum(p, axis=1)], axis=1)
    left = np.maximum(1.0 - np.take_along_axis(mass, ahead, axis=1), 0.0)
    sizes = np.empty((n, width), dtype=np.int64)
    sizes[:, order[::-1]] = ahead + np.rint(k[order[::-1]] * left).astype(np.int64)
    return sizes


def of_first(hits: Flags, sizes: Ints, answers: Ints) -> Goodness:
    """Return the goodness of the first `sizes` [n, ks] entities of lists, as TopK and Greedy return them.

    hits bool[n, m]: right ones; answers int[n], ≥ 1. An empty set has precision 0. ValueError: a size is above m.
    """
    if sizes.max(initial=0) > hits.shape[1]:
        raise ValueError(f"{sizes.max()} entities were asked for, and the lists hold {hits.shape[1]}")
    found = np.zeros((len(hits), hits.shape[1] + 1), dtype=np.int64)
    np.cumsum(hits, axis=1, out=found[:, 1:])
    return _goodness(np.take_along_axis(found, sizes, axis=1), sizes, answers)


def of_draws(hits: Flags, first: Flags, ks: Ints, answers: Ints) -> Goodness:
    """Return the goodness of the distinct entities of the first k draws, as Sampling returns them.

    hits, first bool[n, m]: right, drawn for the first time; ks int[ks], each from 1 to m; answers int[n], ≥ 1.
    """
    right, sizes = (np.cumsum(counted, axis=1, dtype=np.int64)[:, ks - 1] for counted in (hits & first, first))
    return _goodness(right, sizes, answers)


def _goodness(right: Ints, sizes: Ints, answers: Ints) -> Goodness:
    n = answers[:, None]
    return Goodness(right / np.maximum(sizes, 1), right / n, 2 * right / (sizes + n))


def first_drawn(draws: Ints) -> Flags:
    """Return whether each draw, int[n, m], is the first of its entity in its row, bool[n, m]."""
    order = np.argsort(draws, axis=1, kind="stable")
    ordered = np.take_along_axis(draws, order, axis=1)
    new = np.ones(draws.shape, dtype=bool)
    new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    first = np.empty(draws.shape, dtype=bool)
    np.put_along_axis(first, order, new, axis=1)
    return first


def expected_recall(p: Floats, start: Ints, ks: Ints) -> Floats:
    """Return expected_sampling_recall of every question, [n, ks].

    p float[answers] of one question after the other; start int[n]: where each question begins; every question has an
    answer. ks int[ks], ascending.
    """
    counts = np.diff(np.append(start, len(p)))
    found = np.empty((len(start), len(ks)))
    missed, one = np.ones(len(p)), 1.0 - np.minimum(p, 1.0)
    done = 0
    for i, k in enumerate(ks.tolist()):
        missed *= one ** (k - done)
        done = k
        found[:, i] = 1.0 - np.add.reduceat(missed, start) / counts if len(start) else 0.0
    return found


def total_mass(p: Floats, start: Ints) -> Floats:
    """Return Σ p over the answers of each question, float[n] in [0, 1]; p and start as in expected_recall."""
    return np.minimum(np.add.reduceat(p, start), 1.0) if len(start) else np.zeros(0)
