"""Make pools: seeds, candidates of every system, filter. One function writes the rows of built and imported pools."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, Unpack

import numpy as np
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from core import clock
from core.database import held, insert_rows, named_once
from core.enums import LIVE
from core.files.lines import SENT, Bounds
from core.jobs.fencing import fenced
from core.jobs.progress import Progress
from core.models import Job
from core.people.audit_log import record
from pooling.enums import PoolingAct, PoolingJob, PoolOrigin, PoolRule, PoolState
from pooling.errors import PoolError
from pooling.graphs.kernels.graph_arrays import GraphArrays, Ids
from pooling.graphs.opening import open_graph
from pooling.models import Graph, Pool, Run, SeedTriple, System
from pooling.pools import filtering as filters
from pooling.pools.diagnosis import as_stored, diagnose
from pooling.pools.files import read_pool_file, read_seed_file
from pooling.pools.kernels.filters import DEFAULT_FILTERS
from pooling.pools.kernels.gathering import PROVENANCE, Gathered, gather
from pooling.pools.raw import check_raw
from pooling.pools.rows import write_rows
from pooling.pools.scoring import score_each
from pooling.pools.seeds import Sample, draw_seeds, seed_array
from pooling.questions.kernel import distinct_questions
from pooling.runs.files import read_topk
from pooling.runs.score import check_depth
from pooling.scoring.rank_rows import question_keys
from pooling.training.train import get_systems


class Finding(NamedTuple):
    """Hold the system that found a pooled triple, the side of its question, and the rank."""

    system: str
    side: str
    rank: int


def get_pool(name: str) -> Pool:
    """Find a pool by name; PoolError names the pools that there are."""
    pool = Pool.objects.select_related("graph").filter(name=name).first()
    if pool is None:
        known = ", ".join(Pool.objects.order_by("name").values_list("name", flat=True)) or "none yet"
        raise PoolError(f"There is no pool {name!r}. Pools: {known}.")
    return pool


def unpack_provenance(packed: bytes | memoryview, contributors: Sequence[str]) -> list[Finding]:
    """Return the findings of a pooled triple from its packed provenance."""
    records = np.frombuffer(bytes(packed), dtype=PROVENANCE)
    return [
        Finding(contributors[record["system"]], "head" if record["side"] else "tail", int(record["rank"]))
        for record in records
    ]


# -- making -----------------------------------------------------------------------------------------------------


def create_pool(
    graph: Graph,
    *,
    name: str,
    systems: Sequence[str] | None = None,
    depth: int = 10,
    rule: str = PoolRule.FILTERED,
    score_again: bool = False,
    filters: Sequence[str] = DEFAULT_FILTERS,
    seeds_file: Path | None = None,
    **sample: Unpack[Sample],
) -> Pool:
    """Make the row and the seeds of a pool; a BUILD_POOL job gathers the rest (build_pool).

    Seeds come from a file, or are drawn: a share or a count of the test triples (draw_seeds). With the rule raw the
    job scores again what runs hold without raw positions; PoolError if there is any, unless `score_again`.
    """
    check_name(name)
    chosen = get_systems(graph, systems)
    check_depth(depth, chosen)
    arrays = open_graph(graph)
    seeds, source = chosen_seeds(arrays, seeds_file, sample)
    if rule == PoolRule.RAW:
        check_raw(chosen, seeds, arrays, score_again)
    with named_once(lambda: check_name(name)):
        held(graph, *chosen)
        pool = Pool.objects.create(
            graph=graph,
            name=name,
            origin=PoolOrigin.BUILT,
            depth=depth,
            rule=PoolRule(rule),
            seed_source=source[:200],
            contributors=[s.name for s in chosen],
            filters=list(filters),
        )
        pool.systems.set(chosen)
        store_seeds(pool, seeds)
    return pool


def chosen_seeds(
    graph: GraphArrays, file: Path | None, sample: Sample, without: Ids | None = None
) -> tuple[np.ndarray, str]:
    """Return the seed triples int32[n, 3] of a file, or drawn ones, and where they come from in words."""
    return (read_seed_file(file, graph), file.name) if file else draw_seeds(graph, without=without, **sample)


def check_name(name: str) -> None:
    """Raise PoolError unless a new pool can have this name."""
    if not re.fullmatch(r"[-a-zA-Z0-9_]{1,80}", name):
        raise PoolError(f"Pool name {name!r}: use letters, digits, - and _, at most 80.")
    if name == "new":
        raise PoolError("Pool name 'new' is the address of the page that builds pools: choose another name.")
    if Pool.objects.filter(name=name).exists():
        raise PoolError(f"There is a pool {name!r} already: choose another name, or go on with that one.")


def unfinished_pool(graph: Graph, name: str) -> Pool | None:
    """Find the built pool of this name whose building was interrupted or failed."""
    unfinished = Pool.objects.filter(graph=graph, name=name, origin=PoolOrigin.BUILT)
    return unfinished.exclude(state=PoolState.READY).first()


def store_seeds(pool: Pool, seeds: np.ndarray) -> None:
    """Write the rows of seeds int[n, 3] that the pool does not have yet."""
    rows = ((pool.pk, h, r, t) for h, r, t in seeds.tolist())
    insert_rows(SeedTriple, ("pool", "head", "relation", "tail"), rows)


def build_pool(pool: Pool, progress: Progress) -> None:
    """Score what is missing, gather, filter, store, then rank everything pooled. Safe to run twice."""
    graph = open_graph(pool.graph)
    seeds = seed_array(pool)
    systems = list(pool.systems.order_by("id"))
    if pool.state != PoolState.READY:
        score_each("candidates", systems, pool, progress)
        gathered = gather_runs(pool.contributors, systems, seeds, pool.depth, graph, pool.is_raw)
        store_pooled(pool, gathered, seeds, graph)
        tell_of_short_runs(systems, pool.depth, progress, pool.is_raw)
        if idle := filters.why_types_idle(graph, pool.filters):
            progress.log(idle)
        size, lists = pool.triples.count(), f"{pool.rule} lists"
        progress.log(f"pooled {size} triples from {len(systems)} systems at depth {pool.depth} of their {lists}")
    score_each("rank rows", systems, pool, progress)


def tell_of_short_runs(systems: Iterable[System], depth: int, progress: Progress, raw: bool) -> None:
    """Log the imported runs that cannot fill the depth."""
    for run in Run.objects.select_related("system").filter(system__in=[s for s in systems if s.is_imported]):
        longest = run.system.settings.get("longest", run.depth) if raw else run.depth
        what = "entities in its longest list" if raw else "candidates of a question at most"
        if longest < depth:
            progress.log(f"{run.system.name} was imported with {longest:,} {what}: it gives these")


def gather_runs(
    contributors: Sequence[str], systems: Sequence[System], seeds: np.ndarray, depth: int, graph: GraphArrays, raw: bool
) -> Gathered:
    """Gather the first candidates in the systems' runs for both questions of the seeds int[n, 3].

    With `raw` those among the first of the full lists; ranks then count from the top of these. A finding names its
    system by its index in `contributors`; contributors outside `systems` find nothing.
    """
    questions = distinct_questions(seeds)
    keys = question_keys(questions, *graph.shape)
    runs = {run.system.name: run for run in Run.objects.select_related("system__graph").filter(system__in=systems)}
    none = np.zeros((len(keys), 0), dtype=np.int32)
    # a question whose every entity is known has no candidate
    held = [read_topk(runs[name]) if name in runs else None for name in contributors]
    candidates = [none if topk is None else topk.raw_of(keys, depth) if raw else topk.of(keys) for topk in held]
    return gather(questions, candidates, depth)


def store_pooled(pool: Pool, gathered: Gathered, seeds: np.ndarray, graph: GraphArrays) -> None:
    """Filter the triples and write them, all or none."""
    if not len(gathered.triples):
        nothing = "no system returned a candidate that is not known already"
        if pool.origin == PoolOrigin.IMPORTED:
            kinds = "; ".join(f"{entry['kind']}: {entry['count']}" for entry in pool.report)
            nothing = f"no line of its file can be pooled ({kinds})" if kinds else "its file has no lines"
        raise PoolError(f"Pool {pool.name} is empty: {nothing}.")
    reason = filters.reasons(gathered, seeds, graph, pool.filters)
    with fenced():
        pool.triples.all().delete()
        write_rows(pool, gathered, reason, np.arange(len(reason)))
        Pool.objects.filter(pk=pool.pk).update(state=PoolState.READY)
    pool.state = PoolState.READY


def run_build_pool(job: Job, progress: Progress) -> None:
    """Build the pool, then store the predictive distributions of its systems (params: predictive)."""
    assert job.pool is not None
    ended = Pool.objects.filter(pk=job.pool.pk, state__in=[PoolState.FAILED, PoolState.CANCELLED])
    with fenced(further=False):
        ended.update(state=PoolState.BUILDING)
    build_pool(job.pool, progress)
    if job.params.get("predictive", True):
        score_each("distributions", list(job.pool.systems.order_by("id")), job.pool, progress)


def import_pool(
    graph: Graph,
    *,
    name: str,
    file: Path,
    seeds_file: Path,
    filters: Sequence[str] = DEFAULT_FILTERS,
    user: User | None = None,
    bounds: Bounds = SENT,
) -> Pool:
    """Import a pool made elsewhere: its file names triples, depths, and perhaps who found them.

    Lines that cannot be pooled (known facts, seeds, repeats, unknown entities) are left out and listed in the report.
    Nobody says by which rule it was pooled; `diagnosis` holds what its candidates tell.
    """
    check_name(name)
    arrays = open_graph(graph)
    seeds = read_seed_file(seeds_file, arrays, bounds)
    read = read_pool_file(file, seeds, arrays, bounds=bounds)
    with named_once(lambda: check_name(name)):
        held(graph)
        pool = Pool.objects.create(
            graph=graph,
            name=name,
            origin=PoolOrigin.IMPORTED,
            depth=int(read.gathered.depth.max(initial=1)),
            rule=PoolRule.UNKNOWN,
            seed_source=seeds_file.name[:200],
            contributors=read.contributors,
            filters=list(filters),
            report=read.report,
            diagnosis=as_stored(diagnose(read.gathered, seeds, arrays)),
        )
        store_seeds(pool, seeds)
        store_pooled(pool, read.gathered, seeds, arrays)
        record(user, PoolingAct.POOL_IMPORTED, pool=pool, about=name)
    return pool


def freeze_pool(pool: Pool, user: User | None = None) -> None:
    """Freeze a pool for good: it neither grows nor is filtered anew. PoolError if it cannot be frozen now."""
    with transaction.atomic():
        held(pool)
        found = Pool.objects.get(pk=pool.pk)
        if found.state != PoolState.READY:
            raise PoolError(f"Pool {pool.name} is {found.get_state_display()}: freeze it when it is ready.")
        if found.frozen_at is not None:
            raise PoolError(f"Pool {pool.name} was frozen on {found.frozen_at:%Y-%m-%d} already.")
        if (job := live_extensions(found).first()) is not None:
            raise PoolError(f"Pool {pool.name} is being extended (job {job.pk}): wait for its end, or cancel it.")
        found.frozen_at = clock.now()
        found.save(update_fields=["frozen_at"])
        record(user, PoolingAct.POOL_FROZEN, pool=found, about=found.name)
    pool.frozen_at = found.frozen_at


def live_extensions(pool: Pool) -> QuerySet[Job]:
    """Return the jobs that extend the pool and are not over, oldest first."""
    return pool.jobs.filter(kind=PoolingJob.EXTEND_POOL, state__in=LIVE).order_by("id")
