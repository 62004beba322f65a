"""Decisions, thresholds and average precision against scikit-learn and against every threshold tried in turn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from evaluation.classification.kernel import average_precision, best_threshold, decisions, halves, relation_thresholds

scored = st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=1, max_size=25)
SHARES = {"f1": metrics.f1_score, "precision": metrics.precision_score, "recall": metrics.recall_score}


def arrays(pairs):
    score, positive = zip(*pairs, strict=True)
    return np.array(score, dtype=float), np.array(positive, dtype=bool)


@given(pairs=scored, threshold=st.integers(-1, 7))
def test_decisions_equal_scikit_learn(pairs, threshold):
    score, positive = arrays(pairs)
    called = score >= threshold
    found = decisions(called, positive)
    assert found.n == len(pairs)
    assert found.accuracy == pytest.approx(metrics.accuracy_score(positive, called))
    for name, of in SHARES.items():
        assert getattr(found, name) == pytest.approx(of(positive, called, zero_division=0)), name


@given(pairs=scored)
def test_average_precision_equals_scikit_learn_with_ties(pairs):
    score, positive = arrays(pairs)
    if positive.any():
        assert average_precision(score, positive) == pytest.approx(metrics.average_precision_score(positive, score))
    else:
        assert np.isnan(average_precision(score, positive))


@given(pairs=scored)
def test_best_threshold_is_the_lowest_of_the_most_accurate(pairs):
    score, positive = arrays(pairs)
    levels = np.unique(score)
    tried = [levels[0], *((levels[1:] + levels[:-1]) / 2), np.inf]
    accuracy = [float(((score >= t) == positive).mean()) for t in tried]
    found = best_threshold(score, positive)
    best = tried[accuracy.index(max(accuracy))]
    assert ((score >= found) == (score >= best)).all()
    assert found == best or (best == np.inf and found > levels[-1])


def test_thresholds_lie_between_scores_and_at_the_ends():
    score = np.array([1.0, 2.0, 4.0])
    assert best_threshold(score, np.array([False, True, True])) == 1.5
    assert best_threshold(score, np.array([False, False, True])) == 3.0
    assert best_threshold(score, np.array([True, True, True])) == 1.0
    assert 4.0 < best_threshold(score, np.array([False, False, False])) < 4.1
    assert np.isnan(best_threshold(np.zeros(0), np.zeros(0, bool)))


@given(seed=st.integers(0, 10**6), least=st.integers(1, 8))
def test_relation_thresholds_are_those_of_each_relation_alone_or_of_all(seed, least):
    rng = np.random.default_rng(seed)
    n, relations = int(rng.integers(1, 40)), 5
    score, positive, relation = rng.integers(8, size=n).astype(float), rng.random(n) < 0.5, rng.integers(4, size=n)
    found = relation_thresholds(score, positive, relation, relations, least)
    for name in range(relations):
        here = relation == name
        own = bool(here.sum() >= least and positive[here].any() and not positive[here].all())
        of = here if own else np.ones(n, bool)
        assert found.own[name] == own
        assert found.value[name] == best_threshold(score[of], positive[of])


def test_no_decisions_have_no_value():
    assert np.isnan(decisions(np.zeros(0, bool), np.zeros(0, bool)).accuracy)


@given(questions=st.lists(st.integers(0, 9), min_size=1, max_size=40), seed=st.integers(0, 100))
def test_halves_keep_questions_together_and_are_equally_large(questions, seed):
    question = np.array(questions)
    first = halves(question, np.random.default_rng(seed))
    chosen, other = set(question[first].tolist()), set(question[~first].tolist())
    assert not chosen & other
    assert len(chosen) == len(set(questions)) // 2
