"""The first chapter of a report: the two rankings of the overview, as the page has them."""

from __future__ import annotations

import pytest

from core.errors import UserError
from evaluation.labels.pool_table import pool_table
from evaluation.overview.full_report import full_report, report_html
from evaluation.overview.rankings import SHARES, overview
from evaluation.overview.sections import OVERVIEW, measure_of, overview_sections
from evaluation.sections.section import Section
from evaluation.sections.settings import RANKING, Settings
from pooling.models import Pool, Run
from tests.factories import judge

MACRO = Settings(measures=("macro_mrr", "bpref"))


def sections_of(pool: Pool, settings: Settings = MACRO) -> tuple[Section, Section]:
    rankings, top = overview_sections(pool, settings)[0]
    return rankings, top


def test_measure_is_the_first_chosen_that_the_overview_ranks_by():
    assert measure_of(Settings(measures=("map@20", "micro_mrr"))) == "map@20"
    assert measure_of(Settings(measures=("bpref", "map@20"))) == "micro_mrr"


def test_places_values_and_intervals_are_those_of_the_page(labelled: Pool):
    found, (rankings, _), by = overview(labelled, "macro_mrr"), sections_of(labelled), "Macro MRR"
    expected = [
        [
            p.system,
            p.sparse,
            {"value": p.completed, "low": p.low, "high": p.high},
            p.sparse_value,
            p.completed_value,
            by,
        ]
        for p in (line.change for line in found["lines"])
    ]
    table = rankings.tables[0]
    assert table.rows == expected and [row[2]["value"] for row in table.rows] == sorted(
        row[2]["value"] for row in table.rows
    )
    values = {row["system"]: row["cells"][2] for row in found["rows"]}  # macro_mrr is the third of RANKING
    for system, seeds, current, before, now, _ in table.rows:
        assert (values[system]["before"], values[system]["value"]) == (before, now)
        assert 1 <= current["low"] <= current["value"] <= current["high"] <= 3 and 1 <= seeds <= 3
    assert rankings.finding.startswith(found["sentence"]) and "of 3 pairs of systems" in rankings.finding
    assert f"n = {found['n_before']['macro_mrr']} (seeds) and {found['n']['macro_mrr']} (current) questions" in (
        rankings.caption
    )


def test_taus_of_all_rankings_stand_beside(labelled: Pool):
    found, (rankings, _) = overview(labelled, "macro_mrr"), sections_of(labelled)
    rows = rankings.tables[1].rows
    assert [row[0] for row in rows] == [m.label for m in found["measures"]]
    for row, tau in zip(rows, found["taus"], strict=False):
        assert (row[1]["value"], row[1].get("low"), row[2]) == (tau["tau"], tau["low"], tau["questions"])


@pytest.mark.parametrize("name", RANKING)
def test_slope_has_each_system_at_its_places(labelled: Pool, name: str):
    rankings, _ = sections_of(labelled, Settings(measures=(name,)))
    systems = pool_table(labelled).systems
    assert rankings.chart is not None
    lines = rankings.chart.data["lines"]
    for line, row in zip(lines, rankings.tables[0].rows, strict=True):
        assert systems[line["system"]] == line["name"] == row[0]
        assert (line["left"], line["right"]) == (row[1], row[2]["value"])
    for side in ("left", "right"):
        by_row = sorted(lines, key=lambda at: at[f"{side}_row"])
        assert [line[f"{side}_row"] for line in by_row] == [1, 2, 3]
        assert [line[side] for line in by_row] == sorted(line[side] for line in lines)


def test_top_shares_are_those_of_the_page_and_add_up(labelled: Pool):
    _, top = sections_of(labelled)
    shares = overview(labelled, "macro_mrr")["shares"]
    for row in top.tables[0].rows:
        assert row[1:] == [shares["systems"][row[0]][kind] for kind in SHARES]
        assert sum(row[1:]) == pytest.approx(1)
    assert f"n = {shares['positions']} places" in top.caption


def test_chapter_is_of_the_current_labels_whatever_is_chosen(labelled: Pool):
    usual = full_report(labelled, MACRO).chapters[0]
    chosen = full_report(labelled, Settings(labels="depth:1", measures=MACRO.measures, seed=99, questions="original"))
    assert chosen.chapters[0].parts == usual.parts
    html = report_html(chosen)
    assert html.index('href="#chapter-overview"') < html.index('href="#chapter-measures"')
    assert OVERVIEW.lead in html
    judge(labelled.triples.filter(reason="", judgement=None)[0], "positive")
    assert full_report(labelled, MACRO).chapters[0].parts != usual.parts


def test_pool_without_positives_has_reasons_and_no_number(labelled: Pool):
    labelled.seeds.all().delete()
    labelled.judgements.all().delete()
    rankings, top = sections_of(labelled)
    assert (rankings.chart, rankings.tables[0].rows) == (None, [])
    assert len(rankings.notes) == 6  # three systems under two label sets
    cells = [row[1] for row in rankings.tables[1].rows] + [c for row in top.tables[0].rows for c in row[1:]]
    assert len(cells) == 6 + 18 and all(c["value"] is None and c["reason"] for c in cells)


def test_one_system_has_a_place_and_nothing_to_compare(labelled: Pool):
    Run.objects.exclude(system__name="complex").delete()
    rankings, _ = sections_of(labelled)
    assert [row[:2] for row in rankings.tables[0].rows] == [["complex", 1]]
    assert rankings.finding.endswith("With one system there is nothing to compare.")


def test_systems_without_their_ranks_are_left_out_in_words(labelled: Pool):
    Run.objects.all().delete()
    with pytest.raises(UserError, match="No system has the rank rows"):
        overview_sections(labelled, MACRO)
    part = full_report(labelled, MACRO).chapters[0].parts[0]
    assert part.problem.startswith("Undefined: No system has the rank rows") and part.sections == []
