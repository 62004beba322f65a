"""List the people of a campaign: their roles, their labels, when they were last active."""

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime

from django.contrib.auth.models import User
from django.db.models import Count, Max, Q

from annotation.enums import SlotState
from annotation.models import Campaign, Label, Membership
from core.people.roles import CampaignRole


@dataclass
class Member:
    """A person of a campaign; without a role: somebody who labelled in it before."""

    person: User
    roles: list[CampaignRole] = field(default_factory=list)
    labels: int = 0  # that count
    last_active: datetime | None = None  # when they answered last
    consented_at: datetime | None = None


def members_of(campaign: Campaign) -> list[Member]:
    """Return members by name, then former members who labelled; three queries."""
    found: dict[int, Member] = {}
    for row in campaign.members.select_related("person").order_by("person__username", "role"):
        member = found.setdefault(row.person_id, Member(row.person))
        member.roles.append(CampaignRole(row.role))
        member.consented_at = member.consented_at or row.consented_at
    given = {
        person: (labels, last)
        for person, labels, last in Label.objects.filter(item__campaign=campaign)
        .order_by()
        .values_list("annotator")
        .annotate(n=Count("id", filter=Q(superseded_by=None, slot__state=SlotState.ANSWERED)), last=Max("created_at"))
    }
    for person in User.objects.filter(pk__in=given.keys() - found.keys()).order_by("username"):
        found[person.pk] = Member(person)
    for pk, (labels, last) in given.items():
        found[pk].labels, found[pk].last_active = labels, last
    return list(found.values())


def roles_in(campaign: Campaign) -> dict[int, str]:
    """Return person id -> their roles in the campaign, in words."""
    found: dict[int, list[str]] = defaultdict(list)
    for person, role in Membership.objects.filter(campaign=campaign).order_by("role").values_list("person_id", "role"):
        found[person].append(CampaignRole(role).value)
    return {person: " and ".join(roles) for person, roles in found.items()}
