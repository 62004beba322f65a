"""The report of a pool: what was pooled and by whom, and what is known of it now."""

from typing import Any

import numpy as np
from django.db.models import Count

from evaluation.domain.qrels import pooled_state, state_counts
from pooling.domain.pool import pool_counts
from pooling.kernels.pool import PROVENANCE
from pooling.models import Pool


def pool_report(pool: Pool) -> dict[str, Any]:
    """Counts by reason, category, depth, system; states over seeds and pooled triples; overlap of the systems."""
    by_depth = pool.triples.order_by("depth").values_list("depth").annotate(n=Count("id"))
    found = finders(pool)
    names = pool.contributors
    together = found.astype(np.int64).T @ found.astype(np.int64) if names else np.zeros((0, 0), np.int64)
    alone = found[found.sum(1) == 1].sum(0) if names else np.zeros(0, np.int64)
    return {
        **pool_counts(pool),
        "by_depth": {str(depth): n for depth, n in by_depth},
        "by_system": {name: int(together[i, i]) for i, name in enumerate(names)},
        "only_by": {name: int(alone[i]) for i, name in enumerate(names)},
        "overlap": {
            name: {other: int(together[i, j]) for j, other in enumerate(names)}
            for i, name in enumerate(names)
        },
        **state_counts(pooled_state(pool)[1]),
    }


def finders(pool: Pool) -> np.ndarray:
    """Which contributor found which pooled triple, bool[triples, contributors], from the packed provenance."""
    packed = [bytes(p) for p in pool.triples.order_by("id").values_list("provenance", flat=True)]
    found = np.zeros((len(packed), len(pool.contributors)), dtype=bool)
    records = np.frombuffer(b"".join(packed), dtype=PROVENANCE)
    owner = np.repeat(np.arange(len(packed)), [len(p) // PROVENANCE.itemsize for p in packed])
    found[owner, records["system"]] = True
    return found
