"""Give a person what the site knows about them, and erase what identifies them; answers stay, under a pseudonym."""

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils.translation import gettext_lazy as _

from annotation.enums import AnnotationAct
from annotation.errors import PersonError
from annotation.labelling.queue import release_all
from annotation.models import (
    Campaign,
    CheckLabel,
    Flag,
    Identity,
    ImportedLabel,
    Invitation,
    Label,
    PasswordRequest,
    SurplusLabel,
    TrainingQuestion,
)
from annotation.people import accounts
from annotation.people.forgotten import folded
from core.models import AuditEntry, Preferences
from core.people.audit_log import record
from core.people.languages import chosen_language
from core.people.time_zones import chosen_zone
from core.people.tokens import revoke_all, token_data

# acts about a person that do not tell which of their answers are checks, nor what became of them
_TOLD = (
    AnnotationAct.ROLE_GIVEN, AnnotationAct.ROLE_TAKEN, AnnotationAct.INVITATION_USED, AnnotationAct.PASSWORD_LINK,
    AnnotationAct.DEACTIVATED, AnnotationAct.ACTIVATED, AnnotationAct.CONSENTED, AnnotationAct.TRAINING_WAIVED,
    AnnotationAct.IDENTITY_ADDED,
)  # fmt: skip
_FIELDS = (
    "client_id", "answer", "source_url", "passage", "comment", "cause", "active_ms", "away_ms", "is_bulk", "created_at",
)  # fmt: skip


def own_data(user: User) -> dict[str, Any]:
    """Return a person's data as JSON has it (times are datetimes), labels in the order in which they were given."""
    acts = AuditEntry.objects.filter(Q(person=user) | Q(subject=user, act__in=_TOLD)).order_by("id")
    return {
        "account": {
            "name": user.username,
            "first_name": user.first_name,
            "last_name": user.last_name,
            "email": user.email,
            "joined": user.date_joined,
            "last_sign_in": user.last_login,
            "site_roles": sorted(user.groups.values_list("name", flat=True)),
            "language": chosen_language(user),
            "time_zone": chosen_zone(user),
        },
        "campaigns": list(
            user.memberships.order_by("campaign", "role").values(
                "role", "consented_at", "guidelines_read", pool=F("campaign__pool__name"), since=F("created_at")
            )
        ),
        "labels": sorted(_labels(user), key=lambda row: row["at"]),
        "surplus_labels": sorted(_surplus(user), key=lambda row: row["at"]),
        "training": list(
            TrainingQuestion.objects.filter(training__person=user)
            .exclude(answer="")
            .order_by("answered_at")
            .values("round", "answer", pool=F("training__campaign__pool__name"), at=F("answered_at"))
        ),
        "reports": [
            {
                "at": flag.created_at,
                "pool": flag.campaign.pool.name,
                "kind": str(flag.get_kind_display()),
                "text": flag.text,
                "words": flag.template.version,
                "reply": flag.reply,
                "replied_at": flag.replied_at,
                "reply_seen_at": flag.reply_seen_at,
            }
            for flag in Flag.objects.filter(person=user)
            .select_related("campaign__pool", "check_item", "template")
            .order_by("created_at")
        ],
        "sign_ins": list(
            AccessLog.objects.filter(username=user.username)
            .order_by("attempt_time")
            .values("ip_address", "user_agent", at=F("attempt_time"))
        ),
        "wrong_passwords": list(
            AccessAttempt.objects.filter(username=user.username)
            .order_by("attempt_time")
            .values("ip_address", "user_agent", times=F("failures_since_start"), last_at=F("attempt_time"))
        ),
        "single_sign_on": list(
            Identity.objects.filter(person=user).order_by("pk").values("issuer", "subject", since=F("created_at"))
        ),
        "tokens": token_data(user),
        "acts": [
            {
                "at": entry.at,
                "act": entry.get_act_display(),
                "by_you": entry.person_id == user.pk,
                "pool": entry.pool.name if entry.pool else None,
                "about": entry.about,
            }
            for entry in acts.select_related("pool")
        ],
    }


def _labels(user: User) -> Iterator[dict[str, Any]]:
    """Yield every version of every label; a changed one names its replacement."""
    for kind, of, ticket in ((Label, "item", "slot__ticket"), (CheckLabel, "check_item", "check_item__ticket")):
        labels = kind.objects.filter(annotator=user).values(
            *_FIELDS,
            pool=F(f"{of}__campaign__pool__name"),
            question=F(ticket),
            words=F("template__version"),
            replaced_by=F("superseded_by__client_id"),
        )
        yield from map(_row, labels)


def _surplus(user: User) -> Iterator[dict[str, Any]]:
    for row in SurplusLabel.objects.filter(annotator=user).values(
        *_FIELDS,
        "reason",
        words=F("template__version"),
        of_item=F("item__campaign__pool__name"),
        of_check=F("check_item__campaign__pool__name"),
    ):
        of_item, of_check = row.pop("of_item"), row.pop("of_check")
        yield _row({**row, "pool": of_item or of_check})


def _row(values: dict[str, Any]) -> dict[str, Any]:
    values["label"], values["at"] = values.pop("client_id"), values.pop("created_at")
    return values


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
    accounts.check_may_change(user, by)
    with transaction.atomic():
        # no_key: an answer on its way holds its slot and needs the key of its person when it ends
        user = User.objects.select_for_update(no_key=True).get(pk=user.pk)
        if accounts.is_erased(user):
            raise PersonError(_("The personal data of this account are erased already."))
        if accounts.is_last_manager(user):
            raise PersonError(
                _(
                    "{} is the last manager who can sign in: nobody could manage the site. Add another manager first."
                ).format(user.username)
            )
        release_all(user)
        revoke_all(user, by)
        accounts.revoke_invitations_of(user)
        for rows in _sign_ins(user):
            rows.delete()
        _invitations(user).update(email="")
        PasswordRequest.objects.filter(email=folded(user.email)).delete()
        pseudonym = f"{accounts.PSEUDONYM}{secrets.token_hex(4)}"
        _imported(user).update(annotator=pseudonym)
        LogEntry.objects.filter(content_type__app_label="auth", content_type__model="user", object_id=user.pk).update(
            object_repr=pseudonym
        )
        Campaign.every.filter(contact=user).update(contact=None)
        user.memberships.all().delete()
        Preferences.objects.filter(person=user).delete()
        Identity.objects.filter(person=user).delete()
        user.groups.clear()
        user.user_permissions.clear()
        accounts.end_sessions(user)
        user.username, user.first_name, user.last_name, user.email = pseudonym, "", "", ""
        user.is_active = user.is_staff = user.is_superuser = False
        user.last_login = None
        user.set_unusable_password()
        user.save()
        record(by, AnnotationAct.ERASED, subject=user)
    return pseudonym


def _sign_ins(user: User) -> list[QuerySet]:
    """Return the rows of the sign-in log, also those where the e-mail address was typed as the name."""
    typed = Q(username__iexact=user.username)
    if user.email:
        typed |= Q(username__iexact=user.email)
    return [model.objects.filter(typed) for model in (AccessAttempt, AccessLog, AccessFailureLog)]


def _invitations(user: User) -> QuerySet[Invitation]:
    mine = Q(used_by=user)
    return Invitation.objects.filter(mine | Q(email__iexact=user.email) if user.email else mine)


def _imported(user: User) -> QuerySet[ImportedLabel]:
    return ImportedLabel.objects.filter(annotator=user.username)
