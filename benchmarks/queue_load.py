"""Let many people label at once through API v1: time their waiting, and check that every item gets two labels.

    python benchmarks/queue_load.py --quick              50 people, 200 items until none is left, within a minute
    python benchmarks/queue_load.py                      50 people, 100,000 items, two minutes; writes its table
    … --database-url postgresql://postgres@127.0.0.1:5432/test     on a database of its own on that server

A gunicorn listens on the loopback; every person is a thread with a session and a connection of their own, and works
as the page does: some questions in hand, an answer that is sent brings the next. A step is such a request: it
submits, and claims until --hand questions are held. Then thinking: --think seconds in the mean, drawn. One answer in
twenty is sent twice, as after a lost reply. At the end the database is asked: never more than two plain labels on an
item, never two of one person, as many as answers were accepted, and, where people went on until nothing was left,
two on every item. The ratio is of the target, 200 ms, to the 95th percentile of a step.
"""

from __future__ import annotations

import argparse
import os
import resource
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.browser import Browser  # noqa: E402
from benchmarks.report import Summary, write_section  # noqa: E402
from benchmarks.scratch import make_graph, scratch_site  # noqa: E402

if TYPE_CHECKING:
    from annotation.models import Campaign
    from pooling.models import Pool

TARGET_MS = 200.0
LINK = "https://en.wikipedia.org/wiki/Ada"
PER_QUESTION = 10  # items


@dataclass
class Person:
    """Hold a person who labels: the session, and what happened."""

    name: str
    session: str
    steps: list[float] = field(default_factory=list)  # ms
    accepted: int = 0
    problems: list[str] = field(default_factory=list)


def make_campaign(items: int) -> Campaign:
    """Make a campaign of drawn items, ten per question."""
    from annotation.campaigns.lifecycle import open_campaign

    return open_campaign(make_pool(items), seed=3)


def make_pool(items: int) -> Pool:
    """Make a pool of drawn triples for people, ten per question."""
    from pooling.models import Pool, PooledTriple

    rng = np.random.default_rng(2)
    graph = make_graph(1000, rng)
    pool = Pool.objects.create(
        graph=graph, name="load", origin="built", state="ready", depth=PER_QUESTION, seed_source="drawn"
    )
    number = np.arange(items)
    question, place = number // PER_QUESTION, number % PER_QUESTION
    tail, relation = question % graph.num_entities, question // graph.num_entities
    head = (tail + 1 + 97 * place) % graph.num_entities
    PooledTriple.objects.bulk_create(
        (
            PooledTriple(pool=pool, head=h, relation=r, tail=t, depth=1 + i % PER_QUESTION)
            for i, (h, r, t) in enumerate(zip(head.tolist(), relation.tolist(), tail.tolist(), strict=True))
        ),
        batch_size=5000,
    )
    return pool


def make_people(campaign: Campaign | None, count: int, role: str = "annotator", prefix: str = "person") -> list[Person]:
    """Make people with sessions, without passwords, which would take a second each to hash."""
    from django.conf import settings
    from django.contrib.auth.models import User
    from django.test import Client

    from annotation.people.accounts import add_person

    people = []
    for i in range(count):
        user = User(username=f"{prefix}{i}")
        user.set_unusable_password()
        user.save()
        add_person(user.username, role, campaign, consented=campaign is not None)
        client = Client()
        client.force_login(user, backend="config.sign_in.Accounts")
        people.append(Person(user.username, client.cookies[settings.SESSION_COOKIE_NAME].value))
    return people


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def server(processes: int) -> Iterator[int]:
    """Start a gunicorn with threads, and yield its port."""
    port = free_port()
    threads = 8 // processes
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "gunicorn",
            "config.wsgi",
            "--bind",
            f"127.0.0.1:{port}",
            "--workers",
            str(processes),
            "--threads",
            str(threads),
            "--log-level",
            "error",
            "--timeout",
            "120",
        ],
        cwd=ROOT,
    )
    try:
        for _ in range(300):
            if process.poll() is not None:
                raise SystemExit("gunicorn did not start")
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                time.sleep(0.1)
        yield port
    finally:
        process.terminate()
        process.wait(30)


def processor_time(who: int) -> float:
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def work(person: Person, port: int, think: float, hand: int, until: float) -> None:
    """Label, and record any error with the person."""
    try:
        label(person, port, think, hand, until)
    except Exception as error:
        person.problems.append(f"{type(error).__name__}: {error}")


def label(person: Person, port: int, think: float, hand: int, until: float) -> None:
    """Answer, think, until nothing is left or the time is over."""
    rng = np.random.default_rng(int(person.name.removeprefix("person")))
    browser = Browser(port, person.session)
    time.sleep(rng.random() * think)
    status, content, _ = browser.post("campaigns/load/claim", {"count": hand})
    if status != 200:
        person.problems.append(f"claim: {status} {content}")
        return
    waiting = content["items"]
    while waiting and time.monotonic() < until:
        item = waiting.pop(0)
        answer = {
            "slot": item["slot"],
            "lease": item["lease"],
            "client_id": str(uuid4()),
            "count": hand,
            "answer": "Y" if rng.random() < 0.5 else "N",
            "source_url": LINK,
            "active_ms": 2500,
        }
        status, content, taken = browser.post("labels", answer)
        if status != 201 or content["kept"] != "label":
            person.problems.append(f"submit: {status} {content}")
            return
        person.accepted += 1
        person.steps.append(taken)
        waiting = content["items"]
        if rng.random() < 0.05:
            status, content, _ = browser.post("labels", answer | {"count": 0})
            if status != 200 or not content["repeated"]:
                person.problems.append(f"repeat: {status} {content}")
        time.sleep(rng.exponential(think) if think else 0)


def check(campaign: Campaign, people: list[Person], exhausted: bool) -> str:
    """Say what the database holds; raise AssertionError when it breaks the rules of labelling."""
    from annotation.models import Label, SurplusLabel

    plain = Label.objects.filter(item__campaign=campaign, slot__number__in=(1, 2), supersedes=None)
    pairs = list(plain.values_list("item", "annotator"))
    per_item = Counter(Counter(item for item, _ in pairs).values())
    assert max(per_item, default=0) <= 2, f"more than two labels on an item: {per_item}"
    assert len(set(pairs)) == len(pairs), "a person labelled an item twice"
    accepted = sum(person.accepted for person in people)
    assert len(pairs) == accepted == Label.objects.count(), f"{accepted} accepted, {len(pairs)} kept"
    assert not SurplusLabel.objects.exists(), "answers were kept as surplus"
    if exhausted:
        items = campaign.items.count()
        assert per_item == {2: items}, f"not two labels on every one of {items} items: {per_item}"
        return f"two labels by two people on each of {items:,} items, none lost"
    return f"{len(pairs):,} labels, {per_item[2]:,} items with two, none with more, none lost"


def measure(count: int, items: int, think: float, hand: int, seconds: float, database: str) -> tuple[str, float]:
    """Return the row of the table, and the 95th percentile of a step in ms."""
    with scratch_site(database):
        from django.db import connection

        campaign = make_campaign(items)
        people = make_people(campaign, count)
        vendor = connection.vendor
        connection.close()
        # SQLite has one writer, so that a second process only makes them wait for each other
        with server(2 if vendor == "postgresql" else 1) as port:
            for _ in range(8):  # each process reads the graph once
                Browser(port, people[0].session).post("campaigns/load/claim", {"count": hand})
            begin, spent_by_clients = time.monotonic(), processor_time(resource.RUSAGE_SELF)
            threads = [
                threading.Thread(target=work, args=(person, port, think, hand, begin + seconds)) for person in people
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            spent = time.monotonic() - begin
            clients = processor_time(resource.RUSAGE_SELF) - spent_by_clients
        server_time = processor_time(resource.RUSAGE_CHILDREN)  # it has ended
        problems = [problem for person in people for problem in person.problems]
        assert not problems, f"{len(problems)} requests went wrong: {problems[:3]}"
        found = check(campaign, people, exhausted=spent < seconds)
    steps = np.array([ms for person in people for ms in person.steps])
    each = ", ".join(f"{1e3 * seconds / len(steps):.1f}" for seconds in (server_time, clients))
    p50, p95, p99 = np.percentile(steps, [50, 95, 99])
    row = (
        f"| {vendor} | {count} | {items:,} | {think:g} | {len(steps) / spent:.0f} | {p50:.0f} | {p95:.0f} | {p99:.0f}"
        f" | {each} | {found} |"
    )
    print(row, flush=True)
    return row, float(p95)


def in_a_process(args: argparse.Namespace, think: float, seconds: float) -> tuple[str, float]:
    """Run `measure` in a process of its own: Django is set up for one database only."""
    command = [
        sys.executable,
        __file__,
        "--one",
        "--people",
        str(args.people),
        "--items",
        str(args.items),
        "--think",
        str(think),
        "--hand",
        str(args.hand),
        "--seconds",
        str(seconds),
        "--database-url",
        args.database_url,
    ]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed")
    row, p95 = done.stdout.splitlines()[-2:]
    return row, float(p95)


def main() -> None:
    """Run, print, and in the full form write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="200 items, within a minute; nothing written")
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--items", type=int, help="default 100,000; 200 with --quick")
    parser.add_argument("--think", type=float, default=1.0, help="mean seconds between two answers of a person")
    parser.add_argument("--hand", type=int, default=5, help="questions that a person holds")
    parser.add_argument("--seconds", type=float, help="at most; default 120, 40 with --quick")
    parser.add_argument("--database-url", default="", help="a PostgreSQL server; default: SQLite")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    args.items = args.items or (200 if args.quick else 100_000)
    seconds = args.seconds or (40 if args.quick else 120)
    if args.one:
        print(measure(args.people, args.items, args.think, args.hand, seconds, args.database_url)[1])
        return
    row, p95 = in_a_process(args, args.think, seconds)
    print(row, flush=True)
    if not args.quick:
        flat_out, _ = in_a_process(args, 0, seconds / 2)  # as fast as it goes
        print(flat_out, flush=True)
        table = [
            "| database | people | items | thinking, s | labels/s | step p50, ms | p95 | p99"
            " | processor ms of server, clients | labels |",
            "|---" * 10 + "|",
            row,
            flat_out,
        ]
        intro = (
            f"API v1 over HTTP on the loopback, gunicorn, {args.people} people. The server and the people share"
            f" {os.cpu_count()} cores. A step is one request that submits an answer and claims questions until the"
            f" person holds {args.hand}. The rows without thinking show the limit of the machine. Processor time is of"
            " one label, in the web processes (their start included) and in the threads of all people; the database"
            " has its own."
        )
        name = "queue-postgresql" if args.database_url else "queue"
        write_section(name, "\n".join([f"## Queue ({row.split()[1]})", "", intro, "", *table]))
    print(Summary(f"a step of {args.people} people who label, p95", p95 / 1e3, "the target", TARGET_MS / 1e3))


if __name__ == "__main__":
    main()
