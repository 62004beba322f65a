"""Order people by how surely others decided otherwise than they, and say whom to look at first. For managers only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from annotation.quality.annotators import Annotator
from annotation.quality.kernel import Share
from annotation.quality.reports import surest_low

USUAL = 0.5  # of the labels on disputes of people who are equally good, half are overturned


class StandingOut(NamedTuple):
    """Whom to look at first; None where no interval sets anybody apart."""

    overturned: Annotator | None  # surely more than half of their labels on disputes
    gold: Annotator | None  # surely fewer gold items correct than all people together
    gold_of_all: Share
    decided: int  # labels on disputes that an adjudicator has decided

    @property
    def first(self) -> Annotator | None:
        return self.overturned or self.gold


def worst_first(rows: Sequence[Annotator]) -> list[Annotator]:
    """Return people by the lower end of the 95 % interval of their overturned share, highest first.

    A share of few disputes is not first by chance alone. People without a decided dispute follow, by gold items.
    """
    return sorted(rows, key=lambda row: (-_low_end(row.work.overturn), surest_low(row.work.gold), row.person.username))


def standing_out(rows: Sequence[Annotator]) -> StandingOut:
    """Say who stands out: whose 95 % interval lies wholly on the bad side of what is usual."""
    of_all = Share(sum(row.work.gold_correct for row in rows), sum(row.work.gold_answered for row in rows))
    overturned = max(rows, key=lambda row: _low_end(row.work.overturn), default=None)
    gold = min(rows, key=lambda row: surest_low(row.work.gold), default=None)
    return StandingOut(
        overturned if overturned and _low_end(overturned.work.overturn) > USUAL else None,
        gold if gold and of_all.value is not None and surest_low(gold.work.gold)[0] < of_all.value else None,
        of_all,
        sum(row.work.decided for row in rows),
    )


def _low_end(share: Share) -> float:
    return share.interval[0] if share.interval else -1.0
