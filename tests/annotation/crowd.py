"""Many people at once, on the database of DATABASE_URL: test_concurrency runs it as a program.

Prints one JSON object: what is there after the crowd has gone.
"""

import json
import os
import random
import sys
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
from django.core.management import call_command  # noqa: E402
from django.db import connection  # noqa: E402
from django.utils import timezone  # noqa: E402

from annotation.domain.campaign import open_campaign  # noqa: E402
from annotation.domain.judgement import decide  # noqa: E402
from annotation.domain.label import submit  # noqa: E402
from annotation.domain.person import add_person  # noqa: E402
from annotation.domain.queue import claim, claim_disputed  # noqa: E402
from annotation.models import Campaign, Item, Judgement, Label, Slot, SurplusLabel  # noqa: E402
from pooling.domain.graph import open_graph  # noqa: E402
from pooling.models import Pool, PooledTriple  # noqa: E402
from tests.annotation.world import LINK, findings, make_graph  # noqa: E402


def make_campaign(items: int) -> Campaign:
    graph = make_graph(Path(tempfile.mkdtemp()))
    index = open_graph(graph).entity_index
    pool = Pool.objects.create(
        graph=graph,
        name="crowd",
        origin="built",
        state="ready",
        depth=9,
        seed_source="test",
        contributors=["a"],
    )
    pairs = [(f"p{i % 12}", f"c{i // 12}") for i in range(items)]
    PooledTriple.objects.bulk_create(
        PooledTriple(
            pool=pool, head=index[p], relation=0, tail=index[c], depth=3, provenance=findings((0, 0, 3))
        )
        for p, c in pairs
    )
    return open_campaign(pool, seed=5)


def people(campaign: Campaign, count: int) -> list[User]:
    return [add_person(f"person{i}", "annotator", campaign, uuid4().hex)[0] for i in range(count)]


def together(acts: Sequence[Callable[[], None]]) -> None:
    """Run the acts in threads that start at once; the first error ends the program."""
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


def crowd(num_people: int, items: int) -> dict[str, Any]:
    """Label until nothing is left: 10 % of the answers are sent twice, 5 % of the batches dropped."""
    campaign = make_campaign(items)
    users = people(campaign, num_people)
    given: Counter[str] = Counter()

    def work(user: User, drop: float) -> None:
        rng = random.Random(user.username)
        while slots := claim(campaign, user, 3):
            if rng.random() < drop:
                given["dropped"] += 1
                return  # a browser that died: its leases stay
            for slot in slots:
                answer, client = rng.choice("YYYNN?"), uuid4()
                for _ in range(2 if rng.random() < 0.1 else 1):
                    assert slot.lease is not None
                    submit(user, slot.pk, slot.lease, client, answer, "" if answer == "?" else LINK)
                given[user.username] += 1

    for drop in (0.05, 0.0):
        together([lambda user=user: work(user, drop) for user in users])  # type: ignore[misc]  # noqa: B023
        Slot.objects.filter(state="leased").update(leased_until=timezone.now() - timedelta(hours=1))
    return {"given": sum(n for name, n in given.items() if name != "dropped"), **standing()}


def same_moment(items: int) -> dict[str, Any]:
    """Two people hold both slots of every item, and answer each at the same moment."""
    campaign = make_campaign(items)
    users = people(campaign, 2)
    held = [{slot.item_id: slot for slot in claim(campaign, user, 50)} for user in users]
    meet = threading.Barrier(2)

    def work(mine: int) -> None:
        for number, item in enumerate(sorted(held[mine])):
            slot = held[mine][item]
            assert slot.lease is not None
            meet.wait()
            submit(users[mine], slot.pk, slot.lease, uuid4(), "N" if mine and number % 2 else "Y", LINK)

    together([lambda: work(0), lambda: work(1)])
    return standing()


def two_tabs(tabs: int, items: int) -> dict[str, Any]:
    """One person claims in several tabs at once, then the same answer is sent from all of them."""
    campaign = make_campaign(items)
    (user,) = people(campaign, 1)
    together([lambda: claim(campaign, user, 50)] * tabs)  # type: ignore[list-item,return-value]
    doubled = len(
        [
            n
            for n in Counter(Slot.objects.exclude(annotator=None).values_list("item", flat=True)).values()
            if n > 1
        ]
    )
    slot = claim(campaign, user, 50)[0]
    client, labels = uuid4(), []
    assert slot.lease is not None
    lease = slot.lease
    together([lambda: labels.append(submit(user, slot.pk, lease, client, "Y", LINK).label.pk)] * tabs)
    return {"doubled": doubled, "different": len(set(labels)), "answers": len(labels), **standing()}


def adjudicators(count: int, items: int) -> dict[str, Any]:
    """Every item is disputed; several adjudicators take them at once."""
    campaign = make_campaign(items)
    first, second = people(campaign, 2)
    for user, answer in ((first, "Y"), (second, "N")):
        for slot in claim(campaign, user, 50):
            assert slot.lease is not None
            submit(user, slot.pk, slot.lease, uuid4(), answer, LINK)
    users = [add_person(f"judge{i}", "adjudicator", campaign, uuid4().hex)[0] for i in range(count)]

    def work(user: User) -> None:
        while slots := claim_disputed(campaign, user, 2, wait_for_windows=False):
            for slot in slots:
                assert slot.lease is not None
                submit(user, slot.pk, slot.lease, uuid4(), "Y", LINK, "seen")

    together([lambda user=user: work(user) for user in users])  # type: ignore[misc]
    decided = Slot.objects.filter(number=3, state="answered").count()
    return {"decided": decided, **standing()}


def standing() -> dict[str, Any]:
    """Counts, and the items at which something is not as it must be."""
    wrong: Counter[str] = Counter()
    per_item: Counter[int] = Counter()
    for item in Item.objects.prefetch_related("slots", "labels__slot"):
        labels = [label for label in item.labels.all() if label.slot.number < 3]
        per_item[len(labels)] += 1
        answers = {label.slot.number: label.answer for label in item.labels.all()}
        state, verdict = decide(dict(sorted(answers.items())))
        judged = Judgement.objects.filter(triple=item.triple_id).values_list("verdict", flat=True).first()
        third = [slot for slot in item.slots.all() if slot.number == 3]
        holders = [slot.annotator_id for slot in item.slots.all() if slot.annotator_id]
        disputed = {answers.get(1), answers.get(2)} not in ({"Y"}, {"N"}) and {1, 2} <= answers.keys()
        wrong["same person"] += len(set(holders)) != len(holders)
        wrong["state"] += state != item.state
        wrong["judgement"] += judged != verdict
        wrong["third slot"] += bool(third) != disputed
        wrong["slots"] += len(item.slots.all()) - len(third) != 2
    return {
        "labels": Label.objects.count(), "surplus": SurplusLabel.objects.count(),
        "labels_per_item": dict(sorted(per_item.items())), "wrong": {key: n for key, n in wrong.items() if n},
        "vendor": connection.vendor,
    }  # fmt: skip


if __name__ == "__main__":
    call_command("migrate", verbosity=0, skip_checks=True)
    scene, *numbers = sys.argv[1:]
    acts: dict[str, Callable[..., dict[str, Any]]] = {
        "crowd": crowd, "same_moment": same_moment, "two_tabs": two_tabs, "adjudicators": adjudicators,
    }  # fmt: skip
    print(json.dumps(acts[scene](*map(int, numbers))))
