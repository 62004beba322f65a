"""Set measures, interpolated precision and counts, from their words; test_trec.py compares them with trec_eval."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.measures.prepared import prepare
from evaluation.measures.rank_table import RankTable, without_known
from evaluation.measures.registry import parse_measure
from evaluation.measures.values import means, values
from evaluation.sections.wording import best_of
from tests.evaluation.measures.trec import random_lists

NAMES = ["set_p", "set_r", "set_f", "set_ap", "num_ret", "num_rel_ret", "iprec@20", "iprec@50", "iprec@100"]


@given(seed=st.integers(0, 10**6))
def test_set_measures_equal_their_words(seed):
    lists = random_lists(seed)
    found = values(prepare(lists.table()), lists.state(), NAMES)
    for s, run in enumerate(lists.runs):
        for i, q in enumerate(lists.evaluated()):
            docs, right = run.get(q, []), {doc for doc, grade in lists.qrels[q].items() if grade == 1}
            hits = [doc in right for doc in docs]
            precision = [sum(hits[: r + 1]) / (r + 1) for r in range(len(docs))]
            p, r = (sum(hits) / len(docs) if docs else 0.0), sum(hits) / len(right)
            expected = {
                "set_p": p,
                "set_r": r,
                "set_f": 2 * p * r / (p + r) if p + r else 0.0,
                "set_ap": p * r,
                "num_ret": len(docs),
                "num_rel_ret": sum(hits),
            }
            for percent in (20, 50, 100):
                needed = int(percent / 100 * len(right) + 0.9)
                reached = [of for at, of in enumerate(precision) if sum(hits[: at + 1]) >= needed]
                expected[f"iprec@{percent}"] = max(reached, default=0.0)
            for name, value in expected.items():
                assert found[name].per_unit[s, i] == pytest.approx(value, abs=1e-12), name


def test_a_table_without_lengths_returned_every_candidate(world):
    w = world(14)
    w.state[:] = 4
    found = values(prepare(w.table), w.state, ["num_ret", "set_r"])
    asked = found["num_ret"].unit_question
    assert found["num_ret"].per_unit.tolist() == [w.table.candidates[asked].tolist()] * w.table.systems
    assert (found["set_r"].per_unit == 1).all()


def test_known_triples_leave_the_lists_that_returned_them(world):
    w = world(14)
    known = np.arange(len(w.state)) % 2 == 0
    lists = np.array([w.table.candidates] * w.table.systems)
    strict = w.table.strict.copy()
    strict[0] = 0  # the first system returned none of the rows
    ranks = {"strict": strict, "optimistic": strict, "pessimistic": strict, "returned": lists}
    table = without_known(RankTable(**{**vars(w.table), **ranks}), known)
    assert table.returned is not None and table.returned[0].tolist() == w.table.candidates.tolist()
    assert table.returned[1].tolist() == table.candidates.tolist() != w.table.candidates.tolist()


def test_lengths_of_another_shape_are_refused(world):
    table = world(14).table
    with pytest.raises(ValueError, match="returned must be"):
        RankTable(**{**vars(table), "returned": np.zeros((1, 1), dtype=np.int32)})


def test_no_system_is_best_by_the_length_of_its_lists():
    assert best_of(np.array([1.0, 2.0]), parse_measure("num_ret")) == []
    assert best_of(np.array([1.0, 2.0]), parse_measure("num_rel_ret")) == [1]


def test_set_measures_without_an_answer_are_undefined(world):
    w = world(2)
    assert all(np.isnan(mean).all() for mean in means(prepare(w.table), np.zeros_like(w.state), NAMES).values())
