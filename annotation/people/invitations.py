"""Invite people: a link gives one role, to one person or to several, for some days. Only its secret's hash is kept."""

import logging
import secrets
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.mail import send_mail
from django.db import transaction
from django.db.models import Case, DateTimeField, F, QuerySet, Value, When
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.enums import AnnotationAct
from annotation.errors import InvitationError, PersonError
from annotation.models import Campaign, Invitation
from annotation.people.accounts import check_role, give_role, make_account, managers
from annotation.people.members import consent
from core import clock
from core.people.audit_log import record
from core.people.roles import WORDS, SiteRole
from pooling.models import Pool

logger = logging.getLogger(__name__)


def send(to: str, template: str, context: dict[str, Any]) -> bool:
    """Send a rendered text, its subject first; return whether the server took it. Nothing depends on its arrival."""
    if not (settings.EMAIL_IS_SET and to):
        return False
    subject, _, body = render_to_string(template, context).strip().partition("\n")
    try:
        return send_mail(subject.strip(), body.strip() + "\n", None, [to]) == 1
    # smtplib raises OSError; ValueError is of addresses that no header can hold. No address belongs in the log
    except (OSError, ValueError) as error:
        logger.error("an e-mail could not be sent: %s", type(error).__name__)
        return False


USUAL_DAYS, MAX_DAYS = 14, 90
MOST_PEOPLE = 500  # by one link
MOST_ADDRESSES = 100  # at once: each gets a mail while the page waits
USED = _(
    "This invitation was used: each is for one person, once. If that was you, sign in. If not: Ask the person who "
    "invited you for a new link."
)
TAKEN_BACK = _("This invitation was taken back. Ask the person who invited you for a new link.")
EXPIRED = _("This invitation has expired. Ask the person who invited you for a new link.")
USED_UP = _("This link has let in all the people that it was for. Ask the person who invited you for a new link.")
FIRST_MANAGER = (
    "Nobody can manage this site yet. Open this address to make the first account, a manager:\n\n  {url}\n\n"
    "It works once, within {days} days. The next start of this command replaces it."
)
OVER_ALREADY = "This invitation was used or revoked already."


def invite(
    role: str,
    campaign: Campaign | None = None,
    *,
    email: str = "",
    days: int = USUAL_DAYS,
    limit: int = 1,
    by: User | None = None,
) -> tuple[Invitation, str]:
    """Return a new invitation for `limit` people and the secret of its link, which is stored nowhere.

    PersonError if the role does not exist or does not fit; InvitationError for an invalid number of days or people,
    and for a link to a role of the site that is not for one person.
    """
    check_role(role, campaign)
    if not 1 <= limit <= MOST_PEOPLE:
        raise InvitationError(f"A link cannot be for {limit} people: give 1 to {MOST_PEOPLE}.")
    if limit > 1 and (campaign is None or email):
        raise InvitationError("A link for several people is for a campaign, and has no e-mail address.")
    if not 1 <= days <= MAX_DAYS:
        raise InvitationError(f"An invitation cannot hold for {days} days: give 1 to {MAX_DAYS}.")
    token = secrets.token_urlsafe(32)
    with transaction.atomic():
        invitation = Invitation.objects.create(
            token_sha256=_hashed(token),
            role=role,
            campaign=campaign,
            email=email,
            limit=limit,
            created_by=by,
            expires_at=clock.now() + timedelta(days=days),
        )
        record(by, AnnotationAct.INVITED, pool=_pool(invitation), about=role, days=days, people=limit)
    return invitation, token


def invite_many(
    role: str, campaign: Campaign, emails: Sequence[str], *, days: int = USUAL_DAYS, by: User | None = None
) -> list[tuple[Invitation, str]]:
    """Invite each address once, with a link of its own; leave out those with an open invitation to this role.

    InvitationError for more than MOST_ADDRESSES.
    """
    if len(emails) > MOST_ADDRESSES:
        raise InvitationError(f"These are {len(emails):,} addresses: invite at most {MOST_ADDRESSES} at once.")
    known = {one.email.casefold() for one in open_invitations(campaign).filter(role=role)}
    fresh: dict[str, str] = {}
    for email in emails:
        if email.casefold() not in known:
            fresh.setdefault(email.casefold(), email)
    with transaction.atomic():
        return [invite(role, campaign, email=email, days=days, by=by) for email in fresh.values()]


def invite_first_manager() -> str:
    """Return the path of a link that makes the first manager, in place of those made before; "" if there is a manager.

    Only the shell of the server may show it. A link that was left over ends too once there is a manager.
    """
    with transaction.atomic():
        # those that no person made; of a person whose account is gone they are no longer wanted either
        for invitation in open_invitations(None).filter(role=SiteRole.MANAGER, created_by=None):
            with suppress(InvitationError):  # used this moment
                revoke(invitation)
        return "" if managers().exists() else reverse("invitation", args=[invite(SiteRole.MANAGER)[1]])


def answer_serving(sender: object, site: str, **_: object) -> str:
    """Receive `serving`: tell how to make the first manager, if there is none."""
    path = invite_first_manager()
    return FIRST_MANAGER.format(url=site + path, days=USUAL_DAYS) if path else ""


def find_invitation(token: str) -> Invitation | None:
    invitations = Invitation.objects.select_related("campaign__pool", "campaign__contact", "created_by")
    return invitations.filter(token_sha256=_hashed(token)).first()


def refusal(invitation: Invitation, *, now: datetime | None = None) -> str | Promise:
    """Return why the invitation can no longer be accepted, and what to do; empty if it can."""
    if invitation.used_at is not None:
        return USED if invitation.limit == 1 else USED_UP
    if invitation.revoked_at is not None:
        return TAKEN_BACK
    if invitation.expires_at <= (now or clock.now()):
        return EXPIRED
    return ""


def accept(invitation: Invitation, user: User, *, agreed: bool = False, now: datetime | None = None) -> None:
    """Give the role to an existing account and use up the link, unless anything is refused.

    `agreed`: to the campaign's text on personal data. InvitationError if it was used, revoked or has expired;
    PersonError if the person has the role, or it does not go with their others.
    """
    now = now or clock.now()
    with transaction.atomic():
        _use(invitation, now)
        _join(invitation, user, agreed, now)


def accept_as_new(
    invitation: Invitation,
    username: str,
    password: str,
    *,
    email: str = "",
    agreed: bool = False,
    now: datetime | None = None,
) -> User:
    """Accept an invitation with a new account of this name; PersonError if the name is taken or not valid."""
    now = now or clock.now()
    with transaction.atomic():
        _use(invitation, now)  # first: if two come at once, the second makes no account
        user = make_account(username, password, email)
        _join(invitation, user, agreed, now)
    return user


def revoke(invitation: Invitation, *, by: User | None = None) -> None:
    """Refuse the link from now on; InvitationError if it was used or revoked before."""
    with transaction.atomic():
        open_ones = Invitation.objects.filter(pk=invitation.pk, used_at=None, revoked_at=None)
        if open_ones.update(revoked_at=clock.now(), email="") != 1:
            raise InvitationError(OVER_ALREADY)
        record(by, AnnotationAct.INVITATION_REVOKED, pool=_pool(invitation), about=invitation.role)


def open_invitations(campaign: Campaign | None) -> QuerySet[Invitation]:
    """Return the invitations that can still be accepted, of a campaign or to roles of the site."""
    return Invitation.objects.filter(
        campaign=campaign, used_at=None, revoked_at=None, expires_at__gt=clock.now()
    ).select_related("created_by")


def _use(invitation: Invitation, now: datetime) -> None:
    usable = Invitation.objects.filter(pk=invitation.pk, used_at=None, revoked_at=None, expires_at__gt=now)
    # the number of uses is read and written by one statement: of two people at once, one may be too many
    last = Case(When(uses__gte=F("limit") - 1, then=Value(now)), output_field=DateTimeField())
    if usable.filter(uses__lt=F("limit")).update(uses=F("uses") + 1, used_at=last) != 1:
        invitation.refresh_from_db()
        raise InvitationError(refusal(invitation, now=now) or _("This invitation is gone."))


def _join(invitation: Invitation, user: User, agreed: bool, now: datetime) -> None:
    if not give_role(user, invitation.role, invitation.campaign, by=invitation.created_by):
        told = gettext("You are {role} already: the link is still good for somebody else.")
        raise PersonError(told.format(role=WORDS[invitation.role]))
    Invitation.objects.filter(pk=invitation.pk).update(used_by=user)
    record(user, AnnotationAct.INVITATION_USED, pool=_pool(invitation), subject=user, about=invitation.role)
    if agreed and invitation.campaign is not None:
        consent(user, invitation.campaign, now=now)


def _pool(invitation: Invitation) -> Pool | None:
    return invitation.campaign.pool if invitation.campaign else None


def _hashed(token: str) -> str:
    return sha256(token.encode()).hexdigest()
