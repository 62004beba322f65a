"""Give a person what the site knows about them; a check looks like any other label."""

from collections.abc import Iterator
from typing import Any

from axes.models import AccessLog
from django.contrib.auth.models import User
from django.db.models import F, Q

from annotation.enums import AnnotationAct
from annotation.models import CheckLabel, Flag, Label, SurplusLabel
from core.models import AuditEntry
from core.people.tokens import token_data

# acts about a person that do not tell which of their answers are checks, nor what became of them
_TOLD = (
    AnnotationAct.ROLE_GIVEN, AnnotationAct.ROLE_TAKEN, AnnotationAct.INVITATION_USED, AnnotationAct.PASSWORD_LINK,
    AnnotationAct.DEACTIVATED, AnnotationAct.ACTIVATED, AnnotationAct.CONSENTED,
)  # fmt: skip
_FIELDS = ("client_id", "answer", "source_url", "comment", "active_ms", "away_ms", "created_at")


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
        },
        "campaigns": list(
            user.memberships.order_by("campaign", "role").values(
                "role", "consented_at", pool=F("campaign__pool__name"), since=F("created_at")
            )
        ),
        "labels": sorted(_labels(user), key=lambda row: row["at"]),
        "surplus_labels": sorted(_surplus(user), key=lambda row: row["at"]),
        "reports": [
            _report(flag)
            for flag in Flag.objects.filter(person=user)
            .select_related("campaign__pool", "check_item", "template")
            .order_by("created_at")
        ],
        "sign_ins": list(
            AccessLog.objects.filter(username=user.username)
            .order_by("attempt_time")
            .values("ip_address", "user_agent", at=F("attempt_time"))
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


def _report(flag: Flag) -> dict[str, Any]:
    return {
        "at": flag.created_at,
        "pool": flag.campaign.pool.name,
        "kind": flag.get_kind_display(),
        "text": flag.text,
        "words": flag.template.version,
        "reply": flag.reply,
        "replied_at": flag.replied_at,
    }
