"""Who has not agreed to the use of their data works nowhere; what a paused or closed campaign still takes."""

import json

import pytest

from annotation.labelling.queue import claim_disputed
from annotation.models import Campaign, Flag, Label, Membership, Slot, SurplusLabel
from annotation.people.members import set_personal_data
from tests.annotation.api.calls import (
    CLAIM,
    DECIDE,
    DISPUTED,
    FLAG,
    OWN,
    PROGRESS,
    RETURN,
    SUBMIT,
    change_url,
    changed,
    claimed,
    given,
    post,
)
from tests.annotation.factories import label_and_release, windows_closed

REFUSAL = {
    "error": "Read how your data is used, and agree to it, before you label.",
    "consent": "/campaigns/p1/consent",
}


def standing() -> tuple:
    """All that a call could have changed."""
    slots = Slot.objects.order_by("pk").values_list("state", "annotator", "leased_until", "template")
    return list(slots), Label.objects.count(), SurplusLabel.objects.count(), Flag.objects.count()


def test_nothing_is_done_before_consent(world, item, as_user) -> None:
    """Ada holds a question and a dispute, and has labelled; then the text is another one."""
    label_and_release(world, item, ann="Y", ben="N")
    windows_closed(item)
    client = as_user(world.ada)
    question, label = claimed(client)[0], given(claimed(client)[1])
    assert post(client, SUBMIT, label).status_code == 201
    (third,) = claim_disputed(world.campaign, world.ada)
    dispute = {"slot": str(third.ticket), "lease": str(third.lease)}
    set_personal_data(world.campaign, "A new text.", by=world.manager)
    before = standing()
    calls = [
        (CLAIM, {"count": 8}),
        (SUBMIT, given(question, count=8)),
        (change_url(label["client_id"]), changed()),
        (FLAG, {**dispute, "client_id": label["client_id"], "kind": "words"}),
        (DISPUTED, {}),
        (DECIDE, given(dispute, comment="seen")),
        (RETURN, dispute | {"reason": "broken"}),
    ]
    for url, body in calls:
        response = post(client, url, body)
        assert (url, response.status_code, response.json()) == (url, 403, REFUSAL)
    for url in (OWN, PROGRESS):
        assert (client.get(url).status_code, client.get(url).json()) == (403, REFUSAL)
    assert standing() == before
    Membership.objects.filter(person=world.ada).update(consented_at=before[0][0][2] or "2026-01-01T00:00Z")
    assert post(client, SUBMIT, given(question)).status_code == 201


def test_refusal_of_others_does_not_speak_of_consent(world, item, as_user) -> None:
    Membership.objects.update(consented_at=None)
    assert post(as_user(world.stranger), CLAIM).status_code == 404
    for user in (world.manager, world.researcher):
        assert set(post(as_user(user), CLAIM).json()) == {"error"}
    assert set(post(as_user(world.ann), DISPUTED).json()) == {"error"}


def test_campaign_without_a_text_asks_nobody(world, as_user) -> None:
    Membership.objects.update(consented_at=None)
    Campaign.objects.update(personal_data="")
    assert post(as_user(world.ann), CLAIM).status_code == 200


@pytest.mark.parametrize("state", ["paused", "closed"])
def test_campaign_that_is_not_open_gives_nothing_new(world, item, as_user, state) -> None:
    label_and_release(world, item, ann="Y", ben="N")
    windows_closed(item)
    Campaign.objects.update(state=state)
    found = post(as_user(world.cleo), CLAIM, {"count": 50}).json()
    assert (found["campaign"]["state"], found["campaign"]["is_open"], found["items"]) == (state, False, [])
    assert post(as_user(world.ada), DISPUTED).json()["items"] == []
    assert Slot.objects.filter(state="leased").count() == 0


def test_paused_campaign_takes_the_answers_that_are_on_their_way(world, as_user) -> None:
    client = as_user(world.ann)
    first, second = claimed(client)[:2]
    Campaign.objects.update(state="paused")
    body = given(first, count=8)
    response = post(client, SUBMIT, body)
    assert (response.status_code, response.json()["kept"]) == (201, "label")
    assert len(response.json()["items"]) == 5  # those in hand, and none new
    assert post(client, change_url(body["client_id"]), changed()).status_code == 200
    assert post(client, SUBMIT, given(second)).status_code == 201


def test_closed_campaign_keeps_answers_apart_and_changes_nothing(world, item, as_user) -> None:
    client = as_user(world.ann)
    first, second = claimed(client)[:2]
    body = given(first)
    post(client, SUBMIT, body)
    Campaign.objects.update(state="closed")
    late = given(second)
    told = post(client, SUBMIT, late)
    assert (told.status_code, told.json()["kept"]) == (201, "surplus")
    assert told.json()["message"] == "The campaign is closed. Your answer is kept, but doesn’t count."
    again = post(client, SUBMIT, late)
    assert (again.status_code, again.json()["repeated"], SurplusLabel.objects.count()) == (200, True, 1)
    refused = post(client, change_url(body["client_id"]), changed())
    assert (refused.status_code, refused.json()) == (
        409,
        {"error": "The campaign is closed: its labels stay as they are."},
    )
    assert list(Label.objects.values_list("answer", flat=True)) == ["Y"]
    assert {entry["changeable"] for entry in client.get(OWN).json()["results"]} == {False}


def test_refusal_of_consent_is_json_in_every_case(world, as_user) -> None:
    Membership.objects.update(consented_at=None)
    response = as_user(world.ann).post(CLAIM, json.dumps({"count": 0}), content_type="application/json")
    assert (response.status_code, response.json()) == (403, REFUSAL)
