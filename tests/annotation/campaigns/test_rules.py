import pytest

from annotation.campaigns.lifecycle import set_rules, set_state
from annotation.enums import AnnotationAct
from annotation.errors import CampaignError
from annotation.forms.campaigns import RulesForm
from annotation.labelling.own_labels import changeable_tickets
from annotation.models import Campaign, SurplusLabel
from core.models import AuditEntry
from tests.annotation.factories import answer, claim, label_item

RULES = {
    "evidence_rule": "both",
    "lease_minutes": 15,
    "undo_minutes": 15,
    "gold_percent": 0,
    "training_items": 0,
    "training_percent": 80,
    "hourly_rate": None,
    "currency": "EUR",
    "language": "en",
    "contact": None,
}


def test_rules_are_set_and_the_audit_log_has_old_and_new(world) -> None:
    changed = set_rules(
        world.campaign,
        evidence_rule="yes",
        lease_minutes=30,
        undo_minutes=0,
        gold_percent=50,
        contact=None,
        by=world.manager,
    )
    assert changed == ["evidence_rule", "lease_minutes", "undo_minutes", "gold_percent"]
    assert Campaign.objects.values_list("evidence_rule", "lease_minutes", "undo_minutes", "gold_percent").get() == (
        "yes",
        30,
        0,
        50,
    )
    assert world.campaign.lease_minutes == 30
    entry = AuditEntry.objects.get(act=AnnotationAct.RULES_SET)
    assert (entry.person, entry.pool, entry.subject) == (world.manager, world.pool, None)
    assert entry.details == {
        "evidence_rule": ["both", "yes"],
        "lease_minutes": [15, 30],
        "undo_minutes": [15, 0],
        "gold_percent": [0, 50],
    }


def test_contact_is_the_subject_of_the_entry_and_in_no_detail(world) -> None:
    assert set_rules(world.campaign, **RULES | {"contact": world.manager}, by=world.manager) == ["contact"]
    entry = AuditEntry.objects.get(act=AnnotationAct.RULES_SET)
    assert (entry.subject, entry.about, entry.details) == (world.manager, "contact", {})
    assert Campaign.objects.get().contact == world.manager


def test_same_rules_leave_no_entry(world) -> None:
    assert set_rules(world.campaign, **RULES, by=world.manager) == []
    assert not AuditEntry.objects.filter(act=AnnotationAct.RULES_SET).exists()


@pytest.mark.parametrize(
    ("rule", "value", "message"),
    [
        ("evidence_rule", "sometimes", "choose one of both, yes, never"),
        ("lease_minutes", 0, "held for 1 to 1440 minutes. You gave 0"),
        ("lease_minutes", 1441, "You gave 1441"),
        ("undo_minutes", -1, "changed for 0 to 1440 minutes"),
        ("undo_minutes", 1441, "You gave 1441"),
        ("gold_percent", 51, "0 to 50 of a hundred"),
        ("training_items", 51, "0 to 50 items"),
        ("training_percent", 101, "0 to 100 percent"),
    ],
)
def test_rule_outside_its_limits_changes_nothing(world, rule, value, message) -> None:
    with pytest.raises(CampaignError, match=message):
        set_rules(world.campaign, **RULES | {rule: value}, by=world.manager)
    assert getattr(Campaign.objects.get(), rule) == RULES[rule]
    assert not AuditEntry.objects.filter(act=AnnotationAct.RULES_SET).exists()


def test_contact_who_is_no_manager_is_refused(world) -> None:
    with pytest.raises(CampaignError, match="researcher is not a manager"):
        set_rules(world.campaign, **RULES | {"contact": world.researcher})
    assert Campaign.objects.get().contact is None


def test_pause_gives_out_nothing_and_keeps_answers_to_what_is_held(world) -> None:
    held = claim(world.campaign, world.ann, 1)
    assert set_state(world.campaign, "paused", by=world.manager) is True
    world.campaign.refresh_from_db()
    assert claim(world.campaign, world.ben, 1) == []
    assert not answer(world.ann, held[0]).is_surplus
    assert changeable_tickets(world.ann, world.campaign) == {held[0].ticket}
    entry = AuditEntry.objects.get(act=AnnotationAct.CAMPAIGN_STATE)
    assert (entry.person, entry.pool, entry.about) == (world.manager, world.pool, "paused")


def test_closed_keeps_late_answers_apart_and_changes_no_label(world) -> None:
    label_item(world, world.campaign.items.last(), ann="Y")
    held = claim(world.campaign, world.ann, 50)[0]
    set_state(world.campaign, "closed")
    assert answer(world.ann, held).is_surplus
    assert SurplusLabel.objects.get().reason == "closed"
    world.campaign.refresh_from_db()
    assert changeable_tickets(world.ann, world.campaign) == set()
    assert set_state(world.campaign, "open") is True
    assert claim(world.campaign, world.ben, 1) != []


def test_state_that_is_there_already_is_no_act(world) -> None:
    assert set_state(world.campaign, "open", by=world.manager) is False
    assert not AuditEntry.objects.filter(act=AnnotationAct.CAMPAIGN_STATE).exists()


@pytest.mark.parametrize(
    ("state", "message"), [("paused", "is closed: it cannot be paused before it is opened"), ("away", "not 'away'")]
)
def test_move_that_is_none(world, state, message) -> None:
    set_state(world.campaign, "closed")
    with pytest.raises(CampaignError, match=message):
        set_state(world.campaign, state)
    assert Campaign.objects.get().state == "closed"


def test_form_and_domain_read_one_list_of_rules(world) -> None:
    rules = RulesForm.of(world.campaign).initial
    assert set(rules) == set(RULES)
    assert set_rules(world.campaign, **rules) == []
    assert set_rules(world.campaign, gold_percent=5) == ["gold_percent"]
