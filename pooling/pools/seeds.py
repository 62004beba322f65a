"""Draw the seed triples of a pool, and compare their relations with those of the test set."""

from dataclasses import dataclass
from typing import TypedDict

import numpy as np

from pooling.errors import PoolError
from pooling.graphs.kernels.graph_arrays import GraphArrays, Ids
from pooling.graphs.opening import open_graph
from pooling.models import Pool
from pooling.pools.kernels.seeds import STRATIFY, sample_seeds, strata
from pooling.pools.kernels.shares import divergence, shares
from pooling.runs.score import triple_array
from pooling.scoring.rank_rows import row_keys, rows_of

SHARE, SEED = 0.05, 42  # of a sample, by default


class Sample(TypedDict, total=False):
    """Say which test triples draw_seeds draws."""

    sample: float | None
    count: int | None
    stratify: str
    seed: int | None


def draw_seeds(
    graph: GraphArrays,
    *,
    sample: float | None = None,
    count: int | None = None,
    stratify: str = "",
    seed: int | None = None,
    without: Ids | None = None,
) -> tuple[Ids, str]:
    """Draw test triples int32[m, 3] by share or count; also return the sample in words.

    `without` int32[n, 3]: test triples that are seeds already; the share is of all test triples.
    """
    seed = SEED if seed is None else seed
    if seed < 0:
        raise PoolError(f"Seed {seed}: give a whole number from 0.")
    if sample is not None and count is not None:
        raise PoolError("A sample has a share or a count of the test triples, not both: leave one away.")
    if stratify not in STRATIFY:
        raise PoolError(
            f"Stratify by {stratify!r}: choose {' or '.join(name for name in STRATIFY if name)}, or leave it out."
        )
    test = graph.test
    if without is not None:
        tails, taken = (row_keys(rows_of(of), *graph.shape)[: len(of)] for of in (test, without))
        test = test[~np.isin(tails, taken)]
    if not len(test):
        none = "The graph has no test triples to sample seeds from."
        raise PoolError("Every test triple is a seed already." if len(graph.test) else none)
    if count is None:
        share = SHARE if sample is None else sample
        if not 0 < share <= 1:
            raise PoolError(f"Sample {share}: give a share of the test triples above 0 and at most 1.")
        size, words = min(max(1, round(share * len(graph.test))), len(test)), f"sample {share:g} of test"
    else:
        if not 1 <= count <= len(test):
            raise PoolError(f"Count {count}: give 1 to {len(test)}, the number of test triples to sample from.")
        size, words = count, f"sample of {count} test triples"
    stratum = strata(test, graph.train, graph.num_entities, stratify)
    drawn = test[sample_seeds(stratum, size, np.random.default_rng(seed))]
    by = f", stratified by {STRATIFY[stratify]}" if stratify else ""
    return drawn, f"{words}{by}, seed {seed}"


def seed_array(pool: Pool) -> Ids:
    """Return the pool's seed triples, int32[n, 3]."""
    return triple_array(pool.seeds.all())


# -- relation shares ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class RelationShare:
    """Hold the triples of a relation and their share: among the seeds, in test, in the whole graph."""

    relation: str  # its key
    name: str
    seeds: int
    test: int
    whole: int
    seeds_share: float
    test_share: float
    whole_share: float

    @property
    def difference(self) -> float:
        """Return the share of the seeds minus the share of test."""
        return self.seeds_share - self.test_share

    @property
    def points(self) -> float:
        """Return the difference in percentage points."""
        return 100 * self.difference


@dataclass(frozen=True)
class SeedReport:
    """Hold the relations of seeds and test, largest difference first, and divergences in nats."""

    rows: list[RelationShare]
    seeds: int
    test: int
    whole: int
    test_from_seeds: float  # D(test ‖ seeds)
    whole_from_test: float  # D(whole graph ‖ test)


def seed_report(pool: Pool) -> SeedReport:
    """Compare relation shares of the pool's seeds with those of test, and of the whole graph."""
    graph = open_graph(pool.graph)
    drawn = np.fromiter(pool.seeds.order_by().values_list("relation", flat=True), dtype=np.int64)
    every = np.concatenate([graph.train[:, 1], graph.valid[:, 1], graph.test[:, 1]])
    counts = [np.bincount(relation, minlength=graph.num_relations) for relation in (drawn, graph.test[:, 1], every)]
    columns = [*counts, *(np.nan_to_num(shares(count)) for count in counts)]
    used = np.flatnonzero(counts[0] + counts[1])
    rows = [
        RelationShare(graph.relations[r], graph.relation_name(r), *values)
        for r, *values in zip(used.tolist(), *(column[used].tolist() for column in columns), strict=True)
    ]
    rows.sort(key=lambda row: -abs(row.difference))
    seeds, test, whole = (int(count.sum()) for count in counts)
    return SeedReport(rows, seeds, test, whole, divergence(counts[1], counts[0]), divergence(counts[2], counts[1]))
