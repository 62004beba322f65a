"""Sample test triples, plain or stratified; quotas by the largest remainder (Hamilton's method)."""

import numpy as np
from numpy.typing import NDArray

from pooling.graphs.kernels.degrees import BAND_EDGES, band, entity_degree

# criteria of a stratified sample, in words
STRATIFY = {"": "nothing", "relation": "relation", "relation,popularity": "relation and popularity"}


def strata(triples: NDArray[np.int32], train: NDArray[np.int32], num_entities: int, by: str) -> NDArray[np.int64]:
    """Return the stratum of each triple int32[n, 3], int64[n]; `by` is one of STRATIFY.

    The popularity of a triple is the band of the rarer of its two entities, by the triples of `train` it is in.
    """
    if by not in STRATIFY:
        raise ValueError(f"strata by {by!r}: the choices are {', '.join(name for name in STRATIFY if name)}")
    if not by:
        return np.zeros(len(triples), dtype=np.int64)
    relation = triples[:, 1].astype(np.int64)
    if by == "relation":
        return relation
    degree = entity_degree(train, num_entities)
    rarer = np.minimum(degree[triples[:, 0]], degree[triples[:, 2]])
    return relation * (len(BAND_EDGES) + 1) + band(rarer)


def allocate(sizes: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Divide `count` among strata of these sizes, int64[strata]: within 1 of the exact share, never above the size.

    Whole shares come first, then one each for the largest remainders; among equal ones for the first stratum.
    """
    total = int(sizes.sum())
    if not 0 <= count <= total:
        raise ValueError(f"{count} of {total} cannot be drawn")
    if total == 0:
        return np.zeros(len(sizes), dtype=np.int64)
    whole, remainder = np.divmod(sizes.astype(np.int64) * count, total)
    largest = np.argsort(-remainder, kind="stable")[: count - int(whole.sum())]
    whole[largest] += 1
    return whole


def sample_seeds(stratum: NDArray[np.int64], count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw `count` of n triples without replacement within strata int64[n]; return their indices, ascending."""
    _, number, sizes = np.unique(stratum, return_inverse=True, return_counts=True)
    members = np.split(np.argsort(number, kind="stable"), np.cumsum(sizes)[:-1])
    drawn = [
        rng.choice(of, size=quota, replace=False)
        for of, quota in zip(members, allocate(sizes, count).tolist(), strict=False)
        if quota
    ]
    return np.sort(np.concatenate(drawn)) if drawn else np.zeros(0, dtype=np.int64)
