"""Compute shares of relations in a set of triples, and the divergence of two such distributions."""

import numpy as np
from numpy.typing import NDArray

SMOOTHING = 1.0  # triples added to each relation of the graph before shares are compared, as Zhou et al. (2022) do
Ints = NDArray[np.integer]
Floats = NDArray[np.float64]


def shares(counts: NDArray[np.integer | np.floating]) -> Floats:
    """Return counts as shares that add up to 1.

    Parameters
    ----------
    counts : ndarray [relations]
        Triples of each relation.

    Returns
    -------
    ndarray of float [relations]
        nan if all counts are 0.

    Examples
    --------
    >>> import numpy as np
    >>> from evaluation import shares
    >>> shares(np.array([3, 1]))
    array([0.75, 0.25])
    """
    total = counts.sum()
    return counts / total if total else np.full(counts.shape, np.nan)


def divergence(counts: Ints, reference: Ints, smoothing: float = SMOOTHING) -> float:
    """Return the Kullback-Leibler divergence D(counts ‖ reference) of relation shares, in nats.

    With the default it is that of Zhou et al. (2022), Re-thinking knowledge graph completion evaluation, who do not
    print what they add: 1 for each relation of the graph gives their three figures.

    Parameters
    ----------
    counts, reference : ndarray of int [relations]
        Triples of each relation of the graph, those without any too.
    smoothing : float, default 1
        Triples added to every relation, on both sides, so that a relation that only one of them has does not make it
        infinite.

    Returns
    -------
    float
        nan if either has no triple at all.

    Examples
    --------
    >>> import numpy as np
    >>> from evaluation import divergence
    >>> round(divergence(np.array([3, 1]), np.array([1, 3])), 3)
    0.231
    """
    if not counts.any() or not reference.any():
        return float("nan")
    p = shares(counts + smoothing)
    q = shares(reference + smoothing)
    used = p > 0
    with np.errstate(divide="ignore"):  # without smoothing a relation may have no share in the reference: infinite
        return float(np.sum(p[used] * np.log(p[used] / q[used])))
