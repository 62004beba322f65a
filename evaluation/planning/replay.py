"""Replay orders of judging on a pool with known labels, to see how soon each finds positives and the ranking."""

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtrit

from annotation.enums import Verdict
from annotation.judging.judgements import majority
from annotation.judging.label_import import ImportReport, labels_of_pool
from core.callbacks import Tell
from evaluation.labels.label_sets import LabelSet, state_of
from evaluation.labels.pool_table import EvaluationError, PoolTable, pool_table
from evaluation.measures.label_state import LabelState, States
from evaluation.measures.live_sums import LiveSums
from evaluation.measures.rank_table import Floats, Order
from evaluation.sections.compared import compared
from evaluation.sections.section import number
from evaluation.statistics.correlation import tau_of_means
from pooling.enums import TO_PEOPLE
from pooling.graphs.opening import closed_world_triples
from pooling.models import Pool
from pooling.orders import ORDERS
from pooling.orders.base import NO, UNLABELLED, YES, OrderPool
from pooling.orders.batch import replay
from pooling.pools.to_judge import ToJudge, order_pool

CLOSED_WORLD = "closed-world"
STEPS = 100  # tau is computed after every hundredth of the triples
SHARES = (0, 1, 2, 5, *range(10, 101, 10))  # of the steps, which are shown
POSITIVES, TAU = 0.8, 0.9  # what is to be reached
LABELS = {Verdict.POSITIVE: YES, Verdict.NEGATIVE: NO, Verdict.UNDECIDED: UNLABELLED}
ROUNDING = 1e-9


class Truth(NamedTuple):
    """Known answers by PooledTriple id (of some filtered triples too), and notes on unused lines of a file."""

    verdicts: dict[int, Verdict]
    notes: list[str]


def read_truth(pool: Pool, source: str) -> Truth:
    """Return the majority answers of a label file, or those of the graph's closed world to triples for people."""
    if source == CLOSED_WORLD:
        facts = set(map(tuple, closed_world_triples(pool.graph).tolist()))
        rows = pool.triples.filter(reason=TO_PEOPLE).values_list("pk", "head", "relation", "tail")
        said = {True: Verdict.POSITIVE, False: Verdict.NEGATIVE}
        return Truth({pk: said[tuple(triple) in facts] for pk, *triple in rows}, [])
    path = Path(source)
    report = ImportReport()
    answers: dict[int, list[str]] = defaultdict(list)
    for pk, line in labels_of_pool(pool, path, report):
        answers[pk].append(line.answer)
    notes = [f"{path.name}:{line.line}: {line.reason}" for line in report.skipped]
    return Truth({pk: majority(given) for pk, given in answers.items()}, notes)


@dataclass(frozen=True)
class KnownPool:
    """A pool whose n triples for people have known labels, int8[n] as orders see them.

    `full`: state of every triple of the rank table when all labels are there; `place` int64[n]: where ours are in it.
    """

    stock: ToJudge
    table: PoolTable
    label: np.ndarray
    full: States
    place: Order

    @property
    def steps(self) -> Order:
        """Return how many triples are judged after each step, int64[STEPS + 1]."""
        return np.round(np.linspace(0, len(self.place), STEPS + 1)).astype(np.int64)

    def state(self, judged: Order) -> States:
        """Return the label state when only these of our triples, int64, are judged; filtered: assumed negative."""
        state = self.full.copy()
        state[self.place] = LabelState.UNJUDGED
        state[self.place[judged]] = self.full[self.place[judged]]
        return state


def known_pool(pool: Pool, truth: Truth, depth_of_runs: bool = False, systems: Sequence[str] = ()) -> KnownPool:
    """Return a pool with its known labels. EvaluationError where no triple for people is positive.

    `systems`: those that are ranked, on the questions that all of them were asked, as in PoolTable.compared; orders see
    all runs.
    `depth_of_runs`: depth is the best rank in the runs that the orders see, instead of the pool's own. A pool that was
    made by other systems lets orders by depth and orders that follow runs start from different knowledge otherwise.
    """
    stock, table = order_pool(pool), pool_table(pool, systems).folded
    if depth_of_runs:
        ranks = stock.pool.ranks
        beyond = ranks.max(initial=0) + 1
        depth = np.where(ranks > 0, ranks, beyond).min(axis=0, initial=beyond)
        stock = stock._replace(pool=OrderPool(ranks, depth, stock.pool.group))
    verdicts = [truth.verdicts.get(pk, Verdict.UNDECIDED) for pk in stock.triple_id.tolist()]
    label = np.array([LABELS[verdict] for verdict in verdicts], dtype=np.int8)
    if not (label == YES).any():
        raise EvaluationError(
            f"The truth has no positive among the {len(label):,} triples that people judge in pool {pool.name}: "
            "there is nothing to find. Give the labels of this very pool."
        )
    place = np.array([table.position_of[pk] for pk in stock.triple_id.tolist()], dtype=np.intp)
    full = state_of(table, list(truth.verdicts), list(truth.verdicts.values()))
    return KnownPool(stock, table, label, full, place)


class ReplayCurve(NamedTuple):
    """One replay: positives found after each number of triples, int64[n + 1]; tau at each step, [measures, steps]."""

    found: Order
    tau: Floats


class Ranker:
    """Tau-b between the systems under some labels of a known pool and under all of them, for several measures."""

    def __init__(self, known: KnownPool, measures: Sequence[str]) -> None:
        self.known = known
        self.live = LiveSums(known.table.pool, known.full, measures)
        self.goal = self.live.means()

    def taus(self, judged: Order) -> list[float]:
        self.live.update(self.known.state(judged))
        now = self.live.means()
        # whether higher is better turns both sides alike
        return [tau_of_means(now[name], goal) for name, goal in self.goal.items()]

    def curve(self, judged: Order) -> ReplayCurve:
        """Return the curve of all triples, int64[n], in the order of judging."""
        found = np.concatenate([[0], np.cumsum(self.known.label[judged] == YES)])
        taus = [self.taus(judged[:count]) for count in self.known.steps]
        return ReplayCurve(found, np.array(taus).T)


class Spread(NamedTuple):
    """Mean over the seeds with its 95 % interval (Student's t), which one seed does not have: nan."""

    mean: float
    low: float
    high: float

    def json(self) -> dict[str, float | None]:
        return {name: number(value) for name, value in self._asdict().items()}


def spread(values: Sequence[float]) -> Spread:
    """Return mean and interval of values; all nan where one is nan."""
    mean, n = float(np.mean(values)), len(values)
    half = float(stdtrit(n - 1, 0.975) * np.std(values, ddof=1) / math.sqrt(n)) if n > 1 else math.nan
    return Spread(mean, mean - half, mean + half)


def triples_for_positives(found: Order) -> int:
    """Return after how many triples POSITIVES of all positives are found."""
    return int(np.argmax(found >= POSITIVES * found[-1] - ROUNDING))


def triples_until_stable(tau: Floats, steps: Order) -> float:
    """Return after how many triples tau [steps] stays at TAU or more; nan where it never does."""
    below = np.flatnonzero(~(tau >= TAU - ROUNDING))
    if not below.size:
        return float(steps[0])
    return float(steps[below[-1] + 1]) if below[-1] + 1 < len(steps) else math.nan


def replay_orders(
    pool: Pool,
    truth: Truth,
    orders: Sequence[str],
    *,
    measures: Sequence[str],
    batch: int = 1,
    whole_groups: bool = False,
    depth_of_runs: bool = False,
    systems: Sequence[str] = (),
    seeds: Sequence[int] = (0,),
    shares: Sequence[int] = SHARES,
    tell: Tell | None = None,
) -> dict[str, Any]:
    """Return what `replay_order --json` prints; nothing is written.

    Of each order, over the seeds: recall of positives and tau after shares (in percent) of the triples, the triples
    for POSITIVES of the positives, and those until tau stays at TAU.
    """
    known = known_pool(pool, truth, depth_of_runs, systems)
    ranker, n = Ranker(known, measures), known.stock.pool.size
    curves: dict[str, list[ReplayCurve]] = {name: [] for name in orders}
    tasks = [(name, seed) for name in orders for seed in seeds]
    for before, (name, seed) in enumerate(tasks):

        def judged_more(count: int, before: int = before) -> None:
            if tell:
                tell(before * n + count, len(tasks) * n)

        how: dict[str, Any] = {"batch": batch, "whole_groups": whole_groups, "seed": seed, "tell": judged_more}
        curves[name].append(ranker.curve(replay(ORDERS[name], known.stock.pool, known.label, **how)))
    return {
        "pool": pool.name,
        "triples": n,
        "positives": int((known.label == YES).sum()),
        "systems": known.table.systems,
        "compared": compared(known.table, LabelSet("truth", "known labels", known.full, known.table.pool)),
        "runs": known.stock.runs,
        "measures": list(measures),
        "batch": batch,
        "whole_groups": whole_groups,
        "depth_of_runs": depth_of_runs,
        "seeds": list(seeds),
        "shares": list(shares),
        "judged": known.steps[list(shares)].tolist(),
        "orders": {name: _summary(found, known.steps, measures, shares) for name, found in curves.items()},
    }


def _summary(
    curves: Sequence[ReplayCurve], steps: Order, measures: Sequence[str], shares: Sequence[int]
) -> dict[str, Any]:
    def over_seeds(value: Callable[[ReplayCurve], float]) -> dict[str, float | None]:
        return spread([value(curve) for curve in curves]).json()

    return {
        "recall": [over_seeds(lambda c, s=s: c.found[steps[s]] / c.found[-1]) for s in shares],  # type: ignore[misc]
        "tau": {
            name: [over_seeds(lambda c, i=i, s=s: c.tau[i, s]) for s in shares]  # type: ignore[misc]
            for i, name in enumerate(measures)
        },
        "triples_for_positives": over_seeds(lambda c: triples_for_positives(c.found)),
        "triples_until_stable": {
            name: over_seeds(lambda c, i=i: triples_until_stable(c.tau[i], steps))  # type: ignore[misc]
            for i, name in enumerate(measures)
        },
    }
