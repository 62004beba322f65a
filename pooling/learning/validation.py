"""Compute the MRR of a system on the validation triples while it is trained."""

import numpy as np

from core.callbacks import Stop, Tell
from pooling.scoring.ranking import Scores, rank_of_triples


def validation_mrr(
    scorer: Scores,
    train: np.ndarray,
    valid: np.ndarray,
    num_relations: int,
    *,
    size: int,
    seed: int,
    progress: Tell | None = None,
    should_stop: Stop | None = None,
) -> float | None:
    """Return the MRR of both sides of `size` triples of valid int[n, 3], drawn by `seed`.

    Size 0 takes all of them; None if there are no triples.
    Ranks are filtered by all of train and valid. Errors are those of `score_questions`.
    """
    sample = valid
    if 0 < size < len(valid):
        sample = valid[np.random.default_rng(seed).choice(len(valid), size, replace=False)]
    if not len(sample):
        return None
    return rank_of_triples(
        scorer, sample, train, valid, num_relations=num_relations, progress=progress, should_stop=should_stop
    ).mrr
