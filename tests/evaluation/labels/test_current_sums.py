"""Sums that follow the labels are those from scratch, and are not computed again without need."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.labels import current_sums
from evaluation.labels.current_sums import live_sums
from evaluation.labels.label_sets import label_set
from evaluation.labels.pool_table import pool_table
from evaluation.measures.live_sums import LiveSums
from evaluation.measures.question_sums import question_sums
from evaluation.measures.values import values
from pooling.models import Pool
from tests.factories import judge

NAMES = ("micro_mrr", "map@20", "bpref", "gmr", "amri")


@pytest.fixture(autouse=True)
def _nothing_kept():
    current_sums._kept.clear()


def assert_from_scratch(pool: Pool, assumed_is_judged: bool = True, questions: str = "grown") -> None:
    chosen = label_set(pool, pool_table(pool), "current", questions)
    found = chosen.sums(NAMES, assumed_is_judged)
    for name, value in chosen.values(NAMES, assumed_is_judged).items():
        expected = question_sums(value)
        assert found[name].question.tolist() == expected.question.tolist()
        assert found[name].counts.tolist() == expected.counts.tolist()
        np.testing.assert_allclose(found[name].sums, expected.sums, rtol=1e-12)
        np.testing.assert_allclose(found[name].mean(), value.mean(), rtol=1e-12)
        if value.chance is None:
            assert found[name].mean().tolist() == expected.mean().tolist()  # to the last digit


def test_sums_follow_every_label(labelled: Pool):
    assert_from_scratch(labelled)
    for verdict in ("positive", "negative", "undecided", "positive"):
        for triple in labelled.triples.order_by("-pk")[:3]:
            judge(triple, verdict)
        for assumed in (True, False):
            assert_from_scratch(labelled, assumed)
    assert_from_scratch(labelled, questions="original")


def test_a_label_touches_its_own_questions_only(labelled: Pool, monkeypatch):
    table, touched = pool_table(labelled), []
    update = LiveSums.update
    monkeypatch.setattr(LiveSums, "update", lambda self, state: touched.append(update(self, state)))
    label_set(labelled, table, "current").sums(NAMES)
    label_set(labelled, table, "current").sums(NAMES[:2])
    judge(labelled.triples.filter(judgement=None)[0], "positive")
    label_set(labelled, table, "current").sums(NAMES)
    assert touched == [0, 0, 2]


def test_few_tables_are_kept(labelled: Pool, monkeypatch):
    monkeypatch.setattr(current_sums, "KEPT", 2)
    chosen = label_set(labelled, pool_table(labelled), "current")
    tables = [chosen.prepared, pool_table(labelled).full_test, pool_table(labelled).full_test.only(chosen.state > 0)]
    for prepared in tables:
        found = live_sums(prepared, chosen.state, ["micro_mrr"], True)["micro_mrr"]
        np.testing.assert_allclose(found.mean(), values(prepared, chosen.state, ["micro_mrr"])["micro_mrr"].mean())
    assert [kept.prepared for kept in current_sums._kept.values()] == tables[1:]
