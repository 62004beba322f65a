"""Gold items and re-checks do not exist for whoever is asked them."""

import json
import re
from uuid import uuid4

import pytest

from annotation.labelling.queue import release
from annotation.models import Campaign, Check, CheckLabel, Gold
from annotation.quality.checks import draw_recheck, gold_from_pool
from tests.annotation.factories import LINK, label_item, put_last, report_of
from tests.page import read

URL = "/pools/p1/campaign/checks"
MARKERS = re.compile(r"gold|re-?check|expected|known answer|\bcheck\b|check_item", re.IGNORECASE)
PAGES = ("/", "/campaigns/p1/annotate", "/campaigns/p1/labels", "/campaigns/p1/messages", "/campaigns/p1/guidelines")


def api(client, url: str, body: dict | None = None) -> list | dict:
    if body is None:
        return client.get(f"/api/v1/{url}").json()
    return client.post(f"/api/v1/{url}", json.dumps(body), content_type="application/json").json()


@pytest.mark.parametrize("kind", ["gold", "recheck"])
def test_nothing_that_an_annotator_reads_tells_of_checks(world, as_user, kind) -> None:
    """The same walk with a check among the questions and without one: the same shapes, and no word of it."""
    if kind == "gold":
        gold_from_pool(world.campaign, positives=1, negatives=1)
        put_last(world.campaign, side="tail")
        Campaign.objects.update(gold_percent=50)
    else:
        for item in world.campaign.items.order_by("order")[:2]:
            label_item(world, item, ann="Y", ben="Y")
        for person in (world.ann, world.ben):
            release(person, [slot.ticket for slot in person.slots.filter(state="leased")])
        draw_recheck(world.campaign, world.cleo, 2)
    world.campaign.refresh_from_db()
    client = as_user(world.cleo)
    claimed = api(client, "campaigns/p1/claim", {"count": 50})
    tickets = {str(check.ticket) for check in Check.objects.all()}
    items = claimed["items"]
    assert tickets and tickets <= {item["slot"] for item in items} != tickets
    shapes = {json.dumps({key: type(value).__name__ for key, value in item.items()}) for item in items}
    assert len(shapes) == 1
    answers = [claimed]
    left = api(client, "campaigns/p1/progress")["left"]
    assert left == len(items)
    report_of(world, world.cleo, asked=Check.objects.filter(person=world.cleo).first())
    for number, item in enumerate(items):
        given = {
            "slot": item["slot"],
            "lease": item["lease"],
            "client_id": str(uuid4()),
            "answer": "Y",
            "source_url": LINK,
            "comment": "",
            "active_ms": 5000,
            "away_ms": 0,
            "count": 0,
        }
        answers.append(api(client, "labels", given))
        assert answers[-1] | {"label": "", "items": [], "sources": {}} == {
            "label": "",
            "kept": "label",
            "repeated": False,
            "message": "",
            "items": [],
            "sources": {},
            "state": "open",
        }
        progress = api(client, "campaigns/p1/progress")
        assert progress == {
            "today": number + 1,
            "total": number + 1,
            "items": 6 + Gold.objects.count(),
            "left": left - number - 1,
            "disputes": None,  # only adjudicators are told
            "decided_today": None,
            "decided": None,
        }
        answers.append(progress)
    answers.append(api(client, "campaigns/p1/labels"))
    assert CheckLabel.objects.count() == len(tickets)
    told = " ".join(map(json.dumps, answers))
    told += " ".join(client.get(page).content.decode() for page in PAGES)
    assert MARKERS.findall(re.sub(r"checked|checkbox|type=\"check", "", told)) == []
    assert client.get(URL).status_code == 403
    page = read(client.get("/campaigns/p1/labels"))
    assert len(page.all("label")) == len(items)
    assert len(page.all("change")) == min(10, len(items))  # the last ten
