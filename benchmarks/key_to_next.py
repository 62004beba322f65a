"""Time the way from a key press to the next question on the screen, in Chromium, in both views of the annotation page.

    python benchmarks/key_to_next.py --quick     25 answers a view, within a minute; nothing written
    python benchmarks/key_to_next.py             200 answers a view; writes its table

A gunicorn as `manage.py serve` starts it and Chromium run on this machine; the database is SQLite in a folder of its
own. The time begins with the `timeStamp` of the keydown event, which the browser sets when it gets the key, and ends
in the first frame after the one that painted the next question (or moved to the next row): two requestAnimationFrame
after the change, so that a frame of waiting, about 17 ms, is in it. Presses are as far apart as the page's guard asks,
and go on at the same pace whether or not the server has answered. The ratio is of the target, 30 ms, to the 95th
percentile.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.browser import chromium  # noqa: E402
from benchmarks.queue_load import make_campaign, make_people, server  # noqa: E402
from benchmarks.report import Summary, write_section  # noqa: E402
from benchmarks.scratch import scratch_site  # noqa: E402

TARGET_MS = 30.0
GUARD_MS = 320  # of the page, and a frame
VIEWS = {"one": "one by one", "group": "by question"}

# What is on the screen is the question, or in the other view the row that keys are about.
MEASURE = """() => {
    window.taken = [];
    const text = (selector) => document.querySelector(selector)?.textContent;
    const row = () => document.querySelector(".candidate-at")?.getAttribute("aria-label") ?? "next";
    const shown = () => document.querySelector("[data-question]").checkVisibility()
        ? text("[data-question]") + text("[data-counts]")
        : text("#group-question") + row();
    addEventListener("keydown", (event) => {
        const before = shown();
        const began = event.timeStamp;
        const look = () => requestAnimationFrame(() => {
            if (shown() === before) return performance.now() - began < 5000 ? look() : taken.push(NaN);
            requestAnimationFrame(() => taken.push(performance.now() - began));
        });
        look();
    }, { capture: true });
}"""


def measure(address: str, session: str, view: str, count: int) -> np.ndarray:
    """Return the milliseconds of each press, float[count]."""
    with chromium(address, session) as context:
        page = context.new_page()
        page.add_init_script(f"localStorage.setItem('triplepool:view', '{view}')")
        page.goto(f"{address}/campaigns/load/annotate")
        page.locator("[data-question]:visible, #group-question:visible").wait_for()
        page.wait_for_timeout(1000)
        page.evaluate(MEASURE)
        pressed = 0
        while pressed < count:
            done = page.locator("[data-next]").is_visible()
            page.keyboard.press("Enter" if done else "yn"[pressed % 2])
            page.wait_for_timeout(GUARD_MS)
            page.wait_for_function("wanted => taken.length === wanted", arg=pressed + 1)
            pressed += 1
        page.locator("[data-unsaved]").wait_for(state="hidden", timeout=60_000)
        taken = np.array(page.evaluate("taken"), dtype=float)
    assert not np.isnan(taken).any(), f"{np.isnan(taken).sum()} presses brought no next question"
    return taken


def run(count: int) -> dict[str, np.ndarray]:
    """Return the milliseconds of each view, after checking that the database has a label for each answer."""
    with scratch_site():
        from django.db import connection

        from annotation.models import Campaign, Label

        campaign = make_campaign(max(10 * count, 1000))
        Campaign.objects.filter(pk=campaign.pk).update(evidence_rule="never")
        people = make_people(campaign, len(VIEWS))
        connection.close()
        found = {}
        with server(1) as port:
            for view, person in zip(VIEWS, people, strict=True):
                found[view] = measure(f"http://127.0.0.1:{port}", person.session, view, count)
                given = Label.objects.filter(annotator__username=person.name, supersedes=None).count()
                # by question one press in eleven is Enter on "Next question"
                assert count - count // 8 <= given <= count, f"{given} labels of {count} presses"
    return found


def main() -> None:
    """Run, print, and in the full form write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="25 answers a view; nothing written")
    args = parser.parse_args()
    found = run(25 if args.quick else 200)
    table = ["| view | presses | median, ms | p95, ms | longest, ms |", "|---" * 5 + "|"]
    for view, taken in found.items():
        cells = [f"{ms:.0f}" for ms in (np.median(taken), np.percentile(taken, 95), taken.max())]
        table.append(f"| {VIEWS[view]} | {len(taken)} | {' | '.join(cells)} |")
    print("\n".join(table), flush=True)
    worst = max(float(np.percentile(taken, 95)) for taken in found.values())
    if not args.quick:
        intro = (
            f"In Chromium, with the server on the same {os.cpu_count()} cores. The time goes from the key to the frame"
            f" after the one that shows the next question or row. Target: p95 at most {TARGET_MS:.0f} ms."
        )
        write_section("key-to-next", "\n".join(["## Key press to next question", "", intro, "", *table]))
    print(Summary("key press to next question, p95", worst / 1e3, "the target", TARGET_MS / 1e3))


if __name__ == "__main__":
    main()
