"""Filter pooled triples: find the assumed negatives and why, and choose other filters for an existing pool."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from django.contrib.auth.models import User
from django.db.models import Q, Sum
from django.db.models.functions import Length

from core.database import held
from core.enums import LIVE
from core.jobs.fencing import fenced
from core.jobs.progress import Progress
from core.models import Job
from core.people.audit_log import record
from pooling.enums import PoolingAct, PoolingJob, PoolOrigin, PoolState
from pooling.errors import PoolError
from pooling.graphs.kernels.graph_arrays import GraphArrays, Ids
from pooling.graphs.opening import open_graph
from pooling.models import Pool
from pooling.pools.kernels.filter_base import FilterInput
from pooling.pools.kernels.filters import TYPES, apply_filters, reason_label
from pooling.pools.kernels.gathering import PROVENANCE, Gathered
from pooling.pools.rows import read_rows
from pooling.pools.seeds import seed_array
from pooling.signals import is_judged

_BATCH = 5000  # rows in one statement


def found_by(
    gathered: Gathered, seeds: np.ndarray, graph: GraphArrays, unnamed: np.ndarray | None = None
) -> FilterInput:
    """Return pooled triples as filters see them.

    The `unnamed`, bool[n], count as found by every seed question that they answer; by default those without a finding.
    """
    triples = gathered.triples
    counts = np.diff(gathered.indptr)
    owner = np.repeat(np.arange(len(triples)), counts)
    by_tail, by_head = np.zeros(len(triples), bool), np.zeros(len(triples), bool)
    by_tail[owner[gathered.findings["side"] == 0]] = True
    by_head[owner[gathered.findings["side"] == 1]] = True
    unnamed = counts == 0 if unnamed is None else unnamed
    if unnamed.any():
        tail, head = answered(triples, seeds, graph.num_entities)
        by_tail |= unnamed & tail
        by_head |= unnamed & head
    return FilterInput(
        triples, by_tail, by_head, graph.categories, graph.types, graph.domains, graph.ranges, graph.train
    )


def unnamed_finders(pool: Pool, gathered: Gathered) -> np.ndarray:
    """Tell which triples of an imported pool came without a finder, bool[n]; `gathered` begins as the pool does.

    What systems here found since does not tell who had found them there.
    """
    n = len(gathered.triples)
    named = np.zeros(n, dtype=bool)
    if pool.origin != PoolOrigin.IMPORTED:
        return named
    contributors_there = len(pool.contributors) - pool.systems.count()  # systems of this site came later, at the end
    owner = np.repeat(np.arange(n), np.diff(gathered.indptr))
    named[owner[gathered.findings["system"] < contributors_there]] = True
    of_file = pool.triples.count() - sum(entry["triples"] for entry in pool.growth)
    named[of_file:] = True
    return ~named


def answered(triples: Ids, seeds: Ids, num_entities: int) -> tuple[np.ndarray, np.ndarray]:
    """Tell which triples int32[n, 3] answer a tail question and a head question of seeds int32[m, 3]; bool[n] each."""

    def keys(of: Ids, column: int) -> np.ndarray:
        return of[:, 1].astype(np.int64) * num_entities + of[:, column]

    return np.isin(keys(triples, 0), keys(seeds, 0)), np.isin(keys(triples, 2), keys(seeds, 2))


def reasons(
    gathered: Gathered, seeds: np.ndarray, graph: GraphArrays, names: Sequence[str], unnamed: np.ndarray | None = None
) -> np.ndarray:
    """Return the filter that takes each triple, '' if people judge it, str[n]; `unnamed` as in found_by."""
    return apply_filters(found_by(gathered, seeds, graph, unnamed), names)


def why_types_idle(graph: GraphArrays, names: Sequence[str]) -> str:
    """Say why the filter `types`, where it is among `names`, can take nothing in this graph; '' where it can."""
    if TYPES not in names:
        return ""
    idle = f"so the filter “{reason_label(TYPES)}” takes nothing."
    needs_none = f"“{reason_label('types-entailed')}” needs none."
    if not any(graph.types):
        return f"The graph declares no types of entities, {idle} {needs_none}"
    if not any(graph.domains) and not any(graph.ranges):
        return f"The graph gives no domain and no range of a relation, {idle}"
    return ""


# -- other filters for an existing pool ---------------------------------------------------------------------


def has_campaign(pool: Pool) -> bool:
    """Return whether a campaign has made its items of what the pool's filters left; the app above answers."""
    return any(answer for _, answer in is_judged.send(sender=Pool, pool=pool))


def why_filters_stay(pool: Pool) -> str:
    """Say why the filters of a pool cannot be changed, now or any more; '' if they can."""
    if pool.frozen_at:
        return f"Pool {pool.name} is frozen: its filters stay as they are."
    if has_campaign(pool):
        return f"Pool {pool.name} has a campaign: people judge what its filters left, so they stay as they are."
    making = Q(kind__in=(PoolingJob.BUILD_POOL, PoolingJob.EXTEND_POOL))
    if Job.objects.filter(making, pool=pool, state__in=LIVE).exists():
        return f"Pool {pool.name} is being built or extended: change its filters when that job is done."
    if pool.state != PoolState.READY:
        return f"Pool {pool.name} is {pool.state}: its filters can be changed once it is ready."
    return ""


def filter_counts(pool: Pool, names: Sequence[str]) -> dict[str, int]:
    """Count the pooled triples that each of these filters would take, by name in their order; '' for people."""
    _, gathered, _ = read_rows(pool)
    taken = Counter(_reasons_of(pool, gathered, names).tolist())
    return {name: taken[name] for name in (*names, "")}


def _reasons_of(pool: Pool, gathered: Gathered, names: Sequence[str]) -> np.ndarray:
    unnamed = unnamed_finders(pool, gathered)
    return reasons(gathered, seed_array(pool), open_graph(pool.graph), names, unnamed)


def refilter_pool(pool: Pool, names: Sequence[str], user: User | None = None) -> int:
    """Filter a pool by other filters and count the triples that changed their reason; PoolError if it must stay.

    Labels made elsewhere stay: a label beats a filter.
    """
    with fenced():
        held(pool)
        found = Pool.objects.select_related("graph").get(pk=pool.pk)
        if why := why_filters_stay(found):
            raise PoolError(why)
        ids, gathered, old = read_rows(found)
        new = _reasons_of(found, gathered, names)
        changed = new != old
        for name in dict.fromkeys(new[changed].tolist()):
            rows = ids[changed & (new == name)].tolist()
            for at in range(0, len(rows), _BATCH):
                found.triples.filter(pk__in=rows[at : at + _BATCH]).update(reason=name)
        growth = growth_now(found.growth, new)
        Pool.objects.filter(pk=found.pk).update(filters=list(names), growth=growth)
        about = f"{', '.join(names) or 'none'}: {np.count_nonzero(new != '')} of {len(new)} filtered"
        record(user, PoolingAct.POOL_FILTERED, pool=found, about=about)
    pool.filters, pool.growth = list(names), growth
    return int(changed.sum())


def run_filter_pool(job: Job, progress: Progress) -> None:
    """Filter the pool of a job by the filters of its params."""
    assert job.pool is not None
    changed = refilter_pool(job.pool, job.params["filters"], job.created_by)
    progress.log(f"{changed:,} triples changed their reason")


def growth_now(growth: Sequence[dict[str, Any]], reason: np.ndarray) -> list[dict[str, Any]]:
    """Return Pool.growth with the triples of each entry that are for people now; reason str[n] in pool order."""
    counted, start = [], len(reason) - sum(entry["triples"] for entry in growth)
    for entry in growth:
        end = start + entry["triples"]
        counted.append({**entry, "to_people": int((reason[start:end] == "").sum())})
        start = end
    return counted


# -- triples that are always left out ---------------------------------------------------------------------------


class LeftOut(NamedTuple):
    """Count the triples that are always left out (kernels.filters.ALWAYS)."""

    known: int  # answers of the pool's questions in train, valid or unsampled test: never candidates
    duplicates: int  # findings of a triple after its first


def left_out(pool: Pool) -> LeftOut:
    """Count what the pool leaves out without a filter; reads the whole graph."""
    graph, seeds = open_graph(pool.graph), seed_array(pool)
    known = sum(
        int(sum(side.sum() for side in answered(facts, seeds, graph.num_entities)))
        for facts in (graph.train, graph.valid, graph.test)
    )
    found = pool.triples.exclude(provenance=b"")
    size = found.aggregate(size=Sum(Length("provenance")))["size"] or 0
    repeated = [entry["count"] for entry in pool.report if entry.get("kind") == "repeated triple"]
    return LeftOut(
        known - 2 * len(seeds),  # each seed answers its own two questions
        int(size) // PROVENANCE.itemsize - found.count() + sum(repeated),
    )
