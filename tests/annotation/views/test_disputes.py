"""The queue of an adjudicator: what waits, in which order, and nothing about items they labelled."""

import json
import re
from datetime import timedelta
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from annotation.labelling.assignments import GivenAnswer
from annotation.labelling.disputes import answer_difference, blocked_disputes, describe_disputes
from annotation.labelling.queue import claim_disputed
from annotation.labelling.withdraw import reopen_judgement, return_dispute, withdraw_labels
from annotation.messages.flags import answer_flag
from annotation.models import Campaign, Item, Judgement, Label, Slot
from annotation.people.accounts import add_person
from tests.annotation.factories import answer, label_and_release, label_item, report_of, windows_closed
from tests.page import read

URL = "/campaigns/p1/disputes"


@pytest.fixture
def ada(world, as_user):
    return as_user(world.ada)


def question(item: Item) -> str:
    from annotation.questions.templates import item_text

    return item_text(item).statement


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ("YN", "yes and no"), ("NY", "yes and no"), ("Y?", "yes and can't tell"), ("?Y", "yes and can't tell"),
        ("?N", "no and can't tell"), ("??", "both can't tell"), ("YY", "reopened"), ("NN", "reopened"),
    ],
)  # fmt: skip
def test_difference_tells_not_who(answers, expected) -> None:
    assert answer_difference(list(answers)) == expected


def test_disputes_in_the_order_in_which_they_are_given_out(world, ada, items) -> None:
    label_item(world, items[0], ann="Y", ben="N")
    label_item(world, items[1], ann="?", ben="N")
    label_item(world, items[2], ann="Y", ben="Y")
    reopen_judgement(items[2], by=world.manager)
    withdraw_labels(world.campaign, world.ben)
    world.ann.slots.filter(state="leased").update(state="free", annotator=None)
    label_item(world, items[1], cleo="N")
    label_item(world, items[0], cleo="N")
    label_item(world, items[2], cleo="Y")
    for item in items[:3]:
        windows_closed(item)
    # one label more each, so all have three; the oldest third slot first
    expected = [slot.item_id for slot in claim_disputed(world.campaign, world.ada)]
    Slot.objects.filter(state="leased", number=3).update(state="free", annotator=None)
    shown = read(ada.get(URL)).rows
    assert [row[0] for row in shown] == [question(Item.objects.get(pk=pk)) for pk in expected]
    assert {row[0]: row[1:4] for row in shown} == {
        question(items[0]): ["lived in", "yes and no", "3"],
        question(items[1]): ["lived in", "no and can't tell", "3"],
        question(items[2]): ["lived in", "reopened", "3"],
    }
    assert [row[5] for row in shown] == ["free"] * 3


def test_item_labelled_more_often_comes_first_and_a_change_is_no_label(world, ada, items) -> None:
    label_item(world, items[0], ann="Y", ben="N")
    label_item(world, items[1], ann="Y", ben="Y")
    reopen_judgement(items[1], by=world.manager)
    old = Label.objects.filter(item=items[1], annotator=world.ann).get()
    from uuid import uuid4

    from annotation.labelling.submit import change
    from tests.annotation.factories import LINK

    change(world.ann, old.client_id, GivenAnswer(uuid4(), "Y", LINK))
    for item in items[:2]:
        windows_closed(item)
    assert [row[0] for row in read(ada.get(URL)).rows] == [question(items[0]), question(items[1])]


def test_reopened_dispute_is_as_old_as_its_reopening(world, items) -> None:
    label_item(world, items[0], ann="Y", ben="Y")
    label_item(world, items[1], ann="Y", ben="N")
    reopen_judgement(items[0], by=world.manager, now=timezone.now() + timedelta(days=1))
    slots = Slot.objects.filter(number=3).order_by("item__order")
    told = describe_disputes(world.campaign, slots)
    assert told[0].since == Judgement.objects.get(triple=items[0].triple).decided_at
    assert told[1].since == Label.objects.filter(item=items[1]).latest("pk").created_at


def test_item_that_the_adjudicator_labelled_is_nowhere(world, ada, items) -> None:
    label_item(world, items[0], ada="Y", ben="N")
    windows_closed(items[0])
    page = read(ada.get(URL))
    assert page.rows == [] and question(items[0]) not in page.text and not page.has("in-window")
    label_item(world, items[1], ada="Y", ben="N")
    page = read(ada.get(URL))
    assert page.rows == [] and not page.has("next")


def test_dispute_whose_labels_can_be_changed_is_only_counted(world, ada, items) -> None:
    label_item(world, items[0], ann="Y", ben="N")
    page = read(ada.get(URL))
    assert page.rows == [] and question(items[0]) not in page.text
    assert re.fullmatch(r"1[45] min \d\d s", page.one("next").text) and not page.has(class_="button-primary")
    label_item(world, items[1], ann="Y", ben="N")
    windows_closed(items[1])
    page = read(ada.get(URL))
    assert len(page.rows) == 1
    assert page.one("in-window").text == "1" and re.fullmatch(r"1[45] min \d\d s", page.one("next").text)


def test_time_to_the_next_is_of_those_that_still_wait(world, items) -> None:
    for number, item in enumerate(items[:3]):
        label_item(world, item, ann="Y", ben="N")
        Label.objects.filter(item=item).update(created_at=timezone.now() - timedelta(minutes=5 * number + 6))
    now = timezone.now()
    found = blocked_disputes(world.campaign, world.ada, now=now)  # 6, 11 and 16 minutes old
    assert (found.in_window, found.parked) == (2, [])
    assert 230 <= (found.seconds_to_next or 0) <= 241


def test_dispute_in_own_hands_is_marked_and_one_in_those_of_others_is_gone(world, as_user, ada, items) -> None:
    label_item(world, items[0], ann="Y", ben="N")
    windows_closed(items[0])
    add_person("eva", "adjudicator", world.campaign)
    until = claim_disputed(world.campaign, world.ada)[0].leased_until
    assert [row[5] for row in read(ada.get(URL)).rows] == [f"reserved for you until {until:%H:%M} UTC"]
    eva = User.objects.get(username="eva")
    world.campaign.members.filter(person=eva).update(consented_at=timezone.now())
    assert read(as_user(eva).get(URL)).rows == []


def test_own_dispute_is_free_once_when_its_lease_is_over(world, ada, items) -> None:
    label_item(world, items[0], ann="Y", ben="N")
    windows_closed(items[0])
    claim_disputed(world.campaign, world.ada, now=timezone.now() - timedelta(hours=2))
    assert [row[5] for row in read(ada.get(URL)).rows] == ["free"]


def test_dispute_that_waits_for_an_own_report_is_told_apart(world, as_user, ada, items) -> None:
    label_item(world, items[0], ann="Y", ben="N")
    windows_closed(items[0])
    flag = report_of(world, world.ada, "words", "fix", asked=claim_disputed(world.campaign, world.ada)[0])
    assert flag.holds_item
    page = read(ada.get(URL))
    assert page.rows == [] and [question(items[0]) in text for text in page.texts("parked")] == [True]
    eva = add_person("eva", "adjudicator", world.campaign)[0]
    world.campaign.members.filter(person=eva).update(consented_at=timezone.now())
    others = read(as_user(eva).get(URL))
    assert question(items[0]) not in others.text and not others.has("parked")
    answer_flag(flag, "done", by=world.manager)
    page = read(ada.get(URL))
    assert len(page.rows) == 1 and not page.has("parked")


def test_page_names_nobody(world, ada, items) -> None:
    label_item(world, items[0], ann="Y", ben="N")
    windows_closed(items[0])
    Label.objects.update(comment="secret comment")
    html = ada.get(URL).content.decode()
    assert len(read(html).rows) == 1
    assert [word for word in (">ann<", ">ben<", "secret", "wikipedia") if word in html] == []


def one_dispute(world, item: Item) -> Slot:
    label_and_release(world, item, ann="Y", ben="N")
    windows_closed(item)
    return Slot.objects.get(item=item, number=3)


def closed(client, ticket: object) -> str:
    """Why the dispute with this ticket cannot be opened; "" if its page opens."""
    page = read(client.get(f"/campaigns/p1/adjudicate?dispute={ticket}"))
    return page.one("closed")["data-reason"] if page.has("closed") else ""


def another_adjudicator(world) -> User:
    eva = add_person("eva", "adjudicator", world.campaign)[0]
    world.campaign.members.filter(person=eva).update(consented_at=timezone.now())
    return eva


def test_each_row_opens_its_dispute(world, ada, items) -> None:
    slots = [one_dispute(world, item) for item in items[:2]]
    links = [row.one(tag="a")["href"] for row in read(ada.get(URL)).all("dispute")]
    assert links == [f"/campaigns/p1/adjudicate?dispute={slot.ticket}" for slot in slots]
    assert [closed(ada, slot.ticket) for slot in slots] == ["", ""]
    (config,) = read(ada.get(links[1])).one(id="config").children
    assert json.loads(str(config))["first"] == str(slots[1].ticket)


def test_dispute_of_another_adjudicator_says_so(world, as_user, ada, items) -> None:
    slot, eva = one_dispute(world, items[0]), another_adjudicator(world)
    claim_disputed(world.campaign, eva)
    assert closed(ada, slot.ticket) == "held" and closed(as_user(eva), slot.ticket) == ""
    assert read(ada.get(URL)).one("others").text == "1"
    answer(eva, slot, "Y")
    assert (closed(ada, slot.ticket), closed(as_user(eva), slot.ticket)) == ("decided", "own")
    assert not read(ada.get(URL)).has("others")


def test_lease_that_is_over_keeps_nobody_out(world, ada, items) -> None:
    slot = one_dispute(world, items[0])
    claim_disputed(world.campaign, another_adjudicator(world), now=timezone.now() - timedelta(hours=2))
    assert closed(ada, slot.ticket) == "" and not read(ada.get(URL)).has("others")


def test_what_keeps_a_dispute_closed(world, ada, items) -> None:
    slot = one_dispute(world, items[0])
    Label.objects.update(created_at=timezone.now())
    assert closed(ada, slot.ticket) == "window"
    windows_closed(items[0])
    Campaign.objects.update(state="paused")
    assert closed(ada, slot.ticket) == "campaign"
    Campaign.objects.update(state="open")
    report_of(world, world.ada, "words", "fix", asked=claim_disputed(world.campaign, world.ada)[0])
    assert closed(ada, slot.ticket) == "reported"


def test_returned_dispute_and_one_that_is_not_theirs_to_see(world, as_user, ada, items) -> None:
    slot = one_dispute(world, items[0])
    (held,) = claim_disputed(world.campaign, world.ada)
    return_dispute(world.ada, held.ticket, held.lease, "another city")
    assert closed(ada, slot.ticket) == "returned"
    label_item(world, items[1], ada="Y", ben="N")
    windows_closed(items[1])
    own = Slot.objects.get(item=items[1], number=3)
    assert closed(ada, own.ticket) == closed(ada, uuid4()) == closed(ada, "nonsense") == "over"
    assert closed(ada, items[1].slots.get(annotator=world.ben).ticket) == "over"


@pytest.mark.parametrize(
    ("who", "status"),
    [("nobody", 302), ("stranger", 404), ("ann", 403), ("ada", 200), ("manager", 403), ("researcher", 403)],
)
def test_who_may_read(world, as_user, who, status) -> None:
    assert as_user(getattr(world, who, None)).get(URL).status_code == status


@pytest.mark.parametrize("count", [1, 3])
def test_queries_do_not_grow(world, ada, items, count, django_assert_num_queries) -> None:
    for item in items[:count]:
        label_item(world, item, ann="Y", ben="N")
        windows_closed(item)
    ada.get(URL)
    with django_assert_num_queries(14):
        assert len(read(ada.get(URL)).rows) == count
