"""Scenes of many people at once, on the database of DATABASE_URL: test_concurrency runs this as a program.

Plays the scenes that are named (`scene:number:number`), each in a campaign of its own, and prints one JSON object:
scene -> what is there after the crowd has gone, or the error that ended it.
"""

import json
import random
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from uuid import UUID, uuid4

from django.contrib.auth.models import User
from django.db import connection, transaction

from annotation.errors import AnswerRefused, CampaignError, PersonError
from annotation.labelling import withdraw
from annotation.labelling.assignments import GivenAnswer
from annotation.labelling.question import question_of
from annotation.labelling.queue import claim_disputed, held_slots, release, release_all, renew
from annotation.labelling.submit import submit
from annotation.messages.flags import report
from annotation.models import Campaign, Check, Gold, Item, Label, Slot
from annotation.people.accounts import is_erased, make_account
from annotation.people.forgotten import ask
from annotation.people.own_data import erase
from annotation.quality.checks import claim_questions, draw_recheck, gold_from_pool
from pooling.models import SeedTriple
from tests.annotation.crowd import (
    HEADS,
    Death,
    Notes,
    answer_slot,
    apart,
    decide_all,
    die_in_a_submit,
    label_until_done,
    leases_run_out,
    leave,
    make_campaign,
    people,
    standing,
    together,
)
from tests.annotation.factories import LINK, claim


def crowd(num_people: int, items: int) -> dict[str, Any]:
    """Threads label until nothing is left, the last of them adjudicators who annotate; then all decide at once."""
    return _crowd(num_people, items, together, leave)


def processes(num_people: int, items: int) -> dict[str, Any]:
    """The same with a process each, which dies in the middle of a submit."""
    return _crowd(num_people, items, apart, die_in_a_submit)


def batches(num_people: int, items: int, size: int) -> dict[str, Any]:
    """The same with triples that are released by whoever finds nothing to label, several of them at a time."""
    found = _crowd(num_people, items, together, leave, size)
    campaign = Campaign.objects.latest("pk")
    triples = list(campaign.pool.triples.filter(reason="").order_by("pk").values_list("pk", flat=True))
    numbers = list(campaign.batches.order_by("number").values_list("number", "size"))
    return found | {
        "every triple once": list(campaign.items.order_by("triple").values_list("triple", flat=True)) == triples,
        "places once": sorted(campaign.items.values_list("order", flat=True)) == list(range(items)),
        "batches": len(numbers),
        "numbered": [number for number, _ in numbers] == list(range(1, len(numbers) + 1)),
    }


def _crowd(
    num_people: int, items: int, at_once: Callable[[Any], None], die: Death, batch_size: int = 0
) -> dict[str, Any]:
    campaign, notes = make_campaign(items, batch_size), Notes()
    judges = people(campaign, max(2, num_people // 8), "adjudicator")
    annotators = people(campaign, num_people - len(judges)) + judges[1:]
    # the first dies at once, before others can have taken all there is; any other in one of twenty claims
    at_once([lambda: label_until_done(campaign, annotators[0], notes, 1, die)])
    at_once(
        [
            *(lambda user=user: label_until_done(campaign, user, notes, 0.05, die) for user in annotators[1:]),
            lambda: decide_all(campaign, judges[0], notes),
        ]
    )
    leases_run_out()
    at_once([lambda user=user: label_until_done(campaign, user, notes, 0, die) for user in annotators])
    leases_run_out()
    at_once([lambda user=user: decide_all(campaign, user, notes) for user in judges])
    thirds = Slot.objects.filter(item__campaign=campaign, number=3)
    conflicts = sum(1 for given in _answers(campaign).values() if len(given) != 1 or given == {"?"})
    return {
        "died": notes.dead() > 0,
        "conflicts": conflicts == thirds.count() > 0,
        "undecided": thirds.exclude(state="answered").count(),
        "labels": Label.objects.filter(item__campaign=campaign).exclude(slot__number=3).count(),
        "items left": campaign.items.exclude(state__in=["settled", "undecided"]).count(),
        **standing(campaign, notes.given()),
    }


def _answers(campaign: Campaign) -> dict[int, set[str]]:
    found: dict[int, set[str]] = {}
    labels = Label.objects.filter(item__campaign=campaign).exclude(slot__number=3)
    for item, answer in labels.values_list("item", "answer"):
        found.setdefault(item, set()).add(answer)
    return found


def same_moment(items: int) -> dict[str, Any]:
    """Two people hold both slots of every item, and answer each at the same moment."""
    campaign = make_campaign(items)
    users = people(campaign, 2)
    held = [{slot.item_id: slot for slot in claim(campaign, user, 50)} for user in users]
    meet = threading.Barrier(2)

    def work(mine: int) -> None:
        for number, item in enumerate(sorted(held[mine])):
            meet.wait()
            answer_slot(users[mine], held[mine][item], "N" if mine and number % 2 else "Y")

    together([lambda: work(0), lambda: work(1)])
    states = Counter(campaign.items.values_list("state", flat=True))
    return {"states": dict(sorted(states.items())), **standing(campaign)}


def two_tabs(tabs: int, items: int) -> dict[str, Any]:
    """One person claims in several tabs at once, then the same answer and the same report is sent from all."""
    campaign = make_campaign(items)
    (user,) = people(campaign, 1)
    together([lambda: claim(campaign, user, 50)] * tabs)  # type: ignore[list-item,return-value]
    slot = claim(campaign, user, 50)[0]
    client, labels = uuid4(), []
    assert slot.lease is not None
    lease = slot.lease
    together([lambda: labels.append(submit(user, slot.ticket, lease, GivenAnswer(client, "Y", LINK)).label.pk)] * tabs)
    reported: list[int] = []
    together([lambda: reported.append(report(user, slot.ticket, lease, client, "name").pk)] * tabs)
    return {"reports": len(set(reported)), "different": len(set(labels)), "answers": len(labels), **standing(campaign)}


def greedy(tabs: int, items: int) -> dict[str, Any]:
    """One person claims in several tabs at once, more than they may hold."""
    campaign = make_campaign(items)
    (user,) = people(campaign, 1)
    together([lambda: claim(campaign, user, 50)] * tabs)  # type: ignore[list-item,return-value]
    return {"held": held_slots(campaign, user).count()}


def gold_in_tabs(rounds: int) -> dict[str, Any]:
    """One person takes everything and gives it back in one tab, and looks in others: is gold there without items?"""
    campaign = make_campaign(2 * HEADS)
    (user,) = people(campaign, 1)
    Campaign.objects.filter(pk=campaign.pk).update(gold_percent=50)
    campaign.refresh_from_db()
    gold = {"campaign": campaign, "relation": 0, "side": "head", "answer": "Y", "origin": "file"}
    Gold.objects.bulk_create(Gold(head=1_000 + i, tail=i % 2, **gold) for i in range(8))
    busy, looks, taken, shown, alone = True, 0, 0, 0, 0

    def take_and_give_back() -> None:
        nonlocal busy, taken, shown
        # on a busy machine the others wait long for their turn
        while taken < rounds or (looks <= rounds / 4 and taken < 20 * rounds):
            held = claim_questions(campaign, user, 50)
            taken += 1
            shown += any(isinstance(place, Check) for place in held)
            release(user, [place.ticket for place in held])
        busy = False

    def look() -> None:
        nonlocal looks, alone
        while busy:
            held = claim_questions(campaign, user, 1)
            items = {question_of(place.asked) for place in held if isinstance(place, Slot)}
            alone += any(question_of(place.asked) not in items for place in held)
            looks += 1

    together([take_and_give_back, look, look])
    return {"not shown": taken - shown, "looked": looks > rounds / 4, "alone": alone}


def withdrawn_twice(tabs: int, items: int) -> dict[str, Any]:
    """Several managers withdraw one person's labels at once; the audit log tells each label once."""
    campaign = make_campaign(items)
    (user,) = people(campaign, 1)
    for slot in claim(campaign, user, items):
        answer_slot(user, slot, "Y")
    told: list[int] = []
    together([lambda: told.append(withdraw.withdraw_labels(campaign, user).labels)] * tabs)
    return {"told": sorted(told), **standing(campaign)}


def erased(items: int) -> dict[str, Any]:
    """A person erases their account before the transaction of their answer has ended: neither fails."""
    campaign = make_campaign(items)
    (user,) = people(campaign, 1)
    slot, *_ = claim(campaign, user, items)
    written = threading.Event()

    def label() -> None:
        with transaction.atomic():
            answer_slot(user, slot, "Y")
            written.set()
            time.sleep(1)  # the other waits now for the slot

    def leave_for_good() -> None:
        written.wait()
        erase(user)

    together([label, leave_for_good])
    gone = is_erased(User.objects.get(pk=user.pk))
    return {"held": held_slots(campaign, user).count(), "erased": gone, **standing(campaign)}


def checks_twice(items: int) -> dict[str, Any]:
    """Two managers draw the same gold items and re-checks; the second begins before the first has ended."""
    campaign = make_campaign(items)
    one, other, expert = people(campaign, 3)
    for user in (one, other):
        for slot in claim(campaign, user, items):
            answer_slot(user, slot, "Y")
    seeds = [SeedTriple(pool=campaign.pool, head=1_000 + i, relation=0, tail=0) for i in range(3)]
    SeedTriple.objects.bulk_create(seeds)
    gold: list[int] = []
    again: list[int] = []

    def draw_golds() -> None:
        gold.append(gold_from_pool(campaign, positives=3, negatives=0).added)

    def draw_again() -> None:
        again.append(draw_recheck(campaign, expert, 4))

    for draw in (draw_golds, draw_again):
        together(_second_begins_before_the_first_has_ended(draw))
    return {"gold": gold, "again": again, "checks": campaign.checks.count(), "golds": campaign.golds.count()}


def lookalikes() -> dict[str, Any]:
    """Two people make accounts whose names look alike; the second begins before the first has ended."""
    names, refused = iter(("Anna", "аnna")), []  # the second with a Cyrillic а

    def make() -> None:
        try:
            make_account(next(names), "quite a phrase")
        except PersonError:
            refused.append(1)

    together(_second_begins_before_the_first_has_ended(make))
    return {
        "made": list(User.objects.filter(username__in=("Anna", "аnna")).values_list("username", flat=True)),
        "refused": len(refused),
    }


def many_ask(num: int) -> dict[str, Any]:
    """Ask for links from one network address at once."""
    taken = []

    def one() -> None:
        with suppress(PersonError):
            taken.append(ask("nobody@example.org", "203.0.113.7"))

    together([one] * num)
    return {"taken": len(taken)}


def _second_begins_before_the_first_has_ended(act: Callable[[], None]) -> list[Callable[[], None]]:
    written = threading.Event()

    def first() -> None:
        with transaction.atomic():
            try:
                act()
            finally:
                written.set()
            time.sleep(1)

    def second() -> None:
        written.wait()
        act()

    return [first, second]


def busy_tabs(rounds: int, items: int) -> dict[str, Any]:
    """One person in four tabs, which load, renew, answer and leave at once: no answer is lost, none refused."""
    campaign, notes = make_campaign(items), Notes()
    (user,) = people(campaign, 1)

    def load(number: int) -> None:
        for _ in range(rounds):
            claim(campaign, user, 50)

    def keep(number: int) -> None:
        for _ in range(rounds):
            renew(user, _tickets(user, random.Random(number)))

    def go(number: int) -> None:
        for step in range(rounds):
            release_all(user, campaign) if step % 2 else release(user, _tickets(user, random.Random(step)))

    def label(number: int) -> None:
        while not (mine := claim(campaign, user, 50)[number % 2 :: 2]):
            pass  # the other tabs lock or give back all there is, for a moment
        for slot in mine[: rounds // 2]:
            notes.add(answer_slot(user, slot, "Y"), slot.pk, "Y")

    acts = (load, keep, go, label, label, load, keep, go)
    together([lambda act=act, number=number: act(number) for number, act in enumerate(acts)])  # type: ignore[misc]
    release_all(user, campaign)
    return standing(campaign, notes.given())


def _tickets(user: User, rng: random.Random) -> list[UUID]:
    tickets = list(Slot.objects.filter(annotator=user, state="leased").values_list("ticket", flat=True))
    rng.shuffle(tickets)
    return tickets


def adjudicators(count: int, items: int) -> dict[str, Any]:
    """Every item is disputed; several adjudicators take them at once."""
    campaign, notes = make_campaign(items), Notes()
    for user, answer in zip(people(campaign, 2), "YN", strict=True):
        for slot in claim(campaign, user, 50):
            notes.add(answer_slot(user, slot, answer), slot.pk, answer)
    users = people(campaign, count, "adjudicator")
    sent_away: list[User] = []

    def work(user: User) -> None:
        decide_all(campaign, user, notes)
        if Slot.objects.filter(item__campaign=campaign, number=3, state="free").exists():
            sent_away.append(user)  # while there was something left for them

    together([lambda user=user: work(user) for user in users])  # type: ignore[misc]
    decided = Slot.objects.filter(item__campaign=campaign, number=3, state="answered").count()
    return {"decided": decided, "sent away": len(sent_away), **standing(campaign, notes.given())}


def taking_back(num_people: int, items: int) -> dict[str, Any]:
    """People label and decide; meanwhile two people's labels are withdrawn, items returned, judgements reopened."""
    campaign, notes = make_campaign(items), Notes()
    (withdrawn, *annotators), judges = people(campaign, num_people), people(campaign, 4, "adjudicator")
    for slot in claim(campaign, withdrawn, items // 4):  # before the crowd: there is something to withdraw
        notes.add(answer_slot(withdrawn, slot, "Y"), slot.pk, "Y")
    done: Counter[str] = Counter()

    def label(user: User) -> None:
        for _ in range(3):  # nothing may be left for a moment only
            label_until_done(campaign, user, notes, 0, leave)
        done["finished"] += 1

    def judge(user: User) -> None:
        for _ in range(items // 4):
            for slot in claim_disputed(campaign, user, 2, wait_for_windows=False):
                try:
                    notes.add(answer_slot(user, slot, "N", comment="seen"), slot.pk, "N")
                except AnswerRefused:
                    done["gone"] += 1  # a label was taken back: there is no dispute any more

    def manage() -> None:
        rng = random.Random(7)
        acts: list[Callable[[Item], None]] = [withdraw.return_item, withdraw.reopen_judgement]
        touched: set[int] = set()  # each once: people must be left for it
        until = time.monotonic() + 20
        while len(touched) < items and time.monotonic() < until:
            judged = campaign.items.exclude(state="open").exclude(pk__in=touched)
            ready = list(judged.order_by("pk").values_list("pk", flat=True))
            if not ready:
                if done["finished"] == len(annotators):
                    break
                time.sleep(0.01)
                continue
            touched.add(pk := rng.choice(ready))
            try:
                acts[len(touched) % 2](campaign.items.get(pk=pk))
                done["items"] += 1
            except CampaignError:
                pass  # it waits for labels again
            if len(touched) % (items // 4) == items // 8:
                who = (withdrawn, annotators[0])[len(touched) % 2]
                done["labels"] += withdraw.withdraw_labels(campaign, who).labels

    together(
        [
            *(lambda user=user: label(user) for user in annotators),
            lambda: judge(judges[0]),
            lambda: judge(judges[1]),
            manage,
        ]
    )  # type: ignore[misc]
    # once more when they are done: on a busy machine nothing may have been ready to be taken back before
    done["labels"] += withdraw.withdraw_labels(campaign, withdrawn).labels
    for item in campaign.items.exclude(state="open").order_by("pk")[:1]:
        withdraw.return_item(item)
        done["items"] += 1
    leases_run_out()
    for user in annotators:
        label_until_done(campaign, user, notes, 0, leave)
    for user in judges:
        decide_all(campaign, user, notes)
    live = Slot.objects.filter(item__campaign=campaign).exclude(state="withdrawn")
    return {
        "something was taken back": min(done["items"], done["labels"]) > 0,
        "items left": campaign.items.exclude(state__in=["settled", "undecided"]).count(),
        "of who was withdrawn": live.filter(annotator=withdrawn).count(),
        **standing(campaign, notes.given()),
    }


SCENES: dict[str, Callable[..., dict[str, Any]]] = {
    scene.__name__: scene
    for scene in (
        crowd,
        processes,
        batches,
        same_moment,
        two_tabs,
        greedy,
        gold_in_tabs,
        withdrawn_twice,
        erased,
        checks_twice,
        lookalikes,
        many_ask,
        busy_tabs,
        adjudicators,
        taking_back,
    )
}


def play(name: str, *numbers: str) -> dict[str, Any]:
    try:
        return SCENES[name](*map(int, numbers))
    except Exception:
        return {"error": traceback.format_exc()[-2000:]}


def main() -> None:
    played = {scene: play(*scene.split(":")) for scene in sys.argv[1:]}
    print(json.dumps(played | {"vendor": connection.vendor}))
