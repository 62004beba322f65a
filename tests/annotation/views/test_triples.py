"""Items as a manager finds them, and the history of one."""

import re
from uuid import uuid4

import pytest

from annotation.judging.judgements import import_labels
from annotation.labelling.queue import claim_disputed, release
from annotation.labelling.submit import change, submit
from annotation.labelling.withdraw import withdraw_labels
from annotation.models import Flag, Item, Judgement, Label
from annotation.models.slot import lease_of
from core.models import AuditEntry
from pooling.graphs.imports import open_graph
from tests.annotation.flags import report_of
from tests.annotation.world import LINK, answer, label_item, slot_for, windows_closed

URL = "/pools/p1/campaign/triples"


@pytest.fixture
def manager(world, as_user):
    return as_user(world.manager)


def found(html: str) -> list[int]:
    return [int(pk) for pk in re.findall(r'<td><a href="/pools/p1/campaign/triples/(\d+)">', html)]


def cells(html: str, caption: str = "Labels") -> list[list[str]]:
    """Rows of the table below a heading, as text."""
    part = html.split(f"<h2>{caption}</h2>")[1].split("</section>")[0]
    rows = re.findall(r"<tr.*?</tr>", part.split("<tbody>")[1], re.DOTALL)
    return [
        [" ".join(re.sub(r"<[^>]*>", " ", cell).split()) for cell in re.findall(r"<t[hd].*?</t[hd]>", row, re.DOTALL)]
        for row in rows
    ]


def test_all_items_in_their_order(world, manager) -> None:
    label_item(world, world.campaign.items.first(), ann="N", ben="Y")
    change(world.ann, Label.objects.get(annotator=world.ann).client_id, uuid4(), "Y", LINK)
    html = manager.get(URL).content.decode()
    assert found(html) == list(world.campaign.items.order_by("order").values_list("pk", flat=True))
    first = re.findall(r"<tbody>\s*<tr>(.*?)</tr>", html, re.DOTALL)[0]
    told = re.findall(r"<td[^>]*>(.*?)</td>", first, re.DOTALL)
    assert [re.sub(r"<[^>]*>", "", cell).strip() for cell in told[1:]] == ["settled", "positive", "2", "0"]


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
    assert found(manager.get(URL, {"q": text}).content.decode()) == expected


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
    get = lambda **query: found(manager.get(URL, query).content.decode())  # noqa: E731
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
    assert "No item is like that." in html


@pytest.mark.parametrize("count", [1, 3])
def test_queries_of_the_list_do_not_grow(world, manager, count, django_assert_num_queries) -> None:
    items = list(world.campaign.items.order_by("order"))
    for item in items[:count]:
        label_item(world, item, ann="Y", ben="Y")
    manager.get(URL)
    for query in ({"state": "settled"}, {"state": "settled", "q": "lived"}):
        with django_assert_num_queries(10 if "q" not in query else 9):
            assert len(found(manager.get(URL, query).content.decode())) == count


# -- one item ------------------------------------------------------------------------------------------------


@pytest.fixture
def item(world) -> Item:
    return world.campaign.items.order_by("order").first()


def test_history_has_every_label_and_says_which_count(world, manager, item) -> None:
    answer(world.ann, slot_for(world.campaign, world.ann, item), "Y", active_ms=4200, away_ms=61_000, comment="sure")
    label = Label.objects.get()
    change(world.ann, label.client_id, uuid4(), "N", LINK, "not so sure", 1500)
    label_item(world, item, ben="Y")
    windows_closed(item)
    answer(world.ada, claim_disputed(world.campaign, world.ada)[0], "N")
    withdraw_labels(world.campaign, world.ben)
    html = manager.get(f"{URL}/{item.pk}").content.decode()
    rows = [row[:5] + row[5:8] for row in cells(html)]
    assert [row[:3] for row in rows] == [
        ["ann", "annotator 1", "yes"],
        ["ann", "annotator 1", "no"],
        ["ben", "annotator 2", "yes"],
        ["ada", "adjudicator", "no"],
    ]
    assert [re.sub(r"back \d.*", "back", row[3]) for row in rows] == [
        "no: changed later",
        "yes",
        "no: taken back",
        "yes",
    ]
    assert rows[0][4:] == [f"{LINK} sure", "4.2", "61.0", "v1"]
    assert "No judgement: it waits for labels." in html


def test_history_has_surplus_imported_held_and_reports(world, manager, item, tmp_path) -> None:
    slot = slot_for(world.campaign, world.ann, item)
    flag = report_of(world, world.ann, "name", "who is that", asked=slot)
    release(world.ann, [slot.ticket])
    label_item(world, item, ben="Y", cleo="Y")
    submit(world.ann, slot.ticket, lease_of(slot.ticket, world.ann.pk), uuid4(), "N", LINK)
    keys = open_graph(world.pool.graph).entities
    file = tmp_path / "labels.tsv"
    file.write_text(f"{keys[item.triple.head]}\tlived_in\t{keys[item.triple.tail]}\tN\t<b>x</b>\n")
    import_labels(world.pool, file)
    html = manager.get(f"{URL}/{item.pk}").content.decode()
    assert cells(html, "Surplus")[0][:3] == ["ann", "no", "its slot had gone to somebody else"]
    assert cells(html, "Labels made elsewhere") == [["&lt;b&gt;x&lt;/b&gt;", "no", "–", "labels.tsv, line 1"]]
    assert "who is that" in html and flag.item_id == item.pk
    other = Item.objects.filter(slots__state="leased").first()
    assert "holds the question until" in manager.get(f"{URL}/{other.pk}").content.decode()


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
    html = manager.get(url).content.decode()
    assert "manager reopened a judgement. Reason: " in html and "doubtful &lt;b&gt;source&lt;/b&gt;" in html


def test_return_asks_two_other_people(world, manager, item) -> None:
    label_item(world, item, ann="Y", ben="N")
    url = f"{URL}/{item.pk}"
    assert manager.post(url, {"act": "return", "reason": "question was wrong"}).status_code == 302
    assert Item.objects.get(pk=item.pk).state == "open"
    assert sorted(item.slots.values_list("state", flat=True)) == ["free", "free", "withdrawn", "withdrawn"]
    entry = AuditEntry.objects.get(act="item-returned")
    assert (entry.person, entry.details) == (world.manager, {"reason": "question was wrong"})
    assert [row[3][:14] for row in cells(manager.get(url).content.decode())] == ["no: taken back"] * 2


def test_only_acts_that_are_possible_are_offered(world, manager, item) -> None:
    url = f"{URL}/{item.pk}"
    offered = lambda: re.findall(r'name="act" value="(\w+)"', manager.get(url).content.decode())  # noqa: E731
    assert offered() == []
    html = manager.post(url, {"act": "return", "reason": "x"}).content.decode()
    assert "waits for labels already" not in html  # no form to show it at
    assert not AuditEntry.objects.filter(act="item-returned").exists()
    label_item(world, item, ann="Y", ben="N")
    assert offered() == ["return"]
    windows_closed(item)
    answer(world.ada, claim_disputed(world.campaign, world.ada)[0], "Y")
    assert offered() == ["reopen", "return"]


@pytest.mark.parametrize("reason", ["a\0b", "x" * 1001])
def test_bad_reason_changes_nothing(world, manager, item, reason) -> None:
    label_item(world, item, ann="Y", ben="Y")
    html = manager.post(f"{URL}/{item.pk}", {"act": "reopen", "reason": reason}).content.decode()
    assert html.count('class="errorlist"') == 1 and Item.objects.get(pk=item.pk).state == "settled"


def test_unknown_item_act_and_item_of_another_campaign_are_404(world, manager, item) -> None:
    from annotation.campaigns.opening import open_campaign
    from tests.annotation.world import make_pool

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
