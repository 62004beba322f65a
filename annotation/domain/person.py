"""People and their roles: manager and researcher for the site, annotator and adjudicator for a campaign."""

import secrets

from django.contrib.auth.models import Group, User
from django.core.exceptions import ValidationError
from django.db import transaction

from annotation.enums import CampaignRole, SiteRole
from annotation.errors import PersonError
from annotation.models import Campaign, Membership

ROLES = (*SiteRole.values, *CampaignRole.values)


def add_person(
    username: str, role: str, campaign: Campaign | None = None, password: str | None = None
) -> tuple[User, str | None]:
    """Give a person a role, making the person if there is none of that name.

    Returns the person and the password that was made for a new one without `password`. PersonError: unknown
    role, a campaign role without campaign, or site-wide and campaign roles in one person, since who sees what
    systems proposed must not label.
    """
    _check_role(role, campaign)
    with transaction.atomic():
        user = User.objects.filter(username=username).first()
        made = None
        if user is None:
            made = None if password else secrets.token_urlsafe(9)
            user = _new_user(username, password or made)
        _check_mix(user, role)
        if role in SiteRole.values:
            user.groups.add(Group.objects.get_or_create(name=role)[0])
        else:
            Membership.objects.get_or_create(campaign=campaign, person=user, role=role)
    return user, made


def _check_role(role: str, campaign: Campaign | None) -> None:
    if role not in ROLES:
        raise PersonError(f"There is no role {role!r}: choose one of {', '.join(ROLES)}.")
    if role in CampaignRole.values and campaign is None:
        raise PersonError(f"Role {role} belongs to a campaign: say of which pool.")
    if role in SiteRole.values and campaign is not None:
        raise PersonError(f"Role {role} is for the whole site: leave the campaign out.")


def _new_user(username: str, password: str | None) -> User:
    user = User(username=username)
    user.set_password(password)
    try:
        user.full_clean()
    except ValidationError as error:
        raise PersonError(f"{username!r} cannot be a user name: {' '.join(error.messages)}") from error
    user.save()
    return user


def _check_mix(user: User, role: str) -> None:
    site = sorted(user.groups.filter(name__in=SiteRole.values).values_list("name", flat=True))
    site += ["superuser"] if user.is_superuser else []
    if role in CampaignRole.values and site:
        raise PersonError(
            f"{user.username} is {' and '.join(site)} and sees what systems proposed, so cannot be {role}: "
            "add another person for that."
        )
    labels = sorted(set(user.memberships.values_list("role", flat=True)))
    if role in SiteRole.values and labels:
        raise PersonError(
            f"{user.username} is {' and '.join(labels)} and labels blind, so cannot become {role}: "
            "add another person for that."
        )
