"""Report what was pooled, by which systems, and what the labels say now."""

from typing import Any

from django.db.models import Count

from evaluation.labels.qrels import pooled_state, state_counts
from pooling.models import Pool
from pooling.pools.filtering import left_out
from pooling.pools.report import pool_counts, pool_families, pool_overlap


def pool_report(pool: Pool) -> dict[str, Any]:
    """Return counts by reason, category, depth, system and family, states of the triples, and the overlap of systems.

    `left_out` counts known facts and repeated findings, which no filter takes since no pool holds them.
    """
    by_depth = pool.triples.order_by("depth").values_list("depth").annotate(n=Count("id"))
    names = pool.contributors
    together, alone = pool_overlap(pool)
    return {
        **pool_counts(pool),
        "left_out": left_out(pool)._asdict(),
        "by_depth": {str(depth): n for depth, n in by_depth},
        "by_system": {name: int(together[i, i]) for i, name in enumerate(names)},
        "only_by": {name: int(alone[i]) for i, name in enumerate(names)},
        "families": pool_families(pool),
        "overlap": {a: {b: int(together[i, j]) for j, b in enumerate(names)} for i, a in enumerate(names)},
        **state_counts(pooled_state(pool)[1]),
    }
