"""What is left to judge, counted slot by slot; the pace of people; the figure of the order."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.contrib.auth.models import User

from annotation.campaigns.lifecycle import open_campaign
from annotation.campaigns.overview import overview
from annotation.enums import Verdict
from annotation.models import Campaign, Label, Slot
from annotation.quality.kernel import Share
from evaluation.labels.pool_table import pool_table
from evaluation.models import Figure
from evaluation.planning.kernel import bootstrap_order
from evaluation.planning.work_left import Pace, Span, Work, is_reached, order_figure, pace_of, planning_version, work_of
from evaluation.sections.settings import Settings
from pooling.models import Pool
from tests.annotation.factories import World, answer, make_world
from tests.evaluation.cases import context_of
from tests.factories import judge


@pytest.fixture
def world(db, tmp_path: Path) -> World:
    """Six items, nobody has labelled."""
    return make_world(tmp_path / "small")


def give(world: World, item: int, answers: str, third: str = "") -> None:
    """The first answers of the item at this place, and the adjudicator's."""
    chosen = world.campaign.items.order_by("order")[item]
    for person, given, number in zip((world.ann, world.ben), answers, (1, 2), strict=False):
        hold(chosen.slots.get(number=number), person, given)
    if third:
        hold(chosen.slots.get(number=3), world.ada, third)


def hold(slot: Slot, person, given: str) -> None:
    Slot.objects.filter(pk=slot.pk).update(state="leased", annotator=person, leased_until=None)
    answer(person, Slot.objects.get(pk=slot.pk), given)


def test_without_a_campaign_each_triple_without_a_judgement_needs_two_labels(labelled: Pool):
    waiting = labelled.triples.filter(reason="", judgement=None).count()
    assert waiting > 0
    assert work_of(labelled) == Work(0, waiting, 2 * waiting, waiting, Share(0, 0))


def test_labels_left_are_counted_by_place(world: World):
    assert work_of(world.pool) == Work(0, 6, 12, 6, Share(0, 0))
    give(world, 0, "YY")  # settled
    give(world, 1, "Y")  # begun: one place is left
    give(world, 2, "YN")  # disputed: the third is left
    give(world, 3, "NY", third="N")  # was disputed
    found = work_of(world.pool)
    # judged: 0 and 3; places: 1 of item 1, the third of item 2, two each of items 4 and 5
    assert found == Work(8, 4, 6, 3, Share(2, 3), disputed=1, labels=7, third_given=1)
    assert found.third == pytest.approx((2 / 3, *Share(2, 3).interval))
    assert found.labels_left == pytest.approx(tuple(6 + 3 * third for third in found.third))
    assert found.third_left == pytest.approx(1 + 3 * 2 / 3)
    shown = overview(world.campaign)  # the page Progress counts alike
    assert (found.labels, found.places - found.disputed) == (shown.labels, shown.left)
    assert found.per_judgement == pytest.approx(tuple(2 + third for third in found.third))


def test_a_changed_label_is_given_once_and_unreleased_triples_wait_for_two(world: World):
    give(world, 0, "Y")
    first = Label.objects.get()
    Label.objects.create(
        slot=first.slot,
        item=first.item,
        annotator=first.annotator,
        answer="N",
        template=first.template,
        supersedes=first,
        client_id="00000000-0000-0000-0000-000000000001",
    )
    last = world.campaign.items.order_by("order").last()
    assert last is not None
    last.slots.all().delete()
    last.delete()
    assert work_of(world.pool) == Work(1, 6, 11, 6, Share(0, 0), labels=1)


def test_nothing_known_of_conflicts_is_none_to_one_third_label():
    work = Work(0, 3, 6, 3, Share(0, 0))
    assert (work.third, work.labels_left) == (Span(0, 0, 1), Span(6, 6, 9))
    assert Span(2, 1, 4).times(Span(10, 5, float("inf"))) == Span(20, 5, float("inf"))
    assert Span(2, 1, float("inf")).json() == {"value": 2.0, "low": 1.0, "high": None}


def timed(world: World, monkeypatch, times: dict[str, list[int]]) -> None:
    """People with these active times, in ms."""
    from annotation.quality.annotators import Annotator
    from annotation.quality.annotators import Work as Done

    rows = [Annotator(getattr(world, name), "", Done(single_ms=own)) for name, own in times.items()]
    monkeypatch.setattr("evaluation.planning.work_left.annotators", lambda campaign: rows)


def test_pace_is_the_median_of_each_person(world: World, monkeypatch):
    absurd = [10_000] * 29 + [90_000_000]
    timed(world, monkeypatch, {"ann": absurd, "ben": [20_000] * 20, "cleo": [600_000] * 4 + [0] * 40})
    usual = (30 * 10 + 20 * 20 + 4 * 600) / 54
    # who has fewer than twenty labels is no end of the range
    assert pace_of(world.pool) == Pace(Span(pytest.approx(usual), 10, pytest.approx(usual)), 54, 3)
    timed(world, monkeypatch, {"ann": [10_000] * 30, "ben": [20_000] * 20})
    assert pace_of(world.pool) == Pace(Span(14, 10, 20), 50, 2)


def test_pace_is_of_people_alone(world: World, monkeypatch):
    timed(world, monkeypatch, {"ann": [10_000] * 20, "ben": [1_000] * 60})
    User.objects.filter(pk=world.ben.pk).update(username="sim-annotator-1", password="!unusable")
    world.ben.refresh_from_db()
    assert pace_of(world.pool) == Pace(Span(10, 10, 10), 20, 1)


def test_pace_needs_twenty_timed_labels(world: World, monkeypatch, labelled: Pool):
    timed(world, monkeypatch, {"ann": [10_000] * 19 + [0] * 30})
    assert pace_of(world.pool) == Pace(None, 19, 1)
    timed(world, monkeypatch, {"ann": [10_000] * 20})
    assert pace_of(world.pool) == Pace(Span(10, 10, 10), 20, 1)
    assert pace_of(labelled) == Pace(None, 0, 0)  # no campaign


def test_version_changes_with_target_and_with_labels(world: World):
    seen = {planning_version(world.pool)}
    Campaign.objects.update(target_tau=0.9)
    seen.add(planning_version(world.pool))
    Campaign.objects.update(budget=10)
    seen.add(planning_version(world.pool))
    give(world, 0, "Y")  # judges nothing yet
    seen.add(planning_version(world.pool))
    assert len(seen) == 4 and planning_version(world.pool) in seen
    assert planning_version(world.pool) == planning_version(world.pool)


def test_figure_of_the_order_is_kept_until_a_label_comes(labelled: Pool, monkeypatch):
    context = context_of(labelled)
    expected = bootstrap_order(context.labels.sums(["map@20"]), context.rng(), 1000)["map@20"]
    found = order_figure(labelled, "map@20")
    assert found.content == {
        "measure": "map@20",
        "tau": expected.mean,
        "low": expected.low,
        "high": expected.high,
        "undecided": len(expected.undecided()),
        "pairs": 3,
        "undefined": expected.resamples - expected.defined,
        "judged": labelled.judgements.count(),
    }
    with monkeypatch.context() as patch:
        patch.setattr("evaluation.planning.work_left.bootstrap_order", None)
        assert order_figure(labelled, "map@20").content == found.content
    judge(labelled.triples.filter(judgement=None)[0], Verdict.POSITIVE)
    assert order_figure(labelled, "map@20").content["judged"] == found.content["judged"] + 1
    assert Figure.objects.filter(key="stopping?map@20").count() == 1


def test_a_target_is_reached_by_the_lower_end():
    decided = {"undecided": 0, "undefined": 0}
    assert is_reached({"low": 0.9, **decided}, 0.9)
    assert is_reached({"low": 0.9 - 1e-12, **decided}, 0.9)
    assert not is_reached({"low": 0.89, **decided}, 0.9)
    assert not is_reached({"low": None, **decided}, 0.9)


@pytest.mark.parametrize("unsure", [{"undecided": 1, "undefined": 0}, {"undecided": 0, "undefined": 1}])
def test_a_target_is_not_reached_where_nothing_is_decided(unsure: dict):
    """Resamples that tie all systems have no tau; the few that have one may all be 1."""
    assert not is_reached({"low": 1.0, **unsure}, 0.9)


def test_one_system_has_no_order(labelled: Pool):
    for system in list(labelled.systems.all())[1:]:
        system.run.delete()
    content = order_figure(labelled, Settings().measure).content
    assert (content["tau"], content["low"], content["pairs"]) == (None, None, 0)
    assert len(pool_table(labelled).systems) == 1
    open_campaign(labelled)
