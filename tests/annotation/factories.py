"""Scenes of the annotation tests: a small world to label, and what people do in it.

The world is a graph of people and cities, a pool with provenance, a campaign, and one person or more of each role.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from django.contrib.auth.models import User
from django.db.models import F
from django.utils import timezone

from annotation.campaigns.lifecycle import open_campaign
from annotation.judging.judgements import live_labels
from annotation.labelling import queue
from annotation.labelling.assignments import GivenAnswer
from annotation.labelling.queue import claim_disputed, release_all
from annotation.labelling.submit import SubmitResult, submit
from annotation.messages.flags import report
from annotation.models import Campaign, Check, CheckLabel, Flag, Gold, Item, Judgement, Label, Slot
from annotation.models.slot import lease_of
from annotation.people.accounts import add_person
from annotation.quality.checks import claim_questions
from annotation.questions.templates import current_template
from pooling.enums import PoolOrigin, PoolState
from pooling.graphs.imports import import_graph
from pooling.graphs.opening import open_graph
from pooling.graphs.tsv import read_tsv
from pooling.models import Graph, Pool, PooledTriple, Relation, SeedTriple
from pooling.pools.kernels.gathering import PROVENANCE

LINK = "https://en.wikipedia.org/wiki/Ada"
PASSWORD = "a long pass phrase"
PEOPLE, CITIES = 12, 10
MONDAY = datetime(2026, 3, 2, 12, tzinfo=UTC)  # of 2026-W10


def make_graph(folder: Path, name: str = "small", more_train: Sequence[tuple[str, str, str]] = ()) -> Graph:
    """Make a graph of one relation (N-N): person i lived in cities i and i + 1 in train, and two test triples.

    `more_train`: further facts, of other relations.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lived = [(f"p{i}", "lived_in", f"c{(i + step) % CITIES}") for i in range(PEOPLE) for step in (0, 1)]
    write = {
        "train": [*lived, *more_train],
        "valid": [("p0", "lived_in", "c5")],
        "test": [("p1", "lived_in", "c7"), ("p2", "lived_in", "c7")],
    }
    for split, rows in write.items():
        (folder / f"{split}.tsv").write_text("".join("\t".join(row) + "\n" for row in rows))
    labels = {f"p{i}": f"Person {i}" for i in range(PEOPLE)} | {f"c{i}": f"City {i}" for i in range(CITIES)}
    (folder / "entity_labels.tsv").write_text("".join(f"{key}\t{label}\n" for key, label in labels.items()))
    (folder / "relation_templates.tsv").write_text(
        "lived_in\tHas {subject} lived in {object}?\tWhere has {subject} lived?\tWho has lived in {object}?\n"
    )
    return import_graph(name, read_tsv(folder), options={})


def findings(*records: tuple[int, int, int]) -> bytes:
    """Return packed provenance of (system, side, rank)."""
    return np.array(list(records), dtype=PROVENANCE).tobytes()


def make_pool(graph: Graph, name: str = "p1", items: int = 6) -> Pool:
    """Make a pool of `items` triples for people, in turn of the tail question of p1 and the head question of c7."""
    arrays = open_graph(graph)
    index = arrays.entity_index
    pool = Pool.objects.create(
        graph=graph,
        name=name,
        origin=PoolOrigin.BUILT,
        state=PoolState.READY,
        depth=10,
        seed_source="test",
        contributors=["secret-system-a", "secret-system-b"],
    )
    SeedTriple.objects.create(pool=pool, head=index["p1"], relation=0, tail=index["c7"])
    tails = [(index["p1"], 0, index[f"c{c}"]) for c in range(CITIES) if c not in (1, 2, 7)]
    heads = [(index[f"p{p}"], 0, index["c7"]) for p in range(PEOPLE) if p not in (1, 2, 6, 7)]
    chosen = [pair for both in zip(tails, heads, strict=False) for pair in both][:items]
    PooledTriple.objects.bulk_create(
        PooledTriple(
            pool=pool,
            head=h,
            relation=r,
            tail=t,
            depth=7,
            provenance=findings((0, 0, 7), (1, 1, 9)) if h == index["p1"] else findings((0, 0, 9), (1, 1, 7)),
        )
        for h, r, t in chosen
    )
    PooledTriple.objects.create(
        pool=pool,
        head=index["p1"],
        relation=0,
        tail=index["c2"],
        depth=3,
        provenance=findings((0, 0, 3)),
        reason="types",
    )
    return pool


def more_relations(world: World, count: int) -> None:
    """Make so many more relations, with one triple to people of each."""
    for index in range(1, count + 1):
        Relation.objects.create(graph=world.pool.graph, index=index, key=f"more {index:02}")
        PooledTriple.objects.create(pool=world.pool, head=0, relation=index, tail=1, depth=1)


@dataclass
class World:
    pool: Pool
    campaign: Campaign
    ann: User
    ben: User
    cleo: User
    ada: User  # adjudicator
    manager: User
    researcher: User
    stranger: User


def make_world(folder: Path, items: int = 6, more_train: Sequence[tuple[str, str, str]] = ()) -> World:
    pool = make_pool(make_graph(folder, more_train=more_train), items=items)
    campaign = open_campaign(pool, seed=1)
    people = {name: add_person(name, "annotator", campaign, PASSWORD)[0] for name in ("ann", "ben", "cleo")}
    ada = add_person("ada", "adjudicator", campaign, PASSWORD)[0]
    campaign.members.update(consented_at=timezone.now())
    return World(
        pool,
        campaign,
        **people,
        ada=ada,
        manager=add_person("manager", "manager", password=PASSWORD)[0],
        researcher=add_person("researcher", "researcher", password=PASSWORD)[0],
        stranger=User.objects.create_user("stranger", password=PASSWORD),
    )


def make_large(world: World, sizes: list[int], golds: int, every: int = 3) -> Campaign:
    """Make another campaign: head questions with so many candidates each, and gold items of every third of them.

    The names of entities reach for 22 questions, and for candidates and gold items together as many.
    """
    pool = Pool.objects.create(
        graph=world.pool.graph,
        name="large",
        origin=PoolOrigin.BUILT,
        state=PoolState.READY,
        depth=9,
        seed_source="test",
        contributors=["a"],
    )
    PooledTriple.objects.bulk_create(
        PooledTriple(pool=pool, head=head, relation=0, tail=tail, depth=1, provenance=findings((0, 1, 1)))
        for tail, size in enumerate(sizes)
        for head in range(size)
    )
    campaign = open_campaign(pool, seed=1)
    Gold.objects.bulk_create(
        Gold(campaign=campaign, head=size + i, relation=0, tail=tail, side="head", answer="Y", origin="file")
        for tail, size in list(enumerate(sizes))[::every]
        for i in range(golds)
    )
    campaign.members.create(person=world.ann, role="annotator", consented_at=timezone.now())
    return campaign


def put_last(campaign: Campaign, side: str) -> None:
    """Ask the questions of this side after all others, so that more gold is due with them."""
    campaign.items.filter(side=side).update(order=F("order") + campaign.items.count())


def answer(user: User, slot: Slot, given: str = "Y", **more: Any) -> SubmitResult:
    """Submit with a verified link, a reason and a new client id, unless told otherwise."""
    lease = lease_of(slot.ticket, user.pk)
    options = {key: more.pop(key) for key in ("now", "sources") if key in more}
    fields = {"client_id": uuid4(), "source_url": LINK, "comment": "because"} | more
    return submit(user, slot.ticket, lease, GivenAnswer(answer=given, **fields), **options)


def claim(campaign: Campaign, user: User, count: int = 8, *, now: datetime | None = None) -> list[Slot]:
    """Claim and return all held slots."""
    return queue.claim(campaign, user, count, now=now)


def slot_for(campaign: Campaign, user: User, item: Item | int) -> Slot:
    """Claim until this item is in the person's hands."""
    pk = item.pk if isinstance(item, Item) else item
    return next(slot for slot in claim(campaign, user, 50) if slot.item_id == pk)


def label_item(world: World, item: Item, **answers: str) -> None:
    """Label an item, each person in turn: label_item(world, item, ann="Y", ben="N")."""
    for name, given in answers.items():
        user = getattr(world, name)
        answer(user, slot_for(world.campaign, user, item), given)


def windows_closed(item: Item) -> None:
    """Make the labels of an item so old that nobody can change them."""
    Label.objects.filter(item=item).update(created_at=timezone.now() - timedelta(minutes=60))


def label_and_release(world: World, item: Item, **answers: str) -> None:
    """Label an item as label_item does, and give back what the person was given with it."""
    for name, given in answers.items():
        label_item(world, item, **{name: given})
        release_all(getattr(world, name), world.campaign)


def label_all(world: World, items: list[Item], one: str, other: str, people: tuple[str, str] = ("ann", "ben")) -> None:
    """Give the n-th item the n-th answer of each person: label_all(world, items, "YYN", "YNN")."""
    for item, first, second in zip(items, one, other, strict=False):
        label_and_release(world, item, **{people[0]: first, people[1]: second})


def decide(world: World, **given: str) -> None:
    """Answer every dispute that waits, all alike: decide(world, ada="Y")."""
    for name, said in given.items():
        user = getattr(world, name)
        for slot in claim_disputed(world.campaign, user, 50, wait_for_windows=False):
            answer(user, slot, said)


def make_check(
    world: World,
    person: User,
    given: str = "",
    *,
    item: Item | None = None,
    expected: str = "Y",
    gold: Gold | None = None,
    active_ms: int = 0,
    away_ms: int = 0,
) -> Check:
    """Make a check of a gold item, or the re-check of an item, with its answer if there is one."""
    check = Check.objects.create(
        campaign=world.campaign,
        kind="recheck" if item else "gold",
        person=person,
        gold=gold,
        item=item,
        expected=gold.answer if gold else expected,
        order=1,
        state="answered" if given else "leased",
    )
    if given:
        CheckLabel.objects.create(
            check_item=check,
            annotator=person,
            answer=given,
            client_id=uuid4(),
            active_ms=active_ms,
            away_ms=away_ms,
            template=current_template(Relation.objects.get()),
        )
    return check


def make_gold(world: World, tail: int, known: str = "Y") -> Gold:
    return Gold.objects.create(
        campaign=world.campaign, head=0, relation=0, tail=tail, side="tail", answer=known, origin="file"
    )


def report_of(
    world: World, user: User, kind: str = "other", text: str = "odd", asked: Slot | Check | None = None
) -> Flag:
    """Report a question that this person holds; the first one unless told otherwise."""
    asked = asked or claim_questions(world.campaign, user, 50)[0]
    assert asked.lease is not None
    return report(user, asked.ticket, asked.lease, uuid4(), kind, text)


def items_of(world: World) -> list[Item]:
    return list(world.campaign.items.order_by("order"))


def outcome_of(item: Item) -> tuple[str, str | None, dict[int, str], list[int]]:
    """Return state, verdict, the answers that count by slot number, and the numbers of slots without an answer."""
    item.refresh_from_db()
    verdict = Judgement.objects.filter(triple=item.triple_id).values_list("verdict", flat=True).first()
    answers = dict(live_labels().filter(item=item).values_list("slot__number", "answer"))
    waiting = item.slots.filter(state__in=["free", "leased"]).order_by("number").values_list("number", flat=True)
    return item.state, verdict, answers, list(waiting)


def decided(world: World, item: Item, given: str = "Y", by: str = "ada") -> None:
    windows_closed(item)
    (slot,) = [slot for slot in claim_disputed(world.campaign, getattr(world, by), 50) if slot.item_id == item.pk]
    answer(getattr(world, by), slot, given)
