"""The verdict of a chaos campaign finds what is lost, doubled or in a wrong state: here it is made so on purpose."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest
from django.db import connection

from annotation.labelling.assignments import GivenAnswer
from annotation.labelling.queue import claim_disputed
from annotation.labelling.submit import change
from annotation.models import Item, Judgement, Label, Slot, SurplusLabel
from benchmarks.chaos.people import Sent
from benchmarks.chaos.verdict import Verdict, judge
from core.enums import JobState
from core.files.artifacts import artifact_path
from core.models import Job
from evaluation.enums import EvaluationJob
from tests.annotation.factories import LINK, World, answer, items_of, label_all, make_world, slot_for, windows_closed
from tests.factories import make_job


@pytest.fixture
def world(db, tmp_path: Path) -> World:
    """Six items: two agreed, one disputed, one decided, one with one label, one with none; one label was changed."""
    world = make_world(tmp_path / "tsv")
    items = items_of(world)
    label_all(world, items[:4], "YNYN", "YNNY")
    windows_closed(items[3])
    (slot,) = claim_disputed(world.campaign, world.ada, 1)
    assert slot.item_id == items[3].pk
    answer(world.ada, slot, "Y")
    given = answer(world.ann, slot_for(world.campaign, world.ann, items[4]), "N").label
    change(world.ann, given.client_id, GivenAnswer(uuid4(), "Y", source_url=LINK))
    make_job(EvaluationJob.EXPORT, JobState.DONE, attempts=2, finished_at=given.created_at)
    return world


def sent() -> list[Sent]:
    """What the people would have noted."""
    rows = Label.objects.select_related("slot", "annotator", "supersedes")
    return [
        Sent(
            label.annotator.username,
            label.slot.ticket,
            label.client_id,
            label.answer,
            label.supersedes.client_id if label.supersedes else None,
            "label",
        )
        for label in rows
    ]


def verdict(noted: list[Sent] | None = None) -> Verdict:
    with connection.cursor() as cursor:
        return judge(cursor, sent() if noted is None else noted, artifact_path(""))


def test_what_is_right_is_good(world: World):
    found = verdict()
    assert found.findings() == []
    assert (found.acknowledged, found.stored, found.items, found.settled) == (11, 11, 6, 3)
    assert (dict(found.jobs), found.attempts, found.files) == ({"done": 1}, 1, 1)


def test_an_answer_without_acknowledgement_may_be_stored_or_not(world: World):
    noted = sent()
    noted[0].kept = ""
    noted.append(Sent("ben", noted[1].ticket, uuid4(), "Y"))
    assert verdict(noted).is_good


Harm = Callable[[World], None]


def lose_label(world: World) -> None:
    Label.objects.filter(slot__number=3).delete()


def change_answer(world: World) -> None:
    Label.objects.filter(slot__number=3).update(answer="?")


def change_person(world: World) -> None:
    Label.objects.filter(slot__number=3).update(annotator=world.cleo)


def lose_surplus(world: World) -> None:
    SurplusLabel.objects.all().delete()


@pytest.mark.parametrize("harm", [lose_label, change_answer, change_person, lose_surplus])
def test_a_lost_answer_is_found(world: World, harm: Harm):
    one = Label.objects.filter(slot__number=3).get()
    extra = {"annotator": world.ben, "item": one.item, "answer": "N", "template": one.template, "client_id": uuid4()}
    surplus = SurplusLabel.objects.create(**extra)
    noted = [*sent(), Sent("ben", one.slot.ticket, surplus.client_id, "N", kept="surplus")]
    assert verdict(noted).is_good
    harm(world)
    assert len(verdict(noted).lost) == 1


def test_a_change_that_was_undone_by_another_label_is_lost(world: World):
    noted = sent()
    label = Label.objects.get(client_id=noted[-1].client_id)
    fields = {"slot": label.slot, "item": label.item, "annotator": world.ann, "template": label.template}
    Label.objects.create(**fields, client_id=uuid4(), answer="N", supersedes=label)
    found = verdict(noted)
    assert [words.partition(" of ")[2] for words in found.lost] == ["ann was the last one, and another counts"]
    assert len(found.doubled) == 1  # nobody sent it


def drop(index: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"DROP INDEX {index}")


def a_label_again(world: World, **changed: object) -> None:
    drop("label_first_of_slot_once")
    label = Label.objects.filter(slot__number=1, supersedes=None).first()
    assert label is not None
    fields = {name: getattr(label, name) for name in ("slot", "item", "annotator", "answer", "template")}
    Label.objects.create(client_id=uuid4(), **fields | changed)


def third_plain_label(world: World) -> None:
    drop("slot_number_once")
    label = Label.objects.filter(slot__number=2).first()
    assert label is not None
    slot = Slot.objects.create(item=label.item, number=2, state="answered", annotator=world.cleo)
    Label.objects.create(
        slot=slot,
        item=label.item,
        annotator=world.cleo,
        answer=label.answer,
        template=label.template,
        client_id=uuid4(),
    )


def both_kinds(world: World) -> None:
    label = Label.objects.filter(slot__number=1).first()
    assert label is not None
    fields = {name: getattr(label, name) for name in ("item", "annotator", "answer", "template", "client_id")}
    SurplusLabel.objects.create(**fields)


@pytest.mark.parametrize(
    ("harm", "words"),
    [(a_label_again, "first labels"), (third_plain_label, "3 plain labels"), (both_kinds, "and a surplus label")],
)
def test_a_doubled_label_is_found(world: World, harm: Harm, words: str):
    harm(world)
    assert any(words in found for found in verdict().doubled)


def item_open(world: World) -> None:
    Item.objects.filter(state="settled").update(state="open")


def verdict_wrong(world: World) -> None:
    Judgement.objects.filter(verdict="negative").update(verdict="positive")


def judged_too_early(world: World) -> None:
    triple = Item.objects.filter(state="open").first()
    assert triple is not None
    at = triple.campaign.created_at
    pool, origin = world.pool, "people"
    Judgement.objects.create(pool=pool, triple=triple.triple, verdict="positive", origin=origin, decided_at=at)


def slot_free(world: World) -> None:
    Slot.objects.filter(number=1, state="answered").update(state="leased")


def slot_of_another(world: World) -> None:
    Slot.objects.filter(number=3, state="answered").update(annotator=world.cleo)


def slot_without_label(world: World) -> None:
    slot = Slot.objects.filter(state="free").first()
    assert slot is not None
    Slot.objects.filter(pk=slot.pk).update(state="answered", annotator=world.cleo)


def no_third_slot(world: World) -> None:
    Slot.objects.filter(number=3).exclude(state="answered").delete()


def job_running(world: World) -> None:
    Job.objects.update(state=JobState.RUNNING)


def file_damaged(world: World) -> None:
    folder = artifact_path(world.pool.graph.artifact)
    shutil.rmtree(folder) if folder.is_dir() else folder.unlink()


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (item_open, "make it settled"),
        (verdict_wrong, "is judged positive"),
        (judged_too_early, "decide nothing"),
        (slot_free, "has a label, and is leased"),
        (slot_of_another, "is of cleo, its label of ada"),
        (slot_without_label, "has no label"),
        (no_third_slot, "has no third slot"),
        (job_running, "is running"),
        (file_damaged, "has its checksum"),
    ],
)
def test_a_wrong_state_is_found(world: World, harm: Harm, words: str):
    harm(world)
    found = verdict()
    assert found.wrong and any(words in one for one in found.wrong)
    assert (found.lost, found.doubled) == ([], [])
