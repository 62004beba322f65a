"""The state of a pool in words, as every page shows it."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotation.campaigns.lifecycle import open_campaign, set_state
from annotation.campaigns.pool_states import campaign_pill, whole_percent
from annotation.enums import CampaignState, JudgementOrigin, Verdict
from annotation.models import Judgement
from pooling.enums import PoolOrigin, PoolState
from pooling.models import Pool
from pooling.pools.states import Pill, pool_states
from tests.page import content
from tests.pages.world import make_graph, make_person, make_pool


@pytest.fixture
def pool(db, tmp_path: Path) -> Pool:
    return make_pool(make_graph(tmp_path / "tsv"))


def of(pool: Pool) -> Pill:
    return pool_states([Pool.objects.get(pk=pool.pk)])[pool.pk]


def test_a_pool_is_built_then_labelled(pool: Pool):
    for state, look in (("building", "running"), ("failed", "failed"), ("cancelled", "cancelled")):
        Pool.objects.update(state=state)
        assert of(pool) == Pill(PoolState(state).label.lower(), look)
    Pool.objects.update(state=PoolState.READY, origin=PoolOrigin.BUILT)
    assert of(pool) == Pill("built")
    Pool.objects.update(origin=PoolOrigin.IMPORTED)
    assert of(pool) == Pill("imported")
    campaign = open_campaign(pool)
    campaign.items.first().slots.filter(number=1).update(state="answered", annotator=make_person("one"))
    assert of(pool) == Pill("labelling 12 %", "running")
    set_state(campaign, "paused")
    assert of(pool) == Pill("paused at 12 %", "attention")
    set_state(campaign, "closed")
    assert of(pool) == Pill("closed at 12 %", "cancelled")


def test_triples_that_no_batch_has_released_are_still_to_label(pool: Pool):
    campaign = open_campaign(pool, batch_size=1)
    people = [make_person(name) for name in ("one", "two")]
    for item in campaign.items.all():
        for number, person in enumerate(people, 1):
            item.slots.filter(number=number).update(state="answered", annotator=person)
    released = campaign.items.count()
    assert 0 < released < 4 and of(pool) == Pill(f"labelling {25 * released} %", "running")


def test_judgements_of_elsewhere_are_counted(pool: Pool, django_assert_num_queries):
    triples = list(pool.triples.filter(reason=""))
    by = {"pool": pool, "origin": JudgementOrigin.IMPORT, "verdict": Verdict.NEGATIVE, "decided_at": pool.created_at}
    Judgement.objects.create(triple=triples[0], **by)
    assert of(pool) == Pill("25 % labelled elsewhere")
    for triple in triples[1:]:
        Judgement.objects.create(triple=triple, **by)
    assert of(pool) == Pill("labelled elsewhere", "done")


@pytest.mark.parametrize(
    ("done", "wanted", "percent"),
    [(0, 8, 0), (2122, 2332, 91), (2098, 2332, 90), (999, 1000, 99), (8, 8, 100), (0, 0, 100)],
)
def test_percentages_are_the_nearest_but_100_only_when_nothing_is_left(done: int, wanted: int, percent: int):
    assert whole_percent(done, wanted) == percent


def test_nothing_is_green_while_somebody_has_to_label_or_to_decide():
    for state in CampaignState.values:
        assert campaign_pill(state, 8, 8, 0) == Pill("labelled", "done")
        assert campaign_pill(state, 7, 8, 0).look != "done" and campaign_pill(state, 8, 8, 2).look != "done"
    assert campaign_pill(CampaignState.OPEN, 8, 8, 2) == Pill("2 disputes left", "running")


def test_every_page_that_shows_the_state_of_a_pool_shows_the_same(pool: Pool, client):
    campaign = open_campaign(pool)
    campaign.items.first().slots.filter(number=1).update(state="answered", annotator=make_person("one"))
    client.force_login(make_person("boss", site="manager"))
    for url in ("/", "/pools", "", "/triples", "/growth"):
        page = content(client.get(url if url in ("/", "/pools") else pool.get_absolute_url() + url))
        shown = page.all("pool-state") or content(client.get(pool.get_absolute_url() + url)).all("pool-state")
        assert [one.text for one in shown] == ["labelling 12 %"], url
