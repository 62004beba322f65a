"""The hours of people, and their CSV."""

from __future__ import annotations

import csv
import io
from datetime import date, timedelta
from uuid import uuid4

import pytest
from django.contrib.auth.models import User

from annotation.labelling.assignments import GivenAnswer
from annotation.labelling.submit import change
from annotation.labelling.withdraw import withdraw_labels
from annotation.models import Check, CheckLabel, Label, SurplusLabel
from annotation.quality.hours import Hours, hours, hours_csv
from core.models import AuditEntry
from tests.annotation.factories import LINK, MONDAY, answer, claim, label_and_release, make_check, make_gold, slot_for


def test_hours_are_of_everything_that_was_answered(world, items):
    slot = slot_for(world.campaign, world.ann, items[0])
    kept = answer(world.ann, slot, "Y", active_ms=3_600_000, away_ms=900_000)
    change(world.ann, kept.label.client_id, GivenAnswer(uuid4(), "N", LINK, active_ms=360_000))  # no further label
    make_check(world, world.ann, "Y", gold=make_gold(world, 3), active_ms=360_000, away_ms=900_000)
    SurplusLabel.objects.create(
        check_item=Check.objects.get(),
        annotator=world.ann,
        answer="N",
        client_id=uuid4(),
        active_ms=360_000,
        template=slot.template,
    )
    label_and_release(world, items[1], ann="Y")
    for model in (Label, CheckLabel, SurplusLabel):
        model.objects.update(created_at=MONDAY)
    Label.objects.filter(item=items[1]).update(created_at=MONDAY.replace(hour=23, minute=59) + timedelta(minutes=1))
    withdraw_labels(world.campaign, world.ann)  # it was worked, so it is paid
    assert hours(world.campaign) == [
        Hours("ann", "annotator", date(2026, 3, 2), 3, 1.3, 0.5),
        Hours("ann", "annotator", date(2026, 3, 3), 1, 0.0, 0.0),
    ]


def test_hours_csv_neutralises_formulas_and_notes_the_download(world, items):
    label_and_release(world, items[0], ann="Y", ben="N")
    User.objects.filter(pk=world.ann.pk).update(username='=HYPERLINK("http://x","a, b")')
    User.objects.filter(pk=world.ben.pk).update(username="+cmd|' /C calc'!A0")
    Label.objects.update(created_at=MONDAY, active_ms=1800)
    rows = list(csv.reader(io.StringIO(hours_csv(world.campaign, by=world.manager))))
    assert rows == [
        ["person", "roles", "date", "labels", "active_hours", "away_hours"],
        ["'+cmd|' /C calc'!A0", "annotator", "2026-03-02", "1", "0.0005", "0.0000"],
        ['\'=HYPERLINK("http://x","a, b")', "annotator", "2026-03-02", "1", "0.0005", "0.0000"],
    ]
    entry = AuditEntry.objects.get(act="hours-exported")
    assert (entry.person, entry.pool, entry.about) == (world.manager, world.pool, "2 rows")


@pytest.mark.parametrize("count", [1, 3])
def test_hours_queries_do_not_grow(world, items, count, django_assert_num_queries):
    for name in ("ann", "ben", "cleo")[:count]:
        answer(getattr(world, name), claim(world.campaign, getattr(world, name), 1)[0])
    with django_assert_num_queries(5):
        rows = hours(world.campaign)
    assert len(rows) == count
