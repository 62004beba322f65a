"""Tell who can finish a campaign, and what no active member can be given: now, and after labels are withdrawn."""

from collections import Counter
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from annotation.enums import ItemState, SlotState
from annotation.models import Campaign, Item, Slot
from annotation.models.slot import ADJUDICATION, PLACES
from core.people.roles import CampaignRole, SiteRole

# an item that a person answered is never given to them again
_HAD = (SlotState.ANSWERED, SlotState.WITHDRAWN)
_NOBODY = [0]  # no id: a query with `IN ()` would find no item at all, not those without people


@dataclass(frozen=True)
class Outlook:
    """Whether the people of a campaign can finish it."""

    annotators: int  # active people who may label, adjudicators among them
    adjudicators: int
    stuck: int  # items that want more people than there are who may still label them
    stuck_disputes: int  # disputes on which every adjudicator has labelled


def outlook(campaign: Campaign) -> Outlook:
    """Count what no active member can be given, in a fixed number of queries."""
    people, judges = workers(campaign)
    return Outlook(
        len(people),
        len(judges),
        items_short_of_people(campaign, people).count(),
        disputes_short_of_people(campaign, judges).count(),
    )


def workers(campaign: Campaign) -> tuple[list[int], list[int]]:
    """Return the ids of the active people who may label, and of the adjudicators among them."""
    members = campaign.members.filter(person__is_active=True, person__is_superuser=False)
    # who may see what systems proposed never labels
    evaluators = User.objects.filter(groups__name__in=SiteRole.values, pk=OuterRef("person"))
    roles = list(members.filter(~Exists(evaluators)).values_list("person", "role"))
    judges = [person for person, role in roles if role == CampaignRole.ADJUDICATOR]
    return sorted({person for person, _ in roles}), judges


def items_short_of_people(campaign: Campaign, people: list[int]) -> QuerySet[Item]:
    """Return open items with fewer people left than labels missing. `people`: ids of all who may label.

    A person is not left if they labelled the item (even if that label was withdrawn) or saw its labels as an
    adjudicator.
    """
    return _short(Item.objects.filter(campaign=campaign, state=ItemState.OPEN), people)


def _short(items: QuerySet[Item], people: list[int], kept: Q = Q()) -> QuerySet[Item]:  # noqa: B008
    """Return those of `items` with fewer of `people` left than labels missing, if only the slots `kept` stay."""
    # mypy's plugin does not follow values() over an annotation
    seen = _saw(people).filter(item=OuterRef("pk")).order_by().values("item").annotate(n=Count("pk")).values("n")
    counted = items.order_by().annotate(
        had=Count("slots", filter=Q(slots__annotator__in=people or _NOBODY, slots__state__in=_HAD)),
        answered=Count("slots", filter=Q(slots__number__in=PLACES, slots__state=SlotState.ANSWERED) & kept),
        saw=Coalesce(Subquery(seen), 0),
    )
    return counted.filter(had__gt=len(people) - len(PLACES) + F("answered") - F("saw"))


def _saw(people: list[int]) -> QuerySet[Any]:
    """Return (item, user) for those of `people` who saw an item's labels as an adjudicator and never answered it."""
    mine = Slot.objects.filter(item=OuterRef("item"), annotator=OuterRef("user"), state__in=_HAD)
    return Item.seen_by.through.objects.filter(~Exists(mine), user__in=people)


def disputes_short_of_people(campaign: Campaign, judges: list[int]) -> QuerySet[Item]:
    """Return disputes on which every one of `judges` (ids of the adjudicators) has labelled."""
    return _all_judged(Item.objects.filter(campaign=campaign, state=ItemState.DISPUTED), judges)


def _all_judged(items: QuerySet[Item], judges: list[int]) -> QuerySet[Item]:
    """Return those of `items` on which every one of `judges` has labelled."""
    had = Count("slots", filter=Q(slots__annotator__in=judges or _NOBODY, slots__state__in=_HAD))
    return items.order_by().annotate(had=had).filter(had__gte=len(judges))


# -- after a withdrawal --------------------------------------------------------------------------------------


class AfterWithdrawal(NamedTuple):
    """Who can still answer the items that lose the labels of one person."""

    able: list[tuple[str, int]]  # user names of others, with the items that they may still label; most first
    short: int  # items that want more people than are left for them
    judges: int  # adjudicators who may still decide at least one of the disputes that open again
    short_disputes: int  # of these disputes, those that no adjudicator is left for


def after_withdrawal(campaign: Campaign, person: User) -> AfterWithdrawal:
    """Return who can answer the items again if the labels of a person are withdrawn now, in few queries."""
    people, judges = ([pk for pk in ids if pk != person.pk] for ids in workers(campaign))
    given = Slot.objects.filter(annotator=person, item__campaign=campaign, state=SlotState.ANSWERED)
    opened = Item.objects.filter(pk__in=given.filter(number__in=PLACES).values("item"))
    disputed = Item.objects.filter(pk__in=given.filter(number=ADJUDICATION).values("item"))
    past: Counter[int | None] = Counter()
    for rows in (
        _had_slots(opened, people).values_list("annotator"),
        _saw(people).filter(item__in=opened).values_list("user"),
    ):
        past.update(dict(rows.order_by().annotate(n=Count("pk"))))
    total = opened.count()
    names = dict(User.objects.filter(pk__in=people).values_list("pk", "username"))
    able = [(names[pk], total - past[pk]) for pk in people if past[pk] < total]
    decided = Counter(_had_slots(disputed, judges).values_list("annotator", flat=True))
    disputes = disputed.count()
    return AfterWithdrawal(
        sorted(able, key=lambda row: (-row[1], row[0])),
        _short(opened, people, ~Q(slots__annotator=person)).count(),
        sum(decided[pk] < disputes for pk in judges),
        _all_judged(disputed, judges).count(),
    )


def _had_slots(items: QuerySet[Item], people: list[int]) -> QuerySet[Slot]:
    return Slot.objects.filter(item__in=items, annotator__in=people, state__in=_HAD)
