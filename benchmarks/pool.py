"""Gather, filter and store a pool from the first candidates of six systems; pandas gathers the same in this run.

    python benchmarks/pool.py --quick     1,000 seeds; the last line is the main ratio
    python benchmarks/pool.py             up to the 20,466 seeds of FB15k-237; writes its table into docs/benchmarks.md

Candidates are drawn (benchmarks/scratch.py), depth is 10. The peer is a pandas groupby that finds the same triples,
smallest depths and provenance from the same arrays; the results are compared before the times are. Filtering and
storing (SQLite) have no peer. Memory is the growth of the process's peak, where /proc tells it.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.report import write_section
from benchmarks.scratch import draw_candidates, make_graph, scratch_site

if TYPE_CHECKING:
    from pooling.kernels.pool import Gathered
    from pooling.kernels.questions import Questions
    from pooling.models import Graph

SYSTEMS, DEPTH = 6, 10
SIZES = (1_000, 5_000, 10_000, 20_466)


class Row(NamedTuple):
    """What one size took: seconds, and bytes of memory (None where it cannot be told)."""

    seeds: int
    findings: int
    triples: int
    gather: float
    pandas: float
    store: float
    memory: int | None


def pandas_gather(questions: Questions, candidates: list[np.ndarray], depth: int) -> Gathered:
    """The peer: one long frame of findings, sorted, grouped by triple."""
    from pooling.kernels.pool import PROVENANCE, Gathered

    frames = []
    for system, entity in enumerate(candidates):
        count = len(entity)
        frames.append(
            pd.DataFrame({
                "side": np.repeat(questions.side, depth), "relation": np.repeat(questions.relation, depth),
                "given": np.repeat(questions.entity, depth), "found": entity[:, :depth].ravel(),
                "rank": np.tile(np.arange(1, depth + 1), count), "system": system,
            })
        )  # fmt: skip
    frame = pd.concat(frames, ignore_index=True)
    frame = frame[frame["found"] >= 0]
    is_tail = frame["side"] == 0
    frame["head"] = frame["given"].where(is_tail, frame["found"])
    frame["tail"] = frame["found"].where(is_tail, frame["given"])
    triple = ["relation", "head", "tail"]
    frame["depth"] = frame.groupby(triple, sort=False)["rank"].transform("min")
    frame = frame.sort_values(["depth", *triple, "system", "side", "rank"])
    counts = frame.groupby(["depth", *triple], sort=False).size()
    triples = counts.index.to_frame()[["head", "relation", "tail"]].to_numpy(np.int32)
    findings = np.zeros(len(frame), dtype=PROVENANCE)
    for name in ("system", "side", "rank"):
        findings[name] = frame[name]
    indptr = np.concatenate([[0], counts.to_numpy().cumsum()])
    return Gathered(triples, counts.index.get_level_values("depth").to_numpy(), findings, indptr)


def median_seconds(act: Callable[[], object], repeats: int) -> float:
    """Median time of `act`."""
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        act()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def measure(graph: Graph, seeds: int, repeats: int) -> Row:
    """Gather, compare, time and store a pool of so many seeds."""
    from pooling.domain.graph import open_graph
    from pooling.domain.pool import store_pooled
    from pooling.kernels.pool import gather
    from pooling.kernels.questions import questions_of
    from pooling.models import Pool

    arrays = open_graph(graph)
    rng = np.random.default_rng(seeds)
    chosen = arrays.test[:seeds]
    questions, _, _ = questions_of(chosen)
    candidates = draw_candidates(len(questions.side), SYSTEMS, rng)
    ours, theirs = gather(questions, candidates, DEPTH), pandas_gather(questions, candidates, DEPTH)
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(one, other)
    del theirs
    gather_seconds = median_seconds(lambda: gather(questions, candidates, DEPTH), repeats)
    pandas_seconds = median_seconds(lambda: pandas_gather(questions, candidates, DEPTH), repeats)
    pool = Pool.objects.create(
        graph=graph, name=f"p{seeds}", origin="built", depth=DEPTH, seed_source="drawn",
        contributors=[f"s{i}" for i in range(SYSTEMS)], filters=["category-head", "category-tail", "types"],
    )  # fmt: skip
    before = forget_peak()
    begin = time.perf_counter()
    store_pooled(pool, gather(questions, candidates, DEPTH), chosen, arrays)
    store_seconds = time.perf_counter() - begin
    after = peak_bytes()
    memory = None if before is None or after is None else after - before
    stored = pool.triples.count()
    assert stored == len(ours.triples), f"{stored} triples were stored of {len(ours.triples)}"
    pool.delete()
    return Row(seeds, len(ours.findings), stored, gather_seconds, pandas_seconds, store_seconds, memory)


def forget_peak() -> int | None:
    """Start a new peak of this process's memory; its present size in bytes."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return None
    return peak_bytes()


def peak_bytes() -> int | None:
    """The most memory that this process has held since forget_peak."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return None
    found = [int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM")]
    return found[0] if found else None


def main() -> None:
    """Run, print, and in the full form write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="1,000 seeds, within a minute; nothing written")
    quick = parser.parse_args().quick
    sizes, repeats = (SIZES[:1], 3) if quick else (SIZES, 3)
    table = [
        "| seeds | findings | pooled triples | gather, s | pandas, s | ratio | all with filter and store, s"
        " | pooled triples/s | peak memory, MiB |",
        "|---" * 9 + "|",
    ]
    ratios = []
    with scratch_site():
        graph = make_graph(max(sizes), np.random.default_rng(1))
        for size in sizes:
            row = measure(graph, size, repeats)
            ratios.append(row.pandas / row.gather)
            memory = "not known" if row.memory is None else f"{row.memory / 2**20:,.0f}"
            table.append(
                f"| {size:,} | {row.findings:,} | {row.triples:,} | {row.gather:.2f} | {row.pandas:.2f}"
                f" | {ratios[-1]:.1f} | {row.store:.1f} | {row.triples / row.store:,.0f} | {memory} |"
            )
            print(table[-1], flush=True)
    if not quick:
        intro = (
            f"{SYSTEMS} systems, depth {DEPTH}, both questions of every seed; drawn candidates, SQLite. The ratio is"
            " of pandas' time to ours for gathering the same triples, depths and provenance; the results are equal."
        )
        write_section("pool", "\n".join(["## Pool", "", intro, "", *table]))
    print(f"pool: {statistics.median(ratios):.1f} x pandas (gathering)")


if __name__ == "__main__":
    main()
