"""Compute rank-biased overlap: how much two orders agree, the top counting most.

Source: Webber, Moffat and Zobel 2010, "A similarity measure for indefinite rankings" (RBO_EXT).
"""

import numpy as np

from evaluation.measures.rank_table import Floats

PERSISTENCE = 0.9


def rank_biased_overlap(one: Floats, other: Floats, persistence: float = PERSISTENCE) -> Floats:
    """Return RBO between merits [..., systems] and [..., systems] (broadcast): [...], from 0 to 1.

    With n systems in both, p the persistence and A_d the agreement at depth d:
    RBO = (1 - p) * sum over d = 1 … n of p^(d - 1) * A_d  +  p^n * A_n, where A_n is 1 (the extrapolated tail).
    Ties as the authors treat them: tied systems all stand at the first rank of their tie, so the first d may
    be more than d systems, and A_d = 2 * |common to both| / (|first d of one| + |first d of other|). Two equal
    orders have RBO 1, ties or not; a side that ties all systems is compared like any other.

    It is no correlation: with few systems even a reversed order is far above 0. Systems that are nan in either
    are left out; nan where fewer than two remain. ValueError for a persistence that is not between 0 and 1.
    """
    if not 0 < persistence < 1:
        raise ValueError(f"the persistence of RBO lies between 0 and 1, not at {persistence}")
    one, other = np.broadcast_arrays(one, other)
    systems = one.shape[-1]
    defined = np.isfinite(one) & np.isfinite(other)
    n = defined.sum(axis=-1)  # [...]
    depth = np.arange(1, systems + 1)
    inside = [_within_first(merit, defined, depth) for merit in (one, other)]  # 2 x [..., systems, depths]
    common = (inside[0] & inside[1]).sum(axis=-2)  # [..., depths]
    listed = inside[0].sum(axis=-2) + inside[1].sum(axis=-2)
    agreement = 2.0 * common / np.maximum(listed, 1)
    weight = np.where(depth <= n[..., None], (1.0 - persistence) * persistence ** (depth - 1.0), 0.0)
    overlap = (agreement * weight).sum(axis=-1) + persistence**n
    found: Floats = np.where(n >= 2, overlap, np.nan)
    return found


def _within_first(merit: Floats, defined: np.ndarray, depth: np.ndarray) -> np.ndarray:
    """Tell which systems are among the first d: bool [..., systems, depths]; never where not defined."""
    better = (merit[..., None, :] > merit[..., :, None]) & defined[..., None, :]
    above = better.sum(axis=-1)  # [..., systems]
    return (above[..., None] < depth) & defined[..., None]
