import dataclasses
from math import log2
from pathlib import Path

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from evaluation.measures.label_state import LabelState
from evaluation.measures.prepared import prepare
from evaluation.measures.rank_table import without_known
from evaluation.measures.registry import parse_measure
from evaluation.measures.values import means, values

TREC = {
    "map": "map", "map@3": "map_cut_3", "ndcg": "ndcg", "ndcg@3": "ndcg_cut_3", "p@3": "P_3", "p@1": "P_1",
    "recall@3": "recall_3", "success@3": "success_3", "rprec": "Rprec", "bpref": "bpref", "infap": "infAP",
    "macro_mrr": "recip_rank", "map@1": "map_cut_1", "ndcg@1": "ndcg_cut_1",
}  # fmt: skip
ASKED = {
    "map", "map_cut.1,3", "ndcg", "ndcg_cut.1,3", "P.1,3", "recall.3", "success.3", "Rprec", "bpref", "infAP",
    "recip_rank",
}  # fmt: skip
FORMULAS = {
    "ndcg@2": "mean over q of DCG / ideal DCG, DCG = sum over answers at position r <= 2 of 1 / log2(r + 1), "
    "ideal DCG = sum over i = 1 … min(n_q, 2) of 1 / log2(i + 1)",
    "bpref": "mean over q of (1 / n_q) * sum over returned answers of "
    "1 - min(negatives above, n_q) / max(1, min(negatives, n_q)); without negatives: (returned answers) / n_q",
    "infap": "mean over q of (1 / n_q) * sum over answers at r of (1 + pooled above * precision above) / r, "
    "precision above = (answers above + 0.00001) / (answers above + negatives above + 0.00002)",
}
DOCS = Path(__file__).resolve().parents[3] / "docs" / "measures.md"
seeds = st.integers(0, 10**6)


def judge(state, assumed):
    """trec_eval's relevance: 1 answer, 0 judged nonrelevant, -1 pooled and unjudged, None not pooled."""
    if state == LabelState.ASSUMED_NEGATIVE:
        return 0 if assumed else -1
    return {LabelState.POSITIVE: 1, LabelState.NEGATIVE: 0, LabelState.UNJUDGED: -1}.get(LabelState(state))


def trec_eval(w, system, known, assumed, returned):
    qrels, run = {}, {}
    for q, e, t in w.rows:
        grade = judge(w.state[t], assumed)
        if grade is not None and not known[t]:
            qrels.setdefault(f"q{q}", {})[f"e{e}"] = grade
    for q in w.answers():
        ranking = w.ranking(system, q, known)[:returned]
        run[f"q{q}"] = {f"e{e}": -float(i + 1) for i, e in enumerate(ranking)}
    return pytrec_eval.RelevanceEvaluator(qrels, ASKED).evaluate(run)


@given(seed=seeds, assumed=st.booleans(), drop_known=st.booleans())
def test_list_measures_equal_trec_eval(world, seed, assumed, drop_known):
    w = world(seed)
    known = w.known & drop_known
    w.state[known] = LabelState.NOT_POOLED
    table = without_known(w.table, known)
    found = values(prepare(table), w.state, list(TREC), assumed)
    for s in range(table.systems):
        reference = trec_eval(w, s, known, assumed, None)
        for ours, theirs in TREC.items():
            asked = found[ours].unit_question
            assert set(reference) == {f"q{q}" for q in asked}
            expected = [reference[f"q{q}"][theirs] for q in asked]
            np.testing.assert_allclose(found[ours].per_unit[s], expected, atol=1e-6, err_msg=ours)


@given(seed=seeds, returned=st.integers(1, 6))
def test_list_measures_equal_trec_eval_on_runs_that_stop_early(world, seed, returned):
    w = world(seed)
    ranks = np.where(w.table.strict <= returned, w.table.strict, 0)
    table = dataclasses.replace(w.table, strict=ranks, optimistic=ranks, pessimistic=ranks)
    found = values(prepare(table), w.state, list(TREC))
    for s in range(table.systems):
        reference = trec_eval(w, s, np.zeros(len(w.state), dtype=bool), True, returned)
        for ours, theirs in TREC.items():
            expected = [reference[f"q{q}"][theirs] for q in found[ours].unit_question]
            np.testing.assert_allclose(found[ours].per_unit[s], expected, atol=1e-6, err_msg=ours)


@given(seed=seeds)
def test_list_measures_equal_their_definitions(world, seed):
    w = world(seed)
    found = values(prepare(w.table), w.state, ["map@4", "ndcg@4", "bpref", "judged@4", "judged@50", "p@4"])
    nothing = np.zeros(len(w.state), dtype=bool)
    label = {(q, e): LabelState(w.state[t]) for q, e, t in w.rows}
    judged = (LabelState.NEGATIVE, LabelState.ASSUMED_NEGATIVE)
    for s in range(w.table.systems):
        for i, q in enumerate(found["map@4"].unit_question):
            order = [label.get((q, e), LabelState.NOT_POOLED) for e in w.ranking(s, q, nothing)]
            places = [r for r, x in enumerate(order, 1) if x == LabelState.POSITIVE]
            n = len(places)
            bad = sum(x in judged for x in order)
            expected = {
                "map@4": sum((j / r) for j, r in enumerate(places, 1) if r <= 4) / n,
                "ndcg@4": sum(1 / log2(r + 1) for r in places if r <= 4)
                / sum(1 / log2(r + 1) for r in range(1, min(n, 4) + 1)),
                "bpref": sum(
                    1 - min(sum(x in judged for x in order[:r]), n) / min(bad, n) if bad else 1 for r in places
                )
                / n,
                "judged@4": sum(x in (*judged, LabelState.POSITIVE) for x in order[:4]) / min(4, len(order)),
                "judged@50": sum(x in (*judged, LabelState.POSITIVE) for x in order) / len(order),
                "p@4": sum(r <= 4 for r in places) / 4,
            }
            for name, value in expected.items():
                assert found[name].per_unit[s, i] == pytest.approx(value, abs=1e-12), name


@given(seed=seeds, returned=st.integers(1, 9))
def test_written_formulas_are_what_is_computed(world, seed, returned):
    """The formulas of docs/measures.md, term by term: smoothing, the cut of the ideal, lists without negatives."""
    w = world(seed)
    ranks = np.where(w.table.strict <= returned, w.table.strict, 0)
    table = dataclasses.replace(w.table, strict=ranks, optimistic=ranks, pessimistic=ranks)
    found = values(prepare(table), w.state, list(FORMULAS))
    nothing = np.zeros(len(w.state), dtype=bool)
    label = {(q, e): LabelState(w.state[t]) for q, e, t in w.rows}
    is_judged_negative = {LabelState.NEGATIVE, LabelState.ASSUMED_NEGATIVE}.__contains__
    for s in range(table.systems):
        for i, q in enumerate(found["bpref"].unit_question):
            order = [label.get((q, e), LabelState.NOT_POOLED) for e in w.ranking(s, q, nothing)]
            at = [r for r, x in enumerate(order, 1) if x == LabelState.POSITIVE]
            n, negatives = len(at), sum(map(is_judged_negative, order))
            at = [r for r in at if r <= returned]
            above = {r: sum(map(is_judged_negative, order[:r])) for r in at}
            pooled = {r: sum(x != LabelState.NOT_POOLED for x in order[: r - 1]) for r in at}
            precision = {r: (j + 0.00001) / (j + above[r] + 0.00002) for j, r in enumerate(at)}
            ideal = sum(1 / log2(j + 1) for j in range(1, min(n, 2) + 1))
            expected = {
                "ndcg@2": sum(1 / log2(r + 1) for r in at if r <= 2) / ideal,
                "bpref": sum(1 - min(above[r], n) / max(1, min(negatives, n)) for r in at) / n,
                "infap": sum((1 + pooled[r] * precision[r]) / r for r in at) / n,
            }
            if not negatives:
                assert expected["bpref"] == len(at) / n
            for name, value in expected.items():
                assert found[name].per_unit[s, i] == pytest.approx(value, abs=1e-12), name


def test_formulas_are_written_as_they_are_computed():
    text = DOCS.read_text(encoding="utf-8")
    for name, formula in FORMULAS.items():
        assert parse_measure(name).formula == formula
        listed = parse_measure(name.replace("@2", "@20")).formula
        assert f"    {listed}\n" in text


def test_negative_labels_reach_bpref_and_infap(world):
    """The published study's bpref equals its recall@1000 and its infAP its MAP: its negatives were lost.

    infAP differs from MAP only where the pool holds unjudged triples: with a fully judged pool they agree.
    """
    w = world(14)
    third = np.arange(len(w.state)) % 3
    w.state[:] = np.choose(third, [LabelState.POSITIVE, LabelState.NEGATIVE, LabelState.UNJUDGED])
    names = ["bpref", "recall@1000", "infap", "map"]
    prepared = prepare(w.table)
    found = means(prepared, w.state, names)
    assert (found["bpref"] < found["recall@1000"]).all()
    assert (np.abs(found["infap"] - found["map"]) > 1e-3).all()
    lost = means(prepared, np.where(third == 1, LabelState.NOT_POOLED, w.state).astype(np.int8), names)
    np.testing.assert_allclose(lost["bpref"], lost["recall@1000"])
    assert (np.abs(lost["infap"] - found["infap"]) > 1e-3).all()
    full = means(prepared, np.where(third == 2, LabelState.NEGATIVE, w.state).astype(np.int8), names)
    np.testing.assert_allclose(full["infap"], full["map"], atol=1e-4)


def test_assumed_negatives_count_as_judged_only_when_asked(world):
    w = world(14)
    w.state[:] = np.where(np.arange(len(w.state)) % 3 == 0, LabelState.POSITIVE, LabelState.ASSUMED_NEGATIVE)
    prepared = prepare(w.table)
    with_them = means(prepared, w.state, ["judged@3", "bpref"], assumed_is_judged=True)
    without = means(prepared, w.state, ["judged@3", "bpref"], assumed_is_judged=False)
    assert (with_them["judged@3"] > without["judged@3"]).all()
    assert without["bpref"].tolist() == [1.0] * w.table.systems
    assert (with_them["bpref"] < 1.0).all()


def test_list_measures_without_an_answer_are_undefined(world):
    w = world(2)
    found = means(prepare(w.table), np.zeros_like(w.state), [*TREC, "judged@3"])
    assert all(np.isnan(mean).all() for mean in found.values())
