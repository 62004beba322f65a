"""Time requests on checks and on slots, as a person who wants to tell them apart would; test_timing runs it.

Every question gets the same requests, in a new random order each round, so that a slow moment of the machine falls
on both kinds alike.
"""

import gc
import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from django.conf import settings  # noqa: E402
from django.db import connection  # noqa: E402
from django.test import Client  # noqa: E402
from django.test.utils import CaptureQueriesContext  # noqa: E402

from annotation.labelling import own_labels  # noqa: E402
from annotation.models import Campaign, Check  # noqa: E402
from annotation.people.accounts import add_person  # noqa: E402
from core import clock  # noqa: E402
from tests.annotation.api.calls import CLAIM, RENEW, SUBMIT, change_url, changed, given, post  # noqa: E402
from tests.annotation.factories import make_large, make_world  # noqa: E402

EVIL = "https://evil.example/"
PEOPLE = 4  # each with a hand of their own
Item = dict[str, Any]
Request = Callable[[Item], tuple[str, dict[str, Any]]]

BEFORE: dict[str, Request] = {  # what can be sent of a question without answering it
    "a wrong lease": lambda item: (SUBMIT, given(item) | {"lease": str(uuid4())}),
    "a refused link": lambda item: (SUBMIT, given(item, source_url=EVIL)),
    "renewed": lambda item: (RENEW, {"slots": [item["slot"]]}),
}
AFTER: dict[str, Request] = {  # and once it is answered
    "repeated": lambda item: (SUBMIT, item["sent"]),
    "a refused change": lambda item: (change_url(item["sent"]["client_id"]), changed(source_url=EVIL)),
}


def auc(checks: list[float], slots: list[float]) -> float:
    """Return the share of pairs in which the check takes longer; ties count half."""
    pairs = [(a > b) + (a == b) / 2 for a in checks for b in slots]
    return statistics.fmean(pairs)


def measured(client: Client, request: Request, items: list[Item], secret: set[str], rounds: int) -> tuple[Any, Any]:
    """Return AUC by minimum and by median of the rounds, and the looks of the answers of checks and of slots."""
    seconds: dict[str, list[float]] = {item["slot"]: [] for item in items}
    looks: tuple[set[str], set[str]] = set(), set()
    post(client, *request(items[0]))  # fills what is remembered between requests
    for item in items:
        url, body = request(item)
        with CaptureQueriesContext(connection) as asked:
            response = post(client, url, body)
        text = response.content.decode().replace(item["slot"], "TICKET").replace(str(body.get("client_id")), "ID")
        # each answer has an id of its own, by chance: its length is compared
        told = {**response.headers, "X-Request-ID": len(response["X-Request-ID"])}
        headers = [f"{name}: {value}" for name, value in told.items()]
        look = response.status_code, headers, len(response.content), text, len(asked)
        looks[item["slot"] in secret].add(json.dumps(look))
    order = list(items)
    for number in range(rounds):
        random.Random(number).shuffle(order)
        for item in order:
            url, body = request(item)
            start = time.perf_counter()
            post(client, url, body)
            seconds[item["slot"]].append(time.perf_counter() - start)
        gc.collect()
    found = []
    for of in (min, statistics.median):
        by = {slot: of(times) for slot, times in seconds.items()}
        found.append(auc(*([by[slot] for slot in by if (slot in secret) == wanted] for wanted in (True, False))))
    return found, looks


def hand_of(person: Any) -> tuple[Client, list[Item], set[str]]:
    """Return a person's client, as many checks as slots of their hand, and which are checks."""
    client = Client(SERVER_NAME="127.0.0.1")
    client.force_login(person)
    items = post(client, CLAIM.replace("p1", "large"), {"count": 50}).json()["items"]
    tickets = {str(ticket) for ticket in Check.objects.filter(person=person).values_list("ticket", flat=True)}
    checks, slots = ([item for item in items if (item["slot"] in tickets) == wanted] for wanted in (True, False))
    few = min(len(checks), len(slots))
    return client, checks[:few] + slots[:few], tickets


def play(rounds: int, only: list[str]) -> dict[str, Any]:
    """Measure the requests, on a campaign of which about half of a hand are gold items; several people take part."""
    settings.API_RATES = {"annotator": "1000000/min"}
    own_labels.CHANGEABLE = 1000
    clock._KEPT_SECONDS = 1e9  # else a request now and then asks the database for its time
    world = make_world(Path(tempfile.mkdtemp()) / "graph")
    campaign = make_large(world, [4] * 22, 4, every=1)
    Campaign.objects.update(gold_percent=50)
    people = [world.ann]
    for number in range(1, PEOPLE if rounds > 1 else 1):  # one round compares only what the answers say
        people.append(add_person(f"person-{number}", "annotator", campaign)[0])
    campaign.members.update(consented_at=world.ann.date_joined)
    hands = [hand_of(person) for person in people]
    found: dict[str, Any] = {"checks": [len(items) // 2 for _, items, _ in hands]}
    gc.disable()
    for requests in (BEFORE, AFTER):
        for name in (name for name in requests if not only or name in only):
            told = [measured(*hand[:1], requests[name], *hand[1:], rounds) for hand in hands]
            minimum, median = (round(statistics.fmean(of), 3) for of in zip(*(aucs for aucs, _ in told), strict=True))
            slots, checks = (set().union(*kinds) for kinds in zip(*(looks for _, looks in told), strict=True))
            found[name] = {"minimum": minimum, "median": median, "slots": sorted(slots), "checks": sorted(checks)}
        if requests is BEFORE:
            for client, items, _ in hands:
                for item in items:
                    item["sent"] = given(item)
                    assert post(client, SUBMIT, item["sent"]).status_code == 201
    return found


if __name__ == "__main__":
    print(json.dumps(play(int(sys.argv[1]), sys.argv[2:])))
