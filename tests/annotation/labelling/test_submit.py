from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from annotation.enums import SurplusReason
from annotation.errors import AnswerRefused, EvidenceError, NotYours
from annotation.labelling.assignments import GivenAnswer
from annotation.labelling.own_labels import changeable_tickets
from annotation.labelling.places import KeptLabel, KnownLabel, place_of_ticket
from annotation.labelling.queue import claim_disputed, release
from annotation.labelling.submit import change, submit
from annotation.models import Item, Judgement, Label, Slot, SurplusLabel
from annotation.models.slot import lease_of
from annotation.people.accounts import add_person
from tests.annotation.factories import LINK, answer, claim, label_item, slot_for, windows_closed


def state_of(item: Item) -> tuple[str, str | None, int]:
    """State, verdict and number of slots."""
    item.refresh_from_db()
    verdict = Judgement.objects.filter(triple=item.triple_id).values_list("verdict", flat=True).first()
    return item.state, verdict, item.slots.count()


def label_of(user, item: Item) -> Label:
    return Label.objects.get(annotator=user, item=item, superseded_by=None)


def same(known: KnownLabel, label: KeptLabel) -> bool:
    """Whether what is known of a label is of this row."""
    return known.kind is type(label) and (known.pk, known.client_id) == (label.pk, label.client_id)


def test_submit_keeps_all_that_was_given(world, item) -> None:
    slot = slot_for(world.campaign, world.ann, item)
    client = uuid4()
    submit(world.ann, slot.ticket, slot.lease, GivenAnswer(client, "?", " " + LINK, " hard to say ", 4321))
    label = Label.objects.get()
    assert (label.slot_id, label.item_id, label.annotator, label.client_id) == (slot.pk, item.pk, world.ann, client)
    assert (label.answer, label.source_url, label.comment, label.active_ms) == ("?", LINK, "hard to say", 4321)
    assert label.template.statement == "Has {subject} lived in {object}?"


def test_label_keeps_the_version_that_was_shown(world, item) -> None:
    from annotation.questions.templates import save_template

    slot = slot_for(world.campaign, world.ann, item)
    save_template(slot.template.relation, "New {subject} {object}?", "New {subject}?", "New {object}?", None)
    answer(world.ann, slot)
    assert Label.objects.get().template.version == 1


def test_repeated_submit_is_the_same_label(world, item) -> None:
    slot = slot_for(world.campaign, world.ann, item)
    client = uuid4()
    first = answer(world.ann, slot, "Y", client_id=client)
    again = answer(world.ann, slot, "N", client_id=client)
    assert (same(again.label, first.label), again.repeated, first.repeated) == (True, True, False)
    assert list(Label.objects.values_list("answer", flat=True)) == ["Y"]


def test_client_id_of_somebody_else_is_refused(world, item) -> None:
    client = uuid4()
    answer(world.ann, slot_for(world.campaign, world.ann, item), client_id=client)
    slot = slot_for(world.campaign, world.ben, item)
    with pytest.raises(AnswerRefused, match="was used for another one"):
        answer(world.ben, slot, client_id=client)
    slot.refresh_from_db()
    assert (Label.objects.count(), slot.state) == (1, "leased")


def test_client_id_of_another_question_is_refused(world) -> None:
    first, second = claim(world.campaign, world.ann, 2)[:2]
    client = uuid4()
    answer(world.ann, first, client_id=client)
    with pytest.raises(AnswerRefused, match="was used for another one"):
        answer(world.ann, second, client_id=client)


def test_somebody_elses_slot_is_not_ones_own(world, item) -> None:
    slot = slot_for(world.campaign, world.ann, item)
    for lease in (slot.lease, uuid4(), lease_of(uuid4(), world.ben.pk)):
        with pytest.raises(NotYours):
            submit(world.ben, slot.ticket, lease, GivenAnswer(uuid4(), "Y", LINK))
    assert Label.objects.count() == SurplusLabel.objects.count() == 0


@pytest.mark.parametrize("url", ["", "javascript:alert(1)", "https://evil.example/"])
def test_bad_evidence_is_refused_and_the_slot_stays_held(world, item, url: str) -> None:
    slot = slot_for(world.campaign, world.ann, item)
    with pytest.raises(EvidenceError, match=r"wikipedia\.org"):
        answer(world.ann, slot, source_url=url)
    slot.refresh_from_db()
    assert (slot.state, slot.annotator, Label.objects.count()) == ("leased", world.ann, 0)


def test_ten_thousand_characters_of_comment_are_refused(world, item) -> None:
    with pytest.raises(AnswerRefused, match="10000 characters"):
        answer(world.ann, slot_for(world.campaign, world.ann, item), comment="x" * 10_000)


def test_late_answer_counts_while_the_slot_is_free(world, item) -> None:
    slot = slot_for(world.campaign, world.ann, item)
    release(world.ann, [slot.ticket])
    result = answer(world.ann, slot)
    slot.refresh_from_db()
    assert (result.is_surplus, slot.state, slot.annotator) == (False, "answered", world.ann)


def test_answer_after_the_lease_counts_when_nobody_took_it(world, item) -> None:
    slot = slot_for(world.campaign, world.ann, item)
    Slot.objects.filter(pk=slot.pk).update(leased_until=timezone.now() - timedelta(hours=1))
    assert answer(world.ann, slot).is_surplus is False


def test_late_answer_to_a_taken_slot_is_kept_apart_and_part_of_nothing(world, item) -> None:
    slot = slot_for(world.campaign, world.ann, item)
    Slot.objects.filter(pk=slot.pk).update(annotator=world.ben)
    client = uuid4()
    result = answer(world.ann, slot, "N", client_id=client)
    assert result.is_surplus and "is kept, but doesn’t count" in result.message
    assert same(answer(world.ann, slot, "N", client_id=client).label, SurplusLabel.objects.get())
    assert (Label.objects.count(), state_of(item)) == (0, ("open", None, 2))
    slot.refresh_from_db()
    assert slot.annotator == world.ben


def test_second_answer_from_another_tab_is_kept_apart(world, item) -> None:
    slot = slot_for(world.campaign, world.ann, item)
    answer(world.ann, slot, "Y")
    result = answer(world.ann, slot, "N")
    assert result.is_surplus and "answered this already" in result.message
    assert label_of(world.ann, item).answer == "Y"


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        (("Y",), ("open", None, 2)),
        (("Y", "Y"), ("settled", "positive", 2)),
        (("N", "N"), ("settled", "negative", 2)),
        (("Y", "N"), ("disputed", None, 3)),
        (("N", "Y"), ("disputed", None, 3)),
        (("?", "Y"), ("disputed", None, 3)),
        (("N", "?"), ("disputed", None, 3)),
        (("?", "?"), ("disputed", None, 3)),
    ],
)
def test_state_follows_from_the_labels(world, item, answers, expected) -> None:
    label_item(world, item, **dict(zip(("ann", "ben"), answers, strict=False)))
    assert state_of(item) == expected


@pytest.mark.parametrize(
    ("decision", "expected"),
    [("Y", ("settled", "positive", 3)), ("N", ("settled", "negative", 3)), ("?", ("undecided", "undecided", 3))],
)
def test_adjudicator_decides(world, item, decision, expected) -> None:
    label_item(world, item, ann="Y", ben="N")
    windows_closed(item)
    (slot,) = claim_disputed(world.campaign, world.ada)
    with pytest.raises(AnswerRefused, match="gives a reason"):
        answer(world.ada, slot, decision, comment=" ")
    answer(world.ada, slot, decision)
    assert state_of(item) == expected
    assert claim_disputed(world.campaign, world.ada) == []


def test_change_supersedes_and_keeps_the_old_row(world, item) -> None:
    label_item(world, item, ann="Y")
    old = label_of(world.ann, item)
    new = change(world.ann, old.client_id, GivenAnswer(uuid4(), "N", LINK)).label
    assert list(Label.objects.order_by("id").values_list("answer", "supersedes")) == [("Y", None), ("N", old.pk)]
    newest = change(world.ann, old.client_id, GivenAnswer(uuid4(), "?", "", "unclear")).label
    assert newest.supersedes == new


def test_a_repeat_that_had_read_the_question_before_the_first_was_kept_is_the_same_label(world, item) -> None:
    """Two requests with the same answer at the same moment: the second finds the label, but still thinks it is held."""
    slot = slot_for(world.campaign, world.ann, item)
    before, given = place_of_ticket(slot.ticket), GivenAnswer(uuid4(), "Y", LINK)
    lease = lease_of(slot.ticket, world.ann.pk)
    first = submit(world.ann, slot.ticket, lease, given, found=(before, None))
    again = submit(world.ann, slot.ticket, lease, given, found=(before, None))
    assert (same(again.label, first.label), again.repeated) == (True, True)


def test_repeated_change_is_one_change(world, item) -> None:
    label_item(world, item, ann="Y")
    old, client = label_of(world.ann, item), uuid4()
    first = change(world.ann, old.client_id, GivenAnswer(client, "N", LINK))
    assert same(change(world.ann, old.client_id, GivenAnswer(client, "N", LINK)).label, first.label)
    assert Label.objects.count() == 2


def test_third_slot_is_withdrawn_when_labels_agree_after_all(world, item) -> None:
    label_item(world, item, ann="Y", ben="N")
    change(world.ben, label_of(world.ben, item).client_id, GivenAnswer(uuid4(), "Y", LINK))
    assert state_of(item) == ("settled", "positive", 2)


def test_judgement_follows_a_change_and_its_version_moves(world, item) -> None:
    label_item(world, item, ann="Y", ben="Y")
    before = Judgement.objects.get().decided_at
    change(world.ben, label_of(world.ben, item).client_id, GivenAnswer(uuid4(), "N", LINK))
    assert state_of(item) == ("disputed", "undecided", 3)
    assert Judgement.objects.get().decided_at > before


def test_answer_to_a_dispute_that_is_over_is_kept_apart(world, item) -> None:
    label_item(world, item, ann="Y", ben="N")
    (slot,) = claim_disputed(world.campaign, world.ada, wait_for_windows=False)
    change(world.ben, label_of(world.ben, item).client_id, GivenAnswer(uuid4(), "Y", LINK))
    result = answer(world.ada, slot)
    assert (result.is_surplus, result.message[:20]) == (True, "This dispute is over")
    assert state_of(item) == ("settled", "positive", 3)  # the third slot is free, and given to nobody
    assert claim_disputed(world.campaign, world.ada, wait_for_windows=False) == []


@pytest.mark.parametrize("whose", ["own", "another's"])
def test_answer_to_a_dispute_that_was_decided_names_the_decision_as_the_cause(world, item, whose: str) -> None:
    """Two windows decide at the same moment, or somebody else did once the lease was over: no label was changed."""
    label_item(world, item, ann="Y", ben="N")
    (slot,) = claim_disputed(world.campaign, world.ada, wait_for_windows=False)
    if whose == "own":
        answer(world.ada, slot, "Y")
    else:
        Slot.objects.filter(pk=slot.pk).update(leased_until=timezone.now() - timedelta(seconds=1))
        eve, _ = add_person("eve", "adjudicator", world.campaign, consented=True)
        (again,) = claim_disputed(world.campaign, eve, wait_for_windows=False)
        answer(eve, again, "Y")
    kept_apart = answer(world.ada, slot, "N").label
    assert kept_apart.reason == (SurplusReason.TWICE if whose == "own" else SurplusReason.LATE)
    assert state_of(item) == ("settled", "positive", 3)


def test_decision_stands_when_a_label_changes_later(world, item) -> None:
    label_item(world, item, ann="Y", ben="N")
    (slot,) = claim_disputed(world.campaign, world.ada, wait_for_windows=False)
    answer(world.ada, slot, "Y")
    change(world.ann, label_of(world.ann, item).client_id, GivenAnswer(uuid4(), "N", LINK))
    assert state_of(item) == ("settled", "positive", 3)


@pytest.mark.parametrize("other", [None, "Y", "N"])
def test_change_behaves_the_same_whatever_the_other_answered(world, item, other) -> None:
    label_item(world, item, ann="Y", **({"ben": other} if other else {}))
    label = label_of(world.ann, item)
    assert label.slot.ticket in changeable_tickets(world.ann, world.campaign)
    assert change(world.ann, label.client_id, GivenAnswer(uuid4(), "N", LINK)).message == ""
    windows_closed(item)
    with pytest.raises(AnswerRefused, match=r"^This label can no longer be changed. It stays as it is.$"):
        change(world.ann, label_of(world.ann, item).client_id, GivenAnswer(uuid4(), "Y", LINK))


def test_only_the_last_ten_can_be_changed(world, monkeypatch) -> None:
    monkeypatch.setattr("annotation.labelling.own_labels.CHANGEABLE", 2)
    slots = claim(world.campaign, world.ann, 3)
    for slot in slots[:3]:
        answer(world.ann, slot)
    assert changeable_tickets(world.ann, world.campaign) == {slots[1].ticket, slots[2].ticket}


def test_somebody_elses_label_cannot_be_changed(world, item) -> None:
    label_item(world, item, ann="Y")
    with pytest.raises(NotYours):
        change(world.ben, label_of(world.ann, item).client_id, GivenAnswer(uuid4(), "N", LINK))


def test_change_refuses_bad_evidence(world, item) -> None:
    label_item(world, item, ann="Y")
    with pytest.raises(EvidenceError):
        change(world.ann, label_of(world.ann, item).client_id, GivenAnswer(uuid4(), "N", "https://evil.example/"))


def test_queries_of_a_submit_are_few(world, item, django_assert_num_queries) -> None:
    ann, ben = slot_for(world.campaign, world.ann, item), slot_for(world.campaign, world.ben, item)
    with django_assert_num_queries(9):  # two of them a savepoint
        answer(world.ann, ann)
    with django_assert_num_queries(12):
        answer(world.ben, ben)
