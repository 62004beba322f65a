"""Taking back: the labels of a person, from items in every state; nothing that is kept is deleted."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from annotation.campaigns.lifecycle import open_campaign
from annotation.enums import AnnotationAct
from annotation.judging.judgements import current_verdicts, labels_version, live_labels
from annotation.labelling.assignments import GivenAnswer
from annotation.labelling.own_labels import changeable_tickets, label_counts, own_labels
from annotation.labelling.queue import claim_disputed
from annotation.labelling.submit import change
from annotation.labelling.withdraw import Withdrawal, preview_withdrawal, reopen_judgement, return_item, withdraw_labels
from annotation.models import Check, Gold, ImportedLabel, Judgement, Label, Slot
from annotation.people.accounts import add_person
from core.files.artifacts import artifact_path
from core.models import AuditEntry
from evaluation.labels.qrels import freeze_qrels
from tests.annotation.factories import (
    answer,
    claim,
    decide,
    decided,
    items_of,
    label_and_release,
    make_pool,
    outcome_of,
    slot_for,
    windows_closed,
)

# -- the labels of one person --------------------------------------------------


def test_label_of_an_open_item_counts_no_more(world, item) -> None:
    label_and_release(world, item, ann="Y")
    withdraw_labels(world.campaign, world.ann)
    assert outcome_of(item) == ("open", None, {}, [1, 2])
    assert item.started_by is None


def test_settled_item_waits_for_one_more_label(world, item) -> None:
    label_and_release(world, item, ann="Y", ben="Y")
    withdraw_labels(world.campaign, world.ann)
    assert outcome_of(item) == ("open", "undecided", {2: "Y"}, [1])
    assert (item.started_by, item.settled_at) == (world.ben, None)
    label_and_release(world, item, cleo="Y")
    assert outcome_of(item) == ("settled", "positive", {1: "Y", 2: "Y"}, [])


def test_dispute_is_over_and_its_third_slot_with_it(world, item) -> None:
    label_and_release(world, item, ann="Y", ben="N")
    windows_closed(item)
    (held,) = claim_disputed(world.campaign, world.ada)
    withdraw_labels(world.campaign, world.ben)
    assert outcome_of(item) == ("open", None, {1: "Y"}, [2, 3])  # ada's answer may be on its way
    assert answer(world.ada, held).label.reason == "over"
    label_and_release(world, item, cleo="N")
    assert outcome_of(item) == ("disputed", None, {1: "Y", 2: "N"}, [3])


def test_adjudicators_answer_stays_and_decides_again(world, item) -> None:
    label_and_release(world, item, ann="Y", ben="N")
    decided(world, item, "N")
    withdraw_labels(world.campaign, world.ann)
    assert outcome_of(item) == ("open", "undecided", {2: "N", 3: "N"}, [1])
    label_and_release(world, item, cleo="Y")
    assert outcome_of(item) == ("settled", "negative", {1: "Y", 2: "N", 3: "N"}, [])


def test_undecided_item_is_undecided_again(world, item) -> None:
    label_and_release(world, item, ann="Y", ben="N")
    decided(world, item, "?")
    withdraw_labels(world.campaign, world.ben)
    assert outcome_of(item)[0] == "open"
    label_and_release(world, item, cleo="Y")
    assert outcome_of(item) == ("undecided", "undecided", {1: "Y", 2: "Y", 3: "?"}, [])


def test_withdrawn_adjudicator_is_replaced_by_another(world, item) -> None:
    label_and_release(world, item, ann="Y", ben="N")
    decided(world, item)
    withdraw_labels(world.campaign, world.ada)
    assert outcome_of(item) == ("disputed", "undecided", {1: "Y", 2: "N"}, [3])
    assert claim_disputed(world.campaign, world.ada) == []
    world.eve = add_person("eve", "adjudicator", world.campaign, consented=True)[0]
    decided(world, item, "N", by="eve")
    assert outcome_of(item) == ("settled", "negative", {1: "Y", 2: "N", 3: "N"}, [])


def test_adjudicator_and_annotator_of_one_item_can_both_be_withdrawn(world, item) -> None:
    label_and_release(world, item, ann="Y", ben="N")
    decided(world, item)
    withdraw_labels(world.campaign, world.ann)
    withdraw_labels(world.campaign, world.ada)
    assert outcome_of(item) == ("open", "undecided", {2: "N"}, [1])
    label_and_release(world, item, cleo="N")
    assert outcome_of(item) == ("settled", "negative", {1: "N", 2: "N"}, [])


def test_item_whose_labels_came_to_agree_is_settled_without_its_adjudicator(world, item) -> None:
    label_and_release(world, item, ann="Y", ben="N")
    decide(world, ada="N")
    mine = Label.objects.get(annotator=world.ben)
    change(world.ben, mine.client_id, GivenAnswer(uuid4(), "Y", mine.source_url))
    assert outcome_of(item)[1] == "negative"
    withdraw_labels(world.campaign, world.ada)
    assert outcome_of(item) == ("settled", "positive", {1: "Y", 2: "Y"}, [])


def test_both_annotators_withdrawn_one_after_the_other_leave_a_fresh_item(world, item, dan) -> None:
    label_and_release(world, item, ann="Y", ben="Y")
    withdraw_labels(world.campaign, world.ann)
    withdraw_labels(world.campaign, world.ben)
    assert outcome_of(item) == ("open", "undecided", {}, [1, 2])
    assert item.started_by is None
    world.dan = dan
    label_and_release(world, item, cleo="N", dan="N")
    assert outcome_of(item) == ("settled", "negative", {1: "N", 2: "N"}, [])
    assert Label.objects.filter(item=item).count() == 4


def test_withdrawn_person_never_gets_the_item_again(world, item) -> None:
    label_and_release(world, item, ann="Y", ben="N")
    withdraw_labels(world.campaign, world.ann)
    assert item.pk not in {slot.item_id for slot in claim(world.campaign, world.ann, 50)}
    add_person("ann", "adjudicator", world.campaign)
    label_and_release(world, item, cleo="Y")
    windows_closed(item)
    assert claim_disputed(world.campaign, world.ann) == []


def test_preview_equals_what_happens(world) -> None:
    settled, refused, disputed, opened, ruled, other = items_of(world)
    label_and_release(world, settled, ada="Y", ben="Y")
    label_and_release(world, refused, ben="N", ada="N")
    label_and_release(world, disputed, ada="Y", ben="N")
    label_and_release(world, opened, ada="Y")
    label_and_release(world, ruled, ann="Y", ben="N")
    windows_closed(ruled)
    decide(world, ada="Y")
    claim(world.campaign, world.ada, 50)
    gold = Gold.objects.create(
        campaign=world.campaign, head=0, relation=0, tail=1, side="tail", answer="Y", origin="file"
    )
    Check.objects.create(
        campaign=world.campaign, kind="gold", person=world.ada, gold=gold, expected="Y", order=0, state="leased"
    )
    expected = Withdrawal(labels=5, reopened=4, to_adjudicate=1, judgements=3, positive=2, negative=1, held=2)
    before = {state: world.campaign.items.filter(state=state).count() for state in ("open", "disputed", "settled")}
    assert before == {"open": 2, "disputed": 1, "settled": 3}
    assert preview_withdrawal(world.campaign, world.ada) == expected
    assert withdraw_labels(world.campaign, world.ada) == expected
    assert preview_withdrawal(world.campaign, world.ada) == Withdrawal(0, 0, 0, 0, 0, 0, 0)
    assert {i.order: outcome_of(i)[:2] for i in items_of(world)} == {
        settled.order: ("open", "undecided"),
        refused.order: ("open", "undecided"),
        disputed.order: ("open", None),
        opened.order: ("open", None),
        ruled.order: ("disputed", "undecided"),
        other.order: ("open", None),
    }
    assert Slot.objects.filter(annotator=world.ada).exclude(state="withdrawn").count() == 0
    assert Check.objects.get().state == "free"


def test_labels_of_another_campaign_and_of_others_stay(world, item) -> None:
    other = open_campaign(make_pool(world.pool.graph, "p2"), seed=2)
    for name in ("ann", "ben"):
        add_person(name, "annotator", other)
    elsewhere = other.items.first()
    for user in (world.ann, world.ben):
        answer(user, slot_for(other, user, elsewhere))
    label_and_release(world, item, ann="Y", ben="Y")
    withdraw_labels(world.campaign, world.ann)
    assert outcome_of(elsewhere)[:2] == ("settled", "positive")
    assert list(live_labels().filter(item=item).values_list("annotator", flat=True)) == [world.ben.pk]


def test_imported_labels_take_over(world, item) -> None:
    def imported(given: str) -> None:
        ImportedLabel.objects.create(triple=item.triple, answer=given, file_name="a.tsv", file_sha256="0", line=1)

    imported("N")
    label_and_release(world, item, ann="Y", ben="Y")
    withdraw_labels(world.campaign, world.ann)
    judgement = Judgement.objects.get()
    assert (judgement.verdict, judgement.origin) == ("negative", "import")
    label_and_release(world, item, cleo="Y")
    judgement.refresh_from_db()
    assert (judgement.verdict, judgement.origin) == ("positive", "people")


@pytest.mark.parametrize("act", ["withdraw", "return", "reopen"])
def test_version_of_the_labels_moves_so_that_figures_are_made_again(world, item, act) -> None:
    label_and_release(world, item, ann="Y", ben="Y")
    before = labels_version(world.pool)
    acts = {
        "withdraw": lambda: withdraw_labels(world.campaign, world.ann),
        "return": lambda: return_item(item),
        "reopen": lambda: reopen_judgement(item),
    }
    acts[act]()
    assert labels_version(world.pool) > before
    assert current_verdicts(world.pool).verdict.tolist() == ["undecided"]


def test_frozen_qrels_stay_as_they_are(world, item) -> None:
    label_and_release(world, item, ann="N", ben="N")
    label_and_release(world, items_of(world)[1], ann="Y", ben="Y")
    frozen = freeze_qrels(world.pool, "first")
    before = artifact_path(frozen.artifact).read_bytes()
    withdraw_labels(world.campaign, world.ann)
    assert live_labels().count() == 2
    frozen.refresh_from_db()
    assert (frozen.num_positive, frozen.num_negative) == (2, 1)  # the seed is positive
    assert artifact_path(frozen.artifact).read_bytes() == before


@pytest.mark.parametrize("other", ["Y", "N"])
def test_withdrawal_shows_nothing_to_who_was_withdrawn(world, item, other) -> None:
    """My labels, undo and counts are as before, whatever the other answered; a change has no effect."""
    label_and_release(world, item, ann="Y", ben=other)

    def seen() -> tuple:
        mine = own_labels(world.ann, world.campaign)[:50]
        counts = label_counts(world.ann, world.campaign)
        return ([(own.label.pk, own.ticket) for own in mine], counts, changeable_tickets(world.ann, world.campaign))

    before = seen()
    assert [len(part) for part in before] == [1, 4, 1]
    withdraw_labels(world.campaign, world.ann)
    assert seen() == before
    after, version = outcome_of(item), labels_version(world.pool)
    result = change(world.ann, own_labels(world.ann, world.campaign)[:1][0].label.client_id, GivenAnswer(uuid4(), "?"))
    assert (result.message, result.is_surplus) == ("", False)
    assert (outcome_of(item), labels_version(world.pool)) == (after, version)
    assert after[:2] == ("open", "undecided" if other == "Y" else None)
    label_and_release(world, item, cleo=other)
    assert outcome_of(item) == ("settled", {"Y": "positive", "N": "negative"}[other], {1: other, 2: other}, [])


def test_withdrawn_person_may_go_on_labelling(world, item) -> None:
    label_and_release(world, item, ann="Y")
    withdraw_labels(world.campaign, world.ann)
    label_and_release(world, items_of(world)[1], ann="N", ben="N")
    assert outcome_of(items_of(world)[1])[:2] == ("settled", "negative")


def test_withdrawal_is_noted_with_its_numbers(world, item) -> None:
    label_and_release(world, item, ann="Y", ben="Y")
    withdraw_labels(world.campaign, world.ann, by=world.manager, reason="guessed")
    entry = AuditEntry.objects.get(act=AnnotationAct.LABELS_WITHDRAWN)
    assert (entry.person, entry.subject, entry.about) == (world.manager, world.ann, "1 labels")
    assert entry.details == {"reason": "guessed", "judgements": 1}
    withdraw_labels(world.campaign, world.ann, by=world.manager, reason="again")
    assert AuditEntry.objects.filter(act=AnnotationAct.LABELS_WITHDRAWN).count() == 1
    claim(world.campaign, world.ann, 2)
    withdraw_labels(world.campaign, world.ann, by=world.manager, reason="they stop")
    assert AuditEntry.objects.filter(act=AnnotationAct.LABELS_WITHDRAWN).count() == 2  # of what was in hand


def test_withdrawal_takes_questions_that_are_in_hand(world) -> None:
    claim(world.campaign, world.ann, 50)
    assert preview_withdrawal(world.campaign, world.ann).held == 6
    assert withdraw_labels(world.campaign, world.ann).held == 6
    assert Slot.objects.filter(state="leased").count() == 0


def test_items_in_more_than_one_chunk_are_all_reopened(world, monkeypatch) -> None:
    monkeypatch.setattr("annotation.labelling.withdraw._CHUNK", 2)
    for one in items_of(world)[:5]:
        label_and_release(world, one, ann="Y", ben="Y")
    assert withdraw_labels(world.campaign, world.ann).labels == 5
    assert [outcome_of(one)[0] for one in items_of(world)] == ["open"] * 6
    assert timezone.now() - Judgement.objects.latest("decided_at").decided_at < timedelta(minutes=1)
