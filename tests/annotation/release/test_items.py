"""Items and free slots as they are written in bulk: the same rows on both databases, each with a random ticket."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from annotation.campaigns.lifecycle import open_campaign
from annotation.models import Slot
from tests.annotation.factories import make_graph, make_pool
from tests.postgres import printed_on_postgres

TRIPLE = ("triple__head", "triple__relation", "triple__tail")
PROGRAM = """
import django, json, sys
django.setup()
from pathlib import Path
from tests.annotation.release.test_items import opened
print(json.dumps(opened(Path(sys.argv[1]))))
"""


def opened(folder: Path) -> dict[str, Any]:
    """Open a campaign; its items and slots in the order of their ids, and what kinds of tickets there are."""
    campaign = open_campaign(make_pool(make_graph(folder / "graph")), seed=3)
    slots = list(Slot.objects.order_by("pk"))
    columns = ("order", "group", "side", "state", "reopened", *TRIPLE, "place", "probability", "arm", "batch__number")
    return {
        "items": [list(row) for row in campaign.items.order_by("pk").values_list(*columns)],
        "slots": [[slot.item.order, slot.number, slot.state, slot.annotator_id, slot.template_id] for slot in slots],
        "distinct": len({slot.ticket for slot in slots}),
        "kinds": sorted({f"{slot.ticket.version} {slot.ticket.variant}" for slot in slots}),
    }


def check(found: dict[str, Any]) -> None:
    n = len(found["items"])
    assert n > 3 and [row[0] for row in found["items"]] == list(range(n))
    assert found["slots"] == [[order, number, "free", None, None] for order in range(n) for number in (1, 2)]
    assert found["distinct"] == 2 * n
    assert found["kinds"] == ["4 specified in RFC 4122"]


@pytest.mark.django_db
def test_a_campaign_opens_with_two_free_slots_of_each_item(tmp_path: Path):
    check(opened(tmp_path))


@pytest.mark.postgres
@pytest.mark.django_db
def test_postgresql_copies_the_same_items_and_slots(tmp_path: Path, migrated_postgres: str):
    (tmp_path / "there").mkdir()
    found = json.loads(printed_on_postgres(PROGRAM, str(tmp_path / "there"), like=migrated_postgres, var=tmp_path))
    check(found)
    assert found["items"] == opened(tmp_path)["items"]
