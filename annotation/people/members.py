"""List the people of a campaign, and record what they agree to before they label."""

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Max, Q

from annotation.enums import AnnotationAct, SlotState
from annotation.models import Campaign, Label, Membership
from annotation.models.slot import ADJUDICATION
from core import clock
from core.people.audit_log import record
from core.people.roles import CampaignRole


@dataclass
class Member:
    """A person of a campaign; without a role: somebody who labelled in it before."""

    person: User
    roles: list[CampaignRole] = field(default_factory=list)
    labels: int = 0  # that count
    decisions: int = 0  # as an adjudicator, that count
    last_active: datetime | None = None  # when they answered last
    consented_at: datetime | None = None


def members_of(campaign: Campaign) -> list[Member]:
    """Return members by name, then former members who labelled; three queries."""
    found: dict[int, Member] = {}
    for row in campaign.members.select_related("person").order_by("person__username", "role"):
        member = found.setdefault(row.person_id, Member(row.person))
        member.roles.append(CampaignRole(row.role))
        member.consented_at = member.consented_at or row.consented_at
    counts, third = Q(superseded_by=None, slot__state=SlotState.ANSWERED), Q(slot__number=ADJUDICATION)
    given = {
        person: (labels, decisions, last)
        for person, labels, decisions, last in Label.objects.filter(item__campaign=campaign)
        .order_by()
        .values_list("annotator")
        .annotate(
            labels=Count("id", filter=counts & ~third),
            decisions=Count("id", filter=counts & third),
            last=Max("created_at"),
        )
    }
    for person in User.objects.filter(pk__in=given.keys() - found.keys()).order_by("username"):
        found[person.pk] = Member(person)
    for pk, (labels, decisions, last) in given.items():
        found[pk].labels, found[pk].decisions, found[pk].last_active = labels, decisions, last
    return list(found.values())


def roles_in(campaign: Campaign) -> dict[int, str]:
    """Return person id -> their roles in the campaign, in words."""
    found: dict[int, list[str]] = defaultdict(list)
    for person, role in Membership.objects.filter(campaign=campaign).order_by("role").values_list("person_id", "role"):
        found[person].append(CampaignRole(role).value)
    return {person: " and ".join(roles) for person, roles in found.items()}


def fingerprint(campaign: Campaign) -> str:
    """Return a hash of the current text; sent with an agreement, it tells which text was read."""
    return sha256(campaign.personal_data.encode()).hexdigest()


def consent(user: User, campaign: Campaign, *, now: datetime | None = None) -> bool:
    """Record that a member agreed to the current text, in all of their roles; return whether that is new."""
    with transaction.atomic():
        mine = campaign.members.filter(person=user, consented_at=None)
        new = mine.update(consented_at=now or clock.now()) > 0
        if new:
            record(user, AnnotationAct.CONSENTED, pool=campaign.pool, subject=user)
    return new


def consented_at(user: User, campaign: Campaign) -> datetime | None:
    times = campaign.members.filter(person=user, consented_at__isnull=False).values_list("consented_at", flat=True)
    return times.order_by("consented_at").first()


def set_personal_data(campaign: Campaign, text: str, *, by: User | None = None) -> int:
    """Replace the text; return how many members had agreed to the old one and are asked again."""
    with transaction.atomic():
        before = Campaign.every.select_for_update().get(pk=campaign.pk).personal_data
        if before.strip() == text.strip():
            return 0
        Campaign.every.filter(pk=campaign.pk).update(personal_data=text)
        campaign.personal_data = text
        agreed = campaign.members.exclude(consented_at=None)
        people = agreed.values("person").distinct().count()
        agreed.update(consented_at=None)
        record(by, AnnotationAct.RULES_SET, pool=campaign.pool, about="personal-data text", asked_again=people)
    return people
