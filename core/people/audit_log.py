"""The audit log. Acts record themselves in the transaction in which they happen."""

from typing import Any

from django.contrib.auth.models import AnonymousUser, User

from core.enums import AuditAct
from pooling.models import AuditEntry, Pool


def record(
    person: User | AnonymousUser | None,
    act: AuditAct,
    *,
    pool: Pool | None = None,
    subject: User | None = None,
    about: str = "",
    **details: Any,
) -> AuditEntry:
    """Note that a person (None: a command on the server) did something.

    `about` and `details` hold no names of people: `subject` does, and follows an erasure.
    """
    known = person if isinstance(person, User) else None
    return AuditEntry.objects.create(
        person=known, act=act, pool=pool, subject=subject, about=about[:300], details=details
    )
