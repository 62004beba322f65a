"""The audit sample: filtered triples that people judge all the same, unmarked, to learn what filters throw away."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotation.domain.batch import Lot, add_lots, shown_triples
from annotation.domain.order import check_seed
from annotation.domain.release import lock, next_lot, refuse_closed, stop_reason, unreleased
from annotation.enums import BatchOrigin
from annotation.errors import CampaignError
from annotation.models import Campaign, Gold, Item
from pooling.domain.audit import record
from pooling.enums import AuditAct, FilterReason

_FILTERED = ~Q(reason=FilterReason.NONE)


class AuditDrawn(NamedTuple):
    """What a draw added, and how many filtered triples are in the sample now."""

    added: int
    total: int


def audited(campaign: Campaign) -> QuerySet[Item]:
    """The items of the sample."""
    return campaign.items.filter(batch__origin=BatchOrigin.AUDIT)


def draw_audit(campaign: Campaign, share: float, *, seed: int = 0, by: User | None = None) -> AuditDrawn:
    """Have people judge a share of the triples that each filter took, at least one of each filter.

    What was drawn before counts: only what is missing is drawn, at random from the rest. It goes to people mixed
    with the next batch, where one waits and nothing stops it. CampaignError: no share, nothing filtered, closed.
    """
    with transaction.atomic():
        locked = lock(campaign)
        refuse_closed(locked)
        lot = audit_lot(locked, share, seed)
        added = lot.size if lot else 0
        if lot:
            waits = locked.batch_size and unreleased(locked.pool).exists() and not stop_reason(locked)
            beside = next_lot(locked) if waits else None
            add_lots(locked, [beside, lot] if beside else [lot])
            record(
                by, AuditAct.AUDIT_DRAWN, pool=campaign.pool, about=f"{added} filtered triples", share=share,
                seed=seed,
            )  # fmt: skip
    return AuditDrawn(added, audited(campaign).count())


def audit_lot(campaign: Campaign, share: float, seed: int) -> Lot | None:
    """What is missing of the share of each filter; None: nothing is. The caller holds the campaign's lock.

    The union of two draws is again a simple random sample of its filter, so all of it gets the new chance.
    """
    if not 0 < share <= 1:
        raise CampaignError(
            f"An audit sample is a share of the filtered triples, above 0 and at most 1: not {share:g}."
        )
    check_seed(seed)
    filtered = campaign.pool.triples.filter(_FILTERED).order_by("reason")
    sizes = list(filtered.values_list("reason").annotate(n=Count("pk"), drawn=Count("item")))
    if not sizes:
        raise CampaignError(
            f"No filter took a triple of pool {campaign.pool.name}: there is nothing to audit."
        )
    gold = Gold.objects.filter(
        campaign=campaign, head=OuterRef("head"), relation=OuterRef("relation"), tail=OuterRef("tail")
    )
    chance: dict[int, float] = {}
    for reason, n, drawn in sizes:
        wanted = max(1, math.floor(share * n + 0.5))
        rest = (
            filtered.filter(~Exists(gold), reason=reason, item=None)
            .order_by("pk")
            .values_list("pk", flat=True)
        )
        rng = np.random.default_rng([seed, FilterReason.values.index(reason), drawn])
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
    return Lot(BatchOrigin.AUDIT, shown, settings={"share": share, "seed": seed}, probability=probability)
