"""The page of the order of judging, for managers."""

import pytest

from annotation.campaigns.lifecycle import open_campaign
from annotation.enums import AnnotationJob, BatchOrigin
from annotation.models import Batch, Campaign, Item
from annotation.release.audit_sample import AuditDrawn
from annotation.release.next_batch import release_next, stop_reason, unreleased
from annotation.release.settings import run_set_order, set_order
from annotation.views import told
from core.jobs.progress import Progress
from core.models import AuditEntry, Job
from pooling.models import Pool
from tests.annotation.factories import label_item, make_pool
from tests.page import codes, numbers, read, refusal

URL = "/pools/p1/campaign/order"


@pytest.fixture
def batches(world) -> Campaign:
    """The world's campaign with one of its two questions released, by depth."""
    Item.objects.all().delete()
    Batch.objects.all().delete()
    Campaign.objects.update(batch_size=1)
    world.campaign.refresh_from_db()
    release_next(world.campaign)
    return world.campaign


def batch_table(response) -> list[list[str]]:
    return read(response).one("batches").rows


def test_page_shows_batches_and_what_is_left(world, manager, batches) -> None:
    one, two, _ = batches.items.all()
    label_item(world, one, ann="Y", ben="Y")
    label_item(world, two, ann="N", ben="N")
    release_next(batches)
    Batch.objects.filter(number=1).update(settings={"seed": 0, "size": 1})  # as of a version that did not note it
    rows = batch_table(manager.get(URL))
    assert [[row[0], *row[2:]] for row in rows] == [
        ["2", "next in the order of judging: depth, whole questions", "3", "1", "0", "–"],
        ["1", "next in the order of judging: depth", "3", "1", "2", "50.0 %"],
    ]


def test_everything_at_once_says_that_all_is_released(world, manager) -> None:
    page = read(manager.get(URL))
    assert [row[2:] for row in page.one("batches").rows] == [[BatchOrigin.ALL.label, "6", "–", "0", "–"]]
    assert page.has("all-released") and not page.has(name="act", value="release")


def test_page_tells_of_triples_from_before_batches(world, manager) -> None:
    Item.objects.update(batch=None)
    Batch.objects.all().delete()
    assert numbers(read(manager.get(URL)).one("older").text) == ["6"]


def test_every_order_is_described_with_its_caution(world, manager) -> None:
    from pooling.orders import ORDERS

    shown = read(manager.get(URL)).all("order")
    assert [one.one(tag="dt").text for one in shown] == [order.label for order in ORDERS.values()]
    for one, order in zip(shown, ORDERS.values(), strict=True):
        assert (one.one("description").text, one.texts("caution"), one.one("source").text) == (
            order.description,
            [order.caution] if order.caution else [],
            order.source,
        )


def test_release_now(world, manager, batches) -> None:
    page = read(manager.post(URL, {"act": "release"}, follow=True))
    assert page.messages == [told.batch_released(Batch.objects.get(number=2))]
    assert batches.items.count() == 6
    entry = AuditEntry.objects.filter(act="batch-released").latest("pk")
    assert (entry.person, entry.about) == (world.manager, "batch 2: 3 triples")
    assert read(manager.post(URL, {"act": "release"}, follow=True)).messages == [told.ALL_RELEASED]


def test_reason_for_a_stop_is_shown_and_a_manager_may_go_on(world, manager, batches) -> None:
    Campaign.objects.update(budget=0)
    batches.refresh_from_db()
    reason = stop_reason(batches)
    assert read(manager.get(URL)).one("stopped").text == reason and numbers(reason) == ["0", "0"]
    manager.post(URL, {"act": "release"})
    assert batches.items.count() == 6


def test_closed_campaign_offers_no_release(world, manager, batches) -> None:
    Campaign.objects.update(state="closed")
    page = read(manager.get(URL))
    assert page.has("closed")
    assert [page.has(name="act", value=act) for act in ("order", "release", "audit")] == [True, False, False]
    batches.refresh_from_db()
    page = read(manager.post(URL, {"act": "release"}), 422)
    assert page.messages == refusal(lambda: release_next(batches))


def test_order_is_changed(world, manager) -> None:
    data = {"act": "order", "order": "stratified", "batch_size": "50", "settings": "bounds = 3\nrates = 1, 0.5"}
    page = read(manager.post(URL, data, follow=True))
    assert page.messages == [told.saved(["order", "order_settings", "batch_size"])]
    found = Campaign.objects.get()
    assert (found.order, found.batch_size, found.order_settings) == (
        "stratified",
        50,
        {"bounds": [3.0], "rates": [1.0, 0.5]},
    )
    page = read(manager.get(URL))
    assert page.one(tag="textarea", name="settings").text == "bounds = 3 rates = 1, 0.5"
    assert "selected" in page.one(tag="select", name="order").one(value="stratified")
    assert read(manager.post(URL, data, follow=True)).messages == [told.saved([])]


def test_single_triples_are_chosen_and_shown(world, manager) -> None:
    data = {"act": "order", "order": "depth", "batch_size": "50", "settings": "", "single": "on"}
    page = read(manager.post(URL, data, follow=True))
    assert page.messages == [told.saved(["batch_size", "whole_questions"])]
    assert Campaign.objects.filter(whole_questions=False).exists()
    assert "checked" in page.one(tag="input", name="single")
    manager.post(URL, data | {"single": ""})
    assert Campaign.objects.filter(whole_questions=True).exists()


@pytest.mark.parametrize(
    ("wrong", "errors"),
    [
        ({"settings": "beta"}, {"settings": ["setting"]}),
        ({"order": "best"}, {"order": ["invalid_choice"]}),
        ({"batch_size": "-1"}, {"batch_size": ["min_value"]}),
        ({"batch_size": ""}, {"batch_size": ["required"]}),
    ],
)
def test_order_that_cannot_be_changes_nothing_and_says_why(world, manager, wrong, errors) -> None:
    data = {"act": "order", "order": "depth", "batch_size": "50", "settings": ""} | wrong
    response = manager.post(URL, data)
    assert codes(response.context["forms"]["order"]) == errors
    page = read(response, 422)
    assert page.has("refused") and len(page.errors) == 1
    assert Campaign.objects.filter(order="depth", batch_size=0).exists()


def test_order_without_such_a_setting_changes_nothing_and_says_why(world, manager) -> None:
    data = {"act": "order", "order": "depth", "batch_size": "50", "settings": "beta = 1"}
    page = read(manager.post(URL, data), 422)
    why = refusal(lambda: set_order(world.campaign, order="depth", settings={"beta": 1}, batch_size=50))
    assert page.one("refused").texts(tag="p")[1:] == why
    assert Campaign.objects.filter(order="depth", batch_size=0).exists()


def test_so_many_that_a_page_cannot_release_them_are_released_by_a_job(world, manager, batches, monkeypatch) -> None:
    monkeypatch.setattr("annotation.release.settings.RELEASE_AT_ONCE", 0)
    left = unreleased(batches.pool).count()
    response = manager.post(URL, {"act": "order", "order": "depth", "batch_size": "0", "single": "on"}, follow=True)
    job = Job.objects.get()
    assert read(response).messages == [told.release_started(job)]
    assert (job.kind, job.pool_id, job.created_by) == (AnnotationJob.RELEASE, batches.pool_id, world.manager)
    assert (batches.items.count(), left > 0) == (3, True)
    for _ in range(2):  # a worker that died may do it again
        run_set_order(job, Progress(job))
        batches.refresh_from_db()
        assert (batches.items.count(), batches.batch_size, batches.whole_questions) == (3 + left, 0, False)


def test_stopping_rules_are_changed(world, manager) -> None:
    data = {"act": "stopping", "budget": "900", "target_tau": "0.9", "target_measure": "map@20"}
    response = manager.post(URL, data, follow=True)
    assert read(response).messages == [told.saved(["budget", "target_tau", "target_measure"])]
    assert Campaign.objects.values_list("budget", "target_tau", "target_measure").get() == (900, 0.9, "map@20")
    response = manager.post(URL, data | {"target_tau": "2"})
    assert codes(response.context["forms"]["stopping"]) == {"target_tau": ["max_value"]}
    assert len(read(response, 422).errors) == 1
    assert Campaign.objects.get().target_tau == 0.9


def test_audit_sample_is_drawn(world, manager) -> None:
    assert read(manager.get(URL)).one("filtered").text == "1"
    response = manager.post(URL, {"act": "audit", "percent": "50", "seed": "3"}, follow=True)
    page = read(response)
    assert page.messages == [told.audit_drawn(AuditDrawn(added=1, total=1, others=6))]
    assert page.one("audited").text == "1 of 1"
    response = manager.post(URL, {"act": "audit", "percent": "50", "seed": "3"}, follow=True)
    assert read(response).messages == [told.audit_drawn(AuditDrawn(added=0, total=1, others=6))]
    response = manager.post(URL, {"act": "audit", "percent": "0", "seed": "3"})
    assert codes(response.context["forms"]["audit"]) == {"percent": ["min_value"]}


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
    with django_assert_num_queries(14):
        response = manager.get(URL)
    assert len(batch_table(response)) == count


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
    page = read(manager.post("/pools/p2/campaign", {"act": "open", "settings": "beta = 1"}))
    why = refusal(lambda: open_campaign(Pool.objects.get(name="p2"), order="depth", order_settings={"beta": 1}))
    assert page.one("refused").texts(tag="p")[1:] == why
    response = manager.post("/pools/p2/campaign", {"act": "open", "audit_percent": "101"})
    assert codes(response.context["form"]) == {"audit_percent": ["max_value"]}
    assert not Campaign.objects.filter(pool__name="p2").exists()


def test_campaign_page_says_what_waits_for_its_batch(world, manager, batches) -> None:
    assert read(manager.get("/pools/p1/campaign")).figures["unreleased"] == "3"
    for item in batches.items.all():
        label_item(world, item, ann="Y", ben="Y")
    Item.objects.filter(batch__number=2).delete()  # claims of people who looked for more
    set_order(batches, order="depth", settings={}, batch_size=1)
    Campaign.objects.update(budget=6)
    (step,) = read(manager.get("/pools/p1/campaign")).all("step")
    text = step.one(tag="p").text
    assert (step["data-step"], step.one(tag="a")["href"], numbers(text)) == ("release", URL, ["3", "6", "6"])
    batches.refresh_from_db()
    assert text.endswith(stop_reason(batches))
