"""Delete what has had its time: rows that are over, and files that no row names."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

from axes.helpers import get_cool_off
from axes.models import AccessAttempt
from django.contrib.sessions.models import Session
from django.db.models import QuerySet

from annotation.models import Invitation
from core import clock
from core.files import bucket
from core.models import ApiToken, Worker
from evaluation.keeping.sweep import delete_orphans, find_orphans
from pooling.layouts import uploads
from pooling.runs import parts

INVITATIONS_KEPT = timedelta(days=30)  # after they expired: until then, their link says so
WORKERS_KEPT = timedelta(days=1)  # after their last heartbeat


def _rows() -> dict[str, QuerySet[Any]]:
    """Return the rows that are over, by what they are.

    Successful sign-ins (AccessLog) stay: they tell a person's own addresses from those of others (config/sign_in.py).
    """
    now, cool_off = clock.now(), get_cool_off()
    assert cool_off is not None  # AXES_COOLOFF_TIME is set
    expired = Invitation.objects.filter(expires_at__lt=now - INVITATIONS_KEPT, uses=0)
    return {
        "expired sessions": Session.objects.filter(expire_date__lt=now),
        "failed sign-ins that no longer count": AccessAttempt.objects.filter(attempt_time__lt=now - cool_off),
        "expired API tokens": ApiToken.objects.filter(expiry__lt=now),
        f"unused invitations that expired {INVITATIONS_KEPT.days} days ago": expired,
        "rows of workers that ended": Worker.objects.filter(seen_at__lt=now - WORKERS_KEPT),
    }


def tidy(*, delete: bool) -> Iterator[tuple[str, int]]:
    """Yield each kind of thing that is over, and how many there are; delete them if `delete`."""
    for about, rows in _rows().items():
        yield about, rows.delete()[1].get(rows.model._meta.label, 0) if delete else rows.count()
    sweeps: dict[str, Callable[..., int]] = {
        "uploads of graphs that nobody imported": uploads.sweep_uploads,
        "uploads of runs that are over": parts.sweep_uploads,
    }
    for about, sweep in sweeps.items():
        yield about, sweep(dry=not delete)
    found = find_orphans()
    if delete:
        delete_orphans(found)
    yield "files or folders that no row names", len(found.paths)
    if bucket.is_set():
        yield "objects of the store that no row names", len(found.keys)
