"""Say what judging a pool takes: hours of people, and what they cost."""

from typing import Any, NamedTuple

from pooling.signals import pace_asked

LABELS = 2  # of each triple; a third person decides where they differ, which comes on top
ASSUMED_SECONDS = 20.0  # a label, before anybody has labelled on this site


class Pace(NamedTuple):
    """Hold the median active seconds of a label, and of how many labels."""

    seconds: float
    labels: int


class Effort(NamedTuple):
    """Hold what people must do for some triples; cost None: nobody said what an hour costs."""

    labels: int
    hours: float
    cost: float | None


def measured_pace() -> Pace | None:
    """Return the pace of the labels of this site; None where there are none."""
    answers: list[Any] = [answer for _, answer in pace_asked.send(sender=None) if answer is not None]
    return Pace(*answers[0]) if answers else None


def effort(triples: int, seconds: float, an_hour: float | None = None) -> Effort:
    """Return the effort of judging triples, with `seconds` per label; an hour costs `an_hour`."""
    labels = LABELS * triples
    hours = labels * seconds / 3600
    return Effort(labels, hours, None if an_hour is None else hours * an_hour)
