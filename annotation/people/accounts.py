"""Manage people and their roles: manager and researcher site-wide, annotator and adjudicator by campaign."""

import secrets
from collections.abc import Iterable
from itertools import chain

from django.contrib.auth.models import Group, User
from django.contrib.auth.tokens import default_token_generator
from django.contrib.sessions.models import Session
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from django.utils.translation import gettext_lazy as _

from annotation.enums import AnnotationAct
from annotation.errors import PersonError
from annotation.labelling.queue import one_by_one, release_all
from annotation.models import Campaign, Invitation, Membership
from annotation.people.names import has_unseen, looks_like_one_of, skeleton
from core import clock
from core.database import one_at_a_time
from core.people.audit_log import record
from core.people.roles import CampaignRole, SiteRole
from core.people.tokens import revoke_all

ROLES = (*SiteRole.values, *CampaignRole.values)
SERVER = "server"  # what the audit log calls commands on the server
PSEUDONYM = "erased-"  # prefix of the names of people whose personal data are erased
NAME_TAKEN = _("The name {!r} is taken, if perhaps in other capitals: choose another.")
LOOKS_TAKEN = _("The name {!r} looks like that of somebody else here: choose another.")
NO_NAME = _("{!r} cannot be a user name: {}")
IS_OFF = _("The account {} is switched off: switch it on first.")
OWN_ACCOUNT = "This is your own account: another manager can switch it off."
OWN_PASSWORD = "This is your own account: change its password on your account page, where the current one is asked for."
SEES_SYSTEMS = _("{} is {} and sees what systems proposed, so cannot be {}: add another person for that.")
LABELS_BLIND = _("{} is {} and labels blind, so cannot become {}: add another person for that.")
FEW_ANNOTATORS = "Each triple needs two labels by two people: there are fewer than two annotators."
NO_ADJUDICATOR = "Where two labels differ a third person decides: there is no adjudicator."


def add_person(
    username: str,
    role: str,
    campaign: Campaign | None = None,
    password: str | None = None,
    *,
    consented: bool = False,
    by: User | None = None,
) -> tuple[User, str | None]:
    """Give a person a role, creating the account if needed; return the user and a generated password, if any.

    A password is generated for a new account without `password`. `consented` is for simulated people. PersonError for
    an unknown role, a campaign role without campaign, a deactivated account, or site-wide and campaign roles in one
    person, since a person who sees what systems proposed must not label.
    """
    check_role(role, campaign)
    with transaction.atomic():
        user = User.objects.filter(username=User.normalize_username(username)).first()
        made = None
        if user is None:
            made = None if password else secrets.token_urlsafe(9)
            user = make_account(username, password or made)
        give_role(user, role, campaign, by=by)
        if consented and campaign is not None:
            Membership.objects.filter(campaign=campaign, person=user, consented_at=None).update(
                consented_at=clock.now()
            )
    return user, made


def check_role(role: str, campaign: Campaign | None) -> None:
    """Raise PersonError if there is no such role, or it does not fit with or without a campaign."""
    if role not in ROLES:
        raise PersonError(f"There is no role {role!r}: choose one of {', '.join(ROLES)}.")
    if role in CampaignRole.values and campaign is None:
        raise PersonError(f"Role {role} belongs to a campaign: say of which pool.")
    if role in SiteRole.values and campaign is not None:
        raise PersonError(f"Role {role} is for the whole site: leave the campaign out.")


def make_account(username: str, password: str | None, email: str = "") -> User:
    """Create an account without any role; PersonError if the name is taken or not valid."""
    user = User(username=User.normalize_username(username), email=email)
    if skeleton(user.username).startswith(PSEUDONYM):
        raise PersonError(NO_NAME.format(username, _("erased people have such names.")))
    if has_unseen(user.username):
        raise PersonError(NO_NAME.format(username, User.username_validator.message))
    user.set_password(password)  # which takes a while, so before the lock
    with transaction.atomic():
        one_at_a_time("make an account")  # of names that only look alike, no constraint refuses the second
        if User.objects.filter(username__iexact=user.username).exists():
            raise PersonError(NAME_TAKEN.format(username))
        known = User.objects.values_list("username", flat=True).iterator()
        if looks_like_one_of(user.username, chain([SERVER], known)):
            raise PersonError(LOOKS_TAKEN.format(username))
        try:
            user.full_clean()
        except ValidationError as error:
            raise PersonError(NO_NAME.format(username, " ".join(error.messages))) from error
        try:
            with transaction.atomic():
                user.save()
        except IntegrityError as error:
            raise PersonError(_("The name {!r} was taken a moment ago: choose another.").format(username)) from error
    return user


def give_role(user: User, role: str, campaign: Campaign | None = None, *, by: User | None = None) -> bool:
    """Give a role; return whether it is new to the person. PersonError as in `add_person`."""
    check_role(role, campaign)
    with transaction.atomic():
        # one role at a time, so that the second of two incompatible roles sees the first
        user = User.objects.select_for_update().get(pk=user.pk)
        if not user.is_active:
            raise PersonError(IS_OFF.format(user.username))
        _check_mix(user, role)
        if campaign is None:
            new = not user.groups.filter(name=role).exists()
            user.groups.add(Group.objects.get_or_create(name=role)[0])
        else:
            agreed = campaign.members.filter(person=user, consented_at__isnull=False).first()
            new = Membership.objects.get_or_create(
                campaign=campaign,
                person=user,
                role=role,
                defaults={"consented_at": agreed.consented_at if agreed else None},
            )[1]
        if new:
            record(by, AnnotationAct.ROLE_GIVEN, pool=campaign.pool if campaign else None, subject=user, about=role)
    return new


def take_role(user: User, role: str, campaign: Campaign | None = None, *, by: User | None = None) -> bool:
    """Take a role away; return whether the person had it. PersonError for the last manager.

    Questions that the person holds go back; labels stay.
    """
    check_role(role, campaign)
    with transaction.atomic():
        if campaign is None:
            had = user.groups.filter(name=role).exists()
            if had and role == SiteRole.MANAGER:
                _check_other_manager(user, "take this role away")
            user.groups.remove(*Group.objects.filter(name=role))
            revoke_invitations_of(user)
        else:
            one_by_one(user)
            had = Membership.objects.filter(campaign=campaign, person=user, role=role).delete()[0] > 0
            release_all(user, campaign)
        if had:
            record(by, AnnotationAct.ROLE_TAKEN, pool=campaign.pool if campaign else None, subject=user, about=role)
    return had


def switch_off(user: User, *, by: User | None = None) -> None:
    """Deactivate an account: sign-in ends, held questions go back, its invitations end, labels stay.

    `switch_on` lets the person in again. PersonError for one's own account, that of the last manager, or (for a
    manager) an administrator's.
    """
    if user == by:
        raise PersonError(OWN_ACCOUNT)
    check_may_change(user, by)
    with transaction.atomic():
        _check_other_manager(user, "switch this account off")
        if User.objects.filter(pk=user.pk, is_active=True).update(is_active=False):
            release_all(user)
            end_sessions(user)
            revoke_all(user, by)
            revoked = revoke_invitations_of(user)
            record(by, AnnotationAct.DEACTIVATED, subject=user, invitations_revoked=revoked)


def switch_on(user: User, *, by: User | None = None) -> None:
    """Activate an account again; PersonError if it was erased."""
    check_may_change(user, by)
    if is_erased(user):
        raise PersonError("The personal data of this account are erased: it cannot be switched on again.")
    with transaction.atomic():
        if User.objects.filter(pk=user.pk, is_active=False).update(is_active=True):
            record(by, AnnotationAct.ACTIVATED, subject=user)


def password_path(user: User, *, by: User | None = None) -> str:
    """Return the path of a page where the person sets a new password, once, within PASSWORD_RESET_TIMEOUT.

    PersonError for a deactivated account, for an administrator's, and for the account of `by`: whoever has only their
    session would not need their password.
    """
    if user == by:
        raise PersonError(OWN_PASSWORD)
    if not user.is_active:
        raise PersonError(IS_OFF.format(user.username))
    check_may_change(user, by)
    record(by, AnnotationAct.PASSWORD_LINK, subject=user)
    return new_password_path(user)


def new_password_path(user: User) -> str:
    """Return the path of `password_path` for the person alone, who asked for it: nothing is checked or recorded."""
    return reverse(
        "password-new", args=[urlsafe_base64_encode(force_bytes(user.pk)), default_token_generator.make_token(user)]
    )


def end_sessions(user: User, *, but: str | None = None) -> int:
    """Delete all sessions of a person except `but`; return how many.

    Sessions are sealed, so each is opened to see whose it is.
    """
    mine = [
        session.pk
        for session in Session.objects.iterator()
        if session.pk != but and session.get_decoded().get("_auth_user_id") == str(user.pk)
    ]
    return Session.objects.filter(pk__in=mine).delete()[0]


def revoke_invitations_of(user: User) -> int:
    """Revoke unused links that this person made, so that they cannot come back by one; return how many."""
    made = Invitation.objects.filter(created_by=user, used_at=None, revoked_at=None)
    return made.update(revoked_at=clock.now(), email="")


def managers() -> QuerySet[User]:
    """Return the people who can manage the site now."""
    return User.objects.filter(Q(groups__name=SiteRole.MANAGER) | Q(is_superuser=True), is_active=True).distinct()


def is_last_manager(user: User) -> bool:
    return managers().filter(pk=user.pk).exists() and not managers().exclude(pk=user.pk).exists()


def is_erased(user: User) -> bool:
    return user.username.startswith(PSEUDONYM) and not user.is_active and not user.has_usable_password()


def check_may_change(user: User, by: User | None) -> None:
    """Raise PersonError if a manager would change an administrator's account, which may do more."""
    if user.is_superuser and by is not None and not by.is_superuser:
        raise PersonError(f"{user.username} administers the server: only an administrator changes this account.")


def missing_people(roles: Iterable[str]) -> list[str]:
    """Return sentences that name the roles for which a campaign has too few active members (a role each)."""
    # adjudicators may annotate too, but never the same item: they count as annotators only as a third person
    counts = list(roles)
    told = []
    if counts.count(CampaignRole.ANNOTATOR) < 2:
        told.append(FEW_ANNOTATORS)
    if CampaignRole.ADJUDICATOR not in counts:
        told.append(NO_ADJUDICATOR)
    return told


def _check_other_manager(user: User, act: str) -> None:
    # lock all managers, so that two cannot take each other's role at the same time
    ids = list(managers().values_list("pk", flat=True))
    list(User.objects.select_for_update().filter(pk__in=ids).order_by("pk"))
    if is_last_manager(user):
        raise PersonError(f"You cannot {act}: {user.username} is the last manager who can sign in. Add another first.")


def _check_mix(user: User, role: str) -> None:
    site = sorted(user.groups.filter(name__in=SiteRole.values).values_list("name", flat=True))
    site += ["superuser"] if user.is_superuser else []
    if role in CampaignRole.values and site:
        raise PersonError(SEES_SYSTEMS.format(user.username, " and ".join(site), role))
    labels = sorted(set(user.memberships.values_list("role", flat=True)))
    if role in SiteRole.values and labels:
        raise PersonError(LABELS_BLIND.format(user.username, " and ".join(labels), role))
