"""The page of the order of judging, for managers."""

import re

import pytest

from annotation.models import Batch, Campaign, Item
from annotation.release.next_batch import release_next
from annotation.release.settings import set_order
from core.models import AuditEntry
from tests.annotation.world import label_item, make_pool

URL = "/pools/p1/campaign/order"


@pytest.fixture
def manager(world, as_user):
    return as_user(world.manager)


@pytest.fixture
def batches(world) -> Campaign:
    """The world's campaign with one of its two questions released, by depth."""
    Item.objects.all().delete()
    Batch.objects.all().delete()
    Campaign.objects.update(batch_size=1)
    world.campaign.refresh_from_db()
    release_next(world.campaign)
    return world.campaign


def table(html: str) -> list[list[str]]:
    body = html.split("<tbody>")[1].split("</tbody>")[0]
    return [
        [" ".join(re.sub(r"<[^>]*>", " ", cell).split()) for cell in re.findall(r"<t[hd].*?</t[hd]>", row, re.DOTALL)]
        for row in re.findall(r"<tr.*?</tr>", body, re.DOTALL)
    ]


def said(html: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())


def test_page_shows_batches_and_what_is_left(world, manager, batches) -> None:
    one, two, _ = batches.items.all()
    label_item(world, one, ann="Y", ben="Y")
    label_item(world, two, ann="N", ben="N")
    release_next(batches)
    Batch.objects.filter(number=1).update(settings={"seed": 0, "size": 1})  # as of a version that did not note it
    rows = table(manager.get(URL).content.decode())
    assert [[row[0], *row[2:]] for row in rows] == [
        ["2", "next in the order of judging: depth, whole questions", "3", "1", "0", "–"],
        ["1", "next in the order of judging: depth", "3", "1", "2", "50.0 %"],
    ]


def test_everything_at_once_says_that_all_is_released(world, manager) -> None:
    html = manager.get(URL).content.decode()
    assert [row[2:] for row in table(html)] == [["everything at once", "6", "–", "0", "–"]]
    assert "Every triple for people is released." in html
    assert "Release now" not in html


def test_page_tells_of_triples_from_before_batches(world, manager) -> None:
    Item.objects.update(batch=None)
    Batch.objects.all().delete()
    assert "6 triples came to people before batches were kept." in said(manager.get(URL).content.decode())


def test_every_order_is_described_with_its_caution(world, manager) -> None:
    from pooling.orders import ORDERS

    words = said(manager.get(URL).content.decode().replace("&#x27;", "'"))
    for order in ORDERS.values():
        caution = f" Beware: {order.caution}" if order.caution else ""
        assert f"{order.label} {order.description}{caution} {order.source}." in words


def test_release_now(world, manager, batches) -> None:
    response = manager.post(URL, {"act": "release"}, follow=True)
    assert "Batch 2 is released: 3 triples." in response.content.decode()
    assert batches.items.count() == 6
    entry = AuditEntry.objects.filter(act="batch-released").latest("pk")
    assert (entry.person, entry.about) == (world.manager, "batch 2: 3 triples")
    response = manager.post(URL, {"act": "release"}, follow=True)
    assert "Every triple is released already." in response.content.decode()


def test_reason_for_a_stop_is_shown_and_a_manager_may_go_on(world, manager, batches) -> None:
    Campaign.objects.update(budget=0)
    html = manager.get(URL).content.decode()
    assert "No batch comes by itself: The budget of 0 labels is used up: 0 were given." in said(html)
    manager.post(URL, {"act": "release"})
    assert batches.items.count() == 6


def test_closed_campaign_offers_no_release(world, manager, batches) -> None:
    Campaign.objects.update(state="closed")
    html = manager.get(URL).content.decode()
    assert "The campaign is closed: nothing is released." in html
    assert "Release now" not in html and "Draw audit sample" not in html
    response = manager.post(URL, {"act": "release"})
    html = response.content.decode()
    assert response.status_code == 422
    assert "The campaign of p1 is closed: open it again first." in html


def test_order_is_changed(world, manager) -> None:
    data = {"act": "order", "order": "stratified", "batch_size": "50", "settings": "bounds = 3\nrates = 1, 0.5"}
    response = manager.post(URL, data, follow=True)
    assert "Saved: order, order settings, batch size." in response.content.decode()
    found = Campaign.objects.get()
    assert (found.order, found.batch_size, found.order_settings) == (
        "stratified",
        50,
        {"bounds": [3.0], "rates": [1.0, 0.5]},
    )
    html = manager.get(URL).content.decode()
    assert "bounds = 3\nrates = 1, 0.5</textarea>" in html
    assert '<option value="stratified" selected>' in html
    assert "Nothing was different." in manager.post(URL, data, follow=True).content.decode()


def test_single_triples_are_chosen_and_shown(world, manager) -> None:
    data = {"act": "order", "order": "depth", "batch_size": "50", "settings": "", "single": "on"}
    html = manager.post(URL, data, follow=True).content.decode()
    assert "Saved: batch size, whole questions." in html
    assert Campaign.objects.filter(whole_questions=False).exists()
    (box,) = re.findall(r'<input type="checkbox" name="single"[^>]*>', html)
    assert " checked" in box
    manager.post(URL, data | {"single": ""})
    assert Campaign.objects.filter(whole_questions=True).exists()


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"settings": "beta"}, "is no setting: write name = number"),
        ({"settings": "beta = 1"}, "Order depth has no setting &#x27;beta&#x27;: it has none."),
        ({"order": "best"}, "Select a valid choice"),
        ({"batch_size": "-1"}, "greater than or equal to 0"),
        ({"batch_size": ""}, "This field is required"),
    ],
)
def test_order_that_cannot_be_changes_nothing_and_says_why(world, manager, wrong, told) -> None:
    data = {"act": "order", "order": "depth", "batch_size": "50", "settings": ""} | wrong
    response = manager.post(URL, data)
    html = response.content.decode()
    assert response.status_code == 422
    assert "Nothing was changed." in html and told in html
    assert Campaign.objects.filter(order="depth", batch_size=0).exists()


def test_so_many_that_a_page_cannot_release_them_are_left_to_the_server(world, manager, batches, monkeypatch) -> None:
    monkeypatch.setattr("annotation.views.release.RELEASE_IN_BROWSER", 2)
    html = manager.post(URL, {"act": "order", "order": "depth", "batch_size": "0"}).content.decode()
    assert "So many are released on the server: release_batch p1 --all" in html
    assert batches.items.count() == 3


def test_stopping_rules_are_changed(world, manager) -> None:
    data = {"act": "stopping", "budget": "900", "target_tau": "0.9", "target_measure": "map@20"}
    response = manager.post(URL, data, follow=True)
    assert "Saved: budget, target tau, target measure." in response.content.decode()
    assert Campaign.objects.values_list("budget", "target_tau", "target_measure").get() == (900, 0.9, "map@20")
    html = manager.post(URL, data | {"target_tau": "2"}).content.decode()
    assert "less than or equal to 1" in html
    assert Campaign.objects.get().target_tau == 0.9


def test_audit_sample_is_drawn(world, manager) -> None:
    assert "None of the 1 filtered triple" in said(manager.get(URL).content.decode())
    response = manager.post(URL, {"act": "audit", "percent": "50", "seed": "3"}, follow=True)
    assert (
        "1 triple drawn, 1 in all. They come among 6 others that nobody has begun, unmarked."
        in response.content.decode()
    )
    assert "1 of 1 filtered triple" in said(response.content.decode())
    response = manager.post(URL, {"act": "audit", "percent": "50", "seed": "3"}, follow=True)
    assert "The sample has that many already: 1 triple." in response.content.decode()
    html = manager.post(URL, {"act": "audit", "percent": "0", "seed": "3"}).content.decode()
    assert "greater than or equal to 0.01" in html


def test_unknown_act_is_404(world, manager) -> None:
    assert manager.post(URL, {"act": "nothing"}).status_code == 404


def test_page_is_for_managers(world, as_user) -> None:
    people = (None, world.stranger, world.ann, world.ada, world.researcher, world.manager)
    assert [as_user(person).get(URL).status_code for person in people] == [302, 403, 403, 403, 403, 200]
    assert [as_user(person).post(URL, {"act": "release"}).status_code for person in people[:5]] == [302] + [403] * 4
    assert not AuditEntry.objects.filter(act="batch-released").exists()


@pytest.mark.parametrize("count", [1, 3])
def test_queries_do_not_grow_with_batches(world, manager, count, django_assert_num_queries) -> None:
    for number in range(2, count + 1):
        Batch.objects.create(campaign=world.campaign, number=number, origin="order", order="depth", size=1)
    with django_assert_num_queries(11):
        html = manager.get(URL).content.decode()
    assert len(table(html)) == count


# -- opening ------------------------------------------------------------------------------------------------


def test_campaign_is_opened_in_batches_with_an_audit_sample(world, manager) -> None:
    make_pool(world.pool.graph, "p2")
    data = {"act": "open", "order": "random", "batch_size": "1", "settings": "", "audit_percent": "100"}
    manager.post("/pools/p2/campaign", data)
    found = Campaign.objects.get(pool__name="p2")
    assert (found.order, found.batch_size) == ("random", 1)
    assert list(found.batches.values_list("origin", "size")) == [("order", 3), ("audit", 1)]


def test_opening_with_nonsense_opens_nothing(world, manager) -> None:
    make_pool(world.pool.graph, "p2")
    html = manager.post("/pools/p2/campaign", {"act": "open", "settings": "beta = 1"}).content.decode()
    assert "Order depth has no setting &#x27;beta&#x27;: it has none." in html
    html = manager.post("/pools/p2/campaign", {"act": "open", "audit_percent": "101"}).content.decode()
    assert "less than or equal to 100" in html
    assert not Campaign.objects.filter(pool__name="p2").exists()


def test_campaign_page_says_what_waits_for_its_batch(world, manager, batches) -> None:
    html = manager.get("/pools/p1/campaign").content.decode()
    assert "<dt>triples not released yet</dt><dd>3</dd>" in html
    for item in batches.items.all():
        label_item(world, item, ann="Y", ben="Y")
    Item.objects.filter(batch__number=2).delete()  # claims of people who looked for more
    set_order(batches, order="depth", settings={}, batch_size=1)
    Campaign.objects.update(budget=6)
    words = said(manager.get("/pools/p1/campaign").content.decode())
    assert (
        "All that is released is judged or in hand; 3 triples are not released yet. "
        "The budget of 6 labels is used up: 6 were given. See the order" in words
    )
