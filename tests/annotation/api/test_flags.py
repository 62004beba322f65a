"""Reports, returned disputes and progress over API v1."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from annotation.models import Flag, Item, Label, Slot
from tests.annotation.api.calls import (
    DECIDE,
    DISPUTED,
    FLAG,
    NO_DISPUTES,
    PROGRESS,
    RENEW,
    RETURN,
    SUBMIT,
    claimed,
    given,
    post,
)
from tests.annotation.factories import label_and_release, make_check, make_gold, windows_closed


def flag_of(item: dict, kind: str = "name", **more) -> dict:
    return {"slot": item["slot"], "lease": item["lease"], "client_id": str(uuid4()), "kind": kind} | more


@pytest.fixture
def dispute(world) -> Item:
    item = world.campaign.items.order_by("order").first()
    label_and_release(world, item, ann="Y", ben="N")
    windows_closed(item)
    return item


def test_report_is_kept_and_the_question_stays_in_hand(world, as_user) -> None:
    client = as_user(world.ann)
    item = claimed(client)[0]
    body = flag_of(item, "other", text="Is this <b>one</b> person?")
    response = post(client, FLAG, body)
    assert (response.status_code, response.json()) == (201, {"flag": body["client_id"], "held": False})
    assert post(client, FLAG, body).json() == response.json()
    assert Flag.objects.get().text == "Is this <b>one</b> person?"
    assert item in claimed(client)
    assert post(client, SUBMIT, given(item)).status_code == 201


def test_adjudicators_words_park_the_dispute(world, dispute, as_user) -> None:
    client = as_user(world.ada)
    (item,) = post(client, DISPUTED).json()["items"]
    body = flag_of(item, "words", text="clumsy")
    assert post(client, FLAG, body).json() == {"flag": body["client_id"], "held": True}
    assert post(client, FLAG, body).json()["held"] is True  # repeated, although it is no longer in hand
    assert post(client, DISPUTED).json()["items"] == []
    assert Flag.objects.count() == 1


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"kind": "rude"}, "kind"),
        ({"text": "x" * 2001}, "text"),
        ({"text": "a\0b"}, "text"),
        ({"client_id": "x"}, "client_id"),
        ({"slot": None}, "slot"),
    ],
)
def test_malformed_reports_say_which_field(world, as_user, more, field) -> None:
    client = as_user(world.ann)
    response = post(client, FLAG, flag_of(claimed(client)[0]) | more)
    assert (response.status_code, set(response.json()["fields"])) == (400, {field})
    assert Flag.objects.count() == 0


def test_report_of_anothers_question_is_not_found(world, as_user) -> None:
    item = claimed(as_user(world.ann))[0]
    assert post(as_user(world.ben), FLAG, flag_of(item)).status_code == 404
    check = make_check(world, world.ann, gold=make_gold(world, 5))
    mine = {"slot": str(check.ticket), "lease": str(check.lease)}
    assert post(as_user(world.ben), FLAG, flag_of(mine)).status_code == 404
    assert Flag.objects.count() == 0


def test_returned_dispute_goes_back_to_the_pool(world, dispute, as_user) -> None:
    client = as_user(world.ada)
    (item,) = post(client, DISPUTED).json()["items"]
    body = {"slot": item["slot"], "lease": item["lease"], "reason": "The question is broken."}
    assert post(client, RETURN, body | {"reason": ""}).status_code == 400
    assert post(client, RETURN, body).json() == {"returned": True}
    dispute.refresh_from_db()
    places = Slot.objects.filter(item=dispute, state="free", number__in=(1, 2))
    assert (dispute.state, places.count()) == ("open", 2)
    assert post(client, RETURN, body).status_code == 409
    late = post(client, DECIDE, given(item, comment="seen")).json()
    assert late["kept"] == "surplus" and late["message"].startswith("This dispute is over")
    assert Label.objects.filter(annotator=world.ada).count() == 0


def test_dispute_is_not_returned_by_its_annotators(world, dispute, as_user) -> None:
    third = Slot.objects.get(number=3)
    for user in (world.ann, world.ben):
        body = {"slot": str(third.ticket), "lease": str(uuid4()), "reason": "x"}
        assert post(as_user(user), RETURN, body).status_code == 403
    dispute.refresh_from_db()
    assert dispute.state == "disputed"


def test_progress_counts_own_work_and_what_is_left_for_oneself(world, dispute, as_user) -> None:
    Label.objects.update(created_at=timezone.now() - timedelta(days=2))
    assert as_user(world.ann).get(PROGRESS).json() == {"today": 0, "total": 1, "items": 6, "left": 5, **NO_DISPUTES}
    assert as_user(world.cleo).get(PROGRESS).json() == {"today": 0, "total": 0, "items": 6, "left": 5, **NO_DISPUTES}


def test_leases_of_others_are_not_renewed(world, as_user) -> None:
    slots = [item["slot"] for item in claimed(as_user(world.ann))]
    assert post(as_user(world.ben), RENEW, {"slots": slots}).json() == {"slots": 0}
    assert post(as_user(world.ann), RENEW, {"slots": slots}).json() == {"slots": 6}


def test_progress_tells_an_adjudicator_what_is_left_to_decide(world, dispute, as_user) -> None:
    client = as_user(world.ada)
    assert client.get(PROGRESS).json()["disputes"] == 1
    (held,) = post(client, "/api/v1/campaigns/p1/claim-disputed").json()["items"]
    assert client.get(PROGRESS).json()["disputes"] == 1  # in hand
    assert post(client, RETURN, {"slot": held["slot"], "lease": held["lease"], "reason": "x"}).status_code == 200
    assert client.get(PROGRESS).json()["disputes"] == 0
