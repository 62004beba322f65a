"""Change the rules of a campaign, and whether it gives out questions."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction

from annotation.enums import AnnotationAct, CampaignState, EvidenceRule
from annotation.errors import CampaignError
from annotation.judging.transitions import move_campaign
from annotation.models import Campaign
from annotation.people.accounts import managers
from core.people.audit_log import record

# rule: lowest and highest value
LIMITS = {"lease_minutes": (1, 1440), "undo_minutes": (0, 1440), "gold_percent": (0, 50)}
_TOLD = {
    "lease_minutes": "A question is held for {} to {} minutes.",
    "undo_minutes": "A label can be changed for {} to {} minutes.",
    "gold_percent": "Gold items come with {} to {} of a hundred questions.",
}
_MOVED = {CampaignState.PAUSED: "paused", CampaignState.CLOSED: "closed", CampaignState.OPEN: "opened again"}


def set_rules(
    campaign: Campaign,
    *,
    evidence_rule: str,
    lease_minutes: int,
    undo_minutes: int,
    gold_percent: int,
    contact: User | None,
    by: User | None = None,
) -> list[str]:
    """Set rules that hold from the next answer on; return the names of what changed. Existing labels stay.

    CampaignError for a rule outside its limits, and for a contact who is not a manager.
    """
    wanted: dict[str, str | int | None] = {
        "evidence_rule": evidence_rule,
        "lease_minutes": lease_minutes,
        "undo_minutes": undo_minutes,
        "gold_percent": gold_percent,
        "contact_id": contact.pk if contact else None,
    }
    _check(evidence_rule, wanted)
    with transaction.atomic():
        before = Campaign.objects.select_for_update().get(pk=campaign.pk)
        changed = {name: new for name, new in wanted.items() if getattr(before, name) != new}
        if "contact_id" in changed and contact is not None and not managers().filter(pk=contact.pk).exists():
            raise CampaignError(f"{contact.username} is no manager: only a manager answers reports.")
        if changed:
            Campaign.objects.filter(pk=campaign.pk).update(**changed)
            # the contact is a person: as the subject of the entry, they are reached by an erasure
            details = {name: [getattr(before, name), new] for name, new in changed.items() if name != "contact_id"}
            record(
                by,
                AnnotationAct.RULES_SET,
                pool=campaign.pool,
                about=", ".join(_plain(name) for name in changed),
                subject=contact if "contact_id" in changed else None,
                **details,
            )
    campaign.refresh_from_db(fields=[name.removesuffix("_id") for name in wanted])
    return [_plain(name) for name in changed]


def set_state(campaign: Campaign, state: str, *, by: User | None = None) -> bool:
    """Pause, close or open the campaign; return False if it was in that state already.

    Nobody loses a question. Paused: nothing new is given out, answers to held questions are kept. Closed: late answers
    are kept apart as surplus, and no label can be changed. CampaignError for a move that is not allowed.
    """
    if state not in CampaignState.values:
        raise CampaignError(f"A campaign is open, paused or closed, not {state!r}.")
    with transaction.atomic():
        moved = move_campaign(campaign, CampaignState(state))
        if moved:
            record(by, AnnotationAct.CAMPAIGN_STATE, pool=campaign.pool, about=_MOVED[CampaignState(state)])
    if not moved and campaign.state != state:
        raise CampaignError(f"The campaign is {campaign.state}: it cannot be {state} before it is opened again.")
    return moved


def _check(evidence_rule: str, wanted: dict[str, str | int | None]) -> None:
    if evidence_rule not in EvidenceRule.values:
        raise CampaignError(f"Evidence rule {evidence_rule!r}: choose one of {', '.join(EvidenceRule.values)}.")
    for name, (least, most) in LIMITS.items():
        if not least <= int(wanted[name] or 0) <= most:
            raise CampaignError(f"{_TOLD[name].format(least, most)} You gave {wanted[name]}.")


def _plain(name: str) -> str:
    return name.removesuffix("_id").replace("_", " ")
