"""Erase everything that identifies a person; their answers stay, under a pseudonym."""

import secrets
from dataclasses import dataclass

from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q, QuerySet

from annotation.enums import AnnotationAct
from annotation.errors import PersonError
from annotation.labelling.queue import release_all
from annotation.models import Campaign, CheckLabel, Flag, ImportedLabel, Invitation, Label, SurplusLabel
from annotation.people.accounts import (
    PSEUDONYM,
    check_may_change,
    end_sessions,
    is_erased,
    is_last_manager,
    revoke_invitations_of,
)
from core.people.audit_log import record
from core.people.tokens import revoke_all

_SIGN_INS = (AccessAttempt, AccessLog, AccessFailureLog)


@dataclass(frozen=True)
class Erasure:
    """What an erasure removes, and what stays under the pseudonym."""

    email: bool
    roles: int
    sign_ins: int  # rows of the sign-in log: times, addresses, browsers
    invitations: int  # that hold the e-mail address
    imported: int  # labels from files that carry this name
    labels: int
    comments: int  # of these and of surplus labels: words that the person typed
    reports: int


def preview_erasure(user: User) -> Erasure:
    """Return what `erase` would do now. The answer to a check counts as the label that it looks like."""
    kinds = (Label, CheckLabel, SurplusLabel)
    return Erasure(
        email=bool(user.email),
        roles=user.memberships.count() + user.groups.count(),
        sign_ins=sum(rows.count() for rows in _sign_ins(user)),
        invitations=_invitations(user).exclude(email="").count(),
        imported=_imported(user).count(),
        labels=sum(kind.objects.filter(annotator=user).count() for kind in kinds),
        comments=sum(kind.objects.filter(annotator=user).exclude(comment="").count() for kind in kinds),
        reports=Flag.objects.filter(person=user).count(),
    )


def erase(user: User, *, by: User | None = None) -> str:
    """Erase the personal data of a person for good and return the pseudonym. Labels and their results stay.

    PersonError: the last manager, an administrator's account (for a manager), or erased before.
    """
    check_may_change(user, by)
    with transaction.atomic():
        user = User.objects.select_for_update().get(pk=user.pk)
        if is_erased(user):
            raise PersonError("The personal data of this account are erased already.")
        if is_last_manager(user):
            raise PersonError(
                f"{user.username} is the last manager who can sign in: nobody could manage the site. "
                "Add another manager first."
            )
        release_all(user)
        revoke_all(user, by)
        revoke_invitations_of(user)
        for rows in _sign_ins(user):
            rows.delete()
        _invitations(user).update(email="")
        pseudonym = f"{PSEUDONYM}{secrets.token_hex(4)}"
        _imported(user).update(annotator=pseudonym)
        LogEntry.objects.filter(content_type__app_label="auth", content_type__model="user", object_id=user.pk).update(
            object_repr=pseudonym
        )
        Campaign.objects.filter(contact=user).update(contact=None)
        user.memberships.all().delete()
        user.groups.clear()
        user.user_permissions.clear()
        end_sessions(user)
        _rename(user, pseudonym)
        record(by, AnnotationAct.ERASED, subject=user)
    return pseudonym


def _rename(user: User, pseudonym: str) -> None:
    user.username, user.first_name, user.last_name, user.email = pseudonym, "", "", ""
    user.is_active = user.is_staff = user.is_superuser = False
    user.last_login = None
    user.set_unusable_password()
    user.save()


def _sign_ins(user: User) -> list[QuerySet]:
    """Return the rows of the sign-in log, also those where the e-mail address was typed as the name."""
    typed = Q(username__iexact=user.username)
    if user.email:
        typed |= Q(username__iexact=user.email)
    return [model.objects.filter(typed) for model in _SIGN_INS]


def _invitations(user: User) -> QuerySet[Invitation]:
    mine = Q(used_by=user)
    return Invitation.objects.filter(mine | Q(email__iexact=user.email) if user.email else mine)


def _imported(user: User) -> QuerySet[ImportedLabel]:
    return ImportedLabel.objects.filter(annotator=user.username)
