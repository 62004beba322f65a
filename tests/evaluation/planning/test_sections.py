"""The page Planning: taus of resampled orders, a forecast worked out by hand, yields counted one by one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from django.db.models import Q

from annotation.campaigns.lifecycle import open_campaign
from annotation.models import Campaign
from annotation.quality.kernel import Share
from evaluation.labels.pool_table import pool_table
from evaluation.measures.question_sums import question_sums
from evaluation.measures.registry import parse_measure
from evaluation.measures.values import values
from evaluation.planning.forecast import Aim, Forecast, Plan, Point, forecast, plan
from evaluation.planning.kernel import LEAST_JUDGED, bootstrap_order, fit_yield
from evaluation.planning.replay import Truth, known_pool
from evaluation.planning.sections import (
    ANALYSIS,
    NO_ORDER,
    NOT_MEASURED,
    given_says,
    hours_in_words,
    in_words,
    labels_left_say,
    left_says,
    plan_json,
)
from evaluation.planning.work_left import Pace, Span, Work, order_figure, work_of
from evaluation.planning.yields import yields
from evaluation.sections.figure_cache import analysis_content, part_figure, part_version
from evaluation.sections.settings import Settings
from pooling.models import Pool
from tests.evaluation.analyses.test_accumulation import in_time  # noqa: F401 - a fixture
from tests.evaluation.cases import columns_of, context_of, sections_of
from tests.factories import judge

WORK = Work(given=40, to_judge=1000, places=2000, may_differ=1000, conflicts=Share(25, 100))


def test_order_table_is_of_the_resamples(labelled: Pool):
    context = context_of(labelled, measures=("micro_mrr", "bpref"), assumed="unjudged", seed=3)
    sections = sections_of(ANALYSIS, context)
    sums = context.labels.sums(["micro_mrr", "bpref"], False)
    expected = bootstrap_order(sums, context.rng(), 1000)
    table = sections["order-now"].tables[0]
    for row, one in zip(table.rows, expected.values(), strict=True):
        assert row[1] == {"value": one.mean, "low": one.low, "high": one.high}
        assert row[2:] == [one.undecided().size, 3, one.questions]
    pairs = [
        [measure.label, *(context.systems[s] for s in one.pairs[i]), one.same[i]]
        for measure, one in zip(context.measures, expected.values(), strict=True)
        for i in one.undecided()
    ]
    assert sections["order-pairs"].tables[0].rows == pairs and pairs
    assert all(share < 0.95 for *_, share in pairs)


def test_the_target_is_told_with_its_measure(labelled: Pool):
    def finding(*systems: str) -> str:
        return sections_of(ANALYSIS, context_of(labelled, systems=systems))["order-now"].finding

    assert finding().startswith("By Micro MRR, tau, now against ")
    assert finding().endswith("The campaign has no target; forecasts are for the usual 0.90.")
    sections = sections_of(ANALYSIS, context_of(labelled))
    assert sections["forecast"].chart.data["references"] == [{"y": 0.9, "name": "usual target 0.90"}]
    assert finding("transe", "complex") == f"For all systems, which a target always counts, b{finding()[1:]}"
    campaign = open_campaign(labelled)
    Campaign.objects.filter(pk=campaign.pk).update(target_tau=0.95, target_measure="map@20")
    assert finding().startswith("By MAP@20, tau, now against ")
    assert "The target is not reached: it is that the interval begins at 0.95 or above, no pair" in finding()
    kept = order_figure(labelled, "map@20")
    kept.content |= {"low": 0.96, "undecided": 0, "undefined": 3}
    kept.save()
    assert "3 of 1,000 resamples tie all systems. The target is not reached" in finding()
    kept.content["undefined"] = 0
    kept.save()
    assert finding().endswith("The target of 0.95 is reached: no further batch is released by itself.")


# -- the forecast -----------------------------------------------------------------------------------------------


def point(judged: int, questions: int, low: float) -> Point:
    return Point(judged, questions, low, low, 1.0)


def test_forecast_by_hand():
    points = [point(0, 100, 0.1), point(100, 120, 0.5), point(200, 160, 0.6)]
    found = forecast("micro_mrr", 0.8, points, WORK)
    # from the last point 160 * (0.4 / 0.2)^2 = 640 questions, 480 more; 60 were opened by 200 judgements
    # at worst 120 * (0.5 / 0.2)^2 = 750, at the slowest rate of 0.2 a judgement, which 1,000 triples do not reach
    # at best 480 more at 0.4 a judgement
    assert found.judgements is None or not math.isfinite(found.judgements.value)
    assert found.judgements is not None and math.isinf(found.judgements.low)
    many = Work(0, 10_000, 20_000, 10_000, Share(25, 100))
    found = forecast("micro_mrr", 0.8, points, many)
    assert found.judgements == pytest.approx((1600.0, 1200.0, 2950.0))
    low, high = many.third.low, many.third.high
    assert found.labels == pytest.approx((1600 * 2.25, 1200 * (2 + low), 2950 * (2 + high)))


def test_what_has_no_forecast_says_why():
    nothing = forecast("micro_mrr", 0.8, [point(0, 100, 0.5)], WORK)
    assert nothing.labels is None and nothing.reason.startswith("nothing is judged yet")
    undefined = forecast("micro_mrr", 0.8, [point(0, 100, 0.5), point(9, 100, math.nan)], WORK)
    assert undefined.labels is None and undefined.reason.startswith("tau is undefined")
    reached = forecast("micro_mrr", 0.8, [point(0, 100, 0.5), point(9, 100, 0.8)], WORK)
    assert (reached.labels, reached.reason) == (Span(0, 0, 0), "")
    tied = forecast("micro_mrr", 0.8, [point(0, 100, 0.5), point(9, 100, 1.0)._replace(is_sure=False)], WORK)
    assert tied.labels is None and tied.reason.startswith("the interval begins there already, yet pairs")
    stuck = forecast("micro_mrr", 0.8, [point(0, 100, 0.5), point(9, 100, 0.5)], WORK)
    assert stuck.labels is not None and math.isinf(stuck.labels.low)


def test_replay_is_the_labels_as_they_came(labelled: Pool, in_time: list[Any]):  # noqa: F811
    context = context_of(labelled)
    found = plan(context).forecast.points
    n = len(in_time)
    assert [one.judged for one in found] == [round(n * i / 5) for i in range(6)]
    from evaluation.labels.label_sets import state_of

    table = pool_table(labelled)
    for one in found:
        first = in_time[: one.judged]
        state = state_of(table, [j.triple_id for j in first], [j.verdict for j in first])
        sums = question_sums(values(table.pool, state, ["micro_mrr"])["micro_mrr"])
        expected = bootstrap_order({"micro_mrr": sums}, context.rng(), 1000)["micro_mrr"]
        assert one.is_sure == (not expected.undecided().size and expected.defined == 1000)
        assert (one.questions, one.tau, one.low, one.high) == pytest.approx(
            (expected.questions, expected.mean, expected.low, expected.high), abs=1e-12
        )


def test_labels_and_hours_left(labelled: Pool, monkeypatch):
    campaign = open_campaign(labelled)
    Campaign.objects.filter(pk=campaign.pk).update(budget=100)
    section = sections_of(ANALYSIS, context_of(labelled))["left"]
    rows = {row[0]: row[1:] for row in section.tables[0].rows}
    left = work_of(labelled).labels_left
    assert rows["the pool is judged"][0] == {"value": left.value, "low": left.low, "high": left.high}
    assert rows["the budget is used up"][0] == {"value": 100.0, "low": 100.0, "high": 100.0}
    assert rows["the budget is used up"][1] == {"value": None, "reason": NOT_MEASURED}
    monkeypatch.setattr("evaluation.planning.forecast.pace_of", lambda pool: Pace(Span(36, 18, 72), 50, 2))
    section = sections_of(ANALYSIS, context_of(labelled))["left"]
    rows = {row[0]: row[1:] for row in section.tables[0].rows}
    assert rows["the budget is used up"][1] == {"value": 1.0, "low": 0.5, "high": 2.0}
    assert "Pace 36 s of active time a label (the quickest 18 s, the slowest 72 s)" in section.caption


@pytest.mark.parametrize(
    ("work", "told"),
    [
        (Work(2223, 128, 245, 117, Share(109, 1049), disputed=11, labels=2098, third_given=98),
         "234 labels and about 23 third labels are"),
        (Work(0, 6, 12, 6, Share(0, 0)), "12 labels are"),
        (Work(4, 1, 1, 0, Share(1, 2), disputed=1), "1 third label is"),
        (Work(4, 0, 0, 0, Share(0, 2)), "0 labels are"),
    ],
)  # fmt: skip
def test_labels_that_are_left_are_told_apart_from_third_labels(work: Work, told: str):
    assert labels_left_say(work) == told


def test_labels_that_were_given_are_told_by_their_kind():
    work = Work(2223, 128, 245, 117, Share(109, 1049), labels=2098, third_given=98)
    assert given_says(work) == "2,098 labels and 98 third labels given, and 27 that were withdrawn."
    assert given_says(Work(1, 6, 11, 6, Share(0, 0), labels=1)) == "1 label and 0 third labels given."


@pytest.mark.parametrize(
    ("labels", "told"),
    [
        (Span(0, 0, 0), "begins at 0.90 or above already."),
        (Span(120, 90, 400), "is forecast to begin at 0.90 or above in 120 (90 to 400) labels."),
        (Span(math.inf, 90, math.inf), "is not forecast to begin at 0.90 or above within the pool."),
    ],
)
def test_the_forecast_is_told_of_the_interval(labels: Span, told: str):
    found = Forecast("micro_mrr", 0.9, [], None, labels)
    made = Plan(Aim(parse_measure("micro_mrr"), 0.9, False, None), WORK, Pace(None, 0, 0), found)
    assert left_says(made).endswith(
        f" labels are left to the end of the pool. The 95 % interval of tau, now against resampled, by Micro MRR {told}"
    )


@pytest.mark.parametrize(
    ("hours", "told"),
    [(0.2, "under an hour"), (1.2, "about an hour"), (1.5, "some 2 hours"), (1234.0, "some 1,234 hours")],
)
def test_hours_are_told_in_words(hours: float, told: str):
    assert hours_in_words(hours) == told


def test_imported_judgements_do_not_spare_labels(labelled: Pool):
    campaign = open_campaign(labelled, batch_size=1, audit=0.5)
    assert campaign.items.filter(triple__judgement=None).exclude(triple__reason="").exists()  # audited: no part of it
    judged = labelled.triples.filter(Q(reason="") | Q(item__isnull=False)).exclude(judgement=None)
    assert judged.filter(item=None).exists() and judged.exclude(item=None).exists()
    assert work_of(labelled).imported == judged.count()
    assert sections_of(ANALYSIS, context_of(labelled))["left"].notes == [
        f"{judged.count()} triples that wait for labels of people have an imported judgement already."
    ]


def test_words_of_a_range():
    assert in_words(Span(1200, 900, 4000)) == "1,200 (900 to 4,000)"
    assert in_words(Span(1200, 900, math.inf)) == "1,200 (900 to more than the pool holds)"


# -- yields -----------------------------------------------------------------------------------------------------


def counted(pool: Pool) -> dict[int, dict[str, Any]]:
    """By relation, a triple at a time; -1: all."""
    verdicts = dict(pool.judgements.values_list("triple_id", "verdict"))
    items = set(Campaign.objects.filter(pool=pool).values_list("items__triple", flat=True))
    found: dict[int, dict[str, Any]] = {}
    for triple in pool.triples.all():
        for relation in (triple.relation, -1):
            row = found.setdefault(
                relation,
                {
                    "pooled": 0,
                    "to_people": 0,
                    "released": 0,
                    **{name: [0] * pool.depth for name in ("judged", "positive", "unjudged")},
                },
            )
            row["pooled"] += 1
            if triple.reason:
                continue
            verdict = verdicts.get(triple.pk)
            row["to_people"] += 1
            row["released"] += triple.pk in items
            row["judged"][triple.depth - 1] += verdict in ("positive", "negative")
            row["positive"][triple.depth - 1] += verdict == "positive"
            row["unjudged"][triple.depth - 1] += verdict is None
    return found


def test_yields_are_counted_one_by_one(labelled: Pool):
    campaign = open_campaign(labelled)
    last = campaign.items.order_by("order").last()
    assert last is not None
    last.slots.all().delete()
    last.delete()
    work = work_of(labelled)
    found = yields(context_of(labelled), work)
    expected = counted(labelled)
    every = fit_yield(*(np.array(expected[-1][name]) for name in ("positive", "judged")))
    assert {row.relation for row in found.relations} | {-1} == expected.keys()
    for row in [found.every, *found.relations]:
        own = expected[row.relation]
        assert (row.pooled, row.to_people, row.released) == (own["pooled"], own["to_people"], own["released"])
        for name in ("judged", "positive", "unjudged"):
            assert getattr(row, name).tolist() == own[name]
        assert row.is_own == (sum(own["judged"]) >= LEAST_JUDGED)
        curve = fit_yield(row.positive, row.judged) if row.is_own else every
        left = sum(n * min(1, curve.scale * d**curve.power) for d, n in enumerate(own["unjudged"], 1))
        assert row.left == pytest.approx(left, abs=1e-9)
        if sum(own["unjudged"]):
            assert row.per_label(work) == pytest.approx(left / (sum(own["unjudged"]) * 2), abs=1e-9)
    pays = [row.per_label(work) or 0 for row in found.relations]
    assert pays == sorted(pays, reverse=True) and pays[0] > pays[-1]


def test_tables_of_the_yields(labelled: Pool):
    sections = sections_of(ANALYSIS, context_of(labelled))
    found = yields(context_of(labelled), work_of(labelled))
    table = sections["relations-next"].tables[0]
    assert [row[0] for row in table.rows] == [row.name for row in found.relations]
    by_depth = columns_of(sections["yield-depth"].tables[0])
    for d in range(1, labelled.depth + 1):
        positive, judged = int(found.every.positive[d - 1]), int(found.every.judged[d - 1])
        assert (by_depth["judged"][d], by_depth["positive"][d]) == (judged, positive)
        assert by_depth["yield"][d] == positive / judged
    total = sum(row.left or 0 for row in found.relations)
    assert table.foot[1:6] == [
        found.every.pooled,
        found.every.to_people,
        found.every.released,
        int(found.every.judged.sum()),
        int(found.every.positive.sum()),
    ]
    assert table.foot[8] == total
    assert sections["relations-next"].finding.startswith(f"About {total:,.0f} positives are expected among the")


@pytest.mark.parametrize(("order", "told"), [("depth", 0), ("random", 0), ("stratified", 0), ("hedge", 1)])
def test_note_warns_of_orders_that_prefer_positives_within_a_depth(labelled: Pool, order: str, told: int):
    open_campaign(labelled, order=order, batch_size=1)
    section = sections_of(ANALYSIS, context_of(labelled))["relations-next"]
    assert sum(note.startswith("The order of judging prefers") for note in section.notes) == told


def test_too_few_judgements_give_no_expectation(pool: Pool):
    section = sections_of(ANALYSIS, context_of(pool))["relations-next"]
    for row in section.tables[0].rows:
        assert row[8]["value"] is None and row[8]["reason"].startswith("the whole pool has fewer than 30 judged")
    assert section.finding.startswith("Too little is judged") and section.chart is None
    for triple in pool.triples.filter(reason=""):
        judge(triple, "undecided")
    assert sections_of(ANALYSIS, context_of(pool))["relations-next"].finding == "Every triple for people is judged."


# -- kept, and for scripts --------------------------------------------------------------------------------------


def test_a_new_target_is_on_the_page(labelled: Pool):
    campaign = open_campaign(labelled)
    part = ANALYSIS.part("order")
    before = part_figure(labelled, ANALYSIS, part, Settings()).content["sections"][0]["finding"]
    Campaign.objects.filter(pk=campaign.pk).update(target_tau=0.95)
    after = part_figure(labelled, ANALYSIS, part, Settings())
    assert after.content["sections"][0]["finding"] != before
    assert after.version == part_version(labelled, ANALYSIS, part, Settings())


def test_json_has_the_figures_of_the_page(labelled: Pool):
    found = plan_json(labelled)
    sections = sections_of(ANALYSIS, context_of(labelled))
    assert found["says"] == [sections["order-now"].finding, sections["left"].finding]
    for row, one in zip(sections["order-now"].tables[0].rows, found["order"].values(), strict=True):
        assert row[1] == {"value": one["tau"], "low": one["low"], "high": one["high"]}
        assert row[2:] == [one["undecided"], one["pairs"], one["questions"]]
    left = work_of(labelled).labels_left
    assert found["left"]["pool"] == {"labels": left.json(), "hours": None, "reason": ""}
    assert found["left"]["budget"] == {"labels": None, "hours": None, "reason": "the campaign has no budget"}
    names = [row[0] for row in sections["relations-next"].tables[0].rows]
    assert [row["relation"] for row in found["relations"]] == names


def test_one_system_has_no_order_and_no_forecast(labelled: Pool):
    for system in list(labelled.systems.all())[1:]:
        system.run.delete()
    sections = sections_of(ANALYSIS, context_of(labelled))
    assert sections["order-now"].tables[0].rows[0][1] == {"value": None, "reason": NO_ORDER}
    assert sections["order-now"].finding == (
        f"By Micro MRR tau, now against resampled, is undefined: {NO_ORDER}. Nothing stops at a target."
    )
    assert sections["order-pairs"].tables[0].rows == []
    assert "There is no forecast for tau 0.90: tau is undefined" in sections["left"].finding


# -- families of seeds --------------------------------------------------------------------------------------------


def test_three_seeds_of_a_system_are_one_system_of_the_order(with_seeds: Pool):
    """Of five systems there would be ten pairs, of the three families there are three."""
    parts = analysis_content(with_seeds, ANALYSIS, Settings(measures=("micro_mrr",)))["parts"]
    (row,) = parts[0]["sections"][0]["tables"][0]["rows"]
    context = context_of(with_seeds, measures=("micro_mrr",), seeds="families")
    sums = context.labels.sums(["micro_mrr"])
    assert context.systems == ["transe-s1", "distmult", "complex"]
    expected = bootstrap_order(sums, context.rng(), 1000)["micro_mrr"]
    assert row[1] == {"value": expected.mean, "low": expected.low, "high": expected.high} and row[3] == 3
    figure = order_figure(with_seeds, "micro_mrr").content
    assert (figure["pairs"], figure["tau"]) == (3, expected.mean)
    found = plan_json(with_seeds)
    assert [one["pairs"] for one in found["order"].values()] == [3] * 6
    assert "transe-s1 of 3 (transe-s1, transe, transe-s2)" in found["says"][-1]
    points = parts[1]["sections"][1]["tables"][0]["rows"]
    assert points[-1][2]["value"] == pytest.approx(expected.mean)


def test_a_replay_ranks_families_and_not_their_seeds(with_seeds: Pool):
    truth = Truth(dict(with_seeds.judgements.values_list("triple_id", "verdict")), [])
    assert known_pool(with_seeds, truth).table.systems == ["transe-s1", "distmult", "complex"]
