"""Groups of relations, sides and answers equal loops over the answers; weights and divergences their definitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import entropy, kendalltau

from evaluation.analyses.relations import ANALYSIS
from evaluation.measures.label_state import LabelState
from pooling.graphs.opening import open_graph
from pooling.models import Pool
from tests.evaluation.cases import (
    columns_of,
    context_of,
    nothing_returned,
    reciprocal_ranks,
    sections_of,
    tied_systems,
    without_positives,
)
from tests.evaluation.oracle import positives_of, seeds_of, sides
from tests.factories import make_pool, make_systems

SYSTEMS = ("transe", "distmult", "complex")


def by_group(pool: Pool, positives: set, group: Callable) -> dict:
    """{group: {system: mean reciprocal rank}}, and how many answers, by a loop."""
    found: dict = {}
    for question, entity, ranks in reciprocal_ranks(pool, positives):
        found.setdefault(group(question, entity), []).append(ranks)
    return {
        name: ({system: np.mean([r[system] for r in rows]) for system in SYSTEMS}, len(rows))
        for name, rows in found.items()
    }


def test_values_by_side_and_category_are_means_of_their_answers(labelled: Pool):
    category = open_graph(labelled.graph).categories
    sections = sections_of(ANALYSIS, context_of(labelled))
    for key, positives in (("labels", positives_of(labelled)), ("against", seeds_of(labelled))):
        table = next(t for t in sections["category"].tables if t.key == f"category-{key}")
        expected = by_group(labelled, positives, lambda q, _: f"{('tail', 'head')[q[0]]} {category[q[1]]}")
        shown = columns_of(table)
        for name in shown["n"]:
            means, n = expected.get(name, (dict.fromkeys(SYSTEMS), 0))
            assert shown["n"][name] == n, name
            assert {s: shown[s][name] for s in SYSTEMS} == pytest.approx(means), name
        assert set(expected) <= set(shown["n"])


def test_values_of_every_relation_are_means_of_its_answers(labelled: Pool):
    names = open_graph(labelled.graph).relations
    section = sections_of(ANALYSIS, context_of(labelled))["distribution"]
    for key, positives in (("labels", positives_of(labelled)), ("against", seeds_of(labelled))):
        shown = columns_of(next(t for t in section.tables if t.key == f"by-relation-{key}"))
        expected = by_group(labelled, positives, lambda q, _: names[q[1]])
        assert set(shown["n"]) == set(expected)  # no row for a relation without an answer
        for name, (means, n) in expected.items():
            assert shown["n"][name] == n
            assert {s: shown[s][name] for s in SYSTEMS} == pytest.approx(means), name


def test_category_table_has_tau_between_the_label_sets(labelled: Pool):
    category = open_graph(labelled.graph).categories
    old, new = (
        by_group(labelled, positives, lambda q, _: f"{('tail', 'head')[q[0]]} {category[q[1]]}")
        for positives in (seeds_of(labelled), positives_of(labelled))
    )
    table = sections_of(ANALYSIS, context_of(labelled))["category-tau"].tables[0]
    shown = columns_of(table)
    assert list(shown["tau"])[-1] == "all"
    for name in list(shown["tau"])[:-1]:
        one, other = (list(of[name][0].values()) if name in of else [] for of in (old, new))
        tau = kendalltau(np.round(one, 12), np.round(other, 12)).statistic if one and other else np.nan
        assert shown["tau"][name] == (pytest.approx(tau) if np.isfinite(tau) else None), name
        assert shown["against_n"][name] == (old[name][1] if name in old else 0)
        assert shown["labels_n"][name] == (new[name][1] if name in new else 0)
    assert shown["labels_n"]["all"] == 2 * len(positives_of(labelled))


def degree_band(pool: Pool) -> Callable[[int], str]:
    """The band of a degree in train, from the triples."""
    degree = Counter(e for h, _, t in open_graph(pool.graph).train.tolist() for e in {h, t})
    edges = ((1, "0-1"), (5, "2-5"), (20, "6-20"), (100, "21-100"))

    def band(*entities: int) -> str:
        most = max(degree[e] for e in entities)
        return next((name for edge, name in edges if most <= edge), "over 100")

    return band


def test_popularity_is_the_degree_of_the_answer_in_train(labelled: Pool):
    band = degree_band(labelled)
    expected = by_group(labelled, positives_of(labelled), lambda _, entity: band(entity))
    shown = columns_of(sections_of(ANALYSIS, context_of(labelled))["popularity"].tables[0])
    assert len(expected) > 1
    for name in shown["n"]:
        means, n = expected.get(name, (dict.fromkeys(SYSTEMS), 0))
        assert shown["n"][name] == n
        assert {s: shown[s][name] for s in SYSTEMS} == pytest.approx(means)


def test_popularity_of_a_question_is_that_of_its_most_popular_answer_under_the_labels(labelled: Pool):
    band, context = degree_band(labelled), context_of(labelled)
    chosen, pooled = context.labels, context.table.pooled_id > 0
    every = replace(chosen, state=np.where(pooled, LabelState.POSITIVE, chosen.state).astype(np.int8))
    found = sections_of(ANALYSIS, context_of(labelled, labels=every, measure="macro_mrr"))["popularity"]
    counts = []
    for table, state in zip(found.tables, (every.state, context.against.state), strict=True):
        positives = map(tuple, context.table.triples[state == LabelState.POSITIVE].tolist())
        answers: dict = {}
        for triple in positives:
            for question, entity in sides(triple):
                answers.setdefault(question, []).append(entity)
        counts.append(Counter(band(*right) for right in answers.values()))
        assert {name: n for name, n in columns_of(table)["n"].items() if n} == counts[-1]
    assert counts[0] != counts[1]


def test_boxes_are_quartiles_of_the_means_of_relations(labelled: Pool):
    section = sections_of(ANALYSIS, context_of(labelled))["distribution"]
    rows = {(row[0], row[1]): row for row in section.tables[0].rows}
    for name, positives in (("seeds only", seeds_of(labelled)), ("current labels", positives_of(labelled))):
        relations = by_group(labelled, positives, lambda q, _: q[1])
        for system in SYSTEMS:
            means = [of[system] for of, _ in relations.values()]
            q1, median, q3 = np.quantile(means, [0.25, 0.5, 0.75])
            row = rows[system, name]
            assert row[2] == len(relations)
            assert row[4:7] == pytest.approx([q1, median, q3])
            inside = [m for m in means if q1 - 1.5 * (q3 - q1) <= m <= q3 + 1.5 * (q3 - q1)]
            assert [row[3], row[7]] == pytest.approx([min(inside), max(inside)])
            assert row[8] == len(means) - len(inside)
    hollow = {(g["hollow"], g["slot"]) for g in section.chart.data["groups"]}
    assert hollow == {(True, "against"), (False, "labels")}
    assert len(section.chart.data["groups"]) == 2 * len(SYSTEMS)


def test_reweighted_value_has_the_relation_shares_of_the_other_labels(labelled: Pool):
    seeds, positives = seeds_of(labelled), positives_of(labelled)
    share = Counter(r for _, r, _ in seeds)
    relations = by_group(labelled, positives, lambda q, _: q[1])
    shown = columns_of(sections_of(ANALYSIS, context_of(labelled))["reweighted"].tables[0])
    for system in SYSTEMS:
        expected = sum(n / len(seeds) * relations[r][0][system] for r, n in share.items())
        assert shown["reweighted"][system] == pytest.approx(expected)
    own = sections_of(ANALYSIS, context_of(labelled, against="current"))["reweighted"].tables[0]
    assert columns_of(own)["reweighted"] == pytest.approx(columns_of(own)["plain"])


def test_tau_of_the_reweighted_order_is_that_with_the_order_of_the_other_labels(labelled: Pool):
    values, taus = sections_of(ANALYSIS, context_of(labelled, measure="micro_hits@10"))["reweighted"].tables
    shown = columns_of(values)
    old = list(shown["against"].values())
    for row, key in zip(taus.rows, ("plain", "reweighted"), strict=True):
        tau = kendalltau(old, list(shown[key].values())).statistic
        assert row[1:] == [pytest.approx(tau), len(SYSTEMS)]
    assert taus.rows[0][1] != taus.rows[1][1]
    tied = tied_systems(context_of(labelled).labels)
    undefined = sections_of(ANALYSIS, context_of(labelled, labels=tied))["reweighted"].tables[1]
    assert undefined.rows[0][1]["value"] is None and undefined.rows[0][1]["reason"]


def test_weight_of_relations_without_an_answer_is_dropped_and_told(labelled: Pool):
    context = context_of(labelled)
    seeds, table = context.against, context.table
    relation = table.triples[:, 1]
    gone = relation[seeds.state == LabelState.POSITIVE][0]
    left = replace(seeds, state=np.where(relation == gone, LabelState.NOT_POOLED, seeds.state).astype(np.int8))
    section = sections_of(ANALYSIS, context_of(labelled, labels=left))["reweighted"]
    counts = Counter(relation[seeds.state == LabelState.POSITIVE].tolist())
    dropped = counts[int(gone)] / sum(counts.values())
    assert f"under seeds only: {100 * dropped:.1f} %, dropped" in section.caption
    shown = columns_of(section.tables[0])  # what is left has the shares that it has in the seeds
    assert shown["reweighted"] == pytest.approx(shown["plain"])


def test_relation_shares_and_their_divergences(labelled: Pool):
    graph = open_graph(labelled.graph)
    sets = {
        "against": Counter(r for _, r, _ in seeds_of(labelled)),
        "labels": Counter(r for _, r, _ in positives_of(labelled)),
        "full_test": Counter(graph.test[:, 1].tolist()),
    }
    section = sections_of(ANALYSIS, context_of(labelled))["shares"]
    divergence, table = section.tables
    shown = columns_of(table)
    for key, counts in sets.items():
        total = sum(counts.values())
        for r, name in enumerate(graph.relations):
            if name in shown[key]:
                assert shown[f"{key}_n"][name] == counts[r]
                assert shown[key][name] == pytest.approx(counts[r] / total)
        assert sum(shown[f"{key}_n"].values()) == total
    size = [abs(value) for value in shown["difference"].values()]
    assert size == sorted(size, reverse=True)
    sets["all"] = Counter(np.concatenate([graph.train, graph.valid, graph.test])[:, 1].tolist())
    pairs = {
        "current labels ‖ seeds only": ("labels", "against"),
        "full test ‖ seeds only": ("full_test", "against"),
        "full test ‖ current labels": ("full_test", "labels"),
        "all triples of the graph ‖ full test": ("all", "full_test"),
    }
    assert [row[0] for row in divergence.rows] == list(pairs)
    for row, (p, q) in zip(divergence.rows, pairs.values(), strict=True):
        every = range(graph.num_relations)
        expected = entropy([sets[p][r] + 1 for r in every], [sets[q][r] + 1 for r in every])
        assert row[1] == pytest.approx(expected)
    assert section.chart.data["series"][1]["y"] == pytest.approx([100 * v for v in shown["labels"].values()])


def test_divergence_of_the_seeds_from_the_test_set_is_there_whatever_is_chosen(labelled: Pool):
    def rows(**chosen: str) -> dict:
        table = sections_of(ANALYSIS, context_of(labelled, **chosen))["shares"].tables[0]
        return {row[0]: row[1] for row in table.rows}

    other = rows(labels="depth:2", against="current")
    assert list(other) == [
        "labels to depth 2 ‖ current labels",
        "full test ‖ seeds only",
        "full test ‖ current labels",
        "full test ‖ labels to depth 2",
        "all triples of the graph ‖ full test",
    ]
    of_seeds = rows()
    for name in ("full test ‖ seeds only", "all triples of the graph ‖ full test"):
        assert other[name] == of_seeds[name] > 0
    assert list(rows(labels="full-test", against="seeds")) == [
        "full test ‖ seeds only",
        "all triples of the graph ‖ full test",
    ]


def test_labels_without_a_positive_are_undefined_with_a_reason_everywhere(labelled: Pool):
    nothing = without_positives(context_of(labelled).labels)
    sections = sections_of(ANALYSIS, context_of(labelled, against=nothing))
    assert columns_of(sections["category-tau"].tables[0])["tau"]["all"] is None
    assert sections["shares"].tables[0].rows[0][1] == {"value": None, "reason": "one of the two has no positive triple"}
    assert sections["reweighted"].tables[0].rows[0][3] == {
        "value": None,
        "reason": "nothing has no positive triple to take shares from",
    }
    for system, plain, place, weighted, weighted_place, *_ in sections["reweighted"].tables[0].rows:
        assert isinstance(plain, float), system
        reason = "nothing has no positive triple to take shares from"
        assert place == weighted == weighted_place == {"value": None, "reason": reason}
    assert "current labels from nothing, undefined;" in sections["shares"].finding
    assert {g["slot"] for g in sections["distribution"].chart.data["groups"]} == {"labels"}
    other = sections_of(ANALYSIS, context_of(labelled, labels=nothing))
    reason = "no question has an answer under these labels"
    assert other["reweighted"].tables[0].rows[0][1] == {"value": None, "reason": reason}


def test_a_system_that_returned_nothing_has_no_mean_rank_in_any_group(labelled: Pool):
    cut = nothing_returned(context_of(labelled).labels, system=1)
    sections = sections_of(ANALYSIS, context_of(labelled, cut, measure="micro_mr"))
    shown = columns_of(sections["category"].tables[0])
    assert set(shown["distmult"].values()) == {None}
    assert any(value is not None for value in shown["transe"].values())
    counts = set()
    for row in sections["category"].tables[0].rows:
        n = row[1]
        missing = f"the run did not return {n} of {n} answers; a mean rank needs all"
        assert row[3]["reason"] == (missing if n else "no answer in this group")
        counts.add(n)
    assert len(counts) > 2  # groups have an n of their own
    assert {row[3] for row in sections["category-tau"].tables[0].rows} <= {0, 2}


def test_systems_that_tie_and_macro_measures_have_all_sections(labelled: Pool):
    tied = tied_systems(context_of(labelled).labels)
    for measure in ("macro_mrr", "amri", "judged@10"):
        sections = sections_of(ANALYSIS, context_of(labelled, tied, measure=measure))
        assert set(columns_of(sections["category-tau"].tables[0])["tau"].values()) == {None}
        for table in sections["category"].tables[:1]:
            for row in table.rows:
                assert len({str(cell) for cell in row[2:]}) == 1
            assert table.best == []


def test_one_system_alone_has_values_and_no_tau(town):
    make_systems(town, ("transe",))
    sections = sections_of(ANALYSIS, context_of(make_pool(town), labels="full-test"))
    assert columns_of(sections["category-tau"].tables[0])["tau"]["all"] is None
    assert isinstance(sections["reweighted"].tables[0].rows[0][3], float)
