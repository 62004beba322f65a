"""Time evaluation from rank rows: measures against pytrec_eval, one more label, stability, tests, memory; medians.

    python benchmarks/measures.py --quick     within a minute; the last line is the main figure
    python benchmarks/measures.py             writes its tables into docs/measured

Both sides start from what they keep: pytrec_eval from an evaluator with parsed qrels and the runs as
dictionaries, which it ranks each time; this program from a rank table, whose positions were read when the run
was scored, and which it sorts anew in the comparison. So the ratio is the cost of one more label set, not of
the first. Values are compared before anything is timed.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytrec_eval

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.graphs import fb15k237  # noqa: E402
from benchmarks.rank_rows import Case, listed_case, pool_case, test_set_case  # noqa: E402
from benchmarks.report import Summary, write_section  # noqa: E402
from benchmarks.scratch import RELATIONS  # noqa: E402
from evaluation.measures.label_state import LabelState  # noqa: E402
from evaluation.measures.live_sums import LiveSums  # noqa: E402
from evaluation.measures.prepared import prepare  # noqa: E402
from evaluation.measures.question_sums import question_sums  # noqa: E402
from evaluation.measures.registry import MEASURES  # noqa: E402
from evaluation.measures.values import Values, means, values  # noqa: E402
from evaluation.statistics import groups  # noqa: E402
from evaluation.statistics.bootstrap import bootstrap_correlations  # noqa: E402
from evaluation.statistics.stability import SIZES, question_stability, stability_curve  # noqa: E402
from evaluation.statistics.tukey_hsd import randomised_tukey  # noqa: E402

SYSTEMS = 13
# our name, trec_eval's in results, trec_eval's when asked for
FIVE = {
    "map@20": ("map_cut_20", "map_cut.20"), "ndcg@20": ("ndcg_cut_20", "ndcg_cut.20"), "bpref": ("bpref", "bpref"),
    "macro_mrr": ("recip_rank", "recip_rank"), "success@10": ("success_10", "success.10"),
}  # fmt: skip
TEN = FIVE | {
    "map": ("map", "map"),
    "p@10": ("P_10", "P.10"),
    "recall@10": ("recall_10", "recall.10"),
    "rprec": ("Rprec", "Rprec"),
    "infap": ("infAP", "infAP"),
}
DASHBOARD = ("micro_mrr", "micro_hits@10", "macro_mrr", "macro_hits@10", "map@20", "ndcg@20")
ALL = tuple(measure.name for measure in MEASURES)
Names = dict[str, tuple[str, str]]
Rows = list[tuple[str, str, str]]  # what, measured, asked for


def seconds(act: Callable[[], object]) -> float:
    begin = time.perf_counter()
    act()
    return time.perf_counter() - begin


def median_seconds(act: Callable[[], object], repeats: int) -> float:
    return statistics.median(seconds(act) for _ in range(repeats))


def against_pytrec_eval(case: Case, names: Names, depth: int = 1000, repeats: int = 3) -> tuple[float, float]:
    """Return seconds of pytrec_eval and of this program for all systems, after a check that values agree to 1e-6."""
    oracle = pytrec_eval.RelevanceEvaluator(case.qrels(), {asked for _, asked in names.values()})
    found = values(prepare(case.table), case.state, names)
    slow = 0.0
    for system, run in enumerate(case.runs(depth)):  # one system's dictionaries at a time: they are large
        taken, reference = [], {}
        for _ in range(repeats):
            begin = time.perf_counter()
            reference = oracle.evaluate(run)
            taken.append(time.perf_counter() - begin)
        slow += statistics.median(taken)
        for ours, (theirs, _) in names.items():
            expected = [reference[f"q{q}"][theirs] for q in found[ours].unit_question]
            np.testing.assert_allclose(found[ours].per_unit[system], expected, atol=1e-6, err_msg=ours)
    fast = median_seconds(lambda: values(prepare(case.table), case.state, names), 5 * repeats)
    return slow, fast


def comparison(quick: bool) -> tuple[Rows, Summary]:
    """Return the table of list measures against pytrec_eval, and the main figure."""
    part = 10 if quick else 1
    case = listed_case(1_700 // part, 2_700 // part, 20_000 // part, SYSTEMS)
    size = f"{SYSTEMS} systems, {case.table.questions:,} questions, depth 1,000, {case.state.size:,} labels"
    rows: Rows = []
    found = []
    for names in (FIVE, TEN):
        slow, fast = against_pytrec_eval(case, names, repeats=1 if names is TEN else 3)
        found.append(Summary(f"{len(names)} measures of {SYSTEMS} systems", fast, "pytrec_eval", slow))
        text = f"{', '.join(names)}: {size}"
        rows.append((text, f"{fast * 1e3:.1f} ms; pytrec_eval {slow:.2f} s: {slow / fast:,.0f} x", ">= 100 x"))
    return rows, found[0]


def one_more_label(quick: bool) -> Rows:
    """Time all measures from scratch, and after one more label: the update and all means."""
    case = pool_case(SYSTEMS)
    prepared, state = prepare(case.table), case.state
    live = LiveSums(prepared, state, ALL)  # the first time imports PyKEEN, for the ranks adjusted for chance
    everything = median_seconds(lambda: means(prepared, state, ALL), 5)
    found = values(prepared, state, ALL)
    by_group = median_seconds(lambda: means_by_group(case, found), 3)
    rng = np.random.default_rng(0)
    taken = []
    for triple in rng.choice(np.flatnonzero(state != LabelState.POSITIVE), size=20, replace=False):
        state = state.copy()
        state[triple] = LabelState.POSITIVE
        begin = time.perf_counter()
        live.update(state)
        now = live.means()
        taken.append(time.perf_counter() - begin)
    for name, mean in means(prepared, state, ALL).items():
        np.testing.assert_allclose(now[name], mean, rtol=1e-12, err_msg=name)
    size = f"all {len(ALL)} measures, {SYSTEMS} systems, {state.size:,} judged triples ({case.table.rows:,} rows)"
    return [
        (size, f"{everything * 1e3:.0f} ms", "<= 1 s"),
        (
            "from these, their means by side, relation, category, side and category, popularity of the answer",
            f"{by_group * 1e3:.0f} ms",
            "",
        ),
        (
            "the same after one more label (20 labels, one at a time; equal to 1e-12)",
            f"median {statistics.median(taken) * 1e3:.0f} ms, longest {max(taken) * 1e3:.0f} ms",
            "<= 100 ms",
        ),
    ]


def means_by_group(case: Case, found: dict[str, Values]) -> None:
    table = case.table
    category = np.arange(RELATIONS) % 4
    names = ["1-1", "1-N", "N-1", "N-N"]
    degree = np.arange(table.rows) % 200  # drawn rows have an entity each
    for grouping in (
        groups.by_side(table),
        groups.by_relation(table, [str(r) for r in range(RELATIONS)]),
        groups.by_category(table, category, names),
        groups.by_side_and_category(table, category, names),
        groups.by_popularity(table, case.state, degree),
    ):
        for value in found.values():
            groups.group_means(value, grouping)


def statistics_of_questions(quick: bool) -> Rows:
    """Time stability on questions, the bootstrap and the randomised test: 13 systems and 1,700 questions."""
    case = listed_case(1_700, 2_700, 20_000, SYSTEMS)
    prepared = prepare(case.table)
    sums = {name: question_sums(v) for name, v in values(prepared, case.state, DASHBOARD).items()}
    fewer = case.state.copy()
    fewer[np.random.default_rng(1).random(fewer.size) < 0.5] = LabelState.UNJUDGED
    sparse = {name: question_sums(v) for name, v in values(prepared, fewer, DASHBOARD).items()}
    permutations = 1_000 if quick else 10_000
    repeats = 1 if quick else 3
    size = f"{SYSTEMS} systems, 1,700 questions"
    curve = median_seconds(lambda: question_stability(sums, np.random.default_rng(0)), repeats)
    boot = median_seconds(lambda: bootstrap_correlations(sums, sparse, np.random.default_rng(0)), repeats)
    tukey = median_seconds(lambda: randomised_tukey(sums["map@20"], np.random.default_rng(0), permutations), repeats)
    target = f"<= {8 * permutations / 10_000:g} s"
    return [
        (f"stability of questions: 20 sizes x 50 subsets, 6 measures, {size}", f"{curve:.2f} s", "<= 1 s"),
        (f"bootstrap of 4 correlations, 1,000 resamples, 6 measures, {size}", f"{boot:.2f} s", ""),
        (f"randomised Tukey HSD, {permutations:,} permutations, 2 threads, {size}", f"{tukey:.2f} s", target),
    ]


def stability_of_answers(quick: bool) -> Rows:
    """Time subsets of the positives of a whole test set, against evaluating each subset anew with pytrec_eval."""
    case = test_set_case(test_triples(), 6 if quick else SYSTEMS)
    repeats, depth, size, times = (1 if quick else 50), 100, 0.5, (1 if quick else 3)
    prepared = prepare(case.table)

    def act() -> object:
        return stability_curve(prepared, case.state, DASHBOARD, np.random.default_rng(0), repeats=repeats)

    used = time.process_time()
    curve = median_seconds(act, times)
    used = (time.process_time() - used) / times
    subset = case.state.copy()
    dropped = np.random.default_rng(1).random(subset.size) >= size
    subset[dropped] = LabelState.UNJUDGED
    once = seconds_of_pytrec_eval(Case(case.table, subset), depth)
    extrapolated = once * len(SIZES) * repeats * case.systems
    text = (
        f"stability of answers: {len(SIZES)} sizes x {repeats} subsets, 6 measures, {case.systems} systems, "
        f"{subset.size:,} triples on both sides ({case.table.questions:,} questions)"
    )
    against = f"pytrec_eval {extrapolated:,.0f} s, from one subset of one system at depth {depth}"
    target = "<= 4 s, >= 50 x" if not quick else ">= 50 x"
    return [(text, f"{curve:.1f} s, {used:.1f} s of processor time; {against}: {extrapolated / curve:,.0f} x", target)]


def seconds_of_pytrec_eval(case: Case, depth: int) -> float:
    """Return the seconds for the macro measures of the first system under these labels, after a check of the values.

    Its share of the six: it has no micro measures. Reading the qrels is part, since each subset has its own.
    """
    names = {"macro_mrr": FIVE["macro_mrr"], "map@20": FIVE["map@20"], "ndcg@20": FIVE["ndcg@20"]}
    names |= {"success@10": FIVE["success@10"]}
    qrels, run = case.qrels(), next(case.runs(depth))
    qrels = {q: labels for q, labels in qrels.items() if 1 in labels.values()}
    reference: dict[str, dict[str, float]] = {}

    def evaluate() -> None:
        nonlocal reference
        oracle = pytrec_eval.RelevanceEvaluator(qrels, {asked for _, asked in names.values()})
        reference = oracle.evaluate(run)

    taken = seconds(evaluate)
    found = values(prepare(case.table), case.state, ["map@20", "ndcg@20", "success@10"])
    for ours, value in found.items():  # the first answer may stand below the depth: no check of macro_mrr
        expected = [reference[f"q{q}"][names[ours][0]] for q in value.unit_question]
        np.testing.assert_allclose(value.per_unit[0], expected, atol=1e-6, err_msg=ours)
    return taken


def test_triples() -> np.ndarray:
    """Return the test triples of FB15k-237 or, without the data, the same number of drawn ones."""
    try:
        return fb15k237()[2]
    except FileNotFoundError:
        rng = np.random.default_rng(0)
        print("FB15k-237 is not there (TRIPLEPOOL_DATA): drawn triples instead", file=sys.stderr)
        return np.stack([rng.integers(high, size=20_466) for high in (14_541, 237, 3_000)], axis=1)


def measure_memory(factor: int) -> None:
    """Print rows, seconds and MiB of the sorted table, of the peak and of this process, which does nothing else."""
    small = pool_case(2)
    means(prepare(small.table), small.state, ALL)  # imports, above all PyKEEN's, are no part of it
    tracemalloc.start()
    case = pool_case(SYSTEMS, factor)
    prepared = prepare(case.table)
    table, _ = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    taken = seconds(lambda: means(prepared, case.state, ALL))
    _, peak = tracemalloc.get_traced_memory()
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(case.table.rows, taken, table / 2**20, peak / 2**20, resident)


def memory_table(factors: tuple[int, ...]) -> Iterator[str]:
    yield "| rows | judged triples | s | table, MiB | peak, MiB | peak, bytes per system and row | process, MiB |"
    yield "|---|---|---|---|---|---|---|"
    for factor in factors:
        done = subprocess.run(
            [sys.executable, __file__, "--memory", str(factor)], capture_output=True, text=True, check=True
        )
        rows, taken, table, peak, resident = (float(x) for x in done.stdout.split())
        each = peak * 2**20 / (rows * SYSTEMS)
        size = f"{rows:,.0f} ({factor} x) | {rows / 2:,.0f}"
        yield f"| {size} | {taken:.2f} | {table:,.0f} | {peak:,.0f} | {each:.0f} | {resident:,.0f} |"


def report(quick: bool) -> tuple[list[str], Summary]:
    """Return the section of docs/measured/benchmarks.md and the main figure, printing every line at once."""
    lines: list[str] = []

    def say(line: str) -> None:
        lines.append(line)
        print(line, flush=True)

    say(f"{os.cpu_count()} cores, drawn positions, medians. Equal values were checked first (pytrec_eval: to 1e-6).")
    say("")
    say("| what | measured | asked for |")
    say("|---|---|---|")
    rows, main_figure = comparison(quick)
    for part in (lambda _: rows, one_more_label, statistics_of_questions, stability_of_answers):
        for row in part(quick):
            say(f"| {' | '.join(row)} |")
    say("")
    say(
        f"Memory of all {len(ALL)} measures of {SYSTEMS} systems at once, in one process per size. *Peak* is arrays "
        "and objects during the computation, with the table. *Process* adds Python and the libraries, mainly torch."
    )
    say("")
    for line in memory_table((1, 10) if quick else (1, 10, 100)):
        say(line)
    return lines, main_figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small cases, nothing written")
    parser.add_argument("--memory", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.memory:
        measure_memory(arguments.memory)
        return
    lines, main_figure = report(arguments.quick)
    if not arguments.quick:
        write_section("measures", "\n".join(["## Measures", "", *lines]))
    print(main_figure)


if __name__ == "__main__":
    main()
