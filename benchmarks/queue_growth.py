"""Time claims and submits after 1,000, 10,000 and 100,000 judged items: do they cost more when more is judged?

    python benchmarks/queue_growth.py --quick            100, 1,000 and 4,000 judged items, within a minute
    python benchmarks/queue_growth.py                    1,000, 10,000 and 100,000; writes its table
    … --database-url postgresql://postgres@127.0.0.1:5432/test     on a database of its own on that server

One process, Django's test client, no network: claims of 8 questions from nothing, and steps as the annotation page
makes them (a submit that brings the next). *matched*: the items were judged by two of 50 people, and a newcomer
works on. *alone*: one person has labelled them all, nobody else any, and works on; each of these items still waits
for somebody else, so that a queue that walks past one's own labels slows down here. The ratio is of the median step
at the largest to the one at the smallest number.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.queue_load import LINK, PER_QUESTION, Person, make_campaign, make_people  # noqa: E402
from benchmarks.report import write_section  # noqa: E402
from benchmarks.scratch import scratch_site  # noqa: E402

if TYPE_CHECKING:
    from annotation.models import Campaign

SIZES, QUICK = (1_000, 10_000, 100_000), (100, 1_000, 4_000)
SPARE = 2_000  # items beyond those that are judged
HAND = 5


def judge(campaign: Campaign, people: list[Person], start: int, stop: int, *, both: bool) -> None:
    """Label the items of these orders, as submits would leave them: by two people, or by the first alone."""
    from django.contrib.auth.models import User
    from django.utils import timezone

    from annotation.enums import Answer, ItemState, JudgementOrigin, SlotState, Verdict
    from annotation.models import Item, Judgement, Label, QuestionTemplate, Slot

    users = list(User.objects.filter(username__in=[person.name for person in people]).order_by("pk"))
    template = QuestionTemplate.objects.order_by("pk")[0]
    items = list(campaign.items.filter(order__gte=start, order__lt=stop, started_by=None).prefetch_related("slots"))
    slots, labels = [], []
    for item in items:
        first = item.order // PER_QUESTION % len(users) if both else 0
        item.started_by = users[first]
        if both:
            item.state, item.settled_at = ItemState.SETTLED, timezone.now()
        for slot, user in zip(
            sorted(item.slots.all(), key=lambda slot: slot.number)[: 2 if both else 1],
            (users[first], users[(first + 1) % len(users)]),
            strict=False,
        ):
            slot.state, slot.annotator, slot.template = SlotState.ANSWERED, user, template
            slots.append(slot)
            labels.append(
                Label(
                    slot=slot,
                    item=item,
                    annotator=user,
                    answer=Answer.NO,
                    source_url=LINK,
                    client_id=uuid4(),
                    template=template,
                    active_ms=2500,
                )
            )
    Slot.objects.bulk_update(slots, ["state", "annotator", "template"], batch_size=500)
    Label.objects.bulk_create(labels, batch_size=2000)
    Item.objects.bulk_update(items, ["state", "settled_at", "started_by"], batch_size=500)
    if both:
        Judgement.objects.bulk_create(
            (
                Judgement(
                    pool=campaign.pool,
                    triple_id=item.triple_id,
                    verdict=Verdict.NEGATIVE,
                    origin=JudgementOrigin.PEOPLE,
                    decided_at=timezone.now(),
                )
                for item in items
            ),
            batch_size=2000,
        )


def timed(act: Callable[[], Any]) -> tuple[Any, float]:
    """Return the result of a call, and its milliseconds."""
    begin = time.perf_counter()
    found = act()
    return found, 1000 * (time.perf_counter() - begin)


def requests(person: Person, steps: int) -> tuple[float, float]:
    """Return the median milliseconds of a claim from nothing, and of a step."""
    from django.test import Client

    client = Client()
    client.cookies["sessionid"] = person.session

    def post(path: str, content: dict[str, Any]) -> dict[str, Any]:
        response = client.post(f"/api/v1/{path}", json.dumps(content), content_type="application/json")
        assert response.status_code in (200, 201), response.content
        found: dict[str, Any] = response.json()
        return found

    claims, answers = [], []
    for _ in range(steps // 4):
        waiting, ms = timed(lambda: post("campaigns/load/claim", {"count": 8})["items"])
        claims.append(ms)
        post("slots/release", {"slots": [item["slot"] for item in waiting]})
    waiting = post("campaigns/load/claim", {"count": HAND})["items"]
    for _ in range(steps):
        item = waiting[0]
        answer = {
            "slot": item["slot"],
            "lease": item["lease"],
            "client_id": str(uuid4()),
            "answer": "Y",
            "source_url": LINK,
            "active_ms": 2500,
            "count": HAND,
        }
        content, ms = timed(partial(post, "labels", answer))
        assert content["kept"] == "label"
        answers.append(ms)
        waiting = content["items"]
    post("slots/release", {"slots": [item["slot"] for item in waiting]})
    return float(np.median(claims)), float(np.median(answers))


def measure(sizes: tuple[int, ...], both: bool, steps: int, database: str) -> tuple[list[str], float]:
    """Return a row of the table for each size, and the ratio of a step at the last size to one at the first."""
    with scratch_site(database):
        from django.conf import settings
        from django.db import connection

        settings.ALLOWED_HOSTS = ["testserver"]
        campaign = make_campaign(sizes[-1] + SPARE)
        *people, newcomer = make_people(campaign, 51)
        rows, medians, done = [], [], 0
        for size in sizes:
            for start in range(done, size, 5_000):
                judge(campaign, people, start, min(start + 5_000, size), both=both)
            done = size
            with connection.cursor() as cursor:
                cursor.execute("ANALYZE")  # as the database does by itself, a little later
            claim, step = requests(newcomer if both else people[0], steps)
            medians.append(step)
            name = "matched" if both else "alone"
            rows.append(f"| {connection.vendor} | {name} | {size:,} | {claim:.1f} | {step:.1f} |")
            print(rows[-1], flush=True)
    return rows, medians[-1] / medians[0]


def in_a_process(quick: bool, both: bool, database: str) -> tuple[list[str], float]:
    """Run `measure` in a process of its own: Django is set up for one database only."""
    command = [sys.executable, __file__, "--one", "matched" if both else "alone", "--database-url", database]
    done = subprocess.run([*command, *(["--quick"] if quick else [])], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed")
    *rows, ratio = done.stdout.splitlines()
    print("\n".join(rows), flush=True)
    return rows, float(ratio)


def main() -> None:
    """Run, print, and in the full form write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes; nothing written")
    parser.add_argument("--database-url", default="", help="a PostgreSQL server; default: SQLite")
    parser.add_argument("--one", choices=["matched", "alone"], help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        sizes, steps = (QUICK, 40) if args.quick else (SIZES, 200)
        print(measure(sizes, args.one == "matched", steps, args.database_url)[1])
        return
    matched, ratio = in_a_process(args.quick, True, args.database_url)
    alone, ratio_alone = in_a_process(args.quick, False, args.database_url)
    if not args.quick:
        table = ["| database | items | judged | claim of 8, ms | step, ms |", "|---" * 5 + "|", *matched, *alone]
        text = (
            "Medians of requests in one process, without a network. *matched*: two people judged the items, and a"
            " newcomer continues. *alone*: one person labelled all items once, and the same person continues."
        )
        name = "queue-growth-postgresql" if args.database_url else "queue-growth"
        title = f"## Queue growth ({matched[0].split()[1]})"
        write_section(name, "\n".join([title, "", text, "", *table]))
    print(
        f"queue growth: a step takes {ratio:.2f} x as long after {'4,000' if args.quick else '100,000'} judged "
        f"items, {ratio_alone:.2f} x where one person labelled them all"
    )


if __name__ == "__main__":
    main()
