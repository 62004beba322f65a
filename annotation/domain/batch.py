"""Batches become items: two slots each, groups in a seeded random order, those of one question together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from django.db import connection
from django.db.models import Max, Q

from annotation.enums import BatchOrigin
from annotation.models import Batch, Campaign, Item, Slot
from pooling.enums import Side
from pooling.kernels.shown import question_sides, shown_questions
from pooling.models import Pool

Tell = Callable[[int, int], None]  # items made, items to make
_ROWS = 2000


class Shown(NamedTuple):
    """n pooled triples, ordered by id, and the question that each is shown under.

    triple_id int64[n]; question int64[n, 3]: side (tail 0, head 1), relation, the entity that is not masked
    """

    triple_id: np.ndarray
    question: np.ndarray

    def of(self, chosen: np.ndarray) -> Shown:
        return Shown(self.triple_id[chosen], self.question[chosen])


@dataclass(frozen=True)
class Lot:
    """Triples that are given to people for one reason.

    place, arm int64[n], -1: none; probability float64[n], nan: none. What it was drawn by is in order and settings.
    """

    origin: BatchOrigin
    shown: Shown
    order: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    place: np.ndarray | None = None
    probability: np.ndarray | None = None
    arm: np.ndarray | None = None

    @property
    def size(self) -> int:
        return len(self.shown.triple_id)


def shown_triples(pool: Pool, *conditions: Q) -> Shown:
    """The pooled triples that meet the conditions, by id."""
    rows = list(
        pool.triples.filter(*conditions)
        .order_by("pk")
        .values_list("pk", "head", "relation", "tail", "provenance")
    )
    triples = np.array([row[1:4] for row in rows], dtype=np.int64).reshape(-1, 3)
    seeds = np.array(pool.seeds.values_list("head", "relation", "tail"), dtype=np.int64).reshape(-1, 3)
    sides = question_sides(triples, [bytes(row[4]) for row in rows], seeds)
    return Shown(np.array([row[0] for row in rows], dtype=np.int64), shown_questions(triples, sides))


def add_lots(campaign: Campaign, lots: Sequence[Lot], tell: Tell | None = None) -> list[Batch]:
    """A batch of each lot, their items mixed: nobody can read from the sequence why a triple is among them.

    Groups and places in the order go on after those there are. The caller holds the campaign's lock, or made it.
    """
    numbers = campaign.batches.aggregate(last=Max("number"))["last"] or 0
    last = campaign.items.aggregate(group=Max("group"), order=Max("order"))
    group_start, order_start = (0 if last[key] is None else last[key] + 1 for key in ("group", "order"))
    batches = [
        Batch.objects.create(
            campaign=campaign, number=number, origin=lot.origin, order=lot.order, settings=lot.settings, size=lot.size
        )
        for number, lot in enumerate(lots, numbers + 1)
    ]  # fmt: skip
    question = np.concatenate([lot.shown.question for lot in lots])
    # of the campaign's seed and what is there already, so that each release is another order
    group, order = group_randomly(question, np.random.default_rng([campaign.seed, order_start]))
    fields = [one for lot, batch in zip(lots, batches, strict=True) for one in _fields(lot, batch)]
    total = len(fields)
    names = (Side.TAIL, Side.HEAD)
    for start in range(0, total, _ROWS):
        items = Item.objects.bulk_create(
            Item(
                campaign=campaign, group=group_start + int(group[i]), order=order_start + place,
                side=names[int(question[i, 0])], **fields[i],
            )
            for place, i in enumerate(order[start : start + _ROWS].tolist(), start)
        )  # fmt: skip
        Slot.objects.bulk_create(Slot(item=item, number=number) for item in items for number in (1, 2))
        if tell:
            tell(min(start + _ROWS, total), total)
    return batches


def group_randomly(question: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Groups in random order, and random within: neither system, rank nor score has a part in it.

    question int64[n, 3] -> group int64[n], the place of each triple's question; order int64[n], the triples as
    they are given out.
    """
    unique, group = np.unique(question, axis=0, return_inverse=True)
    group = rng.permutation(len(unique))[group.reshape(-1)]
    return group, np.lexsort((rng.random(len(question)), group))


def refresh_statistics() -> None:
    """Tell PostgreSQL's planner of the new rows now: until it notices by itself, a claim reads whole tables."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f"ANALYZE {Item._meta.db_table}, {Slot._meta.db_table}")


def _fields(lot: Lot, batch: Batch) -> list[dict[str, Any]]:
    """What an item takes from its lot."""
    places, chances, arms = (
        [None] * lot.size if column is None else [None if absent(one) else one for one in column.tolist()]
        for column, absent in (
            (lot.place, _negative), (lot.probability, np.isnan), (lot.arm, _negative),
        )
    )  # fmt: skip
    return [
        {"batch": batch, "triple_id": triple, "place": place, "probability": chance, "arm": arm}
        for triple, place, chance, arm in zip(
            lot.shown.triple_id.tolist(), places, chances, arms, strict=True
        )
    ]


def _negative(number: int) -> bool:
    return number < 0
