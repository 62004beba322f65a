"""People who label over HTTP and send again what got no answer, as the page does, and a manager who starts jobs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.client import HTTPException
from itertools import count
from typing import Any
from uuid import UUID, uuid4

import numpy as np

from benchmarks.browser import Browser
from benchmarks.chaos.prepare import NAME
from benchmarks.queue_load import LINK

FIRST_WAIT, LONGEST_WAIT = 1.0, 8.0  # seconds before a request is sent again; the page waits up to 30
TIMEOUT = 20.0  # seconds, as the page
HAND = 5  # questions that a person holds
REPEATED, CHANGED, NOT_AGREED = 0.05, 0.05, 0.12  # shares of the answers
EPOCHS = 40  # of a training
MOST_TURNS = 40  # of the manager with exports among them, one in three
# errors after which a manager starts a job again: a full tmpfs, a limit of file size, deaths that were not its fault
NOT_ITS_FAULT = ("No space left on device", "File too large", "Its worker died")
ACTS_EVERY = 3.0  # seconds between two looks of the manager


@dataclass
class Sent:
    """An answer that a person sent, and what became of it."""

    person: str
    ticket: UUID
    client_id: UUID
    answer: str
    replaces: UUID | None = None  # the client id of the answer that it changes
    kept: str = ""  # label or surplus, once that is acknowledged
    is_refused: bool = False  # the server said that it will never be kept


@dataclass
class Failed:
    """A request without an answer, or with one that is an error of the server."""

    person: str
    begin: float  # time.monotonic()
    end: float
    status: int  # 0: no answer
    path: str
    said: str = ""


class GivenUp(Exception):  # noqa: N818 - the campaign is over
    """The time is over, and the request got no answer."""


@dataclass
class Person:
    """One who works at the site until `until`, and then waits for what is still to be acknowledged."""

    name: str
    port: int
    session: str
    seed: int
    think: float
    until: float  # time.monotonic()
    patience: float  # seconds after that for what is not acknowledged yet
    sent: list[Sent] = field(default_factory=list)
    steps: list[float] = field(default_factory=list)  # ms of a request that submits and was answered
    saved_after: list[float] = field(default_factory=list)  # seconds from the first try to the acknowledgement
    failed: list[Failed] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    broken: str = ""

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng([self.seed, *self.name.encode()])
        self.browser = Browser(self.port, self.session, TIMEOUT)

    def run(self) -> None:
        """Work, and keep any error that is no part of the campaign."""
        try:
            self.work()
        except GivenUp:
            pass
        except Exception as error:
            self.broken = f"{type(error).__name__}: {error}"

    def work(self) -> None:
        self.pause()
        hand: list[dict[str, Any]] = []
        while time.monotonic() < self.until:
            if not hand:
                hand = self.insist(f"campaigns/{NAME}/claim", {"count": HAND})[1].get("items", [])
            if not hand:
                time.sleep(2)
                continue
            hand = self.answer(hand.pop(0), "labels", hand)
            if self.rng.random() < CHANGED:
                self.change()
            self.pause()

    def pause(self) -> None:
        time.sleep(min(self.rng.exponential(self.think), 10 * self.think))

    def answer(self, item: dict[str, Any], path: str, hand: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Answer a question; return what is in hand then."""
        ticket = UUID(item["slot"])
        # most answers follow from the question, so that two people agree on most
        says = (ticket_side(item) + (self.rng.random() < NOT_AGREED)) % 2
        sent = Sent(self.name, ticket, uuid4(), "YN"[says])
        body = {"slot": item["slot"], "lease": item["lease"], "count": HAND, "active_ms": 2500}
        body |= {"client_id": str(sent.client_id), "answer": sent.answer, "source_url": LINK}
        if path == "decisions":
            body["cause"] = "misread"
        self.sent.append(sent)
        content = self.send(sent, path, body)
        if self.rng.random() < REPEATED and sent.kept:
            self.send(sent, path, body | {"count": 0})
        return content.get("items", hand)

    def change(self) -> None:
        """Change the last label, once it is acknowledged."""
        last = self.sent[-1]
        if last.kept != "label":
            return
        sent = Sent(self.name, last.ticket, uuid4(), "N" if last.answer == "Y" else "Y", replaces=last.client_id)
        body = {"client_id": str(sent.client_id), "answer": sent.answer, "source_url": LINK, "active_ms": 900}
        self.sent.append(sent)
        self.send(sent, f"labels/{last.client_id}/change", body)

    def send(self, sent: Sent, path: str, body: dict[str, Any]) -> dict[str, Any]:
        begin = time.monotonic()
        status, content = self.insist(path, body, is_step=True)
        if status < 300:
            sent.kept = content["kept"]
            self.saved_after.append(time.monotonic() - begin)
        else:
            sent.is_refused = not sent.kept
            self.refused.append(f"{path.split('/')[-1]}: {status} {content.get('error', '')}"[:200])
        return content

    def insist(self, path: str, body: dict[str, Any], is_step: bool = False) -> tuple[int, dict[str, Any]]:
        """Send until the server answers, waiting as long as it asks; GivenUp if the time is over first."""
        wait = FIRST_WAIT
        while True:
            begin = time.monotonic()
            said = ""
            try:
                status, content, taken = self.browser.post(path, body)
            except (OSError, HTTPException, ValueError) as error:
                status, content, taken, said = 0, {}, 0.0, f"{type(error).__name__}: {error}"
                self.browser.connection.close()
                self.browser.retry_after = 0
            if 0 < status < 500 and status != 429:
                if is_step:
                    self.steps.append(taken)
                return status, content
            self.failed.append(
                Failed(self.name, begin, time.monotonic(), status, path, said or str(content.get("error", "")))
            )
            pause = max(self.browser.retry_after, wait)
            wait = min(2 * wait, LONGEST_WAIT)
            if time.monotonic() + pause > self.until + self.patience:
                raise GivenUp
            time.sleep(pause)


def ticket_side(item: dict[str, Any]) -> int:
    """Return 0 or 1 by the question, the same for everybody who is asked it."""
    return sum(item["question"].encode()) % 2


class Adjudicator(Person):
    def work(self) -> None:
        while time.monotonic() < self.until:
            hand = self.insist(f"campaigns/{NAME}/claim-disputed", {"count": 2})[1].get("items", [])
            if not hand:
                time.sleep(3)
            while hand and time.monotonic() < self.until:
                hand = self.answer(hand.pop(0), "decisions", hand)
                self.pause()


class Manager(Person):
    """Start trainings, exports and figures one after the other, and again what the faults stopped for good."""

    jobs: Callable[[], list[tuple[Any, ...]]]  # returns the id, state and error of every job
    started_again: int = 0

    def work(self) -> None:
        for turn in count(1):
            if time.monotonic() >= self.until:
                return
            if self.start_again() < 2:
                last = self.figures if turn > MOST_TURNS else self.export  # no more than the disk holds
                (self.train, last, self.figures)[turn % 3](turn)
            time.sleep(ACTS_EVERY)

    def start_again(self) -> int:
        """Start again what the faults stopped for good; return how many jobs are not over."""
        waiting = 0
        for job, state, error in self.jobs():
            if state == "failed" and any(words in error for words in NOT_ITS_FAULT):
                self.insist(f"jobs/{job}/retry", {})
                self.started_again += 1
                waiting += 1
            waiting += state in ("queued", "running")
        return waiting

    def train(self, turn: int) -> None:
        fields = {"name": f"{NAME}-{turn}", "seed": turn, "device": "cpu", "set_epochs": EPOCHS}
        begin = time.monotonic()
        try:
            status = self.browser.fill(f"graphs/{NAME}/train/distmult", fields)
        except (OSError, HTTPException):
            status = 0
            self.browser.connection.close()
        if status == 0 or status >= 500:  # the next turn trains another one
            self.failed.append(Failed(self.name, begin, time.monotonic(), status, "train"))
        elif status != 302:
            self.refused.append(f"train: {status}")

    def export(self, turn: int) -> None:
        self.insist(f"pools/{NAME}/qrels", {"name": f"v{turn}"})
        status, content = self.insist(f"pools/{NAME}/exports", {"qrels": f"v{turn}"})
        if status >= 300:
            self.refused.append(f"exports: {status} {content.get('error', '')}"[:200])

    def figures(self, turn: int) -> None:
        page, part = [("stability", "labels"), ("discriminative", "hsd")][turn % 2]
        status, content = self.insist(f"pools/{NAME}/evaluations/{page}", {"part": part})
        if status >= 300:
            self.refused.append(f"evaluations: {status} {content.get('error', '')}"[:200])


def start(people: list[Person]) -> list[threading.Thread]:
    threads = [threading.Thread(target=person.run, name=person.name, daemon=True) for person in people]
    for thread in threads:
        thread.start()
    return threads
