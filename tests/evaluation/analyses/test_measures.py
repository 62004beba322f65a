"""The page of measures shows what a direct computation from the scores gives, and what changes between label sets."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from scipy.stats import rankdata

from evaluation.analyses.measures import ANALYSIS
from evaluation.labels.pool_table import systems_with_runs
from evaluation.sections.csv_text import csv_text
from evaluation.sections.metrics import metrics
from evaluation.sections.wording import most_often
from evaluation.templatetags.cells import cell
from pooling.models import Pool
from pooling.systems.shown_names import shown_name
from tests.evaluation.cases import (
    columns_of,
    context_of,
    nothing_returned,
    reciprocal_ranks,
    sections_of,
    tied_systems,
    without_positives,
)
from tests.evaluation.oracle import Oracle, positives_of, seeds_of
from tests.factories import make_pool, make_systems

NAMES = ("micro_mr", "micro_mrr", "macro_hits@3")


def test_tables_equal_a_direct_computation_from_the_scores(labelled: Pool):
    sections = sections_of(ANALYSIS, context_of(labelled, measures=NAMES))
    for key, positives in (("labels", positives_of(labelled)), ("against", seeds_of(labelled))):
        table = sections[key].tables[0]
        shown = columns_of(table)
        for system in systems_with_runs(labelled):
            expected = Oracle(labelled, system).measures(positives)
            assert {name: shown[name][system.name] for name in NAMES} == pytest.approx(
                {name: expected[name] for name in NAMES}, rel=1e-12
            )
        assert list(table.foot)[:3] == ["n", 2 * len(positives), 2 * len(positives)]


def test_change_is_the_difference_and_the_places_gained(labelled: Pool):
    change = sections_of(ANALYSIS, context_of(labelled, measures=NAMES))["change"].tables[0]
    new, old = (metrics(labelled, key, NAMES)["systems"] for key in ("current", "seeds"))
    systems = list(new)
    for column, name in enumerate(NAMES, 1):
        sign = 1 if name == "micro_mr" else -1  # a small mean rank is a good one
        places = [rankdata([sign * round(of[s][name], 12) for s in systems], method="min") for of in (old, new)]
        moved = (places[0] - places[1]).astype(int).tolist()
        by_system = {row[0]: row[column] for row in change.rows}
        cells = [by_system[system] for system in systems]
        assert [cell["value"] for cell in cells] == pytest.approx([new[s][name] - old[s][name] for s in systems])
        assert [cell["moved"] for cell in cells] == moved
        assert change.foot[column] == sum(map(bool, moved))


@pytest.mark.parametrize("measure", ["macro_mrr", "micro_mr"])
def test_systems_are_in_the_order_of_the_first_measure_in_every_table(labelled: Pool, measure: str):
    sections = sections_of(ANALYSIS, context_of(labelled, measures=(measure, "map")))
    table = sections["labels"].tables[0]
    values = [row[1] for row in table.rows]
    assert values == sorted(values, reverse=measure == "macro_mrr") and (0, 1) in table.best
    names = [row[0] for row in table.rows]
    assert all([row[0] for row in section.tables[0].rows] == names for section in sections.values())
    assert names != context_of(labelled).systems


def test_best_of_each_column_is_marked_but_judged_is_no_merit(labelled: Pool):
    names = ("micro_mr", "map", "judged@10")
    table = sections_of(ANALYSIS, context_of(labelled, measures=names))["labels"].tables[0]
    values = metrics(labelled, "current", names)["systems"]
    lowest = min(values, key=lambda s: values[s]["micro_mr"])
    highest = max(values, key=lambda s: values[s]["map"])
    systems = [row[0] for row in table.rows]
    assert sorted(map(tuple, table.best)) == sorted([(systems.index(lowest), 1), (systems.index(highest), 2)])


def test_sides_are_the_means_of_their_answers(labelled: Pool):
    table = sections_of(ANALYSIS, context_of(labelled, measures=("micro_mrr",)))["sides"].tables[0]
    shown = columns_of(table)
    answers = reciprocal_ranks(labelled, positives_of(labelled))
    for side, name in enumerate(("tail", "head")):
        own = [ranks for question, _, ranks in answers if question[0] == side]
        assert table.foot[1 + side] == len(own)
        assert shown[f"micro_mrr_{name}"] == pytest.approx(
            {system: np.mean([ranks[system] for ranks in own]) for system in own[0]}
        )


def test_labels_without_a_positive_have_no_value_and_say_why(labelled: Pool):
    nothing = without_positives(context_of(labelled).labels)
    sections = sections_of(ANALYSIS, context_of(labelled, nothing, measures=NAMES))
    reason = "no question has an answer under these labels"
    for row in sections["labels"].tables[0].rows:
        assert row[1:] == [{"value": None, "reason": reason}] * len(NAMES)
    assert sections["labels"].notes == [
        f"Undefined under nothing: Micro MR, Micro MRR, Macro Hits@3 of every system; {reason}."
    ]
    assert sections["change"].tables[0].rows[0][1] == {"value": None, "reason": reason, "moved": None}
    assert sections["sides"].tables[0].rows[0][1] == {"value": None, "reason": "no answer in this group"}


def test_a_system_that_returned_nothing_has_no_mean_rank_and_no_place(labelled: Pool):
    cut = nothing_returned(context_of(labelled).labels, system=1)
    sections = sections_of(ANALYSIS, context_of(labelled, cut, measures=NAMES))
    n = 2 * len(positives_of(labelled))
    reason = context_of(labelled, cut).labels.values(["micro_mr"])["micro_mr"].reasons()[1]
    assert str(n) in reason
    rows = sections["labels"].tables[0].rows
    assert rows[2] == ["distmult", {"value": None, "reason": reason}, 0.0, 0.0]  # by Micro MR, which it has not
    assert all(isinstance(rows[i][1], float) for i in (0, 1))
    changes = {row[0]: row[1] for row in sections["change"].tables[0].rows}
    assert changes["distmult"] == {"value": None, "reason": reason, "moved": None}
    # the two others are compared with each other alone: nobody gains a place because a system has none
    values = [metrics(labelled, key, NAMES)["systems"] for key in ("seeds", "current")]
    behind = [of["transe"]["micro_mr"] > of["complex"]["micro_mr"] for of in values]
    moved = [changes[system]["moved"] for system in ("transe", "distmult", "complex")]
    assert moved == [int(behind[0]) - int(behind[1]), None, int(behind[1]) - int(behind[0])]
    assert any(note.endswith(f"Micro MR of DistMult; {reason}.") for note in sections["labels"].notes)


def test_systems_that_tie_everywhere_share_the_place_and_none_is_best(labelled: Pool):
    tied = tied_systems(context_of(labelled).labels)
    sections = sections_of(ANALYSIS, context_of(labelled, tied, tied, measures=NAMES))
    assert sections["labels"].tables[0].best == []
    assert {row[1]["moved"] for row in sections["change"].tables[0].rows} == {0}
    assert sections["change"].finding == "Both are the same label set."


def test_one_system_alone_has_values_and_no_order(town):
    make_systems(town, ("transe",))
    sections = sections_of(ANALYSIS, context_of(make_pool(town)))
    assert len(sections["labels"].tables[0].rows) == 1
    assert sections["labels"].tables[0].best == []
    assert sections["change"].finding.startswith("Both are") or "One system only" in sections["change"].finding


def test_many_measures_are_counted_and_not_listed(labelled: Pool):
    names = ("micro_mr", "micro_mrr", "map", "ndcg@20", "macro_mrr", "rprec", "bpref", "judged@10")
    sections = sections_of(ANALYSIS, context_of(labelled, measures=names))
    table = sections["labels"].tables[0]
    wins = Counter(table.rows[row][0] for row, _ in table.best)
    assert sections["labels"].finding == f"Of the 8 measures under current labels, {most_often(wins)}."
    moved = sections["change"].tables[0].foot[1:]
    assert f"{min(moved)} to {max(moved)} change their place" in sections["change"].finding
    assert most_often({"a": 2, "b": 5, "c": 2, "d": 0}) == "b is best in 5; a and c are best in 2 each"


def test_change_is_written_with_its_sign_and_its_places(labelled: Pool):
    assert cell({"value": 0.0312, "moved": 2}, "change") == '+0.0312 <span class="muted">(▲ 2)</span>'
    assert cell({"value": -12.34, "moved": -1}, "change") == '−12.3 <span class="muted">(▼ 1)</span>'
    assert cell({"value": 0.5, "moved": 0}, "change") == "+0.5000"
    change = sections_of(ANALYSIS, context_of(labelled, measures=("micro_mr",)))["change"].content()["tables"][0]
    head, *lines = csv_text(change).splitlines()
    assert head == "system,micro_mr,micro_mr_moved,system_name"
    rows = change["rows"]
    assert lines[:3] == [f"{s},{c['value']!r},{c['moved']},{shown_name(s)}" for s, c in rows]


def test_caption_says_how_assumed_negatives_count(labelled: Pool):
    for assumed, words in (("judged", "counted as judged"), ("unjudged", "not counted as judged")):
        caption = sections_of(ANALYSIS, context_of(labelled, assumed=assumed))["labels"].caption
        assert f"assumed negative {words}" in caption
