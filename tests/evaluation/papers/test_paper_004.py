"""The page of Moon and Ko (2025): its order, PROBE of full test from the models' scores, what is published."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from evaluation.papers import paper_004
from evaluation.papers.paper_004 import ANALYSIS, TABLE_1, TABLE_2
from evaluation.probe.sections import ANALYSIS as PROBE
from evaluation.probe.sections import probe_json
from evaluation.sections.settings import Settings
from pooling.graphs.opening import open_graph
from pooling.models import Graph, Pool
from tests.evaluation.cases import columns_of, context_of, reciprocal_ranks, sections_of, tied_systems
from tests.factories import make_pool, make_systems

ORDER = [
    "figure-1a", "figure-1b", "figure-2", "figure-3", "table-1", "table-2", "table-2-current", "figure-4", "claims",
]  # fmt: skip
POINTS = {"a": ((0.25, 0), (0.5, 0), (1, 0), (2, 0)), "b": ((1, 0), (1, 0.25), (1, 0.5), (1, 1))}


@pytest.fixture
def sections(labelled: Pool) -> dict:
    return sections_of(ANALYSIS, context_of(labelled))


def answers(pool: Pool, labels: str, a: float, b: float) -> dict[str, float]:
    return probe_json(pool, Settings(labels=labels, sharpness=a, robustness=b))["systems"]


def test_tables_and_figures_are_in_the_order_of_the_paper(sections: dict):
    assert list(sections) == ORDER


@pytest.mark.parametrize(("key", "labels"), [("table-2", "full-test"), ("table-2-current", "current")])
def test_table_2_is_probe_at_the_points_of_the_paper(labelled: Pool, sections: dict, key: str, labels: str):
    for table, (letter, points) in zip(sections[key].tables, POINTS.items(), strict=True):
        shown = columns_of(table)
        for a, b in points:
            own = {name: value for name, value in shown[f"{letter}_{a if letter == 'a' else b:g}"].items() if value}
            assert own == pytest.approx(answers(labelled, labels, a, b))
    assert answers(labelled, "full-test", 1, 0) != answers(labelled, "current", 1, 0)


def test_best_of_each_point_is_bold(sections: dict):
    for key, step in (("table-2", 2), ("table-2-current", 1)):
        for table in sections[key].tables:
            for column in range(1, 1 + 4 * step, step):
                values = [row[column] for row in table.rows[:3]]
                assert [i for i, j in table.best if j == column] == [int(np.argmax(values))]


def test_published_values_stand_beside_the_system_of_that_name(labelled: Pool, monkeypatch):
    monkeypatch.setattr(paper_004, "SYSTEMS", ("rotate", "complex", "plogicnet", "rnnlogic"))
    table = sections_of(ANALYSIS, context_of(labelled))["table-2"].tables[0]
    row = next(row for row in table.rows if row[0] == "complex")
    assert row[2::2] == list(TABLE_2["FB15k-237", "sharpness"][1])
    others = {other[0]: other[1:] for other in table.rows if other is not row}
    assert all(cell["value"] is None for name in ("transe", "distmult") for cell in others[name][1::2])
    assert others["rnnlogic"][1::2] == list(TABLE_2["FB15k-237", "sharpness"][3])
    assert [cell["value"] for cell in others["rnnlogic"][::2]] == [None] * 4
    assert list(others) == ["transe", "distmult", "rotate", "plogicnet", "rnnlogic"]


def test_published_values_are_of_the_graph_with_as_many_entities(labelled: Pool, monkeypatch):
    entities = open_graph(labelled.graph).num_entities
    monkeypatch.setattr(paper_004, "TABLE_1", {"FB15k-237": TABLE_1["FB15k-237"], "WN18RR": (entities, 0, 0, 0, 0)})
    monkeypatch.setattr(paper_004, "SYSTEMS", ("transe", "complex", "plogicnet", "rnnlogic"))
    found = sections_of(ANALYSIS, context_of(labelled))["table-2"].tables[1]
    shown = {row[0]: row[2::2] for row in found.rows}
    assert shown["transe"] == list(TABLE_2["WN18RR", "robustness"][0])
    assert {column.note for column in found.columns[2::2]} == {"on WN18RR"}


def test_graphs_of_table_1(labelled: Pool, sections: dict):
    graph = open_graph(labelled.graph)
    degree = Counter(e for h, _, t in graph.train.tolist() for e in {h, t})
    rows = sections["table-1"].tables[0].rows
    mean = sum(degree.values()) / len(degree)
    assert rows[0][1:6] == [graph.num_entities, len(graph.relations), len(graph.train), mean, max(degree.values())]
    assert [row[1:6] for row in rows[1:]] == [list(row) for row in TABLE_1.values()]


def test_values_of_figure_1b_are_means_of_reciprocal_ranks(labelled: Pool, sections: dict):
    graph = open_graph(labelled.graph)
    degree = Counter(e for h, _, t in graph.train.tolist() for e in {h, t})
    test = {tuple(triple) for triple in graph.test.tolist()}
    found = reciprocal_ranks(labelled, test)
    rows = {row[0]: row for row in sections["figure-1b"].tables[0].rows}
    assert sum(row[1] for row in rows.values()) == len(found) == 2 * len(test)
    for name, row in rows.items():
        low, _, high = name.partition("-")
        if row[1] and high:
            inside = [turned["transe"] for _, entity, turned in found if int(low) <= degree[entity] <= int(high)]
            place = [column.key for column in sections["figure-1b"].tables[0].columns].index("transe")
            assert (row[1], row[place]) == (len(inside), pytest.approx(np.mean(inside)))


def test_other_figures_are_those_of_the_page_probe(labelled: Pool, sections: dict):
    page = sections_of(PROBE, context_of(labelled, labels="full-test", against="current"))
    assert sections["figure-1a"].tables[0].rows == page["ranks"].tables[0].rows
    assert sections["figure-2"].tables == page["scores"].tables
    assert sections["figure-3"].tables[0].rows == page["weights"].tables[0].rows
    assert sections["figure-4"].chart.data == page["surface"].chart.data


def test_claims_are_told_from_the_systems(labelled: Pool, sections: dict, monkeypatch):
    told = [row[2] for row in sections["claims"].tables[0].rows]
    assert told[:2] == ["cannot be told: needs RNNLogic and RotatE"] * 2
    values = np.array(
        [[answers(labelled, "full-test", a, b)[s] for a, b in POINTS["a"]] for s in ("transe", "complex")]
    )
    assert (np.diff(values) < 0).all() and told[2] == "yes"
    every = [answers(labelled, "full-test", a, b) for a, b in POINTS["a"]]
    changed = len({tuple(sorted(of, key=of.get)) for of in every}) > 1
    assert told[3] == ("yes" if changed else "no")
    graph = open_graph(labelled.graph)
    ranks = {
        name: [1 / turned[name] for _, _, turned in reciprocal_ranks(labelled, set(map(tuple, graph.test.tolist())))]
        for name in ("transe", "distmult", "complex")
    }
    outcomes = set()
    for one in ranks:
        for other in ranks.keys() - {one}:
            monkeypatch.setattr(paper_004, "PAIR", (one, other))
            monkeypatch.setattr(paper_004, "SYSTEMS", (one, other, "plogicnet", "rnnlogic"))
            here = sections_of(ANALYSIS, context_of(labelled))["claims"].tables[0].rows[0][2]
            first = [sum(rank < 1.001 for rank in ranks[name]) for name in (one, other)]
            near = [sum(1.001 < rank <= 100.001 for rank in ranks[name]) for name in (one, other)]
            assert here == ("yes" if first[0] > first[1] and near[1] > near[0] else "no")
            outcomes.add(here)
    assert outcomes == {"yes", "no"}


def test_tied_systems_change_no_order(labelled: Pool):
    tied = tied_systems(context_of(labelled, labels="full-test").labels)
    context = context_of(labelled)
    full = paper_004.probe_answers(context_of(labelled, labels=tied), "labels")
    mrr = paper_004.values_under(context_of(labelled, labels=tied), "labels", "micro_mrr")
    rows = paper_004._claims(context, full, mrr).tables[0].rows
    assert [row[2] for row in rows[3::2]] == ["no", "no"]


def test_a_pool_without_labels_has_the_page_too(town: Graph):
    make_systems(town, ("transe",))
    found = sections_of(ANALYSIS, context_of(make_pool(town)))
    assert list(found) == ORDER
    assert [row[2] for row in found["claims"].tables[0].rows[3::2]] == ["cannot be told: one system, or no answer"] * 2


def test_what_is_missing_is_named_with_the_way(sections: dict):
    note = next(note for note in sections["figure-1a"].notes if "this pool lacks" in note)
    assert "lacks RotatE, TuckER, pLogicNet, RNNLogic:" in note


def test_a_system_that_is_not_compared_is_not_one_that_the_pool_lacks(labelled: Pool, monkeypatch):
    monkeypatch.setattr(paper_004, "SYSTEMS", ("rotate", "complex", "plogicnet", "rnnlogic"))
    some = sections_of(ANALYSIS, context_of(labelled, systems=("transe", "distmult")))
    note = next(note for note in some["figure-1a"].notes if "this pool lacks" in note)
    assert "lacks RotatE, pLogicNet, RNNLogic:" in note  # complex is only not compared
