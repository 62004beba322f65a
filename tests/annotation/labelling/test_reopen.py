"""Taking back one item or one judgement: who is asked then, and who never."""

from uuid import uuid4

import numpy as np
import pytest

from annotation.api.serializers import disputes_data
from annotation.errors import AnswerRefused, CampaignError, NotYours
from annotation.labelling.assignments import GivenAnswer
from annotation.labelling.queue import claim_disputed, release_all
from annotation.labelling.submit import change
from annotation.labelling.withdraw import reopen_judgement, return_dispute, return_item, withdraw_labels
from annotation.models import Label
from annotation.models.slot import lease_of
from annotation.people.accounts import add_person
from evaluation.labels.frozen import SETTLED, facts
from evaluation.labels.judgement_rows import judgement_rows
from evaluation.planning.work_left import work_of
from pooling.models import PooledTriple
from tests.annotation.factories import answer, claim, decide, decided, label_and_release, outcome_of, windows_closed

# -- an item back to the pool --------------------------------------------------


def test_returned_item_goes_to_two_other_people(world, item, dan) -> None:
    label_and_release(world, item, ann="Y", ben="N")
    decided(world, item)
    return_item(item, by=world.manager)
    assert outcome_of(item) == ("open", "undecided", {}, [1, 2])
    for user in (world.ann, world.ben, world.ada):
        assert item.pk not in {slot.item_id for slot in claim(world.campaign, user, 50)}
        release_all(user)
    world.dan = dan
    label_and_release(world, item, cleo="N", dan="N")
    assert outcome_of(item) == ("settled", "negative", {1: "N", 2: "N"}, [])


def test_item_that_waits_for_labels_is_not_returned(world, item) -> None:
    label_and_release(world, item, ann="Y")
    with pytest.raises(CampaignError, match="waits for labels already"):
        return_item(item)
    assert outcome_of(item)[2] == {1: "Y"}


def test_who_returned_a_dispute_is_never_asked_about_it_not_even_after_another_return(world, item, dan) -> None:
    """Ada saw the first two labels, Eve the next two: neither may be the fifth or sixth person."""
    world.dan, world.eve = dan, add_person("eve", "adjudicator", world.campaign, consented=True)[0]
    for users, judge in ((("ann", "ben"), world.ada), (("cleo", "dan"), world.eve)):
        label_and_release(world, item, **dict(zip(users, "YN", strict=True)))
        windows_closed(item)
        (slot,) = claim_disputed(world.campaign, judge)
        return_dispute(judge, slot.ticket, slot.lease, "The question is broken.")
        assert outcome_of(item) == ("open", None, {}, [1, 2, 3])
    for user in (world.ada, world.eve):
        assert item.pk not in {slot.item_id for slot in claim(world.campaign, user, 50)}


def test_who_saw_a_dispute_never_labels_the_item(world, item) -> None:
    """Ada looks at both answers and gives the dispute back; then one of the labels is withdrawn."""
    label_and_release(world, item, ann="Y", ben="N")
    windows_closed(item)
    assert len(claim_disputed(world.campaign, world.ada)) == 1
    release_all(world.ada)
    withdraw_labels(world.campaign, world.ben)
    assert item.pk not in {slot.item_id for slot in claim(world.campaign, world.ada, 50)}
    assert item.pk in {slot.item_id for slot in claim(world.campaign, world.cleo, 50)}


def test_dispute_is_returned_by_its_holder_with_a_reason_only(world, item) -> None:
    label_and_release(world, item, ann="Y", ben="N")
    windows_closed(item)
    (slot,) = claim_disputed(world.campaign, world.ada)
    with pytest.raises(NotYours):
        return_dispute(world.cleo, slot.ticket, slot.lease, "x")
    with pytest.raises(AnswerRefused, match="Say in a sentence"):
        return_dispute(world.ada, slot.ticket, slot.lease, "  ")
    release_all(world.ada)
    with pytest.raises(AnswerRefused, match="no longer in your hands"):
        return_dispute(world.ada, slot.ticket, lease_of(slot.ticket, world.ada.pk), "x")
    assert outcome_of(item)[0] == "disputed"


# -- a judgement that is reopened ----------------------------------------------


@pytest.mark.parametrize(("final", "verdict"), [("Y", "positive"), ("N", "negative"), ("?", "undecided")])
def test_reopened_judgement_needs_a_third_person_although_two_agree(world, item, final, verdict) -> None:
    label_and_release(world, item, ann="Y", ben="Y")
    reopen_judgement(item)
    assert outcome_of(item) == ("disputed", "undecided", {1: "Y", 2: "Y"}, [3])
    decided(world, item, final)
    assert outcome_of(item) == ("undecided" if final == "?" else "settled", verdict, {1: "Y", 2: "Y", 3: final}, [])


def test_reopened_twice_goes_to_another_adjudicator_each_time(world, item) -> None:
    label_and_release(world, item, ann="Y", ben="N")
    decided(world, item, "Y")
    reopen_judgement(item)
    assert outcome_of(item) == ("disputed", "undecided", {1: "Y", 2: "N"}, [3])
    assert claim_disputed(world.campaign, world.ada) == []
    world.eve = add_person("eve", "adjudicator", world.campaign, consented=True)[0]
    decided(world, item, "N", by="eve")
    reopen_judgement(item)
    assert claim_disputed(world.campaign, world.ada) == claim_disputed(world.campaign, world.eve) == []
    assert outcome_of(item) == ("disputed", "undecided", {1: "Y", 2: "N"}, [3])
    assert item.slots.filter(number=3, state="withdrawn").count() == 2


def test_reopened_item_stays_open_to_a_third_person_after_a_withdrawal(world, item) -> None:
    label_and_release(world, item, ann="Y", ben="Y")
    reopen_judgement(item)
    withdraw_labels(world.campaign, world.ann)
    assert outcome_of(item) == ("open", "undecided", {2: "Y"}, [1])
    label_and_release(world, item, cleo="Y")
    assert outcome_of(item) == ("disputed", "undecided", {1: "Y", 2: "Y"}, [3])


@pytest.mark.parametrize("answers", [{}, {"ann": "Y"}, {"ann": "Y", "ben": "N"}])
def test_what_is_not_final_is_not_reopened(world, item, answers) -> None:
    label_and_release(world, item, **answers)
    before = outcome_of(item)
    with pytest.raises(CampaignError, match="no final judgement"):
        reopen_judgement(item)
    assert outcome_of(item) == before


@pytest.mark.parametrize("other", ["Y", "N"])
def test_change_after_reopening_behaves_as_ever(world, item, other) -> None:
    label_and_release(world, item, ann="Y", ben=other)
    if other == "N":
        decide(world, ada="Y")
    reopen_judgement(item)
    mine = Label.objects.get(annotator=world.ann)
    assert change(world.ann, mine.client_id, GivenAnswer(uuid4(), "N", mine.source_url)).message == ""
    state, _, answers, waiting = outcome_of(item)
    assert answers == {1: "N", 2: other}
    assert (state, waiting) == ("disputed", [3])


def test_decision_that_confirms_both_labels_of_a_reopened_item_needs_no_reason(world, item) -> None:
    label_and_release(world, item, ann="N", ben="N")
    windows_closed(item)
    reopen_judgement(item, by=world.manager, reason="A source has changed.")
    (slot,) = claim_disputed(world.campaign, world.ada)
    assert disputes_data(world.campaign, [slot])["items"][0]["reopened"] == "A source has changed."
    with pytest.raises(AnswerRefused, match="gives a reason"):
        answer(world.ada, slot, "Y", comment="")
    answer(world.ada, slot, "N", comment="")
    assert outcome_of(item) == ("settled", "negative", {1: "N", 2: "N", 3: "N"}, [])


def test_decision_of_a_dispute_needs_a_reason(world, item) -> None:
    label_and_release(world, item, ann="Y", ben="N")
    windows_closed(item)
    (slot,) = claim_disputed(world.campaign, world.ada)
    assert disputes_data(world.campaign, [slot])["items"][0]["reopened"] is None
    for given in "YN":
        with pytest.raises(AnswerRefused, match="gives a reason"):
            answer(world.ada, slot, given, comment="")


def test_triple_whose_judgement_was_taken_back_is_open_until_it_is_judged_again(world, item) -> None:
    label_and_release(world, item, ann="N", ben="N")
    windows_closed(item)
    left = work_of(world.pool).to_judge
    reopen_judgement(item, by=world.manager, reason="A source has changed.")
    assert (how_settled_now(world, item), work_of(world.pool).to_judge) == ("open", left + 1)
    decided(world, item, "?")
    assert (how_settled_now(world, item), work_of(world.pool).to_judge) == ("undecided", left)


def how_settled_now(world, item) -> str:
    """Return how the triple of an item is settled, as a test set and the list of triples say."""
    triple = PooledTriple.objects.select_related("judgement").get(pk=item.triple_id)
    keys = np.array([[triple.head, triple.relation, triple.tail]], dtype=np.int32)
    (exported,) = facts(world.pool, keys, np.zeros(1, dtype=np.int8)).settled
    (row,) = judgement_rows(world.pool, [triple])
    assert (row.state, row.settled) == ("unjudged", SETTLED[exported])
    return row.settled
