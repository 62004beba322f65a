"""The validation MRR is that of all validation triples, or of the same few of them for every system."""

import numpy as np
import pytest

from core.callbacks import Watch
from pooling.scoring.ranking import rank_of_triples, validation_mrr
from pooling.scoring.scorer import Scorer, build_model
from pooling.systems import get_model

ENTITIES, RELATIONS = 12, 2


@pytest.fixture
def scorer():
    spec = get_model("distmult")
    model = build_model(spec, ENTITIES, RELATIONS, spec.preset(ENTITIES, 20), seed=5)
    return Scorer(spec, model, "cpu")


@pytest.fixture
def triples():
    rng = np.random.default_rng(1)
    drawn = np.unique(rng.integers(0, [ENTITIES, RELATIONS, ENTITIES], (60, 3)), axis=0)
    return rng.permutation(drawn)


@pytest.mark.parametrize("size", [0, 9, 10])
def test_validation_mrr_of_all(scorer, triples, size):
    valid, train = triples[:9], triples[9:]
    whole = rank_of_triples(scorer, valid, train, num_relations=RELATIONS).mrr
    assert validation_mrr(scorer, train, valid, RELATIONS, size=size, seed=3) == whole


def test_validation_mrr_of_a_sample_is_filtered_by_all(scorer, triples):
    valid, train = triples[:9], triples[9:]
    sample = valid[np.random.default_rng(3).choice(9, 4, replace=False)]
    expected = rank_of_triples(scorer, sample, train, valid, num_relations=RELATIONS).mrr
    assert validation_mrr(scorer, train, valid, RELATIONS, size=4, seed=3) == expected
    others = {rank_of_triples(scorer, sample, *known, num_relations=RELATIONS).mrr for known in ([train], [valid])}
    assert expected not in others


def test_validation_mrr_of_nothing_is_none(scorer, triples):
    assert validation_mrr(scorer, triples, triples[:0], RELATIONS, size=4, seed=3) is None


def test_validation_mrr_tells_progress_and_stops(scorer, triples):
    told = []
    listening = Watch(lambda *done: told.append(done))
    validation_mrr(scorer, triples[9:], triples[:9], RELATIONS, size=0, seed=3, watch=listening)
    assert told[-1][0] == told[-1][1] > 0
    with pytest.raises(InterruptedError):
        validation_mrr(scorer, triples[9:], triples[:9], RELATIONS, size=0, seed=3, watch=Watch(stop=lambda: True))
