"""What the settings of a campaign will do next, in words with figures."""

from __future__ import annotations

import pytest

from annotation.models import Batch, Campaign, Item
from annotation.release.in_words import what_happens
from annotation.release.next_batch import release_next
from pooling.models import PooledTriple
from pooling.orders import ORDERS
from tests.page import parse, read

URL = "/pools/p1/campaign/order"


@pytest.fixture
def campaign(world) -> Campaign:
    """The world's campaign before any of its six triples is given out; two of them at depth 1, four at depth 3."""
    Item.objects.all().delete()
    Batch.objects.all().delete()
    PooledTriple.objects.update(depth=3)
    shallow = list(world.campaign.pool.triples.filter(reason="").values_list("pk", flat=True)[:2])
    PooledTriple.objects.filter(pk__in=shallow).update(depth=1)
    Campaign.objects.update(batch_size=4, whole_questions=False)
    return Campaign.objects.get()


def test_depth_names_how_many_come_first_and_in_what_batches(campaign: Campaign) -> None:
    assert what_happens(campaign) == [
        "Annotators get the 2 triples at depth 1 (the first candidate of some system) first, then the 4 that were "
        "found deeper, depth by depth.",
        "They come in 2 batches of 4; the next one when somebody has nothing left to label.",
    ]
    release_next(campaign)
    assert what_happens(campaign) == [
        "Annotators get the 2 triples at depth 3 (among the first 3 candidates of some system).",
        "They come in one batch of 2, when somebody has nothing left to label.",
    ]
    release_next(campaign)
    (only,) = what_happens(campaign)
    assert only.startswith("All 6 triples for people are given out")


def test_other_orders_limits_and_ends(campaign: Campaign) -> None:
    campaign.order, campaign.whole_questions, campaign.budget, campaign.target_tau = "hedge", True, 1200, 0.9
    first, batches, limits = what_happens(campaign)
    assert first == f"Annotators get 6 more triples in the order “Hedge”. {ORDERS['hedge'].description}"
    assert "at most 2 batches of 4, or a few more" in batches
    assert limits == (
        "No batch follows once 1,200 labels are given or on their way or the ranking by micro MRR is sure enough (tau, "
        "now against resampled, of at least 0.9)."
    )
    campaign.batch_size = 0
    assert what_happens(campaign) == [
        "Annotators get all 6 triples at once, in random order. The order below has no effect."
    ]
    campaign.state = "closed"
    assert what_happens(campaign) == ["The campaign is closed, so the last 6 of 6 triples are given to nobody."]


def test_the_page_says_it_and_folds_what_few_need(campaign: Campaign, manager) -> None:
    page = read(manager.get(URL))
    assert page.one("happens").text == f"With these settings: {' '.join(what_happens(campaign))}"
    (folded,) = [one for one in page.all(tag="details") if one.has(tag="textarea", name="settings")]
    assert "open" not in folded and folded.has(tag="input", name="single")
    wrong = parse(manager.post(URL, {"act": "order", "order": "depth", "batch_size": 4, "settings": "beta"}))
    assert any("open" in one for one in wrong.all(tag="details") if one.has(tag="textarea", name="settings"))


def test_every_setting_of_an_order_is_explained() -> None:
    for order in ORDERS.values():
        assert all(name in order.about_settings for name in order.settings), order.name
