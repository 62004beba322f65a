"""A pool that grows under a campaign that releases all at once: in parts, and however it was interrupted, once."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from annotation.campaigns.lifecycle import open_campaign
from annotation.models import Campaign, Slot
from annotation.release import next_batch
from annotation.release.next_batch import release_next, unreleased
from pooling.models import Pool, PooledTriple
from pooling.signals import pool_grew
from tests.annotation.factories import findings
from tests.annotation.release.test_next_batch import make_pool


@pytest.fixture
def pool(graph, monkeypatch) -> Pool:
    monkeypatch.setattr(next_batch, "PAUSE", 0)
    return make_pool(graph)


def add_triples(pool: Pool, heads: Iterable[int], tails: Iterable[int] = (3,)) -> None:
    """Answers `tails` to a tail question of each head."""
    PooledTriple.objects.bulk_create(
        PooledTriple(pool=pool, head=h, relation=1, tail=t, depth=1, provenance=findings((0, 0, 1)))
        for t in tails
        for h in heads
    )


def test_growth_comes_in_parts_of_whole_questions_and_says_how_far_it_is(pool, monkeypatch) -> None:
    campaign = open_campaign(pool)
    add_triples(pool, (20, 21, 22), range(9))
    told: list[tuple[int, int]] = []
    monkeypatch.setattr(next_batch, "PART", 10)
    pool_grew.send(sender=Pool, pool=pool, tell=lambda done, total: told.append((done, total)))
    assert told == [(18, 27), (27, 27)]  # questions of nine triples: not before 10 the next one ends
    batches = campaign.batches.filter(origin="extension").order_by("number")
    assert [(batch.number, batch.size) for batch in batches] == [(2, 18), (3, 9)]
    questions = [set(batch.items.values_list("triple__head", "group")) for batch in batches]
    assert [len(of) for of in questions] == [2, 1]
    assert {head for head, _ in questions[0] | questions[1]} == {20, 21, 22}
    assert len({group for _, group in questions[0] | questions[1]}) == 3
    assert sorted(campaign.items.values_list("order", flat=True)) == list(range(51))
    assert Slot.objects.filter(item__batch__origin="extension").count() == 54


def test_growth_that_was_interrupted_goes_on_with_what_is_left(pool, monkeypatch) -> None:
    class KilledError(BaseException):
        """Nothing catches it."""

    def die(done: int, total: int) -> None:
        raise KilledError

    campaign = open_campaign(pool)
    before = list(campaign.items.values_list("pk", "order", "group"))
    add_triples(campaign.pool, range(20, 30))
    monkeypatch.setattr(next_batch, "PART", 4)
    with pytest.raises(KilledError):
        pool_grew.send(sender=Pool, pool=pool, tell=die)
    assert (campaign.items.count(), unreleased(pool).count()) == (28, 6)
    first = list(campaign.items.values_list("pk", "order", "group"))
    pool_grew.send(sender=Pool, pool=pool)
    assert list(campaign.batches.values_list("size", flat=True)) == [24, 4, 4, 2]
    assert list(campaign.items.filter(order__lt=28).values_list("pk", "order", "group")) == first
    assert first[:24] == before
    assert unreleased(pool).count() == 0
    assert set(Slot.objects.filter(item__campaign=campaign).values_list("number", "state")) == {
        (1, "free"),
        (2, "free"),
    }


def test_growth_leaves_to_others_what_they_have_released_meanwhile(pool, monkeypatch) -> None:
    campaign = open_campaign(pool)
    add_triples(campaign.pool, range(20, 30))
    monkeypatch.setattr(next_batch, "PART", 4)

    def meanwhile(done: int, total: int) -> None:
        if done == 4:
            release_next(campaign)

    pool_grew.send(sender=Pool, pool=pool, tell=meanwhile)
    assert list(campaign.batches.values_list("origin", "size")) == [("all", 24), ("extension", 4), ("all", 6)]
    assert campaign.items.count() == 34


def test_growth_stops_where_the_campaign_changes_over_to_batches(pool, monkeypatch) -> None:
    campaign = open_campaign(pool)
    add_triples(campaign.pool, range(20, 30))
    monkeypatch.setattr(next_batch, "PART", 4)
    pool_grew.send(
        sender=Pool, pool=pool, tell=lambda done, total: Campaign.objects.filter(pk=campaign.pk).update(batch_size=5)
    )
    assert unreleased(pool).count() == 6
