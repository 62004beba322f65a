"""Every analysis that takes families has one row for each; its values have mean and deviation over the seeds."""

from __future__ import annotations

from statistics import mean, stdev
from typing import Any

import pytest

from evaluation.pages.registry import ANALYSES
from evaluation.probe.answers import PAPER_ROBUSTNESSES, PAPER_SHARPNESSES
from evaluation.probe.sections import probe_json
from evaluation.sections.figure_cache import analysis_content
from evaluation.sections.section import Analysis, Table
from evaluation.sections.settings import Settings
from pooling.models import Pool
from tests.evaluation.cases import context_of, sections_of

SEEDS = ["transe-s1", "transe", "transe-s2"]  # the chosen one first
ROWS = ["transe-s1", "distmult", "complex"]
BY_KEY = {analysis.key: analysis for analysis in ANALYSES}
TAKES = sorted(key for key, analysis in BY_KEY.items() if "seeds" in analysis.settings)
# tables of values: in each row a system, or in each column
IN_ROWS = {"probe": ["sharpness-labels", "robustness-labels", "sharpness-against"], "relations": ["reweighted"]}
IN_COLUMNS = {
    "relations": ["category-labels", "category-against", "popularity-labels", "by-relation-labels"],
    "depth": ["depth-micro_mrr", "depth-macro_hits-3"],
    "accumulation": ["accumulation-values"],
    "probe": ["popularity-labels"],
}
NAMES = ("micro_mrr", "macro_hits@3")


def tables_of(analysis: Analysis, pool: Pool, **settings: Any) -> dict[str, Table]:
    context = context_of(pool, **{"measures": NAMES, **settings})
    return {table.key: table for section in sections_of(analysis, context).values() for table in section.tables}


def as_dict(cell: Any) -> dict[str, Any]:
    return cell if isinstance(cell, dict) else {"value": cell}


def check(own: dict[str, Any], seeds: list[dict[str, Any]], where: object) -> bool:
    """Compare a cell of a family with those of its seeds; tell whether they differ."""
    values = [cell["value"] for cell in seeds]
    if None in values:
        assert own["value"] == values[0] and "mean" not in own, where
        return False
    assert own["value"] == pytest.approx(values[0], rel=1e-12), where
    assert (own["mean"], own["sd"]) == (pytest.approx(mean(values)), pytest.approx(stdev(values), abs=1e-9)), where
    assert own["n"] == 3, where
    return len(set(values)) > 1


def test_these_analyses_take_families():
    choice = "accumulation audit classification correlation depth discriminative estimates max-k measures probe"
    assert [*choice.split(), "relations", "stability"] == TAKES
    always = {key for key, analysis in BY_KEY.items() if analysis.by_family}
    assert always == {"planning", "reusability", "open-world"}
    # it counts answers of questions, and no system
    assert BY_KEY.keys() - TAKES - always == {"multiplicities"}


@pytest.mark.parametrize("key", ["planning", "reusability", "open-world"])
def test_pages_that_compare_systems_never_have_two_seeds_of_one(with_seeds: Pool, key: str):
    """As a visitor gets them, without a choice; the names of systems stand in cells, columns and charts."""
    parts = analysis_content(with_seeds, BY_KEY[key], Settings())["parts"]
    note, *others = parts[0]["sections"][0]["notes"]
    assert f"transe-s1 of 3 ({', '.join(SEEDS)})" in note
    parts[0]["sections"][0]["notes"] = others
    shown = str(parts)
    assert "transe-s1" in shown and "'transe'" not in shown and "transe-s2" not in shown


def test_a_pool_without_families_has_no_note_about_them(labelled: Pool):
    parts = analysis_content(labelled, BY_KEY["reusability"], Settings())["parts"]
    assert parts[0]["sections"][0]["notes"] == []


def test_answers_per_question_are_the_same_of_seeds_and_families(with_seeds: Pool):
    found = [sections_of(BY_KEY["multiplicities"], context_of(with_seeds, seeds=of)) for of in ("each", "families")]
    assert found[0] == found[1] and "transe" not in str(found[0])


OTHERS = ("audit", "classification", "estimates", "max-k")  # need an audit, scores or a sample: tested with their pages


@pytest.mark.parametrize("key", [key for key in TAKES if key not in OTHERS])
def test_one_row_a_family_and_no_seed_beside_it(with_seeds: Pool, few_repeats, key: str):
    shown = str(
        [
            [row[0] for row in table.rows] + [column.key for column in table.columns]
            for table in tables_of(BY_KEY[key], with_seeds, seeds="families").values()
        ]
    )
    assert "'transe'" not in shown and "transe-s2" not in shown


@pytest.mark.parametrize(("key", "tables"), IN_ROWS.items())
def test_tables_with_systems_in_rows_have_mean_and_deviation(with_seeds: Pool, key: str, tables: list[str]):
    folded, each = (tables_of(BY_KEY[key], with_seeds, seeds=seeds) for seeds in ("families", "each"))
    for name in tables:
        rows = {row[0]: row for row in each[name].rows}
        assert [row[0] for row in folded[name].rows] == ROWS
        columns = [i for i, column in enumerate(folded[name].columns) if i and column.kind == "value"]
        differ = [
            check(as_dict(folded[name].rows[0][i]), [as_dict(rows[seed][i]) for seed in SEEDS], (name, i))
            for i in columns
        ]
        assert any(differ)
        assert not any("mean" in as_dict(cell) for row in folded[name].rows[1:] for cell in row)


@pytest.mark.parametrize(("key", "tables"), IN_COLUMNS.items())
def test_tables_with_systems_in_columns_have_mean_and_deviation(with_seeds: Pool, key: str, tables: list[str]):
    folded, each = (tables_of(BY_KEY[key], with_seeds, seeds=seeds) for seeds in ("families", "each"))
    for name in tables:
        columns = {column.key: i for i, column in enumerate(each[name].columns)}
        own = {column.key: i for i, column in enumerate(folded[name].columns)}["transe-s1"]
        assert folded[name].rows
        differ = [
            check(as_dict(row[own]), [as_dict(all_of[columns[seed]]) for seed in SEEDS], (name, row[0]))
            for row, all_of in zip(folded[name].rows, each[name].rows, strict=True)
        ]
        assert any(differ)


def test_the_slices_of_probe_are_the_table_of_the_paper_with_means(with_seeds: Pool):
    tables = tables_of(BY_KEY["probe"], with_seeds, seeds="families")
    for name, points in (("sharpness", PAPER_SHARPNESSES), ("robustness", PAPER_ROBUSTNESSES)):
        row = tables[f"{name}-labels"].rows[0]
        for cell, point in zip(row[1:], points, strict=True):
            found = probe_json(with_seeds, Settings(**{name: point}))["systems"]
            values = [found[seed] for seed in SEEDS]
            expected = mean(values), stdev(values)
            assert (as_dict(cell)["mean"], as_dict(cell)["sd"]) == pytest.approx(expected)


def test_probe_for_scripts_has_families_where_asked(with_seeds: Pool):
    each, folded = (probe_json(with_seeds, Settings(seeds=seeds, sharpness=0.5)) for seeds in ("each", "families"))
    assert "families" not in each and list(folded["systems"]) == ROWS
    values = [each["systems"][seed] for seed in SEEDS]
    (family,) = folded["families"].values()
    assert family["seeds"] == SEEDS
    assert (family["mean"], family["sd"]) == pytest.approx((mean(values), stdev(values)))
