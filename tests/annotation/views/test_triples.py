"""Items as a manager finds them, and the history of one."""

import csv
import io
from datetime import timedelta
from uuid import uuid4

import pytest
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.utils import timezone

from annotation.campaigns import bulk
from annotation.campaigns.lifecycle import open_campaign
from annotation.enums import ItemState, SurplusReason
from annotation.judging.label_import import import_labels
from annotation.labelling.assignments import GivenAnswer
from annotation.labelling.queue import claim_disputed, release, release_all
from annotation.labelling.submit import change, submit
from annotation.labelling.withdraw import reopen_judgement, withdraw_labels
from annotation.models import Flag, Item, Judgement, Label, Slot
from annotation.models.slot import lease_of
from annotation.people.accounts import add_person
from annotation.people.simulated import NAME
from annotation.questions.templates import item_text
from annotation.views import told
from core.models import AuditEntry
from core.people.roles import CampaignRole
from pooling.graphs.opening import open_graph
from tests.annotation.factories import (
    LINK,
    answer,
    claim,
    decided,
    label_and_release,
    label_item,
    make_pool,
    report_of,
    slot_for,
    windows_closed,
)
from tests.page import Element, numbers, read, refusal, refused

URL = "/pools/p1/campaign/triples"


def found(page: Element) -> list[int]:
    """Return the items of the list, by what their links lead to."""
    return [int(row.all(tag="a")[0]["href"].removeprefix(f"{URL}/")) for row in page.all("item")]


def test_all_items_in_their_order(world, manager) -> None:
    label_item(world, world.campaign.items.first(), ann="N", ben="Y")
    change(world.ann, Label.objects.get(annotator=world.ann).client_id, GivenAnswer(uuid4(), "Y", LINK))
    page = read(manager.get(URL))
    assert found(page) == list(world.campaign.items.order_by("order").values_list("pk", flat=True))
    assert page.rows[0][2:6] == [ItemState.SETTLED.label, "positive", "2", "0"]


@pytest.mark.parametrize(
    ("text", "has"),
    [
        ("person 1", lambda s, o: "1" in s or "1" in o),
        ("CITY 7", lambda s, o: "7" in s or "7" in o),
        ("7 person CITY lived", lambda s, o: "7" in s or "7" in o),
        ("p3", lambda s, o: s == "Person 3"),
        ("lived", lambda s, o: True),
        ("lived in", lambda s, o: True),
        ("nowhere", lambda s, o: False),
        ("person nowhere", lambda s, o: False),
    ],
)
def test_each_word_is_looked_for_in_names_keys_and_relation(world, manager, text, has) -> None:
    graph = open_graph(world.pool.graph)
    items = world.campaign.items.select_related("triple").order_by("order")
    expected = [i.pk for i in items if has(graph.label(i.triple.head), graph.label(i.triple.tail))]
    assert found(read(manager.get(URL, {"q": text}))) == expected


def test_a_pasted_statement_finds_its_item(world, manager) -> None:
    graph = open_graph(world.pool.graph)
    items = {i.pk: i.triple for i in world.campaign.items.select_related("triple")}
    for pk, triple in items.items():
        subject, object_ = graph.label(triple.head), graph.label(triple.tail)
        assert found(read(manager.get(URL, {"q": f"Is it true that {subject} once lived in {object_}?"}))) == [pk]
    # part of a longer word is no name
    subject, object_ = graph.label(triple.head), graph.label(triple.tail)
    assert not found(read(manager.get(URL, {"q": f"Is it true that {subject}x once lived in {object_}?"})))


def test_the_list_of_disputes_is_named_so(world, manager) -> None:
    assert read(manager.get(URL, {"state": "disputed"})).one(tag="h1").text == "Disputes"
    assert read(manager.get(URL)).one(tag="h1").text == "Items"


def test_a_dispute_says_how_its_answers_differ_and_since_when(world, manager, django_assert_num_queries) -> None:
    first, second, third = world.campaign.items.order_by("order")[:3]
    label_item(world, first, ann="Y", ben="N")
    label_item(world, second, ann="N", ben="?")
    label_item(world, third, ann="N", ben="N")
    change(world.ann, Label.objects.get(annotator=world.ann, item=second).client_id, GivenAnswer(uuid4(), "Y", LINK))
    Label.objects.filter(item=second, annotator=world.ben).update(created_at="2026-11-02T08:00Z")
    Label.objects.filter(item=second, annotator=world.ann).update(created_at="2026-11-03T10:12Z")
    with django_assert_num_queries(12):  # two more than without a dispute
        page = read(manager.get(URL))
    said = [one.text for one in page.all("dispute")]
    assert [text.split(",")[0] for text in said] == ["yes and no", "yes and can't tell"]
    assert "3 Nov 2026, 10:12" in said[1]
    assert page.rows[2][2] == ItemState.SETTLED.label


def test_a_dispute_says_who_holds_it_and_who_settled_it_how(world, manager, django_assert_num_queries) -> None:
    first, second, third, fourth = world.campaign.items.order_by("order")[:4]
    label_item(world, first, ann="Y", ben="N")
    decided(world, first, "N")
    for item in (second, third):
        label_item(world, item, ann="Y", ben="N")
    label_item(world, fourth, ann="Y", ben="Y")
    windows_closed(second)
    (slot,) = claim_disputed(world.campaign, world.ada, 5)
    waiting = read(manager.get(URL, {"state": "disputed"}))
    assert found(waiting) == [second.pk, third.pk]
    (held,) = waiting.all("holder")
    assert "ada" in held.text and slot.leased_until.strftime("%-d %b %Y, %H:%M") in held.text
    with django_assert_num_queries(11):
        settled = read(manager.get(URL + waiting.one("decided")["href"]))
    assert found(settled) == [first.pk] and settled.one(tag="h1").text == "Settled disputes"
    at = Label.objects.get(annotator=world.ada).created_at
    assert settled.one("decision").text == f"ada: no (because), {at:%-d %b %Y, %H:%M} UTC"
    assert settled.rows[0][2] == ItemState.SETTLED.label  # the reason is below the statement, which has the width
    Slot.objects.filter(pk=slot.pk).update(leased_until=timezone.now() - timedelta(seconds=1))
    assert not read(manager.get(URL, {"state": "disputed"})).has("holder")


def test_filters_by_state_person_and_relation(world, manager) -> None:
    one, two, three = world.campaign.items.order_by("order")[:3]
    label_item(world, one, ann="Y", ben="Y")
    label_item(world, two, ann="Y", ben="N")
    label_item(world, three, ben="Y")
    for person in (world.ann, world.ben):
        release(person, [slot.ticket for slot in person.slots.filter(state="leased")])
    flag = report_of(world, world.ann)
    report_of(world, world.ann)  # holds nothing
    release(world.ann, [slot.ticket for slot in world.ann.slots.filter(state="leased")])
    Flag.objects.filter(pk=flag.pk).update(item=two, holds_item=True)
    get = lambda **query: found(read(manager.get(URL, query)))  # noqa: E731
    assert get(state="settled") == [one.pk]
    assert get(state="disputed") == [two.pk]
    assert get(state="parked") == [two.pk]
    assert len(get(state="open")) == 4 and three.pk in get(state="open")
    assert get(state="undecided") == []
    assert get(person=world.ann.pk) == [one.pk, two.pk]
    assert get(person=world.ben.pk) == [one.pk, two.pk, three.pk]
    assert get(person=world.ben.pk, state="settled", q="lived", relation=0) == [one.pk]
    assert len(get(relation=0)) == 6
    chosen = read(manager.get(URL)).one(tag="select", name="relation").all(tag="option")
    assert [option.text for option in chosen] == ["all", "lived in"]
    assert len(get(state="x", relation="x", person="999999")) == 6


def test_names_are_text_in_the_list(world, manager) -> None:
    html = manager.get(URL, {"q": "<script>alert(1)</script>"}).content.decode()
    assert "<script>alert" not in html and 'value="&lt;script&gt;alert(1)&lt;/script&gt;"' in html
    assert read(html).has("empty")


@pytest.mark.parametrize("count", [1, 3])
def test_queries_of_the_list_do_not_grow(world, manager, count, django_assert_num_queries) -> None:
    items = list(world.campaign.items.order_by("order"))
    for item in items[:count]:
        label_item(world, item, ann="Y", ben="Y")
    manager.get(URL)
    for query in ({"state": "settled"}, {"state": "settled", "q": "lived"}):
        with django_assert_num_queries(10 if "q" not in query else 9):
            assert len(found(read(manager.get(URL, query)))) == count


@pytest.mark.parametrize(
    ("sort", "places"),
    [
        ("", [0, 1, 2, 3, 4, 5]), ("-labels", [0, 1, 2, 3, 4, 5]), ("labels", [3, 4, 5, 2, 0, 1]),
        ("-reports", [3, 0, 1, 2, 4, 5]), ("judgement", [1, 0, 2, 3, 4, 5]), ("-judgement", [0, 1, 2, 3, 4, 5]),
        ("-settled", [1, 0, 2, 3, 4, 5]), ("state", [2, 3, 4, 5, 0, 1]), ("nonsense", [0, 1, 2, 3, 4, 5]),
    ],
)  # fmt: skip
def test_list_is_sorted_by_any_column(world, manager, sort, places) -> None:
    items = list(world.campaign.items.order_by("order"))
    label_and_release(world, items[0], ann="Y", ben="Y")
    label_and_release(world, items[1], ann="N", ben="N")
    label_and_release(world, items[2], ann="Y")
    flag = report_of(world, world.ann)
    Flag.objects.filter(pk=flag.pk).update(item=items[3])
    assert found(read(manager.get(URL, {"sort": sort}))) == [items[place].pk for place in places]


def test_heading_leads_to_the_other_way_round(world, manager) -> None:
    heads = {a.text: a["href"] for a in read(manager.get(URL, {"sort": "labels", "state": "open"})).all(class_="sort")}
    assert heads["Labels"] == "?sort=-labels&state=open" and heads["Reports"] == "?sort=reports&state=open"
    head = read(manager.get(URL, {"sort": "-labels"})).one(tag="th", aria_sort="descending")
    assert head.text == "Labels" and head.one(tag="a")["href"] == "?sort=labels"


def test_filter_by_judgement_leaves_out_what_is_open_again(world, manager) -> None:
    one, two, three = world.campaign.items.order_by("order")[:3]
    for item in (one, two, three):
        label_and_release(world, item, ann="N", ben="N")
    reopen_judgement(two)
    Judgement.objects.filter(triple=three.triple).update(verdict="positive")
    assert found(read(manager.get(URL, {"verdict": "negative"}))) == [one.pk]
    assert found(read(manager.get(URL, {"verdict": "positive"}))) == [three.pk]
    assert found(read(manager.get(URL, {"verdict": "undecided"}))) == []


def test_decisions_are_counted_apart_from_labels(world, manager) -> None:
    item = world.campaign.items.order_by("order")[0]
    label_and_release(world, item, ann="Y", ben="N")
    decided(world, item)
    assert read(manager.get(URL)).rows[0][4] == "2 + 1 decision"
    (row, *_) = csv.DictReader(io.StringIO(manager.get(f"{URL}.csv").content.decode()))
    assert (row["labels"], row["decisions"]) == ("2", "1")


def test_judgement_of_simulated_people_says_so(world, manager) -> None:
    item = world.campaign.items.order_by("order")[0]
    label_and_release(world, item, ann="Y", ben="Y")
    for number, name in enumerate(("ann", "ben")):
        assert "simulated" not in read(manager.get(f"{URL}/{item.pk}")).one("judgement").text
        User.objects.filter(username=name).update(username=f"{NAME}{number}", password=make_password(None))
    assert "by simulated people" in read(manager.get(f"{URL}/{item.pk}")).one("judgement").text


def test_csv_has_what_the_list_shows(world, manager) -> None:
    one, two = world.campaign.items.order_by("order")[:2]
    label_and_release(world, one, ann="Y", ben="Y")
    label_and_release(world, two, ann="Y")
    # below the table, as on the other lists
    link = read(manager.get(URL, {"state": "settled"})).one(tag="p", class_="downloads").one(tag="a")
    assert link["href"] == f"{URL}.csv?state=settled"
    rows = list(csv.DictReader(io.StringIO(manager.get(link["href"]).content.decode())))
    graph = open_graph(world.pool.graph)
    one.refresh_from_db()
    assert one.settled_at is not None
    (row,) = rows
    assert (row["item"], row["subject"], row["object"]) == (
        str(one.pk),
        graph.entities[one.triple.head],
        graph.entities[one.triple.tail],
    )
    assert (row["relation"], row["state"], row["judgement"], row["labels"], row["reports"]) == (
        "lived_in", "settled", "positive", "2", "0",
    )  # fmt: skip
    assert (
        row["settled"] == one.settled_at.isoformat(timespec="seconds") and row["question"] == item_text(one).statement
    )
    assert len(manager.get(f"{URL}.csv").content.decode().splitlines()) == 7


# -- several items at once -----------------------------------------------------------------------------------

BULK_URL = f"{URL}/bulk"


@pytest.fixture
def several(world) -> list[Item]:
    """One settled, one disputed, one open."""
    items = list(world.campaign.items.order_by("order")[:3])
    label_and_release(world, items[0], ann="Y", ben="Y")
    label_and_release(world, items[1], ann="Y", ben="N")
    label_and_release(world, items[2], ann="Y")
    return items


def states(items: list[Item]) -> list[str]:
    return [Item.objects.get(pk=item.pk).state for item in items]


def test_preview_says_what_would_happen_and_changes_nothing(world, manager, several) -> None:
    asked = {"act": "return", "items": [item.pk for item in several], "back": "state=open"}
    page = read(manager.post(BULK_URL, asked))
    assert (numbers(page.one("what").text), len(page.all("refused"))) == (["2"], 1)
    assert numbers(page.one("warning").text) == ["4"]  # labels of two items
    assert [one["value"] for one in page.all(tag="input", name="items")] == [str(item.pk) for item in several]
    assert page.texts("listed") == [item_text(item).statement for item in several[:2]] and not page.has("more")
    chosen = ",".join(str(item.pk) for item in several)
    assert page.has(tag="a", href=f"{URL}?state=open&chosen={chosen}")  # who changes nothing keeps what they chose
    assert states(several) == ["settled", "disputed", "open"]


@pytest.mark.parametrize(
    ("act", "after", "entry"),
    [
        ("return", ["open", "open", "open"], "item-returned"),
        ("reopen", ["disputed", "disputed", "open"], "judgement-reopened"),
    ],
)
def test_act_is_done_to_every_item_that_allows_it(world, manager, several, act, after, entry) -> None:
    asked = {"act": act, "items": [item.pk for item in several], "reason": "bad words", "back": "sort=labels"}
    response = manager.post(BULK_URL, asked)
    assert (response.status_code, response["Location"]) == (302, f"{URL}?sort=labels")
    assert states(several) == after
    done = AuditEntry.objects.filter(act=entry)
    assert {(one.person, one.details["reason"]) for one in done} == {(world.manager, "bad words")}
    assert (
        read(manager.get(URL)).messages == [told.items_done(act, len(done))]
        and len(done) == {"return": 2, "reopen": 1}[act]
    )


def test_flagged_items_wait_in_the_inbox(world, manager, several) -> None:
    manager.post(BULK_URL, {"act": "flag", "items": [item.pk for item in several], "reason": "two Parises?"})
    flags = Flag.objects.order_by("pk")
    assert [(flag.item, flag.person, flag.kind, flag.text, flag.is_open) for flag in flags] == [
        (item, world.manager, "other", "two Parises?", True) for item in several
    ]
    assert read(manager.get("/pools/p1/campaign/inbox")).texts("text") == ["two Parises?"] * 3
    entry = AuditEntry.objects.get(act="items-reported")
    assert (entry.person, entry.pool, entry.about) == (world.manager, world.campaign.pool, "3 items")


@pytest.mark.parametrize("reason", ["", "x" * 1001, "a\0"])
def test_without_a_reason_nothing_is_done(world, manager, several, reason) -> None:
    asked = {"act": "return", "items": [item.pk for item in several], "reason": reason}
    assert len(read(manager.post(BULK_URL, asked)).errors) == 1
    assert states(several) == ["settled", "disputed", "open"]


def test_assigned_items_are_asked_first(world, manager) -> None:
    items = list(world.campaign.items.order_by("order"))
    last = items[-1]
    label_and_release(world, items[0], ann="Y")
    asked = {"act": "assign", "items": [items[0].pk, last.pk]}
    add_person("sim-annotator-1", CampaignRole.ANNOTATOR, world.campaign)
    User.objects.filter(username="sim-annotator-1").update(password=make_password(None))
    page = read(manager.post(BULK_URL, asked))
    assert page.one(tag="select", name="person").all(tag="option")[0].text == "Choose a person"
    assert [option["value"] for option in page.one(tag="select", name="person").all(tag="option")][1:] == [
        str(person.pk) for person in (world.ada, world.ann, world.ben, world.cleo)
    ]
    response = manager.post(BULK_URL, asked | {"person": world.ann.pk})
    assert response["Location"] == f"{URL}?chosen={items[0].pk}"
    assert read(manager.get(URL)).messages == [told.items_done("assign", 1, world.ann) + told.had_before(1)]
    rows = {row.one(tag="input")["value"]: row.texts("assigned") for row in read(manager.get(URL)).all("item")}
    assert {pk: said for pk, said in rows.items() if said} == {str(last.pk): ["assigned to ann"]}
    assert "ann" in read(manager.get(f"{URL}/{last.pk}")).one("assigned").text
    assert list(last.assigned_to.all()) == [world.ann] and not items[0].assigned_to.exists()  # ann had it
    entry = AuditEntry.objects.get(act="items-assigned")
    assert (entry.person, entry.subject, entry.about) == (world.manager, world.ann, "1 item")
    assert claim(world.campaign, world.ann, 1)[0].item.group == last.group
    release_all(world.ann, world.campaign)
    assert claim(world.campaign, world.ben, 1)[0].item.group == items[0].group  # others as before


def test_nobody_is_assigned_who_may_not_label_or_had_all_of_them(world, manager) -> None:
    item = world.campaign.items.order_by("order").first()
    label_and_release(world, item, ann="Y")
    User.objects.filter(pk=world.cleo.pk).update(username="sim-annotator-1", password=make_password(None))
    world.cleo.refresh_from_db()
    (why_not,) = refusal(lambda: bulk.assign_items(world.campaign, [item.pk], world.cleo, by=world.manager))
    assert "simulated" in why_not
    had_all = refusal(lambda: bulk.assign_items(world.campaign, [item.pk], world.ann, by=world.manager))
    assert had_all
    for person in (world.researcher, world.ann):  # ann had all of them, so the list leaves her out
        Item.objects.filter(pk=item.pk).update(state="open")
        response = manager.post(BULK_URL, {"act": "assign", "items": [item.pk], "person": person.pk})
        assert refused(response) == {"person": ["invalid_choice"]}
        people = read(response).one(tag="select", name="person").all(tag="option")[1:]
        assert [one["value"] for one in people] == [str(one.pk) for one in (world.ada, world.ben)]
    item.seen_by.add(world.ben)
    assert list(bulk.who_can_take(world.campaign, [item.pk])) == [world.ada]
    assert not item.assigned_to.exists() and not AuditEntry.objects.filter(act="items-assigned").exists()


def test_first_ten_of_the_chosen_items_are_listed(world, manager, monkeypatch) -> None:
    monkeypatch.setattr("annotation.views.campaigns.MOST_LISTED", 2)
    ids = [item.pk for item in world.campaign.items.order_by("order")]
    page = read(manager.post(BULK_URL, {"act": "flag", "items": ids[::-1]}))
    listed = [item_text(Item.objects.get(pk=pk)).statement for pk in ids[:2]]
    assert (page.texts("listed"), numbers(page.one("more").text)) == (listed, [str(len(ids) - 2)])


def test_nothing_chosen_or_nothing_possible_is_said(world, manager, several) -> None:
    for items, said, to in (
        ([], told.NOTHING_CHOSEN, URL),
        ([several[2].pk, 999_999], told.NOTHING_ALLOWS, f"{URL}?chosen={several[2].pk},999999&refused=reopen"),
    ):
        assert manager.post(BULK_URL, {"act": "reopen", "items": items, "reason": "x"})["Location"] == to
        assert read(manager.get(URL)).messages == [said]
    assert manager.post(BULK_URL, {"act": "delete", "items": [several[0].pk]}).status_code == 404
    assert manager.get(BULK_URL).status_code == 405


def test_refused_act_keeps_the_selection_and_says_why_at_each_item(world, manager, several) -> None:
    settled, disputed, _ = several
    asked = {"act": "assign", "items": [settled.pk, disputed.pk], "back": "sort=state&page=1"}
    address = manager.post(BULK_URL, asked)["Location"]
    assert address.startswith(f"{URL}?sort=state&page=1&")
    page = read(manager.get(address))
    rows = {row.one(tag="input")["value"]: row for row in page.all("item")}
    assert {pk for pk, row in rows.items() if "checked" in row.one(tag="input")} == {str(settled.pk), str(disputed.pk)}
    assert [len(rows[str(item.pk)].all("refused")) for item in several] == [1, 1, 0]
    assert rows[str(settled.pk)].one("refused").text != rows[str(disputed.pk)].one("refused").text
    assert page.one(tag="input", name="back")["value"] == "sort=state&page=1"  # links don't choose again
    assert not any("chosen" in link.attrs.get("href", "") for link in page.all(tag="a"))


def test_beside_the_acts_the_page_says_what_each_does(world, manager, several) -> None:
    page = read(manager.get(URL))
    buttons = [one["value"] for one in page.all(tag="button", name="act")]
    assert [one["data-act"] for one in page.one("acts-mean").all(tag="span")] == buttons == list(told.BULK_ACTS)
    for act, (_, _, does) in told.BULK_ACTS.items():
        assert page.one(tag="span", **{"data-act": act}).text.endswith(f": {does}.")


def test_asking_two_others_has_one_name_wherever_it_is_done(world, manager, as_user, several) -> None:
    def button(page: Element, **attrs: str) -> str:
        return page.one(tag="button", **attrs).text.rstrip("…").removeprefix("P ")

    _, disputed, _ = several
    form = next(
        form
        for form in read(manager.get(f"{URL}/{disputed.pk}")).all(tag="form")
        if any(field["value"] == "return" for field in form.all(tag="input", name="act"))
    )
    chosen = read(manager.post(BULK_URL, {"act": "return", "items": [disputed.pk]}, follow=True))
    adjudicator = read(as_user(world.ada).get("/campaigns/p1/adjudicate"))
    names = {
        button(read(manager.get(URL)), value="return"),
        button(form, type="submit"),
        next(
            one.text for one in chosen.all(tag="button", type="submit") if "button-danger" in one.attrs.get("class", "")
        ),
        button(adjudicator, **{"data-act": "return"}),
    }
    assert len(names) == 1, names


def test_what_no_item_of_the_page_allows_is_not_offered_and_why(world, manager, several) -> None:
    def impossible(state: str) -> list[str]:
        page = read(manager.get(f"{URL}?state={state}"))
        acts = [one["value"] for one in page.all(tag="button", name="act") if "disabled" in one]
        assert page.one("why").text == " ".join(told.BULK_ACTS[act][1] for act in acts)
        return acts

    assert [impossible(state) for state in ("disputed", "settled", "open", "")] == [
        ["reopen", "assign"], ["assign"], ["reopen", "return"], []
    ]  # fmt: skip
    for act, states_ in bulk.BULK.items():  # every refusal has words
        for state in set(ItemState) - set(states_):
            assert bulk._WHY_NOT[act, state]


def test_too_many_at_once_and_items_of_another_campaign_are_refused(world, manager, several, monkeypatch) -> None:
    other = open_campaign(make_pool(world.pool.graph, "p2")).items.first()
    manager.post(BULK_URL, {"act": "flag", "items": [other.pk], "reason": "x"})
    assert not Flag.objects.exists()
    monkeypatch.setattr(bulk, "MOST", 2)
    manager.post(BULK_URL, {"act": "flag", "items": [item.pk for item in several], "reason": "x"})
    assert not Flag.objects.exists() and len(read(manager.get(URL)).messages) == 2


@pytest.mark.parametrize("item", ["x", "9" * 20, "9" * 5000])
def test_an_id_that_no_item_can_have_is_none(world, manager, item: str) -> None:
    assert manager.post(BULK_URL, {"act": "flag", "items": [item], "reason": "x"}).status_code == 302
    assert not Flag.objects.exists()
    assert manager.get(URL, {"chosen": f"{item},{item}"}).status_code == 200


# -- one item ------------------------------------------------------------------------------------------------


def test_history_has_every_label_and_says_which_count(world, manager, item) -> None:
    answer(world.ann, slot_for(world.campaign, world.ann, item), "Y", active_ms=4200, away_ms=61_000, comment="sure")
    label = Label.objects.get()
    change(world.ann, label.client_id, GivenAnswer(uuid4(), "N", LINK, "not so sure", 1500))
    label_item(world, item, ben="Y")
    windows_closed(item)
    answer(world.ada, claim_disputed(world.campaign, world.ada)[0], "N")
    withdraw_labels(world.campaign, world.ben)
    page = read(manager.get(f"{URL}/{item.pk}"))
    rows = [row[:8] for row in page.one("labels").rows]
    assert [row[:3] for row in rows] == [
        ["ann", "annotator 1", "yes"],
        ["ann", "annotator 1", "no"],
        ["ben", "annotator 2", "yes"],
        ["ada", "adjudicator", "no"],
    ]
    counts = [(row.texts("changed"), row.texts("withdrawn")) for row in page.one("labels").one(tag="tbody").elements]
    assert [(len(changed), len(withdrawn)) for changed, withdrawn in counts] == [(1, 0), (0, 0), (0, 1), (0, 0)]
    assert rows[0][4:] == [f"{LINK} sure", "4.2", "61.0", "v1"]
    assert page.one("judgement")["data-waits"] == "labels"


def test_history_has_surplus_imported_held_and_reports(world, manager, item, tmp_path) -> None:
    slot = slot_for(world.campaign, world.ann, item)
    flag = report_of(world, world.ann, "name", "who is that", asked=slot)
    release(world.ann, [slot.ticket])
    label_item(world, item, ben="Y", cleo="Y")
    submit(world.ann, slot.ticket, lease_of(slot.ticket, world.ann.pk), GivenAnswer(uuid4(), "N", LINK))
    keys = open_graph(world.pool.graph).entities
    file = tmp_path / "labels.tsv"
    file.write_text(f"{keys[item.triple.head]}\tlived_in\t{keys[item.triple.tail]}\tN\t<b>x</b>\n")
    import_labels(world.pool, file)
    page = read(manager.get(f"{URL}/{item.pk}"))
    assert page.one("surplus").rows[0][:3] == ["ann", "no", SurplusReason.LATE.label]
    ((who, said, link, file),) = page.one("imported").rows
    assert (who, said, link, file.startswith("labels.tsv, "), file[-1]) == ("<b>x</b>", "no", "–", True, "1")
    assert page.texts("report") == ["who is that"] and flag.item_id == item.pk
    other = Item.objects.filter(slots__state="leased").first()
    assert read(manager.get(f"{URL}/{other.pk}")).has("held")


def test_reopen_asks_an_adjudicator_and_notes_who_and_why(world, manager, item) -> None:
    label_item(world, item, ann="Y", ben="Y")
    url = f"{URL}/{item.pk}"
    assert manager.post(url, {"act": "reopen", "reason": ""}).status_code == 200
    assert Item.objects.get(pk=item.pk).state == "settled"
    response = manager.post(url, {"act": "reopen", "reason": "doubtful <b>source</b>"})
    assert (response.status_code, response["Location"]) == (302, url)
    assert Item.objects.get(pk=item.pk).state == "disputed"
    assert Judgement.objects.get(triple=item.triple).verdict == "undecided"
    entry = AuditEntry.objects.get(act="judgement-reopened")
    assert (entry.person, entry.pool, entry.details) == (
        world.manager,
        world.pool,
        {"reason": "doubtful <b>source</b>"},
    )
    (act,) = read(manager.get(url)).all("act")
    assert (act.one("person").text, act.one("what").text) == ("manager", entry.get_act_display())
    assert act.one("reason").text == "doubtful <b>source</b>"


def test_return_asks_two_other_people(world, manager, item) -> None:
    label_item(world, item, ann="Y", ben="N")
    url = f"{URL}/{item.pk}"
    assert manager.post(url, {"act": "return", "reason": "question was wrong"}).status_code == 302
    assert Item.objects.get(pk=item.pk).state == "open"
    assert sorted(item.slots.values_list("state", flat=True)) == ["free", "free", "withdrawn", "withdrawn"]
    entry = AuditEntry.objects.get(act="item-returned")
    assert (entry.person, entry.details) == (world.manager, {"reason": "question was wrong"})
    assert len(read(manager.get(url)).one("labels").all("withdrawn")) == 2


def test_only_acts_that_are_possible_are_offered(world, manager, item) -> None:
    url = f"{URL}/{item.pk}"
    offered = lambda: [one["value"] for one in read(manager.get(url)).all(tag="input", name="act")]  # noqa: E731
    assert offered() == []
    page = read(manager.post(url, {"act": "return", "reason": "x"}))
    assert page.errors == [] and not page.has("refused")  # no form to show it at
    assert not AuditEntry.objects.filter(act="item-returned").exists()
    label_item(world, item, ann="Y", ben="N")
    assert offered() == ["return"]
    windows_closed(item)
    answer(world.ada, claim_disputed(world.campaign, world.ada)[0], "Y")
    assert offered() == ["reopen", "return"]


@pytest.mark.parametrize("reason", ["a\0b", "x" * 1001])
def test_bad_reason_changes_nothing(world, manager, item, reason) -> None:
    label_item(world, item, ann="Y", ben="Y")
    page = read(manager.post(f"{URL}/{item.pk}", {"act": "reopen", "reason": reason}))
    assert len(page.errors) == 1 and Item.objects.get(pk=item.pk).state == "settled"


def test_unknown_item_act_and_item_of_another_campaign_are_404(world, manager, item) -> None:
    from annotation.campaigns.lifecycle import open_campaign
    from tests.annotation.factories import make_pool

    other = open_campaign(make_pool(world.pool.graph, "p2")).items.first()
    assert manager.get(f"{URL}/{other.pk}").status_code == 404
    assert manager.get(f"{URL}/999999").status_code == 404
    assert manager.post(f"{URL}/{item.pk}", {"act": "delete", "reason": "x"}).status_code == 404


@pytest.mark.parametrize("who", ["ann", "ada", "researcher"])
def test_others_see_neither_list_nor_item(world, as_user, item, who) -> None:
    label_item(world, item, ben="Y", cleo="Y")
    client = as_user(getattr(world, who))
    assert [client.get(url).status_code for url in (URL, f"{URL}/{item.pk}")] == [403, 403]
    assert client.post(f"{URL}/{item.pk}", {"act": "reopen", "reason": "x"}).status_code == 403
    assert Item.objects.get(pk=item.pk).state == "settled"


@pytest.mark.parametrize("labels", [1, 3])
def test_queries_of_one_item_do_not_grow(world, manager, item, labels, django_assert_num_queries) -> None:
    label_item(world, item, **dict([("ann", "Y"), ("ben", "N")][:labels]))
    if labels == 3:
        windows_closed(item)
        answer(world.ada, claim_disputed(world.campaign, world.ada)[0], "Y")
    manager.get(f"{URL}/{item.pk}")
    with django_assert_num_queries(15):
        manager.get(f"{URL}/{item.pk}")
