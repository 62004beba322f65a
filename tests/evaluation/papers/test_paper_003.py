"""The page of Zhou et al. (2022): sections in its order, equal to other pages, published figures beside."""

from __future__ import annotations

from pathlib import Path
from statistics import mean, stdev

import numpy as np
import pytest
from django.conf import settings
from scipy.stats import kendalltau

from evaluation.analyses import depth
from evaluation.analyses.relations import ANALYSIS as RELATIONS
from evaluation.papers import published
from evaluation.papers.paper_003 import ANALYSIS, FIGURE_5, MICRO, SYSTEMS
from evaluation.sections.metrics import metrics
from evaluation.sections.settings import Settings
from pooling.models import Pool
from pooling.systems.shown_names import shown_name
from tests.evaluation.cases import columns_of, context_of, sections_of

ORDER = [
    "table-1", "table-2", "figure-2", "measures", "figure-3", "figure-4", "table-3", "figure-5", "figure-6", "table-4",
    "figure-8-full-test", "figure-8-current", "figure-7-full-test", "figure-7-current",
]  # fmt: skip


@pytest.fixture
def sections(labelled: Pool) -> dict:
    return sections_of(ANALYSIS, context_of(labelled))


@pytest.fixture
def results(tmp_path: Path, settings) -> Path:
    """Published results of the town's three systems, made up so that every figure is known."""
    settings.DATA_ROOT = tmp_path
    folder = tmp_path / "published"
    folder.mkdir()
    rows = [
        (test_set, system, *(str(base + 0.01 * place) for _ in MICRO))
        for test_set, base, order in (
            ("FB-Test-O", 0.3, ("transe", "distmult", "complex")),
            ("FB-Test-S", 0.2, ("transe", "distmult", "complex")),
            ("FB-Test-S-C", 0.1, ("distmult", "transe", "complex")),
        )
        for place, system in enumerate(order)
    ]
    lines = ["\t".join(row) for row in [("test_set", "system", *MICRO), *rows]]
    (folder / "003_systems.tsv").write_text("\n".join(lines) + "\n")
    return folder


def test_tables_and_figures_are_in_the_order_of_the_paper(sections: dict):
    assert [key for key in sections if key != "among-published"] == ORDER  # it needs published results


def test_statistics_of_the_three_test_sets(labelled: Pool, sections: dict):
    counts = metrics(labelled, "current")["counts"]
    shown = columns_of(sections["table-1"].tables[0])
    wrong = counts["negative"] + counts["assumed_negative"] + counts["unjudged"]
    assert shown["positives"] == {"O": labelled.graph.num_test, "S": labelled.seeds.count(), "S-C": counts["positive"]}
    assert shown["negatives"] == {"O": 0, "S": 0, "S-C": wrong}
    assert shown["positives_published"]["S-C"] == 2738


def test_measures_are_those_of_the_overview(labelled: Pool, sections: dict):
    for table, labels in zip(sections["measures"].tables, ("full-test", "seeds", "current"), strict=True):
        ours = metrics(labelled, labels, list(MICRO))["systems"]
        shown = columns_of(table)
        for name in MICRO:
            assert shown[name] == pytest.approx({system: values[name] for system, values in ours.items()})


def test_tau_between_the_sets_and_by_depth(labelled: Pool, sections: dict):
    ours = {key: metrics(labelled, key, ["micro_mrr"])["systems"] for key in ("full-test", "seeds", "current")}
    means = {key: [values["micro_mrr"] for values in of.values()] for key, of in ours.items()}
    shown = columns_of(sections["figure-3"].tables[0])["tau"]
    assert shown["S – S-C"] == pytest.approx(kendalltau(means["seeds"], means["current"]).statistic)
    assert shown["S – O"] == pytest.approx(kendalltau(means["seeds"], means["full-test"]).statistic)
    page = next(s for s in depth.by_depth(context_of(labelled, measures=FIGURE_5)) if s.key == "depth-seeds")
    theirs, own = columns_of(page.tables[0]), columns_of(sections["figure-5"].tables[0])
    assert all(own[name] == theirs[name] for name in FIGURE_5)


def test_tau_with_the_relation_shares_of_the_seeds(labelled: Pool, sections: dict):
    page = sections_of(RELATIONS, context_of(labelled, measure="micro_hits@10"))["reweighted"].tables[1]
    own = columns_of(sections["table-4"].tables[0])["micro_hits@10"]
    assert list(own.values()) == pytest.approx([row[1] for row in page.rows])
    assert len(set(own.values())) == 2


def test_published_figures_stand_beside(labelled: Pool, results: Path):
    sections = sections_of(ANALYSIS, context_of(labelled))
    shown = columns_of(sections["measures"].tables[2])
    assert shown["micro_mrr_published"] == pytest.approx({"distmult": 0.1, "transe": 0.11, "complex": 0.12})
    taus = columns_of(sections["figure-3"].tables[0])["published"]
    assert taus == pytest.approx({"S – O": 1.0, "S – S-C": 1 / 3, "O – S-C": 1 / 3})


def test_places_among_the_published_systems(labelled: Pool, results: Path):
    """Without complex among the published: its place is among the other two, and it has no published place."""
    file = results / "003_systems.tsv"
    file.write_text("".join(line for line in file.read_text().splitlines(True) if "complex" not in line))
    sections = sections_of(ANALYSIS, context_of(labelled))
    assert list(sections)[4:6] == ["figure-3", "among-published"]
    section = sections["among-published"]
    shown = columns_of(section.tables[0])
    for name, labels, base in (("O", "full-test", 0.3), ("S", "seeds", 0.2), ("S-C", "current", 0.1)):
        ours = {of: v["micro_mrr"] for of, v in metrics(labelled, labels, ["micro_mrr"])["systems"].items()}
        first, second = ("distmult", "transe") if name == "S-C" else ("transe", "distmult")
        theirs = {first: base, second: base + 0.01}
        assert shown[f"{name}-mrr"] == pytest.approx(ours)
        assert shown[f"{name}-published"] == {first: 2, second: 1, "complex": None}
        above = {of: sum(theirs[other] > ours[of] for other in theirs if other != of) for of in ours}
        assert shown[f"{name}-place"] == {of: 1 + n for of, n in above.items()}
    rings = [series for series in section.chart.data["series"] if series["ring"]]
    assert [series["x"] for series in rings] == [["distmult", "transe", "complex"]] * 3
    assert rings[0]["y"] == pytest.approx([shown["O-mrr"][of] for of in rings[0]["x"]])
    assert section.chart.data["series"][0]["y"] == [0.31, 0.3, None]


def test_without_published_results_the_page_has_measured_ones_only(labelled: Pool, tmp_path: Path, settings):
    settings.DATA_ROOT = tmp_path
    sections = sections_of(ANALYSIS, context_of(labelled))
    assert set(columns_of(sections["figure-3"].tables[0])["published"].values()) == {None}
    assert "among-published" not in sections
    assert any("TRIPLEPOOL_DATA" in note for note in sections["table-1"].notes)


def test_what_is_missing_is_named_with_the_way(labelled: Pool, sections: dict):
    note = next(note for note in sections["table-1"].notes if "this pool lacks" in note)
    lacking = [shown_name(name) for name in SYSTEMS if name not in ("transe", "distmult", "complex")]
    assert f"lacks {', '.join(lacking)}:" in note and labelled.graph.name in note
    some = sections_of(ANALYSIS, context_of(labelled, systems=("transe", "complex")))
    assert note in some["table-1"].notes  # a system that is not compared is not one that the pool lacks


def test_a_pool_without_labels_says_so(pool: Pool):
    sections = sections_of(ANALYSIS, context_of(pool))
    assert any("import_labels" in note for note in sections["table-1"].notes)
    assert sections["table-2"].tables[0].rows == []
    assert columns_of(sections["figure-3"].tables[0])["tau"]["S – S-C"] == pytest.approx(1.0)


@pytest.mark.data
def test_published_results_give_the_figures_that_the_paper_prints():
    assert settings.DATA_ROOT
    assert published.tau_between("micro_mrr", "seeds", "full-test") == pytest.approx(0.7949, abs=5e-5)
    printed = dict(zip(MICRO, (0.2308, -0.2308, -0.0519, -0.4358, 0.2598), strict=True))
    assert {name: published.tau_between(name) for name in MICRO} == pytest.approx(printed, abs=1e-4)  # cut, not rounded
    depths = published.rows("depth")
    two = (published.values(depths, "micro_mrr", depth=str(k)) for k in (0, 2))
    assert published.tau("micro_mrr", *two) == pytest.approx(0.359, abs=5e-4)
    nn = (
        published.values(published.rows("categories"), "micro_mrr", test_set=of, side="head", category="many_to_many")
        for of in ("FB-Test-S", "FB-Test-S-C")
    )
    assert published.tau("micro_mrr", *nn) == pytest.approx(-0.3333, abs=5e-5)
    assert np.isnan(published.value("current", "nobody", "micro_mrr"))


# -- families of seeds: the paper keeps the best of ten ------------------------------------------------------------

SEEDS = ["transe-s1", "transe", "transe-s2"]  # the chosen one first
CHOSEN = ["transe-s1", "distmult", "complex"]


def test_the_chosen_seed_of_each_family_is_shown_with_mean_and_deviation(with_seeds: Pool, results: Path):
    sections = sections_of(ANALYSIS, ANALYSIS.context(with_seeds, Settings()))
    for table, labels in zip(sections["measures"].tables, ("full-test", "seeds", "current"), strict=True):
        assert [row[0] for row in table.rows] == CHOSEN
        ours = metrics(with_seeds, labels, list(MICRO))["systems"]
        for column, name in enumerate(MICRO):
            values = [ours[seed][name] for seed in SEEDS]
            own = table.rows[0][1 + 2 * column]
            assert own == pytest.approx({"value": values[0], "mean": mean(values), "sd": stdev(values), "n": 3})
            assert table.rows[1][1 + 2 * column] == pytest.approx(ours["distmult"][name])
    assert columns_of(table)["micro_mrr_published"] == pytest.approx(
        {"distmult": 0.1, "transe-s1": 0.11, "complex": 0.12}  # of transe, whose seed it is
    )
    note = next(note for note in sections["table-1"].notes if "this pool lacks" in note)
    assert " TransE," not in note and " RotatE," in note


def test_no_family_is_twice_in_a_tau_or_a_pair(with_seeds: Pool, few_repeats, results: Path):
    sections = sections_of(ANALYSIS, ANALYSIS.context(with_seeds, Settings()))
    means = {
        key: [metrics(with_seeds, key, ["micro_mrr"])["systems"][name]["micro_mrr"] for name in CHOSEN]
        for key in ("full-test", "seeds", "current")
    }
    taus = columns_of(sections["figure-3"].tables[0])["tau"]
    assert taus["S – S-C"] == pytest.approx(kendalltau(means["seeds"], means["current"]).statistic)
    assert taus["S – O"] == pytest.approx(kendalltau(means["seeds"], means["full-test"]).statistic)
    assert "; 3 systems." in sections["table-1"].caption
    assert len(sections["figure-8-current"].chart.data["panels"][0]["series"][0]["x"]) == 3  # pairs
    among = sections["among-published"]
    assert [row[0] for row in among.tables[0].rows] == CHOSEN
    rings = [series for series in among.chart.data["series"] if series["ring"]]
    assert sorted(rings[2]["x"]) == ["complex", "distmult", "transe"]
    assert rings[2]["y"][rings[2]["x"].index("transe")] == pytest.approx(means["current"][0])
    assert columns_of(among.tables[0])["S-C-published"] == {"transe-s1": 2, "distmult": 3, "complex": 1}
