"""What each person did: pace, shares, gold, what was decided otherwise."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest
from django.contrib.auth.models import User

from annotation.campaigns.overview import pace
from annotation.labelling.assignments import GivenAnswer
from annotation.labelling.queue import claim_disputed
from annotation.labelling.submit import change
from annotation.labelling.withdraw import withdraw_labels
from annotation.messages.flags import report
from annotation.models import CheckLabel, Label, SurplusLabel
from annotation.models.slot import lease_of
from annotation.quality.annotators import annotator_detail, annotators, took_part
from annotation.quality.kernel import Share
from annotation.questions.templates import current_template
from pooling.models import Relation
from tests.annotation.factories import (
    LINK,
    MONDAY,
    World,
    answer,
    claim,
    decide,
    label_all,
    label_and_release,
    make_check,
    make_gold,
    slot_for,
)


def work_of(world: World, person: User):
    return next(row.work for row in annotators(world.campaign) if row.person == person)


def test_pace_and_shares(world, items):
    for slot, given, active in zip(
        claim(world.campaign, world.ann, 4)[:4], "YN?Y", (1999, 2000, 8000, 6001), strict=True
    ):
        answer(world.ann, slot, given, active_ms=active, away_ms=500)
    work = work_of(world, world.ann)
    assert (work.labels, work.cant_tell, work.quick) == (4, Share(1, 4), Share(1, 4))
    assert (work.median_seconds, work.active_ms) == (4.0005, 18_000)
    assert work.labels_per_hour == pytest.approx(800)


def test_labels_in_bulk_are_left_out_of_the_median(world, items, monkeypatch):
    monkeypatch.setattr("annotation.campaigns.overview.FEW", 1)
    for slot, active in zip(claim(world.campaign, world.ann, 3)[:3], (4000, 50, 50), strict=True):
        answer(world.ann, slot, "N", active_ms=active)
    Label.objects.filter(active_ms=50).update(is_bulk=True)
    work = work_of(world, world.ann)
    assert (work.labels, work.median_seconds, work.labels_per_hour) == (3, 4.0, pytest.approx(3 * 3600 / 4.1))
    assert pace(world.campaign) == 4000


def test_change_takes_time_and_is_no_quick_label(world, items):
    slot = slot_for(world.campaign, world.ann, items[0])
    kept = answer(world.ann, slot, "Y", active_ms=5000)
    change(world.ann, kept.label.client_id, GivenAnswer(uuid4(), "?", LINK, "hm", active_ms=700))
    work = work_of(world, world.ann)
    assert (work.label_ms, work.changed, work.cant_tell, work.quick) == ([5700], 1, Share(1, 1), Share(0, 1))


def test_no_measured_time_has_no_pace(world, items):
    label_and_release(world, items[0], ann="Y")
    assert work_of(world, world.ann).labels_per_hour is None


def test_gold_accuracy_by_the_newest_answer(world, items):
    golds = [make_gold(world, tail, known) for tail, known in enumerate("YNYN", 3)]
    for gold, given in zip(golds, ["Y", "N", "?", ""], strict=True):
        make_check(world, world.ann, given, gold=gold, active_ms=1000)
    first = CheckLabel.objects.get(check_item__gold=golds[1])
    CheckLabel.objects.create(
        check_item=first.check_item,
        annotator=world.ann,
        answer="Y",
        client_id=uuid4(),
        supersedes=first,
        template=first.template,
    )
    make_check(world, world.ann, "N", item=items[0], expected="Y", active_ms=500)  # a re-check is no gold
    make_check(world, world.ben, "N", gold=golds[0])  # of somebody else
    work = work_of(world, world.ann)
    assert (work.gold, work.gold_cant_tell, work.labels, work.active_ms) == (Share(1, 3), 1, 0, 3500)


def test_overturn_rate(world, items):
    label_all(world, items[:4], "YY?Y", "NNNY")  # three disputes, one agreement
    decide(world, ada="N")
    assert (work_of(world, world.ann).overturn, work_of(world, world.ben).overturn) == (Share(3, 3), Share(0, 3))
    assert (work_of(world, world.ada).decisions, work_of(world, world.ada).labels) == (3, 0)


def test_overturned_labels_can_be_looked_at_alone(world, items):
    label_all(world, items[:5], "YY?YN", "NNNYY")
    for slot in claim_disputed(world.campaign, world.ada, 50, wait_for_windows=False):
        answer(world.ada, slot, "?" if slot.item_id == items[4].pk else "N")
    for person in (world.ann, world.ben, world.ada):
        found = annotator_detail(world.campaign, person, overturned=True)
        assert len(found.last) == found.work.overturned
    rows = annotator_detail(world.campaign, world.ann, overturned=True).last
    assert [row.label.item_id for row in rows] == [items[2].pk, items[1].pk, items[0].pk]


def test_reasons_of_adjudicators_are_counted_where_they_overturned(world, items):
    label_all(world, items[:4], "YY?Y", "NNNY")
    disputes = claim_disputed(world.campaign, world.ada, wait_for_windows=False)
    for slot, cause in zip(disputes, ("dated", "", "dated"), strict=True):
        answer(world.ada, slot, "N", cause=cause)
    assert work_of(world, world.ann).overturned_why == [("out of date", 2)]  # the third has its reason in words
    assert work_of(world, world.ben).overturned_why == work_of(world, world.ada).overturned_why == []
    withdraw_labels(world.campaign, world.ada)
    assert work_of(world, world.ann).overturned_why == []


def test_undecided_dispute_overturns_nobody(world, items):
    label_and_release(world, items[0], ann="Y", ben="N")
    decide(world, ada="?")
    assert [work_of(world, person).overturn for person in (world.ann, world.ben)] == [Share(0, 0)] * 2


def test_withdrawn_labels_count_in_nothing_but_time(world, items):
    answer(world.ann, slot_for(world.campaign, world.ann, items[0]), "Y", active_ms=3000)
    label_and_release(world, items[0], ben="N")
    decide(world, ada="N")
    withdraw_labels(world.campaign, world.ann)
    work = work_of(world, world.ann)
    assert (work.withdrawn, work.labels, work.overturn, work.quick) == (1, 0, Share(0, 0), Share(0, 0))
    assert work.active_ms == 3000


def test_late_answers_and_reports_are_counted(world, items):
    slot = slot_for(world.campaign, world.ann, items[0])
    report(world.ann, slot.ticket, lease_of(slot.ticket, world.ann.pk), uuid4(), "question", "what?")
    SurplusLabel.objects.create(
        item=items[1],
        annotator=world.ann,
        answer="N",
        client_id=uuid4(),
        active_ms=1500,
        template=current_template(Relation.objects.get()),
    )
    work = work_of(world, world.ann)
    assert (work.surplus, work.flags, work.labels, work.active_ms) == (1, 1, 0, 1500)


def test_everybody_who_answered_is_listed_members_or_not(world, items):
    label_and_release(world, items[0], cleo="Y", ann="Y")
    world.campaign.members.filter(person=world.cleo).delete()
    world.campaign.members.create(person=world.ann, role="adjudicator")
    rows = [(row.person.username, row.roles) for row in annotators(world.campaign)]
    assert rows == [("ann", "adjudicator and annotator"), ("cleo", "")]


@pytest.mark.parametrize("count", [1, 3])
def test_annotators_queries_do_not_grow(world, items, count, django_assert_num_queries):
    for name in ("ann", "ben", "cleo")[:count]:
        answer(getattr(world, name), claim(world.campaign, getattr(world, name), 1)[0])
        make_check(world, getattr(world, name), "Y", gold=make_gold(world, len(name) + ord(name[0]) % 9))
    with django_assert_num_queries(6):
        rows = annotators(world.campaign)
    assert len(rows) == count


def test_detail_by_week_adds_up_to_all(world, items):
    for days, slot in enumerate(claim(world.campaign, world.ann, 3)[:3]):
        answer(world.ann, slot, "Y", active_ms=1000 * (days + 1), now=MONDAY + timedelta(days=6 * days))
        Label.objects.filter(slot=slot).update(created_at=MONDAY + timedelta(days=6 * days))
    label_and_release(world, items[0], ben="N")
    decide(world, ada="N")
    detail = annotator_detail(world.campaign, world.ann)
    assert [(week, work.label_ms) for week, work in detail.weeks] == [("2026-W10", [1000, 2000]), ("2026-W11", [3000])]
    assert detail.work == work_of(world, world.ann)
    assert detail.work.overturn == Share(1, 1)


def test_detail_has_the_last_labels_with_their_judgements(world, items):
    answer(world.ann, slot_for(world.campaign, world.ann, items[0]), "Y", active_ms=1500)
    label_and_release(world, items[0], ben="Y")
    label_and_release(world, items[1], ann="N")
    newest, oldest = annotator_detail(world.campaign, world.ann).last
    assert oldest.question.startswith("Has Person") and oldest.question.endswith("?")
    assert (oldest.judgement, oldest.seconds, oldest.label.answer) == ("positive", 1.5, "Y")
    assert (newest.judgement, newest.is_decision) == ("", False)


def test_detail_of_an_adjudicator_has_decisions(world, items):
    label_and_release(world, items[0], ann="Y", ben="N")
    decide(world, ada="Y")
    (row,) = annotator_detail(world.campaign, world.ada).last
    assert (row.is_decision, row.judgement, row.differs) == (True, "positive", False)


@pytest.mark.parametrize(("decision", "expected"), [("Y", (False, True)), ("N", (True, False)), ("?", (False, False))])
def test_detail_marks_what_was_judged_otherwise(world, items, decision, expected):
    label_and_release(world, items[0], ann="Y", ben="N")
    decide(world, ada=decision)
    rows = [annotator_detail(world.campaign, person).last[0] for person in (world.ann, world.ben)]
    assert tuple(row.differs for row in rows) == expected


def test_detail_counts_the_time_of_changes(world, items):
    kept = answer(world.ann, slot_for(world.campaign, world.ann, items[0]), "Y", active_ms=5000)
    change(world.ann, kept.label.client_id, GivenAnswer(uuid4(), "N", LINK, active_ms=700))
    (row,) = annotator_detail(world.campaign, world.ann).last
    assert (row.seconds, row.label.answer) == (5.7, "N")


@pytest.mark.parametrize("count", [1, 3])
def test_detail_queries_do_not_grow(world, items, count, django_assert_num_queries):
    for item in items[:count]:
        label_and_release(world, item, ann="Y", ben="N")
    decide(world, ada="Y")
    campaign = type(world.campaign).objects.select_related("pool__graph").get()
    with django_assert_num_queries(7):
        annotator_detail(campaign, world.ann)


def test_who_took_part(world, items):
    label_and_release(world, items[0], cleo="Y")
    world.campaign.members.filter(person=world.cleo).delete()
    found = [took_part(world.campaign, person) for person in (world.ann, world.cleo, world.stranger, world.manager)]
    assert found == [True, True, False, False]
