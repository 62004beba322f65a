"""Open, label, evaluate and export campaigns of 10,000, 100,000 and 1,000,000 items: does anything grow faster?

    python benchmarks/campaign_growth.py --quick        1,000 and 10,000 items
    python benchmarks/campaign_growth.py                10,000, 100,000 and 1,000,000; writes its table
    … --database-url postgresql://postgres@127.0.0.1:5432/test     on a database of its own on that server

The graph, its triples for people and the runs of two systems are drawn. Each size is a process of its own; *peak* is
the most memory that it had during a step. Not timed: drawing, and the judgements that stand for labels of people.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.export_scenes import BATCH, _judge, draw_runs, exported  # noqa: E402
from benchmarks.pool import forget_peak, peak_bytes  # noqa: E402
from benchmarks.queue_growth import requests  # noqa: E402
from benchmarks.queue_load import make_people, make_pool  # noqa: E402
from benchmarks.report import write_section  # noqa: E402
from benchmarks.scratch import scratch_site  # noqa: E402

if TYPE_CHECKING:
    from pooling.models import Pool

SIZES, QUICK = (10_000, 100_000, 1_000_000), (1_000, 10_000)
HEAD = (
    "| items | open, s | peak, MiB | claim of 8, ms | step, ms | evaluate, s | peak, MiB | freeze, s | export, s "
    "| peak, MiB |"
)
TEXT = (
    "Drawn campaigns with ten items a question, two systems with 100 candidates a question, and a judgement of every"
    " item. Each size ran once, in a process of its own; *peak* is the most memory that it had during the step, Python"
    " and libraries included. *Claim* and *step* are medians of 10 and 40 requests without a network. *Evaluate*"
    " computes the usual measures of both systems from nothing."
)


def timed(act: Callable[[], Any]) -> tuple[Any, float, int]:
    """Return the result, seconds, and the peak of this process's memory in MiB."""
    forget_peak()
    begin = time.perf_counter()
    found = act()
    return found, time.perf_counter() - begin, round((peak_bytes() or 0) / 2**20)


def measure(items: int, server: str) -> dict[str, float]:
    """Return the figures of one size."""
    with scratch_site(server) as folder:
        from django.conf import settings
        from django.db import connection

        from annotation.campaigns.lifecycle import open_campaign
        from evaluation.labels.qrels import freeze_qrels
        from evaluation.measures.registry import USUAL_NAMES
        from evaluation.sections.metrics import metrics

        settings.ALLOWED_HOSTS = ["testserver"]
        pool: Pool = make_pool(items)
        campaign, opening, peak_open = timed(lambda: open_campaign(pool, seed=3))
        (person,) = make_people(campaign, 1)
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")  # as the database does by itself, a little later
        claim, step = requests(person, 40)
        draw_runs(pool, ["a", "b"])
        ids = list(pool.triples.order_by("id").values_list("pk", flat=True))
        parts = [list(enumerate(ids[start : start + BATCH], start)) for start in range(0, len(ids), BATCH)]
        _judge(pool, parts, "import")
        _, evaluation, peak_evaluate = timed(lambda: metrics(pool, "current", list(USUAL_NAMES), True))
        qrels, freezing, _ = timed(lambda: freeze_qrels(pool, "all"))
        connection.close()
        out = exported(qrels, folder / "out")
        return {
            "open": opening,
            "open_peak": peak_open,
            "claim": claim,
            "step": step,
            "evaluate": evaluation,
            "evaluate_peak": peak_evaluate,
            "freeze": freezing,
            "export": out.folder,
            "export_peak": out.peak,
        }


def row(items: int, one: dict[str, float]) -> str:
    """Return the row of the table."""
    return (
        f"| {items:,} | {one['open']:.1f} | {one['open_peak']:,.0f} | {one['claim']:.1f} | {one['step']:.1f} "
        f"| {one['evaluate']:.2f} | {one['evaluate_peak']:,.0f} | {one['freeze']:.1f} | {one['export']:.1f} "
        f"| {one['export_peak']:,.0f} |"
    )


def main() -> None:
    """Run, print, and in the full form write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes; nothing written")
    parser.add_argument("--database-url", default="", help="a PostgreSQL server; default: SQLite")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(measure(args.one, args.database_url)))
        return
    print(HEAD)
    rows = []
    for size in QUICK if args.quick else SIZES:
        command = [sys.executable, __file__, "--one", str(size), "--database-url", args.database_url]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        if done.returncode:
            raise SystemExit(f"{' '.join(command)} failed")
        rows.append(row(size, json.loads(done.stdout.splitlines()[-1])))
        print(rows[-1], flush=True)
    if not args.quick:
        database = "PostgreSQL" if args.database_url else "SQLite"
        write_section(
            "campaign-growth",
            "\n".join(["## Campaign growth", "", TEXT, "", f"{database}.", "", HEAD, "|---" * 10 + "|", *rows]),
        )


if __name__ == "__main__":
    main()
