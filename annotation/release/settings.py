"""Set in which order a campaign judges its pool, in which batches, and when it stops; all can be changed later."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from django.contrib.auth.models import User
from django.db import transaction

from annotation.enums import AnnotationAct, AnnotationJob, TargetMeasure
from annotation.errors import CampaignError
from annotation.models import Campaign
from annotation.release.items import make_batches, refresh_statistics
from annotation.release.next_batch import lock_campaign, plan_next_batch, refuse_closed, unreleased
from core.jobs.fencing import fenced
from core.jobs.lifecycle import start_job
from core.jobs.progress import Progress
from core.models import Job
from core.people.audit_log import record
from pooling.orders import ORDERS
from pooling.orders.base import JudgingState, OrderPool

DEFAULT_ORDER = "depth"
LARGEST = 1_000_000  # triples of a batch, labels of a budget
LARGEST_SEED = 2**31 - 1
RELEASE_AT_ONCE = 50_000  # triples; more take longer than a page may take to answer, so a job releases them

OrderSettings = dict[str, float | list[float]]


def read_settings(lines: Sequence[str]) -> OrderSettings:
    """Read settings of an order from "name = number" or "name = number, number"; CampaignError names a bad line."""
    found: OrderSettings = {}
    for line in lines:
        name, _, text = line.partition("=")
        try:
            numbers = [float(part) for part in text.replace(",", " ").split()]
        except ValueError:
            numbers = []
        if not name.strip() or not numbers or not np.isfinite(numbers).all():
            raise CampaignError(f"{line.strip()!r} is not a setting: write name = number, or name = number, number.")
        found[name.strip()] = numbers if len(numbers) > 1 else numbers[0]
    return found


def write_settings(settings: Mapping[str, Any]) -> list[str]:
    """Return the lines that `read_settings` reads."""
    return [
        f"{name} = {', '.join(f'{number:g}' for number in value) if isinstance(value, list) else f'{value:g}'}"
        for name, value in settings.items()
    ]


def check_seed(seed: int) -> None:
    """Raise CampaignError for a seed outside the range of column and generator."""
    if not 0 <= seed <= LARGEST_SEED:
        raise CampaignError(f"Seed {seed}: give a whole number from 0 to {LARGEST_SEED}.")


def check_order(order: str, settings: Mapping[str, Any], batch_size: int) -> OrderSettings:
    """Return the settings that differ from the order's own.

    CampaignError for an order, setting or batch size that cannot be used.
    """
    if order not in ORDERS:
        raise CampaignError(f"Order {order!r}: choose one of {', '.join(ORDERS)}.")
    if not 0 <= batch_size <= LARGEST:
        raise CampaignError(f"A batch of {batch_size:,} triples: give 1 to {LARGEST:,}, or 0 for everything at once.")
    usual = ORDERS[order].settings
    unknown = [name for name in settings if name not in usual]
    if unknown:
        known = f"it has {', '.join(usual)}" if usual else "it has none"
        raise CampaignError(f"Order {order} has no setting {unknown[0]!r}: {known}.")
    # a list of one number is written like a number
    wanted = {
        name: [value] if isinstance(usual[name], list) and not isinstance(value, list) else value
        for name, value in settings.items()
    }
    one = OrderPool(np.ones((1, 1), np.int32), np.ones(1, np.int64), np.zeros(1, np.int64))
    try:
        ORDERS[order].pick(one, JudgingState.start(1), 1, 0, {**usual, **wanted})
    except (ValueError, TypeError) as error:
        raise CampaignError(f"Order {order}: {error}.") from error
    return {name: value for name, value in wanted.items() if value != usual[name]}


def set_order(
    campaign: Campaign,
    *,
    order: str,
    settings: Mapping[str, Any],
    batch_size: int,
    whole_questions: bool | None = None,
    by: User | None = None,
) -> list[str]:
    """Set the order from the next batch on; return the names of what changed. Batch size 0 releases the rest now.

    `whole_questions` None leaves it as it is. CampaignError as in `check_order`, and if the rest of a closed campaign
    would be released.
    """
    wanted = {
        "order": order,
        "order_settings": check_order(order, settings, batch_size),
        "batch_size": batch_size,
        "whole_questions": campaign.whole_questions if whole_questions is None else whole_questions,
    }
    with fenced():
        if campaign.batch_size and not batch_size:
            refuse_closed(lock_campaign(campaign))
        changed = change_fields(campaign, wanted, AnnotationAct.ORDER_SET, by)
        if "batch_size" in changed and not batch_size:
            locked = lock_campaign(campaign)
            plan = plan_next_batch(locked)
            if plan:
                make_batches(locked, [plan])
                refresh_statistics()
    return changed


def set_order_or_start(
    campaign: Campaign, *, order: str, settings: Mapping[str, Any], batch_size: int, whole_questions: bool, by: User
) -> list[str] | Job:
    """Do what `set_order` does, by a job if many triples are released; return the names of what changed, or the job."""
    asked: dict[str, Any] = {"order": order, "settings": dict(settings)}
    asked |= {"batch_size": batch_size, "whole_questions": whole_questions}
    if batch_size or unreleased(campaign.pool).count() <= RELEASE_AT_ONCE:
        return set_order(campaign, **asked, by=by)
    check_order(order, settings, batch_size)
    refuse_closed(campaign)
    return start_job(AnnotationJob.RELEASE, pool=campaign.pool, params=asked, user=by)


def run_set_order(job: Job, progress: Progress) -> None:
    """Set the order of the campaign of a job, which releases what is left."""
    set_order(Campaign.objects.get(pool=job.pool), **job.params, by=job.created_by)


def set_stopping(
    campaign: Campaign, *, budget: int | None, target_tau: float | None, target_measure: str, by: User | None = None
) -> list[str]:
    """Set when batches are no longer released automatically; return the names of what changed.

    CampaignError for a value out of range.
    """
    if budget is not None and not 0 <= budget <= LARGEST * 10:
        raise CampaignError(f"A budget of {budget:,} labels: give 0 to {LARGEST * 10:,}, or none.")
    if target_tau is not None and not 0 < target_tau <= 1:
        raise CampaignError(f"A target of {target_tau:g} for tau: give more than 0 and at most 1, or none.")
    if target_measure not in TargetMeasure.values:
        raise CampaignError(f"Measure {target_measure!r}: choose one of {', '.join(TargetMeasure.values)}.")
    wanted = {"budget": budget, "target_tau": target_tau, "target_measure": target_measure}
    with transaction.atomic():
        return change_fields(campaign, wanted, AnnotationAct.STOPPING_SET, by)


def change_fields(campaign: Campaign, wanted: Mapping[str, Any], act: AnnotationAct, by: User | None) -> list[str]:
    """Write the fields of a campaign that differ, and record the act; return their names. In a transaction only."""
    before = lock_campaign(campaign)
    changed = {name: new for name, new in wanted.items() if getattr(before, name) != new}
    if changed:
        Campaign.every.filter(pk=campaign.pk).update(**changed)
        about = ", ".join(name.replace("_", " ") for name in changed)
        # the contact is a person: as the subject of the entry, they are reached by an erasure
        details = {name: [getattr(before, name), new] for name, new in changed.items() if name != "contact"}
        record(by, act, pool=before.pool, about=about, subject=changed.get("contact"), **details)
    campaign.refresh_from_db(fields=list(wanted))
    return list(changed)
