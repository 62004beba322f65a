from annotation.labelling.own_labels import own_progress
from tests.annotation.factories import answer, claim, label_item, windows_closed


def test_own_work_only(world) -> None:
    item = world.campaign.items.first()
    label_item(world, item, ann="Y", ben="N")
    (mine,) = own_progress(world.ann)
    assert (mine.campaign, mine.roles, mine.today, mine.total) == (world.campaign, ("annotator",), 1, 1)
    assert (mine.has_questions, mine.disputes) == (True, None)
    assert own_progress(world.stranger) == []


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
