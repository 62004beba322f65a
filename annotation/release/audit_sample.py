"""Draw the audit sample: filtered triples that people judge, unmarked, to learn what filters throw away."""

import math
from typing import NamedTuple

import numpy as np
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet

from annotation.enums import AnnotationAct, BatchOrigin, SlotState
from annotation.errors import CampaignError
from annotation.models import Campaign, Gold, Item, Slot
from annotation.questions.reading import refuse_without_words
from annotation.release.items import BatchPlan, group_randomly, make_batches, refresh_statistics, shown_triples
from annotation.release.next_batch import lock_campaign, plan_next_batch, refuse_closed, stop_reason, unreleased
from annotation.release.settings import check_seed
from core.people.audit_log import record
from pooling.enums import TO_PEOPLE, Side
from pooling.pools.kernels.filters import REASONS
from pooling.pools.kernels.gathering import shown_questions

_FILTERED = ~Q(reason=TO_PEOPLE)
_MOVED = 20_000  # items reordered at most, about: one second, in which nobody else can write to SQLite


class AuditDrawn(NamedTuple):
    """What a draw added, how many filtered triples are in the sample now, and among how many others they come."""

    added: int
    total: int
    others: int

    @property
    def among(self) -> str:
        """A sentence on what the sample is mixed with, for the person who drew it."""
        if self.others:
            return f"They come among {self.others:,} others that nobody has begun, unmarked."
        return "Nothing else is left to begin: people can tell that what comes now is a sample of what filters took."


def audited(campaign: Campaign) -> QuerySet[Item]:
    """Return the items of the sample."""
    return campaign.items.filter(batch__origin=BatchOrigin.AUDIT)


def draw_audit(campaign: Campaign, share: float, *, seed: int = 0, by: User | None = None) -> AuditDrawn:
    """Have people judge a share of the triples that each filter took, at least one of each filter.

    Earlier draws count: only what is missing is drawn, at random from the rest. It is mixed with the next batch, if one
    waits and nothing stops it, and with everything that nobody has begun. CampaignError for an invalid share, if
    nothing was filtered, or if the campaign is closed.
    """
    others = 0
    with transaction.atomic():
        locked = lock_campaign(campaign)
        refuse_closed(locked)
        refuse_without_words(locked.pool, filtered=True)
        plan = plan_audit_batch(locked, share, seed)
        added = plan.size if plan else 0
        if plan:
            waits = locked.batch_size and unreleased(locked.pool).exists() and not stop_reason(locked)
            beside = plan_next_batch(locked) if waits else None
            make_batches(locked, [beside, plan] if beside else [plan])
            others = _mix(locked)
            refresh_statistics()
            about = f"{added} filtered triples"
            record(by, AnnotationAct.AUDIT_DRAWN, pool=campaign.pool, about=about, share=share, seed=seed)
    return AuditDrawn(added, audited(campaign).count(), others)


def plan_audit_batch(campaign: Campaign, share: float, seed: int) -> BatchPlan | None:
    """Return what is missing of the share of each filter, or None. The caller holds the campaign's lock.

    The union of two draws is again a simple random sample of its filter, so all of it gets the new probability.
    """
    if not 0 < share <= 1:
        raise CampaignError(
            f"An audit sample is a share of the filtered triples, above 0 and at most 1: not {share:g}."
        )
    check_seed(seed)
    filtered = campaign.pool.triples.filter(_FILTERED).order_by("reason")
    sizes = list(filtered.values_list("reason").annotate(n=Count("pk"), drawn=Count("item")))
    if not sizes:
        raise CampaignError(f"No filter took a triple of pool {campaign.pool.name}: there is nothing to audit.")
    gold = Gold.objects.filter(
        campaign=campaign, head=OuterRef("head"), relation=OuterRef("relation"), tail=OuterRef("tail")
    )
    chance: dict[int, float] = {}
    for reason, n, drawn in sizes:
        wanted = max(1, math.floor(share * n + 0.5))
        rest = filtered.filter(~Exists(gold), reason=reason, item=None).order_by("pk").values_list("pk", flat=True)
        rng = np.random.default_rng([seed, REASONS.index(reason), drawn])
        new = rng.permutation(np.array(rest, dtype=np.int64))[: max(0, wanted - drawn)].tolist()
        if new:
            part = (drawn + len(new)) / n
            audited(campaign).filter(triple__reason=reason).update(probability=part)
            chance |= dict.fromkeys(new, part)
    if not chance:
        return None
    shown = shown_triples(campaign.pool, _FILTERED, Q(item=None))
    shown = shown.of(np.isin(shown.triple_id, list(chance)))
    probability = np.array([chance[pk] for pk in shown.triple_id.tolist()])
    return BatchPlan(BatchOrigin.AUDIT, shown, settings={"share": share, "seed": seed}, probability=probability)


def _mix(campaign: Campaign) -> int:
    """Reorder at random the questions that nobody has begun; return how many of their items are not in a sample.

    A question in two groups gets one again. If there are very many, a random part moves, with the whole sample. The
    caller holds the campaign's lock.
    """
    begun = Slot.objects.filter(~Q(state=SlotState.FREE), item__campaign=campaign).values("item__group")
    fresh = np.array(
        campaign.items.exclude(group__in=begun)
        .order_by("order")
        .values_list("pk", "group", "batch__origin", "side", "triple__head", "triple__relation", "triple__tail"),
        dtype="O",
    ).reshape(-1, 7)
    last = campaign.items.aggregate(group=Max("group"), order=Max("order"))
    rng = np.random.default_rng([campaign.seed, last["order"]])
    group = fresh[:, 1].astype(np.int64)
    stays = rng.random(last["group"] + 1)[group] * len(fresh) >= _MOVED
    moved = fresh[~stays | (fresh[:, 2] == BatchOrigin.AUDIT)]
    sides = np.where(moved[:, 3] == Side.HEAD, 1, 0)
    group, sequence = group_randomly(shown_questions(moved[:, 4:].astype(np.int64), sides), rng)
    with connection.cursor() as cursor:
        cursor.executemany(
            f'UPDATE "{Item._meta.db_table}" SET "group" = %s, "order" = %s WHERE "id" = %s',
            [
                (last["group"] + 1 + int(group[i]), last["order"] + 1 + place, int(moved[i, 0]))
                for place, i in enumerate(sequence.tolist())
            ],
        )
    return int(np.count_nonzero(moved[:, 2] != BatchOrigin.AUDIT))
