"""Label sets: one state for each triple of the table, by key."""

from __future__ import annotations

from collections import Counter

import pytest

from annotation.models import Judgement
from evaluation.domain.labelset import label_set
from evaluation.domain.qrels import freeze_qrels
from evaluation.domain.table import EvaluationError, pool_table
from evaluation.kernels.state import LabelState
from pooling.domain.graph import open_graph
from pooling.models import Pool
from tests.factories import judge

Triple = tuple[int, int, int]


def states(pool: Pool, key: str) -> dict[Triple, LabelState]:
    table = pool_table(pool)
    state = label_set(pool, table, key).state
    return {tuple(t): LabelState(s) for t, s in zip(table.triples.tolist(), state.tolist(), strict=True)}


def expected(pool: Pool, deepest: int = 1000) -> dict[Triple, LabelState]:
    """By the words: seeds positive; a label beats a filter; undecided is unjudged; other test triples unpooled."""
    test = map(tuple, open_graph(pool.graph).test.tolist())
    found = dict.fromkeys(test, LabelState.NOT_POOLED)
    verdicts = dict(pool.judgements.values_list("triple_id", "verdict"))
    by_verdict = {
        "positive": LabelState.POSITIVE, "negative": LabelState.NEGATIVE, "undecided": LabelState.UNJUDGED,
    }  # fmt: skip
    for row in pool.triples.all():
        state = LabelState.ASSUMED_NEGATIVE if row.reason else LabelState.UNJUDGED
        state = by_verdict[verdicts[row.pk]] if row.pk in verdicts else state
        found[row.head, row.relation, row.tail] = state if row.depth <= deepest else LabelState.UNJUDGED
    found |= dict.fromkeys(pool.seeds.values_list("head", "relation", "tail"), LabelState.POSITIVE)
    return found


def test_current_labels(labelled: Pool):
    found = states(labelled, "current")
    assert found == expected(labelled)
    assert set(found.values()) == set(LabelState)


def test_a_label_beats_a_filter_either_way(labelled: Pool):
    found = states(labelled, "current")
    filtered = {
        found[row.head, row.relation, row.tail]
        for row in labelled.triples.exclude(reason="").filter(judgement__isnull=False)
    }
    assert filtered == {LabelState.POSITIVE, LabelState.NEGATIVE}


def test_seeds_alone(labelled: Pool):
    seeds = set(labelled.seeds.values_list("head", "relation", "tail"))
    found = states(labelled, "seeds")
    assert {t for t, s in found.items() if s == LabelState.POSITIVE} == seeds
    assert set(found.values()) == {LabelState.POSITIVE, LabelState.NOT_POOLED}


def test_the_full_test_set(labelled: Pool):
    test = set(map(tuple, open_graph(labelled.graph).test.tolist()))
    found = states(labelled, "full-test")
    assert {t for t, s in found.items() if s == LabelState.POSITIVE} == test
    assert set(found.values()) == {LabelState.POSITIVE, LabelState.NOT_POOLED}


@pytest.mark.parametrize("depth", [0, 1, 3, 5, 99])
def test_labels_to_a_depth(labelled: Pool, depth: int):
    found = states(labelled, f"depth:{depth}")
    assert found == expected(labelled, deepest=depth)
    if depth == 0:
        positive = {t for t, s in found.items() if s == LabelState.POSITIVE}
        assert positive == set(labelled.seeds.values_list("head", "relation", "tail"))


def test_frozen_qrels_do_not_follow_the_labels(labelled: Pool):
    freeze_qrels(labelled, "v1")
    before = states(labelled, "qrels:v1")
    assert before == states(labelled, "current")
    triple = labelled.triples.get(pk=Judgement.objects.filter(verdict="negative").values("triple_id")[:1])
    judge(triple, "positive")
    assert states(labelled, "qrels:v1") == before
    changed = {t for t, s in states(labelled, "current").items() if s != before[t]}
    assert changed == {(triple.head, triple.relation, triple.tail)}


def test_counts_are_those_of_the_states(labelled: Pool):
    table = pool_table(labelled)
    count = Counter(states(labelled, "current").values())
    assert label_set(labelled, table, "current").counts() == {
        "positive": count[LabelState.POSITIVE], "negative": count[LabelState.NEGATIVE],
        "assumed_negative": count[LabelState.ASSUMED_NEGATIVE], "unjudged": count[LabelState.UNJUDGED],
    }  # fmt: skip
    total = labelled.seeds.count() + labelled.triples.count()
    assert sum(label_set(labelled, table, "current").counts().values()) == total


@pytest.mark.parametrize(
    "key", ["", "all", "depth", "depth:", "depth:x", "depth:-1", "depth:²", "qrels:", "Seeds"]
)
def test_an_unknown_key_is_refused_with_those_that_there_are(pool: Pool, key: str):
    with pytest.raises(EvaluationError) as caught:
        label_set(pool, pool_table(pool), key)
    assert str(caught.value) == (
        f"Unknown label set {key!r}: give seeds, current, full-test, depth:D or qrels:NAME."
    )


def test_unknown_qrels_are_refused_with_those_that_there_are(pool: Pool):
    freeze_qrels(pool, "v1")
    with pytest.raises(EvaluationError) as caught:
        label_set(pool, pool_table(pool), "qrels:v2")
    assert str(caught.value) == "Pool p has no qrels 'v2'. Qrels: v1."
