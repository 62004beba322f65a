"""Campaigns as their people see them, items for managers, own labels page by page."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.models import Campaign
from annotation.quality.checks import draw_recheck
from tests.annotation.api.calls import OWN, SUBMIT, claimed, given, post
from tests.annotation.factories import label_and_release, make_large, make_pool

LIST, ONE, ITEMS = "/api/v1/campaigns", "/api/v1/campaigns/p1", "/api/v1/campaigns/p1/items"
BLIND = {
    "pool": "p1", "state": "open", "evidence_rule": "both", "lease_seconds": 900, "roles": ["annotator"],
    "rules": None,
}  # fmt: skip


def test_annotator_sees_own_campaigns_and_no_rules(world, as_user) -> None:
    make_pool(world.pool.graph, "other")
    ann = as_user(world.ann)
    assert ann.get(LIST).json() == {"next": None, "previous": None, "results": [BLIND]}
    assert ann.get(ONE).json() == BLIND
    assert as_user(world.ada).get(ONE).json()["roles"] == ["adjudicator"]


def test_stranger_and_member_of_another_campaign_see_none(world, as_user) -> None:
    large = make_large(world, [2, 3], 0)
    large.members.create(person=world.stranger, role="annotator")
    stranger = as_user(world.stranger)
    assert [row["pool"] for row in stranger.get(LIST).json()["results"]] == ["large"]
    assert (stranger.get(ONE).status_code, stranger.get(ONE).json()) == (
        404,
        {"error": "There is nothing here that you can see."},
    )


def test_researcher_sees_all_and_their_rules(world, as_user) -> None:
    Campaign.objects.update(gold_percent=20, batch_size=4, budget=100)
    large = make_large(world, [2, 3], 0)
    Campaign.objects.filter(pk=large.pk).update(state="paused")
    researcher = as_user(world.researcher)
    rows = researcher.get(LIST).json()["results"]
    assert [(row["pool"], row["roles"]) for row in rows] == [("large", []), ("p1", [])]
    rules = rows[1]["rules"]
    assert (rules["graph"], rules["gold_percent"], rules["batch_size"], rules["budget"]) == ("small", 20, 4, 100)
    assert [row["pool"] for row in researcher.get(LIST, {"state": "paused"}).json()["results"]] == ["large"]


def test_queries_of_campaigns_do_not_grow(world, as_user) -> None:
    def queries(user) -> int:
        with CaptureQueriesContext(connection) as found:
            assert as_user(user).get(LIST).status_code == 200
        return len(found)

    few = queries(world.ann), queries(world.researcher)
    make_large(world, [2, 3], 0)
    assert (queries(world.ann), queries(world.researcher)) == few


# -- items -----------------------------------------------------------------------------------------------------


def test_items_say_state_triple_verdict_and_batch(world, as_user) -> None:
    first, second, *_ = world.campaign.items.order_by("pk")
    label_and_release(world, first, ann="Y", ben="Y")
    label_and_release(world, second, ann="Y", ben="N")
    manager = as_user(world.manager)
    rows = {row["id"]: row for row in manager.get(ITEMS).json()["results"]}
    assert list(rows) == sorted(rows, reverse=True) and len(rows) == 6
    row = rows[first.pk]
    assert row["question"] == f"Has Person {row['head'][1:]} lived in City {row['tail'][1:]}?"
    assert (row["relation"], row["state"], row["verdict"], row["labels"], row["reports"], row["batch"]) == (
        "lived_in",
        "settled",
        "positive",
        2,
        0,
        1,
    )
    assert (rows[second.pk]["state"], rows[second.pk]["verdict"]) == ("disputed", None)
    assert [row["id"] for row in manager.get(ITEMS, {"state": "settled"}).json()["results"]] == [first.pk]
    assert manager.get(ITEMS, {"batch": "2"}).json()["results"] == []
    assert len(manager.get(ITEMS, {"relation": "0"}).json()["results"]) == 6


@pytest.mark.parametrize(("who", "status"), [("ann", 403), ("ada", 403), ("researcher", 403), ("stranger", 403)])
def test_items_are_for_managers(world, as_user, who, status) -> None:
    answer = as_user(getattr(world, who)).get(ITEMS)
    assert (answer.status_code, answer.json()) == (status, {"error": "Your role may not do this."})


def test_queries_of_items_do_not_grow_with_the_page(world, as_user) -> None:
    manager = as_user(world.manager)

    def queries(size: int) -> int:
        with CaptureQueriesContext(connection) as found:
            assert len(manager.get(ITEMS, {"page_size": size}).json()["results"]) == size
        return len(found)

    assert queries(1) == queries(6)


# -- own labels --------------------------------------------------------------------------------------------------


def test_own_labels_are_read_page_by_page_with_checks_among_them(world, as_user) -> None:
    first = world.campaign.items.order_by("order").first()
    label_and_release(world, first, ben="Y", cleo="Y")
    draw_recheck(world.campaign, world.ann, 1)
    ann = as_user(world.ann)
    sent = []
    for _ in range(2):  # the re-check comes alone
        for item in claimed(ann):
            body = given(item)
            assert post(ann, SUBMIT, body).status_code == 201
            sent.append(body["client_id"])
    assert len(sent) == 6
    assert [row["label"] for row in ann.get(OWN).json()["results"]] == sent[::-1]
    pages, seen = ann.get(OWN, {"page_size": 4}).json(), []
    seen += [row["label"] for row in pages["results"]]
    second = ann.get(pages["next"]).json()
    seen += [row["label"] for row in second["results"]]
    assert seen == sent[::-1] and second["next"] is None
    assert [row["label"] for row in ann.get(second["previous"]).json()["results"]] == sent[::-1][:4]


def test_queries_of_own_labels_do_not_grow_with_the_page(world, as_user) -> None:
    ann = as_user(world.ann)
    for item in claimed(ann):
        post(ann, SUBMIT, given(item))

    def queries(size: int) -> int:
        with CaptureQueriesContext(connection) as found:
            assert len(ann.get(OWN, {"page_size": size}).json()["results"]) == size
        return len(found)

    assert queries(1) == queries(5)


@pytest.mark.parametrize("cursor", ["cD14", "cD0yMDI2LTk5LTk5", "bz05OTk5OTk5OTk5", "cj0x", "%00", "ü"])
def test_cursor_that_is_none_is_refused(world, as_user, cursor) -> None:
    """p=x, p=2026-99-99, o=9999999999 and r=1 as a cursor would hold them."""
    for user, url in ((world.ann, OWN), (world.manager, ITEMS), (world.manager, LIST)):
        assert as_user(user).get(url, {"cursor": cursor}).status_code in (200, 400)
    assert as_user(world.ann).get(OWN, {"cursor": "cD14"}).json()["fields"] == {
        "cursor": "This is not a cursor of this list: follow next from the first page."
    }
