"""Say how long work takes at the pace of some days, with a range that follows from how much the days differ."""

import math
from collections.abc import Sequence
from statistics import mean, stdev
from typing import NamedTuple

from scipy.special import stdtrit


class Finish(NamedTuple):
    """Days until work is done. `soonest` and `latest` are None after one day; `latest` also if it may never end."""

    days: float
    per_day: float
    soonest: float | None
    latest: float | None


def finish(left: int, per_day: Sequence[int]) -> Finish | None:
    """Return how many days `left` labels take at the mean pace of some days; None if these days have no label.

    per_day: labels of each day, days without any among them. The range comes from the 95 % interval of the mean
    (Student's t, n - 1 degrees of freedom), as if the days were independent.
    """
    if not sum(per_day):
        return None
    pace = mean(per_day)
    if (n := len(per_day)) < 2:
        return Finish(left / pace, pace, None, None)
    reach = float(stdtrit(n - 1, 0.975)) * stdev(per_day) / math.sqrt(n)
    return Finish(left / pace, pace, left / (pace + reach), left / (pace - reach) if pace > reach else None)
