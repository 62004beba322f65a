"""Import a pool of a million triples, open its campaign and import a million labels: time and memory.

    python benchmarks/import_growth.py --quick     10,000 triples; nothing written
    python benchmarks/import_growth.py             10,000, 100,000 and 1,000,000; writes its table
    … --database-url postgresql://postgres@127.0.0.1:5432/test     on a database of its own on that server

Graph, pool file and label file are drawn: ten triples a question, each found by two systems and with one label, its
annotator, link and day. Each step is a process of its own, as a command is; *peak* is the most memory that it had
during the step. Processor time is that of the process and, on PostgreSQL, of the server's process that serves it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.pool import forget_peak, peak_bytes  # noqa: E402
from benchmarks.report import Summary, machine, write_section  # noqa: E402
from benchmarks.scratch import make_graph, scratch_site  # noqa: E402

if TYPE_CHECKING:
    from pooling.graphs.kernels.graph_arrays import GraphArrays

SIZES, QUICK = (10_000, 100_000, 1_000_000), (10_000,)
TARGETS = {"pool": 20.0, "campaign": 30.0, "labels": 40.0}  # seconds for a million
PER_QUESTION = 10
HEAD = (
    "| triples | pool, s | processor, s | peak, MiB | campaign, s | processor, s | peak, MiB | labels, s | processor, s"
    " | peak, MiB | of a triple, kB |"
)
TEXT = (
    "A pool file is imported, the campaign of its pool is opened, and a label of each triple is imported, each by a"
    " process of its own. All is drawn: ten triples a question, found by two systems; labels have an annotator, a link"
    " and a day. *Processor* is the time of the process and, on PostgreSQL, of the server's process that serves it."
    " *Peak* is the most memory of the process, Python and libraries included; *of a triple*, what the database then"
    " holds. Targets for a million: 20, 30 and 40 s, 700 MiB."
)


def write_files(graph: GraphArrays, items: int, folder: Path) -> None:
    """Write seeds.tsv, pool.tsv and labels.tsv."""
    known = {tuple(row) for split in (graph.train, graph.valid, graph.test) for row in split.tolist()}
    entities, relations = graph.entities, graph.relations
    seeds = "".join(f"{entities[h]}\t{relations[r]}\t{entities[t]}\n" for h, r, t in graph.test.tolist())
    (folder / "seeds.tsv").write_text(seeds, encoding="utf-8")
    written = number = 0
    rank = np.random.default_rng(2).integers(1, 11, size=items).tolist()
    with (folder / "pool.tsv").open("w") as pool, (folder / "labels.tsv").open("w") as labels:
        while written < items:
            question, place = divmod(number, PER_QUESTION)
            relation, tail = divmod(question, len(entities))
            head, number = (tail + 1 + 97 * place) % len(entities), number + 1
            if (head, relation, tail) in known:
                continue
            triple = f"{entities[head]}\t{relations[relation]}\t{entities[tail]}"
            depth = rank[written]
            pool.write(f"{triple}\t{depth}\ta:head:{depth};b:head:{depth % 10 + 1}\n")
            link = f"https://www.wikidata.org/wiki/Q{written}"
            labels.write(f"{triple}\t{'YNN'[written % 3]}\tp{written % 40}\t{link}\t2026-01-{1 + written % 28:02}\n")
            written += 1


def database_seconds() -> float:
    """Return the processor time of the process that serves this connection; 0.0 where none does or it is elsewhere."""
    from django.db import connection

    if connection.vendor != "postgresql":
        return 0.0
    connection.ensure_connection()
    stat = Path(f"/proc/{connection.connection.info.backend_pid}/stat")
    if not stat.exists():
        return 0.0
    fields = stat.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def act(step: str, folder: Path) -> int:
    """Do one step on the site of the environment; return the rows that it made."""
    from annotation.campaigns.lifecycle import open_campaign
    from annotation.judging.label_import import import_labels
    from core.files.lines import ON_SERVER
    from pooling.models import Graph
    from pooling.pools.build import get_pool, import_pool

    if step == "pool":
        filters = ("types", "self-answer")  # those by category would take every drawn triple
        file, seeds = folder / "pool.tsv", folder / "seeds.tsv"
        row = Graph.objects.get()
        pool = import_pool(row, name="drawn", file=file, seeds_file=seeds, filters=filters, bounds=ON_SERVER)
        return pool.triples.count()
    pool = get_pool("drawn")
    if step == "campaign":
        return open_campaign(pool, seed=3).items.count()
    return import_labels(pool, folder / "labels.tsv").imported


def do_step(step: str, folder: Path) -> None:
    """Do one step and print its rows, seconds, processor seconds and peak in MiB."""
    import django

    django.setup()
    forget_peak()
    begin, cpu, database = time.perf_counter(), time.process_time(), database_seconds()
    rows = act(step, folder)
    seconds = time.perf_counter() - begin
    busy = time.process_time() - cpu + database_seconds() - database
    print(json.dumps([rows, seconds, busy, (peak_bytes() or 0) / 2**20]))


def measure(items: int, server: str) -> tuple[str, float]:
    """Return the row of one size, and the seconds of its steps together."""
    with scratch_site(server) as folder:
        from django.db import connection, connections

        from pooling.graphs.opening import open_graph

        graph = make_graph(1000, np.random.default_rng(2))
        write_files(open_graph(graph), items, folder)
        connections.close_all()
        cells, total = [f"{items:,}"], 0.0
        for step in TARGETS:
            command = [sys.executable, __file__, "--step", step, str(folder)]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=os.environ)
            rows, seconds, busy, peak = json.loads(done.stdout.splitlines()[-1])
            if rows != items:
                raise SystemExit(f"{step}: {rows:,} rows where {items:,} should be")
            cells += [f"{seconds:.1f}", f"{busy:.1f}", f"{peak:,.0f}"]
            total += seconds
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_database_size(current_database())")
                size = cursor.fetchone()[0]
        else:
            size = sum(file.stat().st_size for file in folder.glob("benchmark.sqlite3*"))
        return f"| {' | '.join([*cells, f'{size / items / 1000:.2f}'])} |", total


def main() -> None:
    """Run, print, and in the full form write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a small size; nothing written")
    parser.add_argument("--database-url", default="", help="a PostgreSQL server; default: SQLite")
    parser.add_argument("--sizes", type=int, nargs="+", help="other sizes; nothing written")
    parser.add_argument("--step", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.step:
        do_step(args.step[0], Path(args.step[1]))
        return
    load = os.getloadavg()[0]
    print(HEAD)
    rows = []
    for size in args.sizes or (QUICK if args.quick else SIZES):
        row, total = measure(size, args.database_url)
        rows.append(row)
        print(row, flush=True)
    database = "PostgreSQL" if args.database_url else "SQLite"
    if not args.quick and not args.sizes:
        about = f"{database}, {machine()}; load at the beginning: {load:.1f}."
        section = "\n".join(["## Import growth", "", TEXT, "", about, "", HEAD, "|---" * 11 + "|", *rows])
        write_section("import-growth", section)
    wanted = sum(TARGETS.values()) * size / 1e6
    print(Summary(f"Import a pool, its campaign and {size:,} labels", total, "the target, scaled", wanted))


if __name__ == "__main__":
    main()
