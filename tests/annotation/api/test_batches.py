"""Batches and the audit sample over the wire: an annotator can tell nothing of them."""

import json
import re

from annotation.models import Batch, Campaign, Item
from annotation.release.audit_sample import draw_audit
from annotation.release.next_batch import release_next
from annotation.release.settings import set_order
from tests.annotation.api.calls import CLAIM, NO_DISPUTES, PROGRESS, post

# what the rows of an item and its batch are called, and what the pool knows of it
WORDS = re.compile('batch|audit|sample|probab|filter|depth|order|types(?!":)|arm\\b|place', re.IGNORECASE)


def test_count_of_triples_stays_when_a_batch_is_released(world, as_user) -> None:
    Item.objects.all().delete()
    Batch.objects.all().delete()
    set_order(world.campaign, order="depth", settings={}, batch_size=1)
    client = as_user(world.ann)
    told = []
    for _ in range(2):
        told.append(client.get(PROGRESS).json())
        release_next(world.campaign)
    assert world.campaign.items.count() == 6
    told.append(client.get(PROGRESS).json())
    assert told == [{"today": 0, "total": 0, "items": 6, "left": 6, **NO_DISPUTES}] * 3


def test_triple_of_the_audit_sample_looks_like_any_other(world, as_user) -> None:
    draw_audit(world.campaign, 1.0)
    client = as_user(world.ann)
    items = post(client, CLAIM, {"count": 50}).json()["items"]
    assert len(items) == 7
    shapes = {json.dumps({key: type(value).__name__ for key, value in item.items()}) for item in items}
    assert len(shapes) == 1
    assert WORDS.findall(json.dumps(items)) == []
    assert client.get(PROGRESS).json()["items"] == 7


def test_claims_cross_a_batch_without_a_sign_of_it(world, as_user) -> None:
    Item.objects.all().delete()
    Batch.objects.all().delete()
    Campaign.objects.update(batch_size=1)
    items = post(as_user(world.ann), CLAIM, {"count": 50}).json()["items"]
    assert len(items) == 6
    assert Batch.objects.count() == 2
    shapes = {json.dumps({key: type(value).__name__ for key, value in item.items()}) for item in items}
    assert len(shapes) == 1
    assert WORDS.findall(json.dumps(items)) == []
