"""Make pools deeper, or add systems or seeds to them; judgements and rows stay.

An extension is a job. It first scores what is missing and gathers anew, so that a grown pool can be evaluated at once
and a cancelled or killed extension changes nothing. Then it stores everything in one transaction. Last it gives the new
triples to people, in parts; if it is stopped there, the next attempt continues.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from django.contrib.auth.models import User
from django.db import transaction

from core import clock
from core.database import gone, held
from core.errors import UserError
from core.jobs.fencing import fenced
from core.jobs.lifecycle import start_job
from core.jobs.progress import JobCancelled, Progress
from core.models import AuditEntry, Job
from core.people.audit_log import record
from pooling.enums import PoolingAct, PoolingJob, PoolOrigin, PoolState, SystemState
from pooling.errors import PoolError
from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.graphs.opening import open_graph
from pooling.models import Pool, System
from pooling.pools import filtering as filters
from pooling.pools.build import chosen_seeds, gather_runs, store_seeds, tell_of_short_runs
from pooling.pools.kernels.gathering import Gathered, merge
from pooling.pools.raw import check_raw
from pooling.pools.rows import read_rows, write_rows
from pooling.pools.seeds import Sample, seed_array
from pooling.runs.distributions import predict_for_pool
from pooling.runs.score import check_depth, score_triples
from pooling.signals import pool_grew
from pooling.training.train import get_systems, systems_with_runs

MOST_CONTRIBUTORS = 256  # the index of a system in a finding is one byte
ATTEMPTS = 5  # when others change the pool at the same time


# -- asking -----------------------------------------------------------------------------------------------------


def extend_pool(
    pool: Pool,
    *,
    depth: int | None = None,
    systems: Sequence[str] = (),
    seeds_file: Path | None = None,
    predictive: bool = True,
    score_again: bool = False,
    user: User | None = None,
    **sample: Unpack[Sample],
) -> Job:
    """Start the job that makes the pool deeper, or adds systems or seeds; PoolError if it cannot.

    `depth` is the new depth. Seeds come from a file, or are drawn from the other test triples (draw_seeds).
    `predictive`: also store the distributions that max-k reads. `score_again`: as in create_pool.
    """
    if (found := Pool.objects.select_related("graph").filter(pk=pool.pk).first()) is None:
        raise gone(pool)
    pool = found
    if why := why_it_stays(pool):
        raise PoolError(why)
    chosen = get_systems(pool.graph, systems) if systems else []
    _check_systems(pool, chosen)
    _check_depth(pool, depth, chosen)
    seeds, source = _new_seeds(pool, seeds_file, sample)
    if seeds and not chosen and not pool.systems.exists():
        raise PoolError(
            f"Pool {pool.name} was made elsewhere, and its systems are not on this site. "
            "Name systems of this site together with the seeds."
        )
    if depth is None and not chosen and not seeds:
        raise PoolError("Nothing is asked for: give a depth, systems or seeds.")
    if pool.is_raw:
        graph = open_graph(pool.graph)
        every = np.concatenate([seed_array(pool), graph.test[np.array(seeds, dtype=np.int64)]])
        check_raw([*pool.systems.all(), *chosen], every, graph, score_again)
    params = {"depth": depth, "systems": [s.name for s in chosen], "seeds": seeds, "seed_source": source}
    if not predictive:
        params["predictive"] = False
    with transaction.atomic():
        held(pool.graph, *chosen)
        job = start_job(PoolingJob.EXTEND_POOL, pool=pool, params=params, user=user)
        what = _in_words(pool.depth, depth or 0, [s.name for s in chosen], len(seeds), source)
        if not AuditEntry.objects.filter(act=PoolingAct.POOL_EXTENDED, pool=pool, details__job=job.pk).exists():
            record(user, PoolingAct.POOL_EXTENDED, pool=pool, about=f"{pool.name}: {what}", job=job.pk)
    return job


def why_it_stays(pool: Pool) -> str:
    """Say why the pool cannot grow, now or any more; '' if it can."""
    if pool.state != PoolState.READY:
        return f"Pool {pool.name} is {pool.get_state_display()}: extend it when it is ready."
    if pool.frozen_at is not None:
        return f"Pool {pool.name} was frozen on {pool.frozen_at:%Y-%m-%d} and does not grow: build another pool."
    return ""


def _check_depth(pool: Pool, depth: int | None, chosen: Sequence[System]) -> None:
    if depth is not None and pool.origin == PoolOrigin.IMPORTED:
        raise PoolError(
            f"Pool {pool.name} was made elsewhere to depth {pool.depth}, and what its systems returned below is "
            "not here: it grows by systems and seeds, not by depth."
        )
    if depth is not None and depth <= pool.depth:
        raise PoolError(f"Depth {depth}: pool {pool.name} has depth {pool.depth} already; give more.")
    check_depth(depth or pool.depth, [*(pool.systems.all() if depth else ()), *chosen])


def _check_systems(pool: Pool, chosen: Sequence[System]) -> None:
    own = list(pool.systems.all())
    if has := [system.name for system in chosen if system in own]:
        raise PoolError(f"Pool {pool.name} has {', '.join(has)} already.")
    if elsewhere := [system.name for system in chosen if system.name in pool.contributors]:
        raise PoolError(
            f"Pool {pool.name} came with findings of another {', '.join(elsewhere)}, and one name would stand for "
            "two systems: clone the system under a name of its own, and add the clone."
        )
    if len(pool.contributors) + len(chosen) > MOST_CONTRIBUTORS:
        raise PoolError(f"Pool {pool.name} would have more than {MOST_CONTRIBUTORS} systems: add fewer.")


def _new_seeds(pool: Pool, file: Path | None, sample: Sample) -> tuple[list[int], str]:
    """Return the indices in test of new seeds, ascending, and where they come from."""
    is_sample = sample.get("sample") is not None or sample.get("count") is not None
    if not is_sample and file is None:
        return [], ""
    if is_sample and file is not None:
        raise PoolError("Give a sample of seeds or a file of them, not both.")
    graph, known = open_graph(pool.graph), seed_array(pool)
    taken = set(map(tuple, known.tolist()))
    if len(taken) == len(graph.test):
        raise PoolError(f"All test triples of {pool.graph.name} are seeds of pool {pool.name} already.")
    triples, source = chosen_seeds(graph, file, sample, known)
    asked = set(map(tuple, triples.tolist())) - taken
    if not asked:
        raise PoolError(f"{source}: pool {pool.name} has all of these seeds already.")
    return [place for place, triple in enumerate(map(tuple, graph.test.tolist())) if triple in asked], source


def _in_words(old_depth: int, depth: int, systems: Sequence[str], seeds: int, source: str) -> str:
    parts = []
    if depth > old_depth:
        parts.append(f"depth {old_depth} to {depth}")
    if systems:
        parts.append(f"system{'s' if len(systems) > 1 else ''} {', '.join(systems)}")
    if seeds:
        parts.append(f"{seeds:,} seed{'s' if seeds > 1 else ''} ({source})")
    return "; ".join(parts)


# -- doing ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Target:
    """Hold what the pool will be.

    systems: all whose runs are gathered; new_seeds and seeds int32[n, 3]: the added ones, and all; what: what is new,
    in words.
    """

    pool: Pool
    depth: int
    systems: list[System]
    contributors: list[str]
    new_seeds: np.ndarray
    seeds: np.ndarray
    source: str
    what: str


def run_extend_pool(job: Job, progress: Progress) -> None:
    assert job.pool is not None
    grow(job.pool, job.params, progress)
    if job.params.get("predictive", True):
        _predict_everywhere(job.pool, progress)


def grow(pool: Pool, asked: dict[str, Any], progress: Progress) -> None:
    """Do what extend_pool asked for. Safe to run twice: what the pool has already is skipped."""
    graph = open_graph(pool.graph)
    for _ in range(ATTEMPTS):
        target = _target(Pool.objects.select_related("graph").get(pk=pool.pk), asked, graph)
        if not target.what:
            progress.log(f"pool {pool.name} has all of it")
            break
        if why := why_it_stays(target.pool):
            raise PoolError(why)
        _check_meanwhile(target)
        for system in target.systems:
            score_triples(system, target.seeds, graph.test, progress, raw=pool.is_raw)
        tell_of_short_runs(target.systems, target.depth, progress, pool.is_raw)
        fresh = gather_runs(target.contributors, target.systems, target.seeds, target.depth, graph, pool.is_raw)
        _, old, old_reason = read_rows(target.pool)
        grown = merge(old, fresh)
        _score_everywhere(target, np.unique(np.concatenate([grown.triples, graph.test]), axis=0), progress)
        progress.check()
        if _store(target, old, old_reason, grown, graph, progress):
            break
    else:
        raise PoolError(f"Others keep changing pool {pool.name}; start this job again when they are done.")
    try:
        pool_grew.send(sender=Pool, pool=pool, tell=progress.teller("giving new triples to people", "triples"))
    except JobCancelled:
        progress.log(f"{pool.name} has grown; to give people the rest of its triples, start this job again")
        raise


def _target(pool: Pool, asked: dict[str, Any], graph: GraphArrays) -> _Target:
    own = list(pool.systems.order_by("id"))
    names = [name for name in asked["systems"] if name not in {system.name for system in own}]
    added = get_systems(pool.graph, names) if names else []
    depth = max(pool.depth, asked["depth"] or 0)
    _check_systems(pool, added)
    seeds = seed_array(pool)
    known = set(map(tuple, seeds.tolist()))
    asked_seeds = graph.test[np.array(asked["seeds"], dtype=np.int64)]
    new_seeds = np.array(
        [triple for triple in map(tuple, asked_seeds.tolist()) if triple not in known], dtype=np.int32
    ).reshape(-1, 3)
    return _Target(
        pool=pool,
        depth=depth,
        systems=own + added,
        contributors=[*pool.contributors, *names],
        new_seeds=new_seeds,
        seeds=np.concatenate([seeds, new_seeds]),
        source=asked["seed_source"],
        what=_in_words(pool.depth, depth, names, len(new_seeds), asked["seed_source"]),
    )


def _check_meanwhile(target: _Target) -> None:
    """Repeat the checks of extend_pool: another extension may have changed depth or systems since."""
    pool, deeper = target.pool, target.depth > target.pool.depth
    own = set(pool.systems.values_list("pk", flat=True))
    added = [system for system in target.systems if system.pk not in own]
    try:
        if deeper or added:
            _check_depth(pool, target.depth if deeper else None, added)
    except PoolError as error:
        raise PoolError(f"Another job has extended pool {pool.name} since this was asked. {error}") from error


def _score_everywhere(target: _Target, triples: np.ndarray, progress: Progress) -> None:
    """Make rank rows of the triples for the pool's systems, and for other ranked systems of the graph."""
    for system in target.systems:
        score_triples(system, target.seeds, triples, progress)
    ranked = target.pool.graph.systems.filter(state=SystemState.TRAINED, archived=False, run__isnull=False)
    for system in ranked.exclude(pk__in=[system.pk for system in target.systems]).order_by("id"):
        try:
            score_triples(system, target.seeds, triples, progress)
        except UserError as error:
            # not a system of the pool: evaluations leave it out and say so until score_runs has filled it in
            progress.log(f"{system.name} has no rank rows of the new triples: {error}")


def _predict_everywhere(pool: Pool, progress: Progress) -> None:
    """Store distributions of all ranked systems; last, since people and evaluations need not wait for them."""
    own = set(pool.systems.values_list("pk", flat=True))
    for system in systems_with_runs(pool):
        try:
            predict_for_pool(system, pool, progress)
        except UserError as error:
            if system.pk in own:
                raise
            progress.log(f"{system.name} has no predictive distributions of the new triples: {error}")


def _store(
    target: _Target, old: Gathered, old_reason: np.ndarray, grown: Gathered, graph: GraphArrays, progress: Progress
) -> bool:
    """Write everything in one transaction; write nothing and return False if the pool has changed meanwhile."""
    n = len(old.triples)
    unnamed = filters.unnamed_finders(target.pool, grown)
    reason = filters.reasons(grown, target.seeds, graph, target.pool.filters, unnamed)
    with fenced():
        pool = Pool.objects.select_for_update().get(pk=target.pool.pk)
        if _state_of(pool) != _state_of(target.pool):
            return False
        # Items of a campaign stay items. Without a campaign, a triple that another question found may be filtered;
        # no triple is freed, since findings are only added.
        if filters.has_campaign(pool):
            reason[:n] = old_reason
        changed = np.full(len(reason), True)
        changed[:n] = (grown.depth[:n] != old.depth) | (np.diff(grown.indptr)[:n] != np.diff(old.indptr))
        changed[:n] |= reason[:n] != old_reason
        write_rows(pool, grown, reason, np.flatnonzero(changed))
        store_seeds(pool, target.new_seeds)
        pool.systems.add(*target.systems)
        when = clock.now().isoformat(timespec="seconds")
        entry = {"when": when, "what": target.what, "triples": len(reason) - n, "job": progress.job.pk}
        pool.depth, pool.contributors = target.depth, target.contributors
        pool.growth = filters.growth_now([*pool.growth, entry], reason)
        if len(target.new_seeds):
            pool.seed_source = f"{pool.seed_source}; {target.source}"[:200]
        pool.save(update_fields=["depth", "contributors", "growth", "seed_source"])
    entry = pool.growth[-1]
    progress.log(f"{target.what}: {entry['triples']:,} new triples, {entry['to_people']:,} to people")
    return True


def _state_of(pool: Pool) -> tuple[object, ...]:
    return pool.state, pool.frozen_at, pool.depth, pool.contributors, pool.filters, pool.growth
