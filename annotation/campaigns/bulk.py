"""Do one act to many items: reopen their judgements, return them, put them into the inbox, or assign them."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple
from uuid import uuid4

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from annotation.campaigns.outlook import workers
from annotation.enums import AnnotationAct, FlagKind, ItemState, SlotState
from annotation.errors import CampaignError
from annotation.judging.judgements import live_labels
from annotation.judging.waiting import not_seen_by
from annotation.labelling.withdraw import reopen_judgement, return_item
from annotation.models import Campaign, Flag, Item, Slot
from annotation.models.slot import ADJUDICATION
from annotation.people.simulated import is_simulated, simulated
from annotation.questions.templates import newest_templates
from core import clock
from core.people.audit_log import record

MOST = 500  # items at once


class Effect(NamedTuple):
    """What an act on some items does."""

    items: int  # that it is possible for
    refused: dict[int, str]  # id of each chosen item that it is not possible for, and why
    labels: int  # that are discarded


def _reopen(items: Sequence[Item], by: User, reason: str) -> int:
    return sum(_done(partial(reopen_judgement, item, by=by, reason=reason)) for item in items)


def _return(items: Sequence[Item], by: User, reason: str) -> int:
    return sum(_done(partial(return_item, item, by=by, reason=reason)) for item in items)


def _flag(items: Sequence[Item], by: User, reason: str) -> int:
    """Write a report of each item, so that it waits in the inbox for an answer."""
    if not items:
        return 0
    templates = newest_templates(items[0].campaign, {item.triple.relation for item in items})
    now, kind = clock.now(), FlagKind.OTHER
    flags = [
        Flag(
            campaign=item.campaign,
            person=by,
            item=item,
            template=templates[item.triple.relation],
            kind=kind,
            text=reason,
            client_id=uuid4(),
            created_at=now,
        )
        for item in items
    ]
    with transaction.atomic():
        record(by, AnnotationAct.ITEMS_REPORTED, pool=items[0].campaign.pool, about=_counted(items))
        return len(Flag.objects.bulk_create(flags))


def _counted(items: Sequence[object]) -> str:
    return f"{len(items):,} item{'s' if len(items) > 1 else ''}"


def _done(act: Callable[[], None]) -> bool:
    try:
        act()
    except CampaignError:
        return False  # somebody changed the item meanwhile
    return True


# act: the states of an item in which it is possible
BULK: dict[str, tuple[ItemState, ...]] = {
    "reopen": (ItemState.SETTLED, ItemState.UNDECIDED),
    "return": (ItemState.DISPUTED, ItemState.SETTLED, ItemState.UNDECIDED),
    "flag": tuple(ItemState),
    "assign": (ItemState.OPEN,),
}
_JUDGED = "it is judged: ask two others first"
_WHY_NOT = {
    ("reopen", ItemState.OPEN): "it has no judgement yet",
    ("reopen", ItemState.DISPUTED): "an adjudicator is asked about it already",
    ("return", ItemState.OPEN): "it does not have two labels yet",
    ("assign", ItemState.DISPUTED): "two people labelled it: an adjudicator decides",
    ("assign", ItemState.SETTLED): _JUDGED,
    ("assign", ItemState.UNDECIDED): _JUDGED,
}
# what does an act that needs a reason, as a person
_WITH_REASON: dict[str, Callable[[Sequence[Item], User, str], int]] = {
    "reopen": _reopen,
    "return": _return,
    "flag": _flag,
}


def effect(campaign: Campaign, act: str, ids: Sequence[int]) -> Effect:
    """Return what an act on these items (by id; at most MOST, and those of the campaign) would do now."""
    able = _able(campaign, act, ids)
    labels = live_labels().filter(item__in=able, slot__state=SlotState.ANSWERED)
    lost = {"reopen": labels.filter(slot__number=ADJUDICATION), "return": labels}.get(act)
    return Effect(able.count(), refusals(campaign, act, ids), lost.count() if lost is not None else 0)


def refusals(campaign: Campaign, act: str, ids: Sequence[int]) -> dict[int, str]:
    """Return the id of each of these items that does not allow the act now, and why, in their order."""
    others = campaign.items.filter(pk__in=ids[:MOST]).exclude(state__in=BULK.get(act, tuple(ItemState)))
    return {pk: _WHY_NOT[act, ItemState(state)] for pk, state in others.order_by("order").values_list("pk", "state")}


def acts_for(item: Item) -> list[str]:
    """Return the acts that an item allows now."""
    return [act for act, states in BULK.items() if item.state in states]


def act_on_items(campaign: Campaign, act: str, ids: Sequence[int], *, by: User, reason: str) -> int:
    """Do an act to those of the items that allow it, each by itself; return how many. CampaignError without any."""
    if not reason.strip():
        raise CampaignError("Give a reason. Nothing was changed.")
    items = list(_able(campaign, act, ids).select_related("triple", "campaign__pool").order_by("order"))
    if not items:
        raise CampaignError("These items no longer allow that. Nothing was changed.")
    return _WITH_REASON[act](items, by, reason.strip())


def assign_items(campaign: Campaign, ids: Sequence[int], person: User, *, by: User) -> list[int]:
    """Ask a person about these items before others of theirs; return their ids. Others may be asked about them too.

    CampaignError if the person may not label here, or had or saw every one of the items.
    """
    if person.pk not in workers(campaign)[0]:
        raise CampaignError(f"{person.username} may not label in this campaign. Nothing was changed.")
    if is_simulated(person):
        raise CampaignError(f"{person.username} is simulated, so nobody would answer. Nothing was changed.")
    items = list(not_seen_by(_able(campaign, "assign", ids), person).values_list("pk", flat=True))
    if not items:
        raise CampaignError(f"{person.username} had or saw all of these items already. Nothing was changed.")
    through = Item.assigned_to.through
    with transaction.atomic():
        through.objects.bulk_create(
            (through(item_id=item, user_id=person.pk) for item in items), ignore_conflicts=True
        )  # fmt: skip
        record(by, AnnotationAct.ITEMS_ASSIGNED, pool=campaign.pool, subject=person, about=_counted(items))
    return items


def who_can_take(campaign: Campaign, ids: Sequence[int]) -> QuerySet[User]:
    """Return the people whom at least one of these items can be assigned to, by name."""
    people = User.objects.filter(pk__in=workers(campaign)[0]).exclude(simulated()).order_by("username")
    items = set(_able(campaign, "assign", ids).values_list("pk", flat=True))
    taken = Slot.objects.filter(item__in=items, annotator__isnull=False).values_list("annotator", "item")
    seen = Item.seen_by.through.objects.filter(item__in=items).values_list("user", "item")
    of_person: dict[int, set[int]] = defaultdict(set)
    for person, item in (*taken, *seen):
        of_person[person].add(item)
    return people.exclude(pk__in=[person for person, had in of_person.items() if had >= items])


def _able(campaign: Campaign, act: str, ids: Sequence[int]) -> QuerySet[Item]:
    if len(ids) > MOST:
        raise CampaignError(f"You chose {len(ids):,} items: at most {MOST} at once. Nothing was changed.")
    return campaign.items.filter(pk__in=ids, state__in=BULK[act])
