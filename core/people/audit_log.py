"""Write the audit log, in the transaction of the act that is recorded."""

from typing import Any

from django.contrib.auth.models import AnonymousUser, User
from django.db.models import TextChoices

from core.models import ACTS, AuditEntry


def register_acts(acts: type[TextChoices]) -> None:
    """Add the acts of an app to those that may be recorded. Called by each app when Django starts."""
    ACTS.update({act.value: str(act.label) for act in acts})


def record(
    person: User | AnonymousUser | None,
    act: TextChoices,
    *,
    pool: Any = None,
    subject: User | None = None,
    about: str = "",
    **details: Any,
) -> AuditEntry:
    """Record that a person (None: a command on the server) did something, perhaps to a pool.

    Put no names of people into `about` and `details`: `subject` is for them, and follows an erasure.
    Raise ValueError if no app has registered the act: the log page would have no words for it.
    """
    if act not in ACTS:
        raise ValueError(f"{act!r} is not a registered act: register its enum in the app's apps.py.")
    known = person if isinstance(person, User) else None
    return AuditEntry.objects.create(
        person=known, act=act, pool=pool, subject=subject, about=about[:300], details=details
    )
