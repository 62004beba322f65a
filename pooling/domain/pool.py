"""Pools: seeds, candidates of every system, filter. One function makes the rows, for built and imported pools."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from django.db import transaction
from django.db.models import Count

from pooling.domain import filter as filters
from pooling.domain.audit import record
from pooling.domain.graph import open_graph
from pooling.domain.job import JobCancelled, Progress, handles
from pooling.domain.pool_files import read_pool_file, read_seed_file
from pooling.domain.run import TOP_K, score_for_pool, score_system
from pooling.domain.run_files import read_topk
from pooling.domain.system import get_systems
from pooling.enums import AuditAct, JobKind, PoolOrigin, PoolState
from pooling.errors import PoolError
from pooling.kernels.graph import GraphArrays
from pooling.kernels.overlap import Overlap, overlap
from pooling.kernels.pool import PROVENANCE, Gathered, gather, sample_seeds
from pooling.kernels.questions import questions_of
from pooling.kernels.rows import find, question_keys
from pooling.models import Graph, Job, Pool, PooledTriple, SeedTriple, System
from pooling.systems import FAMILIES, family_of_kind

DEFAULT_FILTERS = ("category-head", "category-tail", "types")


class Finding(NamedTuple):
    """Who found a pooled triple, for which side's question, at which rank."""

    system: str
    side: str
    rank: int


def get_pool(name: str) -> Pool:
    pool = Pool.objects.select_related("graph").filter(name=name).first()
    if pool is None:
        known = ", ".join(Pool.objects.order_by("name").values_list("name", flat=True)) or "none yet"
        raise PoolError(f"There is no pool {name!r}. Pools: {known}.")
    return pool


def unpack_provenance(packed: bytes | memoryview, contributors: Sequence[str]) -> list[Finding]:
    records = np.frombuffer(bytes(packed), dtype=PROVENANCE)
    return [
        Finding(contributors[record["system"]], "head" if record["side"] else "tail", int(record["rank"]))
        for record in records
    ]


# -- making -----------------------------------------------------------------------------------------------------


def create_pool(
    graph: Graph, *, name: str, systems: Sequence[str] | None = None, depth: int = 10, sample: float | None = None,
    seed: int | None = None, seeds_file: Path | None = None, filters: Sequence[str] = DEFAULT_FILTERS,
) -> Pool:  # fmt: skip
    """The pool's row and its seeds; a BUILD_POOL job gathers the rest (build_pool)."""
    _check_name(name)
    if not 1 <= depth <= TOP_K:
        raise PoolError(
            f"Depth {depth}: a run holds the first {TOP_K} candidates of a question; give 1 to {TOP_K}."
        )
    chosen = get_systems(graph, systems)
    arrays = open_graph(graph)
    if seeds_file is not None:
        seeds, source = read_seed_file(seeds_file, arrays), seeds_file.name
    else:
        share, seed = 0.05 if sample is None else sample, 42 if seed is None else seed
        if not 0 < share <= 1:
            raise PoolError(f"Sample {share}: give a share of the test triples above 0 and at most 1.")
        if not len(arrays.test):
            raise PoolError(f"Graph {graph.name} has no test triples to sample seeds from.")
        seeds = arrays.test[sample_seeds(len(arrays.test), share, np.random.default_rng(seed))]
        source = f"sample {share:g} of test, seed {seed}"
    with transaction.atomic():
        pool = Pool.objects.create(
            graph=graph, name=name, origin=PoolOrigin.BUILT, depth=depth, seed_source=source[:200],
            contributors=[s.name for s in chosen], filters=list(filters),
        )  # fmt: skip
        pool.systems.set(chosen)
        _store_seeds(pool, seeds)
    return pool


def _check_name(name: str) -> None:
    if not re.fullmatch(r"[-a-zA-Z0-9_]{1,80}", name):
        raise PoolError(f"Pool name {name!r}: use letters, digits, - and _, at most 80.")
    if name == "new":
        raise PoolError("Pool name 'new' is the address of the page that builds pools: choose another name.")
    if Pool.objects.filter(name=name).exists():
        raise PoolError(f"There is a pool {name!r} already: choose another name, or go on with that one.")


def unfinished_pool(graph: Graph, name: str) -> Pool | None:
    """The built pool of this name whose building was interrupted or failed; None if there is none."""
    unfinished = Pool.objects.filter(graph=graph, name=name, origin=PoolOrigin.BUILT)
    return unfinished.exclude(state=PoolState.READY).first()


def _store_seeds(pool: Pool, seeds: np.ndarray) -> None:
    SeedTriple.objects.bulk_create(
        (SeedTriple(pool=pool, head=h, relation=r, tail=t) for h, r, t in seeds.tolist()), batch_size=5000
    )


def seed_array(pool: Pool) -> np.ndarray:
    """The pool's seed triples, int32[n, 3]."""
    return np.array(pool.seeds.values_list("head", "relation", "tail"), dtype=np.int32).reshape(-1, 3)


def build_pool(pool: Pool, progress: Progress) -> None:
    """Score what is missing, gather, filter, store; then the rank rows of everything pooled. Safe to run twice."""
    graph = open_graph(pool.graph)
    seeds = seed_array(pool)
    systems = list(pool.systems.order_by("id"))
    if pool.state != PoolState.READY:
        for system in systems:
            _score_seeds(system, seeds, graph, progress)
        questions, _, _ = questions_of(seeds)
        keys = question_keys(questions, graph.num_entities, graph.num_relations)
        candidates = []
        for system in sorted(systems, key=lambda s: pool.contributors.index(s.name)):
            topk = read_topk(system.run)
            place = find(topk.keys, keys)
            # a question whose every entity is known has no candidate, and no place in the run
            candidates.append(np.where((place >= 0)[:, None], topk.entity[place], -1))
        store_pooled(pool, gather(questions, candidates, pool.depth), seeds, graph)
        progress.log(
            f"pooled {pool.triples.count()} triples from {len(systems)} systems at depth {pool.depth}"
        )
    for system in systems:
        score_for_pool(system, pool, progress)


def _score_seeds(system: System, seeds: np.ndarray, graph: GraphArrays, progress: Progress) -> None:
    """First pass: candidates of the seeds' questions and, in the same pass, rank rows of all test triples."""

    def tell(done: int, total: int) -> None:
        progress.report(f"scoring {system.name}", done, total, "questions")

    score_system(system, seeds=seeds, triples=graph.test, progress=tell, should_stop=progress.should_stop)


def store_pooled(pool: Pool, gathered: Gathered, seeds: np.ndarray, graph: GraphArrays) -> None:
    """Filter the triples and write them, all or none."""
    if not len(gathered.triples):
        nothing = "no system returned a candidate that is not known already"
        if pool.origin == PoolOrigin.IMPORTED:
            kinds = "; ".join(f"{entry['kind']}: {entry['count']}" for entry in pool.report)
            nothing = f"no line of its file can be pooled ({kinds})" if kinds else "its file has no lines"
        raise PoolError(f"Pool {pool.name} is empty: {nothing}.")
    reason = filters.reasons(gathered, seeds, graph, pool.filters)
    packed = gathered.findings.tobytes()
    size = PROVENANCE.itemsize
    starts = (gathered.indptr * size).tolist()
    rows = zip(gathered.triples.tolist(), gathered.depth.tolist(), reason.tolist(), strict=True)
    with transaction.atomic():
        pool.triples.all().delete()
        PooledTriple.objects.bulk_create(
            (
                PooledTriple(
                    pool=pool, head=h, relation=r, tail=t, depth=depth, reason=why,
                    provenance=packed[starts[i] : starts[i + 1]],
                )
                for i, ((h, r, t), depth, why) in enumerate(rows)
            ),
            batch_size=5000,
        )  # fmt: skip
        Pool.objects.filter(pk=pool.pk).update(state=PoolState.READY)
    pool.state = PoolState.READY


@handles(JobKind.BUILD_POOL)
def run_build_pool(job: Job, progress: Progress) -> None:
    assert job.pool is not None
    Pool.objects.filter(pk=job.pool.pk, state=PoolState.FAILED).update(state=PoolState.BUILDING)
    try:
        build_pool(job.pool, progress)
    except InterruptedError:
        raise JobCancelled from None


def import_pool(
    graph: Graph, *, name: str, file: Path, seeds_file: Path, filters: Sequence[str] = DEFAULT_FILTERS
) -> Pool:
    """A pool made elsewhere: its file says which triples, how deep, and perhaps who found them.

    Lines that cannot be pooled (known facts, seeds, repeats, unknown entities) are left out and stand in the report.
    """
    _check_name(name)
    arrays = open_graph(graph)
    seeds = read_seed_file(seeds_file, arrays)
    read = read_pool_file(file, seeds, arrays)
    with transaction.atomic():
        pool = Pool.objects.create(
            graph=graph, name=name, origin=PoolOrigin.IMPORTED, depth=int(read.gathered.depth.max(initial=1)),
            seed_source=seeds_file.name[:200], contributors=read.contributors, filters=list(filters),
            report=read.report,
        )  # fmt: skip
        _store_seeds(pool, seeds)
        store_pooled(pool, read.gathered, seeds, arrays)
        record(None, AuditAct.POOL_IMPORTED, pool=pool, about=name)
    return pool


# -- reading ----------------------------------------------------------------------------------------------------


def pool_counts(pool: Pool) -> dict[str, Any]:
    """Counts that need no labels: seeds, pooled, filtered, to people, by reason, by relation category."""
    by_reason = {
        row["reason"]: row["n"] for row in pool.triples.order_by().values("reason").annotate(n=Count("id"))
    }
    category = dict(pool.graph.relations.values_list("index", "category"))
    by_category: dict[str, int] = {}
    for row in pool.triples.order_by().values("relation").annotate(n=Count("id")):
        key = category[row["relation"]] or "not in train"
        by_category[key] = by_category.get(key, 0) + row["n"]
    to_people = by_reason.pop("", 0)
    filtered = sum(by_reason.values())
    return {
        "seeds": pool.seeds.count(), "pooled": to_people + filtered, "filtered": filtered, "to_people": to_people,
        "by_reason": dict(sorted(by_reason.items())), "by_category": dict(sorted(by_category.items())),
    }  # fmt: skip


def pool_overlap(pool: Pool) -> Overlap:
    """How many pooled triples each two contributors both found, and each alone, from the packed provenance."""
    return overlap(*_findings(pool), len(pool.contributors))


def pool_families(pool: Pool) -> dict[str, dict[str, Any]]:
    """How diverse a pool is: by family its systems, the triples they found, and those that no other family found.

    Systems of one family tend to miss the same answers. A contributor from elsewhere may be of no known family.
    """
    kinds = dict(System.objects.filter(graph=pool.graph_id).values_list("name", "kind"))
    family_of = [family_of_kind(kinds.get(name, name)) or "not known" for name in pool.contributors]
    families = [name for name in (*FAMILIES, "not known") if name in family_of]
    if not families:
        return {}
    systems, indptr = _findings(pool)
    number = np.array([families.index(family) for family in family_of])
    shared, only = overlap(number[systems], indptr, len(families))
    return {
        family: {
            "systems": [name for name, of in zip(pool.contributors, family_of, strict=True) if of == family],
            "found": int(shared[i, i]),
            "only": int(only[i]),
        }
        for i, family in enumerate(families)
    }


def _findings(pool: Pool) -> tuple[np.ndarray, np.ndarray]:
    """Contributor of each finding, int[f], and where those of each pooled triple are, int[n + 1]."""
    packed = [bytes(p) for p in pool.triples.order_by("id").values_list("provenance", flat=True)]
    counts = [len(p) // PROVENANCE.itemsize for p in packed]
    systems = np.frombuffer(b"".join(packed), dtype=PROVENANCE)["system"]
    return systems, np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
