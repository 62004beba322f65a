"""Claim a unique name: if two requests race for it, the loser gets the same message as a later one."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.db import IntegrityError, transaction


@contextmanager
def named_once(check: Callable[[], None]) -> Iterator[None]:
    """Open a transaction that makes a row of a unique name; if the database refuses it, call `check` again.

    `check` raises a UserError if the name is taken; the caller has called it once before.
    """
    try:
        with transaction.atomic():
            yield
    except IntegrityError:
        check()
        raise
