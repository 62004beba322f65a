"""Gather, filter and store a pool from the first candidates of six systems; pandas gathers the same in this run.

    python benchmarks/pool.py --quick     1,000 seeds; the last line is the main ratio
    python benchmarks/pool.py             up to the 20,466 seeds of FB15k-237; writes its table into docs/measured
    … --database-url postgresql://postgres@127.0.0.1:5432/test     and on that server, in a database of its own

Candidates are drawn (benchmarks/scratch.py), depth is 10. The peer is a pandas groupby that finds the same triples,
smallest depths and provenance from the same arrays; the results are compared before the times are. Filtering and
storing have no peer. Memory is the growth of the process's peak, where /proc tells it; that of a database server is
its own.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.report import Summary, write_section
from benchmarks.scratch import draw_candidates, make_graph, scratch_site

if TYPE_CHECKING:
    from pooling.models import Graph
    from pooling.pools.kernels.gathering import Gathered
    from pooling.questions.kernel import Questions

SYSTEMS, DEPTH = 6, 10
SIZES = (1_000, 5_000, 10_000, 20_466)


class Row(NamedTuple):
    """Hold what one size took: seconds, and bytes of memory (None where unknown)."""

    seeds: int
    findings: int
    triples: int
    gather: float
    pandas: float
    store: float
    memory: int | None


def pandas_gather(questions: Questions, candidates: list[np.ndarray], depth: int) -> Gathered:
    """Gather with pandas: one long frame of findings, sorted, grouped by triple."""
    from pooling.pools.kernels.gathering import PROVENANCE, Gathered

    frames = []
    for system, entity in enumerate(candidates):
        count = len(entity)
        frames.append(
            pd.DataFrame(
                {
                    "side": np.repeat(questions.side, depth),
                    "relation": np.repeat(questions.relation, depth),
                    "given": np.repeat(questions.entity, depth),
                    "found": entity[:, :depth].ravel(),
                    "rank": np.tile(np.arange(1, depth + 1), count),
                    "system": system,
                }
            )
        )
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
    """Return the median seconds of `act`."""
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        act()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def measure(graph: Graph, seeds: int, repeats: int) -> Row:
    """Gather, compare, time and store a pool with this number of seeds."""
    from pooling.graphs.opening import open_graph
    from pooling.pools.kernels.gathering import gather
    from pooling.questions.kernel import questions_of

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
    seconds, memory, stored = store(graph, chosen, questions, candidates)
    assert stored == len(ours.triples), f"{stored} triples were stored of {len(ours.triples)}"
    return Row(seeds, len(ours.findings), stored, gather_seconds, pandas_seconds, seconds, memory)


def store(
    graph: Graph, seeds: np.ndarray, questions: Questions, candidates: list[np.ndarray]
) -> tuple[float, int | None, int]:
    """Gather, filter and store one pool; return seconds, bytes of memory, pooled triples."""
    from pooling.graphs.opening import open_graph
    from pooling.models import Pool
    from pooling.pools.build import store_pooled
    from pooling.pools.kernels.gathering import gather

    pool = Pool.objects.create(
        graph=graph,
        name=f"p{len(seeds)}",
        origin="built",
        depth=DEPTH,
        seed_source="drawn",
        contributors=[f"s{i}" for i in range(SYSTEMS)],
        filters=["category-head", "category-tail", "types"],
    )
    before = forget_peak()
    begin = time.perf_counter()
    store_pooled(pool, gather(questions, candidates, DEPTH), seeds, open_graph(graph))
    seconds = time.perf_counter() - begin
    after = peak_bytes()
    stored = pool.triples.count()
    pool.triples.all()._raw_delete(pool.triples.db)  # the next size must not pay for this one
    return seconds, None if before is None or after is None else after - before, stored


def stored_on(server: str, sizes: Sequence[int]) -> list[tuple[float, int | None]]:
    """Return seconds and bytes of storing pools of these sizes on a server, in a process with its own database."""
    command = [sys.executable, __file__, "--database-url", server, "--only-store", *map(str, sizes)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return [(seconds, memory) for seconds, memory in json.loads(done.stdout)]


def only_store(server: str, sizes: Sequence[int]) -> None:
    """Store pools in the process that stored_on starts."""
    from pooling.questions.kernel import questions_of

    told = []
    with scratch_site(server):
        from pooling.graphs.opening import open_graph

        graph = make_graph(max(sizes), np.random.default_rng(1))
        for size in sizes:
            chosen = open_graph(graph).test[:size]
            questions, _, _ = questions_of(chosen)
            candidates = draw_candidates(len(questions.side), SYSTEMS, np.random.default_rng(size))
            told.append(store(graph, chosen, questions, candidates)[:2])
    print(json.dumps(told))


def forget_peak() -> int | None:
    """Start a new peak of this process's memory, and return its present size in bytes."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return None
    return peak_bytes()


def peak_bytes() -> int | None:
    """Return the most memory of this process since forget_peak."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return None
    found = [int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM")]
    return found[0] if found else None


def stored_cells(triples: int, found: tuple[float, int | None] | None) -> str:
    """Return the cells of seconds, triples per second and MiB."""
    if found is None:
        return "not run | |"
    seconds, memory = found
    mebibytes = "not known" if memory is None else f"{memory / 2**20:,.0f}"
    return f"{seconds:.1f} | {triples / seconds:,.0f} | {mebibytes}"


def main() -> None:
    """Run, print, and in the full form write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="1,000 seeds, within a minute; nothing written")
    parser.add_argument("--database-url", default="", metavar="URL", help="a PostgreSQL server, as a second store")
    parser.add_argument("--only-store", nargs="+", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only_store:
        only_store(options.database_url, options.only_store)
        return
    quick, server = options.quick, options.database_url
    sizes, repeats = (SIZES[:1], 3) if quick else (SIZES, 3)
    on_server = stored_on(server, sizes) if server else [None] * len(sizes)
    table = [
        "| seeds | findings | pooled triples | gather, s | pandas, s | ratio | SQLite: all with filter and store, s"
        " | pooled triples/s | peak memory, MiB | PostgreSQL: the same, s | pooled triples/s | peak memory, MiB |",
        "|---" * 12 + "|",
    ]
    main_figure = None
    with scratch_site():
        graph = make_graph(max(sizes), np.random.default_rng(1))
        for size, elsewhere in zip(sizes, on_server, strict=True):
            row = measure(graph, size, repeats)
            main_figure = Summary(f"gather a pool of {size:,} seeds", row.gather, "pandas", row.pandas)
            table.append(
                f"| {size:,} | {row.findings:,} | {row.triples:,} | {row.gather:.2f} | {row.pandas:.2f}"
                f" | {main_figure.ratio:.1f} | {stored_cells(row.triples, (row.store, row.memory))}"
                f" | {stored_cells(row.triples, elsewhere)} |"
            )
            print(table[-1], flush=True)
    if not quick:
        intro = (
            f"{SYSTEMS} systems, depth {DEPTH}, both questions of every seed, drawn candidates. The ratio"
            " is pandas' time divided by ours, for gathering the same triples, depths and provenance. The results are"
            " equal."
        )
        write_section("pool", "\n".join(["## Pool", "", intro, "", *table]))
    print(main_figure)


if __name__ == "__main__":
    main()
