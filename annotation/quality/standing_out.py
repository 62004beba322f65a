"""Order people by how surely others decided otherwise than they; say whom to look at first, and who labels best."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from annotation.quality.annotators import Annotator
from annotation.quality.kernel import Share
from annotation.quality.reports import surest_low

MANY_QUICK = 0.2  # of the labels of one person
LEAST_DECIDED, LEAST_GOLD = 20, 10  # fewer say too little of who labels best
USUAL = 0.5  # of the labels on disputes of people who are equally good, half are overturned


class StandingOut(NamedTuple):
    """Whom to look at first, and who labels best; None where no interval sets anybody apart, or too little is known."""

    overturned: Annotator | None  # surely more than half of their labels on disputes
    gold: Annotator | None  # surely fewer gold items correct than all people together
    gold_of_all: Share
    decided: int  # labels on disputes that an adjudicator has decided
    best: Annotator | None
    hasty: Annotator | None  # surely more than a fifth of their labels too quickly to read; never a simulated person

    @property
    def is_sure(self) -> bool:
        """Whether the best one is surely overturned less often than usual."""
        share = self.best.work.overturn if self.best else Share(0, 0)
        return share.n >= LEAST_DECIDED and surest_low(share)[0] < USUAL

    @property
    def first(self) -> Annotator | None:
        return self.overturned or self.gold


def worst_first(rows: Sequence[Annotator]) -> list[Annotator]:
    """Return people by the lower end of the 95 % interval of their overturned share, highest first.

    A share of few disputes is not first by chance alone. People without a decided dispute follow, by gold items; those
    without a label are last.
    """

    def place(row: Annotator) -> tuple[Any, ...]:
        work = row.work
        return not work.labels, -_low_end(work.overturn), surest_low(work.gold), row.person.username

    return sorted(rows, key=place)


def standing_out(rows: Sequence[Annotator]) -> StandingOut:
    """Say who stands out: whose 95 % interval lies wholly on the bad side of what is usual."""
    of_all = Share(sum(row.work.gold_correct for row in rows), sum(row.work.gold_answered for row in rows))
    overturned = max(rows, key=lambda row: _low_end(row.work.overturn), default=None)
    gold = min(rows, key=lambda row: surest_low(row.work.gold), default=None)
    bad = overturned if overturned and _low_end(overturned.work.overturn) > USUAL else None
    bad_gold = gold if gold and of_all.value is not None and surest_low(gold.work.gold)[0] < of_all.value else None
    best = _best([row for row in rows if row not in (bad, bad_gold)], of_all.value)
    hasty = max((row for row in rows if not row.is_simulated), key=lambda row: _low_end(row.work.quick), default=None)
    if hasty and _low_end(hasty.work.quick) <= MANY_QUICK:
        hasty = None
    return StandingOut(bad, bad_gold, of_all, sum(row.work.decided for row in rows), best, hasty)


def _best(rows: Sequence[Annotator], usual_gold: float | None) -> Annotator | None:
    """Return who is most surely overturned least, of people with enough decided disputes; else the best by gold items.

    Only one who is overturned less than usual, or has no fewer gold items correct than all people together.
    """
    if known := [row for row in rows if row.work.decided >= LEAST_DECIDED]:
        found = min(known, key=lambda row: surest_low(row.work.overturn))
        share = found.work.overturn.value
        return found if share is not None and share < USUAL else None
    known = [row for row in rows if row.work.gold_answered >= LEAST_GOLD]
    best = max(known, key=lambda row: row.work.gold.interval or (0.0, 0.0), default=None)
    value = best.work.gold.value if best else None
    return best if value is not None and usual_gold is not None and value >= usual_gold else None


def _low_end(share: Share) -> float:
    return share.interval[0] if share.interval else -1.0
