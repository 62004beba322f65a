"""Turn batches into items with two slots each, grouped by question, in a seeded random order."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count, islice, repeat
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np
from django.db import connection
from django.db.models import Count, Max, Q, QuerySet

from annotation.enums import BatchOrigin, ItemState, SlotState, Verdict
from annotation.models import Batch, Campaign, Item, Slot
from annotation.models.slot import PLACES
from core.callbacks import Tell
from core.database import copy_records, insert_rows
from pooling.enums import Side
from pooling.models import Pool
from pooling.pools.kernels.gathering import question_sides, shown_questions

_ROWS = 20_000
_SIDES = (Side.TAIL.value, Side.HEAD.value)
_OPEN = ItemState.OPEN.value
_BATCH_FIELDS = ("origin", "order", "settings", "size")  # those that a plan has
_ITEM_FIELDS = (
    "campaign", "group", "order", "side", "state", "reopened", "triple", "batch", "place", "probability", "arm",
)  # fmt: skip
_FREE_SLOT = np.dtype([("item_id", ">i8"), ("number", ">i2"), ("ticket", "V16"), ("state", "S4")])  # of PostgreSQL


class ShownTriples(NamedTuple):
    """n pooled triples, ordered by id, and the question that each is shown under.

    triple_id int64[n]; question int64[n, 3]: side (tail 0, head 1), relation, the entity that is not masked
    """

    triple_id: np.ndarray
    question: np.ndarray

    def of(self, chosen: np.ndarray) -> ShownTriples:
        """Return the chosen triples, by mask bool[n] or sorted index."""
        return ShownTriples(self.triple_id[chosen], self.question[chosen])


@dataclass(frozen=True)
class BatchPlan:
    """Triples that are to be given to people for one reason.

    place, arm int64[n], -1: none; probability float64[n], nan: none. order and settings say how they were chosen.
    """

    origin: BatchOrigin
    shown: ShownTriples
    order: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    place: np.ndarray | None = None
    probability: np.ndarray | None = None
    arm: np.ndarray | None = None

    @property
    def size(self) -> int:
        return len(self.shown.triple_id)


def shown_triples(pool: Pool, *conditions: Q) -> ShownTriples:
    """Return the pooled triples that meet the conditions, by id."""
    columns = ("pk", "head", "relation", "tail", "provenance")
    found = pool.triples.filter(*conditions).order_by("pk").values_list(*columns).iterator(chunk_size=_ROWS)
    numbers, provenance = [np.zeros((0, 4), dtype=np.int64)], list[bytes]()
    while part := list(islice(found, _ROWS)):
        numbers.append(np.array([row[:4] for row in part], dtype=np.int64))
        provenance += [bytes(row[4]) for row in part]
    rows = np.concatenate(numbers)
    seeds = np.array(pool.seeds.values_list("head", "relation", "tail"), dtype=np.int64).reshape(-1, 3)
    sides = question_sides(rows[:, 1:], provenance, seeds)
    return ShownTriples(rows[:, 0], shown_questions(rows[:, 1:], sides))


def make_batches(campaign: Campaign, plans: Sequence[BatchPlan], tell: Tell | None = None) -> list[Batch]:
    """Create a batch of each plan, with the items of all mixed, so that the order tells nothing of the reason.

    Groups and order continue after the existing ones. The caller holds the campaign's lock, or created it.
    """
    numbers = campaign.batches.aggregate(last=Max("number"))["last"] or 0
    last = campaign.items.aggregate(group=Max("group"), order=Max("order"))
    group_start, order_start = (0 if last[key] is None else last[key] + 1 for key in ("group", "order"))
    batches = [
        Batch.objects.create(campaign=campaign, number=number, **{name: getattr(plan, name) for name in _BATCH_FIELDS})
        for number, plan in enumerate(plans, numbers + 1)
    ]
    question = np.concatenate([plan.shown.question for plan in plans])
    # seeded by the campaign and what exists, so that each release has another order
    group, order = group_randomly(question, np.random.default_rng([campaign.seed, order_start]))
    chosen = [np.concatenate(columns) for columns in zip(*map(_chosen, plans, batches), strict=True)]
    for start in range(0, len(order), _ROWS):
        part = order[start : start + _ROWS]
        groups, sides = (group[part] + group_start).tolist(), question[part, 0].tolist()
        triples, of_batch, *how = (column[part].tolist() for column in chosen)
        places, chances, arms = ([one if one >= 0 else None for one in column] for column in how)
        rows = zip(
            repeat(campaign.pk), groups, count(order_start + start), (_SIDES[side] for side in sides),
            repeat(_OPEN), repeat(False), triples, of_batch, places, chances, arms,
        )  # fmt: skip
        insert_rows(Item, _ITEM_FIELDS, rows)
        items = campaign.items.filter(order__gte=order_start + start).order_by("order").values_list("pk", flat=True)
        _insert_slots(np.fromiter(items, dtype=np.int64))
        if tell:
            tell(start + len(part), len(order))
    return batches


def _insert_slots(items: np.ndarray) -> None:
    """Insert the free slots of items, int64[n], each with a random ticket."""
    if connection.vendor != "postgresql":
        rows = ((item, number, uuid4().hex, SlotState.FREE.value) for item in items.tolist() for number in PLACES)
        insert_rows(Slot, ("item", "number", "ticket", "state"), rows)
        return
    slots = np.empty(len(items) * len(PLACES), dtype=_FREE_SLOT)
    slots["item_id"], slots["number"] = np.repeat(items, len(PLACES)), np.tile(PLACES, len(items))
    slots["ticket"], slots["state"] = _tickets(len(slots)), SlotState.FREE.value
    copy_records(Slot, slots)


def _tickets(n: int) -> np.ndarray:
    """Return n random UUIDs as uuid4 makes them, V16[n]."""
    ticket = np.frombuffer(bytearray(secrets.token_bytes(16 * n)), dtype=np.uint8).reshape(n, 16)
    ticket[:, 6] = ticket[:, 6] & 0x0F | 0x40  # version 4
    ticket[:, 8] = ticket[:, 8] & 0x3F | 0x80  # of RFC 9562
    return ticket.view("V16").reshape(n)


def group_randomly(question: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Order groups at random, and triples within them; system, rank and score play no part.

    question int64[n, 3] -> group int64[n], the place of each triple's question; order int64[n], the triples in the
    order in which they are given out.
    """
    side, relation, given = question.T
    # one integer a question, in the order of side, relation and given entity, sorts many times faster than rows
    keys = (side * (relation.max(initial=0) + 1) + relation) * (given.max(initial=0) + 1) + given
    unique, group = np.unique(keys, return_inverse=True)
    group = rng.permutation(len(unique))[group]
    return group, np.lexsort((rng.random(len(question)), group))


def split_questions(question: np.ndarray, size: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Split triples into parts of `size` or a little more: whole questions, in random order.

    question int64[n, 3] -> indices of the triples of each part
    """
    group, order = group_randomly(question, rng)
    begins = np.flatnonzero(np.diff(group[order])) + 1  # of every question but the first
    after = np.searchsorted(begins, np.arange(size, len(order), size))
    return np.split(order, np.unique(begins[after[after < len(begins)]]))


def refresh_statistics() -> None:
    """Update PostgreSQL's statistics now; until it does so itself, claims read whole tables."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f"ANALYZE {Item._meta.db_table}, {Slot._meta.db_table}")


def _chosen(plan: BatchPlan, batch: Batch) -> list[np.ndarray]:
    """Return what items take from their plan, one array for each of the last _ITEM_FIELDS; negative or nan: none."""
    how = [plan.place, plan.probability, plan.arm]
    none = np.full(plan.size, -1)
    return [plan.shown.triple_id, np.full(plan.size, batch.pk), *(none if column is None else column for column in how)]


_JUDGED = Q(items__triple__judgement__verdict__in=[Verdict.POSITIVE, Verdict.NEGATIVE])


def batch_rows(campaign: Campaign) -> QuerySet[Batch]:
    """Return the latest batch first, each with `drawn` (by order or sample), `judged` and `positive` triples."""
    drawn = Q(items__place__isnull=False) | Q(items__probability__isnull=False)
    return campaign.batches.annotate(
        drawn=Count("items", filter=drawn),
        judged=Count("items", filter=_JUDGED),
        positive=Count("items", filter=Q(items__triple__judgement__verdict=Verdict.POSITIVE)),
    ).order_by("-number")
