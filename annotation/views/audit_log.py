"""The audit log: who did what, newest first."""

from typing import Any

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from core.models import AuditEntry, known_acts
from core.views.access import manager_required
from core.views.pagination import page_of
from pooling.models import Pool


@manager_required
def audit(request: HttpRequest) -> HttpResponse:
    act, person, pool = (request.GET.get(name, "") for name in ("act", "person", "pool"))
    rows = AuditEntry.objects.select_related("person", "subject", "pool")
    page = page_of(request, _filtered(rows, act, person, pool))
    for entry in page:
        entry.told = "; ".join(f"{key.replace('_', ' ')}: {_word(value)}" for key, value in entry.details.items())
    context = {
        "page": page,
        "acts": known_acts(),
        "act": act,
        "person": person,
        "pool": pool,
        "people": User.objects.filter(pk__in=_named()).order_by("username"),
        "pools": Pool.objects.order_by("name"),
        "filtered": bool(act or person or pool),
    }
    return render(request, "annotation/people/audit_log.html", context)


def _filtered(rows: QuerySet[AuditEntry], act: str, person: str, pool: str) -> QuerySet[AuditEntry]:
    """Return the entries of this act, person and pool; none for a value that no entry can have."""
    if act:
        rows = rows.filter(act=act) if act in dict(known_acts()) else rows.none()
    if person:
        known = person.isascii() and person.isdecimal() and len(person) < 16
        rows = rows.filter(Q(person=person) | Q(subject=person)) if known else rows.none()
    if pool:
        rows = rows.filter(pool__name=pool) if "\0" not in pool else rows.none()
    return rows


def _named() -> QuerySet[Any]:
    """Return the ids of all people who did something, or to whom something was done."""
    did = AuditEntry.objects.order_by().filter(person__isnull=False).values("person")
    return did.union(AuditEntry.objects.order_by().filter(subject__isnull=False).values("subject"))


def _word(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
