"""The page Estimates: the sample, its refusal in words, and values with their intervals."""

from __future__ import annotations

from statistics import mean, stdev

import numpy as np
import pytest

from annotation.campaigns.lifecycle import open_campaign
from annotation.models import Judgement
from annotation.release.next_batch import release_next
from evaluation.estimates.estimate import UNCUT, estimate
from evaluation.estimates.kernels.quantities import COUNTS, LISTS, MEASURED, MODELLED, NO_INTERVAL
from evaluation.estimates.kernels.weights import total_interval
from evaluation.estimates.sample import NO_SPREAD
from evaluation.estimates.sections import ANALYSIS
from evaluation.measures.registry import parse_measure
from evaluation.sections.figure_cache import part_figure
from evaluation.sections.settings import Settings
from pooling.models import Pool
from tests.evaluation.cases import columns_of, context_of, sections_of
from tests.factories import judge


@pytest.fixture
def sampled(pool: Pool) -> Pool:
    """Of 27 triples drawn at random every third is positive."""
    open_campaign(pool, order="random", batch_size=27, whole_questions=False, seed=3)
    for item in pool.campaign.items.exclude(place=None).select_related("triple"):
        judge(item.triple, "positive" if item.place % 3 == 0 else "negative")
    return pool


def test_sample_is_told_by_stratum_with_its_estimated_positives(sampled: Pool):
    section = sections_of(ANALYSIS, context_of(sampled))["estimates-sample"]
    triples = sampled.triples.filter(reason="").count()
    (row,) = section.tables[0].rows
    assert row[:6] == ["all triples", triples, 27, 27 / triples, 9, 0]
    low, high = total_interval(triples, 27, 9)
    assert row[6] == pytest.approx({"value": triples / 3, "low": low, "high": high})
    assert section.finding == f"27 of {triples} triples are drawn and judged."
    assert section.notes == []
    assert section.caption.startswith(f"Sample: order random; {sampled.seeds.count()} positives are certain")


def test_notes_say_what_waits_and_what_is_left_out(sampled: Pool):
    item = sampled.campaign.items.get(place=20)
    item.triple.judgement.delete()
    mate = sampled.triples.filter(reason="", item=None).first()
    assert mate is not None
    judge(mate, "negative")
    section = sections_of(ANALYSIS, context_of(sampled))["estimates-sample"]
    assert section.tables[0].rows[0][2] == 26
    assert section.notes == [
        "Triples of the sample that wait for a judgement: 1. They are taken to be like the judged ones, which favours"
        " what is judged quickly as long as they are many.",
        "Judged triples that are left out: 1. They came to people with the question of a drawn one, by another order,"
        " or by an import.",
    ]


def test_note_says_what_waits_for_triples_that_joined_the_pool(sampled: Pool):
    sampled.campaign.items.filter(place=20).update(place=None)
    section = sections_of(ANALYSIS, context_of(sampled))["estimates-sample"]
    assert section.notes[0] == (
        "Judged triples that are left out for now: 6. Before them in the random order come 1 that joined the pool later"
        " and are not drawn yet: release the next batch."
    )


@pytest.mark.parametrize("questions", ["grown", "original"])
def test_values_and_intervals_are_those_of_the_estimate(sampled: Pool, questions: str):
    context = context_of(sampled, questions=questions, assumed="unjudged", seed=5)
    sections = sections_of(ANALYSIS, context)
    found = estimate(sampled, questions=questions, assumed_is_judged=False, seed=5)
    names_of_lists = [one.name for one in LISTS]
    for key, estimates, names in (
        ("unbiased", found.unbiased, MEASURED),
        ("modelled", found.modelled, MEASURED),
        ("lists", found.unbiased | {name: found.modelled[name] for name in MODELLED}, [*MODELLED, *names_of_lists]),
    ):
        (table,) = sections[f"estimates-{key}"].tables
        rows = {row[0]: dict(zip([c.key for c in table.columns], row, strict=True)) for row in table.rows}
        assert list(rows) == found.systems
        for i, system in enumerate(found.systems):
            for name in names:
                one = estimates[name]
                expected = {"value": one.value[i], "low": one.low[i], "high": one.high[i]}
                without = key == "unbiased" or name in names_of_lists
                assert rows[system][name] == pytest.approx(one.value[i] if without else expected, abs=1e-12), name
    assert found.plain is not None
    assert list(columns_of(sections["estimates-lists"].tables[0])["infap"].values()) == found.plain.tolist()
    counts = columns_of(sections["estimates-counts"].tables[0])["estimate"]
    assert counts == {one.label: pytest.approx(found.unbiased[one.name].value[0]) for one in COUNTS}
    modelled = columns_of(sections["estimates-counts"].tables[0])["modelled"]
    assert list(modelled.values()) == [pytest.approx(found.modelled[one.name].value[0]) for one in COUNTS]
    words = "Questions of the seeds only." if questions == "original" else "All questions with an answer."
    assert words in sections["estimates-unbiased"].caption
    chart = sections["estimates-modelled"].chart
    assert chart is not None
    first = chart.data["series"][0]
    macro = found.modelled["macro_mrr"]
    assert (first["y"][1], first["low"][1], first["high"][1]) == (macro.value[0], macro.low[0], macro.high[0])


def test_what_has_no_interval_says_why(sampled: Pool):
    sections = sections_of(ANALYSIS, context_of(sampled))
    assert f"No interval: {NO_INTERVAL['unbiased']}" in sections["estimates-unbiased"].notes
    assert f"infAP and infNDCG have no interval. {NO_INTERVAL['lists']}" in sections["estimates-lists"].notes
    assert not any("interval" in note for note in sections["estimates-modelled"].notes)
    (table,) = sections["estimates-lists"].tables
    told = {column.key for column in table.columns if column.note.startswith("no interval. ")}
    assert told == {"infap", *(one.name for one in LISTS)}
    (table,) = sections["estimates-counts"].tables
    for column, key in ((1, "unbiased"), (2, "questions")):
        assert table.columns[column].note.endswith(NO_INTERVAL[key])
        assert isinstance(table.rows[-1][column], float)


def test_one_judged_triple_has_no_interval(pool: Pool):
    open_campaign(pool, order="random", batch_size=1, seed=3)
    item = pool.campaign.items.get(place=0)
    judge(item.triple, "positive")
    sections = sections_of(ANALYSIS, context_of(pool))
    triples = pool.triples.filter(reason="").count()
    low, high = total_interval(triples, 1, 1)
    assert sections["estimates-sample"].tables[0].rows[0][6] == {"value": triples, "low": low, "high": high}
    row = sections["estimates-counts"].tables[0].rows[0]
    assert row[1] == float(triples + pool.seeds.count())
    assert [key for key, section in sections.items() if NO_SPREAD in section.notes] == ["estimates-counts"]
    chart = sections["estimates-unbiased"].chart
    assert chart is not None
    assert all(one["low"] == one["y"] == one["high"] for one in chart.data["series"])


@pytest.mark.parametrize("label", ["positive", "negative"])
def test_a_stratum_of_one_label_says_that_intervals_are_too_short(pool: Pool, label: str):
    open_campaign(pool, order="random", batch_size=9, seed=3)
    for item in pool.campaign.items.exclude(place=None).select_related("triple"):
        judge(item.triple, label)
    sections = sections_of(ANALYSIS, context_of(pool))
    words = (
        "All judged triples of all triples have the same label, which tells nothing of their spread: the intervals of"
        " unbiased counts are too short."
    )
    assert [key for key, section in sections.items() if words in section.notes] == ["estimates-counts"]


def test_everything_judged_is_exact(sampled: Pool):
    while release_next(sampled.campaign):
        pass
    for triple in sampled.triples.filter(reason="", judgement=None):
        judge(triple, "negative")
    section = sections_of(ANALYSIS, context_of(sampled))["estimates-sample"]
    assert section.finding == "Every triple for people is judged: the values below are exact."


def test_without_a_sample_the_page_says_why_and_counts(labelled: Pool):
    sections = sections_of(ANALYSIS, context_of(labelled))
    assert list(sections) == ["no-sample"]
    section = sections["no-sample"]
    assert section.finding.startswith("No estimates: Pool p has no campaign, so nothing was drawn for judging.")
    assert section.tables[0].rows == [
        ["triples for people", labelled.triples.filter(reason="").count()],
        ["given to people", 0],
        ["judged", labelled.judgements.count()],
    ]


def test_a_batch_makes_the_page_stale(sampled: Pool):
    part = ANALYSIS.part("sample")
    before = part_figure(sampled, ANALYSIS, part, Settings()).version
    release_next(sampled.campaign)
    assert part_figure(sampled, ANALYSIS, part, Settings()).version != before


def test_values_beyond_a_measure_stand_and_are_named(sampled: Pool, monkeypatch):
    monkeypatch.setattr(
        "evaluation.estimates.kernels.estimator.ratio", lambda total, units: 2.0 + total / units if units else total
    )
    found = estimate(sampled)
    for name in MEASURED:
        assert (found.unbiased[name].value > 2).all(), name
    labels = ", ".join(parse_measure(name).label for name in MEASURED)
    sections = sections_of(ANALYSIS, context_of(sampled))
    note = f"Below 0 or above 1, where no measure can be: {labels}. {UNCUT}"
    assert [key for key, section in sections.items() if note in section.notes] == ["estimates-unbiased"]


def test_a_family_of_seeds_has_one_row_with_mean_and_deviation(with_seeds: Pool):
    Judgement.objects.all().delete()
    open_campaign(with_seeds, order="random", batch_size=27, whole_questions=False, seed=3)
    for item in with_seeds.campaign.items.exclude(place=None).select_related("triple"):
        judge(item.triple, "positive" if item.place % 3 == 0 else "negative")
    found = estimate(with_seeds)
    sections = sections_of(ANALYSIS, context_of(with_seeds, seeds="families"))
    seeds = [found.systems.index(name) for name in ("transe-s1", "transe", "transe-s2")]
    lists = found.unbiased | {name: found.modelled[name] for name in MODELLED}
    for key, estimates, shown in (
        ("unbiased", found.unbiased, MEASURED),
        ("modelled", found.modelled, MEASURED),
        ("lists", lists, [*MODELLED, *(one.name for one in LISTS)]),
    ):
        (table,) = sections[f"estimates-{key}"].tables
        assert [row[0] for row in table.rows] == ["transe-s1", "distmult", "complex"]
        for column, name in enumerate(shown, 1):
            values = [float(estimates[name].value[i]) for i in seeds]
            own = table.rows[0][column]
            assert own["value"] == values[0]
            low = estimates[name].low[seeds[0]]
            assert own.get("low") == (pytest.approx(low) if np.isfinite(low) else None)
            assert (own["mean"], own["sd"], own["n"]) == pytest.approx((mean(values), stdev(values), 3))
            other = table.rows[1][column]
            assert not isinstance(other, dict) or "mean" not in other
    assert found.plain is not None
    plain = [float(found.plain[i]) for i in seeds]
    own = sections["estimates-lists"].tables[0].rows[0][-1]
    assert (own["value"], own["mean"], own["sd"]) == pytest.approx((plain[0], mean(plain), stdev(plain)))
    drawn = sections["estimates-unbiased"].chart.data["series"]
    assert [series["name"] for series in drawn] == ["transe-s1", "distmult", "complex"]
    assert sections["estimates-counts"] == sections_of(ANALYSIS, context_of(with_seeds))["estimates-counts"]
