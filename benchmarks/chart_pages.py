"""Measure pages with charts in Chromium: bytes of script, time until charts are painted, blocking of the main thread.

    make demo SERVE=0; python benchmarks/chart_pages.py --quick     every page once; nothing written
    make demo SERVE=0; python benchmarks/chart_pages.py             every page five times; writes its table
    python benchmarks/chart_pages.py --fb15k237                     the same of the published pool of FB15k-237

The pages are those of the pool `demo` in the folder of the site (TRIPLEPOOL_VAR), or of the published pool, its labels
and the six runs of docs/measured in a site that is made for it; computed and kept before the clock starts. A gunicorn
and Chromium run on this machine. Scripts are counted as transferred, without the browser's cache. A page is painted in
the second frame in which every chart has its drawing, so the time has the server's answer in it. Blocking is the sum of
what tasks of the main thread take beyond 50 ms; CPU is the processor time of the main thread, which other work on the
machine does not change. The ratio is of the target, 500 ms, to the median of the slowest page.
"""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import nullcontext
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.browser import chromium  # noqa: E402
from benchmarks.queue_load import server  # noqa: E402
from benchmarks.report import Summary, write_section  # noqa: E402
from benchmarks.scratch import scratch_site  # noqa: E402

SCRIPT_KB, PAINT_MS, BLOCKING_MS = 60.0, 500.0, 150.0
# section of its table, its heading, what is measured, names of pool and graph
DEMO = ("chart-pages", "## Pages with charts", "the demo's pool", "demo", "demo")
FB15K237 = (
    "chart-pages-fb15k237",
    "## Pages with charts of FB15k-237",
    "the published pool of FB15k-237, with six systems",
    "fb-test-s",
    "fb15k-237",
)
LONG = "50"  # ms: what is longer blocks

WATCH = f"""() => {{
    window.blocked = 0;
    new PerformanceObserver((list) => {{
        for (const task of list.getEntries()) window.blocked += Math.max(0, task.duration - {LONG});
    }}).observe({{ type: "longtask", buffered: true }});
    const look = () => {{
        const charts = [...document.querySelectorAll("[data-chart]")];
        const all = charts.length && charts.every((one) => one.querySelector("svg"));
        const drawn = all && document.readyState !== "loading";
        requestAnimationFrame(drawn ? () => {{ window.painted = performance.now(); }} : look);
    }};
    look();
}}"""


def pages(pool: str, graph: str) -> list[str]:
    """Return the addresses of pages that may have a chart."""
    from evaluation.pages.registry import ANALYSES

    keys = [analysis.key for analysis in ANALYSES]
    evaluation = f"/pools/{pool}/evaluation"
    return [
        evaluation, *(f"{evaluation}/{key}" for key in keys), "/open-world",
        f"/pools/{pool}/seeds", f"/pools/{pool}/overlap", f"/graphs/{graph}/compare",
    ]  # fmt: skip


def session_of_a_manager() -> str:
    """Sign somebody of the site in who may see all pages, and return the session's key."""
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY, get_user_model
    from django.contrib.sessions.backends.db import SessionStore

    from core.people.roles import can_manage

    user = next(one for one in get_user_model().objects.order_by("pk") if can_manage(one))
    session = SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = "config.sign_in.Accounts"
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.create()
    return str(session.session_key)


def visit(context: Any, url: str) -> dict[str, float] | None:
    """Open a page without a cache; None where it has no chart."""
    page = context.new_page()
    network = context.new_cdp_session(page)
    scripts: set[str] = set()
    received = {"bytes": 0.0}

    def finished(event: dict[str, Any]) -> None:
        received["bytes"] += event["encodedDataLength"] if event["requestId"] in scripts else 0

    network.on("Network.responseReceived", lambda e: scripts.add(e["requestId"]) if e["type"] == "Script" else None)
    network.on("Network.loadingFinished", finished)
    network.send("Performance.enable", {"timeDomain": "threadTicks"})
    network.send("Network.enable")
    network.send("Network.setCacheDisabled", {"cacheDisabled": True})
    page.add_init_script(f"({WATCH})()")
    answer = page.goto(url)
    assert answer.status == 200, f"{url}: {answer.status}"
    charts = page.locator("[data-chart]").count()
    if charts:
        page.wait_for_function("() => window.painted !== undefined")
        page.wait_for_timeout(300)
    spent = {one["name"]: one["value"] for one in network.send("Performance.getMetrics")["metrics"]}
    timing = page.evaluate("performance.getEntriesByType('navigation')[0].toJSON()")
    found = {
        "charts": charts,
        "script": received["bytes"] / 1000,
        "server": timing["responseStart"] - timing["requestStart"],
        "painted": page.evaluate("window.painted ?? 0"),
        "blocked": page.evaluate("window.blocked"),
        "cpu": 1000 * spent["TaskDuration"],
    }
    page.close()
    return found if charts else None


def measure(address: str, session: str, paths: list[str], repeats: int) -> dict[str, dict[str, float]]:
    """Return the medians of each page that has a chart."""
    found: dict[str, dict[str, float]] = {}
    with chromium(address, session, bypass_csp=True) as context:
        for path in paths:
            if visit(context, address + path) is None:  # the figures are computed and kept now
                continue
            visits = [one for _ in range(repeats) if (one := visit(context, address + path))]
            found[path] = {key: median(one[key] for one in visits) for key in visits[0]}
            found[path]["least"] = min(one["painted"] for one in visits)
            print(path, {key: round(value, 1) for key, value in found[path].items()}, flush=True)
    return found


def main() -> None:
    """Run, print, and in the full form write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="every page once; nothing written")
    parser.add_argument("--fb15k237", action="store_true", help="the published pool of FB15k-237 instead of the demo")
    args = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    name, title, what, pool, graph = DEMO
    with scratch_site() if args.fb15k237 else nullcontext():
        if args.fb15k237:
            from django.contrib.auth import get_user_model

            from benchmarks.fb15k237_study import SYSTEMS
            from benchmarks.thirteen_tables import kept_figures, measured_study

            name, title, what, pool, graph = FB15K237
            measured_study(kept_figures(SYSTEMS))
            get_user_model().objects.create_superuser("manager")
        else:
            import django

            django.setup()
        with server(1) as port:
            address, repeats = f"http://127.0.0.1:{port}", 1 if args.quick else 5
            found = measure(address, session_of_a_manager(), pages(pool, graph), repeats)
    heads = ["page", "charts", "script, kB", "server, ms", "charts painted, ms", "at best", "blocking, ms", "CPU, ms"]
    table = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for path, one in found.items():
        times = [f"{one[key]:.0f}" for key in ("server", "painted", "least", "blocked", "cpu")]
        cells = [f"{one['charts']:.0f}", f"{one['script']:.1f}", *times]
        table.append(f"| {path} | {' | '.join(cells)} |")
    worst = {key: max(one[key] for one in found.values()) for key in ("script", "painted", "blocked", "cpu")}
    text = (
        f"The pages of {what} in Chromium, 1,280 px wide, with the server on the same {os.cpu_count()} cores;"
        " medians of five visits without the browser's cache. The most of any page:"
        f" {worst['script']:.1f} kB of script (target {SCRIPT_KB:.0f}), {worst['painted']:.0f} ms until the charts are"
        f" painted (target {PAINT_MS:.0f}), {worst['blocked']:.0f} ms of blocking (target {BLOCKING_MS:.0f}),"
        f" {worst['cpu']:.0f} ms of processor time of the main thread. Load of the machine: {os.getloadavg()[0]:.0f}."
    )
    print("\n".join([*table, "", text]))
    if not args.quick:
        write_section(name, "\n".join([title, "", text, "", *table]))
    print(Summary("charts of the slowest page are painted", worst["painted"] / 1e3, "the target", PAINT_MS / 1e3))


if __name__ == "__main__":
    main()
