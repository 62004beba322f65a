"""Families of seeds on pages, in commands and in the API: one row, the chosen seed, mean and deviation of all."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from statistics import mean, stdev
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command

from evaluation.analyses import correlation, measures
from evaluation.labels.pool_table import pool_table
from evaluation.overview.rankings import overview
from evaluation.sections.csv_text import csv_text
from evaluation.sections.metrics import metrics
from evaluation.sections.section import Cell, Table
from evaluation.sections.seed_notes import IDLE, NO_FAMILY, seed_notes
from evaluation.sections.settings import RANKING, Settings
from evaluation.statistics.bootstrap import bootstrap_correlations, bootstrap_places
from pooling.models import Pool, System
from tests.evaluation.cases import context_of, sections_of

SEEDS = ["transe-s1", "transe", "transe-s2"]  # the chosen one first
ROWS = ["transe-s1", "distmult", "complex"]
NAMES = ("micro_mrr", "macro_hits@3", "micro_mr")
FOLDED = {"seeds": "families"}
DRAWN = {"seeds": "families", "training": "drawn"}


def over_seeds(values: list[float]) -> tuple[float, float, int]:
    return pytest.approx(mean(values)), pytest.approx(stdev(values)), len(values)


def shown(cell: Cell) -> tuple[Any, Any, Any]:
    assert isinstance(cell, dict)
    return cell["mean"], cell["sd"], cell["n"]


def row_of(table: Table, system: str) -> list[Cell]:
    (row,) = [row for row in table.rows if row[0] == system]
    return list(row)


# -- measures -----------------------------------------------------------------------------------------------------


def test_measures_of_a_family_are_those_of_its_chosen_seed_with_mean_and_deviation(with_seeds: Pool):
    each, folded = metrics(with_seeds, measures=NAMES), metrics(with_seeds, measures=NAMES, seeds="families")
    assert folded["systems"] == {name: each["systems"][name] for name in ROWS}
    assert folded["n"] == each["n"] and "families" not in each
    assert list(folded["families"]) == ["transe-s1"]
    family = folded["families"]["transe-s1"]
    assert family["seeds"] == SEEDS
    for name in NAMES:
        values = [each["systems"][seed][name] for seed in SEEDS]
        assert len(set(values)) > 1  # else this shows nothing
        assert (family["mean"][name], family["sd"][name], len(values)) == over_seeds(values)


def test_the_page_measures_shows_them_in_every_table(with_seeds: Pool):
    each = sections_of(measures.ANALYSIS, context_of(with_seeds, measures=NAMES))
    folded = sections_of(measures.ANALYSIS, context_of(with_seeds, measures=NAMES, **FOLDED))
    for key in ("labels", "against", "change", "sides"):
        one, other = folded[key].tables[0], each[key].tables[0]
        assert sorted(str(row[0]) for row in one.rows) == sorted(ROWS)
        rows = [row_of(other, seed) for seed in SEEDS]
        for column in range(1, len(one.columns)):
            cells = [row[column] for row in rows]
            values = [float(cell["value"] if isinstance(cell, dict) else cell) for cell in cells]  # type: ignore[arg-type]
            own = row_of(one, "transe-s1")[column]
            assert isinstance(own, dict) and own["value"] == values[0]
            assert shown(own) == over_seeds(values), (key, column)
            alone = row_of(one, "distmult")[column]
            assert not isinstance(alone, dict) or "mean" not in alone


def test_nothing_changes_for_a_pool_without_families(labelled: Pool):
    for analysis in (measures.ANALYSIS, correlation.ANALYSIS):
        plain = sections_of(analysis, context_of(labelled, measures=NAMES))
        assert sections_of(analysis, context_of(labelled, measures=NAMES, **DRAWN)) == plain
    found = metrics(labelled, measures=NAMES, seeds="families")
    assert found["systems"] == metrics(labelled, measures=NAMES)["systems"]
    assert (found["families"], found["notes"]) == ({}, [NO_FAMILY])


def test_files_have_mean_deviation_and_number_of_seeds(with_seeds: Pool):
    section = sections_of(measures.ANALYSIS, context_of(with_seeds, measures=NAMES, **FOLDED))["labels"]
    head, *lines = csv_text(section.content()["tables"][0]).splitlines()
    assert head.split(",")[:5] == ["system", "micro_mrr", "micro_mrr_mean", "micro_mrr_sd", "micro_mrr_n"]
    family = metrics(with_seeds, measures=NAMES, seeds="families")["families"]["transe-s1"]
    own = next(line for line in lines if line.startswith("transe-s1")).split(",")
    assert [float(text) for text in own[2:5]] == pytest.approx(
        [family["mean"]["micro_mrr"], family["sd"]["micro_mrr"], 3]
    )
    assert next(line for line in lines if line.startswith("distmult")).split(",")[2:5] == ["", "", ""]


# -- notes ----------------------------------------------------------------------------------------------------------


def test_a_note_names_the_seeds_that_a_row_stands_for(with_seeds: Pool):
    assert seed_notes(context_of(with_seeds)) == []
    (note,) = seed_notes(context_of(with_seeds, **FOLDED))
    assert f"transe-s1 of 3 ({', '.join(SEEDS)})" in note


def test_seeds_with_other_settings_are_no_family_and_the_setting_is_said(with_seeds: Pool):
    system = System.objects.get(name="transe-s2")
    System.objects.filter(pk=system.pk).update(settings={**system.settings, "embedding_dim": 77})
    context = context_of(with_seeds, **FOLDED)
    assert context.systems == ["transe-s1", "transe-s2", "distmult", "complex"]
    told = seed_notes(context)
    assert "transe-s1 of 2 (transe-s1, transe)" in told[0]
    assert "embedding_dim is 8 in transe-s1/transe and 77 in transe-s2" in told[1]


def test_training_variance_is_idle_without_families_and_says_so(labelled: Pool):
    context = context_of(labelled, training="drawn", seeds="families")
    assert context.drawn_families is None
    assert [note for note in seed_notes(context) if note.startswith(IDLE)] == [f"{IDLE} no system has several seeds."]


def test_training_variance_is_idle_where_each_seed_is_shown_and_says_so(with_seeds: Pool):
    context = context_of(with_seeds, training="drawn")
    assert context.drawn_families is None
    assert seed_notes(context) == [f"{IDLE} show families of seeds to have it."]


# -- intervals --------------------------------------------------------------------------------------------------------


def test_tau_intervals_draw_seeds_of_families(with_seeds: Pool, monkeypatch):
    monkeypatch.setattr(correlation, "RESAMPLES", 12)  # the few systems here have every order in a thousand
    drawn, fixed = (context_of(with_seeds, measures=NAMES, **how) for how in (DRAWN, FOLDED))
    table = pool_table(with_seeds)
    assert [[table.systems[i] for i in family] for family in table.families] == [SEEDS, ["distmult"], ["complex"]]
    sides = [chosen.sums(NAMES) for chosen in (fixed.each.against, fixed.each.labels)]
    expected = bootstrap_correlations(*sides, fixed.rng(1), 12, families=table.families)
    found = {
        name: sections_of(correlation.ANALYSIS, context)["between"].tables[0]
        for name, context in (("drawn", drawn), ("fixed", fixed))
    }
    for name, row, other in zip(NAMES, found["drawn"].rows, found["fixed"].rows, strict=True):
        tau, own = expected[name]["tau_b"], row[1]
        assert isinstance(own, dict) and isinstance(other[1], dict)
        assert (own["low"], own["high"]) == (tau.low, tau.high)
        assert own["value"] == other[1]["value"]
    assert found["drawn"].rows != found["fixed"].rows
    one, other = (sections_of(correlation.ANALYSIS, context)["first"].caption for context in (drawn, fixed))
    assert one.startswith(other) and len(one) > len(other)


def test_places_on_the_page_correlation_have_mean_and_deviation(with_seeds: Pool):
    sections = sections_of(correlation.ANALYSIS, context_of(with_seeds, measures=NAMES, **FOLDED))
    for key, columns in (
        ("places", {1: ("seeds", 0), 3: ("current", 0)}),
        ("first-places", {1: ("current", 0), 3: ("current", 1)}),
    ):
        row = row_of(sections[key].tables[0], "transe-s1")
        for column, (labels, measure) in columns.items():
            each = metrics(with_seeds, labels, NAMES)["systems"]
            assert shown(row[column]) == over_seeds([each[seed][NAMES[measure]] for seed in SEEDS]), (key, column)


def test_the_overview_folds_families_and_draws_their_seeds(with_seeds: Pool):
    found = {
        how: overview(with_seeds, "micro_mrr", Settings(**given))
        for how, given in (("each", {}), ("fold", FOLDED), ("draw", DRAWN))
    }
    assert [row["system"] for row in found["each"]["rows"]] == [*sorted(SEEDS), "distmult", "complex"]
    for how in ("fold", "draw"):
        assert [row["system"] for row in found[how]["rows"]] == ROWS
        own, alone = (row["cells"][0] for row in found[how]["rows"][:2])
        values = [metrics(with_seeds, measures=NAMES)["systems"][seed]["micro_mrr"] for seed in SEEDS]
        assert (own["value"], own["mean"], own["sd"]) == (values[0], *over_seeds(values)[:2])
        assert "mean" not in alone
    context = context_of(with_seeds)
    rng = np.random.default_rng(Settings().seed)
    expected = bootstrap_places(context.labels.sums(RANKING), rng, families=context.table.families)["micro_mrr"]
    assert found["draw"]["sure"]["high"] == expected.high.tolist()
    assert found["draw"]["sure"]["undecided"] == expected.undecided
    assert (found["fold"]["draws_seeds"], found["draw"]["draws_seeds"] != "") == ("", True)
    assert found["fold"]["taus"][0]["tau"] == found["draw"]["taus"][0]["tau"]
    # the page Correlation has the same intervals
    table = sections_of(correlation.ANALYSIS, context_of(with_seeds, **DRAWN))["between"].tables[0]
    for tau, row in zip(found["draw"]["taus"], table.rows, strict=False):
        assert isinstance(row[1], dict) and (tau["low"], tau["high"]) == (row[1]["low"], row[1]["high"])


# -- the command ------------------------------------------------------------


def test_evaluate_prints_mean_and_deviation_below_the_chosen_seed(with_seeds: Pool):
    out, err = StringIO(), StringIO()
    call_command("evaluate", "p", "--measures", "micro_mrr", "--training-seeds", "families", stdout=out, stderr=err)
    family = metrics(with_seeds, measures=NAMES, seeds="families")["families"]["transe-s1"]
    lines = out.getvalue().splitlines()[2:-1]
    assert [line.split()[0] for line in lines] == ["transe-s1", "mean", "standard", "distmult", "complex"]
    assert lines[1].split() == ["mean", "of", "3", "seeds", f"{family['mean']['micro_mrr']:.4f}"]
    assert lines[2].split() == ["standard", "deviation", f"{family['sd']['micro_mrr']:.4f}"]
    assert "transe-s1 of 3" in err.getvalue()


def test_a_folded_table_is_the_same_object_without_families(labelled: Pool):
    table = pool_table(labelled)
    assert table.folded is table
    assert replace(table, families=[[0], [1, 2]]).folded.systems == ["transe", "distmult"]
