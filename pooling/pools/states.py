"""Say in a word or two how far a pool is; every page that shows the state of a pool shows this."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from pooling.enums import PoolState
from pooling.models import Pool
from pooling.signals import labelling_asked

LOOKS = {PoolState.BUILDING: "running", PoolState.FAILED: "failed", PoolState.CANCELLED: "cancelled"}


class Pill(NamedTuple):
    """Hold the words of a state, and how its pill looks (the states of templates/components/pill.html)."""

    words: str
    look: str = ""


def pool_states(pools: Iterable[Pool]) -> dict[int, Pill]:
    """Return by id the state of pools: how far building is, then how far labelling is; "built" between the two."""
    shown = list(pools)
    ready = [pool for pool in shown if pool.is_ready]
    found = {
        pool.pk: Pill(pool.get_state_display().lower(), LOOKS[PoolState(pool.state)])
        for pool in shown
        if not pool.is_ready
    }
    found |= {pool.pk: Pill("imported" if pool.is_imported else "built") for pool in ready}
    if ready:
        answers: list[Any] = [answer for _, answer in labelling_asked.send(sender=Pool, pools=ready)]
        for labelled in answers:
            found |= labelled
    return found
