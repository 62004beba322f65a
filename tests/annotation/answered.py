"""Answers for tests of figures: labels, decisions, checks, at times and by people of choice."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import uuid4

from django.contrib.auth.models import User

from annotation.labelling.queue import claim_disputed, release_all
from annotation.models import Check, CheckLabel, Gold, Item
from annotation.questions.templates import current_template
from pooling.models import Relation
from tests.annotation import world as worlds
from tests.annotation.world import World, answer

MONDAY = datetime(2026, 3, 2, 12, tzinfo=UTC)  # of 2026-W10


def label_item(world: World, item: Item, **answers: str) -> None:
    """As in the world, but nobody keeps the other items in their hands."""
    for name, given in answers.items():
        worlds.label_item(world, item, **{name: given})
        release_all(getattr(world, name), world.campaign)


def label_all(world: World, items: list[Item], one: str, other: str, people: tuple[str, str] = ("ann", "ben")) -> None:
    """The n-th item gets the n-th answer of each: label_all(world, items, "YYN", "YNN")."""
    for item, first, second in zip(items, one, other, strict=False):
        label_item(world, item, **{people[0]: first, people[1]: second})


def decide(world: World, **given: str) -> None:
    """The adjudicator answers every dispute that waits, all alike: decide(world, ada="Y")."""
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
    """A check of a gold item, or the re-check of an item, with its answer if there is one."""
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
