"""Change the rules of a campaign, and whether it gives out questions."""

from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from annotation.enums import AnnotationAct, CampaignState
from annotation.errors import CampaignError
from annotation.judging.transitions import move_campaign
from annotation.models import Campaign
from annotation.people.accounts import managers
from core.people.audit_log import record

# rule: its lowest and highest value, and the sentence that says so
LIMITS = {
    "lease_minutes": (1, 1440, "A question is held for {} to {} minutes."),
    "undo_minutes": (0, 1440, "A label can be changed for {} to {} minutes."),
    "gold_percent": (0, 50, "Gold items come with {} to {} of a hundred questions."),
}
NO_MOVE = "The campaign is {was}: it cannot be {wanted} before it is opened again."
_MOVED = {CampaignState.PAUSED: "paused", CampaignState.CLOSED: "closed", CampaignState.OPEN: "opened again"}


def set_rules(campaign: Campaign, *, by: User | None = None, **rules: Any) -> list[str]:
    """Set rules (fields of Campaign) that hold from the next answer on; return the names of what changed.

    Existing labels stay. CampaignError for a rule outside its limits or choices, and a contact who is not a manager.
    """
    for name, value in rules.items():
        check_rule(name, value)
    contact = rules.get("contact")
    wanted = {Campaign._meta.get_field(name).attname: value for name, value in rules.items()}  # type: ignore[union-attr]
    if "contact_id" in wanted:
        wanted["contact_id"] = contact.pk if contact else None
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
    campaign.refresh_from_db(fields=list(rules))
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
        raise CampaignError(NO_MOVE.format(was=campaign.state, wanted=state))
    return moved


def check_rule(name: str, value: Any) -> None:
    """Raise CampaignError unless the value is one of the choices and within the limits of this rule."""
    choices = [choice for choice, _ in Campaign._meta.get_field(name).flatchoices]  # type: ignore[union-attr]
    if choices and value not in choices:
        raise CampaignError(f"{_plain(name).capitalize()} {value!r}: choose one of {', '.join(choices)}.")
    if name in LIMITS:
        least, most, told = LIMITS[name]
        if not least <= value <= most:
            raise CampaignError(f"{told.format(least, most)} You gave {value}.")


def _plain(name: str) -> str:
    return name.removesuffix("_id").replace("_", " ")
