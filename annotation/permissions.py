"""What a person may do in a campaign, by the table of roles in core/people/roles.py."""

from functools import partial
from typing import TypeGuard

from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import PermissionDenied
from django.db.models import Exists, F, OuterRef, QuerySet

from annotation.errors import ConsentNeeded
from annotation.models import Campaign, Membership
from core.fixed import Fixed
from core.people.roles import Right, can_evaluate, roles_with

Person = User | AnonymousUser


def is_person(user: Person) -> TypeGuard[User]:
    return user.is_authenticated and user.is_active


_ROLES = Fixed(
    lambda campaign, person: Membership.objects.filter(campaign=campaign, person=person).values_list(
        "role", "consented_at"
    )
)


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


def check_may_work(user: Person, campaign: Campaign, right: Right, page: str = "") -> None:
    """Raise PermissionDenied without the right, and ConsentNeeded, with the page they came for, before consent.

    It asks what `has_right_in` and `has_consented` ask, in one query, or none after `visible_campaign`.
    """
    of, roles = getattr(campaign, "_roles", (None, {}))
    if of != user.pk:
        roles = dict(_ROLES(campaign=campaign.pk, person=user.pk)) if is_person(user) else {}
    if can_evaluate(user) or not roles.keys() & set(roles_with(right)):
        raise PermissionDenied
    if campaign.personal_data and not any(roles.values()):
        raise ConsentNeeded(campaign.pool.name, page)


def visible_campaigns(user: Person) -> QuerySet[Campaign]:
    """Return the campaigns that the person may know of; every look-up starts here, so that others are a 404."""
    if not is_person(user):
        return Campaign.objects.none()
    return _campaigns() if can_evaluate(user) else _of_member(user.pk)


def visible_campaign(user: Person, pk: int) -> Campaign | None:
    """Return this one of `visible_campaigns`, or None; a member's roles are read with it, for `check_may_work`."""
    if not is_person(user):
        return None
    if can_evaluate(user):
        return _ONE.first(pk=pk)
    rows = _ONE_OF_MEMBER(pk=pk, person=user.pk)  # one for each role
    for campaign in rows[:1]:
        campaign._roles = user.pk, {row.role: row.consented_at for row in rows}  # type: ignore[attr-defined]
    return next(iter(rows), None)


def _campaigns() -> QuerySet[Campaign]:
    return Campaign.objects.select_related("pool__graph")


def _of_member(person: int) -> QuerySet[Campaign]:
    return _campaigns().filter(Exists(Membership.objects.filter(campaign=OuterRef("pk"), person=person)))


_ONE = Fixed(lambda pk: _campaigns().filter(pk=pk))
_ONE_OF_MEMBER = Fixed(
    lambda pk, person: (
        _campaigns()
        .filter(pk=pk, members__person=person)
        .annotate(role=F("members__role"), consented_at=F("members__consented_at"))
    )
)
