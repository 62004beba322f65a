"""The overview of a campaign, and its rules."""

import re

import pytest

from annotation.enums import FlagKind
from annotation.labelling.withdraw import withdraw_labels
from annotation.models import Campaign, Membership
from core.models import AuditEntry
from tests.annotation.flags import report_of
from tests.annotation.world import label_item

URL, RULES = "/pools/p1/campaign", "/pools/p1/campaign/rules"
SAME = {"evidence_rule": "both", "lease_minutes": "15", "undo_minutes": "15", "gold_percent": "0", "contact": ""}


@pytest.fixture
def manager(world, as_user):
    return as_user(world.manager)


def steps(html: str) -> list[str]:
    return re.findall(r'next-step"><p>([^<]*)</p>', html)


def figures(html: str) -> dict[str, str]:
    found = re.findall(r"<div><dt>(.*?)</dt><dd>(.*?)</dd></div>", html)
    return {re.sub(r",? of [\d,]+.*", "", name): value for name, value in found}


def test_overview_has_the_figures(world, manager) -> None:
    one, two = world.campaign.items.all()[:2]
    label_item(world, one, ann="Y", ben="N")
    label_item(world, two, ann="Y", ben="Y")
    assert figures(manager.get(URL).content.decode()) == {
        "labels": "4",
        "held by somebody now": "8",
        "settled": "1",
        "waiting for adjudication": "1",
        "undecided": "0",
        "people who may label": "4",
        "adjudicators, of these": "1",
        "reports to answer": "0",
        "work left, for labels": "–",
    }


def test_campaign_without_anything_to_do_has_no_steps(world, manager) -> None:
    assert steps(manager.get(URL).content.decode()) == []


def test_steps_say_who_is_missing_and_what_waits(world, manager) -> None:
    label_item(world, world.campaign.items.first(), ann="Y", ben="N")
    report_of(world, world.ann, FlagKind.OTHER, "odd")
    Membership.objects.all().delete()
    assert steps(manager.get(URL).content.decode()) == [
        "Add two annotators: each item needs labels by two people.",
        "1 dispute waits for an adjudicator, and there is none.",
        "1 report waits for an answer.",
    ]


def test_warning_counts_items_that_nobody_here_can_finish(world, manager) -> None:
    for item in world.campaign.items.all()[:2]:
        label_item(world, item, ada="Y", ben="N")
    Membership.objects.filter(person=world.cleo).delete()
    html = manager.get(URL).content.decode()
    assert steps(html) == ["2 disputes wait in vain: every adjudicator has labelled them. Add an adjudicator."]
    assert html.count("notice-warn next-step") == 1
    withdraw_labels(world.campaign, world.ben)
    Membership.objects.filter(person=world.ann).delete()
    assert steps(manager.get(URL).content.decode()) == [
        "2 items cannot be finished: everybody here has labelled them, or sent it back. Add an annotator."
    ]


def test_researcher_reads_the_overview_and_changes_nothing(world, as_user) -> None:
    Membership.objects.all().delete()
    html = as_user(world.researcher).get(URL).content.decode()
    assert (steps(html), '<form method="post" action="#state"' in html) == ([], False)
    assert re.findall(r'<li><a href="([^"]*)"', html.split('class="tabs"')[1].split("</nav>")[0]) == [
        URL,
        "/pools/p1/campaign/quality",
    ]
    assert as_user(world.researcher).post(URL, {"act": "state", "state": "paused"}).status_code == 403
    assert Campaign.objects.get().state == "open"


def test_pause_and_open_again(world, manager) -> None:
    for state in ("paused", "open"):
        response = manager.post(URL, {"act": "state", "state": state})
        assert (response.status_code, response["Location"]) == (302, URL)
        assert Campaign.objects.get().state == state
    acts = AuditEntry.objects.filter(act="campaign-state").order_by("pk")
    assert list(acts.values_list("person__username", "about")) == [("manager", "paused"), ("manager", "opened again")]


@pytest.mark.parametrize("typed", ["", "P1", "p1x", "<b>p1</b>"])
def test_closing_wants_the_name_of_the_pool(world, manager, typed) -> None:
    response = manager.post(URL, {"act": "state", "state": "closed", "typed": typed})
    html = response.content.decode()
    assert (response.status_code, Campaign.objects.get().state) == (200, "open")
    assert "Type p1, exactly so. Nothing was changed." in html and "<b>p1</b>" not in html
    assert manager.post(URL, {"act": "state", "state": "closed", "typed": " p1 "}).status_code == 302
    assert Campaign.objects.get().state == "closed"
    html = manager.get(URL).content.decode()
    assert "Close the campaign" not in html and "Open again" in html


def test_move_that_is_none_says_so(world, manager) -> None:
    Campaign.objects.update(state="closed")
    html = manager.post(URL, {"act": "state", "state": "paused"}).content.decode()
    assert "The campaign is closed: it cannot be paused before it is opened again." in html


def test_unknown_act_is_404_and_unknown_state_changes_nothing(world, manager) -> None:
    assert manager.post(URL, {"act": "person", "username": "x"}).status_code == 404
    assert "is not one of the available choices" in manager.post(URL, {"act": "state", "state": "x"}).content.decode()
    assert Campaign.objects.get().state == "open"


@pytest.mark.parametrize("labelled", [1, 3])
def test_queries_of_the_overview_do_not_grow(world, manager, labelled, django_assert_num_queries) -> None:
    for item in world.campaign.items.all()[:labelled]:
        label_item(world, item, ann="Y", ben="N")
    manager.get(URL)
    with django_assert_num_queries(13):
        manager.get(URL)


# -- rules ---------------------------------------------------------------------------------------------------


def test_rules_are_saved(world, manager) -> None:
    asked = {
        "evidence_rule": "never",
        "lease_minutes": "30",
        "undo_minutes": "0",
        "gold_percent": "5",
        "contact": world.manager.pk,
    }
    response = manager.post(RULES, asked)
    assert (response.status_code, response["Location"]) == (302, RULES)
    campaign = Campaign.objects.get()
    assert (campaign.evidence_rule, campaign.lease_minutes, campaign.undo_minutes, campaign.gold_percent) == (
        "never",
        30,
        0,
        5,
    )
    assert campaign.contact == world.manager
    assert (
        "Saved: evidence rule, lease minutes, undo minutes, gold percent, contact."
        in manager.get(RULES).content.decode()
    )
    entry = AuditEntry.objects.get(act="rules-set")
    assert (entry.person, entry.details["undo_minutes"]) == (world.manager, [15, 0])


@pytest.mark.parametrize(
    "wrong",
    [
        {"evidence_rule": "sometimes"}, {"lease_minutes": "0"}, {"lease_minutes": "1441"}, {"lease_minutes": ""},
        {"undo_minutes": "-1"}, {"undo_minutes": "1.5"}, {"gold_percent": "51"}, {"gold_percent": "ten"},
        {"contact": "999999"}, {"contact": "researcher"},
    ],
)  # fmt: skip
def test_nonsense_rules_change_nothing(world, manager, wrong) -> None:
    html = manager.post(RULES, SAME | {"lease_minutes": "20"} | wrong).content.decode()
    assert "Nothing was saved. Correct what is marked below." in html and html.count('class="errorlist"') == 1
    assert Campaign.objects.values_list("lease_minutes").get() == (15,)
    assert not AuditEntry.objects.filter(act="rules-set").exists()


def test_same_rules_are_no_act(world, manager) -> None:
    manager.post(RULES, SAME)
    assert "Nothing was different." in manager.get(RULES).content.decode()
    assert not AuditEntry.objects.filter(act="rules-set").exists()


@pytest.mark.parametrize("managers", [1, 3])
def test_queries_of_the_rules_do_not_grow(world, manager, managers, django_assert_num_queries) -> None:
    from annotation.people.accounts import add_person

    for number in range(managers):
        add_person(f"boss{number}", "manager")
    manager.get(RULES)
    with django_assert_num_queries(5):
        manager.get(RULES)
