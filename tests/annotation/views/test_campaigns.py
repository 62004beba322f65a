"""The overview of a campaign, and its rules."""

import re
from datetime import timedelta

import pytest
from django.core.cache import cache
from django.utils import timezone

from annotation.campaigns.lifecycle import NO_MOVE
from annotation.enums import CampaignState, FlagKind
from annotation.forms.campaigns import WRONG_NAME, RulesForm
from annotation.labelling.withdraw import withdraw_labels
from annotation.models import Campaign, Label, Membership
from annotation.people.accounts import add_person
from annotation.people.simulated import NAME
from annotation.views import told
from core.models import AuditEntry
from tests.annotation.factories import decided, label_and_release, label_item, report_of
from tests.page import Element, charts, codes, drawn, numbers, read

URL, RULES = "/pools/p1/campaign", "/pools/p1/campaign/rules"
SAME = {
    "evidence_rule": "both", "lease_minutes": "15", "undo_minutes": "15", "gold_percent": "0", "contact": "",
    "training_items": "0", "training_percent": "80", "hourly_rate": "", "currency": "EUR",
    "language": "en",
}  # fmt: skip


def steps(page: Element) -> list[tuple[str, str]]:
    """Return what is to do, each with the number that it tells."""
    return [(one["data-step"], "".join(re.findall(r"\d+", one.one(tag="p").text))) for one in page.all("step")]


def test_overview_has_the_figures(world, manager) -> None:
    one, two = world.campaign.items.all()[:2]
    label_item(world, one, ann="Y", ben="N")
    label_item(world, two, ann="Y", ben="Y")
    assert read(manager.get(URL)).figures == {
        "labels": "4 of 12 (33 %)",
        "decisions": "0",
        "held": "8",
        "settled": "1 of 6",
        "open": "4",
        "disputed": "1",
        "undecided": "0",
        "annotators": "4",
        "adjudicators": "1",
        "reports": "0",
        "left": "2 min 40 s",  # assumed
        "active": "2",
        "today": "4",
        "hours": "0.0",
    }  # without a whole day, no dash stands for what is not known yet


def test_decisions_are_counted_apart_and_held_is_explained(world, manager) -> None:
    item = world.campaign.items.first()
    label_item(world, item, ann="Y", ben="N")
    decided(world, item)
    world.campaign.lease_minutes = 7
    world.campaign.save()
    page = read(manager.get(URL))
    assert (page.figures["labels"], page.figures["decisions"]) == ("2 of 12 (17 %)", "1")
    assert numbers(page.one("held-means").text) == ["7"]
    Campaign.objects.update(state=CampaignState.CLOSED)
    assert not read(manager.get(URL)).has("held-means")  # nothing is given out


def test_overview_says_which_labels_are_simulated(world, manager) -> None:
    label_item(world, world.campaign.items.first(), ann="Y", ben="Y")
    assert not read(manager.get(URL)).has("simulated")
    world.ben.username = f"{NAME}1"
    world.ben.set_unusable_password()
    world.ben.save()
    page = read(manager.get(URL))
    assert numbers(page.one("simulated").text) == ["1"]
    assert (page.figures["labels"].split()[0], page.figures["today"], page.figures["active"]) == ("2", "1", "1")
    assert numbers(page.one("trend").one(tag="figcaption").text) == ["1"]


def test_overview_tells_pace_finish_and_cost(world, manager, as_user) -> None:
    items = world.campaign.items.all()
    for item, days in zip(items, (2, 2, 1), strict=False):
        label_item(world, item, ann="Y")
        at = timezone.now() - timedelta(days=days)
        Label.objects.filter(item=item).update(created_at=at, active_ms=1_800_000)
    Campaign.objects.update(hourly_rate=20, currency="USD")
    page = read(manager.get(URL))
    assert (page.figures["per-day"], page.figures["hours"]) == ("1.5", "1.5")
    assert page.figures["done-on"] == f"{timezone.now() + timedelta(days=6):%-d %b %Y}"  # 9 are left
    assert (page.figures["cost"], page.figures["cost-to-come"]) == ("30.00", "90.00")
    assert [row[-1] for row in page.one("trend").rows] == ["2", "1", "0"]
    assert "cost" not in read(as_user(world.researcher).get(URL)).figures
    assert drawn(charts(manager.get(URL))["labels-a-day"])["labels"][0].endswith(": 2")
    assert "agreement-by-week" not in charts(manager.get(URL))


def test_agreement_by_week_is_drawn_with_its_interval(world, manager) -> None:
    one, two = world.campaign.items.all()[:2]
    label_and_release(world, one, ann="Y", ben="N")
    label_and_release(world, two, ann="Y", ben="Y")
    assert "agreement-by-week" not in charts(manager.get(URL))  # one week is no course
    Label.objects.filter(item=one).update(created_at=timezone.now() - timedelta(days=8))
    cache.clear()
    said, _ = drawn(charts(manager.get(URL))["agreement-by-week"])["agreement"]
    assert said.endswith(": 0.00 % (0.00 % to 79.35 %)")  # Wilson, 0 of 1


def test_three_steps_are_shown_and_the_rest_is_folded(world, manager) -> None:
    label_item(world, world.campaign.items.first(), ann="Y", ben="N")
    report_of(world, world.ann, FlagKind.OTHER, "odd")
    Label.objects.update(created_at=timezone.now() - timedelta(days=4))
    Membership.objects.filter(person__in=[world.cleo, world.ada]).delete()
    page = read(manager.get(URL))
    assert [key for key, _ in steps(page)] == ["add-adjudicator", "stalled", "reports"]
    Membership.objects.filter(person=world.ben).delete()
    Membership.objects.filter(person=world.ann).delete()
    add_person("eve", "adjudicator", world.campaign)
    page = read(manager.get(URL))
    assert [key for key, _ in steps(page)] == ["add-annotator", "reports", "disputes"] and not page.has("more-steps")


def test_page_of_an_open_campaign_renews_itself(world, manager) -> None:
    assert read(manager.get(URL)).one(id="progress")["hx-trigger"] == "every 10s"
    Campaign.objects.update(state="closed")
    assert "hx-trigger" not in read(manager.get(URL)).one(id="progress")


def test_campaign_without_anything_to_do_has_no_steps(world, manager) -> None:
    assert steps(read(manager.get(URL))) == []


def test_steps_say_who_is_missing_and_what_waits(world, manager) -> None:
    label_item(world, world.campaign.items.first(), ann="Y", ben="N")
    report_of(world, world.ann, FlagKind.OTHER, "odd")
    Membership.objects.all().delete()
    assert steps(read(manager.get(URL))) == [("add-two", ""), ("add-adjudicator", "1"), ("reports", "1")]


def test_warning_counts_items_that_nobody_here_can_finish(world, manager) -> None:
    for item in world.campaign.items.all()[:2]:
        label_item(world, item, ada="Y", ben="N")
    Membership.objects.filter(person=world.cleo).delete()
    page = read(manager.get(URL))
    assert steps(page) == [("stuck-disputes", "2")]
    assert page.one("step")["class"] == "notice notice-warn next-step"
    withdraw_labels(world.campaign, world.ben)
    Membership.objects.filter(person=world.ann).delete()
    assert steps(read(manager.get(URL))) == [("stuck-items", "2")]


def test_researcher_reads_the_overview_and_changes_nothing(world, as_user) -> None:
    Membership.objects.all().delete()
    page = read(as_user(world.researcher).get(URL))
    assert (steps(page), page.has(tag="form", action="#state")) == ([], False)
    assert page.all(tag="a", href=URL) and not page.all(tag="a", href=f"{URL}/rules")
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
    assert (response.status_code, Campaign.objects.get().state) == (200, "open")
    assert codes(response.context["form"]) == {"typed": ["name"]} and "<b>p1</b>" not in response.content.decode()
    assert read(response).one("close").errors == [WRONG_NAME.format("p1")]
    assert manager.post(URL, {"act": "state", "state": "closed", "typed": " p1 "}).status_code == 302
    assert Campaign.objects.get().state == "closed"
    page = read(manager.get(URL))
    assert not page.has("close") and page.one(id="state").has(tag="input", name="state", value="open")


def test_move_that_is_none_says_so(world, manager) -> None:
    Campaign.objects.update(state="closed")
    page = read(manager.post(URL, {"act": "state", "state": "paused"}))
    assert page.texts("refused") == [NO_MOVE.format(was="closed", wanted="paused")]


def test_unknown_act_is_404_and_unknown_state_changes_nothing(world, manager) -> None:
    assert manager.post(URL, {"act": "person", "username": "x"}).status_code == 404
    response = manager.post(URL, {"act": "state", "state": "x"})
    assert codes(response.context["form"]) == {"state": ["invalid_choice"]} and read(response).has("refused")
    assert Campaign.objects.get().state == "open"


@pytest.mark.parametrize("labelled", [1, 3])
def test_queries_of_the_overview_do_not_grow(world, manager, labelled, django_assert_num_queries) -> None:
    for item in world.campaign.items.all()[:labelled]:
        label_item(world, item, ann="Y", ben="N")
    manager.get(URL)
    with django_assert_num_queries(18):  # with the pace assumed; and the agreement, which is kept for a minute
        manager.get(URL)


# -- rules ---------------------------------------------------------------------------------------------------


def test_rules_are_saved(world, manager) -> None:
    asked = SAME | {
        "evidence_rule": "never",
        "lease_minutes": "30",
        "undo_minutes": "0",
        "gold_percent": "5",
        "contact": world.manager.pk,
        "language": "es",
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
    assert campaign.language == "es"
    changed = ["evidence link required", "minutes an item is held", "minutes a label can be changed"]
    changed += ["gold items", "language of statements and guidelines", "contact"]
    assert read(manager.get(RULES)).messages == [told.saved(changed)]
    entry = AuditEntry.objects.get(act="rules-set")
    assert (entry.person, entry.details["undo_minutes"]) == (world.manager, [15, 0])


@pytest.mark.parametrize(
    "wrong",
    [
        {"evidence_rule": "sometimes"}, {"lease_minutes": "0"}, {"lease_minutes": "1441"}, {"lease_minutes": ""},
        {"undo_minutes": "-1"}, {"undo_minutes": "1.5"}, {"gold_percent": "51"}, {"gold_percent": "ten"},
        {"language": "klingon"}, {"contact": "999999"}, {"contact": "researcher"},
    ],
)  # fmt: skip
def test_nonsense_rules_change_nothing(world, manager, wrong) -> None:
    response = manager.post(RULES, SAME | {"lease_minutes": "20"} | wrong)
    assert codes(response.context["form"]).keys() == wrong.keys()
    page = read(response)
    assert page.has("refused") and len(page.errors) == 1
    assert Campaign.objects.values_list("lease_minutes").get() == (15,)
    assert not AuditEntry.objects.filter(act="rules-set").exists()


def test_each_part_of_the_rules_is_saved_by_itself(world, manager) -> None:
    page = read(manager.get(RULES))
    shown = {
        part: {one["name"] for one in page.one(part).walk() if one.tag in ("input", "select")}
        for part in RulesForm.PARTS
    }
    assert set().union(*shown.values()) == {*SAME, "part", "csrfmiddlewaretoken"}
    assert all(set(names) <= shown[part] for part, (_, names) in RulesForm.PARTS.items())
    response = manager.post(RULES, {"part": "cost", "hourly_rate": "18.5", "currency": "USD"})
    assert response["Location"] == f"{RULES}#cost"
    assert Campaign.objects.values_list("hourly_rate", "currency", "lease_minutes").get() == (18.5, "USD", 15)
    assert AuditEntry.objects.get(act="rules-set").details.keys() == {"hourly_rate", "currency"}
    refused = read(manager.post(RULES, {"part": "cost", "hourly_rate": "-1", "currency": "USD", "lease_minutes": "20"}))
    assert [part for part in RulesForm.PARTS if refused.one(part).errors] == ["cost"]
    assert Campaign.objects.values_list("hourly_rate", "lease_minutes").get() == (18.5, 15)


@pytest.mark.parametrize("part", ["nothing", "cost\r\nX: y", "//evil.example"])
def test_a_part_that_there_is_not_is_all_rules_and_in_no_address(world, manager, part) -> None:
    response = manager.post(RULES, SAME | {"part": part, "lease_minutes": "20"})
    assert (response.status_code, response["Location"]) == (302, RULES)
    assert Campaign.objects.values_list("lease_minutes").get() == (20,)


def test_same_rules_are_no_act(world, manager) -> None:
    manager.post(RULES, SAME)
    assert read(manager.get(RULES)).messages == [told.saved([])]
    assert not AuditEntry.objects.filter(act="rules-set").exists()


@pytest.mark.parametrize("managers", [1, 3])
def test_queries_of_the_rules_do_not_grow(world, manager, managers, django_assert_num_queries) -> None:
    from annotation.people.accounts import add_person

    for number in range(managers):
        add_person(f"boss{number}", "manager")
    manager.get(RULES)
    with django_assert_num_queries(4):
        manager.get(RULES)
