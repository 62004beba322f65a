"""Time the way from a judgement to the new figures on an open page *Results overview*, in Chromium.

    python benchmarks/label_to_figure.py --quick     10 judgements; nothing written
    python benchmarks/label_to_figure.py             100 judgements; writes its table

The pool is the published one of FB15k-237, with its labels and the six runs of docs/measured, in a site that is made
for it, on SQLite. A gunicorn and Chromium run on this machine. A judgement of people is turned around; the time begins
when that is stored, and ends when the page has replaced its figures by those of the new labels. Judgements come one to
three seconds after the figures of the one before, at a drawn time. The ratio is of the target, 0.4 s, to the median.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.browser import chromium  # noqa: E402
from benchmarks.chart_pages import session_of_a_manager  # noqa: E402
from benchmarks.queue_load import server  # noqa: E402
from benchmarks.report import Summary, write_section  # noqa: E402
from benchmarks.scratch import scratch_site  # noqa: E402

if TYPE_CHECKING:
    from pooling.models import Pool

MEDIAN_S, P95_S = 0.4, 0.8
# The wall time at which the page had figures of each version.
WATCH = """() => {
    window.seen = {};
    const look = () => { window.seen[document.querySelector("#figures > *").dataset.version] ??= Date.now(); };
    new MutationObserver(look).observe(document.getElementById("figures"), { childList: true });
}"""


def measure(pool: Pool, address: str, session: str, judgements: int) -> list[float]:
    """Return the seconds from each judgement to its figures."""
    from annotation.enums import Verdict
    from annotation.models import Judgement
    from core import clock
    from evaluation.overview.rankings import page_version

    rng, taken = np.random.default_rng(1), []
    turn = {Verdict.POSITIVE: Verdict.NEGATIVE, Verdict.NEGATIVE: Verdict.POSITIVE}
    rows = list(Judgement.objects.filter(pool=pool, verdict__in=turn).order_by("pk")[: 2 * judgements])
    with chromium(address, session, bypass_csp=True) as context:
        page = context.new_page()
        page.goto(f"{address}/pools/{pool.name}/evaluation")
        page.wait_for_selector("#figures > *")
        page.evaluate(WATCH)
        for i, row in enumerate(rng.permutation(len(rows))[: judgements + 1]):
            page.wait_for_timeout(float(rng.uniform(1000, 3000)))
            turned = Judgement.objects.filter(pk=rows[row].pk)
            turned.update(verdict=turn[rows[row].verdict], decided_at=clock.now())
            begin, wanted = time.time(), page_version(pool)
            page.wait_for_function("(wanted) => wanted in window.seen", arg=wanted, timeout=60_000)
            if i:  # the first one finds nothing in memory
                taken.append(page.evaluate("(wanted) => window.seen[wanted]", wanted) / 1000 - begin)
    return taken


def main() -> None:
    """Run, print, and in the full form write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="10 judgements; nothing written")
    args = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    with scratch_site():
        from django.contrib.auth import get_user_model

        from benchmarks.fb15k237_study import SYSTEMS
        from benchmarks.thirteen_tables import kept_figures, measured_study

        study = measured_study(kept_figures(SYSTEMS))
        get_user_model().objects.create_superuser("manager")
        with server(1) as port:
            taken = measure(study.found, f"http://127.0.0.1:{port}", session_of_a_manager(), 10 if args.quick else 100)
    middle, high = np.quantile(taken, [0.5, 0.95])
    text = (
        f"{len(taken)} judgements of the published pool of FB15k-237, six systems, SQLite, with Chromium and the server"
        f" on the same {os.cpu_count()} cores: median {middle:.2f} s (target {MEDIAN_S}), 95th percentile {high:.2f} s"
        f" (target {P95_S}), longest {max(taken):.2f} s. Load of the machine: {os.getloadavg()[0]:.0f}."
    )
    print(text)
    if not args.quick:
        write_section("label-to-figure", f"## Label to figure\n\n{text}")
    print(Summary("a label to its figures on an open page", float(middle), "the target", MEDIAN_S))


if __name__ == "__main__":
    main()
