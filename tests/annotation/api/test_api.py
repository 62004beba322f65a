"""API v1: every endpoint as everybody, and what it must not tell."""

import json
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

import pytest
from django.test import Client

from annotation.models import Campaign, Item, Label, Slot, SurplusLabel
from tests.annotation.api.calls import (
    CLAIM,
    DECIDE,
    DISPUTED,
    FLAG,
    NO_DISPUTES,
    OWN,
    PROGRESS,
    RETURN,
    SUBMIT,
    change_url,
    changed,
    given,
    post,
)
from tests.annotation.factories import LINK, answer, label_item, slot_for, windows_closed

ITEM = {
    "slot", "lease", "group", "side", "relation", "question", "group_question", "subject", "object",
}  # fmt: skip
ANY = str(uuid4())


@pytest.fixture
def items(ann) -> list[dict[str, Any]]:
    return post(ann, CLAIM, {"count": 1}).json()["items"]


@pytest.fixture
def dispute(world) -> Item:
    """Ann: yes, with comment; Ben: no. Old enough to be adjudicated."""
    item = world.campaign.items.order_by("order").first()
    label_item(world, item, ann="Y", ben="N")
    windows_closed(item)
    return item


# -- who may -------------------------------------------------------------------

ENDPOINTS = {
    "claim": ("post", CLAIM),
    "submit": ("post", SUBMIT),
    "own": ("get", OWN),
    "disputed": ("post", DISPUTED),
    "decide": ("post", DECIDE),
    "change": ("post", f"/api/v1/labels/{ANY}/change"),
    "renew": ("post", "/api/v1/slots/renew"),
    "release": ("post", "/api/v1/slots/release"),
    "progress": ("get", PROGRESS),
    "flag": ("post", FLAG),
    "return": ("post", RETURN),
}


@pytest.mark.parametrize(
    ("who", "expected"),  # in the order of ENDPOINTS
    [
        ("nobody", [401, 401, 401, 401, 401, 401, 401, 401, 401, 401, 401]),
        ("stranger", [404, 404, 404, 404, 404, 404, 200, 200, 404, 404, 404]),
        ("manager", [403, 403, 403, 403, 403, 404, 200, 200, 403, 403, 403]),
        ("researcher", [403, 403, 403, 403, 403, 404, 200, 200, 403, 403, 403]),
        ("ann", [200, 404, 200, 403, 403, 404, 200, 200, 200, 404, 403]),
        ("ada", [200, 404, 200, 200, 404, 404, 200, 200, 200, 404, 404]),
    ],
)
def test_every_endpoint_as_everybody(world, dispute, as_user, who, expected) -> None:
    slot, third = Slot.objects.filter(item=dispute).exclude(number=3).first(), Slot.objects.get(number=3)
    bodies = {
        "submit": given({"slot": str(slot.ticket), "lease": ANY}),
        "decide": given({"slot": str(third.ticket), "lease": ANY}, comment="x"),
        "change": {"client_id": ANY, "answer": "Y"},
        "renew": {"slots": [str(slot.ticket)]},
        "release": {"slots": [str(slot.ticket)]},
        "flag": {"slot": str(slot.ticket), "lease": ANY, "client_id": ANY, "kind": "name"},
        "return": {"slot": str(third.ticket), "lease": ANY, "reason": "x"},
    }
    client = as_user(getattr(world, who, None))
    seen = []
    for name, (method, url) in ENDPOINTS.items():
        response = client.get(url) if method == "get" else post(client, url, bodies.get(name))
        seen.append(response.status_code)
        if response.status_code >= 400:
            assert set(response.json()) == {"error"}
    assert seen == expected


def test_without_csrf_token_nothing_is_done(world) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(world.ann, backend="config.sign_in.Accounts")
    response = post(client, CLAIM)
    assert (response.status_code, Slot.objects.filter(state="leased").count()) == (403, 0)


def test_manager_who_was_made_member_by_hand_still_cannot_label(world, as_user) -> None:
    world.campaign.members.create(person=world.manager, role="annotator")
    assert post(as_user(world.manager), CLAIM).status_code == 403


# -- claim and submit ----------------------------------------------------------


def test_claim_gives_whole_groups_with_words_and_searches(world, ann) -> None:
    body = post(ann, CLAIM, {"count": 2}).json()
    assert set(body) == {"campaign", "items", "sources"}
    assert body["campaign"] == {
        "pool": "p1",
        "state": "open",
        "is_open": True,
        "evidence_rule": "both",
        "guidelines_version": 1,
        "lease_seconds": 900,
    }
    assert len(body["items"]) == 3
    item = body["items"][0]
    subject, object_ = item["subject"]["label"], item["object"]["label"]
    assert item["question"] == f"Has {subject} lived in {object_}?"
    assert list(body["sources"]) == [str(item["relation"])]  # once a relation, not once an item
    assert body["sources"][str(item["relation"])][0] == {
        "name": "Wikipedia",
        "host": "wikipedia.org",
        "search": "https://en.wikipedia.org/w/index.php?search={query}",
        "offered": True,
    }
    offered = [one["host"] for one in body["sources"][str(item["relation"])] if one["offered"]]
    assert offered == ["wikipedia.org", "wikidata.org", "britannica.com"]  # it is about people and cities


def test_submit_saves_and_brings_the_next(world, ann, items) -> None:
    response = post(ann, SUBMIT, given(items[0], count=8, active_ms=1500))
    body = response.json()
    assert response.status_code == 201
    label = Label.objects.get()
    assert (label.answer, label.source_url, label.active_ms) == ("Y", LINK, 1500)
    assert (body["label"], body["kept"], body["repeated"], body["message"]) == (
        str(label.client_id),
        "label",
        False,
        "",
    )
    assert {item["slot"] for item in items[1:]} < {item["slot"] for item in body["items"]}
    assert ann.get(PROGRESS).json() == {"today": 1, "total": 1, "items": 6, "left": 5, **NO_DISPUTES}


def test_double_submit_is_one_label(ann, items) -> None:
    body = given(items[0])
    first, second = post(ann, SUBMIT, body), post(ann, SUBMIT, body)
    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json()["label"] == second.json()["label"] and second.json()["repeated"] is True
    assert Label.objects.count() == 1


def test_slot_of_somebody_else_is_refused(world, as_user, items) -> None:
    response = post(as_user(world.ben), SUBMIT, given(items[0]))
    assert (response.status_code, Label.objects.count(), SurplusLabel.objects.count()) == (404, 0, 0)
    assert response.json() == {
        "error": "This statement was not given to you. Load the page again; no label was changed."
    }


@pytest.mark.parametrize("url", ["javascript:alert(1)", "https://evil.example/wikipedia.org", ""])
def test_refused_link_names_the_allowed_hosts(ann, items, url) -> None:
    response = post(ann, SUBMIT, given(items[0], source_url=url))
    assert (response.status_code, Label.objects.count()) == (422, 0)
    assert "wikipedia.org" in response.json()["error"]


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"answer": "maybe"}, "answer"),
        ({"client_id": "1"}, "client_id"),
        ({"comment": "x" * 10_000}, "comment"),
        ({"comment": "a\0b"}, "comment"),
        ({"slot": "x"}, "slot"),
        ({"lease": ""}, "lease"),
        ({"active_ms": -1}, "active_ms"),
    ],
)
def test_malformed_answers_say_which_field(ann, items, more, field) -> None:
    response = post(ann, SUBMIT, given(items[0], **more))
    assert (response.status_code, Label.objects.count()) == (400, 0)
    assert set(response.json()["fields"]) == {field} and response.json()["error"].startswith(f"{field}: ")


def test_late_answer_is_said_to_be_surplus(world, ann, items) -> None:
    Slot.objects.filter(ticket=items[0]["slot"]).update(annotator=world.ben)
    body = post(ann, SUBMIT, given(items[0])).json()
    assert body["kept"] == "surplus" and "is kept, but doesn’t count" in body["message"]


def test_release_takes_the_form_of_a_page_that_is_left(world, as_user, items) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(world.ann, backend="config.sign_in.Accounts")
    client.get("/campaigns/p1/annotate")
    form = {"slots": [item["slot"] for item in items], "csrfmiddlewaretoken": client.cookies["csrftoken"].value}
    kind = "application/x-www-form-urlencoded"
    url = "/api/v1/slots/release"
    assert (
        client.post(url, urlencode(form | {"csrfmiddlewaretoken": "x"}, doseq=True), content_type=kind).status_code
        == 403
    )
    response = client.post(url, urlencode(form, doseq=True), content_type=kind)
    assert (response.status_code, response.json()) == (200, {"slots": 3})
    assert Slot.objects.filter(state="leased").count() == 0


def test_change_by_the_public_id(world, ann, items) -> None:
    label = post(ann, SUBMIT, given(items[0])).json()["label"]
    new = str(uuid4())
    response = post(ann, f"/api/v1/labels/{label}/change", {"client_id": new, "answer": "N", "source_url": LINK})
    assert (response.status_code, response.json()["label"]) == (200, new)
    assert list(Label.objects.order_by("id").values_list("answer", flat=True)) == ["Y", "N"]
    own = ann.get(OWN).json()["results"]
    assert [(entry["label"], entry["answer"], entry["changeable"]) for entry in own] == [(new, "N", True)]


def test_change_of_somebody_elses_label_is_not_found(world, as_user, ann, items) -> None:
    label = post(ann, SUBMIT, given(items[0])).json()["label"]
    body = {"client_id": str(uuid4()), "answer": "N", "source_url": LINK}
    assert post(as_user(world.ben), f"/api/v1/labels/{label}/change", body).status_code == 404


# -- blindness -----------------------------------------------------------------


def test_annotator_sees_nothing_of_systems_ranks_or_the_other_answer(world, as_user) -> None:
    """The pool has telling names and ranks; Ann has answered everything with a telling comment and link."""
    for item in world.campaign.items.all():
        slot = slot_for(world.campaign, world.ann, item)
        answer(world.ann, slot, "N", comment="ann-was-here", source_url="https://www.imdb.com/ann-was-here")
    ben = as_user(world.ben)
    claimed = post(ben, CLAIM, {"count": 50}).json()
    told = post(ben, SUBMIT, given(claimed["items"][0], count=8)).json()
    own = ben.get(OWN).json()
    for item in claimed["items"] + told["items"]:
        assert set(item) == ITEM
        assert set(item["subject"]) == set(item["object"]) == {
            "key", "label", "types", "description", "aliases", "link", "facts"
        }  # fmt: skip
    assert set(told) == {"label", "kept", "repeated", "message", "state", "items", "sources"}
    progress = ben.get(PROGRESS).json()
    assert progress == {"today": 1, "total": 1, "items": 6, "left": 5, **NO_DISPUTES}
    assert set(own) == {"next", "previous", "results"}
    assert [set(entry) for entry in own["results"]] == [
        {"label", "question", "answer", "source_url", "passage", "comment", "cause", "created_at", "changeable"}
    ]
    text = json.dumps([claimed, told, own])
    for secret in ("secret-system", "ann-was-here", "rank", "depth", "score", "provenance", "disputed", "settled"):
        assert secret not in text


def test_answer_to_a_submit_is_the_same_whether_the_other_agreed(world, as_user) -> None:
    bodies = []
    for item, other in zip(world.campaign.items.order_by("order")[:3], (None, "Y", "N"), strict=True):
        if other:
            label_item(world, item, ann=other)
        slot = slot_for(world.campaign, world.ben, item)
        body = post(as_user(world.ben), SUBMIT, given({"slot": str(slot.ticket), "lease": str(slot.lease)})).json()
        bodies.append({key: value for key, value in body.items() if key != "label"})
    assert (
        bodies[0]
        == bodies[1]
        == bodies[2]
        == {"kept": "label", "repeated": False, "message": "", "state": "open", "items": [], "sources": {}}
    )


# -- adjudication --------------------------------------------------------------


def test_adjudicator_sees_both_answers_without_names(world, as_user, dispute) -> None:
    Label.objects.filter(annotator=world.ann).update(active_ms=900, comment="clear", passage="she did", source_url=LINK)
    Label.objects.filter(annotator=world.ben).update(active_ms=9000, comment="", source_url="")
    body = post(as_user(world.ada), DISPUTED).json()
    (item,) = body["items"]
    assert set(item) == ITEM | {"answers", "reopened"}
    assert [answer["name"] for answer in item["answers"]] == ["A", "B"]
    assert sorted([tuple(answer.values())[1:] for answer in item["answers"]]) == [
        ("N", "", "", "", False),
        ("Y", LINK, "she did", "clear", True),
    ]
    assert not any(name in json.dumps(body) for name in ('"ann"', '"ben"', "annotator"))


def test_order_of_a_and_b_is_drawn_by_item(world, as_user) -> None:
    for item in world.campaign.items.all():
        label_item(world, item, ann="Y", ben="N")
        windows_closed(item)
    client, drawn = as_user(world.ada), set()
    for seed in range(9):  # six items alone may, by their ids, be drawn alike
        Campaign.objects.update(seed=seed)
        first = [item["answers"] for item in post(client, DISPUTED, {"count": 50}).json()["items"]]
        drawn |= {answers[0]["answer"] for answers in first}
    assert drawn == {"Y", "N"}
    assert [item["answers"] for item in post(client, DISPUTED, {"count": 50}).json()["items"]] == first


def test_decision_needs_a_reason_and_settles(world, as_user, dispute) -> None:
    client = as_user(world.ada)
    (item,) = post(client, DISPUTED).json()["items"]
    assert post(client, DECIDE, given(item)).status_code == 409
    response = post(client, DECIDE, given(item, comment="the page says so", count=4))
    assert (response.status_code, response.json()["items"]) == (201, [])
    dispute.refresh_from_db()
    assert dispute.state == "settled"


def test_cause_is_a_reason_and_only_of_a_decision(world, as_user, dispute) -> None:
    client = as_user(world.ada)
    (item,) = post(client, DISPUTED).json()["items"]
    assert post(client, DECIDE, given(item, cause="bored")).status_code == 400
    body = given(item, cause="dated")
    assert post(client, DECIDE, body).status_code == 201
    own = client.get(OWN).json()["results"][0]
    assert (own["cause"], own["comment"], own["label"]) == ("dated", "", body["client_id"])
    assert post(client, change_url(own["label"]), changed("N", cause="misread")).status_code == 200
    assert list(Label.objects.filter(slot__number=3).values_list("answer", "cause")) == [
        ("Y", "dated"),
        ("N", "misread"),
    ]
    question = post(as_user(world.ann), CLAIM).json()["items"][0]
    assert post(as_user(world.ann), SUBMIT, given(question, cause="dated")).status_code == 409


def test_late_decision_keeps_its_cause(world, as_user, dispute) -> None:
    client = as_user(world.ada)
    (item,) = post(client, DISPUTED).json()["items"]
    Campaign.objects.update(state="closed")
    assert post(client, DECIDE, given(item, cause="source")).json()["kept"] == "surplus"
    assert SurplusLabel.objects.get().cause == "source"


def test_dispute_of_the_address_comes_first(world, as_user) -> None:
    items = list(world.campaign.items.order_by("order"))
    for item in (items[0], items[3]):  # of two questions
        label_item(world, item, ann="Y", ben="N")
        windows_closed(item)
    ticket = str(Slot.objects.get(item=items[3], number=3).ticket)
    client = as_user(world.ada)
    assert [one["slot"] for one in post(client, DISPUTED, {"count": 1, "first": ticket}).json()["items"]] == [ticket]
    assert len(post(client, DISPUTED, {"count": 2, "first": None}).json()["items"]) == 2


def test_third_slot_is_not_answered_through_the_annotators_endpoint(world, as_user, dispute) -> None:
    client = as_user(world.ada)
    (item,) = post(client, DISPUTED).json()["items"]
    assert post(client, SUBMIT, given(item, comment="x")).status_code == 404
