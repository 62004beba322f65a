import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.measures.label_state import LabelState
from evaluation.measures.prepared import prepare
from evaluation.measures.question_sums import question_sums
from evaluation.measures.rank_table import RankTable
from evaluation.measures.values import GroupMeans, Values, values
from evaluation.statistics import groups
from pooling.pools.kernels.shares import shares

NAMES = ["micro_mr", "micro_mrr", "macro_hits@3", "map@20"]
seeds = st.integers(0, 10**6)


def two_relation_table(w):
    """The world's table with relations that differ: those of its triples (the shared table has zeros)."""
    of_triple = np.arange(w.state.size) % 2
    relation = np.zeros(w.questions, dtype=np.int32)
    for q, _, t in w.rows:
        relation[q] = of_triple[t]
    return RankTable(**{**vars(w.table), "relation": relation})


def by_definition(value, group_of_unit, size):
    """Means [systems][groups], unit by unit."""
    found = []
    for per_unit in value.per_unit:
        units = [[v for v, g in zip(per_unit, group_of_unit, strict=True) if g == group] for group in range(size)]
        found.append([sum(u) / len(u) if u else np.nan for u in units])
    return found


@given(seed=seeds)
def test_group_means_are_means_of_the_units_of_each_group(world, seed):
    w = world(seed)
    table, category = two_relation_table(w), np.array([1, -1])
    cases = [
        (groups.by_side(table), lambda q: q % 2),
        (groups.by_relation(table, ["likes", "knows"]), lambda q: int(table.relation[q])),
        (groups.by_category(table, category, ["1-1", "N-N"]), lambda q: [1, -1][table.relation[q]]),
        (
            groups.by_side_and_category(table, category, ["1-1", "N-N"]),
            lambda q: [2 * (q % 2) + 1, -1][table.relation[q]],
        ),
    ]
    for name, value in values(prepare(table), w.state, NAMES).items():
        for grouping, of in cases:
            unit_group = [of(q) for q in value.unit_question.tolist()]
            found = groups.group_means(value, grouping)
            expected = by_definition(value, unit_group, len(grouping.names))
            np.testing.assert_allclose(found.mean, expected, rtol=1e-12, err_msg=name)
            assert found.count.tolist() == [unit_group.count(g) for g in range(len(grouping.names))]


def test_side_and_category_groups_are_named_in_their_order(world):
    table = world(0).table
    named = groups.by_side_and_category(table, np.array([0, 1]), ["1-1", "N-N"])
    assert named.names == ("tail 1-1", "tail N-N", "head 1-1", "head N-N")


@given(seed=seeds)
def test_popularity_is_of_each_answer_and_of_the_most_popular_of_a_question(world, seed):
    w = world(seed)
    degree = np.random.default_rng(seed).integers(0, 8, size=9)
    grouping = groups.by_popularity(w.table, w.state, degree, edges=(1, 4))
    assert grouping.names == ("0-1", "2-4", "over 4")

    def of(entity):
        return 0 if degree[entity] <= 1 else 1 if degree[entity] <= 4 else 2

    answers = w.answers()
    for name, value in values(prepare(w.table), w.state, NAMES).items():
        if value.unit == "answer":
            expected = [of(w.rows[row][1]) for row in value.unit_row.tolist()]
        else:
            expected = [max(of(e) for e in answers[q]) for q in value.unit_question.tolist()]
        assert grouping.of_units(value).tolist() == expected, name
        means = groups.group_means(value, grouping).mean
        np.testing.assert_allclose(means, by_definition(value, expected, 3), rtol=1e-12)
    unasked = [q for q in range(w.questions) if q not in answers]
    assert (grouping.of_question[unasked] == -1).all()


def test_undefined_unit_leaves_only_its_group_of_its_system_undefined():
    value = Values(
        np.array([[1.0, np.nan, 3.0], [1.0, 2.0, 3.0]]), "question", np.array([0, 1, 2], np.int32), None, True
    )
    found = groups.group_means(value, groups.Groups(("a", "b", "empty"), np.array([0, 1, 0])))
    np.testing.assert_array_equal(found.mean, [[2, np.nan, np.nan], [2, 2, np.nan]])
    assert found.count.tolist() == [2, 1, 0]


def test_group_means_are_finished_like_the_mean():
    value = Values(np.log([[2.0, 8.0, 5.0]]), "question", np.arange(3, dtype=np.int32), None, False, np.exp)
    found = groups.group_means(value, groups.Groups(("a", "b"), np.array([0, 0, 1])))
    np.testing.assert_allclose(found.mean, [[4, 5]], rtol=1e-14)


def amri_by_definition(w, answers):
    """1 - (MR - 1) / (E[MR] - 1) per system over some answers: their rows, and their filtered ranks."""
    answered = w.answers()
    left = [w.table.candidates[w.rows[row][0]] - len(answered[w.rows[row][0]]) + 1 for row, _ in answers]
    expected = np.mean([(n + 1) / 2 for n in left]) if answers else 1
    if expected == 1:  # nothing to choose
        return [np.nan] * 3
    return [1 - (np.mean([ranks[s] for _, ranks in answers]) - 1) / (expected - 1) for s in range(3)]


@given(seed=seeds)
def test_chance_is_that_of_each_group_and_not_of_all(world, seed):
    w = world(seed)
    degree = np.random.default_rng(seed).integers(0, 8, size=9)
    found = values(prepare(w.table), w.state, ["micro_mr", "amri"])
    ranked = list(zip(found["amri"].unit_row.tolist(), found["micro_mr"].per_unit.T.tolist(), strict=True))
    for grouping in (groups.by_side(w.table), groups.by_popularity(w.table, w.state, degree, (2, 4))):
        means = groups.group_means(found["amri"], grouping)
        group = grouping.of_units(found["amri"])
        for g in range(len(grouping.names)):
            members = [answer for answer, of in zip(ranked, group, strict=True) if of == g]
            np.testing.assert_allclose(means.mean[:, g], amri_by_definition(w, members), atol=1e-12)
    kept = np.arange(w.questions) % 2 == 1
    some = [answer for answer in ranked if kept[w.rows[answer[0]][0]]]
    sums = question_sums(found["amri"]).keep(kept)
    np.testing.assert_allclose(sums.mean(), amri_by_definition(w, some), atol=1e-12)
    twice = sums.keep(np.arange(w.questions) % 3 == 0)
    some = [answer for answer in some if w.rows[answer[0]][0] % 3 == 0]
    np.testing.assert_allclose(twice.mean(), amri_by_definition(w, some), atol=1e-12)


@given(seed=seeds)
def test_relation_counts_are_of_the_flagged_triples(world, seed):
    w = world(seed)
    w.rows = [row for row in w.rows if row[2] != 0]  # triple 0 has no row, so its relation is not known
    w.table = w.make_table(np.zeros(w.state.size, dtype=bool))
    table, flagged = w.table, w.state == LabelState.POSITIVE
    relation = np.arange(w.questions, dtype=np.int32) // 2
    table = RankTable(**{**vars(table), "relation": relation})
    # in the world a triple's two questions get different numbers: count by its last row, as any row would do
    its = {t: int(relation[q]) for q, _, t in w.rows}
    found = groups.relation_counts(prepare(table), flagged, w.questions)
    expected = [sum(its.get(t) == r for t in np.flatnonzero(flagged)) for r in range(w.questions)]
    assert found.tolist() == expected


@given(seed=seeds)
def test_weights_of_the_units_give_back_the_plain_mean(world, seed):
    w = world(seed)
    table = two_relation_table(w)
    for value in values(prepare(table), w.state, ["micro_mrr", "map@20"]).values():
        by_relation = groups.group_means(value, groups.by_relation(table, ["likes", "knows"]))
        found = groups.reweighted(by_relation, shares(by_relation.count))
        np.testing.assert_allclose(found.value, value.mean(), rtol=1e-12, equal_nan=True)
        assert found.dropped == pytest.approx(0, abs=1e-12) if value.n else np.isnan(found.dropped)


def test_reweighting_drops_relations_without_units_and_says_how_much():
    means = GroupMeans(np.array([[0.2, np.nan, 0.6], [0.5, np.nan, np.nan]]), np.array([4, 0, 2]))
    found = groups.reweighted(means, np.array([0.2, 0.5, 0.3]))
    assert found.value[0] == pytest.approx((0.2 * 0.2 + 0.3 * 0.6) / 0.5, rel=1e-14)
    assert np.isnan(found.value[1])  # an undefined mean that has weight
    assert found.dropped == pytest.approx(0.5)
    without = groups.reweighted(means, np.array([0.5, 0.5, 0.0]))
    assert without.value.tolist() == [0.2, 0.5]  # no weight, no harm
    nothing = groups.reweighted(means, np.array([0.0, 1.0, 0.0]))
    assert np.isnan(nothing.value).all() and nothing.dropped == 1.0


def test_weight_that_is_dropped_is_never_below_zero():
    counts = np.array([0, 2, 0, 3, 0, 4, 0, 5])
    weight = shares(counts)
    assert weight[counts > 0].sum() > weight.sum()  # by the order of summation
    found = groups.reweighted(GroupMeans(np.ones((2, 8)), counts), weight)
    assert found.dropped == 0.0


def test_boxes_leave_out_small_relations_and_mark_what_lies_beyond_the_whiskers():
    mean = np.array([[0.1, 0.2, 0.3, 0.4, 5.0, 9.0], [np.nan, 1.0, 1.0, 1.0, 1.0, 9.0]])
    found = groups.boxes(GroupMeans(mean, np.array([5, 5, 5, 5, 5, 4])), minimum=5)
    assert found.relations.tolist() == [5, 4]
    np.testing.assert_allclose(found.q1, [0.2, 1])
    np.testing.assert_allclose(found.median, [0.3, 1])
    np.testing.assert_allclose(found.q3, [0.4, 1])
    np.testing.assert_allclose(found.low, [0.1, 1])
    np.testing.assert_allclose(found.high, [0.4, 1])  # 5.0 lies above 0.4 + 1.5 * 0.2
    assert found.outside.tolist() == [[False] * 4 + [True, False], [False] * 6]


@given(seed=seeds)
def test_boxes_are_those_of_matplotlib_s_definition(seed):
    rng = np.random.default_rng(seed)
    mean = rng.choice([np.nan, *rng.random(5)], size=(3, 12))
    count = rng.integers(0, 3, size=12)
    mean[:, count == 0] = np.nan
    found = groups.boxes(GroupMeans(mean, count), minimum=2)
    for s in range(3):
        data = [v for v, n in zip(mean[s], count, strict=True) if n >= 2 and np.isfinite(v)]
        assert found.relations[s] == len(data)
        if not data:
            assert np.isnan([found.low[s], found.q1[s], found.median[s], found.q3[s], found.high[s]]).all()
            continue
        q1, median, q3 = np.percentile(data, [25, 50, 75])
        inside = [v for v in data if q1 - 1.5 * (q3 - q1) <= v <= q3 + 1.5 * (q3 - q1)]
        expected = [min(inside), q1, median, q3, max(inside)]
        np.testing.assert_allclose(
            [found.low[s], found.q1[s], found.median[s], found.q3[s], found.high[s]], expected, rtol=1e-12
        )
        assert found.outside[s].sum() == len(data) - len(inside)
