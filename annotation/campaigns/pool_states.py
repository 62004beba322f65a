"""Say how far the labels of pools are."""

from collections.abc import Sequence
from typing import Any

from django.db.models import Count, Q

from annotation.enums import CampaignState, ItemState, JudgementOrigin, SlotState
from annotation.models import Campaign, Item, Judgement, Slot
from annotation.models.slot import PLACES
from annotation.release.next_batch import UNRELEASED
from pooling.enums import TO_PEOPLE
from pooling.models import Pool, PooledTriple
from pooling.pools.effort import LABELS
from pooling.pools.states import Pill


def answer_labelling(sender: Any, pools: Sequence[Pool], **_: Any) -> dict[int, Pill]:
    """Answer the signal `labelling_asked`: by id the pools with labels or a campaign that has begun."""
    elsewhere = _by_pool(Judgement.objects.filter(pool__in=pools, origin=JudgementOrigin.IMPORT), "pool")
    of_people = _by_pool(PooledTriple.objects.filter(pool__in=elsewhere, reason=TO_PEOPLE), "pool")
    found = {pk: _judged_elsewhere(judged, of_people.get(pk, 0)) for pk, judged in elsewhere.items()}
    begun = Campaign.objects.filter(pool__in=pools).exclude(state=CampaignState.PREPARING)
    states = dict(begun.values_list("pool_id", "state"))
    if states:
        given = Slot.objects.filter(item__campaign__pool__in=states, number__in=PLACES, state=SlotState.ANSWERED)
        labels = _by_pool(given, "item__campaign__pool")
        items = Item.objects.filter(campaign__pool__in=states).order_by().values_list("campaign__pool")
        counts = items.annotate(n=Count("pk"), disputed=Count("pk", filter=Q(state=ItemState.DISPUTED)))
        later = _by_pool(PooledTriple.objects.filter(UNRELEASED, pool__in=states), "pool")
        for pk, items_now, disputed in counts:
            wanted = LABELS * (items_now + later.get(pk, 0))
            found[pk] = campaign_pill(states[pk], labels.get(pk, 0), wanted, disputed)
    return found


def campaign_pill(state: str, labels: int, wanted: int, disputed: int) -> Pill:
    """Return the pill of a campaign. Green is only what nobody has to label or decide any more."""
    percent = whole_percent(labels, wanted)
    if percent >= 100 and not disputed:
        return Pill("labelled", "done")
    if state == CampaignState.CLOSED:
        return Pill(f"closed at {percent} %", "cancelled")
    if state == CampaignState.PAUSED:
        return Pill(f"paused at {percent} %", "attention")
    if percent >= 100:
        return Pill(f"{disputed:,} dispute{'' if disputed == 1 else 's'} left", "running")
    return Pill(f"labelling {percent} %", "running")


def _judged_elsewhere(judged: int, of_people: int) -> Pill:
    if judged >= of_people:
        return Pill("labelled elsewhere", "done")
    return Pill(f"{whole_percent(judged, of_people)} % labelled elsewhere")


def whole_percent(done: int, wanted: int) -> int:
    """Return the nearest whole percentage, but 100 only if nothing is left."""
    return 100 if done >= wanted else min(round(100 * done / wanted), 99)


def _by_pool(rows: Any, pool: str) -> dict[int, int]:
    return dict(rows.order_by().values_list(pool).annotate(n=Count("pk")))
