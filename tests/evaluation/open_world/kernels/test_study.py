"""The experiment's kernels against literal metrics, and the example of the paper's first table."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.open_world.kernels.study import (
    METRICS,
    correlation,
    divide_by_prediction,
    filtered_ranks,
    inverted_pairs,
    metric_values,
    prepare_answers,
    slopes,
)


def prepared(question, positions):
    """One checkpoint without ties: strict, optimistic and pessimistic are the same."""
    at = np.array([positions])
    return prepare_answers(np.array(question), np.arange(len(question)), at, at, at)


def gain(metric, rank):
    if metric == "mrr":
        return 1 / rank
    if metric == "log_mrr":
        return 1 / np.log2(rank + 1)
    if metric == "p_mrr":
        return rank**-0.5
    return float(rank <= int(metric[5:]))


def literal(scores, question, counted, metric):
    """From the definition: each question alone, each answer among all that is no other counted answer."""
    means = []
    for q in sorted({int(question[i]) for i in np.flatnonzero(counted)}):
        own = [i for i in np.flatnonzero(counted) if question[i] == q]
        gains = []
        for i in own:
            filtered = {place(question, k) for k in own}
            rivals = [score for j, score in enumerate(scores[q]) if j not in filtered]
            mine = scores[q][place(question, i)]
            better, equal = sum(s > mine for s in rivals), sum(s == mine for s in rivals)
            gains.append(gain(metric, (1 + better + 1 + better + equal) / 2))
        means.append(sum(gains) / len(gains))
    return sum(means) / len(means)


def place(question, row):
    """The entity of a row: those of a question are its first entities, in order."""
    return row - int(np.searchsorted(question, question[row]))


def test_example_of_the_paper_two_answers_then_all_eight():
    positions = [5, 6, 1, 2, 3, 4, 9, 11]
    table = prepared([0] * 8, positions)
    sparse = np.arange(8) < 2
    assert filtered_ranks(table, sparse).tolist() == [[5, 5]]
    assert metric_values(table, sparse)["mrr"].tolist() == [0.2]
    every = np.ones(8, bool)
    assert filtered_ranks(table, every).tolist() == [[1, 1, 1, 1, 1, 1, 3, 4]]
    assert metric_values(table, every)["mrr"] == pytest.approx([0.8229], abs=5e-5)


@given(st.data())
def test_metric_values_equal_literal_metrics_with_ties(data):
    entities, asked = 7, data.draw(st.integers(1, 3))
    answers = [data.draw(st.integers(1, 4)) for _ in range(asked)]
    scores = [data.draw(st.lists(st.integers(0, 4), min_size=entities, max_size=entities)) for _ in answers]
    question = np.repeat(np.arange(asked), answers)
    counted = np.array(data.draw(st.lists(st.booleans(), min_size=len(question), max_size=len(question))))
    own = [(q, scores[q][i]) for q, count in enumerate(answers) for i in range(count)]
    optimistic = [1 + sum(s > mine for s in scores[q]) for q, mine in own]
    pessimistic = [sum(s >= mine for s in scores[q]) for q, mine in own]
    strict = [
        sum((s, -j) >= (scores[q][i], -i) for j, s in enumerate(scores[q]))
        for q, count in enumerate(answers)
        for i in range(count)
    ]
    table = prepare_answers(question, np.arange(len(question)), *map(np.array, ([strict], [optimistic], [pessimistic])))
    found = metric_values(table, counted)
    assert set(found) == set(METRICS)
    for metric, values in found.items():
        if counted.any():
            assert values.tolist() == pytest.approx([literal(scores, question, counted, metric)])
        else:
            assert np.isnan(values).all()


def test_divide_by_prediction_keeps_the_number_of_each_question():
    question = np.array([0, 0, 0, 0, 1, 1, 1])
    rank = np.array([1.0, 9, 3, 5, 2, 1, 8])
    test = np.array([False, True, False, True, True, False, False])
    present = divide_by_prediction(question, rank, test, False, np.random.default_rng(0))
    assert present.tolist() == [True, False, True, False, False, True, False]
    missing = divide_by_prediction(question, rank, test, True, np.random.default_rng(0))
    assert missing.tolist() == [False, True, False, True, False, False, True]


def test_divide_by_prediction_draws_among_equal_ranks():
    question, test = np.zeros(400, int), np.arange(400) < 100
    chosen = divide_by_prediction(question, np.ones(400), test, False, np.random.default_rng(3))
    assert chosen.sum() == 100
    assert 10 < chosen[:100].sum() < 45  # 25 expected: not the first ones


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=30))
def test_correlation_equals_pearson_where_both_change(pairs):
    missing, predicted = np.array(pairs).T
    if missing.std() and predicted.std():
        assert correlation(missing, predicted) == pytest.approx(np.corrcoef(missing, predicted)[0, 1])
    else:
        assert np.isnan(correlation(missing, predicted))


def test_slopes_of_a_curve_that_bends_in_the_middle():
    full = np.array([0.0, 0.2, 0.4, 0.6, 0.8])
    found = slopes(full, np.array([0.0, 0.2, 0.4, 0.45, 0.5]))
    assert (found.first, found.last, found.fall) == pytest.approx((1.0, 0.25, 0.75))


def test_slopes_between_checkpoints_in_any_order_and_of_none():
    found = slopes(np.array([0.8, 0.0]), np.array([0.4, 0.0]))
    assert (found.first, found.last, found.fall) == pytest.approx((0.5, 0.5, 0.0))
    assert np.isnan(slopes(np.array([0.3, 0.3]), np.array([0.1, 0.2])).fall)


def test_inverted_pairs_only_of_different_systems():
    owner = [0, 0, 1, 1]
    full = np.array([0.1, 0.5, 0.3, 0.5])
    sparse = np.array([0.3, 0.2, 0.25, 0.4])
    # pairs across: (0, 2) .1 < .3 shown .3 > .25: inverted; (0, 3) right; (1, 2) .5 > .3 shown .2 < .25: inverted
    # (1, 3) are equal on the full set
    found = inverted_pairs(owner, full, sparse)
    assert (found.inverted, found.compared) == (2, 3)
    assert found.largest == pytest.approx(0.2)
    assert np.isnan(inverted_pairs([0], full[:1], sparse[:1]).share)
