import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evaluation.measures.label_state import LabelState
from evaluation.measures.prepared import prepare
from evaluation.measures.question_sums import question_sums
from evaluation.measures.registry import REGISTRY, parse_measure
from evaluation.measures.values import means, values
from evaluation.statistics.stability import HALF_SIZES, SIZES, half_curve, question_stability, stability_curve

NAMES = ["micro_mr", "micro_mrr", "macro_hits@3", "map@20"]
seeds = st.integers(0, 10**6)


def tau(one, other):
    return stats.kendalltau(np.round(one, 12), np.round(other, 12)).statistic


@settings(max_examples=15)
@given(seed=seeds)
def test_stability_equals_one_evaluation_per_subset(world, seed):
    w = world(seed)
    prepared = prepare(w.table)
    names = [*NAMES, "infap"] if seed % 2 else NAMES  # infap needs all rows, the others only those of positives
    curve = stability_curve(prepared, w.state, names, np.random.default_rng(1), sizes=(0.3, 0.8, 1.0), repeats=4)
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
        assert curve.sd(name)[0] == pytest.approx(defined.std(ddof=1) if defined.size > 1 else np.nan, nan_ok=True)


@pytest.mark.parametrize("name", [f if x.cutoff == "none" else f"{f}@1" for f, x in REGISTRY.items()])
def test_measures_of_answers_alone_need_no_other_rows(world, name):
    same = []
    for seed in range(14, 24):
        w = world(seed)
        w.state[:] = np.arange(len(w.state)) % 5
        prepared = prepare(w.table)
        tables = (prepared, prepared.only(w.state == LabelState.POSITIVE))
        found = [values(table, w.state, [name])[name].per_unit for table in tables]
        same.append(np.allclose(*found, atol=1e-12, equal_nan=True))
    assert all(same) == parse_measure(name).answers_only


def all_positive(world, seed=14):  # 19 triples: an odd number
    w = world(seed)
    w.state[:] = LabelState.POSITIVE
    return w


def test_stability_reports_progress_and_is_the_same_for_any_number_of_threads(world):
    w = all_positive(world)
    seen = []
    curves = [
        stability_curve(
            prepare(w.table),
            w.state,
            NAMES,
            np.random.default_rng(5),
            repeats=2,
            progress=lambda done, total: seen.append((done, total)),
            threads=threads,
        )
        for threads in (1, 3)
    ]
    assert len(SIZES) == 20 and curves[0].sizes == SIZES and curves[0].positives == len(w.state)
    assert seen == [(i, 40) for i in range(2, 41, 2)] * 2
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
    with pytest.raises(ValueError, match="share of all"):
        stability_curve(prepared, w.state, NAMES, rng, sizes=(0.0, 0.5))
    with pytest.raises(ValueError, match="more than half"):
        half_curve(prepared, w.state, NAMES, rng, sizes=(0.6,))


def test_stability_without_positives_is_undefined(world):
    w = world(4)
    w.state[:] = LabelState.NEGATIVE
    curve = stability_curve(prepare(w.table), w.state, NAMES, np.random.default_rng(0), sizes=(0.5,), repeats=2)
    assert curve.positives == 0 and np.isnan(curve.mean("micro_mrr")).all()


def test_halves_of_one_triple_do_not_exist(world):
    w = all_positive(world)
    w.state[1:] = LabelState.UNJUDGED
    curve = half_curve(prepare(w.table), w.state, ["micro_mrr"], np.random.default_rng(0), repeats=2)
    assert curve.triples.tolist() == [0] * len(HALF_SIZES) and np.isnan(curve.tau["micro_mrr"]).all()


def question_case(world):
    w = all_positive(world)
    found = values(prepare(w.table), w.state, ["micro_mr", "micro_mrr", "map@20"])
    return found, {name: question_sums(value) for name, value in found.items()}


@pytest.mark.parametrize("halves", [False, True])
def test_question_stability_equals_means_over_the_units_of_drawn_questions(world, halves):
    found, sums = question_case(world)
    sizes = (0.2, 0.5)
    curve = question_stability(sums, np.random.default_rng(5), sizes, repeats=6, halves=halves)
    questions = np.unique(found["micro_mrr"].unit_question)
    assert curve.positives == questions.size
    assert curve.triples.tolist() == [max(1, round(size * questions.size)) for size in sizes]
    rng = np.random.default_rng(5)
    for i, count in enumerate(curve.triples):
        for repeat in range(6):
            shuffled = questions[rng.permutation(questions.size)]
            drawn = (shuffled[:count], shuffled[-count:] if halves else questions)
            for name, value in found.items():
                means_of = [value.per_unit[:, np.isin(value.unit_question, part)].mean(axis=1) for part in drawn]
                wanted = tau(*means_of)
                assert curve.tau[name][i, repeat] == pytest.approx(wanted, abs=1e-12, nan_ok=True)


def test_question_stability_has_the_usual_sizes_and_reaches_one_at_all_questions(world):
    _, sums = question_case(world)
    rng = np.random.default_rng(0)
    assert question_stability(sums, rng, repeats=1).sizes == SIZES
    assert question_stability(sums, rng, repeats=1, halves=True).sizes == HALF_SIZES
    whole = question_stability(sums, rng, sizes=(1.0,), repeats=3)
    assert whole.tau["map@20"].tolist() == [[1.0, 1.0, 1.0]]
    with pytest.raises(ValueError, match="more than half"):
        question_stability(sums, rng, sizes=(0.6,), halves=True)


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_question_stability_without_questions_or_measures_is_undefined(world):
    w = world(4)
    w.state[:] = LabelState.NEGATIVE
    sums = question_sums(values(prepare(w.table), w.state, ["micro_mrr"])["micro_mrr"])
    for halves in (False, True):
        curve = question_stability({"m": sums}, np.random.default_rng(0), (0.5,), 2, halves)
        assert curve.positives == 0 and np.isnan(curve.tau["m"]).all()
        assert question_stability({}, np.random.default_rng(0), halves=halves).tau == {}
