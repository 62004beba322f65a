"""Names that are used once: who comes second at the same moment reads what who comes later reads."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.db import IntegrityError, transaction


@contextmanager
def named_once(check: Callable[[], None]) -> Iterator[None]:
    """A transaction in which a row of a name is made; `check` raises a UserError where the name is taken.

    It was asked before; where the database refuses the row all the same, it is asked again.
    """
    try:
        with transaction.atomic():
            yield
    except IntegrityError:
        check()
        raise
