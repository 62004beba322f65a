"""Measure the memory of a web process while every page of the published pool of FB15k-237 is opened, twice.

    python benchmarks/page_memory.py --quick     the first 15 pages; nothing written
    python benchmarks/page_memory.py             all pages; writes its table

The pool is the published one of FB15k-237, with its labels and the six runs of docs/measured, in a site that is made
for it, on SQLite. A manager follows every link of the pool's pages in a gunicorn of one process and eight threads: one
page of each kind, and each page of results. Sections that are not kept yet are computed by a local worker first, as on
a site, so that the second round shows what stays. Memory is the resident set of the process, its shared libraries
included. The ratio is of the target, 400 MiB, to the memory after the first round.
"""

from __future__ import annotations

import argparse
import http.client
import os
import re
import sys
import time
from collections import Counter
from pathlib import Path
from urllib.parse import urljoin, urlsplit

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.chart_pages import session_of_a_manager  # noqa: E402
from benchmarks.processes import children_of, resident  # noqa: E402
from benchmarks.queue_load import server  # noqa: E402
from benchmarks.report import Summary, machine, write_section  # noqa: E402
from benchmarks.scratch import scratch_site  # noqa: E402

TARGET_MIB = 400
LINK = re.compile(r'href="([^"#]+)')


def worker() -> int:
    """Return the process id of the only worker of the gunicorn that this process started."""
    for _ in range(100):  # the port is open before the worker is there
        workers = [pid for master in children_of(os.getpid()) for pid in children_of(master)]
        if len(workers) == 1:
            return workers[0]
        time.sleep(0.1)
    sys.exit(f"expected one worker, found {len(workers)}")


def compute_all(pool_name: str) -> None:
    """Compute and keep every section, as a worker does."""
    from evaluation.pages.registry import ANALYSES
    from evaluation.sections.figure_cache import part_figure
    from evaluation.sections.settings import Settings
    from pooling.models import Pool

    pool = Pool.objects.get(name=pool_name)
    for analysis in ANALYSES:
        for part in analysis.parts:
            print(f"{analysis.key}: {part.key}", flush=True)
            part_figure(pool, analysis, part, Settings())


def pages_of(ask: http.client.HTTPConnection, session: str, first: str) -> list[str]:
    """Return one page of each view that links lead to from the first, and each page of results."""
    from django.urls import Resolver404, resolve

    todo, seen, found = [first], Counter[str](), []
    while todo:
        path = todo.pop(0)
        try:
            name = resolve(urlsplit(path).path).view_name
        except Resolver404:
            continue
        is_result = "/evaluation/" in path and "?" not in path and name == "analysis"
        if path in found or "logout" in path or (seen[name] and not is_result):
            continue
        kind, text = get(ask, session, path)
        seen[name] += 1
        if not kind.startswith("text/html"):
            continue
        found.append(path)
        todo += [urljoin(path, link.replace("&amp;", "&")) for link in LINK.findall(text) if "//" not in link]
    return found


def get(ask: http.client.HTTPConnection, session: str, path: str) -> tuple[str, str]:
    """Return kind and text of an answer."""
    ask.request("GET", path, headers={"Cookie": f"sessionid={session}"})
    answer = ask.getresponse()
    return answer.headers.get("Content-Type", ""), answer.read().decode(errors="replace")


def main() -> None:
    """Run, print, and in the full form write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="the first 15 pages; nothing written")
    args = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    with scratch_site():
        from django.contrib.auth import get_user_model

        from benchmarks.fb15k237_study import SYSTEMS
        from benchmarks.thirteen_tables import kept_figures, measured_study

        study = measured_study(kept_figures(SYSTEMS))
        get_user_model().objects.create_superuser("manager")
        if not args.quick:
            compute_all(study.found.name)
        session = session_of_a_manager()
        with server(1) as port:
            process = worker()
            time.sleep(3)
            rounds = [resident("VmRSS", process)]
            ask = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
            paths = pages_of(ask, session, f"/pools/{study.found.name}")[: 15 if args.quick else None]
            rounds.append(resident("VmRSS", process))
            largest = rounds[-1]
            for _ in range(2):
                for path in paths:
                    get(ask, session, path)
                    largest = max(largest, resident("VmRSS", process))
                time.sleep(1)
                rounds.append(resident("VmRSS", process))
    start, first, second, third = rounds
    text = (
        f"{len(paths)} pages of the published pool of FB15k-237 with six systems, SQLite, a gunicorn with one process"
        f" and eight threads: {start:.0f} MiB when it has started, {first:.0f} MiB after the first round (target"
        f" {TARGET_MIB}), {second:.0f} and {third:.0f} MiB after two more, {largest:.0f} MiB at most after a page."
        f" Sections were computed before, in another process. {machine()}."
    )
    print(text)
    if not args.quick:
        write_section("page-memory", f"## Memory of all pages\n\n{text}")
    print(Summary("memory of a web process after all pages, MiB as s", first, "the target", TARGET_MIB))


if __name__ == "__main__":
    main()
