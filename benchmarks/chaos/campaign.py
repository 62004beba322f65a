"""Play a chaos campaign: people, a manager, and a fault every few seconds; then the verdict and the table."""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import psycopg

from benchmarks.chaos.faults import FAULTS, Excuse, Fault, Window, draw
from benchmarks.chaos.people import Adjudicator, Failed, Manager, Person, start
from benchmarks.chaos.site import Site, site_for_a_while
from benchmarks.chaos.verdict import Verdict, judge

ADJUDICATORS_IN = 15  # people for each one who decides disputes
THINK = 2.0  # seconds in the mean between two answers: who takes less counts as not having looked
WARM_UP = 8.0  # seconds without a fault at the beginning
PATIENCE = 90.0  # seconds after the end for what is not acknowledged
FOR_JOBS, STANDS_STILL = 600.0, 90.0  # seconds after the end for jobs, at most, and while not one moves
AFTER = 2.0  # seconds after a fault that a failed request still belongs to it
MANAGER = "manager0"


@dataclass(frozen=True)
class Options:
    """What is played, and where."""

    server: str  # address of a PostgreSQL server on the loopback
    redis: str
    people: int = 50
    seconds: float = 600
    every: float = 15
    seed: int = 1
    faults: tuple[str, ...] = ()  # names; empty: all
    logs: Path | None = None  # where the logs of the children stay


@dataclass
class Result:
    """What happened."""

    options: Options
    disk: str
    verdict: Verdict
    windows: list[Window]
    failed: list[Failed]
    steps: list[float]  # ms
    saved_after: list[float]  # seconds
    refused: list[str]
    broken: list[str] = field(default_factory=list)
    started_again: int = 0  # jobs, by the manager

    def cause(self, failed: Failed) -> Fault | None:
        """Return the fault that was on; where there were two, the one that excuses the failure, or the newer."""
        on = [w.fault for w in self.windows if failed.begin <= w.end + AFTER and failed.end >= w.begin]
        return next((fault for fault in on if excuses(fault, failed)), on[-1] if on else None)

    def errors(self, excused: Excuse) -> list[Failed]:
        """Return the 5xx answers with this excuse, by the fault that was on."""
        errors = [(one, self.cause(one)) for one in self.failed if one.status >= 500]
        return [one for one, f in errors if excused == (f.excuses if f and excuses(f, one) else Excuse.NOTHING)]

    @property
    def is_good(self) -> bool:
        return self.verdict.is_good and not self.errors(Excuse.NOTHING) and not self.broken

    def percentile(self, q: float) -> float:
        return float(np.percentile(self.steps, q)) if self.steps else float("nan")


def excuses(fault: Fault, failed: Failed) -> bool:
    """Return whether the fault explains that the request failed."""
    return fault.excuses == Excuse.DATABASE or (fault.excuses == Excuse.FILES and failed.person == MANAGER)


def play(options: Options, say: Callable[[str], None]) -> Result:
    """Play on a site of its own, of which nothing is left."""
    with tempfile.TemporaryDirectory(prefix="triplepool-chaos-") as scratch:
        folder = Path(scratch)
        logs = options.logs or folder / "logs"
        logs.mkdir(parents=True, exist_ok=True)
        with site_for_a_while(options.server, options.redis, folder, logs) as site:
            return _play(site, options, say)


def _play(site: Site, options: Options, say: Callable[[str], None]) -> Result:
    adjudicators = options.people // ADJUDICATORS_IN
    annotators = options.people - adjudicators
    say(f"Preparing a site for {annotators} annotators and {adjudicators} adjudicators; the disk is a {site.disk}.")
    items = int(0.75 * annotators * options.seconds / THINK)  # more than they can label
    prepared = site.prepare(annotators, adjudicators, items)
    site.serve()
    begin = time.monotonic()
    until = begin + options.seconds

    def person(kind: type[Person], name: str) -> Person:
        return kind(name, site.port, prepared["sessions"][name], options.seed, THINK, until, PATIENCE)

    manager = person(Manager, MANAGER)
    assert isinstance(manager, Manager)
    manager.jobs = lambda: site.rows("SELECT id, state, error FROM core_job")
    people = [
        *(person(Person, f"person{i}") for i in range(annotators)),
        *(person(Adjudicator, f"adjudicator{i}") for i in range(adjudicators)),
        manager,
    ]
    say(f"{prepared['items']:,} items. {options.seconds:g} s, a fault every {options.every:g} s, seed {options.seed}.")
    over = threading.Event()
    threads = start(people)
    windows: list[Window] = []
    faults = threading.Thread(target=_faults, args=(site, options, until, windows, over, say), daemon=True)
    faults.start()
    try:
        while time.monotonic() < until:
            time.sleep(min(5, max(0.1, until - time.monotonic())))
            acknowledged = sum(bool(sent.kept) for one in people for sent in one.sent)
            failed = sum(len(one.failed) for one in people)
            spent = time.monotonic() - begin
            rate = acknowledged / spent
            say(f"{spent:4.0f} s  {acknowledged:,} acknowledged, {rate:.0f}/s; {failed:,} requests failed")
    finally:
        over.set()
        faults.join()  # each undoes what it did
    say("The faults are over: waiting for what is not acknowledged, and for the jobs.")
    for thread in threads:
        thread.join()
    _wait_for_jobs(site, manager)
    site.end()
    with psycopg.connect(site.admin) as connection, connection.cursor() as cursor:
        verdict = judge(cursor, [sent for one in people for sent in one.sent], site.artifacts)
    return Result(
        options,
        site.disk,
        verdict,
        windows,
        [failed for one in people for failed in one.failed],
        [ms for one in people for ms in one.steps],
        [seconds for one in people for seconds in one.saved_after],
        [words for one in people for words in one.refused],
        [f"{one.name}: {one.broken}" for one in people if one.broken],
        manager.started_again,
    )


def _faults(
    site: Site, options: Options, until: float, windows: list[Window], over: threading.Event, say: Callable[[str], None]
) -> None:
    """Let one thing after the other go wrong until the time is over."""
    rng = np.random.default_rng([options.seed, 1])
    due = time.monotonic() + WARM_UP
    for fault in draw(options.seed):
        if options.faults and fault.name not in options.faults:
            continue
        if over.wait(max(0.0, due - time.monotonic())) or time.monotonic() > until - 2:
            return
        window = Window(fault, time.monotonic())
        windows.append(window)
        try:
            window.said = fault.do(site, rng, over.wait)
        except Exception as error:
            window.said = f"could not be done: {type(error).__name__}: {error}"
        window.end = time.monotonic()
        say(f"        {fault.name}: {window.said}")
        due += options.every


def _wait_for_jobs(site: Site, manager: Manager) -> None:
    """Wait until all jobs are over, or stand still; failed ones are started again, as a manager does."""
    end = time.monotonic() + FOR_JOBS
    moved, before = time.monotonic(), None
    while time.monotonic() < min(end, moved + STANDS_STILL):
        manager.until = time.monotonic()
        if manager.start_again() == 0:
            return
        now = site.rows("SELECT id, state, attempts, stage, done FROM core_job ORDER BY id")
        if now != before:
            moved, before = time.monotonic(), now
        time.sleep(1)


def table(result: Result) -> Iterator[str]:
    """Yield the tables, in Markdown."""
    verdict, options = result.verdict, result.options
    head = ("people", "seconds", "faults", "acknowledged", "stored", "lost", "doubled", "wrong states")
    times = (
        "5xx, database down",
        "5xx, disk full",
        "5xx, other",
        "no answer",
        "p50, ms",
        "p95, ms",
        "longest until saved, s",
    )
    yield f"| {' | '.join((*head, *times))} |"
    yield "|---" * (len(head) + len(times)) + "|"
    cells = [
        options.people,
        f"{options.seconds:g}",
        len(result.windows),
        f"{verdict.acknowledged:,}",
        f"{verdict.stored:,}",
        len(verdict.lost),
        len(verdict.doubled),
        len(verdict.wrong),
        len(result.errors(Excuse.DATABASE)),
        len(result.errors(Excuse.FILES)),
        len(result.errors(Excuse.NOTHING)),
        sum(one.status == 0 for one in result.failed),
        f"{result.percentile(50):.0f}",
        f"{result.percentile(95):.0f}",
        f"{max(result.saved_after, default=0):.1f}",
    ]
    yield f"| {' | '.join(map(str, cells))} |"
    yield ""
    yield "| fault | times | 5xx | no answer | what it hit |"
    yield "|---|---|---|---|---|"
    for fault in (*FAULTS, None):
        mine = [one for one in result.failed if result.cause(one) == fault]
        on = [window for window in result.windows if window.fault == fault]
        if not mine and not on:
            continue
        by_status = Counter(one.status for one in mine if one.status >= 500)
        statuses = ", ".join(f"{n} x {status}" for status, n in sorted(by_status.items())) or "0"
        said = "; ".join(window.said for window in on)
        name, lost = fault.name if fault else "no fault", sum(one.status == 0 for one in mine)
        yield f"| {name} | {len(on)} | {statuses} | {lost} | {said} |"
    yield ""
    done = ", ".join(f"{n} {state}" for state, n in sorted(verdict.jobs.items()))
    yield (
        f"{verdict.items:,} items, {verdict.settled:,} settled. Jobs: {done}; {verdict.attempts} further attempts, "
        f"{result.started_again} started again by the manager, after a full disk or five deaths. "
        f"{verdict.files} files have their checksums. Full disk: {result.disk}."
    )


def problems(result: Result) -> Iterator[str]:
    """Yield what is wrong, and what was refused, in lines."""
    yield from result.verdict.findings()
    yield from result.broken[:5]
    for one in result.errors(Excuse.NOTHING)[:5]:
        cause = result.cause(one)
        yield f"{one.status} at {one.path} ({cause.name if cause else 'no fault'}): {one.said}"
    silent = Counter((cause.name if (cause := result.cause(one)) else "no fault", one.said) for one in result.failed)
    for (cause_name, said), n in silent.most_common(8):
        yield f"failed {n} times ({cause_name}): {said}"
    for words, n in Counter(result.refused).most_common(5):
        yield f"refused {n} times: {words}"


def section(result: Result) -> str:
    """Return the section of docs/measured/benchmarks.md."""
    intro = (
        f"`python manage.py chaos`: {result.options.people} people label over HTTP, two seconds of thinking, on"
        f" gunicorn, PostgreSQL and Redis, while two workers train, export and compute figures. Everything shares"
        f" {os.cpu_count()} cores. Every {result.options.every:g} s something fails (seed {result.options.seed})."
        " What got no answer is sent again. Afterwards what was acknowledged is compared with what is stored."
    )
    return "\n".join(["## Chaos", "", intro, "", *table(result)])
