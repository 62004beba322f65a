"""Find out when each triple of a pool was judged."""

import numpy as np

from annotation.judging.judgements import current_verdicts
from evaluation.measures.rank_table import Ints
from pooling.models import Pool


def order_of_decision(pool: Pool, triples: int, position_of: dict[int, int]) -> tuple[Ints, int]:
    """Return when each triple was judged, 1 … n (0: never), int64[triples], and how many share their time.

    Judgements of one time, as imported labels have, are ordered by the id of their triple.
    """
    verdicts = current_verdicts(pool)
    order = np.lexsort((verdicts.triple_id, verdicts.decided_at))
    at = [position_of[i] for i in verdicts.triple_id[order].tolist()]
    decided = np.zeros(triples, dtype=np.int64)
    decided[at] = np.arange(1, len(at) + 1)
    _, together = np.unique(verdicts.decided_at, return_counts=True)
    return decided, int(together[together > 1].sum())
