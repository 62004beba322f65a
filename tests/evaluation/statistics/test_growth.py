import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evaluation.measures.label_state import LabelState
from evaluation.measures.prepared import prepare
from evaluation.measures.values import means
from evaluation.statistics.growth import accumulation_curve, depth_curve

NAMES = ["micro_mr", "micro_mrr", "macro_hits@3", "map@20"]
seeds = st.integers(0, 10**6)


def tau(one, other):
    return stats.kendalltau(np.round(one, 12), np.round(other, 12)).statistic


def all_positive(world, seed=14):  # 19 triples: an odd number
    w = world(seed)
    w.state[:] = LabelState.POSITIVE
    return w


@given(seed=seeds)
def test_depth_curve_equals_one_evaluation_per_depth(world, seed):
    w = world(seed)
    depth = np.random.default_rng(seed).integers(0, 4, size=len(w.state))
    prepared, names = prepare(w.table), [*NAMES, "bpref", "judged@3"]
    curve = depth_curve(prepared, w.state, depth, names, deepest=3)
    assert curve.depths.tolist() == [0, 1, 2, 3]
    for d in range(4):
        kept = w.state.copy()
        for t, at in enumerate(depth):
            if at > d and kept[t] != LabelState.NOT_POOLED:
                kept[t] = LabelState.UNJUDGED
        expected = means(prepared, kept, names)
        assert curve.positives[d] == np.sum(kept == LabelState.POSITIVE)
        assert curve.questions[d] == len({q for q, _, t in w.rows if kept[t] == LabelState.POSITIVE})
        for name in names:
            np.testing.assert_array_equal(curve.means[name][d], expected[name])
            for found, end in ((curve.tau_to_seeds, 0), (curve.tau_to_full, 3)):
                wanted = tau(curve.means[name][d], curve.means[name][end])
                assert found[name][d] == pytest.approx(wanted, abs=1e-12, nan_ok=True)
    np.testing.assert_array_equal(curve.means["map@20"][3], means(prepared, w.state, ["map@20"])["map@20"])


def test_depth_curve_ends_at_the_deepest_pooled_triple(world):
    w = world(7)
    depth = np.full(len(w.state), 2)
    w.state[:], w.state[0], depth[0] = LabelState.POSITIVE, LabelState.NOT_POOLED, 99
    assert depth_curve(prepare(w.table), w.state, depth, NAMES).depths.tolist() == [0, 1, 2]


@settings(max_examples=25)
@given(seed=seeds, points=st.integers(2, 30))
def test_accumulation_equals_one_evaluation_per_point(world, seed, points):
    w = world(seed)
    rng = np.random.default_rng(seed)
    # some before any label, the others at distinct times that need not be 1 … n
    decided = np.where(rng.random(len(w.state)) < 0.3, 0, 3 + 2 * rng.permutation(len(w.state)))
    prepared, names = prepare(w.table), [*NAMES, "bpref", "judged@3"]
    curve = accumulation_curve(prepared, w.state, decided, names, points=points)
    times = sorted(decided[(decided > 0) & (w.state != LabelState.NOT_POOLED)])
    wanted = sorted({round(len(times) * i / (points - 1)) for i in range(points)})
    assert curve.labels.tolist() == wanted
    for i, n in enumerate(wanted):
        kept = w.state.copy()
        for t, at in enumerate(decided):
            if at > 0 and at not in times[:n] and kept[t] != LabelState.NOT_POOLED:
                kept[t] = LabelState.UNJUDGED
        expected = means(prepared, kept, names)
        assert curve.positives[i] == np.sum(kept == LabelState.POSITIVE)
        assert curve.questions[i] == len({q for q, _, t in w.rows if kept[t] == LabelState.POSITIVE})
        for name in names:
            np.testing.assert_array_equal(curve.means[name][i], expected[name])
            for found, end in ((curve.tau_to_seeds, 0), (curve.tau_to_full, -1)):
                wanted_tau = tau(curve.means[name][i], curve.means[name][end])
                assert found[name][i] == pytest.approx(wanted_tau, abs=1e-12, nan_ok=True)


def test_accumulation_counts_labels_of_one_moment_together(world):
    w = all_positive(world)
    decided = np.repeat([0, 5, 7], [4, 5, 10])
    curve = accumulation_curve(prepare(w.table), w.state, decided, NAMES, points=4)  # none, 5, 10, 15 labels
    assert curve.labels.tolist() == [0, 5, 15, 15] and curve.positives.tolist() == [4, 9, 19, 19]
    with pytest.raises(ValueError, match="at least 2 points"):
        accumulation_curve(prepare(w.table), w.state, decided, NAMES, points=1)


def test_accumulation_without_labels_is_the_seeds_alone(world):
    w = all_positive(world)
    curve = accumulation_curve(prepare(w.table), w.state, np.zeros(19, dtype=int), ["micro_mrr"])
    assert curve.labels.tolist() == [0] and curve.positives.tolist() == [19]
    assert curve.tau_to_full["micro_mrr"].tolist() == [1.0]
