"""Compute PROBE: scores of ranks at a chosen sharpness, averaged with weights that fall with popularity.

    score(r; a) = 1 - (1 - r^-a) / (1 - |E|^-a), at a = 0 its limit 1 - ln r / ln |E|
    weight      = (degree + 1)^-b, scaled to add up to 1
    PROBE       = sum of weight times score

Rank 1 scores 1, rank |E| scores 0. a = 1, b = 0 is MRR but for the affine change. Sources: Moon and Ko 2025
(arXiv 2512.06296), equations 2 to 4.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.measures.rank_table import Floats

NOBODY = -1  # where no system alone is the best
SAME = 1e-12  # values that are no further apart than this differ by the order of summation only
LIMIT = 1e-290  # sharpness below which r^-a - 1 would lose its digits; its limit is exact there


def rank_scores(ranks: ArrayLike, num_entities: int, sharpness: float) -> Floats:
    """Return the score in [0, 1] of each rank, any shape; `ranks` from 1 to `num_entities`, halves for ties.

    inf, an answer that the run did not return, scores 0 as the last rank does. ValueError for what is no rank, for
    a negative sharpness, and without an entity. With one entity its rank 1 scores 1.
    """
    return _scores(_log_ranks(ranks, num_entities), num_entities, _not_negative("sharpness", sharpness))


def popularity_weights(popularity: ArrayLike, robustness: float) -> Floats:
    """Return weights [n] that add up to 1, proportional to (popularity + 1)^-robustness.

    `popularity` [n]: training triples in which the missing entity appears, 0 for one that train does not have.
    ValueError for negative ones, or for a negative robustness.
    """
    slope = _not_negative("robustness", robustness)
    log = np.log1p(_degrees(popularity))
    with np.errstate(over="ignore"):  # a weight too small to write is 0
        weight = np.exp(-slope * (log - log.min(initial=np.inf)))
    return weight / weight.sum() if weight.size else weight


def probe_score(
    ranks: ArrayLike, popularity: ArrayLike, num_entities: int, sharpness: float, robustness: float
) -> float:
    """Return PROBE of one system from `ranks` [n] and the `popularity` [n] of the entities to find.

    nan without a rank. ValueError as in `rank_scores` and `popularity_weights`, and for arrays of two lengths.
    """
    return float(probe_surface(np.atleast_2d(ranks), popularity, num_entities, [sharpness], [robustness])[0, 0, 0])


def probe_surface(
    ranks: ArrayLike,
    popularity: ArrayLike,
    num_entities: int,
    sharpnesses: Sequence[float] | Floats,
    robustnesses: Sequence[float] | Floats,
) -> Floats:
    """Return PROBE [systems, A, B] of `ranks` [systems, n] at every sharpness and robustness; nan without a rank."""
    given = np.asarray(ranks, dtype=np.float64)
    n = np.size(popularity)
    if given.ndim != 2 or given.shape[1] != n:
        raise ValueError(
            f"ranks have the shape {given.shape} and popularity has {n} entries: give ranks [systems, n] and"
            " popularity [n]"
        )
    sharp = [_not_negative("sharpness", a) for a in sharpnesses]
    weight = [popularity_weights(popularity, b) for b in robustnesses]
    found = np.full((len(given), len(sharp), len(weight)), np.nan)
    if n and weight:
        for i, own in enumerate(given):
            different, place = np.unique(own, return_inverse=True)  # each is scored once, with all its weight
            mass = np.array([np.bincount(place, of_all, minlength=different.size) for of_all in weight])
            log = _log_ranks(different, num_entities)
            found[i] = np.array([mass @ _scores(log, num_entities, a) for a in sharp]).reshape(-1, len(weight))
    return found


def best_systems(surface: Floats) -> NDArray[np.int64]:
    """Return the system with the highest value at each point, [A, B] of `surface` [systems, A, B].

    NOBODY where several share it, or none has a value.
    """
    if surface.shape[0] == 0 or np.isnan(surface).all():
        return np.full(surface.shape[1:], NOBODY, dtype=np.int64)
    value = np.where(np.isnan(surface), -np.inf, surface)
    shared = (value >= value.max(axis=0) - SAME).sum(axis=0) > 1
    return np.where(shared, NOBODY, value.argmax(axis=0)).astype(np.int64)


def system_places(surface: Floats) -> NDArray[np.int64]:
    """Return the place from 1 of each system at each point, [systems, A, B]; ties share the better place."""
    better = surface[None] > surface[:, None] + SAME  # [of, other, A, B]
    return 1 + better.sum(axis=1)


def _scores(log_rank: Floats, num_entities: int, sharpness: float) -> Floats:
    whole = np.log(num_entities)
    if num_entities == 1:
        return (log_rank == 0).astype(np.float64)
    if sharpness * whole < LIMIT:
        return 1.0 - log_rank / whole
    return 1.0 - np.expm1(-sharpness * log_rank) / np.expm1(-sharpness * whole)


def _log_ranks(ranks: ArrayLike, num_entities: int) -> Floats:
    """Return ln r, that of the last rank for answers that were not returned."""
    given = np.asarray(ranks, dtype=np.float64)
    if num_entities < 1:
        raise ValueError(f"{num_entities} entities: PROBE needs at least one")
    wrong = ~((given >= 1) & ((given <= num_entities) | np.isinf(given)))
    if wrong.any():
        raise ValueError(
            f"{given[wrong][0]:g} is not a rank among {num_entities} entities: give 1 to {num_entities}, or inf"
        )
    missing = np.isinf(given)
    if num_entities == 1:
        return np.where(missing, np.inf, 0.0)
    return np.log(np.where(missing, num_entities, given))


def _degrees(popularity: ArrayLike) -> Floats:
    degree = np.asarray(popularity, dtype=np.float64)
    if degree.ndim != 1 or not (degree >= 0).all() or not np.isfinite(degree).all():
        raise ValueError("popularity is a list of counts of triples, one for each rank, from 0")
    return degree


def _not_negative(name: str, value: float) -> float:
    if not (0 <= value < np.inf):
        raise ValueError(f"{name} is {value:g}: give a finite number from 0")
    return float(value)
