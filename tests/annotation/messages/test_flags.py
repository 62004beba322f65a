"""Reports of questions: kept once, checks as items, a dispute that waits until it is answered."""

from uuid import UUID, uuid4

import pytest

from annotation.enums import AnnotationAct, FlagKind
from annotation.errors import AnswerRefused, CampaignError, NotYours
from annotation.judging.waiting import seconds_to_next_dispute
from annotation.labelling.queue import claim_disputed, release_all
from annotation.messages import flags
from annotation.messages.flags import MAX_TEXT, answer_flag, own_flags, report
from annotation.models import Flag, Slot
from annotation.models.slot import lease_of
from core.models import AuditEntry
from tests.annotation.factories import World, answer, claim, label_and_release, make_check, make_gold, windows_closed


def send(user, place, kind: str = "name", text: str = "", client: UUID | None = None) -> Flag:
    return report(user, place.ticket, lease_of(place.ticket, user.pk), client or uuid4(), kind, text)


@pytest.fixture
def third(world, item) -> Slot:
    """Held by Ada."""
    label_and_release(world, item, ann="Y", ben="N")
    windows_closed(item)
    (slot,) = claim_disputed(world.campaign, world.ada)
    return slot


def state_of(slot: Slot) -> tuple[str, int | None]:
    slot.refresh_from_db()
    return slot.state, slot.annotator_id


def test_report_keeps_what_was_shown_and_the_question_stays(world) -> None:
    slot = claim(world.campaign, world.ann, 1)[0]
    flag = send(world.ann, slot, "name", "  Which Ada?  ")
    assert (flag.campaign, flag.person, flag.item, flag.check_item) == (world.campaign, world.ann, slot.item, None)
    assert (flag.kind, flag.text, flag.template, flag.holds_item) == ("name", "Which Ada?", slot.template, False)
    assert flag.is_open
    assert state_of(slot) == ("leased", world.ann.pk)
    assert answer(world.ann, slot).is_surplus is False


@pytest.mark.parametrize("kind", FlagKind.values)
def test_annotators_report_parks_nothing_whatever_its_kind(world, kind) -> None:
    slot = claim(world.campaign, world.ann, 1)[0]
    assert send(world.ann, slot, kind, "see above").holds_item is False
    assert state_of(slot) == ("leased", world.ann.pk)


def test_repeated_report_is_the_same_one(world) -> None:
    slot, client = claim(world.campaign, world.ann, 1)[0], uuid4()
    assert send(world.ann, slot, client=client) == send(world.ann, slot, "source", client=client)
    assert list(Flag.objects.values_list("kind", flat=True)) == ["name"]


def test_open_reports_of_one_person_are_limited(world, monkeypatch) -> None:
    monkeypatch.setattr(flags, "MOST_OPEN", 2)
    slot, client = claim(world.campaign, world.ann, 1)[0], uuid4()
    first = send(world.ann, slot, client=client)
    send(world.ann, slot)
    with pytest.raises(AnswerRefused, match=r"^2 of your reports have no reply yet\."):
        send(world.ann, slot)
    assert send(world.ann, slot, client=client) == first
    send(world.ben, claim(world.campaign, world.ben, 1)[0])
    answer_flag(first, "Ada Lovelace.", by=world.manager)
    send(world.ann, slot)
    assert Flag.objects.count() == 4


def test_report_id_of_somebody_else_is_refused(world) -> None:
    client = uuid4()
    send(world.ann, claim(world.campaign, world.ann, 1)[0], client=client)
    with pytest.raises(AnswerRefused, match="was used for another one"):
        send(world.ben, claim(world.campaign, world.ben, 1)[0], client=client)
    assert Flag.objects.count() == 1


def test_report_that_was_kept_a_moment_ago_is_the_same_one(world, third, monkeypatch) -> None:
    """The same body twice at once: the second looks before the first is written, and acts after it."""
    client = uuid4()
    first = send(world.ada, third, "words", "clumsy", client)
    looks = iter([None, first])
    monkeypatch.setattr("annotation.messages.flags._known", lambda *_: next(looks))
    assert send(world.ada, third, "words", "clumsy", client) == first


def test_question_of_somebody_else_cannot_be_reported(world) -> None:
    slot = claim(world.campaign, world.ann, 1)[0]
    with pytest.raises(NotYours):
        report(world.ben, slot.ticket, lease_of(slot.ticket, world.ann.pk), uuid4(), "name")
    with pytest.raises(AnswerRefused, match="withdrawn"):
        ticket = uuid4()
        report(world.ben, ticket, lease_of(ticket, world.ben.pk), uuid4(), "name")
    assert Flag.objects.count() == 0


@pytest.mark.parametrize(
    ("kind", "text", "words"),
    [
        ("rude", "x", "is not a kind of report"),
        ("other", "  ", "Say in a sentence"),
        ("name", "x" * (MAX_TEXT + 1), "2001 characters"),
        ("name", "a\0b", "control characters"),
    ],
)
def test_malformed_reports_are_refused(world, kind, text, words) -> None:
    with pytest.raises(AnswerRefused, match=words):
        send(world.ann, claim(world.campaign, world.ann, 1)[0], kind, text)
    assert Flag.objects.count() == 0


def test_report_of_full_length_is_kept(world) -> None:
    assert len(send(world.ann, claim(world.campaign, world.ann, 1)[0], text="ß" * MAX_TEXT).text) == MAX_TEXT


# -- checks --------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["gold", "recheck"])
def test_report_of_a_check_looks_as_one_of_an_item(world, item, kind) -> None:
    slot = claim(world.campaign, world.ann, 1)[0]
    more = {"gold": make_gold(world, 5)} if kind == "gold" else {"item": item}
    check = make_check(world, world.ann, **more)
    check.template = slot.template
    check.save()
    for place, told in ((slot, "item"), (check, "check_item")):
        flag = send(world.ann, place, "words", "clumsy")
        assert getattr(flag, told) is not None
        assert (flag.kind, flag.text, flag.holds_item, flag.template) == ("words", "clumsy", False, slot.template)
    check.refresh_from_db()
    assert check.state == "leased"
    assert [flag.kind for flag in own_flags(world.ann, world.campaign)] == ["words", "words"]
    assert list(own_flags(world.ben, world.campaign)) == []


def test_check_of_somebody_else_cannot_be_reported(world) -> None:
    check = make_check(world, world.ann, gold=make_gold(world, 5))
    with pytest.raises(AnswerRefused, match="withdrawn"):
        report(world.ben, check.ticket, lease_of(check.ticket, world.ben.pk), uuid4(), "name")


# -- a dispute that waits ------------------------------------------------------


def test_adjudicator_who_asks_for_words_parks_the_dispute(world, third) -> None:
    flag = send(world.ada, third, "words", "clumsy")
    assert flag.holds_item is True
    assert state_of(third) == ("free", None)
    assert claim_disputed(world.campaign, world.ada) == []
    assert seconds_to_next_dispute(world.campaign, world.ada) is None


def test_answer_gives_the_dispute_out_again(world, third) -> None:
    flag = send(world.ada, third, "words", "clumsy")
    assert answer_flag(flag, "Written anew.", by=world.manager) is True
    assert [slot.pk for slot in claim_disputed(world.campaign, world.ada)] == [third.pk]
    answer(world.ada, third, "Y")
    third.item.refresh_from_db()
    assert third.item.state == "settled"


def test_dispute_waits_for_every_answer(world, third) -> None:
    first = send(world.ada, third, "words", "clumsy")
    Slot.objects.filter(pk=third.pk).update(state="leased", annotator=world.ada)
    second = send(world.ada, third, "words", "and wrong")
    answer_flag(first, "Yes.", by=world.manager)
    assert claim_disputed(world.campaign, world.ada) == []
    answer_flag(second, "Yes.", by=world.manager)
    assert len(claim_disputed(world.campaign, world.ada)) == 1


@pytest.mark.parametrize("kind", [kind for kind in FlagKind.values if kind != "words"])
def test_other_reports_of_a_dispute_do_not_park_it(world, third, kind) -> None:
    assert send(world.ada, third, kind, "see above").holds_item is False
    assert state_of(third) == ("leased", world.ada.pk)


def test_dispute_that_went_to_somebody_else_is_not_parked(world, third) -> None:
    release_all(world.ada)
    with pytest.raises(AnswerRefused, match="no longer in your hands"):
        send(world.ada, third, "words", "clumsy")
    assert Flag.objects.count() == 0
    assert [slot.pk for slot in claim_disputed(world.campaign, world.ada)] == [third.pk]


# -- answers -------------------------------------------------------------------


def test_answer_closes_a_report_once_and_is_noted(world) -> None:
    flag = send(world.ann, claim(world.campaign, world.ann, 1)[0])
    assert answer_flag(flag, " It is the painter. ", by=world.manager) is True
    assert answer_flag(flag, "Something else.", by=world.manager) is False
    flag.refresh_from_db()
    assert (flag.reply, flag.replied_by, flag.is_open) == ("It is the painter.", world.manager, False)
    (entry,) = AuditEntry.objects.filter(act=AnnotationAct.FLAG_ANSWERED)
    assert (entry.person, entry.subject, entry.pool) == (world.manager, world.ann, world.pool)


@pytest.mark.parametrize("reply", ["", "  ", "x" * (MAX_TEXT + 1), "a\0b"])
def test_malformed_answers_are_refused(world: World, reply) -> None:
    flag = send(world.ann, claim(world.campaign, world.ann, 1)[0])
    with pytest.raises(CampaignError, match="at most 2000 characters"):
        answer_flag(flag, reply, by=world.manager)
    flag.refresh_from_db()
    assert flag.is_open
