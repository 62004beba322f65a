"""Labels as they stood at a time, and those of one person: worked out from the labels, by the rules of judgements."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from django.utils import timezone

from annotation.judging.label_import import import_labels
from annotation.judging.verdicts import verdicts_at, verdicts_by_person
from annotation.labelling.assignments import GivenAnswer
from annotation.labelling.submit import change
from annotation.labelling.withdraw import reopen_judgement, return_item, withdraw_labels
from annotation.models import ImportedLabel, Judgement, Label, Slot
from annotation.people.accounts import add_person
from core.models import AuditEntry
from pooling.graphs.opening import open_graph
from tests.annotation.factories import World, decide, items_of, label_and_release

Known = dict[int, str]


def now_known(world: World) -> Known:
    """What the judgements say now; undecided is the same as none."""
    rows = Judgement.objects.filter(pool=world.pool).exclude(verdict="undecided")
    return dict(rows.values_list("triple_id", "verdict"))


def then_known(world: World, when: datetime) -> Known:
    return {triple: str(v) for triple, v in verdicts_at(world.pool, when).items() if v != "undecided"}


def supersede(world: World, name: str, item_id: int, given: str) -> None:
    label = Label.objects.get(annotator=getattr(world, name), item=item_id, superseded_by=None)
    change(getattr(world, name), label.client_id, GivenAnswer(uuid4(), given, label.source_url, "because"))


def import_line(world: World, tmp_path: Path, triple_id: int, answer: str) -> None:
    graph, triple = open_graph(world.pool.graph), world.pool.triples.get(pk=triple_id)
    names = (graph.entities[triple.head], graph.relations[triple.relation], graph.entities[triple.tail])
    path = tmp_path / f"{uuid4().hex}.tsv"
    path.write_text("\t".join([*names, answer]) + "\n")
    assert import_labels(world.pool, path).imported == 1


def test_every_moment_of_a_long_history_is_as_it_was(world: World, tmp_path: Path) -> None:
    """Labels, a change, disputes, withdrawals, a return, a reopening, imports: each moment, looked at from the end."""
    for name, role in (("dan", "annotator"), ("eve", "annotator"), ("bob", "adjudicator")):
        setattr(world, name, add_person(name, role, world.campaign, consented=True)[0])
    one, two, three, four, five, six = items_of(world)
    filtered = world.pool.triples.exclude(reason="").get()
    acts: list[Callable[[], object]] = [
        lambda: import_line(world, tmp_path, filtered.pk, "N"),
        lambda: import_line(world, tmp_path, six.triple_id, "Y"),
        lambda: label_and_release(world, one, ann="Y"),
        lambda: label_and_release(world, one, ben="Y"),
        lambda: label_and_release(world, two, ann="Y", ben="N"),
        lambda: decide(world, ada="N"),
        lambda: supersede(world, "ben", one.pk, "N"),
        lambda: supersede(world, "ben", one.pk, "Y"),
        lambda: label_and_release(world, three, ann="N", ben="N"),
        lambda: reopen_judgement(three, by=world.manager),
        lambda: decide(world, ada="Y"),
        lambda: label_and_release(world, four, ann="Y", ben="Y"),
        lambda: return_item(four, by=world.manager),
        lambda: label_and_release(world, four, cleo="N", dan="N"),
        lambda: reopen_judgement(three, by=world.manager),
        lambda: decide(world, bob="?"),
        lambda: return_item(three, by=world.manager),
        lambda: label_and_release(world, three, cleo="Y", dan="Y"),  # reopened once, but sent back since
        lambda: label_and_release(world, six, cleo="N", dan="N"),
        lambda: withdraw_labels(world.campaign, world.ann),
        lambda: label_and_release(world, one, eve="Y"),
        lambda: withdraw_labels(world.campaign, world.dan),  # item six falls back to its imported label
        lambda: label_and_release(world, five, ben="?", cleo="?"),
        lambda: import_line(world, tmp_path, filtered.pk, "Y"),
    ]
    moments: list[tuple[datetime, Known]] = [(timezone.now(), {})]
    for act in acts:
        act()
        moments.append((timezone.now(), now_known(world)))
    assert [then_known(world, when) for when, _ in moments] == [known for _, known in moments]
    assert len({tuple(sorted(known.items())) for _, known in moments}) >= 12  # it is a history
    assert {"positive", "negative"} == {verdict for _, known in moments for verdict in known.values()}


def test_a_label_of_that_very_moment_counts_and_one_after_it_does_not(world: World) -> None:
    item = items_of(world)[0]
    label_and_release(world, item, ann="Y", ben="Y")
    noon = datetime(2026, 3, 2, 12, tzinfo=UTC)
    Label.objects.update(created_at=noon)
    assert verdicts_at(world.pool, noon) == {item.triple_id: "positive"}
    assert verdicts_at(world.pool, noon - timedelta(microseconds=1)) == {}
    Slot.objects.filter(item=item, annotator=world.ann).update(
        state="withdrawn", withdrawn_at=noon + timedelta(hours=1)
    )
    assert verdicts_at(world.pool, noon + timedelta(minutes=59)) == {item.triple_id: "positive"}
    assert verdicts_at(world.pool, noon + timedelta(hours=1)) == {}


def test_an_import_counts_from_its_import_and_not_from_the_time_in_its_file(world: World, tmp_path: Path) -> None:
    item = items_of(world)[0]
    before = timezone.now()
    import_line(world, tmp_path, item.triple_id, "Y")
    ImportedLabel.objects.update(labelled_at=datetime(2020, 1, 1, tzinfo=UTC))
    assert verdicts_at(world.pool, before) == {}
    assert verdicts_at(world.pool, timezone.now()) == {item.triple_id: "positive"}


def test_acts_of_another_pool_reopen_nothing_here(world: World) -> None:
    item = items_of(world)[0]
    label_and_release(world, item, ann="Y", ben="Y")
    AuditEntry.objects.create(act="judgement-reopened", about=f"item {item.pk}")
    assert verdicts_at(world.pool, timezone.now()) == {item.triple_id: "positive"}
    AuditEntry.objects.create(act="judgement-reopened", about=f"item {item.pk}", pool=world.pool)
    assert verdicts_at(world.pool, timezone.now()) == {}


def test_labels_of_each_person_that_count(world: World) -> None:
    one, two, three, *_ = items_of(world)
    label_and_release(world, one, ann="Y", ben="N")
    label_and_release(world, two, ann="?")
    label_and_release(world, three, ben="N")
    decide(world, ada="Y")
    supersede(world, "ben", three.pk, "Y")
    assert verdicts_by_person(world.campaign) == {
        world.ann.pk: {one.triple_id: "positive", two.triple_id: "undecided"},
        world.ben.pk: {one.triple_id: "negative", three.triple_id: "positive"},
        world.ada.pk: {one.triple_id: "positive"},
    }
    assert verdicts_by_person(world.campaign, world.ada.pk) == {world.ada.pk: {one.triple_id: "positive"}}
    withdraw_labels(world.campaign, world.ann)
    assert verdicts_by_person(world.campaign, world.ann.pk) == {}


@pytest.mark.parametrize("count", [1, 5])
def test_the_number_of_queries_is_the_same_for_more_items(world: World, django_assert_num_queries, count: int) -> None:
    for item in items_of(world)[:count]:
        label_and_release(world, item, ann="Y", ben="Y")
    when = timezone.now()
    with django_assert_num_queries(3):
        assert len(verdicts_at(world.pool, when)) == count
    with django_assert_num_queries(1):
        assert len(verdicts_by_person(world.campaign)[world.ann.pk]) == count
