"""Build the rank table of a pool: every pooled and test triple on both its sides, under every system with a run."""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np

from annotation.judging.judgements import labels_version
from core.errors import UserError
from evaluation.measures.prepared import Prepared, prepare
from evaluation.measures.rank_table import Flags, RankTable, keep_rows, without_known
from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.graphs.opening import open_graph
from pooling.models import Pool, PooledTriple, Run, System
from pooling.pools.report import contents_version
from pooling.questions.kernel import answers_csr, questions_of
from pooling.runs.asked import was_asked
from pooling.runs.files import RunError, read_ranks, returned_keys
from pooling.runs.lacking import rows_advice
from pooling.scoring.rank_rows import find, question_keys, row_keys, rows_of
from pooling.training.seed_families import seed_families, unlike_seeds
from pooling.training.train import shown_systems, systems_with_runs

KEPT = 4
HALF = 0.5  # share of the questions that a system must have been asked to be compared without being chosen
LACKS_ROWS = "lacks rank rows of this pool, which score_runs adds if the model or a file is here"
UNASKED = "was asked no question of this pool"
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
    they are not (pooling/training/seed_families.py). asked bool[systems, questions]: where it is false, the ranks of
    all rows are 0 and say nothing. `unasked` are systems that were asked no seed question, and have no row here.

    `compared` gives the view that figures are made of. It has `whole`, the table that it is a view of; `dropped`, the
    systems that it leaves out since they were asked too few questions; and `members`, those that it compares, also
    where `folded` shows one for each family.
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
    asked: Flags
    unasked: list[str]
    whole: "PoolTable | None" = None
    dropped: tuple[str, ...] = ()
    members: tuple[str, ...] = ()

    @cached_property
    def folded(self) -> "PoolTable":
        """Return the table of the chosen systems alone, one for each family of seeds; itself without such a family."""
        chosen = [family[0] for family in self.families]
        if len(chosen) == len(self.systems):
            return self
        return replace(self.of_systems(chosen), families=[[i] for i in range(len(chosen))])

    def of_systems(self, rows: Sequence[int]) -> "PoolTable":
        """Return the table of some systems, given as indices; itself for all of them."""
        if list(rows) == list(range(len(self.systems))):
            return self
        place = {row: i for i, row in enumerate(rows)}
        by_system = ("strict", "optimistic", "pessimistic", "returned")
        kept = {name: of[rows] for name in by_system if (of := getattr(self.ranks, name)) is not None}
        families = [[place[i] for i in family if i in place] for family in self.families]
        return replace(
            self,
            systems=[self.systems[i] for i in rows],
            ranks=replace(self.ranks, **kept),
            families=[family for family in families if family],
            asked=self.asked[rows],
        )

    def compared(self, systems: Sequence[str] = (), *, full_test: bool = False) -> "PoolTable":
        """Return the systems that are compared, with the rows of the questions that all of them were asked.

        Without `systems`, all that were asked half of the seed questions, with `full_test` of the test questions. The
        table itself, not a copy, where nothing is left out. EvaluationError names unknown systems.
        """
        if not systems and self.asked.all():
            return self
        key = tuple(sorted(set(systems))), full_test
        return remembered(self._views, key, lambda: self._compare(*key))

    def _compare(self, systems: Sequence[str], full_test: bool) -> "PoolTable":
        if unknown := [name for name in systems if name not in self.systems]:
            why = dict.fromkeys(self.left_out, LACKS_ROWS) | dict.fromkeys(self.unasked, UNASKED)
            told = [f"{name[:80]} {why[name]}." for name in unknown if name in why]
            if others := ", ".join(name[:80] for name in unknown if name not in why):
                told.append(f"{others}: not evaluated on this pool. A private run is compared on its own page.")
            raise EvaluationError(f"{' '.join(told)} Systems to choose from: {', '.join(self.systems)}.")
        basis = self.questions_of(self.is_test if full_test else self.is_seed)
        share = self.asked[:, basis].sum(axis=1) >= HALF * basis.sum()
        enough = [name in systems for name in self.systems] if systems else share.tolist()
        rows = [i for i, kept in enumerate(enough) if kept] or list(range(len(self.systems)))
        chosen = self.of_systems(rows)
        dropped = () if systems else tuple(name for i, name in enumerate(self.systems) if i not in rows)
        common = chosen.common
        ranks = chosen.ranks if common.all() else keep_rows(chosen.ranks, common[chosen.ranks.question])
        return replace(chosen, ranks=ranks, whole=self, dropped=dropped, members=tuple(chosen.systems))

    @property
    def common(self) -> Flags:
        """Tell which questions all these systems were asked, bool[questions]."""
        found: Flags = np.logical_and.reduce(self.asked, axis=0)
        return found

    def questions_of(self, triples: Flags) -> Flags:
        """Tell which questions have one of these triples, bool[triples], as an answer: bool[questions]."""
        found = np.zeros(len(self.question_keys), dtype=bool)
        found[self.ranks.question[triples[self.ranks.triple]]] = True
        return found

    @cached_property
    def _views(self) -> OrderedDict[tuple[tuple[str, ...], bool], "PoolTable"]:
        return OrderedDict()

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


def whole_table(pool: Pool) -> PoolTable:
    """Return the table of a pool with all systems and questions, in memory while no run and no pooled triple changes.

    Figures are made from `pool_table`.
    """
    return remembered(_tables, (pool.pk, ranks_version(pool)), lambda: _build(pool))


def pool_table(pool: Pool, systems: Sequence[str] = (), *, full_test: bool = False) -> PoolTable:
    """Return the systems of a pool that are compared, on the questions that all of them were asked.

    systems, full_test: as in PoolTable.compared.
    """
    return whole_table(pool).compared(systems, full_test=full_test)


def evaluated(pool: Pool) -> list[str]:
    """Return the systems with all rank rows of what they were asked; [] where there is none."""
    try:
        return whole_table(pool).systems
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
    is_seed = np.isin(codes, of_seeds)
    read = _ranks(pool, graph, triples, is_seed)
    systems = read.systems
    place_of = {system.pk: i for i, system in enumerate(systems)}
    return PoolTable(
        graph=graph,
        triples=triples,
        is_seed=is_seed,
        is_test=np.isin(codes, triple_codes(graph.test, graph)),
        pooled_id=pooled_id,
        depth=depth,
        filtered=np.isin(pooled_id, np.fromiter(filtered_ids, dtype=np.int64)) & (pooled_id > 0),
        systems=[system.name for system in systems],
        left_out=read.left_out,
        question_keys=read.question_keys,
        ranks=read.table,
        families=[[place_of[system.pk] for system in family] for family in seed_families(systems)],
        unlike=unlike_seeds(systems),
        asked=read.asked,
        unasked=read.unasked,
    )


class _Read(NamedTuple):
    """Hold the rank rows of a pool, and whose they are; the fields are those of PoolTable."""

    question_keys: np.ndarray
    systems: list[System]
    left_out: list[str]
    unasked: list[str]
    asked: Flags
    table: RankTable


def _ranks(pool: Pool, graph: GraphArrays, triples: np.ndarray, is_seed: Flags) -> _Read:
    """Read the rank rows of both sides of the triples, ordered by question."""
    questions, tail_question, head_question = questions_of(triples)
    question = np.concatenate([tail_question, head_question])
    order = np.argsort(question, kind="stable")
    rows = rows_of(triples)
    keys = row_keys(rows, graph.num_entities, graph.num_relations)[order]
    of_row = question[order].astype(np.int32)
    its_keys = question_keys(questions, graph.num_entities, graph.num_relations)
    of_seeds = np.unique(of_row[np.tile(is_seed, 2)[order]])
    systems, left_out, unasked, parts, asked, listed = [], list[str](), list[str](), [], [], []
    for system in systems_with_runs(pool):
        own = was_asked(system.run, its_keys)
        if not own.all() and not own[of_seeds].any():
            unasked.append(system.name)
            continue
        run = read_ranks(system.run)
        at = find(run.keys, keys)
        if (at[own[of_row]] < 0).any():
            left_out.append(system.name)
            continue
        systems.append(system)
        asked.append(own)
        parts.append(run.ranks[:, at] if own.all() else np.where(own[of_row], run.ranks[:, at], 0))
        listed.append(returned_keys(system.run))
    if not systems:
        raise RunError(_none_ready(pool, left_out, unasked))
    ranks = np.stack(parts)
    known = np.concatenate([graph.train, graph.valid])
    answers = answers_csr(questions, known, graph.num_entities, graph.num_relations)
    candidates = (graph.num_entities - np.diff(answers.indptr)).astype(np.int32)
    triple = np.tile(np.arange(len(triples), dtype=np.int32), 2)
    table = RankTable(
        question=of_row,
        entity=rows.candidate[order].astype(np.int32),
        triple=triple[order],
        strict=ranks[:, 0],
        optimistic=ranks[:, 1],
        pessimistic=ranks[:, 2],
        side=questions.side.astype(np.int8),
        relation=questions.relation.astype(np.int32),
        candidates=candidates,
        returned=returned_counts(listed, question_keys(questions, *graph.shape), candidates),
    )
    return _Read(its_keys, systems, left_out, unasked, np.stack(asked), table)


def _none_ready(pool: Pool, left_out: Sequence[str], unasked: Sequence[str]) -> str:
    if unasked and not left_out:
        return (
            f"No system has a run for pool {pool.name}: {', '.join(unasked)} answered other questions. Import a "
            f"run that answers the topics of this pool (export_topics {pool.name} FILE), or train a system."
        )
    if left_out:
        incomplete = f"incomplete: {', '.join(left_out)}"
        return f"No system has the rank rows that pool {pool.name} needs ({incomplete}). {rows_advice(pool, left_out)}"
    return (
        f"No system has the rank rows that pool {pool.name} needs: train systems on {pool.graph}, then have its "
        f"systems scored on its overview, or by score_runs {pool.name}."
    )


def returned_counts(
    listed: Sequence[np.ndarray | None], asked: np.ndarray, candidates: np.ndarray
) -> np.ndarray | None:
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
