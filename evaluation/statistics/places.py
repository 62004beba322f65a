"""Place systems, and tell how sure the places are: how much they move when the questions are drawn again."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from evaluation.measures.question_sums import QuestionSums
from evaluation.measures.rank_table import Floats
from evaluation.statistics.bootstrap import CHUNK, StackedSums, times_drawn


def places(merits: Floats) -> Floats:
    """Return places [..., systems] from 1 by merits [..., systems]; tied systems share the best, nan has none."""
    better = merits[..., None, :] > merits[..., :, None]
    return np.where(np.isfinite(merits), 1.0 + better.sum(axis=-1), np.nan)


@dataclass(frozen=True)
class PlaceIntervals:
    """Hold the percentile interval `low` … `high` [systems] of each system's place; nan where it has none.

    `undecided`: the pairs, of `pairs`, of which neither system is ahead in 97.5 % (at level 0.95) of the resamples.
    """

    low: Floats
    high: Floats
    undecided: int
    pairs: int
    questions: int
    resamples: int


def bootstrap_places(
    sums: Mapping[str, QuestionSums], rng: np.random.Generator, resamples: int = 1000, level: float = 0.95
) -> dict[str, PlaceIntervals]:
    """Return between which places systems move when the questions are drawn again.

    Questions are drawn with replacement, the same resamples for every measure; a drawn question brings all its units.

    Parameters
    ----------
    sums : mapping of str to QuestionSums
        Measures of the same systems.
    rng : numpy.random.Generator
        The source of randomness; the result depends on it alone.
    resamples : int, default 1000
        How many resamples are drawn.
    level : float, default 0.95
        Of the percentile intervals.

    Returns
    -------
    dict of str to PlaceIntervals
        One entry per measure.

    Raises
    ------
    ValueError
        Without a resample.

    Examples
    --------
    >>> import numpy as np
    >>> from evaluation import bootstrap_places, question_sums, values
    >>> from evaluation.notebooks.example import prepared, state
    >>> found = values(prepared, state, ["micro_mrr", "map"])
    >>> sums = {name: question_sums(value) for name, value in found.items()}
    >>> places = bootstrap_places(sums, np.random.default_rng(7), resamples=100)["map"]
    >>> places.low, places.high, places.undecided, places.pairs
    (array([1., 1., 3.]), array([1., 2., 3.]), 1, 3)
    """
    if resamples < 1:
        raise ValueError("places need at least one resample")
    if not sums:
        return {}
    stacked = StackedSums(sums.values())
    n = stacked.questions.size
    sizes = [min(CHUNK, resamples - begin) for begin in range(0, resamples, CHUNK)]
    merits = np.concatenate([stacked.merits(times_drawn(size, n, rng)) for size in sizes])  # [draws, measures, systems]
    left, right = np.triu_indices(merits.shape[2], k=1)
    one, other = merits[..., left], merits[..., right]
    decided = np.maximum((one > other).sum(axis=0), (one < other).sum(axis=0))  # [measures, pairs]
    tail = (1.0 - level) / 2.0
    undecided = (decided < (1.0 - tail) * resamples).sum(axis=1)
    ends = np.quantile(places(merits), [tail, 1.0 - tail], axis=0, method="inverted_cdf")  # [2, measures, systems]
    return {
        name: PlaceIntervals(ends[0, m], ends[1, m], int(undecided[m]), left.size, n, resamples)
        for m, name in enumerate(sums)
    }
