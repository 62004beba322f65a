"""Tell what the parts of jobs do, and the parts of these, for the pages on jobs."""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from core.enums import JobState
from core.models import Job


class Parts(NamedTuple):
    """Count the parts of a job, and list those that are not over by depth: 1 a part, 2 a part of a part."""

    total: int
    done: int
    live: list[tuple[int, Job]]

    @property
    def running(self) -> list[tuple[int, Job]]:
        return [(depth, part) for depth, part in self.live if part.is_running]


def parts_of(jobs: Iterable[Job]) -> dict[int, Parts]:
    """Return the parts of each of these jobs that has any, by the job's id; one query a level."""
    below: defaultdict[int, list[Job]] = defaultdict(list)
    whole = [job.pk for job in jobs]
    ids = whole
    while ids:
        found = list(Job.objects.filter(parent__in=ids).defer("log").order_by("id"))
        for part in found:
            below[part.parent_id or 0].append(part)
        ids = [part.pk for part in found]
    return {pk: _gathered(pk, below) for pk in whole if pk in below}


def _gathered(pk: int, below: dict[int, list[Job]]) -> Parts:
    total, done, live = 0, 0, []
    open_ = [(1, part) for part in reversed(below[pk])]
    while open_:
        depth, part = open_.pop()
        inner = below.get(part.pk, [])
        if not inner:  # work is counted where it is done
            total += 1
            done += part.state == JobState.DONE
        if not part.is_over:
            live.append((depth, part))
        open_ += [(depth + 1, one) for one in reversed(inner)]
    return Parts(total, done, live)
