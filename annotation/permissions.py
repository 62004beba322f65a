"""Who may do what: one line each. Site-wide roles are groups, campaign roles are memberships."""

from collections.abc import Callable
from typing import TypeGuard

from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet

from annotation.enums import CampaignRole
from annotation.errors import ConsentNeeded
from annotation.models import Campaign
from core.people.permissions import can_evaluate

Person = User | AnonymousUser


def is_person(user: Person) -> TypeGuard[User]:
    return user.is_authenticated and user.is_active


def has_role(user: Person, campaign: Campaign, *roles: str) -> bool:
    return is_person(user) and campaign.members.filter(person=user, role__in=roles).exists()


def is_annotator(user: Person, campaign: Campaign) -> bool:
    """Adjudicators may annotate too, never the same item: its slots see to that."""
    return not can_evaluate(user) and has_role(user, campaign, CampaignRole.ANNOTATOR, CampaignRole.ADJUDICATOR)


def is_adjudicator(user: Person, campaign: Campaign) -> bool:
    return not can_evaluate(user) and has_role(user, campaign, CampaignRole.ADJUDICATOR)


def has_consented(user: Person, campaign: Campaign) -> bool:
    """Members agree to the use of their data before they label; a campaign without such a text asks nobody."""
    agreed = campaign.members.filter(person_id=user.pk, consented_at__isnull=False)
    return not campaign.personal_data or agreed.exists()


def check_may_work(
    user: Person, campaign: Campaign, allowed: Callable[[Person, Campaign], bool], page: str = ""
) -> None:
    """Raise PermissionDenied unless `allowed`, and ConsentNeeded, with the page they came for, before consent."""
    if not allowed(user, campaign):
        raise PermissionDenied
    if not has_consented(user, campaign):
        raise ConsentNeeded(campaign.pool.name, page)


def visible_campaigns(user: Person) -> QuerySet[Campaign]:
    """Every look-up of a campaign starts here: what is not in it is a 404 for this person."""
    campaigns = Campaign.objects.select_related("pool__graph")
    if not is_person(user):
        return campaigns.none()
    return campaigns if can_evaluate(user) else campaigns.filter(members__person=user).distinct()
