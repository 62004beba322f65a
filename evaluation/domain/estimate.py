"""What a partly judged pool would say if all of it were judged, where the judged triples are a random sample of it.

The sample is rebuilt from the rows: in each stratum the first triples of the campaign's seeded random order, up to the
first one that was not drawn. Those of them that wait for a judgement are taken to be like the others (nonresponse at
random). Whatever else is judged is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from django.db.models import Count, Exists, Max, Min, OuterRef

from annotation.domain.judgement import current_verdicts
from annotation.domain.release import unreleased
from annotation.enums import BatchOrigin, Verdict
from annotation.models import Batch, Campaign, ImportedLabel, Item
from evaluation.domain.analysis import Progress
from evaluation.domain.labelset import current_state, original_questions
from evaluation.domain.table import EvaluationError, PoolTable, pool_table
from evaluation.kernels.estimates import Estimator
from evaluation.kernels.estimates_jackknife import Estimate, jackknife
from evaluation.kernels.estimates_model import ModelEstimator
from evaluation.kernels.estimates_sample import CERTAIN, Sample
from evaluation.kernels.state import LabelState
from evaluation.kernels.table import Flags, Floats
from evaluation.kernels.values import values
from pooling.enums import FilterReason
from pooling.kernels.orders import ORDERS
from pooling.kernels.orders.base import OrderPool
from pooling.models import Pool

BANDS = (1, 2, 4, 7)  # pool depths at which a band of the model ends


class NoSampleError(EvaluationError):
    """There is nothing to estimate from: the message says why."""


class Stratum(NamedTuple):
    """Counts of triples: N in all, n in the sample; of these positive and undecided."""

    name: str
    triples: int
    judged: int
    positive: int
    undecided: int


@dataclass(frozen=True)
class PoolSample:
    """`sample` is over the triples of the pool's table; `state` int8[triples] is what it knows of them.

    waiting: drawn triples without a judgement; behind: judged ones drawn after one of their stratum that is not:
    it joined the pool later, or came to people last and is not judged; aside: judged ones that the order did not draw.
    """

    order: str
    sample: Sample
    state: np.ndarray
    strata: list[Stratum]
    waiting: int
    behind: int
    aside: int

    @property
    def narrow(self) -> str:
        """Why intervals by left-out groups are too short; empty: they are not."""
        alike = [
            one.name for one in self.strata if one.judged < one.triples and one.positive in (0, one.judged)
        ]
        if not alike:
            return ""
        return (
            f"All judged triples of {' and of '.join(alike)} have the same label, which tells nothing of their spread:"
            " the intervals are too short."
        )


@dataclass(frozen=True)
class Estimated:
    """Unbiased and modelled estimates: measure -> arrays [systems], counts -> [1]. plain: infAP, of one stratum."""

    systems: list[str]
    left_out: list[str]
    drawn: PoolSample
    unbiased: dict[str, Estimate]
    modelled: dict[str, Estimate]
    plain: Floats | None


def estimate(
    pool: Pool, *, questions: str = "grown", assumed_is_judged: bool = True, seed: int = 7,
    progress: Progress | None = None,
) -> Estimated:  # fmt: skip
    """Estimates of every system with 95 % intervals. NoSampleError where the labels are no sample of the pool.

    questions, assumed_is_judged: as in label sets; what is assumed matters to plain infAP alone. seed: of the groups
    that the jackknife leaves out.
    """
    table = pool_table(pool)
    drawn = pool_sample(pool, table)
    asked = np.ones(table.pool.table.questions, dtype=bool)
    if questions == "original":
        asked = original_questions(table)
    rng = np.random.default_rng(seed)
    tell = progress or (lambda done, total: None)
    unbiased = jackknife(
        Estimator(table.pool, drawn.sample, asked).estimate, drawn.sample, rng,
        progress=lambda done, total: tell(done, 2 * total),
    )  # fmt: skip
    model = ModelEstimator(table.pool, drawn.sample, asked, np.searchsorted(BANDS, table.depth))
    modelled = jackknife(
        model.estimate, drawn.sample, rng, progress=lambda done, total: tell(total + done, 2 * total)
    )
    plain = _plain_infap(table, drawn, asked, assumed_is_judged) if len(drawn.strata) == 1 else None
    return Estimated(table.systems, table.left_out, drawn, unbiased, modelled, plain)


def _plain_infap(table: PoolTable, drawn: PoolSample, asked: Flags, assumed_is_judged: bool) -> Floats:
    """trec_eval's infAP [systems] of the questions with a certain positive: what was not drawn is unjudged."""
    ranks = table.pool.table
    certain = np.zeros(ranks.questions, dtype=bool)
    known = drawn.sample.positive & (drawn.sample.stratum == CERTAIN)
    certain[ranks.question[known[ranks.triple]]] = True
    return values(table.pool, drawn.state, ["infap"], assumed_is_judged)["infap"].keep(certain & asked).mean()


def drawn_version(pool: Pool) -> str:
    """Changes when more is drawn or given out: no judgement need come with it."""
    items = Item.objects.filter(campaign__pool=pool).aggregate(items=Count("pk"), place=Max("place"))
    return f"{items['items']}/{items['place']}"


# -- the sample -------------------------------------------------------------------------------------------------


class _Drawing(NamedTuple):
    """How the first batches were drawn."""

    order: str  # its label
    seed: int
    bounds: list[float]  # depths at which a stratum ends; none: one stratum
    end: int | None  # place at which another order took over


def pool_sample(pool: Pool, table: PoolTable) -> PoolSample:
    """The sample that the labels of this moment make. NoSampleError that says why there is none."""
    drawing, first = _drawing(pool)
    rows = np.array(
        pool.triples.filter(reason=FilterReason.NONE).order_by("pk").values_list("pk", "depth"),
        dtype=np.int64,
    ).reshape(-1, 2)
    ids, depth = rows[:, 0], rows[:, 1]
    n = len(ids)
    place = OrderPool(
        np.zeros((0, n), dtype=np.int32), np.maximum(depth, 1), np.zeros(n, dtype=np.int64)
    ).place(drawing.seed)
    stratum = np.searchsorted(np.array(drawing.bounds), depth).astype(np.int64)
    verdicts = current_verdicts(pool)
    decided = verdicts.triple_id[verdicts.verdict != Verdict.UNDECIDED]
    judged = np.isin(ids, verdicts.triple_id)
    stratum[np.isin(ids, _imported_before(pool, first)) & np.isin(ids, decided)] = CERTAIN
    drawn = np.isin(ids, _drawn(pool, drawing)) & (stratum != CERTAIN)
    if not unreleased(pool).exists():
        # nothing is left to draw: what came with a question goes on where the order stopped
        drawn |= judged & (stratum != CERTAIN)
    in_sample = _first_ones(stratum, place, drawn) & judged
    names = [_name(drawing.bounds, h) for h in range(len(drawing.bounds) + 1)]
    _refuse_empty(stratum, drawn, judged, in_sample, names)
    return _on_table(pool, table, drawing.order, ids, stratum, names, drawn, judged, in_sample)


def _drawing(pool: Pool) -> tuple[_Drawing, Batch]:
    campaign = Campaign.objects.filter(pool=pool).first()
    samples = " or ".join(order.name for order in ORDERS.values() if order.is_sample)
    how = f"Estimates need a campaign that releases batches in the order {samples}."
    if campaign is None:
        raise NoSampleError(f"Pool {pool.name} has no campaign, so nothing was drawn for judging. {how}")
    batches = list(campaign.batches.filter(origin=BatchOrigin.ORDER).order_by("number"))
    if not batches:
        raise NoSampleError(
            f"Everything in pool {pool.name} was given to people at once, so what is judged so far is no random"
            f" sample. Once all is judged, the measures themselves are the values. {how}"
        )
    first, by = batches[0], ORDERS.get(batches[0].order)
    if by is None or not by.is_sample:
        raise NoSampleError(
            f"The order {by.label if by else first.order!r} chose the first batch of pool {pool.name}, and it is no"
            f" random sample: what it leaves out differs from what it picks. {how}"
        )
    drawn_by = _drawn_by(first)
    other = next((batch for batch in batches if _drawn_by(batch) != drawn_by), None)
    end = other.items.aggregate(place=Min("place"))["place"] if other else None
    return _Drawing(by.label, drawn_by[1], drawn_by[2], end), first


def _drawn_by(batch: Batch) -> tuple[str, int, list[float]]:
    return batch.order, int(batch.settings["seed"]), list(batch.settings.get("bounds", []))


def _drawn(pool: Pool, drawing: _Drawing) -> list[int]:
    """Ids of the triples that the order drew."""
    items = pool.campaign.items.exclude(place=None)
    if drawing.end is not None:
        items = items.filter(place__lt=drawing.end)
    return list(items.values_list("triple_id", flat=True))


def _imported_before(pool: Pool, first: Batch) -> list[int]:
    """Triples whose label was there before anything was drawn: no draw depends on it, so it is certain."""
    before = ImportedLabel.objects.filter(triple=OuterRef("pk"), created_at__lt=first.created_at)
    return list(pool.triples.filter(Exists(before)).values_list("pk", flat=True))


def _first_ones(stratum: np.ndarray, place: np.ndarray, drawn: np.ndarray) -> np.ndarray:
    """Those that come before the first one of their stratum that was not drawn, in the order of place; bool [n]."""
    found = np.zeros(len(stratum), dtype=bool)
    for h in np.unique(stratum[stratum != CERTAIN]):
        of_stratum = np.flatnonzero(stratum == h)
        in_order = of_stratum[np.argsort(place[of_stratum], kind="stable")]
        found[in_order] = np.logical_and.accumulate(drawn[in_order])
    return found


def _refuse_empty(
    stratum: np.ndarray, drawn: np.ndarray, judged: np.ndarray, in_sample: np.ndarray, names: list[str]
) -> None:
    for h in np.unique(stratum[stratum != CERTAIN]):
        of_stratum = stratum == h
        if in_sample[of_stratum].any():
            continue
        if not drawn[of_stratum].any():
            raise NoSampleError(
                f"Nothing was drawn yet of {names[h]} ({of_stratum.sum():,} triples): release more batches first."
            )
        if (drawn & judged & of_stratum).any():
            raise NoSampleError(
                f"In the random order of {names[h]} triples come first that are not drawn and judged yet: they joined"
                " the pool later, or came to people last. Release more batches, or wait for their labels."
            )
        raise NoSampleError(
            f"None of the {int(drawn[of_stratum].sum()):,} triples drawn of {names[h]} is judged yet."
        )


def _name(bounds: list[float], h: int) -> str:
    if not bounds:
        return "all triples"
    if h == len(bounds):
        return f"depth {bounds[-1] + 1:g} and deeper"
    low = bounds[h - 1] + 1 if h else 1
    return f"depth {low:g}" if low == bounds[h] else f"depth {low:g} to {bounds[h]:g}"


def _on_table(
    pool: Pool, table: PoolTable, order: str, ids: np.ndarray, stratum: np.ndarray, names: list[str], drawn: np.ndarray,
    judged: np.ndarray, in_sample: np.ndarray,
) -> PoolSample:  # fmt: skip
    """The same over the triples of the table, strata without a triple left out."""
    places = np.array([table.position_of[i] for i in ids.tolist()], dtype=np.int64)
    might = stratum != CERTAIN
    used = np.unique(stratum[might])
    of_table = np.full(len(table.triples), CERTAIN, dtype=np.int64)
    of_table[places[might]] = np.searchsorted(used, stratum[might])
    chosen = np.zeros(len(table.triples), dtype=bool)
    chosen[places[in_sample]] = True
    state = current_state(pool, table)
    undecided = chosen & (state == LabelState.UNJUDGED)
    state = np.where((of_table != CERTAIN) & ~chosen, LabelState.UNJUDGED, state).astype(np.int8)
    positive = state == LabelState.POSITIVE
    strata = [
        Stratum(names[old], *(int((flags & (of_table == h)).sum()) for flags in (
            np.ones(len(state), dtype=bool), chosen, positive & chosen, undecided
        )))
        for h, old in enumerate(used.tolist())
    ]  # fmt: skip
    sample = Sample(of_table, chosen, positive)
    return PoolSample(
        order, sample, state, strata, waiting=int((drawn & ~judged).sum()),
        behind=int((drawn & judged & ~in_sample).sum()), aside=int((judged & ~drawn & might).sum()),
    )  # fmt: skip
