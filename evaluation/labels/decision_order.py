"""Find out when each triple of a pool was judged."""

import numpy as np

from annotation.judging.judgements import decision_times
from evaluation.measures.rank_table import Ints
from pooling.models import Pool


def order_of_decision(pool: Pool, triples: int, position_of: dict[int, int]) -> tuple[Ints, int]:
    """Return when each triple was judged, 1 … n (0: never), int64[triples], and how many share their time.

    Judgements of one time, as imported labels have, are ordered by the id of their triple.
    """
    triple_id, decided_at = decision_times(pool)
    order = np.lexsort((triple_id, decided_at))
    at = [position_of[i] for i in triple_id[order].tolist()]
    decided = np.zeros(triples, dtype=np.int64)
    decided[at] = np.arange(1, len(at) + 1)
    _, together = np.unique(decided_at, return_counts=True)
    return decided, int(together[together > 1].sum())
