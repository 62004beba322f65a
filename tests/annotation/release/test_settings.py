import pytest

from annotation.campaigns.lifecycle import open_campaign
from annotation.errors import CampaignError
from annotation.models import Campaign
from annotation.release.settings import check_order, read_settings, set_order, set_stopping, write_settings
from core.models import AuditEntry
from tests.annotation.factories import make_pool


def test_settings_are_read_as_they_are_written() -> None:
    lines = ["beta = 0.2", "bounds = 2, 5, 8"]
    assert read_settings(["beta=0.2", " bounds = 2 5,8 "]) == {"beta": 0.2, "bounds": [2.0, 5.0, 8.0]}
    assert write_settings(read_settings(lines)) == lines


@pytest.mark.parametrize("line", ["beta", "beta =", "= 2", "beta = much", "beta = nan", "beta = 1, inf"])
def test_line_that_is_no_setting_is_named(line) -> None:
    with pytest.raises(CampaignError, match="is not a setting: write name = number"):
        read_settings([line])


def test_order_keeps_only_what_differs_from_its_usual_settings() -> None:
    assert check_order("stratified", {"bounds": [2.0, 5.0], "rates": [1, 0.2, 0.1]}, 10) == {"rates": [1, 0.2, 0.1]}
    assert check_order("stratified", {"bounds": 3.0, "rates": [1, 0.5]}, 10) == {"bounds": [3.0], "rates": [1, 0.5]}
    assert check_order("depth", {}, 0) == {}


@pytest.mark.parametrize(
    ("name", "wrong", "size", "told"),
    [
        ("best", {}, 10, "Order 'best': choose one of depth, random, move-to-front"),
        ("depth", {}, -1, "A batch of -1 triples: give 1 to 1,000,000, or 0 for everything at once"),
        ("depth", {"beta": 1}, 10, "Order depth has no setting 'beta': it has none"),
        ("hedge", {"gamma": 1}, 10, "Order hedge has no setting 'gamma': it has beta"),
        ("stratified", {"rates": [1, 0.5]}, 10, "Order stratified: bounds and rates must be lists"),
        ("stratified", {"rates": [1, 0.5, 2]}, 10, "Order stratified: rates must be above 0 and at most 1"),
    ],
)
def test_what_an_order_cannot_work_with_is_refused(name, wrong, size, told) -> None:
    with pytest.raises(CampaignError, match=told):
        check_order(name, wrong, size)


def test_change_of_the_order_stands_in_the_audit_log(world) -> None:
    changed = set_order(world.campaign, order="hedge", settings={"beta": 0.3}, batch_size=50, by=world.manager)
    assert changed == ["order", "order_settings", "batch_size"]
    found = Campaign.objects.get()
    assert (found.order, found.order_settings, found.batch_size) == ("hedge", {"beta": 0.3}, 50)
    assert (world.campaign.order, world.campaign.batch_size) == ("hedge", 50)
    entry = AuditEntry.objects.get(act="order-set")
    assert (entry.person, entry.pool, entry.about) == (world.manager, world.pool, "order, order settings, batch size")
    assert entry.details == {"order": ["depth", "hedge"], "order_settings": [{}, {"beta": 0.3}], "batch_size": [0, 50]}
    assert set_order(world.campaign, order="hedge", settings={"beta": 0.3}, batch_size=50) == []
    assert AuditEntry.objects.filter(act="order-set").count() == 1


def test_change_of_the_stopping_rules_stands_in_the_audit_log(world) -> None:
    wanted = {"budget": 500, "target_tau": 0.9, "target_measure": "map@20"}
    assert set_stopping(world.campaign, **wanted, by=world.manager) == list(wanted)
    assert Campaign.objects.values(*wanted).get() == wanted
    entry = AuditEntry.objects.get(act="stopping-set")
    assert entry.details == {
        "budget": [None, 500],
        "target_tau": [None, 0.9],
        "target_measure": ["micro_mrr", "map@20"],
    }
    assert set_stopping(world.campaign, budget=None, target_tau=None, target_measure="map@20") == [
        "budget",
        "target_tau",
    ]


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"budget": -1}, "A budget of -1 labels: give 0 to 10,000,000, or none"),
        ({"target_tau": 0.0}, "A target of 0 for tau: give more than 0 and at most 1"),
        ({"target_tau": 1.1}, "A target of 1.1 for tau"),
        ({"target_measure": "luck"}, "Measure 'luck': choose one of micro_mrr"),
    ],
)
def test_stopping_rule_that_is_none_is_refused(world, wrong, told) -> None:
    with pytest.raises(CampaignError, match=told):
        set_stopping(world.campaign, **({"budget": 5, "target_tau": 0.9, "target_measure": "map@20"} | wrong))
    assert Campaign.objects.filter(budget=None, target_tau=None).exists()


def test_a_closed_campaign_is_not_released_by_its_batch_size(graph) -> None:
    campaign = open_campaign(make_pool(graph), batch_size=1)
    Campaign.objects.update(state="closed")
    with pytest.raises(CampaignError, match="The campaign of p1 is closed: open it again first"):
        set_order(campaign, order="depth", settings={}, batch_size=0)
    campaign.refresh_from_db()
    assert (campaign.batch_size, campaign.batches.count()) == (1, 1)
    assert set_order(campaign, order="depth", settings={}, batch_size=2) == ["batch_size"]
