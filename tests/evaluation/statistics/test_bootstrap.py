import warnings

import numpy as np
import pytest
from scipy import stats

from evaluation.measures.question_sums import question_sums
from evaluation.measures.values import Values
from evaluation.statistics.bootstrap import Interval, bootstrap_correlations
from evaluation.statistics.correlation import CORRELATIONS

SKILL = [1.0, 1.1, 1.2, 0.9]


def random_values(seed, questions, skill=SKILL, unit="answer", higher_is_better=True, finish=None):
    rng = np.random.default_rng(seed)
    asked = np.sort(rng.choice(questions, size=3 * len(questions))) if unit == "answer" else questions
    per_unit = rng.random((len(skill), asked.size)) * np.array(skill)[:, None]
    return Values(per_unit, unit, asked.astype(np.int32), None, higher_is_better, finish)


def sums_of(values):
    return {name: question_sums(value) for name, value in values.items()}


def mean_of(values, units):
    mean = values.per_unit[:, units].mean(axis=1)
    mean = values.finish(mean) if values.finish else mean
    return mean if values.higher_is_better else -mean


def test_bootstrap_equals_resampling_whole_questions_by_hand():
    one = {
        "micro": random_values(1, np.arange(0, 12)),
        "macro": random_values(2, np.arange(0, 9), unit="question"),
        "lower": random_values(3, np.arange(0, 12), higher_is_better=False, finish=np.negative),
    }
    other = {name: random_values(4 + i, np.arange(6, 20)) for i, name in enumerate(one)}
    other["lower"] = random_values(9, np.arange(6, 20), higher_is_better=False, finish=np.negative)
    found = bootstrap_correlations(sums_of(one), sums_of(other), np.random.default_rng(3), resamples=250)
    values = [*one.values(), *other.values()]
    questions = np.unique(np.concatenate([value.unit_question for value in values]))
    rng = np.random.default_rng(3)
    draws = [draw for size in (100, 100, 50) for draw in rng.integers(questions.size, size=(size, questions.size))]
    assert list(found) == list(one) and list(found["micro"]) == list(CORRELATIONS)
    for name in one:
        merits = []
        for draw in draws:
            units = [
                np.concatenate([np.flatnonzero(v.unit_question == q) for q in questions[draw]])
                for v in (one[name], other[name])
            ]
            merits.append([mean_of(v, u) for v, u in zip((one[name], other[name]), units, strict=True)])
        whole = [mean_of(v, np.arange(v.n)) for v in (one[name], other[name])]
        for key, oracle in (("tau_b", stats.kendalltau), ("spearman", stats.spearmanr)):
            drawn = [oracle(*pair).statistic for pair in merits]
            interval = found[name][key]
            ends = tuple(np.quantile(drawn, [0.025, 0.975]))
            assert (interval.low, interval.high) == pytest.approx(ends, abs=1e-12)
            assert interval.value == pytest.approx(oracle(*whole).statistic)
            assert (interval.resamples, interval.defined, interval.questions) == (250, 250, questions.size)
        for key in ("tau_ap", "rbo"):
            drawn = [float(CORRELATIONS[key].compute(*np.array(pair))) for pair in merits]
            ends = tuple(np.quantile(drawn, [0.025, 0.975]))
            assert (found[name][key].low, found[name][key].high) == pytest.approx(ends, abs=1e-12)


def test_bootstrap_of_asked_correlations_has_the_asked_level_alone():
    sums = [sums_of({"m": random_values(seed, np.arange(15))}) for seed in (1, 2)]
    wide, narrow = (
        bootstrap_correlations(*sums, np.random.default_rng(0), 200, level, correlations=["tau_ap"])["m"]
        for level in (0.95, 0.5)
    )
    assert list(wide) == ["tau_ap"] and wide["tau_ap"].value == narrow["tau_ap"].value
    assert wide["tau_ap"].low < narrow["tau_ap"].low <= narrow["tau_ap"].high < wide["tau_ap"].high


def test_bootstrap_leaves_a_system_out_that_is_undefined_on_a_question():
    value = random_values(1, np.arange(12))
    holed = value.per_unit.copy()
    holed[1, 3] = np.nan
    three = Values(np.delete(value.per_unit, 1, axis=0), "answer", value.unit_question, None, True)
    other = random_values(2, np.arange(12))
    without = Values(np.delete(other.per_unit, 1, axis=0), "answer", other.unit_question, None, True)
    found = bootstrap_correlations(
        sums_of({"m": Values(holed, "answer", value.unit_question, None, True)}),
        sums_of({"m": other}),
        np.random.default_rng(0),
        100,
    )
    expected = bootstrap_correlations(sums_of({"m": three}), sums_of({"m": without}), np.random.default_rng(0), 100)
    assert found == expected


@pytest.mark.parametrize(("systems", "questions"), [(1, 5), (2, 0)])
def test_bootstrap_without_an_order_is_undefined(systems, questions):
    sums = sums_of({"m": random_values(1, np.arange(questions), SKILL[:systems], unit="question")})
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        found = bootstrap_correlations(sums, sums, np.random.default_rng(3), resamples=10)["m"]
    for interval in found.values():
        assert np.isnan([interval.value, interval.low, interval.high]).all()
        assert (interval.resamples, interval.defined, interval.questions) == (10, 0, questions)


def test_bootstrap_of_two_systems_that_tie_everywhere_has_no_tau_but_an_overlap():
    per_unit = np.tile(np.random.default_rng(0).random(8), (2, 1))
    sums = sums_of({"m": Values(per_unit, "question", np.arange(8, dtype=np.int32), None, True)})
    found = bootstrap_correlations(sums, sums, np.random.default_rng(3), resamples=10)["m"]
    assert [name for name, interval in found.items() if interval.defined == 0] == ["tau_b", "tau_ap", "spearman"]
    assert found["rbo"] == Interval(pytest.approx(1.0), pytest.approx(1.0), pytest.approx(1.0), 10, 10, 8)


def test_bootstrap_refuses_two_sides_with_different_measures():
    sums = sums_of({"m": random_values(1, np.arange(5))})
    with pytest.raises(ValueError, match="different measures"):
        bootstrap_correlations(sums, {}, np.random.default_rng(0))
    assert bootstrap_correlations({}, {}, np.random.default_rng(0)) == {}
