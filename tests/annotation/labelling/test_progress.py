from datetime import timedelta

from django.utils import timezone

from annotation.labelling.own_labels import label_counts, own_progress
from annotation.labelling.queue import claim_disputed
from annotation.models import Label
from tests.annotation.factories import answer, claim, label_and_release, label_item, windows_closed
from tests.page import read


def test_own_work_only(world) -> None:
    item = world.campaign.items.first()
    label_item(world, item, ann="Y", ben="N")
    (mine,) = own_progress(world.ann)
    assert (mine.campaign, mine.roles, mine.counts) == (world.campaign, ("annotator",), (1, 1, 0, 0))
    assert (mine.has_questions, mine.disputes) == (True, None)
    assert own_progress(world.stranger) == []


def test_decisions_are_counted_apart_from_labels(world, as_user) -> None:
    decided = world.campaign.items.first()
    label_and_release(world, decided, ann="Y", ben="N")
    windows_closed(decided)
    claim_disputed(world.campaign, world.ada)
    answer(world.ada, decided.slots.get(number=3), "N")
    answer(world.ada, claim(world.campaign, world.ada, 1)[0])
    Label.objects.filter(slot__number=3).update(created_at=timezone.now() - timedelta(days=2))
    assert label_counts(world.ada, world.campaign) == (1, 1, 0, 1)
    client = as_user(world.ada)
    figures = read(client.get("/")).figures
    assert figures | {"today": "1", "total": "1", "decided-today": "0", "decided": "1"} == figures
    told = client.get("/api/v1/campaigns/p1/progress").json()
    assert [told[name] for name in ("today", "total", "decided_today", "decided")] == [1, 1, 0, 1]
    assert not read(as_user(world.ann).get("/")).has("decided")


def test_nothing_waits_when_all_is_answered(world) -> None:
    for slot in claim(world.campaign, world.ann, 50):
        answer(world.ann, slot)
    assert own_progress(world.ann)[0].has_questions is False


def test_disputes_wait_for_adjudicators(world) -> None:
    item = world.campaign.items.first()
    label_item(world, item, ann="Y", ben="N")
    assert own_progress(world.ada)[0].disputes == 0
    windows_closed(item)
    assert own_progress(world.ada)[0].disputes == 1
