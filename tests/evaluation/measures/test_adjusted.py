"""Ranks of PyKEEN: all three rank types, and the adjusted ones, by its evaluator and by its metric classes."""

import dataclasses

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from pykeen.evaluation import RankBasedEvaluator
from pykeen.metrics import ranking

from evaluation.measures.adjusted import candidates_of_answers
from evaluation.measures.label_state import LabelState
from evaluation.measures.measure import NOTHING_TO_CHOOSE
from evaluation.measures.prepared import Labelled, prepare
from evaluation.measures.values import means, values

METRIC = {
    "amr": "AdjustedArithmeticMeanRank", "amri": "AdjustedArithmeticMeanRankIndex",
    "adjusted_mrr": "AdjustedInverseHarmonicMeanRank", "z_mrr": "ZInverseHarmonicMeanRank", "gmr": "GeometricMeanRank",
}  # fmt: skip
PLAIN = {"micro_mr": "ArithmeticMeanRank", "micro_mrr": "InverseHarmonicMeanRank"}
NAMES = list(METRIC)
seeds = st.integers(0, 10**6)
few = settings(max_examples=25)


def units(w):
    return [(q, e) for q, e, t in w.rows if w.state[t] == LabelState.POSITIVE]


def by_pykeen(w, system):
    """PyKEEN's evaluator on the raw scores, train facts and other answers filtered out as it does it: with nan."""
    evaluator = RankBasedEvaluator(metrics=[*METRIC.values(), *PLAIN.values()], add_defaults=False)
    evaluator.clear_on_finalize = False
    answers, nothing = w.answers(), np.zeros(len(w.state), dtype=bool)
    for q, e in units(w):
        left = [c for c in w.candidates(q, nothing) if c == e or c not in answers[q]]
        scores = torch.full((1, w.scores[system, q].size), torch.nan)
        scores[0, left] = torch.tensor(w.scores[system, q][left], dtype=torch.float32)
        target = "head" if w.table.side[q] else "tail"
        evaluator.process_scores_(None, target, scores, scores[:, [e]])
    return evaluator


def three_ranks(answers):
    """PyKEEN's three ranks of the answers, [systems, n], from the positions of the rank table; inf if not returned."""
    rows = answers.answer_row
    question, first = answers.table.question[rows], answers.table.optimistic[:, rows]
    returned = first > 0
    other = (question[:, None] == question) & ~np.eye(rows.size, dtype=bool) & returned[:, None, :]
    higher = np.sum(other & (first[:, None, :] < first[:, :, None]), axis=2)
    higher_or_equal = np.sum(other & (first[:, None, :] <= first[:, :, None]), axis=2)
    last = answers.table.pessimistic[:, rows]
    return {
        "optimistic": np.where(returned, first - higher, np.inf),
        "realistic": answers.micro_rank,
        "pessimistic": np.where(returned, last - higher_or_equal, np.inf),
    }


@few
@given(seed=seeds)
def test_filtered_ranks_equal_pykeen_optimistic_realistic_pessimistic(world, seed):
    w = world(seed)
    answers = Labelled(prepare(w.table), w.state)
    found = three_ranks(answers)
    side = w.table.side[answers.answer_question]
    for s in range(w.table.systems if units(w) else 0):
        evaluator = by_pykeen(w, s)
        for target, here in (("tail", side == 0), ("head", side == 1)):
            for kind, ours in found.items():
                theirs = evaluator.ranks[target, kind]
                assert ours[s, here].tolist() == [float(rank[0]) for rank in theirs], kind
            counts = [int(count[0]) for count in evaluator.num_candidates[target]]
            assert candidates_of_answers(answers)[here].tolist() == counts


@few
@given(seed=seeds)
def test_adjusted_ranks_equal_pykeen_evaluator(world, seed):
    w = world(seed)
    if not units(w):
        return
    found = means(prepare(w.table), w.state, [*METRIC, *PLAIN])
    for s in range(w.table.systems):
        result = by_pykeen(w, s).finalize()
        for ours, metric in (METRIC | PLAIN).items():
            expected = result.get_metric(f"both.realistic.{getattr(ranking, metric)().key}")
            if np.isfinite(found[ours][s]):  # where there is nothing to choose PyKEEN divides by 1e-12
                assert found[ours][s] == pytest.approx(expected, rel=1e-6, abs=1e-6), ours  # it holds float32
            else:
                assert candidates_of_answers(Labelled(prepare(w.table), w.state)).max() == 1


@few
@given(seed=seeds)
def test_adjusted_ranks_equal_pykeen_classes_on_our_ranks(world, seed):
    w = world(seed)
    answers = Labelled(prepare(w.table), w.state)
    candidates = candidates_of_answers(answers)
    if candidates.max(initial=0) <= 1:
        return
    found = values(prepare(w.table), w.state, NAMES)
    for name, metric in METRIC.items():
        expected = [getattr(ranking, metric)()(ranks, num_candidates=candidates) for ranks in answers.micro_rank]
        np.testing.assert_allclose(found[name].mean(), expected, rtol=1e-9, atol=1e-9, err_msg=name)
        assert found[name].reasons() == [""] * w.table.systems


@few
@given(seed=seeds)
def test_adjusted_ranks_of_some_questions_equal_pykeen_classes_on_these(world, seed):
    """A side has a chance level of its own: the mean of the whole set's values there would be another number."""
    w = world(seed)
    answers = Labelled(prepare(w.table), w.state)
    candidates = candidates_of_answers(answers)
    side = w.table.side[answers.answer_question]
    found = values(prepare(w.table), w.state, NAMES)
    for name, metric in METRIC.items():
        grouped = found[name].mean_by_unit(side, 3)
        assert grouped.count.tolist() == [np.count_nonzero(side == 0), np.count_nonzero(side == 1), 0]
        assert np.isnan(grouped.mean[:, 2]).all()
        for group in (0, 1):
            kept = found[name].keep(w.table.side == group)
            here = side == group
            assert kept.n == np.count_nonzero(here)
            if candidates[here].max(initial=0) <= 1:
                continue
            theirs = getattr(ranking, metric)()
            expected = [theirs(ranks[here], num_candidates=candidates[here]) for ranks in answers.micro_rank]
            np.testing.assert_allclose(kept.mean(), expected, rtol=1e-9, atol=1e-9, err_msg=name)
            np.testing.assert_allclose(grouped.mean[:, group], expected, rtol=1e-9, atol=1e-9, err_msg=name)


def test_adjusted_ranks_of_a_run_that_misses_an_answer(world):
    w = world(14)
    w.state[:] = LabelState.POSITIVE
    ranks = w.table.strict.copy()
    ranks[1, :2] = 0
    prepared = prepare(dataclasses.replace(w.table, strict=ranks, optimistic=ranks, pessimistic=ranks))
    found = values(prepared, w.state, NAMES)
    answers = Labelled(prepared, w.state)
    for name in ("amr", "amri", "gmr"):
        assert np.isnan(found[name].mean()).tolist() == [False, True, False]
        kind = "geometric mean rank" if name == "gmr" else "mean rank"
        why = f"the run did not return 2 of {ranks.shape[1]} answers; a {kind} needs all"
        assert found[name].reasons() == ["", why, ""]
    for name in ("adjusted_mrr", "z_mrr"):  # 1/rank of what is not returned is 0, in PyKEEN as here
        with np.errstate(divide="ignore"):
            expected = getattr(ranking, METRIC[name])()(answers.micro_rank[1], candidates_of_answers(answers))
        assert found[name].mean()[1] == pytest.approx(expected, rel=1e-9)


def test_adjusted_ranks_without_a_choice_are_undefined_with_the_reason(world):
    """One candidate each: the variance is 0 and chance is perfect; PyKEEN would give 1e12 or 0."""
    w = world(14)
    w.state[:] = LabelState.POSITIVE
    only = dataclasses.replace(w.table, candidates=np.bincount(w.table.question).astype(np.int32))
    row_by_row = np.arange(only.rows) - only.start[only.question] + 1
    ranks = np.tile(row_by_row, (only.systems, 1)).astype(np.int32)
    prepared = prepare(dataclasses.replace(only, strict=ranks, optimistic=ranks, pessimistic=ranks))
    found = values(prepared, w.state, NAMES)
    for name in ("amri", "adjusted_mrr", "z_mrr"):
        assert np.isnan(found[name].mean()).all()
        assert found[name].reasons() == [NOTHING_TO_CHOOSE] * w.table.systems
    for name in ("amr", "gmr"):
        assert found[name].mean().tolist() == [1.0] * w.table.systems
        assert found[name].reasons() == [""] * w.table.systems


def test_adjusted_ranks_refuse_more_answers_than_candidates(world):
    w = world(14)
    w.state[:] = LabelState.POSITIVE
    impossible = dataclasses.replace(w.table, candidates=np.zeros_like(w.table.candidates))
    with pytest.raises(ValueError, match="more answers than candidates"):
        values(prepare(impossible), w.state, ["amri"])
