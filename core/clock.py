"""The time by the database's clock, so that machines whose clocks differ agree on leases, heartbeats and windows.

SQLite has no server: its file is on this machine, whose clock it is.
"""

import time
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import connection, models
from django.utils import timezone

_KEPT_SECONDS = 60  # how long a comparison of the clocks holds
MOST_OFF = timedelta(seconds=5)  # beyond it, a worker says that its clock is wrong

_compared: tuple[float, datetime] | None = None  # this machine's monotonic clock, and the database's at that moment


def now() -> datetime:
    """Return the database's time. It is asked once a minute; between, this machine's monotonic clock counts on.

    Nobody can set a monotonic clock, so a clock that is set while the program runs changes nothing.
    """
    if connection.vendor != "postgresql":
        return timezone.now()
    if _compared is None or time.monotonic() - _compared[0] > _KEPT_SECONDS:
        _compare()
    assert _compared is not None
    at, told = _compared
    return told + timedelta(seconds=time.monotonic() - at)


def clock_off() -> timedelta:
    """Return how far this machine's clock is ahead of the database's; negative if it is behind."""
    return timezone.now() - now()


class Stamp(models.DateTimeField):
    """A DateTimeField whose `auto_now` and `auto_now_add` mean the database's time; migrations see the usual field."""

    def pre_save(self, model_instance: models.Model, add: bool) -> Any:
        if self.auto_now or (self.auto_now_add and add):
            setattr(model_instance, self.attname, now())
        return getattr(model_instance, self.attname)

    def deconstruct(self) -> Any:
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.DateTimeField", args, kwargs


def words(seconds: float) -> str:
    """Say how wrong a clock is, given the seconds that it is ahead."""
    side = "ahead of" if seconds > 0 else "behind"
    return f"The clock of its machine is {abs(seconds):,.0f} s {side} the database's: set it, for example by NTP."


def _compare() -> None:
    """Ask the database for its time; half of the way there and back belongs to the answer."""
    global _compared
    if _compared is not None and connection.in_atomic_block and connection.needs_rollback:
        return  # this transaction answers nothing any more: the next one compares
    before = time.monotonic()
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        (told,) = cursor.fetchone()
    _compared = ((before + time.monotonic()) / 2, told.astimezone(UTC))
