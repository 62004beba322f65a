"""Build the rank table of a pool: every pooled and test triple on both its sides, under every system with a run."""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np

from annotation.judging.judgements import labels_version
from core.errors import UserError
from evaluation.measures.prepared import Prepared, prepare
from evaluation.measures.rank_table import RankTable, without_known
from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.graphs.opening import open_graph
from pooling.models import Pool, PooledTriple, Run, System
from pooling.pools.report import contents_version
from pooling.questions.kernel import Questions, answers_csr, questions_of
from pooling.runs.files import RunError, read_ranks, returned_keys
from pooling.scoring.rank_rows import find, question_keys, row_keys, rows_of
from pooling.training.seed_families import seed_families, unlike_seeds
from pooling.training.train import shown_systems, systems_with_runs

KEPT = 4
Key = TypeVar("Key")
Made = TypeVar("Made")
_tables: OrderedDict[tuple[int, str], "PoolTable"] = OrderedDict()
_lock = threading.RLock()


class EvaluationError(UserError):
    """Raised where an evaluation cannot be made as asked."""


@dataclass(frozen=True)
class PoolTable:
    """Hold n distinct triples (seeds, pooled, test; ordered), and what is known of them without any label.

    triples int32[n, 3]; is_seed, is_test bool[n]; pooled_id int64[n], 0 where not pooled; depth int[n], 0 for seeds;
    filtered bool[n]. question_keys int64, sorted: the questions of the rank tables. `systems` name the rows of the
    rank tables, `left_out` those without complete rank rows. `families` are the families of seeds among `systems`, as
    indices, the chosen one first; a system alone is a family of one. `unlike` says which systems look like one and why
    they are not (pooling/training/seed_families.py).
    """

    graph: GraphArrays
    triples: np.ndarray
    is_seed: np.ndarray
    is_test: np.ndarray
    pooled_id: np.ndarray
    depth: np.ndarray
    filtered: np.ndarray
    systems: list[str]
    left_out: list[str]
    question_keys: np.ndarray
    ranks: RankTable
    families: list[list[int]]
    unlike: list[str]

    @cached_property
    def folded(self) -> "PoolTable":
        """Return the table of the chosen systems alone, one for each family of seeds; itself without such a family."""
        chosen = [family[0] for family in self.families]
        if len(chosen) == len(self.systems):
            return self
        rows = ("strict", "optimistic", "pessimistic", "returned")
        kept = {name: of[chosen] for name in rows if (of := getattr(self.ranks, name)) is not None}
        alone = [[i] for i in range(len(chosen))]
        names = [self.systems[i] for i in chosen]
        return replace(self, systems=names, ranks=replace(self.ranks, **kept), families=alone)

    @cached_property
    def pool(self) -> Prepared:
        """Return positions among the pool's candidates: unsampled test answers are known facts, and removed."""
        return prepare(without_known(self.ranks, self.is_test & ~self.is_seed))

    def pool_of(self, seeds: np.ndarray) -> Prepared:
        """Return `pool` as if these triples, bool[n], were the seeds: older qrels stay as they were."""
        if np.array_equal(seeds, self.is_seed):
            return self.pool
        return remembered(
            self._earlier, seeds.tobytes(), lambda: prepare(without_known(self.ranks, self.is_test & ~seeds))
        )

    @cached_property
    def _earlier(self) -> OrderedDict[bytes, Prepared]:
        return OrderedDict()

    @cached_property
    def full_test(self) -> Prepared:
        """Return positions among all entities without train and valid, for test triples only."""
        return prepare(self.ranks).only(self.is_test)

    @cached_property
    def position_of(self) -> dict[int, int]:
        """Return the index in `triples` of each PooledTriple id."""
        at = np.flatnonzero(self.pooled_id)
        return dict(zip(self.pooled_id[at].tolist(), at.tolist(), strict=True))


def ranks_version(pool: Pool) -> str:
    """Return a version that changes with runs, systems, pooled triples and filters."""
    runs = Run.objects.filter(system__in=shown_systems(pool)).order_by("system_id").values_list("sha256", flat=True)
    return hashlib.sha256(f"{list(runs)} {contents_version(pool)}".encode()).hexdigest()[:16]


def version(pool: Pool) -> str:
    """Return a version that changes with the labels and the ranks of a pool."""
    return f"{labels_version(pool)}/{ranks_version(pool)}"


def pool_table(pool: Pool) -> PoolTable:
    """Return the table of a pool, from memory while no run and no pooled triple has changed."""
    return remembered(_tables, (pool.pk, ranks_version(pool)), lambda: _build(pool))


def evaluated(pool: Pool) -> list[str]:
    """Return the systems with all rank rows of the pool; [] where there is none."""
    try:
        return pool_table(pool).systems
    except RunError:
        return []


def remembered(memory: OrderedDict[Key, Made], key: Key, make: Callable[[], Made]) -> Made:
    """Return what memory holds for a key, or make and keep it; the least recently used goes. One thread makes it."""
    with _lock:
        found = memory[key] if key in memory else make()
        memory[key] = found
        memory.move_to_end(key)
        while len(memory) > KEPT:
            memory.popitem(last=False)
    return found


def triple_codes(triples: np.ndarray, graph: GraphArrays) -> np.ndarray:
    """Return one number per triple int[n, 3], int64[n]; they sort as head, relation, tail do."""
    codes = triples[:, 0].astype(np.int64)
    codes *= graph.num_relations
    codes += triples[:, 1]
    codes *= graph.num_entities
    codes += triples[:, 2]
    return codes


def _build(pool: Pool) -> PoolTable:
    graph = open_graph(pool.graph)
    e, r = graph.num_entities, graph.num_relations
    rows = np.array(
        PooledTriple.objects.filter(pool=pool).order_by("id").values_list("head", "relation", "tail", "id", "depth"),
        dtype=np.int64,
    ).reshape(-1, 5)
    filtered_ids = PooledTriple.objects.filter(pool=pool).exclude(reason="").values_list("id", flat=True)
    seeds = np.array(pool.seeds.values_list("head", "relation", "tail"), dtype=np.int64).reshape(-1, 3)
    of_rows, of_seeds = triple_codes(rows, graph), triple_codes(seeds, graph)
    codes = np.unique(np.concatenate([of_rows, of_seeds, triple_codes(graph.test, graph)]))
    head_relation, tail = np.divmod(codes, e)
    head, relation = np.divmod(head_relation, r)
    triples = np.stack([head, relation, tail], axis=1).astype(np.int32)
    place = np.searchsorted(codes, of_rows)
    pooled_id, depth = np.zeros(len(codes), np.int64), np.zeros(len(codes), np.int64)
    pooled_id[place], depth[place] = rows[:, 3], rows[:, 4]
    questions, systems, left_out, ranks = _ranks(pool, graph, triples)
    place_of = {system.pk: i for i, system in enumerate(systems)}
    return PoolTable(
        graph=graph,
        triples=triples,
        is_seed=np.isin(codes, of_seeds),
        is_test=np.isin(codes, triple_codes(graph.test, graph)),
        pooled_id=pooled_id,
        depth=depth,
        filtered=np.isin(pooled_id, np.fromiter(filtered_ids, dtype=np.int64)) & (pooled_id > 0),
        systems=[system.name for system in systems],
        left_out=left_out,
        question_keys=question_keys(questions, e, r),
        ranks=ranks,
        families=[[place_of[system.pk] for system in family] for family in seed_families(systems)],
        unlike=unlike_seeds(systems),
    )


def _ranks(pool: Pool, graph: GraphArrays, triples: np.ndarray) -> tuple[Questions, list[System], list[str], RankTable]:
    """Read the rank rows of both sides of the triples, ordered by question."""
    questions, tail_question, head_question = questions_of(triples)
    question = np.concatenate([tail_question, head_question])
    order = np.argsort(question, kind="stable")
    rows = rows_of(triples)
    keys = row_keys(rows, graph.num_entities, graph.num_relations)
    systems, left_out, parts, listed = [], [], [], []
    for system in systems_with_runs(pool):
        run = read_ranks(system.run)
        at = find(run.keys, keys)
        if (at < 0).any():
            left_out.append(system.name)
            continue
        systems.append(system)
        parts.append(run.ranks[:, at[order]])
        listed.append(returned_keys(system.run))
    if not systems:
        raise RunError(
            f"No system has the rank rows that pool {pool.name} needs: run score_runs {pool.name}"
            + (f" (incomplete: {', '.join(left_out)})." if left_out else f", after train_systems {pool.graph.name}.")
        )
    ranks = np.stack(parts)
    known = np.concatenate([graph.train, graph.valid])
    answers = answers_csr(questions, known, graph.num_entities, graph.num_relations)
    candidates = (graph.num_entities - np.diff(answers.indptr)).astype(np.int32)
    triple = np.tile(np.arange(len(triples), dtype=np.int32), 2)
    table = RankTable(
        question=question[order].astype(np.int32),
        entity=rows.candidate[order].astype(np.int32),
        triple=triple[order],
        strict=ranks[:, 0],
        optimistic=ranks[:, 1],
        pessimistic=ranks[:, 2],
        side=questions.side.astype(np.int8),
        relation=questions.relation.astype(np.int32),
        candidates=candidates,
        returned=_returned(listed, question_keys(questions, *graph.shape), candidates),
    )
    return questions, systems, left_out, table


def _returned(listed: list[np.ndarray | None], asked: np.ndarray, candidates: np.ndarray) -> np.ndarray | None:
    """Count what each system returned of the questions (keys [questions]), int32 [systems, questions].

    listed: of an imported run the question key of everything it returned, sorted; None for a system that ranks every
    candidate. None if all do.
    """
    if all(keys is None for keys in listed):
        return None
    counts = [
        candidates if keys is None else np.searchsorted(keys, asked, "right") - np.searchsorted(keys, asked)
        for keys in listed
    ]
    return np.array(counts, dtype=np.int32)
