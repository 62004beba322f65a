"""A person whose roles in a campaign were taken neither labels nor changes anything there, with what was open."""

from __future__ import annotations

from uuid import uuid4

from django.utils import timezone

from annotation.campaigns.lifecycle import open_campaign
from annotation.labelling.queue import claim_disputed
from annotation.models import Flag, Item, Label, Slot
from annotation.models.slot import lease_of
from annotation.people.accounts import take_role
from tests.annotation.api.calls import (
    CLAIM,
    DECIDE,
    DISPUTED,
    FLAG,
    OWN,
    PROGRESS,
    RELEASE,
    RENEW,
    RETURN,
    SUBMIT,
    change_url,
    changed,
    claimed,
    given,
    post,
)
from tests.annotation.factories import answer, label_and_release, label_item, make_pool, windows_closed


def test_who_left_changes_nothing_although_they_are_in_another_campaign(world, as_user) -> None:
    disputed, labelled = world.campaign.items.all()[:2]
    label_and_release(world, disputed, ann="Y", ben="N")
    windows_closed(disputed)
    label_item(world, labelled, ada="Y")
    client = as_user(world.ada)
    own = Label.objects.get(annotator=world.ada)
    dispute = claim_disputed(world.campaign, world.ada)[0]
    held, open_one = (
        claimed(client)[0],
        {"slot": str(dispute.ticket), "lease": str(lease_of(dispute.ticket, world.ada.pk))},
    )
    other = open_campaign(make_pool(world.pool.graph, "p2"), seed=1)
    for role in ("annotator", "adjudicator"):
        other.members.create(person=world.ada, role=role, consented_at=timezone.now())
    take_role(world.ada, "adjudicator", world.campaign)
    before = [list(rows.objects.order_by("pk").values()) for rows in (Label, Slot, Item, Flag)]
    decision = given(open_one, cause="dated")
    report = {key: held[key] for key in ("slot", "lease")} | {"client_id": str(uuid4()), "kind": "words", "text": "odd"}
    answers = {
        "submit": post(client, SUBMIT, given(held)),
        "decide": post(client, DECIDE, decision),
        "return": post(client, RETURN, open_one | {"reason": "unclear"}),
        "report": post(client, FLAG, report),
        "change": post(client, change_url(str(own.client_id)), changed()),
        "claim": post(client, CLAIM, {"count": 5}),
        "claim disputed": post(client, DISPUTED, {"count": 5}),
        "own": client.get(OWN),
        "progress": client.get(PROGRESS),
    }
    assert {name: answer.status_code for name, answer in answers.items()} == {
        **dict.fromkeys(("submit", "decide", "return", "report"), 403),  # they are told why
        **dict.fromkeys(("change", "claim", "claim disputed", "own", "progress"), 404),
    }
    for url in (RENEW, RELEASE):
        assert post(client, url, {"slots": [held["slot"], open_one["slot"]]}).json() == {"slots": 0}
    pages = ("annotate", "adjudicate", "labels", "disputes", "messages", "training", "consent", "guidelines")
    for page in pages:
        assert client.post(f"/campaigns/p1/{page}", {"question": "1", "answer": "Y"}).status_code == 404, page
    assert [list(rows.objects.order_by("pk").values()) for rows in (Label, Slot, Item, Flag)] == before


def test_who_adjudicates_no_more_changes_and_reports_no_dispute(world, as_user) -> None:
    first, second = world.campaign.items.all()[:2]
    for item in (first, second):
        label_and_release(world, item, ann="Y", ben="N")
        windows_closed(item)
    decided, open_one = claim_disputed(world.campaign, world.ada)
    answer(world.ada, decided, "Y", cause="dated")
    take_role(world.ada, "adjudicator", world.campaign)
    world.campaign.members.create(person=world.ada, role="annotator", consented_at=timezone.now())
    client, decision = as_user(world.ada), Label.objects.get(annotator=world.ada)
    held = {"slot": str(open_one.ticket), "lease": str(lease_of(open_one.ticket, world.ada.pk))}
    report = held | {"client_id": str(uuid4()), "kind": "words", "text": "odd"}
    changes = post(client, change_url(str(decision.client_id)), changed(cause="misread"))
    assert (changes.status_code, post(client, FLAG, report).status_code) == (403, 403)
    assert Label.objects.get(annotator=world.ada) == decision and not Flag.objects.exists()
