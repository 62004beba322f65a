import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.measures.label_state import LabelState
from evaluation.measures.prepared import prepare
from evaluation.measures.registry import REGISTRY
from evaluation.measures.values import means, values
from tests.evaluation.measures.trec import random_lists

MICRO = ["condensed_micro_mr", "condensed_micro_mrr", "condensed_micro_hits@1", "condensed_micro_hits@3"]
MACRO = ["condensed_macro_mr", "condensed_macro_mrr", "condensed_macro_hits@1", "condensed_success@3"]
seeds = st.integers(0, 10**6)


def judged_candidates(w, question, assumed):
    """Answers and judged negatives: the rest leaves the list."""
    states = {LabelState.POSITIVE, LabelState.NEGATIVE} | ({LabelState.ASSUMED_NEGATIVE} if assumed else set())
    return [e for q, e, t in w.rows if q == question and w.state[t] in states]


@given(seed=seeds, assumed=st.booleans())
def test_condensed_micro_rank_equals_pykeen_ranks_among_judged_candidates(world, seed, assumed):
    w = world(seed)
    found = values(prepare(w.table), w.state, MICRO, assumed)
    answers = w.answers()
    units = [(q, e) for q, e, t in w.rows if w.state[t] == LabelState.POSITIVE]
    for s in range(w.table.systems):
        ranks = []
        for q, e in units:
            score = w.scores[s, q]
            left = [c for c in judged_candidates(w, q, assumed) if c == e or c not in answers[q]]
            optimistic = 1 + sum(score[c] > score[e] for c in left)
            ranks.append((optimistic + sum(score[c] >= score[e] for c in left)) / 2)
        assert found["condensed_micro_mr"].per_unit[s].tolist() == ranks
        assert found["condensed_micro_mrr"].per_unit[s].tolist() == [1 / rank for rank in ranks]
        for k in (1, 3):
            assert found[f"condensed_micro_hits@{k}"].per_unit[s].tolist() == [float(rank <= k) for rank in ranks]


@given(seed=seeds, assumed=st.booleans())
def test_condensed_macro_and_list_measures_equal_the_shortened_lists(world, seed, assumed):
    w = world(seed)
    found = values(prepare(w.table), w.state, [*MACRO, "condensed_map", "condensed_p@3"], assumed)
    nothing, answers = np.zeros(len(w.state), dtype=bool), w.answers()
    for s in range(w.table.systems):
        for i, q in enumerate(sorted(answers)):
            judged = judged_candidates(w, q, assumed)
            shortened = [e for e in w.ranking(s, q, nothing) if e in judged]
            places = [r for r, e in enumerate(shortened, 1) if e in answers[q]]
            expected = {
                "condensed_macro_mr": places[0],
                "condensed_macro_mrr": 1 / places[0],
                "condensed_macro_hits@1": float(places[0] == 1),
                "condensed_success@3": float(places[0] <= 3),
                "condensed_map": sum(j / r for j, r in enumerate(places, 1)) / len(places),
                "condensed_p@3": sum(r <= 3 for r in places) / 3,
            }
            for name, value in expected.items():
                assert found[name].per_unit[s, i] == pytest.approx(value, abs=1e-12), name


def test_condensed_equals_the_full_list_where_all_candidates_are_judged(world):
    """Only where everything was judged: elsewhere an answer moves up, never down."""
    w = world(14)
    prepared = prepare(w.table)
    full, condensed = (values(prepared, w.state, [n])[n] for n in ("macro_mr", "condensed_macro_mr"))
    assert (condensed.per_unit <= full.per_unit).all()
    assert (condensed.per_unit < full.per_unit).any()


def test_condensed_without_a_judged_negative_is_perfect(world):
    w = world(14)
    w.state[:] = np.where(np.arange(len(w.state)) % 2, LabelState.POSITIVE, LabelState.UNJUDGED)
    found = means(prepare(w.table), w.state, ["condensed_micro_mrr", "condensed_map", "condensed_rprec"])
    assert {name: mean.tolist() for name, mean in found.items()} == dict.fromkeys(found, [1.0] * w.table.systems)


def test_condensed_answer_that_the_run_did_not_return_scores_zero():
    lists = random_lists(3)
    lists.runs = [{q: [] for q in lists.questions}]
    found = values(
        prepare(lists.table()), lists.state(), ["condensed_micro_mrr", "condensed_map", "condensed_micro_mr"]
    )
    assert found["condensed_micro_mrr"].mean().tolist() == found["condensed_map"].mean().tolist() == [0.0]
    n = found["condensed_micro_mr"].n
    assert found["condensed_micro_mr"].reasons() == [
        f"the run did not return {n} of {n} answers; a mean rank needs all"
    ]


def test_every_family_of_ranks_but_these_has_a_variant():
    plain = {name for name in REGISTRY if not name.startswith("condensed_")}
    without = {name for name in plain if f"condensed_{name}" not in REGISTRY}
    of_whole_lists = {
        "set_p",
        "set_r",
        "set_f",
        "set_ap",
        "iprec",
        "num_ret",
        "num_rel_ret",
        "bpref",
        "infap",
        "judged",
    }
    assert without == of_whole_lists | {"amr", "amri", "adjusted_mrr", "z_mrr", "gmr"}
    assert all(REGISTRY[name].answers_only is False for name in REGISTRY if name.startswith("condensed_"))
