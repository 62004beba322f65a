"""What a person may do in a campaign, by the table of roles in core/people/roles.py."""

from collections.abc import Callable
from functools import partial
from typing import TypeGuard

from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet

from annotation.errors import ConsentNeeded
from annotation.models import Campaign
from core.people.roles import Right, can_evaluate, roles_with

Person = User | AnonymousUser


def is_person(user: Person) -> TypeGuard[User]:
    return user.is_authenticated and user.is_active


def has_right_in(user: Person, campaign: Campaign, right: Right) -> bool:
    """Return whether a role in the campaign gives the right; people who may evaluate never label."""
    if can_evaluate(user) or not is_person(user):
        return False
    return campaign.members.filter(person=user, role__in=roles_with(right)).exists()


is_annotator = partial(has_right_in, right=Right.ANNOTATE)  # adjudicators may annotate too
is_adjudicator = partial(has_right_in, right=Right.ADJUDICATE)


def has_consented(user: Person, campaign: Campaign) -> bool:
    """Return whether the person agreed to the campaign's text on personal data, or it has none."""
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
    """Return the campaigns that the person may know of; every look-up starts here, so that others are a 404."""
    campaigns = Campaign.objects.select_related("pool__graph")
    if not is_person(user):
        return campaigns.none()
    return campaigns if can_evaluate(user) else campaigns.filter(members__person=user).distinct()
