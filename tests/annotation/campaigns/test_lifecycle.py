import numpy as np
import pytest

from annotation.campaigns.lifecycle import open_campaign
from annotation.errors import CampaignError
from annotation.models import Item, QuestionTemplate, Slot
from annotation.release.items import group_randomly
from pooling.graphs.opening import open_graph
from tests.annotation.factories import make_pool


def test_open_campaign_makes_two_free_slots_of_every_triple_for_people(graph) -> None:
    pool = make_pool(graph)
    campaign = open_campaign(pool)
    assert set(campaign.items.values_list("triple_id", flat=True)) == set(
        pool.triples.filter(reason="").values_list("id", flat=True)
    )
    for item in campaign.items.all():
        assert list(item.slots.order_by("number").values_list("number", "state", "annotator")) == [
            (1, "free", None),
            (2, "free", None),
        ]
    assert campaign.sources.filter(host="wikipedia.org").count() == 1
    assert QuestionTemplate.objects.get().statement == "Has {subject} lived in {object}?"


def test_items_of_one_question_stay_together_whatever_their_depth(graph) -> None:
    campaign = open_campaign(make_pool(graph), seed=3)
    index = open_graph(graph).entity_index
    shown = {"tail": set(), "head": set()}
    for item in campaign.items.select_related("triple"):
        shown[item.side].add(item.triple.head if item.side == "tail" else item.triple.tail)
    assert shown == {"tail": {index["p1"]}, "head": {index["c7"]}}
    assert sorted(Item.objects.order_by("order").values_list("group", flat=True)) == [0, 0, 0, 1, 1, 1]
    assert list(Item.objects.order_by("order").values_list("order", flat=True)) == list(range(6))


def test_order_is_seeded() -> None:
    question = np.array([[0, 0, h] for h in range(20) for _ in range(5)])
    orders = [group_randomly(question, np.random.default_rng(seed))[1].tolist() for seed in (1, 1, 2)]
    assert orders[0] == orders[1] != orders[2]
    assert orders[0] != sorted(orders[0])


def test_second_opening_is_refused(world) -> None:
    with pytest.raises(CampaignError, match="already open"):
        open_campaign(world.pool)
    assert Slot.objects.count() == 12


def test_empty_pool_is_refused(graph) -> None:
    pool = make_pool(graph, items=0)
    with pytest.raises(CampaignError, match="has no triple for people"):
        open_campaign(pool)


def test_pool_that_is_being_built_is_refused(graph) -> None:
    pool = make_pool(graph)
    pool.state = "building"
    with pytest.raises(CampaignError, match="wait until it is ready"):
        open_campaign(pool)
