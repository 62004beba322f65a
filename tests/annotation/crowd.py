"""Many people at once: how they work, and what must be true after they have gone. See scenes.py."""

import multiprocessing
import os
import random
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from django.contrib.auth.models import User  # noqa: E402
from django.db import connection, transaction  # noqa: E402
from django.utils import timezone  # noqa: E402

from annotation.campaigns.lifecycle import open_campaign  # noqa: E402
from annotation.judging.judgements import decide  # noqa: E402
from annotation.labelling.assignments import GivenAnswer  # noqa: E402
from annotation.labelling.places import KnownLabel  # noqa: E402
from annotation.labelling.queue import claim_disputed  # noqa: E402
from annotation.labelling.submit import submit  # noqa: E402
from annotation.models import Campaign, Item, Judgement, Slot, SurplusLabel  # noqa: E402
from annotation.people.accounts import add_person  # noqa: E402
from pooling.enums import PoolOrigin, PoolState  # noqa: E402
from pooling.models import Pool, PooledTriple  # noqa: E402
from tests.annotation.factories import LINK, claim, findings, make_graph  # noqa: E402

HEADS = 12  # candidates of one question
Death = Callable[[User, Slot], None]
Given = dict[str, tuple[int, str]]  # client id -> slot, answer: what the server said it kept


def make_campaign(items: int, batch_size: int = 0) -> Campaign:
    name = f"crowd{Pool.objects.count()}"
    pool = Pool.objects.create(
        graph=make_graph(Path(tempfile.mkdtemp()), name),
        name=name,
        origin=PoolOrigin.BUILT,
        state=PoolState.READY,
        depth=9,
        seed_source="test",
        contributors=["a"],
    )
    PooledTriple.objects.bulk_create(
        PooledTriple(pool=pool, head=i % HEADS, relation=0, tail=i // HEADS, depth=3, provenance=findings((0, 1, 3)))
        for i in range(items)
    )
    return open_campaign(pool, seed=5, batch_size=batch_size)


def people(campaign: Campaign, count: int, role: str = "annotator") -> list[User]:
    """Without passwords: making those is slow."""
    made = [User.objects.create(username=f"{campaign.pool.name}-{role}{i}") for i in range(count)]
    return [add_person(user.username, role, campaign)[0] for user in made]


def together(acts: Sequence[Callable[[], None]]) -> None:
    """Run the acts in threads that start at once; the first error ends the scene."""
    barrier = threading.Barrier(len(acts))
    errors: list[BaseException] = []

    def run(act: Callable[[], None]) -> None:
        try:
            barrier.wait()
            act()
        except BaseException as error:
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(act,)) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def apart(acts: Sequence[Callable[[], None]]) -> None:
    """As `together`, a process each; exit code 9 is a death on purpose."""
    connection.close()  # a connection is not carried into another process
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=act) for act in acts]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    bad = [worker.exitcode for worker in workers if worker.exitcode not in (0, 9)]
    if bad:
        raise RuntimeError(f"workers ended with {bad}: see what they wrote to stderr")


class Notes:
    """What workers were told was kept, a line each, so that it outlives them."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp()) / "given"
        self.path.touch()

    def add(self, *values: Any) -> None:
        with self.path.open("a") as file:
            file.write(" ".join(map(str, values)) + "\n")  # one short write: lines do not mix

    def given(self) -> Given:
        return {client: (int(slot), answer) for client, slot, answer in self._rows(3)}

    def dead(self) -> int:
        return len(self._rows(2))

    def _rows(self, words: int) -> list[list[str]]:
        """By the number of words: a client id may begin with "dead", one in 65,536 does."""
        rows = [line.split() for line in self.path.read_text().splitlines()]
        return [row for row in rows if len(row) == words]


def answer_slot(user: User, slot: Slot, answer: str, times: str = "once", comment: str = "") -> str:
    """Send one answer once, again after it, or twice at the same moment; its client id."""
    client, lease, kept = uuid4(), slot.lease, []
    assert lease is not None

    def send() -> None:
        link = "" if answer == "?" else LINK
        result = submit(user, slot.ticket, lease, GivenAnswer(client, answer, link, comment))
        label = result.label
        kept.append((label.kind if isinstance(label, KnownLabel) else type(label), label.pk))

    if times == "at once":
        together([send, send])
    else:
        send()
        if times == "again":
            send()
    assert len(set(kept)) == 1, "a repeat was another label"
    return str(client)


def label_until_done(campaign: Campaign, user: User, notes: Notes, deaths: float, die: Death) -> None:
    """10 % of the answers are sent twice, half of these at the same moment; a worker may die with leases in hand."""
    rng = random.Random(f"{user.username}{deaths}")
    while slots := claim(campaign, user, 3):
        if rng.random() < deaths:
            notes.add("dead", user.pk)
            return die(user, slots[0])
        for slot in slots:
            answer = rng.choice("YYYNN?")
            times = rng.choices(("once", "again", "at once"), (90, 5, 5))[0]
            notes.add(answer_slot(user, slot, answer, times), slot.pk, answer)


def decide_all(campaign: Campaign, user: User, notes: Notes) -> None:
    while slots := claim_disputed(campaign, user, 2, wait_for_windows=False):
        for slot in slots:
            notes.add(answer_slot(user, slot, "Y", comment="seen"), slot.pk, "Y")


def leave(user: User, slot: Slot) -> None:
    """A browser that died: its leases stay."""


def die_in_a_submit(user: User, slot: Slot) -> None:
    """A server process that died before its transaction was written."""
    assert slot.lease is not None
    with transaction.atomic():
        submit(user, slot.ticket, slot.lease, GivenAnswer(uuid4(), "Y", LINK))
        os._exit(9)


def leases_run_out() -> None:
    Slot.objects.filter(state="leased").update(leased_until=timezone.now() - timedelta(hours=1))


# -- what is there -------------------------------------------------------------------------------------------


def standing(campaign: Campaign, given: Given | None = None) -> dict[str, Any]:
    """Counts, and at how many items something is not as it must be."""
    wrong: Counter[str] = Counter()
    items = Item.objects.filter(campaign=campaign).prefetch_related("slots__labels")
    verdicts = dict(Judgement.objects.filter(pool=campaign.pool).values_list("triple", "verdict"))
    kept: dict[str, tuple[int, str]] = {}
    live = 0
    for item in items:
        slots = sorted(item.slots.all(), key=lambda slot: slot.number)
        # a free third slot of what is no dispute was in an adjudicator's hands when the dispute ended
        over = item.state != "disputed"
        numbers = [
            slot.number
            for slot in slots
            if slot.state != "withdrawn" and not (over and slot.number == 3 and slot.state == "free")
        ]
        holders = [slot.annotator_id for slot in slots if slot.annotator_id]
        answers = {}
        for slot in slots:
            labels = slot.labels.all()
            kept |= {str(label.client_id): (slot.pk, label.answer) for label in labels}
            wrong["labels of a slot"] += len(labels) != (slot.state in ("answered", "withdrawn"))
            wrong["label of another"] += any(label.annotator_id != slot.annotator_id for label in labels)
            if slot.state == "answered" and labels:
                answers[slot.number] = labels[0].answer
        state, verdict = decide(answers, reopened=item.reopened)
        undecided = decide({n: a for n, a in answers.items() if n < 3}, reopened=item.reopened)[0] == "disputed"
        live += sum(number < 3 for number in answers)
        wrong["slots"] += [number for number in numbers if number < 3] != [1, 2]
        wrong["third slot"] += numbers.count(3) != (1 if undecided or 3 in answers else 0)
        wrong["same person"] += len(set(holders)) != len(holders)
        wrong["state"] += state != item.state
        # a judgement that was taken back is not deleted, but undecided
        wrong["judgement"] += verdicts.get(item.triple_id) not in ((verdict,) if verdict else (None, "undecided"))
    surplus = SurplusLabel.objects.filter(item__campaign=campaign)
    late = {str(client) for client in surplus.values_list("client_id", flat=True)}
    wrong["lost"] = sum(kept.get(client) != entry for client, entry in (given or {}).items() if client not in late)
    wrong["made up"] = len(kept.keys() - given.keys()) if given is not None else 0
    return {"live": live, "surplus": len(late), "wrong": {key: n for key, n in wrong.items() if n}}
