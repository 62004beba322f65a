"""Rebuild the random sample that the labels of a pool are, from the rows of its campaign.

In each stratum it has the first triples of the campaign's seeded random order, up to the first one that was not drawn.
Once everything is released nothing is left to draw, and it goes on as far as at most one in fifty is not judged. Those
of its triples that wait for a judgement are taken to be like the others (nonresponse at random). Whatever else is
judged is left out.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from django.db.models import Count, Exists, Max, Min, OuterRef

from annotation.enums import BatchOrigin, Verdict
from annotation.judging.judgements import current_verdicts
from annotation.models import Batch, Campaign, ImportedLabel, Item
from annotation.release.next_batch import unreleased
from evaluation.estimates.kernels.weights import CERTAIN, Sample
from evaluation.labels.label_sets import current_state
from evaluation.labels.pool_table import EvaluationError, PoolTable
from evaluation.measures.label_state import LabelState
from pooling.enums import TO_PEOPLE
from pooling.models import Pool
from pooling.orders import ORDERS
from pooling.orders.base import OrderPool

OPEN = 0.02  # of the sample that may wait for a judgement, where nothing is left to draw
NO_SPREAD = "Of a stratum one triple is judged, which tells nothing of its spread: unbiased counts have no interval."


class NoSampleError(EvaluationError):
    """The labels are no random sample to estimate from; the message says why."""


class Stratum(NamedTuple):
    """Counts of triples: N in all, n in the sample; of these positive and undecided."""

    name: str
    triples: int
    judged: int
    positive: int
    undecided: int


@dataclass(frozen=True)
class PoolSample:
    """The sample of a pool over the triples of its table; `state` int8[triples] is their label state by it.

    waiting: triples of the sample without a judgement; behind: drawn and judged ones after its end; undrawn: those that
    joined the pool later, before one of these; aside: judged ones that the order did not draw. open: triples for people
    that nobody has judged. is_all_drawn: everything is released; is_whole: in batches of whole questions.
    """

    order: str
    sample: Sample
    state: np.ndarray
    strata: list[Stratum]
    waiting: int
    behind: int
    undrawn: int
    aside: int
    open: int
    is_all_drawn: bool
    is_whole: bool

    @property
    def narrow(self) -> str:
        """Return why intervals of unbiased counts are missing or too short; empty: neither."""
        if any(one.judged == 1 < one.triples for one in self.strata):
            return NO_SPREAD
        alike = [one.name for one in self.strata if one.judged < one.triples and one.positive in (0, one.judged)]
        if not alike:
            return ""
        return (
            f"All judged triples of {' and of '.join(alike)} have the same label, which tells nothing of their spread:"
            " the intervals of unbiased counts are too short."
        )

    @property
    def notes(self) -> list[str]:
        """Return notes on what the sample lacks, what is left out of it, and how its end was chosen."""
        notes = []
        if self.waiting:
            notes.append(
                f"Triples of the sample that wait for a judgement: {self.waiting:,}. They are taken to be like the"
                " judged ones, which favours what is judged quickly as long as they are many."
            )
        if self.behind and self.is_all_drawn:
            notes.append(
                f"Judged triples that are left out for now: {self.behind:,}. Everything is released, and beyond what"
                f" the order drew the sample goes on as far as at most {100 * OPEN:.0f} % of it wait: {self.open:,}"
                " triples are not judged yet."
            )
        elif self.behind:
            notes.append(
                f"Judged triples that are left out for now: {self.behind:,}. Before them in the random order come"
                f" {self.undrawn:,} that joined the pool later and are not drawn yet: release the next batch."
            )
        if self.aside:
            notes.append(
                f"Judged triples that are left out: {self.aside:,}. They came to people with the question of a drawn"
                " one, by another order, or by an import."
            )
        judged = sum(one.judged for one in self.strata)
        if self.is_whole and judged > 1 and any(one.judged < one.triples for one in self.strata):
            notes.append(
                "Batches of whole questions end by the size of the questions, so the triple that ends the sample is of"
                f" a large one more often than by chance: one triple of {judged:,}. Single triples have no such end."
            )
        return notes


def drawn_version(pool: Pool) -> str:
    """Return a text that changes when more is drawn or given to people, even without a judgement."""
    items = Item.objects.filter(campaign__pool=pool).aggregate(items=Count("pk"), place=Max("place"))
    return f"{items['items']}/{items['place']}"


class _Drawing(NamedTuple):
    """How the first batches were drawn."""

    order: str  # its label
    seed: int
    bounds: list[float]  # depths at which a stratum ends; none: one stratum
    end: int | None  # place at which another order took over
    whole: bool  # some batch was of whole questions


def pool_sample(pool: Pool, table: PoolTable) -> PoolSample:
    """Return the sample of the current labels. NoSampleError says why there is none."""
    drawing, first = _drawing(pool)
    rows = pool.triples.filter(reason=TO_PEOPLE).order_by("pk").values_list("pk", "depth")
    ids, depth = np.array(rows, dtype=np.int64).reshape(-1, 2).T
    n = len(ids)
    unranked, ungrouped = np.zeros((0, n), dtype=np.int32), np.zeros(n, dtype=np.int64)
    place = OrderPool(unranked, np.maximum(depth, 1), ungrouped).place(drawing.seed)
    stratum = np.searchsorted(np.array(drawing.bounds), depth).astype(np.int64)
    verdicts = current_verdicts(pool)
    decided = verdicts.triple_id[verdicts.verdict != Verdict.UNDECIDED]
    judged = np.isin(ids, verdicts.triple_id)
    stratum[np.isin(ids, _imported_before(pool, first)) & np.isin(ids, decided)] = CERTAIN
    might = stratum != CERTAIN
    drawn = np.isin(ids, _drawn(pool, drawing)) & might
    reached = _first_ones(stratum, place, drawn)
    is_all_drawn = not unreleased(pool).exists()
    if is_all_drawn:
        # nothing is left to draw: what came with a question goes on where the order stopped
        drawn = might
        reached |= _nearly_all(stratum, place, judged)
    names = [_name(drawing.bounds, h) for h in range(len(drawing.bounds) + 1)]
    _refuse_empty(stratum, drawn, judged, reached & judged, names)
    sample, state, strata = _on_table(pool, table, ids, stratum, names, reached & judged)
    behind = drawn & judged & ~reached
    last = [place[behind & (stratum == h)].max(initial=-1) for h in range(len(names))]
    return PoolSample(
        drawing.order,
        sample,
        state,
        strata,
        waiting=int((reached & ~judged).sum()),
        behind=int(behind.sum()),
        undrawn=int((might & ~drawn & (place < np.array(last)[stratum])).sum()),
        aside=int((judged & ~drawn & might).sum()),
        open=int((might & ~judged).sum()),
        is_all_drawn=is_all_drawn,
        is_whole=drawing.whole,
    )


def _drawing(pool: Pool) -> tuple[_Drawing, Batch]:
    campaign = Campaign.objects.filter(pool=pool).first()
    samples = " or ".join(order.name for order in ORDERS.values() if order.is_sample)
    opened = f"releases batches in the order {samples} from its opening on"
    how = f"Estimates need a campaign that {opened} (page Order of judging)."
    if campaign is None:
        raise NoSampleError(f"Pool {pool.name} has no campaign, so nothing was drawn for judging. {how}")
    batches = list(campaign.batches.filter(origin=BatchOrigin.ORDER).order_by("number"))
    if not batches:
        raise NoSampleError(
            f"Everything in pool {pool.name} was given to people at once, so what is judged so far is not a random"
            f" sample. Once all is judged, the measures themselves are the values. {how}"
        )
    first, by = batches[0], ORDERS.get(batches[0].order)
    if by is None or not by.is_sample:
        raise NoSampleError(
            f"The order {by.label if by else first.order!r} chose the first batch of pool {pool.name}, and it is not a"
            f" random sample: what it leaves out differs from what it picks. {how}"
        )
    drawn_by = _drawn_by(first)
    other = next((batch for batch in batches if _drawn_by(batch) != drawn_by), None)
    end = other.items.aggregate(place=Min("place"))["place"] if other else None
    whole = any(batch.settings.get("whole", campaign.whole_questions) for batch in batches)
    return _Drawing(by.label, drawn_by[1], drawn_by[2], end, whole), first


def _drawn_by(batch: Batch) -> tuple[str, int, list[float]]:
    return batch.order, int(batch.settings["seed"]), list(batch.settings.get("bounds", []))


def _drawn(pool: Pool, drawing: _Drawing) -> list[int]:
    """Return the ids of the triples that the order drew."""
    items = pool.campaign.items.exclude(place=None)
    if drawing.end is not None:
        items = items.filter(place__lt=drawing.end)
    return list(items.values_list("triple_id", flat=True))


def _imported_before(pool: Pool, first: Batch) -> list[int]:
    """Return triples labelled before anything was drawn: no draw depends on them, so they are certain."""
    before = ImportedLabel.objects.filter(triple=OuterRef("pk"), created_at__lt=first.created_at)
    return list(pool.triples.filter(Exists(before)).values_list("pk", flat=True))


def _in_order(stratum: np.ndarray, place: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the triples of each stratum in the order of place, int64."""
    for h in np.unique(stratum[stratum != CERTAIN]):
        of_stratum = np.flatnonzero(stratum == h)
        yield of_stratum[np.argsort(place[of_stratum], kind="stable")]


def _first_ones(stratum: np.ndarray, place: np.ndarray, drawn: np.ndarray) -> np.ndarray:
    """Return the triples before the first undrawn one of their stratum, in the order of place; bool [n]."""
    found = np.zeros(len(stratum), dtype=bool)
    for one in _in_order(stratum, place):
        found[one] = np.logical_and.accumulate(drawn[one])
    return found


def _nearly_all(stratum: np.ndarray, place: np.ndarray, judged: np.ndarray) -> np.ndarray:
    """Return the longest start of each stratum, by place, of which at most the share OPEN is unjudged; bool [n]."""
    found = np.zeros(len(stratum), dtype=bool)
    for one in _in_order(stratum, place):
        few = np.cumsum(~judged[one]) <= OPEN * np.arange(1, len(one) + 1)
        found[one[: np.max(np.flatnonzero(few), initial=-1) + 1]] = True
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
        raise NoSampleError(f"None of the {int(drawn[of_stratum].sum()):,} triples drawn of {names[h]} is judged yet.")


def _name(bounds: list[float], h: int) -> str:
    if not bounds:
        return "all triples"
    if h == len(bounds):
        return f"depth {bounds[-1] + 1:g} and deeper"
    low = bounds[h - 1] + 1 if h else 1
    return f"depth {low:g}" if low == bounds[h] else f"depth {low:g} to {bounds[h]:g}"


def _on_table(
    pool: Pool, table: PoolTable, ids: np.ndarray, stratum: np.ndarray, names: list[str], in_sample: np.ndarray
) -> tuple[Sample, np.ndarray, list[Stratum]]:
    """Return sample, label state and strata over the triples of the table, without empty strata."""
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
    every = np.ones(len(state), dtype=bool)
    strata = []
    for h, old in enumerate(used.tolist()):
        counts = (int((flags & (of_table == h)).sum()) for flags in (every, chosen, positive & chosen, undecided))
        strata.append(Stratum(names[old], *counts))
    return Sample(of_table, chosen, positive), state, strata
