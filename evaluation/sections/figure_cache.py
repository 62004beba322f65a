"""Figures of a pool, each computed once for a version of labels and ranks, and kept."""

import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import numpy as np
from django.db import IntegrityError
from django.db.models import Count, Max, Q
from django.utils import timezone

from annotation.judging.judgements import live_labels
from core.database.row_locks import gone
from core.errors import UserError
from evaluation.labels.label_sets import label_set
from evaluation.labels.pool_table import pool_table, ranks_version, version
from evaluation.measures.registry import USUAL, parse_measure
from evaluation.models import Figure
from evaluation.sections.section import number
from pooling.models import Pool

DEFAULT_MEASURES = tuple(measure.name for measure in USUAL)
# Seeds, the full test set and frozen or imported qrels are what they are, whatever is labelled.
UNLABELLED = ("seeds", "full-test", "qrels", "imported")
FORM = 4  # of what is kept: one more whenever numbers or words of figures become others
KEPT = 300  # figures of a pool: those that were computed longest ago go
CLAIM = timedelta(seconds=15)  # then whoever computes is taken to be dead
WAIT, LOOK_AGAIN = 2.0, 0.05  # seconds

Content = dict[str, Any]


class FigureBusy(UserError):  # noqa: N818 - nothing is wrong: it is there in a moment
    """Somebody else is computing a figure of which there is no older one."""


def metrics(
    pool: Pool,
    labels: str = "current",
    measures: Sequence[str] = DEFAULT_MEASURES,
    assumed_is_judged: bool = True,
    questions: str = "grown",
) -> Content:
    """Measures of every system under one label set.

    {labels, name, counts, n: {measure: units}, systems: {name: {measure: value or null}}, reasons: likewise, of nulls}.
    """
    names = [parse_measure(name).name for name in measures]
    table = pool_table(pool)
    chosen = label_set(pool, table, labels, questions)
    found = chosen.sums(names, assumed_is_judged)
    means = {name: sums.mean().tolist() for name, sums in found.items()}
    undefined = [name for name in names if not np.isfinite(means[name]).all()]
    why = {name: value.reasons() for name, value in chosen.values(undefined, assumed_is_judged).items()}
    by_system: dict[str, dict[str, float | None]] = {system: {} for system in table.systems}
    reasons: dict[str, dict[str, str]] = {system: {} for system in table.systems}
    for name in names:
        for i, system in enumerate(table.systems):
            by_system[system][name] = number(means[name][i])
            if by_system[system][name] is None:
                reasons[system][name] = why[name][i]
    return {
        "labels": labels,
        "name": chosen.name,
        "counts": chosen.counts(),
        "assumed_is_judged": assumed_is_judged,
        "questions": questions,
        "n": {name: found[name].units for name in names},
        "systems": by_system,
        "reasons": reasons,
        "left_out": table.left_out,
    }


# -- kept -------------------------------------------------------------------------------------------------------


def version_of(pool: Pool, labels: Sequence[str] = ("current",)) -> str:
    """Changes when what a figure under these label sets rests on changes."""
    kinds = {key.partition(":")[0] for key in labels}
    if kinds <= set(UNLABELLED):
        return f"{FORM}/{ranks_version(pool)}"
    if kinds & {"annotator", "until"}:  # single labels, also those that judge nothing yet
        last = live_labels().filter(item__campaign__pool=pool).aggregate(at=Max("pk"), n=Count("pk"))
        return f"{FORM}/{version(pool)}/{last['at']}/{last['n']}"
    return f"{FORM}/{version(pool)}"


def figure(pool: Pool, key: str, now: str, compute: Callable[[], Content], *, heavy: bool = False) -> Figure:
    """A figure as of version `now`: read if it was kept, else computed by whoever comes first.

    Who comes later waits for it, but not long: then the figure comes as it was kept, of an older version, or
    FigureBusy is raised where there is none. A heavy one is a job's own: `start_job` sees to it that there is one.
    """
    until = time.monotonic() + WAIT
    while True:
        kept = Figure.objects.filter(pool=pool, key=key).first() or _new(pool, key, heavy)
        if kept.version == now:
            return kept
        free = Q(claimed_until=None) | Q(claimed_until__lt=timezone.now())
        if heavy or Figure.objects.filter(free, pk=kept.pk).update(claimed_until=timezone.now() + CLAIM) == 1:
            return _compute(kept, now, compute)
        if time.monotonic() > until:
            if kept.version:
                return kept
            raise FigureBusy("Somebody else's visit is computing this right now. Load the page again in a moment.")
        time.sleep(LOOK_AGAIN)


def _new(pool: Pool, key: str, heavy: bool) -> Figure:
    try:
        kept, _ = Figure.objects.get_or_create(pool=pool, key=key, defaults={"content": {}, "heavy": heavy})
    except IntegrityError as error:
        # not `held`: who only looks at figures waits for a deletion, and for nobody else who holds the pool
        raise gone(pool) from error
    # what a job computed stays, and what is being computed
    light = Figure.objects.filter(pool=pool, heavy=False, claimed_until=None).exclude(pk=kept.pk)
    old = light.order_by("-computed_at").values_list("pk", flat=True)[KEPT - 1 :]
    Figure.objects.filter(pk__in=list(old)).delete()
    return kept


def _compute(kept: Figure, now: str, compute: Callable[[], Content]) -> Figure:
    started = time.monotonic()
    row = Figure.objects.filter(pk=kept.pk)
    try:
        kept.content = compute()
    except BaseException:
        row.update(claimed_until=None)
        raise
    kept.version, kept.seconds = now, time.monotonic() - started
    kept.computed_at, kept.claimed_until = timezone.now(), None
    row.update(
        content=kept.content, version=now, seconds=kept.seconds, computed_at=kept.computed_at, claimed_until=None
    )
    return kept


def kept_figure(pool: Pool, key: str) -> Figure | None:
    """A figure as it was last computed, however old."""
    return Figure.objects.filter(pool=pool, key=key).exclude(version="").first()


def last_heavy(pool: Pool) -> str:
    """Changes when a job has kept a figure."""
    at = Figure.objects.filter(pool=pool, heavy=True).exclude(version="").aggregate(at=Max("computed_at"))["at"]
    return at.isoformat() if at else ""
