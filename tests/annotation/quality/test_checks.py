"""Gold items and re-checks: who is asked what and when, and that it enters nothing."""

import re
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from importlib import import_module
from itertools import groupby
from uuid import uuid4

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.utils import timezone

from annotation.errors import CampaignError
from annotation.judging.judgements import current_verdicts, labels_version, live_labels
from annotation.labelling import queue
from annotation.labelling.assignments import GivenAnswer
from annotation.labelling.own_labels import label_counts, questions_left
from annotation.labelling.queue import MAX_LEASED, claim_disputed, release, renew
from annotation.labelling.submit import change
from annotation.models import Campaign, Check, CheckLabel, Gold, Item, Judgement, Label, Reached, Slot, SurplusLabel
from annotation.people.accounts import add_person
from annotation.quality.checks import (
    Question,
    _gold_due,
    claim_questions,
    draw_recheck,
    gold_from_file,
    gold_from_pool,
    question_of,
    recheck_choices,
    set_gold_active,
)
from annotation.quality.reports import agreement_report, gold_report
from core.files.artifacts import artifact_path
from evaluation.labels.qrels import freeze_qrels
from pooling.graphs.opening import open_graph
from pooling.models import PooledTriple, SeedTriple
from tests.annotation.factories import PASSWORD, World, answer, claim, findings, label_all, make_large, put_last


def make_gold(campaign: Campaign, head: int, tail: int, side: str = "tail", known: str = "Y") -> Gold:
    return Gold.objects.create(
        campaign=campaign, head=head, relation=0, tail=tail, side=side, answer=known, origin="file"
    )


def set_percent(world: World, percent: int) -> None:
    Campaign.objects.update(gold_percent=percent)
    world.campaign.refresh_from_db()


def checks_of(user, **more) -> list[Check]:
    return list(Check.objects.filter(person=user, **more).order_by("pk"))


def kinds(places) -> str:
    return "".join("s" if isinstance(place, Slot) else "c" for place in places)


@pytest.fixture
def two_golds(world) -> tuple[Gold, Gold]:
    """One of each question that is asked: p1's and c7's. Both are due once all six slots are given."""
    index = open_graph(world.pool.graph).entity_index
    set_percent(world, 50)
    return (
        make_gold(world.campaign, index["p1"], index["c2"]),
        make_gold(world.campaign, index["p2"], index["c7"], "head", known="N"),
    )


SIZES = [1 + number * 7 % 13 for number in range(66)]  # 1 to 13 candidates, mixed


def asked_of(place: Slot | Check) -> Question:
    return question_of(place.asked)


def walk(campaign: Campaign, user: User, count: int = 8) -> Iterator[list[Slot | Check]]:
    """Every claim until nothing is left, all of it answered before the next."""
    while places := claim_questions(campaign, user, count):
        yield places
        for model in (Slot, Check):
            mine = model.objects.filter(pk__in=[place.pk for place in places if isinstance(place, model)])
            mine.update(state="answered")


def walked(campaign: Campaign, user: User, count: int, **rules: int) -> list[list[Slot | Check]]:
    """The same under these rules of the campaign, after which all is as before."""
    with transaction.atomic():
        Campaign.objects.filter(pk=campaign.pk).update(**rules)
        campaign.refresh_from_db()
        claims = list(walk(campaign, user, count))
        transaction.set_rollback(True)
    return claims


def questions_of(places: list[Slot | Check]) -> list[Question]:
    """Each question once for every run of neighbours that it has."""
    return [question for question, _ in groupby(places, asked_of)]


# -- gold: how many, where -----------------------------------------------------


@pytest.mark.parametrize("count", [1, 8, 50])
def test_with_gold_and_without_the_same_questions_come_in_the_same_order(world, count) -> None:
    """With the same slots in the same order; no question is of gold alone, but where the hand is full."""
    large = make_large(world, SIZES, 4)
    without = [place for places in walked(large, world.ann, count, gold_percent=0) for place in places]
    for percent in (5, 50):
        claims = walked(large, world.ann, count, gold_percent=percent)
        with_gold = [place for places in claims for place in places]
        assert questions_of(with_gold) == questions_of(without)  # the candidates of one question are neighbours
        assert [place.pk for place in with_gold if isinstance(place, Slot)] == [place.pk for place in without]
        for places in claims if count < 50 else ():
            assert set(questions_of(places)) == {asked_of(place) for place in places if isinstance(place, Slot)}
        if count == 1:
            assert {len(questions_of(places)) for places in claims} == {1}
        assert "c" in kinds(with_gold)


@pytest.mark.parametrize("count", [1, 3, 8, 20, 50])
def test_gold_counts_like_slots_so_that_no_number_tells_of_it(world, count) -> None:
    """A claim ends with the question that fills the hand, and a full hand is never fuller."""
    large = make_large(world, SIZES, 4)
    sizes = []
    for places in walked(large, world.ann, count, gold_percent=50)[:-1]:
        last = asked_of(places[-1])
        assert sum(asked_of(place) != last for place in places) < count <= len(places) <= MAX_LEASED
        sizes.append(len(places))
    assert count < 50 or set(sizes) == {50}


def test_a_hand_that_two_claims_overfilled_shows_no_more_than_the_limit(world) -> None:
    """How far it is above would tell how much of it is gold; all is shown in the end."""
    large = make_large(world, SIZES, 4)
    slots = claim(large, world.ann, MAX_LEASED)
    lease = {"state": "leased", "leased_until": slots[0].leased_until, "template": slots[0].template}
    for gold in large.golds.all()[:3]:
        Check.objects.create(
            campaign=large, kind="gold", person=world.ann, gold=gold, expected="Y", order=slots[0].item.order, **lease
        )
    shown, left = set(), []
    for _ in range(4):
        left = claim_questions(large, world.ann, MAX_LEASED)
        assert len(left) == MAX_LEASED
        shown |= {place.pk for place in left if isinstance(place, Check)}
        answer(world.ann, left[-1])
    assert len(shown) == 3


@pytest.mark.parametrize("seed", range(4))
def test_full_hand_that_is_given_back_comes_again_with_its_gold(world, seed) -> None:
    """What there was of its last question comes before the rest."""
    large = make_large(world, SIZES, 4)
    Campaign.objects.update(gold_percent=50, seed=seed)
    large.refresh_from_db()
    cut = 0
    for first in walk(large, world.ann, MAX_LEASED):
        for count in (8, MAX_LEASED):
            release(world.ann, [place.ticket for place in first])
            again = claim_questions(large, world.ann, count)
            assert again == first[: len(again)] and len(again) >= min(count, len(first))
        last = [item for item in large.items.all() if question_of(item) == asked_of(first[-1])]
        cut += Slot.objects.filter(item__in=last, number=1, template=None).exists()
    assert cut > 3


@pytest.mark.parametrize("count", [1, 8, 50])
@pytest.mark.parametrize("percent", [0, 3, 10, 50])
def test_gold_comes_at_the_chosen_rate(world, percent, count) -> None:
    """After n slots less than one off percent * n; fewer only where the last question is there in part, or has no more
    gold, or where gold does not fit into the full hand.
    """
    large = make_large(world, SIZES, 4)
    Campaign.objects.update(gold_percent=percent)
    large.refresh_from_db()
    given = had = exact = 0
    for places in walk(large, world.ann, count):
        given += kinds(places).count("s")
        had += kinds(places).count("c")
        due = given * percent / 100
        assert had < due + 1
        tail = places[-1].asked.triple.tail
        left = large.golds.filter(tail=tail).exclude(checks__person=world.ann)
        in_part = Slot.objects.filter(item__campaign=large, item__triple__tail=tail, number=1, template=None)
        if left.exists() and not in_part.exists() and len(places) < MAX_LEASED:
            assert had > due - 1
            exact += 1
    assert given == sum(SIZES) > 400
    if percent == 50:  # more is due than there is: 22 questions have 4 each
        assert 80 < had <= large.golds.count() == 88
    else:
        assert (exact >= 8 or count == 50) and abs(had - given * percent / 100) < 5


def test_what_is_due_waits_for_a_question_that_has_gold(world) -> None:
    large = make_large(world, [5] * 12, 10, every=12)
    Campaign.objects.update(gold_percent=20)
    large.refresh_from_db()
    place = large.items.filter(triple__tail=0).first().group
    claims = [kinds(places) for places in walk(large, world.ann, 1)]
    assert [claim.count("c") for claim in claims] == [place + 1 if i == place else 0 for i in range(12)]


def test_fraction_of_gold_is_drawn(world, monkeypatch) -> None:
    """15 slots at 10 percent: 1 or 2, drawn by person and slot, so that nothing starts after the same number."""
    large = make_large(world, [15], 9)
    Campaign.objects.update(gold_percent=10)
    large.refresh_from_db()
    slot = Slot.objects.filter(item__campaign=large).first()
    Slot.objects.filter(item__campaign=large, number=1).update(annotator=world.ann, state="leased")
    monkeypatch.setattr("annotation.quality.checks._digest", lambda *_: 2**62)
    assert _gold_due(large, world.ann, slot, 0, []) == 1
    monkeypatch.setattr("annotation.quality.checks._digest", lambda *_: 2**63)
    assert _gold_due(large, world.ann, slot, 0, []) == 2
    monkeypatch.undo()
    seen = []
    for seed in range(200):
        large.seed = seed
        seen.append(_gold_due(large, world.ann, slot, 0, []))
    assert set(seen) == {1, 2} and 60 < seen.count(2) < 140


def test_gold_is_drawn_by_the_seed_of_the_campaign(world) -> None:
    large = make_large(world, SIZES, 4)

    def drawn(seed: int) -> list[tuple[int | None, int]]:
        claims = walked(large, world.ann, 8, gold_percent=10, seed=seed)
        return [(place.gold_id, place.order) for places in claims for place in places if isinstance(place, Check)]

    first = drawn(1)
    assert len(first) > 30
    assert drawn(1) == first != drawn(2)


def test_gold_of_a_question_that_nobody_is_asked_is_not_given(world) -> None:
    set_percent(world, 50)
    index = open_graph(world.pool.graph).entity_index
    make_gold(world.campaign, index["p9"], index["c2"])
    make_gold(world.campaign, index["p1"], index["c2"], "head")  # nobody is asked about c2
    for count in (1, 50):
        assert set(kinds(claim_questions(world.campaign, world.ann, count))) == {"s"}
    assert checks_of(world.ann) == []


def test_question_in_hand_gets_no_gold_afterwards(world, two_golds) -> None:
    """What one has seen does not grow by one candidate."""
    set_percent(world, 0)
    first = claim_questions(world.campaign, world.ann, 50)
    set_percent(world, 50)
    assert claim_questions(world.campaign, world.ann, 50) == first and kinds(first) == "ssssss"
    one = first[0].item.group
    for given_back in ([slot for slot in first if slot.item.group != one], first[:1]):  # whole, or in part
        release(world.ann, [slot.ticket for slot in given_back])
        assert claim_questions(world.campaign, world.ann, 50) == first
    assert checks_of(world.ann) == []


def test_gold_stands_among_the_candidates_of_its_question(world, two_golds) -> None:
    places = claim_questions(world.campaign, world.ann, 50)
    assert kinds(places).count("c") == 2
    assert len(questions_of(places)) == 2
    for _, group in groupby(places, asked_of):
        assert kinds(group) in ("csss", "scss", "sscs", "sssc")


@pytest.mark.parametrize("golds", [1, 2])
def test_each_place_among_the_candidates_is_as_likely_for_gold(world, golds) -> None:
    """Nobody may count on the first candidate, or on any other, being no gold item."""
    set_percent(world, 50)
    index = open_graph(world.pool.graph).entity_index
    for number in range(golds):
        make_gold(world.campaign, index["p1"], 100 + number)
    had, draws = Counter[int](), 120
    for world.campaign.seed in range(draws):
        with transaction.atomic():
            places = claim_questions(world.campaign, world.ann, 50)
            transaction.set_rollback(True)
        groups = [kinds(group) for _, group in groupby(places, asked_of)]
        if kinds(places).count("c") < golds:
            continue  # one of the two is due with three slots, or both
        (group,) = [group for group in groups if "c" in group]
        assert sorted(group) == sorted("sss" + "c" * golds)
        had.update(at for at, kind in enumerate(group) if kind == "c")
    draws = had.total() // golds
    assert draws > 50
    share = golds / (3 + golds)
    assert set(had) == set(range(3 + golds))
    assert all(abs(n / draws - share) < 4 * (share * (1 - share) / draws) ** 0.5 for n in had.values())


def test_gold_of_one_question_only_goes_to_that_question(world, two_golds) -> None:
    """Both groups are held. Three are due with six slots; with the first three, one or two."""
    two_golds[1].delete()
    index = open_graph(world.pool.graph).entity_index
    for number in range(8):
        make_gold(world.campaign, index["p1"], 100 + number)
    places = claim_questions(world.campaign, world.ann, 50)
    assert len(questions_of(places)) == 2
    golds = [place for place in places if isinstance(place, Check)]
    assert {asked_of(place) for place in golds} == {question_of(two_golds[0])}
    assert len(golds) in ((1, 2) if asked_of(places[0]) == question_of(two_golds[0]) else (3,))


def test_check_held_from_before_joins_its_question(world, two_golds) -> None:
    """Its order is that of another question, which it went with; then p1's candidates are given out."""
    set_percent(world, 0)
    question = question_of(two_golds[0])
    others = [item.order for item in world.campaign.items.all() if question_of(item) != question]
    far = max(others) if max(others) == 5 else min(others)
    check = Check.objects.create(
        campaign=world.campaign,
        kind="gold",
        person=world.ann,
        gold=two_golds[0],
        expected="Y",
        order=far,
        state="leased",
        template=None,
        leased_until=timezone.now() + timedelta(minutes=5),
    )
    places = claim_questions(world.campaign, world.ann, 50)
    assert len(questions_of(places)) == 2
    assert [asked_of(place) for place in places].count(question_of(check)) == 4


def test_gold_is_given_to_a_person_once(world, two_golds) -> None:
    claim_questions(world.campaign, world.ann, 50)
    for check in checks_of(world.ann):
        answer(world.ann, check, "Y")
    release(world.ann, list(Slot.objects.filter(annotator=world.ann).values_list("ticket", flat=True)))
    assert kinds(claim_questions(world.campaign, world.ann, 50)) == "ssssss"
    assert len(checks_of(world.ann)) == 2
    assert kinds(claim_questions(world.campaign, world.ben, 50)).count("c") == 2


def test_released_and_claimed_again_keeps_its_ticket_as_a_slot_does(world, two_golds) -> None:
    first = claim_questions(world.campaign, world.ann, 50)
    tickets = [place.ticket for place in first]
    assert release(world.ann, tickets) == 8
    assert set(Check.objects.values_list("state", flat=True)) == {"free"}
    assert [place.ticket for place in claim_questions(world.campaign, world.ann, 50)] == tickets


def test_held_gold_comes_again_and_no_second_one_with_the_same_slots(world, two_golds) -> None:
    index = open_graph(world.pool.graph).entity_index
    for number in range(8):
        make_gold(world.campaign, index["p1"], 100 + number)
        make_gold(world.campaign, 100 + number, index["c7"], "head")
    first = claim_questions(world.campaign, world.ann, 1)
    again = claim_questions(world.campaign, world.ann, 1)
    assert "c" in kinds(first)
    assert [place.ticket for place in first] == [place.ticket for place in again]


def let_leases_end(user: User) -> None:
    past = timezone.now() - timedelta(seconds=1)
    for model, who in ((Slot, {"annotator": user}), (Check, {"person": user})):
        model.objects.filter(state="leased", **who).update(leased_until=past)


def by_question(places: list[Slot | Check]) -> list[list[Slot | Check]]:
    return [list(group) for _, group in groupby(places, asked_of)]


def test_gold_goes_with_its_question_when_others_take_it(world, two_golds) -> None:
    lost, kept = by_question(claim_questions(world.campaign, world.ann, 50))
    let_leases_end(world.ann)
    for user in (world.ben, world.cleo):  # both places of each item
        assert asked_of(claim_questions(world.campaign, user, 1)[0]) == asked_of(lost[0])
    assert claim_questions(world.campaign, world.ann, 50) == kept
    (gone,) = checks_of(world.ann, state="free")
    assert gone in lost
    late = answer(world.ann, gone, "Y")  # from a page that was left open
    assert late.is_surplus and late.label.reason == "late"
    assert [result.asked for result in gold_report([gone.gold])] == [2]  # Ben and Cleo have it


def test_gold_that_went_comes_again_with_its_question_as_another_check(world, two_golds) -> None:
    """As the items do, of which the other places are left: with tickets that the person doesn't know."""
    lost, kept = by_question(claim_questions(world.campaign, world.ann, 50))
    let_leases_end(world.ann)
    claim_questions(world.campaign, world.ben, 1)
    set_percent(world, 1)  # no other gold is due
    again, same = by_question(claim_questions(world.campaign, world.ann, 50))
    assert same == kept and kinds(again) == kinds(lost)
    assert [place.asked.triple.tail for place in again] == [place.asked.triple.tail for place in lost]
    assert not {place.ticket for place in again} & {place.ticket for place in lost}


@pytest.mark.parametrize("over", ["one item", "gold"])
def test_gold_goes_as_any_candidate_does_whose_lease_alone_is_over(world, two_golds, over) -> None:
    """A second account that claims would find it otherwise."""
    first, _ = by_question(claim_questions(world.campaign, world.ann, 50))
    one = next(place for place in first if isinstance(place, Check) == (over == "gold"))
    type(one).objects.filter(pk=one.pk).update(leased_until=timezone.now() - timedelta(seconds=1))
    assert asked_of(claim_questions(world.campaign, world.ben, 1)[0]) == asked_of(one)
    now = by_question(claim_questions(world.campaign, world.ann, 1))[0]
    assert now == [place for place in first if place != one]


@pytest.mark.parametrize("others", ["answered", "given back", "with another person since"])
def test_gold_stays_as_an_item_does_that_nobody_took(world, two_golds, others) -> None:
    """Its lease is over. If it went, whoever waits would know that it was gold."""
    places = claim_questions(world.campaign, world.ann, 50)
    golds = [place for place in places if isinstance(place, Check)]
    if others == "with another person since":
        theirs = claim_questions(world.campaign, world.ben, 50)
    for place in places:
        if isinstance(place, Slot) and others != "with another person since":
            answer(world.ann, place, "N") if others == "answered" else release(world.ann, [place.ticket])
    let_leases_end(world.ann)
    if others == "with another person since":
        assert renew(world.ben, [place.ticket for place in theirs]) == len(theirs)
        assert claim_questions(world.campaign, world.ben, 50) == theirs
    assert claim_questions(world.campaign, world.ann, 50) == (golds if others == "answered" else places)


@pytest.mark.parametrize("keep", ["answer", "hold"])
def test_gold_comes_again_with_the_rest_of_a_question_of_which_a_part_was_kept(world, keep) -> None:
    """It went with an item that the person kept, and never came again as the rest did."""
    campaign = make_large(world, [6] * 2, 1, every=1)
    Campaign.objects.update(gold_percent=50)
    campaign.refresh_from_db()
    campaign.members.create(person=world.ben, role="annotator", consented_at=timezone.now())
    question = by_question(claim_questions(campaign, world.ann, 1))[0]
    (gold,) = (place for place in question if isinstance(place, Check))
    for item in [place for place in question if isinstance(place, Slot)]:
        with transaction.atomic():
            kept = [gold.beside, item]
            for place in {place.pk: place for place in kept}.values():
                if keep == "answer":
                    answer(world.ann, place)
            rest = [place for place in question if place not in kept]
            for place in rest:
                type(place).objects.filter(pk=place.pk).update(leased_until=timezone.now() - timedelta(minutes=1))
            claim_questions(campaign, world.ben, 1)
            again = [one for one in claim_questions(campaign, world.ann, 50) if asked_of(one) == asked_of(gold)]
            triples = [place.asked.triple for place in (rest if keep == "answer" else question)]
            assert [place.asked.triple for place in again] == triples
            transaction.set_rollback(True)


def test_gold_comes_again_before_questions_that_others_began_as_an_item_does(world) -> None:
    """The person answered the rest of its question before others did: an item there was begun by the others."""
    campaign = make_large(world, [4] * 6, 2, every=1)
    Campaign.objects.update(gold_percent=50)
    campaign.refresh_from_db()
    campaign.members.create(person=world.ben, role="annotator", consented_at=timezone.now())
    first = by_question(claim_questions(campaign, world.ann, 1))[0]
    assert {"Slot", "Check"} == {type(place).__name__ for place in first}
    for last in first:
        with transaction.atomic():
            for place in first:
                if place != last:
                    answer(world.ann, place)
            for place in claim_questions(campaign, world.ben, 50):
                answer(world.ben, place)
            release(world.ann, [last.ticket])
            assert claim_questions(campaign, world.ann, 1) == [last]
            transaction.set_rollback(True)


@pytest.mark.parametrize("given_back", [True, False])
def test_gold_of_a_question_that_others_have_does_not_come_alone(world, two_golds, given_back) -> None:
    """Given back, or after the lease; a late answer to it is as late as one to an item."""
    lost, kept = by_question(claim_questions(world.campaign, world.ann, 50))
    release(world.ann, [place.ticket for place in lost]) if given_back else let_leases_end(world.ann)
    for user in (world.ben, world.cleo):  # both places of each item
        assert asked_of(claim_questions(world.campaign, user, 1)[0]) == asked_of(lost[0])
    assert claim_questions(world.campaign, world.ann, 50) == kept
    assert renew(world.ann, [place.ticket for place in lost]) == 0
    late = [answer(world.ann, place, "N") for place in lost]
    assert {(one.is_surplus, one.message) for one in late} == {(True, late[0].message)}


@pytest.mark.parametrize("answers", [True, False])
def test_gold_beside_an_item_that_the_person_kept_comes_again_with_the_others(world, two_golds, answers) -> None:
    """Others took the other slot of that item and gave it back; who takes it next takes nothing of this person's."""
    first, _ = by_question(claim_questions(world.campaign, world.ann, 50))
    (gold,) = (place for place in first if isinstance(place, Check))
    if answers:
        answer(world.ann, gold.beside, "N")
    rest = [place for place in first if place != gold.beside]
    release(world.ann, [place.ticket for place in rest])
    theirs = claim_questions(world.campaign, world.cleo, 1)
    assert gold.beside.item in [place.item for place in theirs]
    release(world.cleo, [place.ticket for place in theirs])
    for _ in range(2):
        again, *_ = by_question(claim_questions(world.campaign, world.ann, 50))
        assert again == (rest if answers else first)
        claim_questions(world.campaign, world.ben, 1)
        release(world.ann, [place.ticket for place in rest])


def test_gold_under_a_new_ticket_keeps_its_place_before_other_gold(world) -> None:
    """Items never change places, so two candidates that did would both be gold."""
    set_percent(world, 50)
    put_last(world.campaign, "tail")
    for number in range(4):
        make_gold(world.campaign, open_graph(world.pool.graph).entity_index["p1"], 100 + number)
    claim_questions(world.campaign, world.ann, 50)
    mine = Check.objects.filter(person=world.ann)
    beside = mine.select_related("beside__item").latest("order").beside
    mine.update(order=beside.item.order, beside=beside)
    before = claim_questions(world.campaign, world.ann, 50)
    gold = next(place for place in before if isinstance(place, Check))
    assert mine.count() > 1
    release(world.ann, [gold.ticket, beside.ticket])
    claim_questions(world.campaign, world.ben, 50)
    after = claim_questions(world.campaign, world.ann, 50)
    assert not {gold.ticket, beside.ticket} & {place.ticket for place in after}
    assert [place.asked.triple for place in after] == [place.asked.triple for place in before]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(("before", "after"), [(0, 50), (10, 10), (30, 30)])
def test_question_that_was_given_back_brings_no_further_gold(world, monkeypatch, before, after, seed) -> None:
    """Also when others took a part, and what comes again comes by the other place of an item."""
    large = make_large(world, [6] * 5, 9)
    Campaign.objects.update(gold_percent=before, seed=seed)
    large.refresh_from_db()
    large.members.create(person=world.ben, role="annotator", consented_at=timezone.now())
    first = claim_questions(large, world.ann, 30)
    known = {place.asked.triple for place in first}
    Campaign.objects.update(gold_percent=after)
    large.refresh_from_db()
    release(world.ann, [place.ticket for place in first])
    monkeypatch.setattr("annotation.labelling.queue.MAX_LEASED", 14)
    claim_questions(large, world.ben, 14)
    monkeypatch.undo()
    again = claim_questions(large, world.ann, 50)
    old = {asked_of(place) for place in first}
    assert {place.asked.triple for place in again if asked_of(place) in old} <= known
    assert len(again) > 20


def test_migration_remembers_what_people_were_given_before(world, two_golds) -> None:
    """By what they have, and by gold that came with what they gave back."""
    places = claim_questions(world.campaign, world.ann, 50)
    release(world.ann, [place.ticket for place in places])
    claim_questions(world.campaign, world.ben, 1)
    rows = set(Reached.objects.values_list("campaign", "person", "group", "order"))
    assert len(rows) == 3
    Reached.objects.all().delete()
    import_module("annotation.migrations.0023_reached").remember(apps, connection.schema_editor())
    assert set(Reached.objects.values_list("campaign", "person", "group", "order")) == rows


def test_the_last_candidate_comes_again_once_others_took_its_question(world) -> None:
    """The person answered all others; by its other place, under a new ticket, as an item does."""
    campaign = make_large(world, [6] * 2, 1, every=1)
    Campaign.objects.update(gold_percent=50)
    campaign.refresh_from_db()
    campaign.members.create(person=world.ben, role="annotator", consented_at=timezone.now())
    question, *_ = by_question(claim_questions(campaign, world.ann, 1))
    assert "c" in kinds(question)
    for last in question:
        with transaction.atomic():
            for place in question:
                if place != last:
                    answer(world.ann, place)
            let_leases_end(world.ann)
            claim_questions(campaign, world.ben, 1)
            left = questions_left(world.ann, campaign)
            (again,) = [one for one in claim_questions(campaign, world.ann, 50) if asked_of(one) == asked_of(last)]
            assert again.asked.triple == last.asked.triple and again.ticket != last.ticket
            assert questions_left(world.ann, campaign) == left
            transaction.set_rollback(True)


@pytest.mark.parametrize("end", ["come again", "late answer"])
def test_gold_that_others_gave_back_is_free_as_items_are(world, two_golds, end) -> None:
    """Under the tickets that the person knows, and an answer to it counts."""
    lost, kept = by_question(claim_questions(world.campaign, world.ann, 50))
    claim_questions(world.campaign, world.cleo, 1)  # the other place of each item
    let_leases_end(world.ann)
    theirs = claim_questions(world.campaign, world.ben, 1)
    assert asked_of(theirs[0]) == asked_of(lost[0])
    release(world.ben, [place.ticket for place in theirs])
    assert renew(world.ann, [place.ticket for place in lost]) == 0
    if end == "come again":
        assert claim_questions(world.campaign, world.ann, 50) == [*lost, *kept]
    else:
        assert {answer(world.ann, place, "N").is_surplus for place in lost} == {False}


@pytest.mark.parametrize("seed", range(6))
def test_gold_goes_with_the_part_of_a_question_that_others_take(world, monkeypatch, seed) -> None:
    """Whose hand is nearly full takes only the first candidates. Of the rest, nothing goes."""
    large = make_large(world, [20], 4)
    Campaign.objects.update(gold_percent=20, seed=seed)
    large.refresh_from_db()
    places = claim_questions(large, world.ann, 50)
    let_leases_end(world.ann)
    large.members.create(person=world.ben, role="annotator", consented_at=timezone.now())
    monkeypatch.setattr("annotation.labelling.queue.MAX_LEASED", 10)
    claim_questions(large, world.ben, 10)
    stays = [renew(world.ann, [place.ticket]) for place in places]
    assert stays == sorted(stays) and set(stays) == {0, 1} and "c" in kinds(places)


def test_gold_alone_goes_when_somebody_takes_its_question(world, two_golds) -> None:
    for place in claim_questions(world.campaign, world.ann, 50):
        if isinstance(place, Slot):
            answer(world.ann, place, "N")
    let_leases_end(world.ann)
    golds = checks_of(world.ann)
    claim_questions(world.campaign, world.ben, 50)
    assert renew(world.ann, [check.ticket for check in golds]) == 0


def of_question_with_gold(campaign: Campaign, user: User) -> tuple[list[Slot], Check]:
    """Claim a question; return its items, and its gold, which is put after the last of them."""
    first, *_ = by_question(claim_questions(campaign, user, 1))
    items = [place for place in first if isinstance(place, Slot)]
    (gold,) = (place for place in first if isinstance(place, Check))
    Check.objects.filter(pk=gold.pk).update(order=items[-1].item.order + 1, beside=items[-1])
    gold.refresh_from_db()
    return items, gold


@pytest.fixture
def of_two(world) -> Campaign:
    """Ann's and Ben's: two questions of five candidates, and gold of each."""
    campaign = make_large(world, [5] * 2, 1, every=1)
    Campaign.objects.update(gold_percent=50)
    campaign.refresh_from_db()
    campaign.members.create(person=world.ben, role="annotator", consented_at=timezone.now())
    return campaign


@pytest.mark.parametrize("answers", [True, False])
def test_gold_after_the_last_candidate_goes_when_somebody_takes_the_whole_rest(world, of_two, answers) -> None:
    """Its person keeps that last one, and a third has its other place. An item after it would have gone."""
    (*rest, last), gold = of_question_with_gold(of_two, world.ann)
    of_two.members.create(person=world.cleo, role="annotator", consented_at=timezone.now())
    claim_questions(of_two, world.cleo, 1)
    if answers:
        answer(world.ann, last)
    release(world.ann, [place.ticket for place in (*rest, gold)])
    claim_questions(of_two, world.ben, 1)
    assert {answer(world.ann, place, "N").is_surplus for place in (*rest, gold)} == {True}


def test_gold_after_the_last_candidate_stays_when_somebody_takes_what_was_given_back_after_their_answer(
    world, of_two
) -> None:
    """They answered that last one, so they would have answered an item beside it."""
    items, gold = of_question_with_gold(of_two, world.ann)
    theirs = claim_questions(of_two, world.ben, 1)
    answer(world.ben, next(place for place in theirs if isinstance(place, Slot) and place.item == items[-1].item))
    item = items[0].item
    Slot.objects.filter(item=item, annotator=world.ben).update(state="free", annotator=None, leased_until=None)
    release(world.ann, [items[0].ticket, gold.ticket])
    claim_questions(of_two, world.ben, len(theirs) + 1)
    assert Slot.objects.filter(item=item, annotator=world.ben).exists()
    assert [answer(world.ann, place, "N").is_surplus for place in (items[0], gold)] == [True, False]


def test_gold_comes_again_after_somebody_took_the_item_beside_it_while_it_was_held(world, of_two) -> None:
    """Of the rest of the question, nobody could have taken anything meanwhile."""
    (*rest, last), gold = of_question_with_gold(of_two, world.ann)
    of_two.members.create(person=world.cleo, role="annotator", consented_at=timezone.now())
    claim_questions(of_two, world.cleo, 1)
    release(world.ann, [last.ticket])
    claim_questions(of_two, world.ben, 1)
    assert Slot.objects.get(pk=last.pk).annotator == world.ben
    held = [*rest, gold]
    for place in held:
        release(world.ann, [place.ticket])
        assert claim_questions(of_two, world.ann, len(held)) == held
    release(world.ann, [place.ticket for place in held])
    assert claim_questions(of_two, world.ann, 1) == held


@pytest.mark.parametrize("seed", range(4))
def test_gold_comes_under_two_tickets_at_most_as_an_item_does(world, of_two, seed) -> None:
    """An item has two places. A third ticket told that it was gold."""
    Campaign.objects.update(seed=seed)
    of_two.refresh_from_db()
    first = claim_questions(of_two, world.ann, 1)
    seen = [first]
    for number in range(4):
        release(world.ann, [place.ticket for place in seen[-1]])
        if number % 2:
            let_leases_end(world.ben)
        else:
            claim_questions(of_two, world.ben, 1)
        seen.append(claim_questions(of_two, world.ann, 1))
    tickets = [[place.ticket for place in places] for places in seen]
    assert "c" in kinds(first) and not set(tickets[0]) & set(tickets[1])
    assert tickets[0] == tickets[2] == tickets[4]
    assert tickets[1] == tickets[3]


@pytest.mark.parametrize("away", ["given back", "over"])
def test_single_candidates_come_again_by_the_first_place_that_others_left(world, of_two, away) -> None:
    """Whoever gave back one after the other, and claimed, saw the ticket of items change, and that of gold stay."""
    theirs = claim_questions(of_two, world.ben, 1)
    mine = claim_questions(of_two, world.ann, 1)
    assert "c" in kinds(mine) and {place.number for place in mine if isinstance(place, Slot)} == {2}
    if away == "over":
        let_leases_end(world.ben)
    else:
        release(world.ben, [place.ticket for place in theirs])
    for number, place in enumerate(mine):
        release(world.ann, [place.ticket])
        changed = claim_questions(of_two, world.ann, len(mine))[number]
        assert (changed.asked.triple, changed.ticket == place.ticket) == (place.asked.triple, False)
        release(world.ann, [changed.ticket])
        assert claim_questions(of_two, world.ann, len(mine))[number] == changed
        mine[number] = changed
    assert {place.number for place in mine if isinstance(place, Slot)} == {1}
    # all at once: they have the first places, which come again
    release(world.ann, [place.ticket for place in mine])
    assert claim_questions(of_two, world.ann, 1) == mine
    # and under the tickets of the second ones, once somebody took the first
    release(world.ann, [place.ticket for place in mine])
    claim_questions(of_two, world.ben, 1)
    last = claim_questions(of_two, world.ann, 1)
    assert len(last) == len(mine) and not {place.ticket for place in last} & {place.ticket for place in mine}


def test_gold_does_not_come_alone_while_somebody_else_takes_the_rest_of_its_question(
    world, of_two, monkeypatch
) -> None:
    """The first look leaves out what another claim has locked; gold, which nobody locks, came from it alone."""
    first = claim_questions(of_two, world.ann, 1)
    release(world.ann, [place.ticket for place in first])
    monkeypatch.setitem(queue._FREE, False, lambda **_: [])
    assert "c" in kinds(first) and claim_questions(of_two, world.ann, 1) == first


def test_gold_stays_when_somebody_takes_another_batch_of_its_question(world, of_two) -> None:
    """Its person answered the item beside it, and gave back another, which stays too."""
    (first, *_, last), gold = of_question_with_gold(of_two, world.ann)
    triple = PooledTriple.objects.create(pool=of_two.pool, head=9, relation=0, tail=gold.triple.tail, depth=1)
    later = Item.objects.create(campaign=of_two, triple=triple, group=99, order=500, side="head")
    Slot.objects.bulk_create(Slot(item=later, number=number) for number in (1, 2))
    answer(world.ann, last)
    release(world.ann, [first.ticket, gold.ticket])
    later.assigned_to.add(world.ben)
    theirs = claim_questions(of_two, world.ben, 1)
    assert [place.item for place in theirs if isinstance(place, Slot)] == [later]
    assert {first.ticket, gold.ticket} <= {place.ticket for place in claim_questions(of_two, world.ann, 50)}


def test_gold_that_was_taken_out_is_not_given_but_may_be_answered(world, two_golds) -> None:
    claim_questions(world.campaign, world.ann, 50)
    assert set_gold_active(world.campaign, [gold.pk for gold in two_golds], False, by=world.manager) == 2
    assert kinds(claim_questions(world.campaign, world.ben, 50)) == "ssssss"
    for check in checks_of(world.ann):
        assert answer(world.ann, check, "N").is_surplus is False


@pytest.mark.parametrize("state", ["paused", "closed"])
def test_campaign_that_is_not_open_gives_no_gold(world, two_golds, state) -> None:
    Campaign.objects.update(state=state)
    world.campaign.refresh_from_db()
    assert claim_questions(world.campaign, world.ann, 50) == []
    assert checks_of(world.ann) == []


# -- gold: what it enters ------------------------------------------------------


def test_answers_to_gold_enter_nothing_but_the_persons_own_count(world, two_golds) -> None:
    before = repr(agreement_report(world.campaign))
    for user in (world.ann, world.ben):
        for place in claim_questions(world.campaign, user, 50):
            if isinstance(place, Check):
                answer(user, place, "N")
    mine = CheckLabel.objects.get(annotator=world.ann, check_item__gold=two_golds[1])
    change(world.ann, mine.client_id, GivenAnswer(uuid4(), "Y", mine.source_url))
    assert CheckLabel.objects.count() == 5
    assert Label.objects.count() == SurplusLabel.objects.count() == live_labels().count() == 0
    assert (Item.objects.count(), Slot.objects.count()) == (6, 12)
    assert (Judgement.objects.count(), labels_version(world.pool)) == (0, "")
    assert len(current_verdicts(world.pool).triple_id) == 0
    assert repr(agreement_report(world.campaign)) == before
    assert label_counts(world.ann, world.campaign)[:2] == (2, 2)


def test_answers_to_gold_are_in_no_export_and_no_figure(world, two_golds) -> None:
    """Everything is labelled and frozen; then gold is answered: what is frozen next is the same bytes."""

    def written(name: str) -> tuple[bytes, str, str]:
        frozen = artifact_path(freeze_qrels(world.pool, name).artifact).read_bytes()
        return frozen, labels_version(world.pool), repr(agreement_report(world.campaign))

    label_all(world, list(world.campaign.items.order_by("order")), "YYNYNN", "YYNNYN")
    before = written("before")
    checks = [place for place in claim_questions(world.campaign, world.cleo, 50) if isinstance(place, Check)]
    assert checks == []  # nothing is left to label, so that no gold comes alone
    for gold in two_golds:
        check = Check.objects.create(
            campaign=world.campaign,
            kind="gold",
            person=world.cleo,
            gold=gold,
            expected="Y",
            order=0,
            state="leased",
            template=Slot.objects.exclude(template=None).first().template,
        )
        answer(world.cleo, check, "N")
    assert written("after") == before and CheckLabel.objects.count() == 2


# -- gold: where it comes from -------------------------------------------------


def test_gold_from_pool_takes_seeds_and_triples_filtered_for_their_type(world) -> None:
    assert gold_from_pool(world.campaign, positives=1, negatives=1, by=world.manager) == (2, 0)
    index = open_graph(world.pool.graph).entity_index
    assert {(g.head, g.tail, g.answer, g.origin, g.side) for g in Gold.objects.all()} == {
        (index["p1"], index["c7"], "Y", "seed", "tail"),
        (index["p1"], index["c2"], "N", "filter", "tail"),
    }
    assert gold_from_pool(world.campaign, positives=1, negatives=1) == (0, 2)
    with pytest.raises(CampaignError, match="2 gold items of triples seed: the pool has 1 in the questions"):
        gold_from_pool(world.campaign, positives=2, negatives=0)


def test_gold_from_pool_is_of_questions_that_people_are_asked(world) -> None:
    """Triples that only share the relation, and the head or tail as the side that is not asked, are no choice."""
    index = open_graph(world.pool.graph).entity_index
    for head, tail in (("p2", "c7"), ("p3", "c1"), ("p9", "c1")):
        SeedTriple.objects.create(pool=world.pool, head=index[head], relation=0, tail=index[tail])
    for head, tail in (("p2", "c2"), ("p9", "c7"), ("p9", "c1")):
        PooledTriple.objects.create(
            pool=world.pool,
            head=index[head],
            relation=0,
            tail=index[tail],
            depth=3,
            provenance=findings((0, 0, 3)),
            reason="types",
        )
    for wanted in ({"positives": 3, "negatives": 0}, {"positives": 0, "negatives": 3}):
        with pytest.raises(CampaignError, match="the pool has 2 in the questions that people are asked"):
            gold_from_pool(world.campaign, **wanted)
    assert gold_from_pool(world.campaign, positives=2, negatives=2) == (4, 0)
    assert sorted(Gold.objects.values_list("head", "tail", "side")) == sorted(
        [
            (index["p1"], index["c7"], "tail"),
            (index["p2"], index["c7"], "head"),
            (index["p1"], index["c2"], "tail"),
            (index["p9"], index["c7"], "head"),
        ]
    )


def test_gold_from_a_file_is_all_or_nothing_and_names_its_lines(world, tmp_path) -> None:
    names = open_graph(world.pool.graph).entities
    item = world.campaign.items.select_related("triple").first().triple
    path = tmp_path / "gold.tsv"
    good = "p1\tlived_in\tc1\tY\np2\tlived_in\tc7\tN\n"
    path.write_text(
        f"{good}nobody\tlived_in\tc0\tN\np1\tlived_in\tc1\t?\n{names[item.head]}\tlived_in\t{names[item.tail]}\tY\n"
        "p5\tlived_in\tc1\tN\n"
    )
    with pytest.raises(CampaignError) as error:
        gold_from_file(world.campaign, path)
    for words in (
        "gold.tsv:3: the graph does not have head",
        "gold.tsv:4: a gold item has answer Y or N",
        "gold.tsv:5: people label this triple",
        "no gold item was added",
        "gold.tsv:6: no question of this campaign asks for this triple, so it would stand alone",
    ):
        assert words in str(error.value)
    assert Gold.objects.count() == 0
    path.write_text(good)
    assert gold_from_file(world.campaign, path) == (2, 0)
    assert set(Gold.objects.values_list("answer", "side")) == {("Y", "tail"), ("N", "head")}


# -- re-check ------------------------------------------------------------------


@pytest.fixture
def judged(world) -> list[Item]:
    """Four positive, one negative by Ann and Ben, one disputed."""
    items = list(world.campaign.items.order_by("order"))
    label_all(world, items, "YYYYNY", "YYYYNN")
    return items


def test_recheck_is_half_and_half_and_the_other_half_makes_up_for_it(world, judged) -> None:
    assert draw_recheck(world.campaign, world.cleo, 2, seed=1, by=world.manager) == 2
    assert sorted(check.expected for check in checks_of(world.cleo)) == ["N", "Y"]
    assert draw_recheck(world.campaign, world.ada, 4, seed=1) == 4
    assert sorted(check.expected for check in checks_of(world.ada)) == ["N", "Y", "Y", "Y"]
    verdicts = dict(Judgement.objects.values_list("triple", "verdict"))
    for check in Check.objects.all():
        assert verdicts[check.item.triple_id] == {"Y": "positive", "N": "negative"}[check.expected]


def test_recheck_is_seeded(world, judged) -> None:
    def drawn(seed: int) -> list[int]:
        with transaction.atomic():
            draw_recheck(world.campaign, world.cleo, 2, seed=seed)
            found = [check.item_id for check in checks_of(world.cleo)]
            transaction.set_rollback(True)
        return found

    draws = [drawn(seed) for seed in range(8)]
    assert drawn(0) == draws[0]
    assert len({tuple(draw) for draw in draws}) > 1


def test_recheck_never_asks_who_labelled_nor_twice(world, judged) -> None:
    assert recheck_choices(world.campaign, world.ann).count() == 0
    with pytest.raises(CampaignError, match="no final judgement that ann"):
        draw_recheck(world.campaign, world.ann, 2)
    assert draw_recheck(world.campaign, world.cleo, 9) == 5
    with pytest.raises(CampaignError, match="no final judgement that cleo"):
        draw_recheck(world.campaign, world.cleo, 1)


def test_recheck_never_offers_what_a_person_saw_labels_of(world, judged) -> None:
    """Ada saw how Ann and Ben differ, gave the dispute back, and Eve decided it: that is no re-check for Ada."""
    disputed = judged[5]
    eve = add_person("eve", "adjudicator", world.campaign, PASSWORD)[0]
    (slot,) = claim_disputed(world.campaign, world.ada, wait_for_windows=False)
    release(world.ada, [slot.ticket])
    (slot,) = claim_disputed(world.campaign, eve, wait_for_windows=False)
    answer(eve, slot, "N")
    judged[0].seen_by.add(world.cleo)

    def offered(person: User) -> set[int]:
        return set(recheck_choices(world.campaign, person).values_list("triple", flat=True))

    every = {item.triple_id for item in judged}
    assert offered(world.manager) == every
    assert offered(world.ada) == offered(eve) == every - {disputed.triple_id}
    assert offered(world.cleo) == every - {judged[0].triple_id}
    for person, size in ((world.ada, 5), (world.cleo, 5)):
        assert draw_recheck(world.campaign, person, 99) == size
        assert {check.item.triple_id for check in checks_of(person)} == every - {
            (disputed if person == world.ada else judged[0]).triple_id
        }


@pytest.mark.parametrize(("size", "who", "words"), [(0, "cleo", "at least one"), (1, "stranger", "is not a member")])
def test_recheck_refuses(world, judged, size, who, words) -> None:
    with pytest.raises(CampaignError, match=words):
        draw_recheck(world.campaign, getattr(world, who), size)
    assert Check.objects.count() == 0


def test_answer_to_a_recheck_is_kept_and_the_judgement_stays(world, judged) -> None:
    draw_recheck(world.campaign, world.cleo, 5)
    before = (labels_version(world.pool), list(Judgement.objects.order_by("pk").values_list("verdict", "decided_at")))
    places = [place for place in claim_questions(world.campaign, world.cleo, 50) if isinstance(place, Check)]
    assert len(places) == 5
    for check in places:
        answer(world.cleo, check, "N" if check.expected == "Y" else "Y")
    assert CheckLabel.objects.filter(annotator=world.cleo).count() == 5
    after = (labels_version(world.pool), list(Judgement.objects.order_by("pk").values_list("verdict", "decided_at")))
    assert after == before
    assert live_labels().count() == 12
    assert claim_questions(world.campaign, world.cleo, 50) == []


def test_rechecks_come_a_few_at_a_time(world, judged) -> None:
    """However often the page asks: at most `count` are in hand, so that none lies there for days."""
    draw_recheck(world.campaign, world.cleo, 5)
    for _ in range(3):
        assert len(claim_questions(world.campaign, world.cleo, 2)) == 2
    (first, _) = claim_questions(world.campaign, world.cleo, 2)
    answer(world.cleo, first, "Y")
    assert len(claim_questions(world.campaign, world.cleo, 2)) == 2


def test_recheck_comes_in_the_order_of_its_item(world, judged) -> None:
    draw_recheck(world.campaign, world.cleo, 5)
    orders = [check.item.order for check in claim_questions(world.campaign, world.cleo, 50)]
    assert orders == sorted(orders)


def test_rechecks_come_with_yes_and_no_mixed(world, judged) -> None:
    """Whoever guessed one had known those after it."""
    orders = set()
    for seed in range(12):
        with transaction.atomic():
            draw_recheck(world.campaign, world.cleo, 2, seed=seed)
            orders.add("".join(check.expected for check in checks_of(world.cleo)))
            transaction.set_rollback(True)
    assert orders == {"YN", "NY"}


@pytest.mark.parametrize(("size", "most", "count"), [(1, 1, 1), (1, 1, 8), (4, 2, 1), (5, 3, 8)])
def test_rechecks_come_before_questions_that_are_new_at_most_half(world, size: int, most: int, count: int) -> None:
    """Those that are left come where nothing else is. In their places, before two of one question are put together."""

    def place_of(place: Slot | Check) -> tuple[int, bool]:
        is_slot = isinstance(place, Slot)
        return (place.item.order if is_slot else place.order), is_slot

    large = make_large(world, [size] * 18, 0)
    for user in (world.ben, world.cleo):
        large.members.create(person=user, role="annotator")
        for place in claim_questions(large, user, 4 * size):
            answer(user, place, "Y")
    draw_recheck(large, world.ann, 2 * size)
    drawn = Counter[int]()
    for seed in range(6 * most):  # so that every number is drawn
        claims = [kinds(sorted(places, key=place_of)) for places in walked(large, world.ann, count, seed=seed)]
        asked = "".join(claims)
        assert re.fullmatch(f"(c{{0,{most}}}s{{{size}}})*c*", asked), asked
        assert (asked.count("s"), asked.count("c")) == (14 * size, 2 * size)
        assert count != 1 or {"c", "s" * size} == set(claims)
        drawn.update(len(run) for run in asked.rstrip("c").split("s" * size)[:3])
    assert set(drawn) == set(range(most + 1))


def test_question_that_others_took_after_it_was_given_back_brings_no_recheck(world) -> None:
    """It comes by the other place of each item, which nobody had yet."""
    large = make_large(world, [2] * 18, 0)
    for user in (world.ben, world.cleo):
        large.members.create(person=user, role="annotator")
        for place in claim_questions(large, user, 8):
            answer(user, place, "Y")
    for large.seed in range(4):
        with transaction.atomic():
            first = claim_questions(large, world.ann, 8)
            draw_recheck(large, world.ann, 8)
            release(world.ann, [place.ticket for place in first])
            assert {place.item for place in claim_questions(large, world.ben, 8)} == {place.item for place in first}
            again = claim_questions(large, world.ann, 8)
            assert kinds(again) == "s" * 8 and not {place.ticket for place in again} & {place.ticket for place in first}
            assert [place.item for place in again] == [place.item for place in first]
            transaction.set_rollback(True)
