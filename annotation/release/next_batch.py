"""Release triples to people, in batches that the campaign's order of judging chooses.

A batch follows from the current rows alone: which triples are items, which of them the order drew, and their
judgements. So the next one can be chosen after a restart or on another machine.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import Max, Q, QuerySet

from annotation.enums import AnnotationAct, Answer, BatchOrigin, CampaignState, ItemState, SlotState, Verdict
from annotation.errors import CampaignError
from annotation.judging.judgements import current_verdicts, live_labels
from annotation.models import Batch, Campaign, Item, Label, Slot
from annotation.models.slot import PLACES
from annotation.release import items as batches
from annotation.release.items import BatchPlan, ShownTriples, make_batches
from annotation.signals import batch_wanted
from core.callbacks import Tell
from core.people.audit_log import record
from pooling.enums import TO_PEOPLE
from pooling.models import Pool, PooledTriple
from pooling.orders import ORDERS
from pooling.orders.base import NO, YES, JudgingState, Pick
from pooling.orders.batch import pick_batch
from pooling.pools.to_judge import order_pool
from pooling.scoring.rank_rows import find

PART = 10_000  # triples of an extension in one transaction: about a second, in which nobody else writes to SQLite
PAUSE = 0.2  # seconds between two; a waiting writer tries SQLite every 0.1
UNRELEASED = Q(reason=TO_PEOPLE, item=None)  # of pooled triples that people judge


def unreleased(pool: Pool) -> QuerySet[PooledTriple]:
    """Return the triples for people that are not items yet."""
    return pool.triples.filter(UNRELEASED)


def stop_reason(campaign: Campaign) -> str:
    """Return why no batch is released automatically; empty if nothing stops it."""
    if over := _over_budget(campaign):
        return over
    # a rule that fails must not stop people's work; Django logs it
    answers = batch_wanted.send_robust(sender=Campaign, campaign=campaign)
    return next((answer for _, answer in answers if answer and isinstance(answer, str)), "")


def _over_budget(campaign: Campaign) -> str:
    """Return why the budget ends releases, or an empty text.

    Labels that released triples still need count too: each triple that one person labels needs a second label.
    """
    if campaign.budget is None:
        return ""
    given = Label.objects.filter(item__campaign=campaign, supersedes=None).count()
    if given >= campaign.budget:
        return f"The budget of {campaign.budget:,} labels is used up: {given:,} were given."
    wanted = Slot.objects.filter(
        item__campaign=campaign,
        item__state__in=[ItemState.OPEN, ItemState.DISPUTED],
        state__in=[SlotState.FREE, SlotState.LEASED],
    ).count()
    if given + wanted < campaign.budget:
        return ""
    return (
        f"The budget of {campaign.budget:,} labels is given out: {given:,} were given, and released triples wait for"
        f" {wanted:,} more."
    )


def may_release(campaign: Campaign) -> bool:
    """Tell whether people who find nothing to label would be given another batch."""
    return (
        campaign.state == CampaignState.OPEN
        and campaign.batch_size > 0
        and unreleased(campaign.pool).exists()
        and not stop_reason(campaign)
    )


def release_when_short(campaign: Campaign, has_waiting: Callable[[], bool]) -> bool:
    """Release a batch for a claim that found too little; return whether there is more now.

    If several claims come at once, one releases. `has_waiting` is called under the lock and tells the others that it
    was done.
    """
    if not may_release(campaign):
        return False
    with transaction.atomic():
        plan = None
        locked = lock_campaign(campaign)
        if has_waiting():
            return True
        if locked.state == CampaignState.OPEN and locked.batch_size:
            plan = plan_next_batch(locked)
        if plan is not None:
            make_batches(locked, [plan])
    return plan is not None


def release_next(campaign: Campaign, *, by: User | None = None) -> Batch | None:
    """Release the next batch now, whatever would stop an automatic release; None if all is released.

    CampaignError if the campaign is closed.
    """
    with transaction.atomic():
        locked = lock_campaign(campaign)
        refuse_closed(locked)
        plan = plan_next_batch(locked)
        if plan is None:
            return None
        (batch,) = make_batches(locked, [plan])
        batches.refresh_statistics()
        record(
            by, AnnotationAct.BATCH_RELEASED, pool=campaign.pool, about=f"batch {batch.number}: {batch.size} triples"
        )
    return batch


def release_growth(sender: type[Pool], pool: Pool, tell: Tell | None = None, **kwargs: Any) -> None:
    """Release new triples of a pool whose campaign releases everything at once; others wait for the order.

    They come in parts, so that annotators can write in between. What a job that died left behind comes with the next
    signal.
    """
    campaign = Campaign.objects.filter(pool=pool).first()
    if campaign is None or campaign.batch_size:
        return
    left = batches.shown_triples(pool, UNRELEASED)
    if not len(left.triple_id):
        return
    done, rng = 0, np.random.default_rng([campaign.seed, len(left.triple_id)])
    for part in batches.split_questions(left.question, PART, rng):
        if done and connection.vendor == "sqlite":
            time.sleep(PAUSE)
        if not _release_part(campaign, left.of(np.sort(part))):
            break
        done += len(part)
        if tell:
            tell(done, len(left.triple_id))
    batches.refresh_statistics()


def _release_part(campaign: Campaign, part: ShownTriples) -> bool:
    """Release what is still unreleased; return False if the campaign has switched to batches."""
    with transaction.atomic():
        locked = lock_campaign(campaign)
        if locked.batch_size:
            return False
        since = locked.items.filter(triple__gte=int(part.triple_id[0])).order_by()
        released = np.fromiter(since.values_list("triple_id", flat=True), dtype=np.int64)
        rest = part.of(~np.isin(part.triple_id, released))
        if len(rest.triple_id):
            make_batches(locked, [BatchPlan(BatchOrigin.EXTENSION, rest)])
    return True


def lock_campaign(campaign: Campaign) -> Campaign:
    """Return the current row of a campaign; nobody else releases anything of it before the transaction ends."""
    locked = Campaign.every.select_for_update(of=("self",), no_key=True).select_related("pool__graph")
    return locked.get(pk=campaign.pk)


def refuse_closed(campaign: Campaign) -> None:
    """Raise CampaignError if the campaign is closed, since then nothing of it is released."""
    if campaign.state == CampaignState.CLOSED:
        raise CampaignError(f"The campaign of {campaign.pool.name} is closed: open it again first.")


# -- choosing -----------------------------------------------------------------------------------------------


def plan_next_batch(campaign: Campaign) -> BatchPlan | None:
    """Plan the next batch of the order; None if every triple is released.

    A drawn triple that came to people earlier, with its question, is marked as drawn and needs no item.
    """
    if not campaign.batch_size:
        shown = batches.shown_triples(campaign.pool, UNRELEASED)
        return BatchPlan(BatchOrigin.ALL, shown) if len(shown.triple_id) else None
    stock = order_pool(campaign.pool)
    progress = progress_of(campaign, stock.triple_id)
    if progress.released.all():
        return None
    order, settings = ORDERS[campaign.order], {**ORDERS[campaign.order].settings, **campaign.order_settings}
    last = campaign.items.aggregate(last=Max("place"))["last"]
    place, arm = np.full((2, stock.pool.size), -1, dtype=np.int64)
    probability = np.full(stock.pool.size, np.nan)
    count = 0 if last is None else last + 1
    comes = np.zeros(stock.pool.size, dtype=bool)
    while not comes.any():
        pick, comes = pick_batch(
            order, stock.pool, progress, campaign.batch_size, campaign.seed, settings, whole=campaign.whole_questions
        )
        if not len(pick.triple):
            raise RuntimeError(f"order {order.name} chose nothing although triples are left")
        place[pick.triple] = np.arange(count, count + len(pick.triple))
        probability[pick.triple], arm[pick.triple] = pick.probability, pick.arm
        count += len(pick.triple)
        progress.drawn[pick.triple], progress.arm[pick.triple] = True, pick.arm
        _note_drawn(stock.triple_id, pick, progress.released, place)
    return BatchPlan(
        BatchOrigin.ORDER,
        ShownTriples(stock.triple_id, stock.question).of(comes),
        order.name,
        {"seed": campaign.seed, "size": campaign.batch_size, "whole": campaign.whole_questions, **settings},
        place[comes],
        probability[comes],
        arm[comes],
    )


def progress_of(campaign: Campaign, triple_id: np.ndarray) -> JudgingState:
    """Return what is released, drawn and labelled among the triples with these ids, int64[n], sorted.

    An item with one label counts by that label until it has a second one, so that an order also learns from a person
    who works alone.
    """
    progress = JudgingState.start(len(triple_id))
    items = list(campaign.items.order_by().values_list("triple_id", "place", "arm"))
    at = find(triple_id, np.array([row[0] for row in items], dtype=np.int64))
    for i, (_, place, arm) in zip(at.tolist(), items, strict=True):
        if i >= 0:  # otherwise it is in an audit sample
            progress.released[i] = True
            progress.drawn[i] = place is not None
            progress.arm[i] = -1 if arm is None else arm
    first = (
        live_labels().filter(item__campaign=campaign, item__state=ItemState.OPEN, slot__number__in=PLACES).order_by()
    )
    given = np.array(first.values_list("item__triple_id", "answer"), dtype="O").reshape(-1, 2)
    verdicts = current_verdicts(campaign.pool)
    for ids, answers, yes, no in (
        (given[:, 0].astype(np.int64), given[:, 1], Answer.YES, Answer.NO),
        (verdicts.triple_id, verdicts.verdict, Verdict.POSITIVE, Verdict.NEGATIVE),
    ):
        at = find(triple_id, ids)
        for answer, label in ((yes, YES), (no, NO)):
            progress.label[at[(at >= 0) & (answers == answer)]] = label
    return progress


def _note_drawn(triple_id: np.ndarray, pick: Pick, is_item: np.ndarray, place: np.ndarray) -> None:
    """Mark picked triples that already are items as drawn.

    is_item bool[n] and place int64[n] are of all triples.
    """
    for i, chance, arm in zip(pick.triple.tolist(), pick.probability.tolist(), pick.arm.tolist(), strict=True):
        if is_item[i]:
            Item.objects.filter(triple=int(triple_id[i])).update(
                place=int(place[i]), probability=None if np.isnan(chance) else chance, arm=None if arm < 0 else arm
            )
