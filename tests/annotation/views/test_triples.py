"""Items as a manager finds them, and the history of one."""

from uuid import uuid4

import pytest

from annotation.enums import ItemState, SurplusReason
from annotation.judging.judgements import import_labels
from annotation.labelling.assignments import GivenAnswer
from annotation.labelling.queue import claim_disputed, release
from annotation.labelling.submit import change, submit
from annotation.labelling.withdraw import withdraw_labels
from annotation.models import Flag, Item, Judgement, Label
from annotation.models.slot import lease_of
from core.models import AuditEntry
from pooling.graphs.opening import open_graph
from tests.annotation.factories import LINK, answer, label_item, report_of, slot_for, windows_closed
from tests.page import Element, read

URL = "/pools/p1/campaign/triples"


def found(page: Element) -> list[int]:
    """Return the items of the list, by what their links lead to."""
    return [int(row.all(tag="a")[0]["href"].removeprefix(f"{URL}/")) for row in page.all("item")]


def test_all_items_in_their_order(world, manager) -> None:
    label_item(world, world.campaign.items.first(), ann="N", ben="Y")
    change(world.ann, Label.objects.get(annotator=world.ann).client_id, GivenAnswer(uuid4(), "Y", LINK))
    page = read(manager.get(URL))
    assert found(page) == list(world.campaign.items.order_by("order").values_list("pk", flat=True))
    assert page.rows[0][1:] == [ItemState.SETTLED.label, "positive", "2", "0"]


@pytest.mark.parametrize(
    ("text", "has"),
    [
        ("person 1", lambda s, o: s == "Person 1" or s.startswith("Person 1")),
        ("CITY 7", lambda s, o: o == "City 7"),
        ("p3", lambda s, o: s == "Person 3"),
        ("lived", lambda s, o: True),
        ("nowhere", lambda s, o: False),
    ],
)
def test_text_is_looked_for_in_names_keys_and_relation(world, manager, text, has) -> None:
    graph = open_graph(world.pool.graph)
    items = world.campaign.items.select_related("triple").order_by("order")
    expected = [i.pk for i in items if has(graph.label(i.triple.head), graph.label(i.triple.tail))]
    assert found(read(manager.get(URL, {"q": text}))) == expected


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
