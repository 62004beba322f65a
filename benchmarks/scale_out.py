"""Build a pool of FB15k-237's test set with one worker and with two of one thread each: how much faster are two?

    python benchmarks/scale_out.py --quick        the 661 test triples of UMLS, once each: does it run?
    python benchmarks/scale_out.py                20,466 test triples × 6 systems, three times each; writes its table
    … --database-url postgresql://postgres@127.0.0.1:5432/test     on a database of its own on that server

The six systems are trained for one epoch, since their figures do not matter here. Every build starts without runs and
makes everything: candidates, pool, rank rows and distributions. Builds with one and with two workers take turns.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.report import write_section  # noqa: E402
from benchmarks.scratch import scratch_site  # noqa: E402

if TYPE_CHECKING:
    from pooling.models import Graph

DATA = Path(os.environ.get("TRIPLEPOOL_DATA", ROOT.parent / "shared" / "data"))
KINDS = ["transe", "distmult", "complex", "rotate", "rescal", "conve"]


def say(line: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {line}", flush=True)


def make_graph(quick: bool) -> Graph:
    from pooling.graphs.bundled import read_pykeen
    from pooling.graphs.imports import import_graph
    from pooling.graphs.tsv import read_tsv

    source = read_pykeen("UMLS") if quick else read_tsv(DATA / "fb15k-237")
    return import_graph("measured", source, options={})


def train(graph: Graph) -> None:
    """Train the systems for one epoch, with two workers."""
    from core.jobs.lifecycle import start_job
    from core.jobs.worker import failures, start_worker, stop_worker, wait_for
    from pooling.enums import PoolingJob
    from pooling.training.train import create_systems

    systems = create_systems(graph, KINDS, {"epochs": "1"}, device="cpu")
    jobs = [start_job(PoolingJob.TRAIN, system=system) for system in systems]
    workers = [start_worker(processes=1) for _ in range(2)]
    try:
        if problems := failures(wait_for(jobs, lambda rows: None)):
            sys.exit("\n".join(problems))
    finally:
        for worker in workers:
            stop_worker(worker)


def build(graph: Graph, workers: int, sample: float) -> tuple[float, int, set[str]]:
    """Return the seconds of a build from nothing, the triples of the pool, and the checksums of its runs."""
    from core.jobs.lifecycle import start_job
    from core.jobs.queues import live_workers
    from core.jobs.worker import failures, start_worker, stop_worker, wait_for
    from pooling.enums import PoolingJob
    from pooling.models import Pool, Run
    from pooling.pools.build import create_pool

    Pool.objects.all().delete()
    Run.every.all().delete()
    pool = create_pool(graph, name="measured", sample=sample, depth=10)
    started = [start_worker(processes=1) for _ in range(workers)]
    try:
        while live_workers().count() < workers:
            time.sleep(0.2)
        begin = time.perf_counter()
        job = start_job(PoolingJob.BUILD_POOL, pool=pool)
        rows = wait_for([job], lambda rows: None, every=0.2)
        seconds = time.perf_counter() - begin
        if problems := failures(rows):
            sys.exit("\n".join(problems))
        return seconds, pool.triples.count(), set(Run.every.values_list("sha256", flat=True))
    finally:
        from core.models import Worker

        for worker in started:
            stop_worker(worker)
        Worker.objects.all().delete()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--database-url", default="", metavar="URL")
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    os.environ["WORKER_PROCESSES"] = str(os.cpu_count() or 1)  # then each computes with one thread
    with scratch_site(arguments.database_url):
        graph = make_graph(arguments.quick)
        say("training six systems for one epoch")
        train(graph)
        times: dict[int, list[float]] = {1: [], 2: []}
        sums: list[set[str]] = []
        for _ in range(1 if arguments.quick else arguments.repeats):
            for workers in times:
                seconds, triples, made = build(graph, workers, 1.0)
                say(f"{workers} worker{'s' * (workers > 1)}: {seconds:.1f} s, {triples:,} triples")
                times[workers].append(seconds)
                sums.append(made)
        assert all(one == sums[0] for one in sums), "the runs differ"
        seeds = graph.num_test
    one, two = (statistics.median(times[workers]) for workers in (1, 2))
    text = (
        f"{seeds:,} seeds × 6 systems, a pool of depth 10 with {triples:,} triples, its rank rows and distributions."
        f" Workers of one thread; medians of {len(times[1])}. The runs were the same to the last bit.\n\n"
        "| workers | seconds | times as fast |\n|---:|---:|---:|\n"
        f"| 1 | {one:.0f} | 1 |\n| 2 | {two:.0f} | {one / two:.2f} |\n"
    )
    say(f"two workers are {one / two:.2f} times as fast")
    if not arguments.quick:
        write_section("scale-out", f"## Two workers\n\n{text}")


if __name__ == "__main__":
    main()
