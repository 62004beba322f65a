"""Find what waits for whom: items that need labels, and disputes."""

from collections.abc import Collection
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce

from annotation.enums import ItemState, SlotState
from annotation.judging.transitions import claimable
from annotation.models import Campaign, Flag, Item, Label, Slot
from annotation.models.slot import ADJUDICATION, PLACES
from core import clock


def waiting_items(campaign: Campaign | int, user: User | int, *, now: datetime | None = None) -> QuerySet[Item]:
    """Return the items that this person could be given now; campaign and person may be ids."""
    place = Slot.objects.filter(claimable(now or clock.now()), item=OuterRef("pk"), number__in=PLACES)
    return not_seen_by(Item.objects.filter(Exists(place), campaign=campaign, state=ItemState.OPEN), user)


def lost_gold_comes(campaign: Campaign, user: User, items: Collection[int]) -> set[int]:
    """Return the items, by id, with which gold comes again that this person lost beside them.

    Those that wait for the person; and those that they kept, as the other place comes of an item that others took.
    """
    waiting = waiting_items(campaign, user).filter(pk__in=items).values_list("pk", flat=True)
    return set(waiting) | set(kept_slots(user, items).values_list("item", flat=True)) if items else set()


def kept_slots(user: User, items: Collection[int]) -> QuerySet[Slot]:
    """Return the slots of these items that this person holds or answered."""
    own = Slot.objects.filter(item__in=items, annotator=user, number__in=PLACES)
    return own.filter(state__in=[SlotState.LEASED, SlotState.ANSWERED])


def waiting_disputes(
    campaign: Campaign, user: User, *, now: datetime | None = None, wait_for_windows: bool = True
) -> QuerySet[Slot]:
    """Return the third slots that this adjudicator could be given now.

    Excludes disputes whose labels can still be changed, and those that wait for a reply to a report.
    """
    now = now or clock.now()
    items = not_labelled_by(campaign.items.filter(state=ItemState.DISPUTED), user).filter(
        ~Exists(Flag.objects.filter(item=OuterRef("pk"), holds_item=True, replied_at=None))
    )
    if wait_for_windows:
        since = now - timedelta(minutes=campaign.undo_minutes)
        # not `supersedes=None`: SQLite would read all first labels by that index, for each item
        first = Label.objects.alias(before=Coalesce("supersedes_id", 0)).filter(before=0)
        items = items.filter(~Exists(first.filter(item=OuterRef("pk"), created_at__gt=since)))
    return Slot.objects.filter(claimable(now), item__in=items, number=ADJUDICATION)


def most_disputed(slots: QuerySet[Slot]) -> QuerySet[Slot]:
    """Order third slots by the number of labels of their item, most first; among equals the oldest first."""
    given = Count("item__labels", filter=Q(item__labels__supersedes=None))  # a change is no further label
    return slots.annotate(num_labels=given).order_by("-num_labels", "id")


def seconds_to_next_dispute(campaign: Campaign, user: User, *, now: datetime | None = None) -> int | None:
    """Return the seconds until the labels of the next dispute can no longer be changed; None: no dispute."""
    now = now or clock.now()
    slots = waiting_disputes(campaign, user, now=now, wait_for_windows=False)
    given = slots.annotate(last=Max("item__labels__created_at", filter=Q(item__labels__supersedes=None)))
    first = given.order_by("last").values_list("last", flat=True).first()
    if first is None:
        return None
    opens = first + timedelta(minutes=campaign.undo_minutes)
    return max(0, int((opens - now).total_seconds()) + 1)


def not_labelled_by(items: QuerySet[Item], user: User | int) -> QuerySet[Item]:
    """Exclude items on which this person has a slot."""
    return items.filter(~Exists(Slot.objects.filter(item=OuterRef("pk"), annotator=user)))


def not_seen_by(items: QuerySet[Item], user: User | int) -> QuerySet[Item]:
    """Exclude items that this person labelled, or saw labels of as an adjudicator."""
    return not_labelled_by(items, user).filter(
        ~Exists(Item.seen_by.through.objects.filter(item=OuterRef("pk"), user=user))
    )
