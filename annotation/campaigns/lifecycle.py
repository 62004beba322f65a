"""Open a campaign with its rules, guidelines, sources and first triples; change its rules and state afterwards."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction

from annotation.enums import AnnotationAct, AnnotationJob, CampaignState
from annotation.errors import CampaignError
from annotation.judging.transitions import move_campaign
from annotation.messages.guidelines import first_guidelines
from annotation.models import Campaign
from annotation.people.accounts import managers
from annotation.questions.reading import refuse_without_words
from annotation.questions.templates import ensure_templates
from annotation.release.audit_sample import plan_audit_batch
from annotation.release.items import make_batches, refresh_statistics
from annotation.release.next_batch import lock_campaign, plan_next_batch, unreleased
from annotation.release.settings import DEFAULT_ORDER, RELEASE_AT_ONCE, change_fields, check_order, check_seed
from annotation.sources.verified import add_usual_sources
from core import clock
from core.callbacks import Tell
from core.database import held
from core.jobs.fencing import fenced
from core.jobs.lifecycle import start_job
from core.jobs.progress import Progress
from core.models import Job
from core.people.audit_log import record
from pooling.enums import TO_PEOPLE, PoolState
from pooling.models import Pool

# rule: its lowest and highest value, and the sentence that says so
LIMITS = {
    "lease_minutes": (1, 1440, "An item is held for {} to {} minutes."),
    "undo_minutes": (0, 1440, "A label can be changed for {} to {} minutes."),
    "gold_percent": (0, 50, "Gold items come with {} to {} of a hundred items."),
    "training_items": (0, 50, "Training has {} to {} items."),
    "training_percent": (0, 100, "The pass mark is {} to {} percent."),
}
SECOND = "The campaign of pool {} is already open."
NO_MOVE = "The campaign is {was}: it cannot be {wanted} before it is opened again."
_MOVED = {CampaignState.PAUSED: "paused", CampaignState.CLOSED: "closed", CampaignState.OPEN: "opened again"}


def open_campaign(
    pool: Pool,
    *,
    seed: int = 0,
    evidence_rule: str | None = None,
    lease_minutes: int | None = None,
    order: str = DEFAULT_ORDER,
    order_settings: Mapping[str, Any] | None = None,
    batch_size: int = 0,
    whole_questions: bool = True,
    audit: float = 0.0,
    created_by: User | None = None,
    progress: Tell | None = None,
) -> Campaign:
    """Let people judge the pool: everything at once (batch_size 0), or a first batch that the order chooses.

    It keeps what was prepared (guidelines, sources, people, rules); `evidence_rule` and `lease_minutes` change a rule.
    `audit`: the share of the filtered triples that is mixed in, as an audit sample. CampaignError if it cannot open.
    """
    given = {"evidence_rule": evidence_rule, "lease_minutes": lease_minutes}
    rules = {name: value for name, value in given.items() if value is not None}
    for name, value in rules.items():
        check_rule(name, value)
    check_seed(seed)
    settings_of_order = check_order(order, order_settings or {}, batch_size)
    check_pool(pool, audit=bool(audit))
    with fenced():
        # what extends or filters the pool locks it too: it sees the campaign, or the campaign sees its triples
        held(pool)
        _refuse_second(pool)  # somebody may have been faster
        campaign = prepare_campaign(pool)
        order_of = {"seed": seed, "order": order, "order_settings": settings_of_order, "batch_size": batch_size}
        opened = {"state": CampaignState.OPEN, "created_at": clock.now(), "whole_questions": whole_questions}
        if campaign.contact is None:
            opened["contact"] = created_by
        mine = Campaign.every.filter(pk=campaign.pk, state=CampaignState.PREPARING)
        if mine.update(**rules, **order_of, **opened) != 1:
            raise CampaignError(SECOND.format(pool.name))
        campaign.refresh_from_db()
        campaign.pool = pool
        plans = [plan_next_batch(campaign), plan_audit_batch(campaign, audit, seed) if audit else None]
        batches = make_batches(campaign, [plan for plan in plans if plan], progress)
        about = f"{batches[0].size:,} triples to judge"
        if len(batches) > 1:
            about += f", {batches[1].size} of an audit sample"
        record(created_by, AnnotationAct.CAMPAIGN_OPENED, pool=pool, about=about)
        refresh_statistics()
    return campaign


def prepare_campaign(pool: Pool) -> Campaign:
    """Return the campaign of a pool; one that is made now has the usual guidelines, and only managers see it."""
    found = Campaign.every.select_related("pool__graph").filter(pool=pool).first()
    if found is not None:
        return found
    with transaction.atomic():
        held(pool)
        campaign, is_new = Campaign.every.get_or_create(pool=pool, defaults=_as_prepared())
        if is_new:
            first_guidelines(campaign)
            add_usual_sources(campaign)
    return campaign


def campaign_to_prepare(pool: Pool) -> Campaign:
    """Return the campaign of a pool, or one as prepare_campaign would make it, for a page that only shows it.

    The second one is not saved: its id is 0, so that queries of what belongs to it find nothing.
    """
    found = Campaign.every.select_related("pool__graph").filter(pool=pool).first()
    return found or Campaign(pk=0, pool=pool, **_as_prepared())


def _as_prepared() -> dict[str, str]:
    text = (settings.BASE_DIR / "fixtures" / "personal-data.md").read_text(encoding="utf-8")
    return {"state": CampaignState.PREPARING, "personal_data": text}


def check_pool(pool: Pool, *, audit: bool) -> None:
    """Raise CampaignError if a campaign of this pool cannot open; `audit`: filtered triples come to people too."""
    if pool.state != PoolState.READY:
        raise CampaignError(f"Pool {pool.name} is {pool.get_state_display()}: wait until it is ready.")
    _refuse_second(pool)
    if not unreleased(pool).exists():
        raise CampaignError(f"Pool {pool.name} has no triple for people: it is empty, or filters took all of it.")
    ensure_templates(pool.graph)
    refuse_without_words(pool, filtered=audit)


def open_or_start(pool: Pool, options: Mapping[str, Any], by: User) -> Campaign | Job:
    """Open the campaign with these options of open_campaign; a job opens it if there are many triples to release."""
    if pool.triples.filter(reason=TO_PEOPLE).count() <= RELEASE_AT_ONCE:
        return open_campaign(pool, **options, created_by=by)
    check_order(options["order"], options["order_settings"], options["batch_size"])
    check_pool(pool, audit=bool(options["audit"]))
    return start_job(AnnotationJob.OPEN_CAMPAIGN, pool=pool, params=dict(options), user=by)


def run_open(job: Job, progress: Progress) -> None:
    """Open the campaign of a job, unless an attempt before has opened it."""
    assert job.pool is not None
    if not Campaign.objects.filter(pool=job.pool).exists():
        tell = progress.teller("releasing triples", "triples")
        open_campaign(job.pool, **job.params, created_by=job.created_by, progress=tell)


def _refuse_second(pool: Pool) -> None:
    if Campaign.objects.filter(pool=pool).exists():
        raise CampaignError(SECOND.format(pool.name))


def get_campaign(pool_name: str) -> Campaign:
    """Return the campaign of a pool by name; CampaignError names the existing ones."""
    campaign = Campaign.objects.select_related("pool__graph").filter(pool__name=pool_name).first()
    if campaign is None:
        names = ", ".join(Campaign.objects.order_by("pool__name").values_list("pool__name", flat=True))
        raise CampaignError(
            f"There is no campaign of a pool {pool_name!r}. Campaigns: {names or 'none yet; open_campaign makes one'}."
        )
    return campaign


def answer_is_judged(sender: Any, pool: Pool, **_: Any) -> bool:
    """Answer the signal `is_judged`: whether the pool has a campaign."""
    return Campaign.objects.filter(pool=pool).exists()


def set_rules(campaign: Campaign, *, by: User | None = None, **rules: Any) -> list[str]:
    """Set rules (fields of Campaign) that hold from the next answer on; return the names of what changed.

    Existing labels stay. CampaignError for a rule outside its limits or choices, a contact who is not a manager,
    and more training questions than gold items.
    """
    for name, value in rules.items():
        check_rule(name, value)
    _check_training(campaign, rules)
    with transaction.atomic():
        contact, before = rules.get("contact"), lock_campaign(campaign).contact_id
        if contact and contact.pk != before and not managers().filter(pk=contact.pk).exists():
            raise CampaignError(f"{contact.username} is not a manager: only managers answer reports.")
        return change_fields(campaign, rules, AnnotationAct.RULES_SET, by)


def _check_training(campaign: Campaign, rules: Mapping[str, Any]) -> None:
    """Raise CampaignError if training would have more questions than there are gold items."""
    wanted, there = rules.get("training_items", 0), campaign.golds.filter(is_active=True).count()
    if wanted > max(there, campaign.training_items):
        raise CampaignError(
            f"Training takes its items from the gold items: you asked for {wanted}, and there are {there}. "
            "Add gold items on the page Checks first."
        )


def set_state(campaign: Campaign, state: str, *, by: User | None = None) -> bool:
    """Pause, close or open the campaign; return False if it was in that state already.

    Nobody loses a question. Paused: nothing new is given out, answers to held questions are kept. Closed: late answers
    are kept apart as surplus, and no label can be changed. CampaignError for a move that is not allowed.
    """
    if state not in _MOVED:
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
        raise CampaignError(f"{name.replace('_', ' ').capitalize()} {value!r}: choose one of {', '.join(choices)}.")
    if name in LIMITS:
        least, most, told = LIMITS[name]
        if not least <= value <= most:
            raise CampaignError(f"{told.format(least, most)} You gave {value}.")
