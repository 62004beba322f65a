"""Count what a pool has at each stage, and what was pooled, by which systems, with what labels."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet

from annotation.enums import ItemState, SlotState, Verdict
from annotation.models import Campaign, Item, Judgement, Membership, Slot
from annotation.models.slot import ADJUDICATION
from annotation.questions.reading import unread_relations, without_words
from annotation.release.next_batch import UNRELEASED
from core.enums import LIVE, JobState
from core.models import AuditEntry, Job
from evaluation.enums import EvaluationAct, EvaluationJob, QrelsOrigin
from evaluation.labels.qrels import pooled_state, state_counts
from evaluation.models import Qrels
from pooling.enums import TO_PEOPLE, PoolingJob, PoolOrigin
from pooling.models import Pool, System
from pooling.pools.filtering import left_out
from pooling.pools.report import pool_counts, pool_families, pool_overlap


@dataclass(frozen=True)
class StageCounts:
    """Hold the counts of a pool over all stages."""

    pool: Pool
    systems: list[System]  # those of the pool; for an imported pool, those of its graph
    live_jobs: list[Job]
    scored: frozenset[int | None]  # systems with a finished job for this pool; None: the pool was built
    seeds: int
    pooled: int
    to_people: int
    unreleased: int  # of these, those that no batch of the campaign has brought to people yet
    relations_asked: int
    relations_unread: int  # of these, those with automatic words that nobody has read
    relations_without_words: int  # of the unread, those whose names are not words
    campaign: Campaign | None
    members: dict[str, int]
    items: dict[str, int]
    labels: int
    third_labels: int
    positive: int  # with the seeds
    negative: int
    judged: int  # by people or import, seeds not among them
    imported: int
    judged_since: int
    qrels: int
    exports: int  # test sets written of them, by page or by command

    def covers(self, system: System) -> bool:
        """Return whether a system's run covers this pool: scored after the pool was made, or by a job of the pool."""
        run = getattr(system, "run", None)
        if run is None:
            return False
        built_in = None in self.scored and self.pool.origin == PoolOrigin.BUILT
        return run.updated_at >= self.pool.created_at or system.pk in self.scored or built_in

    @property
    def is_under_way(self) -> bool:
        """Return whether people label or decide still, so that figures and qrels will change."""
        if self.campaign is None or self.campaign.is_closed or self.campaign.is_preparing:
            return False
        return bool(self.items.get(ItemState.OPEN) or self.items.get(ItemState.DISPUTED) or self.unreleased)

    @property
    def rank_rows(self) -> int:
        return sum(system.run.num_rank_rows for system in self.systems if hasattr(system, "run"))


def stage_counts(pool: Pool) -> StageCounts:
    """Count what the status page says about each stage of a pool."""
    triples = pool.triples.aggregate(
        pooled=Count("id"),
        to_people=Count("id", filter=Q(reason=TO_PEOPLE)),
        unreleased=Count("id", filter=UNRELEASED),
        relations_asked=Count("relation", distinct=True, filter=Q(reason=TO_PEOPLE)),
    )
    of_pool = Q(pool=pool) | Q(kind=PoolingJob.TRAIN, system__graph=pool.graph)
    found = Job.objects.filter(of_pool).filter(Q(state__in=LIVE) | Q(state=JobState.DONE, pool=pool)).order_by("id")
    jobs = list(found.select_related("system__graph").defer("log"))
    slots = Slot.objects.filter(item__campaign__pool=pool, state=SlotState.ANSWERED).aggregate(
        labels=Count("id", filter=~Q(number=ADJUDICATION)), third_labels=Count("id", filter=Q(number=ADJUDICATION))
    )
    frozen = Qrels.objects.filter(pool=pool, origin=QrelsOrigin.FROZEN).aggregate(
        n=Count("id", distinct=True),
        last=Max("created_at"),
        exports=Count("exports", distinct=True, filter=~Q(exports__sha256="")),
    )
    judged = _judged(pool, frozen["last"])
    positive = judged.pop("positive")
    done = [job for job in jobs if job.state == JobState.DONE]
    seeds = pool.seeds.count()
    unread = unread_relations(pool) if triples["to_people"] else []
    return StageCounts(
        pool=pool,
        systems=_systems(pool),
        live_jobs=[job for job in jobs if job.state != JobState.DONE],
        scored=frozenset(job.system_id for job in done if job.kind != EvaluationJob.EVALUATE),
        seeds=seeds,
        relations_unread=len(unread),
        relations_without_words=len(without_words(unread)),
        campaign=Campaign.objects.filter(pool=pool).first(),
        members=_by(Membership.objects.filter(campaign__pool=pool), "role"),
        items=_by(Item.objects.filter(campaign__pool=pool), "state"),
        positive=seeds + positive,
        judged=positive + judged["negative"],
        qrels=frozen["n"],
        exports=frozen["exports"] + AuditEntry.objects.filter(pool=pool, act=EvaluationAct.TEST_SET_EXPORTED).count(),
        **triples,
        **slots,
        **judged,
    )


def _systems(pool: Pool) -> list[System]:
    in_pool = Exists(System.pools.through.objects.filter(pool=pool, system=OuterRef("pk")))
    systems = System.objects.filter(graph=pool.graph).select_related("run").annotate(in_pool=in_pool).order_by("id")
    imported = pool.origin == PoolOrigin.IMPORTED  # any system of its graph may be ranked
    return [s for s in systems if s.in_pool or (imported and not s.archived)]


def _judged(pool: Pool, since: datetime | None) -> dict[str, int]:
    later = Q(decided_at__gt=since) if since is not None else Q(pk__isnull=True)
    return Judgement.objects.filter(pool=pool).aggregate(
        positive=Count("id", filter=Q(verdict=Verdict.POSITIVE)),
        negative=Count("id", filter=Q(verdict=Verdict.NEGATIVE)),
        imported=Count("id", filter=Q(origin="import")),
        judged_since=Count("id", filter=later),
    )


def _by(rows: QuerySet[Any], column: str) -> dict[str, int]:
    return dict(rows.order_by().values_list(column).annotate(n=Count("id")))


def pool_report(pool: Pool) -> dict[str, Any]:
    """Return counts by reason, category, depth, system and family, states of the triples, and the overlap of systems.

    `left_out` counts known facts and repeated findings, which no filter takes since no pool holds them.
    """
    by_depth = pool.triples.order_by("depth").values_list("depth").annotate(n=Count("id"))
    names = pool.contributors
    together, alone = pool_overlap(pool)
    return {
        **pool_counts(pool),
        "rule": pool.rule,
        "diagnosis": pool.diagnosis or None,
        "left_out": left_out(pool)._asdict(),
        "by_depth": {str(depth): n for depth, n in by_depth},
        "by_system": {name: int(together[i, i]) for i, name in enumerate(names)},
        "only_by": {name: int(alone[i]) for i, name in enumerate(names)},
        "families": pool_families(pool),
        "overlap": {a: {b: int(together[i, j]) for j, b in enumerate(names)} for i, a in enumerate(names)},
        **state_counts(pooled_state(pool)[1]),
    }
