"""Measures of all systems: this program against pytrec_eval, the same measures on the same lists, medians.

    python benchmarks/measures.py --quick     within a minute; the last line is the main ratio
    python benchmarks/measures.py             writes its table into docs/benchmarks.md

Both sides start from what they keep: pytrec_eval from an evaluator with parsed qrels and the runs as
dictionaries, which it ranks each time; this program from a rank table, whose positions were read when the run
was scored. So the ratio is the cost of one more label set, not of the first. Values are compared before
anything is timed.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytrec_eval

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.report import write_section  # noqa: E402
from evaluation.kernels.curves import stability_curve  # noqa: E402
from evaluation.kernels.prepared import Prepared, prepare  # noqa: E402
from evaluation.kernels.state import LabelState, States  # noqa: E402
from evaluation.kernels.table import RankTable  # noqa: E402
from evaluation.kernels.values import values  # noqa: E402

TREC = {
    "map": "map", "map@20": "map_cut_20", "ndcg@20": "ndcg_cut_20", "p@10": "P_10", "recall@10": "recall_10",
    "success@10": "success_10", "rprec": "Rprec", "bpref": "bpref", "infap": "infAP",
}  # fmt: skip
ASKED = {"map", "map_cut.20", "ndcg_cut.20", "P.10", "recall.10", "success.10", "Rprec", "bpref", "infAP"}
DASHBOARD = ("micro_mrr", "micro_hits@10", "macro_mrr", "macro_hits@10", "map@20", "ndcg@20")
GRADE = {LabelState.POSITIVE: 1, LabelState.NEGATIVE: 0, LabelState.UNJUDGED: -1}

Qrels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]


@dataclass(frozen=True)
class Case:
    table: RankTable
    state: States
    qrels: Qrels
    runs: list[Run]


def make_case(questions: int, listed: int, pooled: int, systems: int, seed: int = 42) -> Case:
    """`questions` with `listed` candidates each, all ranked by every system; `pooled` of them carry a state.

    Each pooled triple has one row only here: the other side would be one more question of the same kind.
    """
    rng = np.random.default_rng(seed)
    state = rng.choice(list(GRADE), p=[0.15, 0.65, 0.2], size=(questions, pooled)).astype(np.int8)
    state[:, 0] = LabelState.POSITIVE
    order = rng.random((systems, questions, listed)).argsort(axis=2)
    strict = (order.argsort(axis=2) + 1).astype(np.int32)
    rows = strict[:, :, :pooled].reshape(systems, -1)
    number = np.arange(questions * pooled, dtype=np.int32)
    zeros = np.zeros(questions, dtype=np.int32)
    table = RankTable(
        np.repeat(np.arange(questions, dtype=np.int32), pooled), number % pooled, number, rows, rows, rows,
        zeros.astype(np.int8), zeros, zeros + listed,
    )  # fmt: skip
    qrels = {
        f"q{q}": {f"e{e}": GRADE[LabelState(x)] for e, x in enumerate(states)}
        for q, states in enumerate(state)
    }
    runs = [
        {f"q{q}": {f"e{e}": -float(r) for e, r in enumerate(ranks)} for q, ranks in enumerate(of)}
        for of in strict
    ]
    return Case(table, state.ravel(), qrels, runs)


def median_seconds(act: Callable[[], object], repeats: int) -> float:
    taken = []
    for _ in range(repeats):
        begin = time.perf_counter()
        act()
        taken.append(time.perf_counter() - begin)
    return statistics.median(taken)


def compare(case: Case, repeats: int) -> tuple[float, float]:
    """Median seconds of pytrec_eval and of this program, after a check that the values are equal to 1e-6."""

    oracle = pytrec_eval.RelevanceEvaluator(case.qrels, ASKED)

    def theirs() -> list[dict[str, dict[str, float]]]:
        return [oracle.evaluate(run) for run in case.runs]

    found, reference = values(prepare(case.table), case.state, list(TREC)), theirs()
    for ours, name in TREC.items():
        expected = [[of[f"q{q}"][name] for q in found[ours].unit_question] for of in reference]
        np.testing.assert_allclose(found[ours].per_unit, expected, atol=1e-6, err_msg=ours)
    slow = median_seconds(theirs, repeats)
    # a fresh sort each time: the table is new whenever the pool grows
    fast = median_seconds(lambda: values(prepare(case.table), case.state, list(TREC)), 5 * repeats)
    return slow, fast


def stability_seconds(case: Case, repeats: int) -> float:
    """Seconds for the whole stability curve: 20 sizes x 50 subsets, the six measures of the dashboard."""
    prepared: Prepared = prepare(case.table)
    return median_seconds(
        lambda: stability_curve(prepared, case.state, DASHBOARD, np.random.default_rng(0)), repeats
    )


def full_table() -> list[str]:
    lines = [
        f"Nine measures ({', '.join(TREC)}), equal to 1e-6 in every row; medians; {os.cpu_count()} cores.",
        "",
        "| questions x candidates | systems | pytrec_eval, s | TriplePool, s | ratio | stability curve, s |",
        "|---|---|---|---|---|---|",
    ]
    for questions, listed, systems in ((300, 1000, 2), (1000, 1000, 6), (300, 10_000, 2)):
        case = make_case(questions, listed, 12, systems)
        slow, fast = compare(case, 3)
        curve = stability_seconds(case, 1)
        size = f"{questions:,} x {listed:,}"
        lines.append(f"| {size} | {systems} | {slow:.2f} | {fast:.4f} | {slow / fast:,.0f} | {curve:.1f} |")
        print(lines[-1], flush=True)
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="one small case, nothing written")
    arguments = parser.parse_args()
    if arguments.quick:
        slow, fast = compare(make_case(300, 1000, 12, 2), 3)
        print(f"pytrec_eval {slow:.3f} s, TriplePool {fast:.4f} s")
        print(f"measures: {slow / fast:.0f} x pytrec_eval")
        return
    write_section("measures", "\n".join(["## Measures", "", *full_table()]))


if __name__ == "__main__":
    main()
