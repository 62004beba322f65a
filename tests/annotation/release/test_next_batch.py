"""Batches: what is released when, and that nothing of the order can be read from them."""

import numpy as np
import pytest
from django.db.models import Count

from annotation.campaigns.lifecycle import open_campaign
from annotation.errors import CampaignError
from annotation.labelling.own_labels import own_progress
from annotation.models import Batch, Campaign, Item, Slot
from annotation.release.next_batch import (
    may_release,
    plan_next_batch,
    progress_of,
    release_next,
    stop_reason,
    unreleased,
)
from annotation.release.settings import set_order
from annotation.signals import batch_wanted
from core.models import AuditEntry
from pooling.enums import PoolOrigin, PoolState
from pooling.models import Pool, PooledTriple
from pooling.orders import ORDERS
from pooling.orders.base import Order, Pick
from pooling.pools.to_judge import order_pool
from pooling.signals import pool_grew
from tests.annotation.factories import answer, claim, findings, label_item
from tests.factories import judge

HEADS = 4  # triples of one question


def make_pool(graph, questions: int = 6) -> Pool:
    """Head questions with four triples each and one that was filtered; run 0 holds them at the rank of the head."""
    pool = Pool.objects.create(
        graph=graph,
        name="p1",
        origin=PoolOrigin.BUILT,
        state=PoolState.READY,
        depth=9,
        seed_source="test",
        contributors=["a"],
    )
    PooledTriple.objects.bulk_create(
        PooledTriple(
            pool=pool,
            head=head,
            relation=0,
            tail=tail,
            depth=head + 1,
            provenance=findings((0, 1, head + 1)),
            reason="types" if head == HEADS else "",
        )
        for tail in range(questions)
        for head in range(HEADS + 1)
    )
    return pool


@pytest.fixture
def pool(graph) -> Pool:
    return make_pool(graph)


@pytest.fixture
def by_id(monkeypatch) -> Order:
    """An order that takes what is first in the pool: its picks are known."""

    def pick(pool, progress, size, seed, settings) -> Pick:
        return Pick.of(np.flatnonzero(~progress.released)[:size], np.zeros(min(size, (~progress.released).sum()), int))

    order = Order("by-id", "By id", "", "", "", False, pick, {"beta": 0.1})
    monkeypatch.setitem(ORDERS, order.name, order)
    return order


@pytest.fixture
def sample(monkeypatch) -> Order:
    """A sample, shallow first, that names those again which came with their question."""

    def pick(pool, progress, size, seed, settings) -> Pick:
        sequence = np.argsort(pool.depth, kind="stable")
        chosen = sequence[~progress.drawn[sequence]][:size]
        chance = (progress.drawn.sum() + len(chosen)) / pool.size
        return Pick(chosen, np.full(len(chosen), chance), np.full(len(chosen), -1))

    order = Order("by-rank", "By rank", "", "", "", True, pick)
    monkeypatch.setitem(ORDERS, order.name, order)
    return order


def rows(campaign: Campaign, *fields: str) -> list:
    return list(campaign.items.order_by("triple").values_list(*fields, flat=len(fields) == 1))


# -- batches ------------------------------------------------------------------------------------------------


def test_everything_at_once_is_one_batch_without_an_order(pool) -> None:
    campaign = open_campaign(pool)
    (batch,) = campaign.batches.all()
    assert (batch.number, batch.origin, batch.order, batch.settings, batch.size) == (1, "all", "", {}, 24)
    assert set(campaign.items.values_list("batch", "place", "probability", "arm")) == {(batch.pk, None, None, None)}


def test_first_batch_is_what_the_order_chose_with_the_rest_of_its_questions(pool, by_id) -> None:
    campaign = open_campaign(pool, order="by-id", batch_size=5, seed=3)
    (batch,) = campaign.batches.all()
    assert (batch.number, batch.origin, batch.order, batch.size) == (1, "order", "by-id", 8)
    assert batch.settings == {"seed": 3, "size": 5, "whole": True, "beta": 0.1}
    first = list(pool.triples.filter(reason="").order_by("pk").values_list("pk", flat=True)[:8])
    assert rows(campaign, "triple", "place", "arm", "probability", "batch") == [
        (pk, i if i < 5 else None, 0 if i < 5 else None, None, batch.pk) for i, pk in enumerate(first)
    ]
    assert set(campaign.items.annotate(n=Count("slots")).values_list("n", flat=True)) == {2}
    assert unreleased(pool).count() == 16


def test_next_batch_goes_on_in_groups_order_and_places(pool, by_id) -> None:
    campaign = open_campaign(pool, order="by-id", batch_size=5)
    assert release_next(campaign).number == 2
    assert sorted(campaign.items.values_list("order", flat=True)) == list(range(16))
    assert sorted(set(campaign.items.values_list("group", flat=True))) == [0, 1, 2, 3]
    assert sorted(campaign.batches.get(number=2).items.values_list("group", flat=True)) == [2] * 4 + [3] * 4
    assert sorted(set(campaign.items.values_list("place", flat=True)) - {None}) == list(range(10))


def test_batches_end_with_the_whole_pool_once(pool, by_id) -> None:
    campaign = open_campaign(pool, order="by-id", batch_size=5)
    sizes = [campaign.batches.get().size]
    while batch := release_next(campaign):
        sizes.append(batch.size)
    assert sizes == [8, 8, 8]
    assert rows(campaign, "triple") == list(pool.triples.filter(reason="").order_by("pk").values_list("pk", flat=True))


def test_single_triples_come_without_the_rest_of_their_questions(pool, by_id) -> None:
    campaign = open_campaign(pool, order="by-id", batch_size=5, whole_questions=False)
    sizes = [campaign.batches.get().size]
    while batch := release_next(campaign):
        sizes.append(batch.size)
    assert sizes == [5, 5, 5, 5, 4]
    assert sorted(campaign.items.values_list("place", flat=True)) == list(range(24))


@pytest.mark.parametrize("order", ["depth", "random", "move-to-front", "hedge", "bandit-mm", "stratified", "mtc"])
def test_every_order_of_the_registry_ends_with_the_whole_pool(pool, order) -> None:
    campaign = open_campaign(pool, order=order, batch_size=3)
    while release_next(campaign):
        pass
    assert campaign.items.count() == 24
    drawn = campaign.items.exclude(place=None)
    places = sorted(drawn.values_list("place", flat=True))
    assert places == list(range(len(places)))
    assert campaign.items.exclude(probability=None).count() == (len(places) if ORDERS[order].is_sample else 0)


def test_sample_that_names_released_triples_marks_them_and_goes_on_until_one_is_new(pool, sample) -> None:
    campaign = open_campaign(pool, order="by-rank", batch_size=24)  # the first of all six questions: all come
    assert campaign.items.count() == 24
    Campaign.objects.update(batch_size=6)
    assert rows(campaign, "place")[::4] == [0, 1, 2, 3, 4, 5]
    PooledTriple.objects.bulk_create(
        PooledTriple(pool=pool, head=head, relation=0, tail=7, depth=4, provenance=findings((0, 1, 4)))
        for head in range(HEADS)
    )
    batch = release_next(campaign)
    assert batch.size == 4
    assert rows(campaign, "triple__depth", "place", "probability", "batch__number") == [
        (depth, [0, 6, 12, 18][depth - 1] + question, [6 / 24, 12 / 28, 18 / 28, 24 / 28][depth - 1], 1)
        for question in range(6)
        for depth in (1, 2, 3, 4)
    ] + [(4, place, 1.0, 2) for place in (24, 25, 26, 27)]


def test_sequence_inside_a_batch_tells_nothing_of_depth(pool, by_id) -> None:
    campaign = open_campaign(pool, order="by-id", batch_size=24, seed=1)
    depths = list(campaign.items.order_by("order").values_list("triple__depth", flat=True))
    groups = list(campaign.items.order_by("order").values_list("triple__tail", flat=True))
    assert groups != sorted(groups)
    assert any(depths[i : i + 4] != sorted(depths[i : i + 4]) for i in range(0, 24, 4))
    again = [depths[i : i + 4] for i in range(0, 24, 4)]
    assert len({tuple(four) for four in again}) > 1


def test_progress_is_rebuilt_from_items_and_judgements(pool, by_id) -> None:
    campaign = open_campaign(pool, order="by-id", batch_size=5)
    triples = list(pool.triples.filter(reason="").order_by("pk"))
    for triple, verdict in zip(triples, ("positive", "negative", "undecided"), strict=False):
        judge(triple, verdict)
    judge(pool.triples.exclude(reason="").first(), "positive")  # no order sees what was filtered
    found = progress_of(campaign, order_pool(pool).triple_id)
    assert found.released.tolist() == [True] * 8 + [False] * 16
    assert found.drawn.tolist() == [True] * 5 + [False] * 19
    assert found.label.tolist() == [1, 0] + [-1] * 22
    assert found.arm.tolist() == [0] * 5 + [-1] * 19


def test_single_triples_are_noted_with_their_batch(pool, by_id) -> None:
    campaign = open_campaign(pool, order="by-id", batch_size=5, whole_questions=False)
    set_order(campaign, order="by-id", settings={}, batch_size=5, whole_questions=True)
    release_next(campaign)
    assert [batch.settings["whole"] for batch in campaign.batches.order_by("number")] == [False, True]


def test_a_first_label_counts_for_the_order_until_there_are_two(world) -> None:
    campaign, items = world.campaign, list(world.campaign.items.order_by("triple"))
    label_item(world, items[0], ann="Y")
    label_item(world, items[1], ann="N")
    label_item(world, items[2], ann="?")
    label_item(world, items[3], ann="Y", ben="N")
    label_item(world, items[4], ann="N")
    judge(items[4].triple, "positive")  # imported: a judgement beats a first label
    triple_id = np.array([item.triple_id for item in items])
    assert progress_of(campaign, triple_id).label.tolist() == [1, 0, -1, -1, 1, -1]
    label_item(world, items[0], ben="N")
    assert progress_of(campaign, triple_id).label[0] == -1  # a dispute is no label


def test_items_from_before_batches_count_as_released(pool, by_id) -> None:
    campaign = open_campaign(pool)
    campaign.items.update(batch=None)
    campaign.batches.all().delete()
    Campaign.objects.update(order="by-id", batch_size=5)
    campaign.refresh_from_db()
    assert release_next(campaign) is None
    assert campaign.items.count() == 24


def test_closed_campaign_releases_nothing(pool, by_id) -> None:
    campaign = open_campaign(pool, order="by-id", batch_size=5)
    Campaign.objects.update(state="closed")
    with pytest.raises(CampaignError, match="The campaign of p1 is closed: open it again first"):
        release_next(campaign)
    assert campaign.items.count() == 8


def test_release_by_a_person_stands_in_the_audit_log(pool, by_id, django_user_model) -> None:
    campaign = open_campaign(pool, order="by-id", batch_size=5)
    boss = django_user_model.objects.create_user("boss")
    release_next(campaign, by=boss)
    entry = AuditEntry.objects.get(act="batch-released")
    assert (entry.person, entry.pool, entry.about) == (boss, pool, "batch 2: 8 triples")


# -- by itself ----------------------------------------------------------------------------------------------


@pytest.fixture
def small(world, by_id) -> Campaign:
    """The world's campaign with its items taken back, in batches of one question of three."""
    Item.objects.all().delete()
    Batch.objects.all().delete()
    Campaign.objects.update(order="by-id", batch_size=1)
    world.campaign.refresh_from_db()
    release_next(world.campaign)
    return world.campaign


def test_claim_that_finds_too_little_releases_the_next_batch(world, small) -> None:
    assert [slot.item.batch.number for slot in claim(small, world.ann, 3)] == [1, 1, 1]
    assert small.batches.count() == 1
    assert [slot.item.batch.number for slot in claim(small, world.ann, 4)] == [1, 1, 1, 2, 2, 2]
    assert small.batches.count() == 2


def test_claim_beyond_the_pool_ends_with_all_of_it(world, small) -> None:
    assert len(claim(small, world.ann, 50)) == 6
    assert len(claim(small, world.ben, 50)) == 6
    assert small.batches.count() == 2
    assert claim(small, world.cleo, 50) == []


def test_paused_campaign_releases_nothing_by_itself(world, small) -> None:
    Campaign.objects.update(state="paused")
    small.refresh_from_db()
    assert claim(small, world.ann, 50) == []
    assert (small.batches.count(), may_release(small)) == (1, False)


def test_used_up_budget_stops_releases_and_says_so(world, small) -> None:
    Campaign.objects.update(budget=7)
    small.refresh_from_db()
    assert stop_reason(small) == ""
    Campaign.objects.update(budget=6)
    small.refresh_from_db()
    label_item(world, small.items.first(), ann="Y", ben="N")  # now it wants a third
    assert stop_reason(small) == (
        "The budget of 6 labels is given out: 2 were given, and released triples wait for 5 more."
    )
    Campaign.objects.update(budget=2)
    small.refresh_from_db()
    assert stop_reason(small) == "The budget of 2 labels is used up: 2 were given."
    claim(small, world.ann, 50)
    assert small.batches.count() == 1
    assert release_next(small).number == 2  # a manager may


def test_who_works_alone_is_given_no_more_than_the_budget_pays_twice(world, small) -> None:
    Campaign.objects.update(budget=6)
    small.refresh_from_db()
    for slot in claim(small, world.ann, 50):
        answer(world.ann, slot)
    assert claim(small, world.ann, 50) == []
    assert (small.batches.count(), len(claim(small, world.ben, 50))) == (1, 3)


def test_receiver_can_stop_releases_and_one_that_fails_cannot(world, small) -> None:
    def stop(sender, campaign, **kwargs) -> str:
        return f"enough of {campaign.pool.name}"

    def fail(sender, **kwargs) -> str:
        raise ValueError

    batch_wanted.connect(fail)
    try:
        assert len(claim(small, world.ann, 50)) == 6
        Campaign.objects.update(batch_size=1)
        Item.objects.filter(batch__number=2).delete()
        batch_wanted.connect(stop)
        assert stop_reason(small) == "enough of p1"
        assert len(claim(small, world.ben, 50)) == 3
    finally:
        batch_wanted.disconnect(fail)
        batch_wanted.disconnect(stop)


def test_nobody_is_told_that_all_is_done_while_a_batch_can_come(world, small) -> None:
    for slot in claim(small, world.ann, 3):
        answer(world.ann, slot)
    assert own_progress(world.ann)[0].has_questions
    Campaign.objects.update(budget=6)
    assert not own_progress(world.ann)[0].has_questions


def test_who_comes_second_finds_the_batch_of_the_first(world, small) -> None:
    """Both found nothing; the second releases nothing once there is something to label."""
    from annotation.release.next_batch import release_when_short

    assert release_when_short(small, lambda: True)
    assert small.batches.count() == 1
    assert release_when_short(small, lambda: False)
    assert small.batches.count() == 2
    assert not release_when_short(small, lambda: False)


# -- growth -------------------------------------------------------------------------------------------------


def grow(pool: Pool) -> PooledTriple:
    new = PooledTriple.objects.create(pool=pool, head=0, relation=0, tail=8, depth=1, provenance=findings((0, 1, 1)))
    PooledTriple.objects.create(pool=pool, head=5, relation=0, tail=8, depth=1, reason="types")
    pool_grew.send(sender=Pool, pool=pool)
    return new


def test_growth_of_a_pool_that_is_released_at_once_reaches_people(pool) -> None:
    campaign = open_campaign(pool)
    new = grow(pool)
    batch = campaign.batches.get(number=2)
    assert (batch.origin, batch.size, list(batch.items.values_list("triple", flat=True))) == ("extension", 1, [new.pk])
    assert batch.items.get().order == 24
    assert Slot.objects.filter(item__batch=batch).count() == 2
    pool_grew.send(sender=Pool, pool=pool)
    assert campaign.batches.count() == 2


def test_growth_waits_for_the_order_where_there_are_batches(pool, by_id) -> None:
    campaign = open_campaign(pool, order="by-id", batch_size=5)
    grow(pool)
    assert campaign.items.count() == 8
    assert unreleased(pool).count() == 17


def test_triple_that_joins_a_released_question_comes_alone(pool, by_id) -> None:
    campaign = open_campaign(pool, order="by-id", batch_size=24)
    PooledTriple.objects.create(pool=pool, head=7, relation=0, tail=0, depth=1, provenance=findings((0, 1, 1)))
    assert release_next(campaign).size == 1
    assert campaign.items.count() == 25
    assert campaign.items.get(triple__head=7).place == 21  # the last one chosen brought the three after it


def test_growth_without_a_campaign_does_nothing(pool) -> None:
    grow(pool)
    assert not Item.objects.exists()


def test_batch_size_zero_releases_the_rest_at_once(pool, by_id) -> None:
    campaign = open_campaign(pool, order="by-id", batch_size=5)
    set_order(campaign, order="by-id", settings={}, batch_size=0)
    assert list(campaign.batches.values_list("number", "origin", "size")) == [(1, "order", 8), (2, "all", 16)]
    assert plan_next_batch(campaign) is None


def test_dispute_of_a_batch_is_a_label_for_the_order(world, small) -> None:
    """Undecided and disputed are unlabelled to an order; the final verdict is what it learns."""
    item = small.items.first()
    label_item(world, item, ann="Y", ben="N")
    ids = order_pool(small.pool).triple_id
    assert progress_of(small, ids).label.tolist() == [-1] * 6
