import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evaluation.kernels.curves import HALF_SIZES, SIZES, depth_curve, half_curve, stability_curve
from evaluation.kernels.prepared import prepare
from evaluation.kernels.state import LabelState
from evaluation.kernels.values import FAMILIES, means, parse_name, values

NAMES = ["micro_mr", "micro_mrr", "macro_hits@3", "map@20"]
seeds = st.integers(0, 10**6)


def tau(one, other):
    return stats.kendalltau(np.round(one, 12), np.round(other, 12)).statistic


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


@settings(max_examples=15)
@given(seed=seeds)
def test_stability_equals_one_evaluation_per_subset(world, seed):
    w = world(seed)
    prepared = prepare(w.table)
    names = (
        [*NAMES, "infap"] if seed % 2 else NAMES
    )  # infap needs all rows, the others only those of positives
    curve = stability_curve(
        prepared, w.state, names, np.random.default_rng(1), sizes=(0.3, 0.8, 1.0), repeats=4
    )
    positives = np.flatnonzero(w.state == LabelState.POSITIVE)
    full, rng = means(prepared, w.state, names), np.random.default_rng(1)
    for i, count in enumerate(curve.triples):
        for repeat in range(4):
            subset = w.state.copy()
            subset[positives] = LabelState.UNJUDGED
            subset[rng.permutation(positives)[:count]] = LabelState.POSITIVE
            found = means(prepared, subset, names)
            for name in names:
                wanted = tau(found[name], full[name])
                assert curve.tau[name][i, repeat] == pytest.approx(wanted, abs=1e-12, nan_ok=True)
    for name in names:
        last = curve.tau[name][-1]
        assert np.isnan(last).all() or (last == 1.0).all()
        defined = curve.tau[name][0][np.isfinite(curve.tau[name][0])]
        assert curve.mean(name)[0] == pytest.approx(defined.mean() if defined.size else np.nan, nan_ok=True)
        assert curve.sd(name)[0] == pytest.approx(
            defined.std(ddof=1) if defined.size > 1 else np.nan, nan_ok=True
        )


@pytest.mark.parametrize("name", [f if x.cutoff == "none" else f"{f}@3" for f, x in FAMILIES.items()])
def test_measures_of_answers_alone_need_no_other_rows(world, name):
    w = world(14)
    w.state[:] = np.arange(len(w.state)) % 5
    prepared = prepare(w.table)
    found = [
        values(p, w.state, [name])[name] for p in (prepared, prepared.only(w.state == LabelState.POSITIVE))
    ]
    same = np.allclose(found[0].per_unit, found[1].per_unit, atol=1e-12)
    assert same == parse_name(name)[0].answers_only


def all_positive(world, seed=14):  # 19 triples: an odd number
    w = world(seed)
    w.state[:] = LabelState.POSITIVE
    return w


def test_stability_reports_progress_and_repeats_with_the_same_generator(world):
    w = all_positive(world)
    seen = []
    curves = [
        stability_curve(
            prepare(w.table), w.state, NAMES, np.random.default_rng(5), repeats=2,
            progress=lambda done, total: seen.append((done, total)),
        )
        for _ in range(2)
    ]  # fmt: skip
    assert len(SIZES) == 20 and curves[0].sizes == SIZES and curves[0].positives == len(w.state)
    assert seen == [(i, 40) for i in range(1, 41)] * 2
    for name in NAMES:
        np.testing.assert_array_equal(curves[0].tau[name], curves[1].tau[name])


def test_half_curve_compares_disjoint_subsets(world):
    w = all_positive(world)
    curve = half_curve(prepare(w.table), w.state, ["micro_mrr"], np.random.default_rng(5), repeats=3)
    assert curve.sizes == HALF_SIZES and (2 * curve.triples <= len(w.state)).all()
    rng, prepared = np.random.default_rng(5), prepare(w.table)
    for i, count in enumerate(curve.triples):
        for repeat in range(3):
            shuffled, halves = rng.permutation(len(w.state)), []
            for part in (shuffled[:count], shuffled[len(shuffled) - count :]):
                state = np.full(len(w.state), LabelState.UNJUDGED, dtype=np.int8)
                state[part] = LabelState.POSITIVE
                halves.append(means(prepared, state, ["micro_mrr"])["micro_mrr"])
            assert curve.tau["micro_mrr"][i, repeat] == pytest.approx(tau(*halves), nan_ok=True)


def test_curves_refuse_impossible_sizes(world):
    w = all_positive(world)
    prepared, rng = prepare(w.table), np.random.default_rng(0)
    with pytest.raises(ValueError, match="share of the positive"):
        stability_curve(prepared, w.state, NAMES, rng, sizes=(0.0, 0.5))
    with pytest.raises(ValueError, match="more than half"):
        half_curve(prepared, w.state, NAMES, rng, sizes=(0.6,))


def test_stability_without_positives_is_undefined(world):
    w = world(4)
    w.state[:] = LabelState.NEGATIVE
    curve = stability_curve(
        prepare(w.table), w.state, NAMES, np.random.default_rng(0), sizes=(0.5,), repeats=2
    )
    assert curve.positives == 0 and np.isnan(curve.mean("micro_mrr")).all()
