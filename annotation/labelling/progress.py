"""Count a person's own work; nothing here tells what others did."""

from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from annotation.judging.waiting import waiting_disputes, waiting_items
from annotation.labelling.own_labels import answers_in
from annotation.labelling.queue import held_slots
from annotation.messages.inbox import new_answers
from annotation.models import Campaign, Slot
from annotation.models.slot import ADJUDICATION
from annotation.release.next_batch import may_release
from core.people.roles import CampaignRole


@dataclass(frozen=True)
class OwnProgress:
    campaign: Campaign
    roles: tuple[str, ...]
    today: int
    total: int
    has_questions: bool  # something is waiting for this person to label
    disputes: int | None  # waiting for this person to adjudicate; None unless the person is an adjudicator
    answers: int  # to own reports in the last days


def label_counts(user: User, campaign: Campaign) -> tuple[int, int]:
    """Return this person's labels today and in all.

    A changed label counts once, and the answer to a check counts as a label.
    """
    midnight = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
    today = Count("pk", filter=Q(created_at__gte=midnight))
    counts = [
        answers.filter(annotator=user, supersedes=None).aggregate(today=today, total=Count("pk"))
        for answers in answers_in(campaign)
    ]
    return sum(count["today"] for count in counts), sum(count["total"] for count in counts)


def own_progress(user: User) -> list[OwnProgress]:
    """Return one entry for each campaign that the person is a member of, by name."""
    campaigns = Campaign.objects.filter(members__person=user).select_related("pool").distinct().order_by("pool__name")
    return [_progress(user, campaign) for campaign in campaigns]


def _progress(user: User, campaign: Campaign) -> OwnProgress:
    roles = tuple(campaign.members.filter(person=user).order_by("role").values_list("role", flat=True))
    held = held_slots(campaign, user)
    return OwnProgress(
        campaign,
        roles,
        *label_counts(user, campaign),
        has_questions=_has_questions(campaign, user, held),
        disputes=_disputes(campaign, user, held) if CampaignRole.ADJUDICATOR in roles else None,
        answers=new_answers(user, campaign).count(),
    )


def _has_questions(campaign: Campaign, user: User, held: QuerySet[Slot]) -> bool:
    return (
        held.exclude(number=ADJUDICATION).exists()
        or waiting_items(campaign, user).exists()
        or may_release(campaign)  # a claim would release the next batch
    )


def _disputes(campaign: Campaign, user: User, held: QuerySet[Slot]) -> int:
    return held.filter(number=ADJUDICATION).count() + waiting_disputes(campaign, user).count()
