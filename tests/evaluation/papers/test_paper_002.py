"""The page of Mei and others (2018): its order, equal to the page Max-k on full test, published figures."""

from __future__ import annotations

from collections import defaultdict
from statistics import mean, pstdev

import numpy as np
import pytest

from evaluation.max_k.sections import max_k_json
from evaluation.papers import paper_002
from evaluation.papers.paper_002 import ANALYSIS, EXAMPLES
from evaluation.papers.paper_002_published import TABLE_1, TABLE_2, TABLE_3, TABLE_4, TVD_TPM
from evaluation.sections.metrics import metrics
from evaluation.sections.settings import Settings
from pooling.graphs.opening import open_graph
from pooling.models import Pool
from tests.evaluation.cases import columns_of, context_of, sections_of
from tests.evaluation.max_k.test_stored_runs import stored  # noqa: F401 - a fixture

GRAPH = ["table-1", "lemma-1", "figure-1", "table-2"]
SYSTEMS = [
    "figure-2-alpha", "figure-2-alpha-precision", "figure-2-alpha-recall", "figure-2-alpha-f1", "table-3", "table-4",
    "figure-3-protocol-precision", "figure-3-protocol-recall", "figure-3-protocol-f1", "tvd-tpm", "figure-4-models",
]  # fmt: skip
NAMES = ("transe", "distmult", "complex")


@pytest.fixture
def sections(stored: Pool) -> dict:  # noqa: F811
    return sections_of(ANALYSIS, context_of(stored))


def test_tables_and_figures_are_in_the_order_of_the_paper(sections: dict):
    assert list(sections) == [*GRAPH, *SYSTEMS]
    assert len({section.title for section in sections.values()}) == len(sections)


def test_counts_of_tables_1_and_2(labelled: Pool):
    graph = open_graph(labelled.graph)
    answers = defaultdict(set)
    for h, r, t in [*graph.train.tolist(), *graph.valid.tolist()]:
        answers[h, r, "?"].add(t)
        answers["?", r, t].add(h)
    counts = [len(of) for of in answers.values()]
    one, _, _, two = paper_002.of_graph(context_of(labelled))
    expected = [min(counts), max(counts), mean(counts), pstdev(counts), sum(counts)]
    assert one.tables[0].rows[0][1:] == pytest.approx(expected)
    assert [tuple(row[1:]) for row in one.tables[0].rows[1:]] == list(TABLE_1.values())
    splits = [len(split) for split in (graph.train, graph.valid, graph.test)]
    assert two.tables[0].rows[0][1:] == [graph.num_entities, graph.num_relations, *splits]
    assert [tuple(row[1:]) for row in two.tables[0].rows[1:]] == list(TABLE_2.values())


def test_printed_sums_are_both_sides_of_train_and_valid():
    """What a slip of the pen would break: table 1 counts each triple of table 2 twice."""
    for name, (_, _, _, _, total) in TABLE_1.items():
        train, valid = TABLE_2[name][2:4]
        assert total == 2 * (train + valid)


def test_limits_of_lemma_1(labelled: Pool):
    table = paper_002.of_graph(context_of(labelled))[1].tables[0]
    rows = {row[0]: row[1:] for row in table.rows}
    assert rows[3] == pytest.approx([0.3, 1, 6 / 13, 1, 1, 1])
    assert rows[20] == pytest.approx([1, 0.5, 2 / 3, 1, 0.5, 2 / 3])


def test_examples_of_figure_1_are_distributions_and_greedy_returns_what_is_wanted(labelled: Pool):
    table = paper_002.of_graph(context_of(labelled))[2].tables[0]
    rng = np.random.default_rng(1)
    for name, wanted, greedy, sampled in table.rows:
        p, size = EXAMPLES[str(name)]
        assert p.sum() == pytest.approx(1) and len(p) == 50
        assert greedy == wanted == size
        drawn = [len(set(rng.choice(50, 20, p=p / p.sum()).tolist())) for _ in range(2000)]
        assert sampled == pytest.approx(mean(drawn), abs=0.2)


def test_table_4_has_the_measures_of_the_full_test_set(stored: Pool, sections: dict):  # noqa: F811
    usual = metrics(stored, "full-test", ["micro_hits@10", "micro_mr", "micro_mrr"])["systems"]
    found = max_k_json(stored, "full-test", [10])["systems"]
    one, sampling, greedy = map(columns_of, sections["table-4"].tables)
    for name in NAMES:
        assert [one[key][name] for key in usual[name]] == pytest.approx(list(usual[name].values()))
        of = found[name]["filtered"]
        assert sampling["sampling_precision"][name] == pytest.approx(of["mass"])
        for part in ("recall", "f1"):
            assert sampling[f"sampling_{part}"][name] == pytest.approx(of["protocols"]["Sampling"]["10"][part])
        for part in ("precision", "recall", "f1"):
            assert greedy[f"greedy_{part}"][name] == pytest.approx(of["protocols"]["Greedy"]["10"][part])


def test_figures_3_and_4_are_raw_and_table_of_6_2_4_too(stored: Pool, sections: dict):  # noqa: F811
    found = max_k_json(stored, "full-test", [10])["systems"]
    shown = columns_of(sections["tvd-tpm"].tables[0])
    for name in NAMES:
        assert shown["tvd_labels"][name] == pytest.approx(found[name]["tvd"])
        assert shown["raw_labels"][name] == pytest.approx(found[name]["raw"]["mass"])
    best = max(NAMES, key=lambda name: found[name]["raw"]["protocols"]["Greedy"]["10"]["f1"])
    row = sections["figure-3-protocol-f1"].tables[0].rows[9]
    expected = [found[best]["raw"]["protocols"][name]["10"]["f1"] for name in ("TopK", "Sampling", "Greedy")]
    assert row[:4] == pytest.approx([10, *expected])
    drawn = {one["name"]: one["y"][9] for one in sections["figure-4-models"].chart.data["series"]}
    for name in NAMES:
        assert drawn[name] == pytest.approx(found[name]["raw"]["protocols"]["Greedy"]["10"]["f1"])


def test_published_figures_stand_beside_the_system_of_that_name(stored: Pool, sections: dict):  # noqa: F811
    shown = columns_of(sections["table-3"].tables[0])["alpha_published"]
    assert {name: shown[name] for name in ("transe", "complex", "analogy")} == {
        "transe": "10", "complex": "5", "analogy": "5",
    }  # fmt: skip
    assert shown["distmult"] is None
    tables = map(columns_of, sections["table-4"].tables)
    printed = [of[key]["complex"] for of in tables for key in of if key.endswith("_published")]
    assert printed == list(TABLE_4["FB15k-237"]["complex"])
    shown = columns_of(sections["tvd-tpm"].tables[0])
    assert (shown["tvd_labels_published"]["analogy"], shown["raw_labels_published"]["analogy"]) == TVD_TPM["analogy"]
    assert shown["tvd_labels"]["analogy"] is None  # this pool lacks it


def test_published_figures_are_of_the_graph_of_this_size(stored: Pool, monkeypatch):  # noqa: F811
    graph = open_graph(stored.graph)
    size = graph.num_entities, graph.num_relations, 0, 0, 0
    monkeypatch.setattr(paper_002, "TABLE_2", {**TABLE_2, "WN18RR": size})
    sections = sections_of(ANALYSIS, context_of(stored))
    assert (
        columns_of(sections["table-3"].tables[0])["alpha_published"]["transe"]
        == str(TABLE_3["WN18RR"]["transe"])
        == "20"
    )
    assert columns_of(sections["table-4"].tables[0])["micro_mr_published"]["transe"] == TABLE_4["WN18RR"]["transe"][1]


def test_figure_3_is_of_the_chosen_system(stored: Pool):  # noqa: F811
    page = ANALYSIS.context(stored, Settings(system="transe"))
    sections = {section.key: section for section in paper_002.of_systems(page)}
    assert sections["figure-3-protocol-f1"].title == "Figure 3. F1 of the protocols: TransE"


def test_without_distributions_the_page_says_how_to_get_them(labelled: Pool):
    sections = sections_of(ANALYSIS, context_of(labelled))
    assert list(sections) == [*GRAPH, "absent"]
    assert all("score_runs p" in row[1] for row in sections["absent"].tables[0].rows)
