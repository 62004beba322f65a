"""Opening a campaign: items and slots of a pool in a seeded random order, those of one question together."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection, transaction

from annotation.domain.guideline import first_guidelines
from annotation.domain.question import ensure_templates
from annotation.domain.source import add_usual_sources
from annotation.enums import EvidenceRule
from annotation.errors import CampaignError
from annotation.models import Campaign, Item, Slot
from pooling.domain.audit import record
from pooling.enums import AuditAct, FilterReason, PoolState, Side
from pooling.kernels.pool import PROVENANCE
from pooling.models import Pool

_BATCH = 2000


class Grouping(NamedTuple):
    """How n triples are given out.

    side int8[n]: of the question each is shown under (tail 0, head 1)
    group int64[n]: the place of that question in the random order
    order int64[n]: the triples in the order in which they are given out
    """

    side: np.ndarray
    group: np.ndarray
    order: np.ndarray


def open_campaign(
    pool: Pool, *, seed: int = 0, evidence_rule: str = EvidenceRule.BOTH, lease_minutes: int = 15,
    created_by: User | None = None, progress: Callable[[int, int], None] | None = None,
) -> Campaign:  # fmt: skip
    """Make an item with two slots of every pooled triple that people judge. CampaignError if it cannot be."""
    if pool.state != PoolState.READY:
        raise CampaignError(f"Pool {pool.name} is {pool.get_state_display()}: wait until it is ready.")
    if Campaign.objects.filter(pool=pool).exists():
        raise CampaignError(f"The campaign of pool {pool.name} is already open.")
    if evidence_rule not in EvidenceRule.values:
        raise CampaignError(
            f"Evidence rule {evidence_rule!r}: choose one of {', '.join(EvidenceRule.values)}."
        )
    if not 1 <= lease_minutes <= 1440:
        raise CampaignError(f"A question cannot be held for {lease_minutes} minutes: give 1 to 1440.")
    rows = list(
        pool.triples.filter(reason=FilterReason.NONE)
        .order_by("pk")
        .values_list("pk", "head", "relation", "tail", "provenance")
    )
    if not rows:
        raise CampaignError(
            f"Pool {pool.name} has no triple for people: it is empty, or filters took all of it."
        )
    triples = np.array([row[1:4] for row in rows], dtype=np.int64)
    seeds = np.array(pool.seeds.values_list("head", "relation", "tail"), dtype=np.int64).reshape(-1, 3)
    sides = question_sides(triples, [bytes(row[4]) for row in rows], seeds)
    grouping = group_randomly(triples, sides, np.random.default_rng(seed))
    ensure_templates(pool.graph)
    with transaction.atomic():
        campaign = Campaign.objects.create(
            pool=pool, seed=seed, evidence_rule=evidence_rule, lease_minutes=lease_minutes, contact=created_by,
            personal_data=(settings.BASE_DIR / "fixtures" / "personal-data.md").read_text(encoding="utf-8"),
        )  # fmt: skip
        first_guidelines(campaign)
        add_usual_sources(campaign)
        _add_items(campaign, [row[0] for row in rows], grouping, progress or (lambda done, total: None))
        record(created_by, AuditAct.CAMPAIGN_OPENED, pool=pool, about=f"{len(rows)} triples to judge")
        _refresh_statistics()
    return campaign


def question_sides(triples: np.ndarray, provenance: list[bytes], seeds: np.ndarray) -> np.ndarray:
    """Side (tail 0, head 1) of the question that found each triple at the best rank; in a tie the tail's.

    Without provenance a triple belongs to the tail question of a seed that has its head and relation.
    triples int[n, 3]; provenance: n packed findings; seeds int[m, 3]. Returns int8[n].
    """
    lengths = np.array([len(packed) for packed in provenance], dtype=np.int64) // PROVENANCE.itemsize
    findings = np.frombuffer(b"".join(provenance), dtype=PROVENANCE)
    asked = set(map(tuple, seeds[:, :2].tolist()))
    sides = np.array(
        [0 if pair in asked else 1 for pair in map(tuple, triples[:, :2].tolist())], dtype=np.int8
    )
    found = lengths > 0
    if found.any():
        best_first = findings["rank"].astype(np.int64) * 2 + findings["side"]
        starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])[found]
        sides[found] = np.minimum.reduceat(best_first, starts) % 2
    return sides


def group_randomly(triples: np.ndarray, sides: np.ndarray, rng: np.random.Generator) -> Grouping:
    """Groups in random order, and random within: neither system, rank nor score has a part in it."""
    given = np.where(sides == 0, triples[:, 0], triples[:, 2])
    questions = np.stack([sides.astype(np.int64), triples[:, 1], given], axis=1)
    unique, group = np.unique(questions, axis=0, return_inverse=True)
    group = rng.permutation(len(unique))[group.reshape(-1)]
    return Grouping(sides, group, np.lexsort((rng.random(len(triples)), group)))


def _add_items(
    campaign: Campaign, triple_ids: list[int], grouping: Grouping, progress: Callable[[int, int], None]
) -> None:
    names = (Side.TAIL, Side.HEAD)
    total = len(triple_ids)
    for start in range(0, total, _BATCH):
        items = Item.objects.bulk_create(
            Item(
                campaign=campaign, triple_id=triple_ids[i], group=int(grouping.group[i]), order=order,
                side=names[grouping.side[i]],
            )
            for order, i in enumerate(grouping.order[start : start + _BATCH].tolist(), start)
        )  # fmt: skip
        Slot.objects.bulk_create(Slot(item=item, number=number) for item in items for number in (1, 2))
        progress(min(start + _BATCH, total), total)


def _refresh_statistics() -> None:
    """Tell PostgreSQL's planner of the new rows now: until it notices by itself, a claim reads whole tables."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f"ANALYZE {Item._meta.db_table}, {Slot._meta.db_table}")


def get_campaign(pool_name: str) -> Campaign:
    """The campaign of a pool by name; CampaignError names those there are."""
    campaign = Campaign.objects.select_related("pool__graph").filter(pool__name=pool_name).first()
    if campaign is None:
        names = ", ".join(Campaign.objects.order_by("pool__name").values_list("pool__name", flat=True))
        raise CampaignError(
            f"There is no campaign of a pool {pool_name!r}. "
            f"Campaigns: {names or 'none yet; open_campaign makes one'}."
        )
    return campaign
