"""What could leak is made, and looked for: a gold item, the other's answer, a withdrawn, late or superseded label.

`trace` does all that an annotator can do with one question, and keeps all that is answered but for what differs from
question to question. Traces of two questions that must not be told apart are equal.
"""

import json
from datetime import timedelta
from itertools import combinations, groupby, pairwise
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import transaction
from django.test import Client
from django.utils import timezone

import annotation.api.serializers  # noqa: F401 - reads MAX_LEASED once, which a test changes
from annotation.labelling.assignments import GivenAnswer
from annotation.labelling.own_labels import own_progress
from annotation.labelling.queue import claim_disputed, release_all
from annotation.labelling.submit import submit
from annotation.labelling.training import needs_training, supply
from annotation.labelling.withdraw import reopen_judgement, withdraw_labels
from annotation.models import Campaign, Check, Gold, Item, Label, QuestionTemplate, Slot
from annotation.models.slot import lease_of
from annotation.quality import checks
from annotation.quality.checks import draw_recheck
from annotation.questions.templates import save_template
from core.people.tokens import create_token
from pooling.graphs.opening import open_graph
from pooling.models import PooledTriple
from tests.annotation.api.calls import (
    CLAIM,
    DECIDE,
    DISPUTED,
    FLAG,
    NO_DISPUTES,
    OWN,
    PROGRESS,
    RELEASE,
    RENEW,
    RETURN,
    SUBMIT,
    change_url,
    changed,
    claimed,
    given,
    post,
)
from tests.annotation.factories import (
    LINK,
    World,
    answer,
    claim,
    decide,
    label_and_release,
    make_large,
    put_last,
    slot_for,
    windows_closed,
)
from tests.page import read

ITEM = {
    "slot", "lease", "group", "side", "relation", "question", "group_question", "subject", "object",
}  # fmt: skip
MINE = "https://www.imdb.com/ann-was-here"  # a telling link


@pytest.fixture
def gold(world) -> Gold:
    """Of the tail question of p1, which comes last: three are due with its slots, the last of six."""
    put_last(world.campaign, side="tail")
    Campaign.objects.update(gold_percent=50)
    world.campaign.refresh_from_db()
    index = open_graph(world.pool.graph).entity_index
    return Gold.objects.create(
        campaign=world.campaign, head=index["p1"], relation=0, tail=index["c2"], side="tail", answer="Y", origin="file"
    )


def ticket_of_gold(user) -> str:
    return str(Check.objects.get(person=user).ticket)


def told(response: Any, **known: str) -> tuple[int, str]:
    """Status and body, with the ids of this question named."""
    text = json.dumps(response.json(), sort_keys=True)
    for name, value in known.items():
        text = text.replace(value, name)
    return response.status_code, text


def trace(client: Client, item: dict[str, Any], between: Any = None) -> list[tuple[int, str]]:
    """`between` happens after the first answer."""
    first, second, third = (str(uuid4()) for _ in range(3))
    known = {"TICKET": item["slot"], "LEASE": item["lease"], "FIRST": first, "SECOND": second, "THIRD": third}
    seen = []

    def call(url: str, body: Any) -> None:
        seen.append(told(post(client, url, body), **known))

    def own() -> None:
        mine = [one for one in client.get(OWN).json()["results"] if one["label"] in known.values()]
        for one in mine:
            one.pop("created_at"), one.pop("question")
        seen.append((len(mine), json.dumps(mine, sort_keys=True).replace(second, "SECOND").replace(first, "FIRST")))

    flag = {"slot": item["slot"], "lease": item["lease"], "client_id": third, "kind": "words", "text": "clumsy"}
    call(FLAG, flag)
    call(FLAG, flag)
    call(RENEW, {"slots": [item["slot"]]})
    call(RELEASE, {"slots": [item["slot"]]})
    call(RENEW, {"slots": [item["slot"]]})
    call(SUBMIT, given(item, source_url="https://evil.example/"))
    call(SUBMIT, given(item, client_id=first, active_ms=1500))
    own()
    if between:
        between()
    call(SUBMIT, given(item, client_id=first))
    call(SUBMIT, given(item, client_id=third, answer="N"))
    own()
    call(change_url(first), changed(source_url=""))
    call(change_url(first), changed("?", client_id=second, comment="hard"))
    call(change_url(first), changed("?", client_id=second, comment="hard"))
    call(change_url(second), changed("N", client_id=str(uuid4())) | {"client_id": first})
    own()
    call(FLAG, flag | {"client_id": str(uuid4()), "kind": "rude"})
    call(RENEW, {"slots": [item["slot"]]})
    call(RELEASE, {"slots": [item["slot"]]})
    seen.append(told(client.get(PROGRESS)))
    for state in ("paused", "closed"):
        Campaign.objects.update(state=state)
        call(change_url(second), changed(client_id=second))
        call(SUBMIT, given(item, client_id=first))
        call(SUBMIT, given(item, client_id="11111111-1111-1111-1111-111111111111"))
        own()
    Campaign.objects.update(state="open")
    return seen


def traced(client: Client, item: dict[str, Any], between: Any = None) -> list[tuple[int, str]]:
    """A trace after which all is as before."""
    with transaction.atomic():
        seen = trace(client, item, between)
        transaction.set_rollback(True)
    return seen


# -- gold ----------------------------------------------------------------------


def test_gold_cannot_be_told_from_an_item_by_what_is_asked(world, ann, gold) -> None:
    items = claimed(ann)
    secret = ticket_of_gold(world.ann)
    assert len(items) == 7 and secret in [item["slot"] for item in items]
    for item in items:
        assert set(item) == ITEM
        assert UUID(item["slot"]).version == 4
        assert item["lease"] == str(lease_of(UUID(item["slot"]), world.ann.pk))
        types = [type(value).__name__ for _, value in sorted(item.items())]
        assert types == [type(value).__name__ for _, value in sorted(items[0].items())]
    groups = [item["group"] for item in items]
    at = next(i for i, item in enumerate(items) if item["slot"] == secret)
    assert groups.count(groups[at]) == 4 and {len(group) for group in groups} == {16}
    assert items[at]["group_question"] == items[at - 1]["group_question"] == "Where has Person 1 lived?"
    assert len({groups[i] for i in range(7) if i == 0 or groups[i] != groups[i - 1]}) == 2  # neighbours


@pytest.mark.parametrize("count", [1, 8])
def test_gold_adds_no_group_to_any_claim(world, ann, count) -> None:
    """All is answered, claim by claim: the keys of groups are the same with gold and without it, in one order."""
    large = make_large(world, [1 + number * 7 % 13 for number in range(22)], 4)
    seen, sizes = {}, {}
    for percent in (0, 5, 50):
        with transaction.atomic():
            Campaign.objects.update(gold_percent=percent)
            seen[percent], sizes[percent] = [], []
            while items := post(ann, CLAIM.replace("p1", "large"), {"count": count}).json()["items"]:
                seen[percent] += [key for key, _ in groupby(item["group"] for item in items)]
                golds = {str(ticket) for ticket in Check.objects.values_list("ticket", flat=True)}
                asked = {item["group"] for item in items if item["slot"] in golds}
                assert asked <= {item["group"] for item in items if item["slot"] not in golds}
                sizes[percent].append(len(items))
                for item in items:
                    assert post(ann, SUBMIT, given(item)).status_code == 201
            assert Check.objects.exists() == (percent > 0)
            transaction.set_rollback(True)
    assert seen[0] == seen[5] == seen[50] and len(seen[0]) == 22
    assert sum(sizes[0]) == large.items.count() < sum(sizes[5]) < sum(sizes[50])


def test_how_many_more_come_does_not_tell_that_gold_is_in_hand(world, ann) -> None:
    """Who holds n questions and asks for n gets no others, whether or not one of the n is gold."""
    make_large(world, [4] * 6, 4, every=1)
    seen = {}
    for percent in (0, 50):
        with transaction.atomic():
            Campaign.objects.update(gold_percent=percent)
            url = CLAIM.replace("p1", "large")
            held = post(ann, url, {"count": 1}).json()["items"]
            seen[percent] = len(post(ann, url, {"count": len(held)}).json()["items"]) - len(held)
            assert len(held) == (4 if percent == 0 else 6)
            transaction.set_rollback(True)
    assert seen == {0: 0, 50: 0}


def test_gold_cannot_be_told_from_an_item_by_anything_done_with_it(world, ann, gold) -> None:
    items = claimed(ann)
    secret = ticket_of_gold(world.ann)
    traces = {item["slot"]: traced(ann, item) for item in items}
    normal = [traces[item["slot"]] for item in items if item["slot"] != secret]
    assert len(normal[0]) > 25
    assert all(one == normal[0] for one in normal)
    assert traces[secret] == normal[0]


def test_recheck_cannot_be_told_from_an_item_by_anything_done_with_it(world, ann) -> None:
    first, *_, last = world.campaign.items.order_by("order")
    label_and_release(world, first, ben="Y", cleo="Y")
    draw_recheck(world.campaign, world.ann, 1)
    items = claimed(ann)
    assert (len(items), items[0]["slot"]) == (6, ticket_of_gold(world.ann))
    assert [set(item) for item in items] == [ITEM] * 6
    assert traced(ann, items[0]) == traced(ann, items[-1])
    assert last.slots.filter(annotator=world.ann).exists()


@pytest.mark.parametrize("count", [1, 3, 8])
def test_recheck_does_not_show_in_the_number_of_questions(world, ann, count) -> None:
    """Questions of one candidate each: as many come as were asked for, with re-checks among them and without."""
    large = make_large(world, [1] * 20, 0)
    url = CLAIM.replace("p1", "large")
    large.members.create(person=world.ben, role="annotator", consented_at=timezone.now())
    large.members.create(person=world.cleo, role="annotator", consented_at=timezone.now())
    for user in (world.ben, world.cleo):
        for slot in claim(large, user, 4):
            answer(user, slot)
    draw_recheck(large, world.ann, 4)
    held = len(post(ann, url, {"count": 2}).json()["items"])
    assert held == 2
    assert len(post(ann, url, {"count": 2}).json()["items"]) == 2
    seen = []
    while items := post(ann, url, {"count": count}).json()["items"]:
        seen.append(len(items))
        for item in items:
            assert post(ann, SUBMIT, given(item)).status_code == 201
    assert set(seen[1:-1]) <= {count} and sum(seen) == 16 + 4


@pytest.mark.parametrize("count", [1, 2, 8])
def test_recheck_drawn_while_the_hand_is_full_waits(world, ann, count) -> None:
    large = make_large(world, [4] * 6, 0)
    url = CLAIM.replace("p1", "large")
    for user in (world.ben, world.cleo):
        large.members.create(person=user, role="annotator", consented_at=timezone.now())
        for slot in claim(large, user, 4):
            answer(user, slot)
    held = post(ann, url, {"count": count}).json()["items"]
    draw_recheck(large, world.ann, 4)
    assert post(ann, url, {"count": len(held)}).json()["items"] == held


def with_rechecks(world: World, client: Client, seed: int) -> tuple[str, list[dict[str, Any]]]:
    """Fill the hand with 8 of 16 questions of one candidate each, then draw 6 re-checks; return what is in hand."""
    large = make_large(world, [1] * 22, 0)
    Campaign.objects.update(seed=seed)
    url = CLAIM.replace("p1", "large")
    for user in (world.ben, world.cleo):
        large.members.create(person=user, role="annotator", consented_at=timezone.now())
        for slot in claim(large, user, 6):
            answer(user, slot)
    held = post(client, url, {"count": 8}).json()["items"]
    draw_recheck(large, world.ann, 6)
    return url, held


def one_by_one(client: Client, url: str, given_back: list[dict[str, Any]], num_kept: int) -> list[str]:
    """Return in which order questions come again that are given back together."""
    assert post(client, RELEASE, {"slots": [item["slot"] for item in given_back]}).json() == {"slots": len(given_back)}
    order: list[str] = []
    known = {item["slot"] for item in given_back}
    for count in range(num_kept + 1, num_kept + len(given_back) + 1):
        now = {item["slot"] for item in post(client, url, {"count": count}).json()["items"]}
        order += sorted((now & known) - set(order))
        assert len(order) == count - num_kept  # nothing else came
    return order


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("claims", [True, False])
@pytest.mark.parametrize("answers", [0, 1, 3, 7])
def test_recheck_that_waits_does_not_come_for_a_question_that_was_given_back(world, ann, answers, claims, seed) -> None:
    """It came in its place, and so was found by giving back any other question."""
    url, held = with_rechecks(world, ann, seed)
    for item in held[:answers]:
        assert post(ann, SUBMIT, given(item)).status_code == 201
    held = held[answers:]
    if claims:
        held = post(ann, url, {"count": 8}).json()["items"]
    assert Check.objects.filter(state="free").exists()
    for item in held:
        assert again(ann, url, [item["slot"]], len(held)) == held
    for number in range(2, len(held) + 1):
        assert again(ann, url, [item["slot"] for item in held[:number]], len(held)) == held


def test_questions_that_were_given_back_come_in_one_order_with_rechecks_among_them(world, ann) -> None:
    """Of any two questions the same one comes first, whatever else was given back and whatever is in hand."""
    seen = 0
    for seed in range(4):
        with transaction.atomic():
            url, held = with_rechecks(world, ann, seed)
            for item in held:
                assert post(ann, SUBMIT, given(item)).status_code == 201
            first: list[str] = []
            for count in range(1, 9):
                here = [item["slot"] for item in post(ann, url, {"count": count}).json()["items"]]
                first += [slot for slot in here if slot not in first]
            held = post(ann, url, {"count": 8}).json()["items"]
            assert first == [item["slot"] for item in held]
            seen += Check.objects.filter(state="leased").count()
            assert one_by_one(ann, url, held, 0) == first
            for one, two in combinations(held, 2):
                order = one_by_one(ann, url, [one, two], 6)
                assert order == sorted(order, key=first.index)
            transaction.set_rollback(True)
    assert seen > 4


def test_gold_does_not_show_in_the_counts_of_leases(world, ann, gold) -> None:
    slots = [item["slot"] for item in claimed(ann)]
    assert post(ann, RENEW, {"slots": slots}).json() == {"slots": 7}
    assert post(ann, RELEASE, {"slots": slots}).json() == {"slots": 7}
    assert post(ann, RENEW, {"slots": slots}).json() == {"slots": 0}
    assert [item["slot"] for item in claimed(ann)] == slots


def many_with_gold(world: World, client: Client, percent: int = 50) -> tuple[str, list[dict[str, Any]], set[str]]:
    """Claim three questions of four candidates; return the address, what is in hand, and the tickets of gold in it."""
    make_large(world, [4] * 6, 4, every=1)
    Campaign.objects.update(gold_percent=percent)
    url = CLAIM.replace("p1", "large")
    held = post(client, url, {"count": 13}).json()["items"]
    golds = {str(ticket) for ticket in Check.objects.filter(state="leased").values_list("ticket", flat=True)}
    assert len(golds) >= 2 and len(held) - len(golds) >= 8
    return url, held, golds


def again(client: Client, url: str, given_back: list[str], count: int) -> list[dict[str, Any]]:
    assert post(client, RELEASE, {"slots": given_back}).json() == {"slots": len(given_back)}
    return post(client, url, {"count": count}).json()["items"]


@pytest.mark.parametrize("percent", [20, 30, 50])
def test_gold_that_was_given_back_comes_again_as_an_item_does(world, ann, percent) -> None:
    """One by one: gold stayed away, so whoever gave back one candidate after the other had found it.

    With an item, other gold of its question could come, which was new there, and so was found too.
    """
    url, held, _ = many_with_gold(world, ann, percent)
    for item in held:
        assert again(ann, url, [item["slot"]], len(held) - 1) == [one for one in held if one != item]
        assert post(ann, url, {"count": len(held)}).json()["items"] == held


@pytest.mark.parametrize("percent", [10, 20, 30, 50])
def test_a_question_that_was_given_back_comes_again_with_its_gold(world, ann, percent) -> None:
    make_large(world, [4] * 6, 4, every=1)
    Campaign.objects.update(gold_percent=percent)
    url = CLAIM.replace("p1", "large")
    held = post(ann, url, {"count": 20}).json()["items"]
    assert Check.objects.filter(state="leased").exists()
    for _, candidates in groupby(held, key=lambda item: item["group"]):
        assert again(ann, url, [item["slot"] for item in candidates], len(held)) == held


def test_gold_and_an_item_that_were_given_back_come_in_the_order_of_their_questions(world, ann) -> None:
    """Of two questions, the candidate of the earlier one comes first, whether or not one of them is gold."""
    url, held, golds = many_with_gold(world, ann)
    groups = [list(group) for _, group in groupby(held, key=lambda item: item["group"])]
    assert (
        {item["slot"] in golds for item in groups[0]} == {item["slot"] in golds for item in groups[1]} == {True, False}
    )
    for one in groups[0]:
        for two in groups[1]:
            here = again(ann, url, [one["slot"], two["slot"]], len(held) - 1)
            assert here == [item for item in held if item != two]
            assert post(ann, url, {"count": len(held)}).json()["items"] == held


def test_gold_comes_again_as_the_last_of_its_question(world, ann) -> None:
    """All others are answered; what is left was given back. It must not stay away, and not come before its turn."""
    url, held, _ = many_with_gold(world, ann)
    for last in held:
        with transaction.atomic():
            for item in held:
                if item["group"] == last["group"] and item != last:
                    assert post(ann, SUBMIT, given(item)).status_code == 201
            left = [item for item in held if item["group"] != last["group"] or item == last]
            assert again(ann, url, [last["slot"]], len(left)) == left
            transaction.set_rollback(True)


def test_gold_given_back_is_not_due_twice(world, ann) -> None:
    """What was given back counts as given: no other gold comes in its place, nor with it."""
    url, held, golds = many_with_gold(world, ann)
    for _ in range(3):
        assert again(ann, url, [item["slot"] for item in held], len(held)) == held
    assert Check.objects.count() == len(golds)


@pytest.mark.parametrize("change", [{"is_active": False}, {"percent": 0}])
def test_gold_that_was_given_back_comes_again_where_no_more_is_wanted(world, ann, change) -> None:
    """The manager took it out, or wants no more gold: what stayed away then was gold."""
    url, held, _ = many_with_gold(world, ann)
    if "percent" in change:
        Campaign.objects.update(gold_percent=0)
    else:
        Gold.objects.update(**change)
    progress = PROGRESS.replace("p1", "large")
    left = ann.get(progress).json()["left"]
    for item in held:
        assert post(ann, RELEASE, {"slots": [item["slot"]]}).json() == {"slots": 1}
        assert ann.get(progress).json()["left"] == left
        assert post(ann, url, {"count": len(held)}).json()["items"] == held


@pytest.mark.parametrize("seed", range(12))
def test_gold_of_the_second_part_of_a_question_comes_after_the_first_part(world, ann, monkeypatch, seed) -> None:
    """Gold that was the last in hand is before the first item of the second part; other gold could come before it."""
    make_large(world, [14], 6)
    Campaign.objects.update(gold_percent=50, seed=seed)
    monkeypatch.setattr("annotation.labelling.queue.MAX_LEASED", 8)
    url = CLAIM.replace("p1", "large")
    first = post(ann, url, {"count": 8}).json()["items"]
    for item in first[:4]:
        assert post(ann, SUBMIT, given(item)).status_code == 201
    second = post(ann, url, {"count": 8}).json()["items"]
    assert (second[:4], len(second)) == (first[4:], 8)


def test_gold_that_was_given_back_comes_in_the_order_of_its_batch(world, ann) -> None:
    """The rest of its question is answered, and a later batch asks the same question."""
    large = make_large(world, [3] * 4, 1, every=1)
    Campaign.objects.update(gold_percent=50)
    url = CLAIM.replace("p1", "large")
    held = post(ann, url, {"count": 50}).json()["items"]
    gold = Check.objects.filter(state="leased").order_by("order").first()
    key = next(item["group"] for item in held if item["slot"] == str(gold.ticket))
    asked = [item for item in held if item["group"] == key]
    after = [item["slot"] for item in held[held.index(asked[-1]) + 1 :]]
    assert len(asked) == 4 and after
    triple = PooledTriple.objects.create(pool=large.pool, head=15, relation=0, tail=gold.gold.tail, depth=1)
    later = Item.objects.create(campaign=large, triple=triple, group=99, order=500, side="head")
    Slot.objects.bulk_create(Slot(item=later, number=number) for number in (1, 2))
    for last in asked:
        with transaction.atomic():
            for item in asked:
                if item != last:
                    assert post(ann, SUBMIT, given(item)).status_code == 201
            post(ann, RELEASE, {"slots": [last["slot"], *after]})
            kept = len(held) - len(asked) - len(after)
            assert last["slot"] in [item["slot"] for item in post(ann, url, {"count": kept + 1}).json()["items"]]
            transaction.set_rollback(True)


@pytest.mark.parametrize("count", [1, 8])
@pytest.mark.parametrize("other", [1, 8, 20])
def test_of_two_claims_at_once_each_shows_gold_with_its_question(world, ann, monkeypatch, count, other) -> None:
    """One that began before the other took something showed the items of both, and gold only if it took any."""
    make_large(world, [4] * 6, 4, every=1)
    Campaign.objects.update(gold_percent=50)
    url = CLAIM.replace("p1", "large")
    claim_slots, seen = checks.claim, []

    def in_another_tab(*args: Any) -> list[Slot]:
        monkeypatch.setattr(checks, "claim", claim_slots)
        seen.append(post(ann, url, {"count": other}).json()["items"])
        return claim_slots(*args)

    monkeypatch.setattr(checks, "claim", in_another_tab)
    seen.append(post(ann, url, {"count": count}).json()["items"])
    assert seen[1][: len(seen[0])] == seen[0]
    assert (seen[1] == seen[0]) == (count <= len(seen[0]))


def test_what_is_left_stays_when_the_last_question_is_given_back(world, ann, gold) -> None:
    """It fell to 0 for gold, which came again all the same."""
    items = claimed(ann)
    for last in items:
        with transaction.atomic():
            for item in items:
                if item != last:
                    assert post(ann, SUBMIT, given(item)).status_code == 201
            assert post(ann, RELEASE, {"slots": [last["slot"]]}).json() == {"slots": 1}
            assert ann.get(PROGRESS).json()["left"] == 1
            assert own_progress(world.ann)[0].has_questions
            assert claimed(ann) == [last]
            transaction.set_rollback(True)


@pytest.mark.parametrize("place", [0, 6])
@pytest.mark.parametrize("change", ["", "percent", "active"])
def test_what_is_left_falls_by_one_whatever_was_answered(world, ann, gold, place: int, change: str) -> None:
    """Also where gold is the last in hand, other gold was never given out, or no more gold is to be given out."""
    index = open_graph(world.pool.graph).entity_index
    for person in ("p2", "p3"):  # of questions that nobody is asked
        Gold.objects.create(
            campaign=world.campaign,
            head=index[person],
            relation=0,
            tail=index["c2"],
            side="tail",
            answer="Y",
            origin="file",
        )
    items = claimed(ann)
    secret = next(item for item in items if item["slot"] == ticket_of_gold(world.ann))
    items.remove(secret)
    items.insert(place, secret)
    if change == "percent":
        Campaign.objects.update(gold_percent=0)
    elif change == "active":
        Gold.objects.filter(pk=gold.pk).update(is_active=False)
    left = [ann.get(PROGRESS).json()["left"]]
    for item in items:
        assert post(ann, SUBMIT, given(item)).status_code == 201
        left.append(ann.get(PROGRESS).json()["left"])
    falls = {before - after for before, after in pairwise(left[:-1])}
    assert (falls, left[-1]) == ({1}, 0)


@pytest.mark.parametrize("change", ["", "percent", "active"])
def test_what_is_left_tells_nothing_of_gold_that_others_took_with_its_question(world, as_user, ann, change) -> None:
    """With no more gold to come it fell by the gold of a question that others took, and rose when that came again; or
    else it stayed when two others had all of the question.
    """
    url, held, golds = many_with_gold(world, ann)
    campaign = Campaign.objects.get(pool__name="large")
    Gold.objects.exclude(checks__ticket__in=golds).delete()

    def left() -> int:
        return ann.get(PROGRESS.replace("p1", "large")).json()["left"]

    Campaign.objects.update(gold_percent=0 if change == "percent" else 1)  # 1: no gold for the others
    if change == "active":
        Gold.objects.update(is_active=False)
    total = left()
    assert post(ann, RELEASE, {"slots": [item["slot"] for item in held]}).json() == {"slots": len(held)}
    for person in (world.ben, world.cleo):
        assert left() == total
        campaign.members.create(person=person, role="annotator", consented_at=timezone.now())
        num_items = len(held) - len(golds)
        theirs = post(as_user(person), url, {"count": num_items}).json()["items"]
        assert {item["group"] for item in theirs} == {item["group"] for item in held}
        if person == world.ben:
            with transaction.atomic():
                post(ann, url, {"count": len(held)})
                assert left() == total
                transaction.set_rollback(True)
    assert left() == total - len(held)


def test_number_of_assigned_questions_stays_until_all_of_one_is_answered(world, ann, gold) -> None:
    """The number of assigned items fell with each answer, but not with gold."""
    items = claimed(ann)
    mine = [item for item in items if item["side"] == "tail"]
    assert ticket_of_gold(world.ann) in [item["slot"] for item in mine]
    for item in world.campaign.items.filter(side="tail"):
        item.assigned_to.add(world.ann)
    for last in mine:
        with transaction.atomic():
            seen = []
            for item in [*(item for item in mine if item != last), last]:
                seen.append(own_progress(world.ann)[0].first)
                post(ann, RELEASE, {"slots": [item["slot"]]})
                seen.append(own_progress(world.ann)[0].first)
                assert post(ann, SUBMIT, given(item)).status_code == 201
            assert seen == [1] * 2 * len(mine) and own_progress(world.ann)[0].first == 0
            transaction.set_rollback(True)


def test_training_that_begins_later_tells_nothing_of_gold(world, ann, gold) -> None:
    """Whoever had answered gold alone needed the training; what was given back came in it, and then again."""
    items = claimed(ann)
    Campaign.objects.update(training_items=1)
    for item in items:
        with transaction.atomic():
            assert post(ann, SUBMIT, given(item)).status_code == 201
            assert post(ann, CLAIM, {"count": 1}).status_code == 200
            transaction.set_rollback(True)
    post(ann, RELEASE, {"slots": [item["slot"] for item in items]})
    world.campaign.refresh_from_db()
    assert needs_training(world.campaign, world.ann) and not supply(world.campaign, world.ann).exists()


def test_home_offers_rechecks_as_it_offers_questions(world, ann) -> None:
    """Home said that nothing waits while only re-checks did: what was then given out was surely a re-check."""
    for item in world.campaign.items.order_by("order"):
        label_and_release(world, item, ben="Y", cleo="Y")
    draw_recheck(world.campaign, world.ann, 2)
    for held in (0, 2):
        page = read(ann.get("/"))
        assert page.one(class_="button-primary")["href"] == "/campaigns/p1/annotate"
        (mine,) = own_progress(world.ann)
        assert (mine.has_questions, mine.left) == (True, 2)
        if not held:
            assert len(claimed(ann)) == 2


def test_gold_stands_among_own_labels_in_the_order_of_answers(world, ann, gold) -> None:
    items = claimed(ann)
    sent = []
    for item in items:
        body = given(item)
        post(ann, SUBMIT, body)
        sent.append(body["client_id"])
    assert [entry["label"] for entry in ann.get(OWN).json()["results"]] == sent[::-1]
    assert ann.get(PROGRESS).json() == {"today": 7, "total": 7, "items": 7, "left": 0, **NO_DISPUTES}


def test_window_of_the_last_ten_counts_gold_as_any(world, ann, gold, monkeypatch) -> None:
    monkeypatch.setattr("annotation.labelling.own_labels.CHANGEABLE", 3)
    for item in claimed(ann):
        post(ann, SUBMIT, given(item))
    assert [entry["changeable"] for entry in ann.get(OWN).json()["results"]] == [True] * 3 + [False] * 4


def test_id_that_was_used_before_is_refused_for_gold_as_for_an_item(world, ann, gold) -> None:
    """The id of an answer to an item, or to gold, given to another item or gold: the same refusals."""
    other = Gold.objects.create(
        campaign=world.campaign, head=gold.head, relation=0, tail=gold.tail - 1, side="tail", answer="N", origin="file"
    )
    items = claimed(ann)
    first, second = (str(Check.objects.get(gold=one).ticket) for one in (gold, other))
    plain = [item for item in items if item["slot"] not in (first, second)]
    golds = {item["slot"]: item for item in items}
    used = [given(plain[0]), given(golds[first])]
    for body in used:
        assert post(ann, SUBMIT, body).status_code == 201
    seen = {
        (body["client_id"], item["slot"], link): post(
            ann, SUBMIT, given(item, client_id=body["client_id"], source_url=link)
        ).status_code
        for body in used
        for item in (plain[1], golds[second])
        for link in (LINK, MINE, "https://evil.example/")
    }
    assert seen == {key: 422 if "evil" in key[2] else 409 for key in seen} and len(seen) == 12


def test_answer_that_was_kept_apart_and_comes_again_is_taken_for_gold_as_for_an_item(world, ann, gold) -> None:
    """It was sent to a closed campaign, and once more after that was opened again."""
    items, secret = claimed(ann), ticket_of_gold(world.ann)
    seen = []
    for is_gold in (False, True):
        body = given(next(item for item in items if (item["slot"] == secret) == is_gold))
        for state in ("closed", "open"):
            Campaign.objects.update(state=state)
            response = post(ann, SUBMIT, body)
            seen.append((response.status_code, response.json()["kept"], response.json()["repeated"]))
    assert seen == [(201, "surplus", False), (201, "label", False)] * 2


@pytest.mark.parametrize(
    ("took", "ends", "they_keep"),
    [
        ([], "given back", True),
        (["ben"], "given back", True),
        (["ben"], "lease over", False),
        (["ben", "cleo"], "lease over", True),
        (["ben", "cleo"], "given back", False),
    ],
)
def test_late_answers_and_reports_have_the_same_words_for_gold(world, as_user, ann, took, ends, they_keep) -> None:
    """The words changed before others took the question: own data and the page of reports had the new ones of items,
    and the old ones of gold.
    """
    url, held, golds = many_with_gold(world, ann)
    campaign = Campaign.objects.get(pool__name="large")
    Campaign.objects.update(gold_percent=1)  # no gold for the others
    if ends == "given back":
        post(ann, RELEASE, {"slots": [item["slot"] for item in held]})
    else:
        for places in (Slot, Check):
            places.objects.filter(state="leased").update(leased_until=timezone.now() - timedelta(seconds=1))
    for item in QuestionTemplate.objects.filter(version=1):
        save_template(item.relation, "Is {subject} new to {object}?", item.tail_question, item.head_question)
    for name in took:
        person = getattr(world, name)
        campaign.members.create(person=person, role="annotator", consented_at=timezone.now())
        theirs = post(as_user(person), url, {"count": len(held) - len(golds)}).json()["items"]
        assert {item["group"] for item in theirs} == {item["group"] for item in held}
        if not they_keep:
            post(as_user(person), RELEASE, {"slots": [item["slot"] for item in theirs]})
    seen: dict[str, set[Any]] = {}
    for item in held:
        report = {"slot": item["slot"], "lease": item["lease"], "client_id": str(uuid4()), "kind": "name"}
        body = given(item)
        assert (post(ann, FLAG, report).status_code, post(ann, SUBMIT, body).status_code) == (201, 201)
        own = ann.get("/account/data.json").json()
        kept = [one for one in own["labels"] + own["surplus_labels"] if one["label"] == body["client_id"]]
        told_now = [(one["words"], "reason" in one) for one in kept], own["reports"][-1]["words"]
        seen.setdefault(item["group"], set()).add(str(told_now))
    assert {len(words) for words in seen.values()} == {1}


@pytest.mark.parametrize("name", ["ben", "ada", "researcher", "manager", "stranger"])
def test_ticket_of_a_colleague_does_not_tell_whether_it_is_a_check(world, as_user, ann, gold, name) -> None:
    """Two people could try each other's tickets: what the site answers is the same for checks and others."""
    held, secret = claimed(ann), ticket_of_gold(world.ann)
    client = as_user(getattr(world, name))
    seen: dict[bool, set[tuple[tuple[int, str], ...]]] = {True: set(), False: set()}
    for item in held:
        known = {"TICKET": item["slot"], "LEASE": item["lease"]}
        flag = {"slot": item["slot"], "lease": item["lease"], "client_id": str(uuid4()), "kind": "words", "text": "x"}
        calls = [
            (SUBMIT, given(item)),
            (SUBMIT, given(item, lease=str(uuid4()))),
            (DECIDE, given(item)),
            (RETURN, given(item, reason="x")),
            (FLAG, flag),
            (RENEW, {"slots": [item["slot"]]}),
            (RELEASE, {"slots": [item["slot"]]}),
        ]
        answers = tuple(told(post(client, url, body), **known) for url, body in calls)
        assert [status for status, _ in answers][:2] != [201, 201]
        seen[item["slot"] == secret].add(answers)
    assert seen[True] == seen[False] and len(seen[True]) == 1


def test_gold_is_told_to_nobody_else(world, as_user, ann, gold) -> None:
    secret = next(item for item in claimed(ann) if item["slot"] == ticket_of_gold(world.ann))
    post(ann, SUBMIT, given(secret, comment="ann-was-here", source_url=MINE))
    for name in ("ben", "ada"):
        client = as_user(getattr(world, name))
        seen = [post(client, CLAIM, {"count": 50}).json(), client.get(OWN).json(), client.get(PROGRESS).json()]
        text = json.dumps(seen)
        assert "ann-was-here" not in text and secret["slot"] not in text
    assert post(as_user(world.ben), SUBMIT, given(secret)).status_code == 404


# -- what the other answered ---------------------------------------------------

OTHERS = ["nobody", "Y", "N", "?", "decided", "reopened", "withdrawn"]


def other_answers(world: World, item: Item, what: str) -> None:
    """Ben, with a telling comment and link, and what came of it."""
    if what == "nobody":
        return
    given_ = what if what in "YN?" else "N"
    slot = slot_for(world.campaign, world.ben, item)
    answer(world.ben, slot, given_, comment="ben-was-here", source_url="https://www.imdb.com/ben-was-here")
    release_all(world.ben)
    if what == "withdrawn":
        withdraw_labels(world.campaign, world.ben)


def afterwards(world: World, item: Item, what: str) -> None:
    if what == "decided":
        decide(world, ada="Y")
    if what == "reopened":
        decide(world, ada="Y")
        item.refresh_from_db()
        reopen_judgement(item)


@pytest.mark.parametrize("when", ["before", "after"])
def test_other_answer_shows_in_nothing_that_can_be_done(world, ann, when) -> None:
    """It came before the own answer, or after it (so that the item is settled, disputed, decided when it is undone)."""
    question = claimed(ann)[0]
    item = Slot.objects.get(ticket=question["slot"]).item
    traces = {}
    for what in OTHERS:
        with transaction.atomic():
            if when == "before":
                other_answers(world, item, what)

            def between(what: str = what) -> None:
                if when == "after":
                    other_answers(world, item, what)
                afterwards(world, item, what)

            traces[what] = trace(ann, question, between)
            states = Item.objects.get(pk=item.pk).state, Slot.objects.filter(item=item, number=3).count()
            transaction.set_rollback(True)
        assert states == {
            "nobody": ("open", 0),
            "withdrawn": ("open", 0),
            "decided": ("settled", 1),
            "reopened": ("disputed", 2),
        }.get(what, ("disputed", 1))
        assert "ben-was-here" not in str(traces[what])
    assert all(traces[what] == traces["nobody"] for what in OTHERS)


@pytest.mark.parametrize("other", ["Y", "N"])
def test_refusal_when_the_window_is_over_is_the_same(world, ann, other) -> None:
    question = claimed(ann)[0]
    item = Slot.objects.get(ticket=question["slot"]).item
    body = given(question)
    post(ann, SUBMIT, body)
    other_answers(world, item, other)
    windows_closed(item)
    refused = post(ann, change_url(body["client_id"]), changed())
    assert (refused.status_code, refused.json()) == (
        409,
        {"error": "This label can no longer be changed. It stays as it is."},
    )
    assert [entry["changeable"] for entry in ann.get(OWN).json()["results"]] == [False]


@pytest.mark.parametrize("other", ["Y", "N", "?"])
def test_late_answer_tells_only_that_somebody_has_the_slot(world, ann, other) -> None:
    question = claimed(ann)[0]
    slot = Slot.objects.get(ticket=question["slot"])
    Slot.objects.filter(pk=slot.pk).update(annotator=world.ben)
    submit(
        world.ben, slot.ticket, lease_of(slot.ticket, world.ben.pk), GivenAnswer(uuid4(), other, LINK, "ben-was-here")
    )
    body = post(ann, SUBMIT, given(question)).json()
    assert body | {"label": ""} == {
        "label": "",
        "kept": "surplus",
        "repeated": False,
        "items": [],
        "sources": {},
        "state": "open",
        "message": "Your time was over and somebody else has this statement. Your answer is kept, but doesn’t count.",
    }


def test_order_and_end_of_questions_do_not_depend_on_answers(world, as_user) -> None:
    """Ann and Ben answer alike, or not, or one of them; Cleo is asked the same in the same order."""
    client = as_user(world.cleo)
    items = list(world.campaign.items.order_by("order"))
    seen = []
    for one, two in (("YYYYYY", "YYY"), ("NNNNNN", "YYY"), ("Y?NY?N", "NNN"), ("??????", "?YN")):
        with transaction.atomic():
            for item, given_ in zip(items, one, strict=True):
                label_and_release(world, item, ann=given_)
            for item, given_ in zip(items[:3], two, strict=True):
                label_and_release(world, item, ben=given_)
            asked = post(client, CLAIM, {"count": 50}).json()
            questions = [(item["slot"], item["question"]) for item in asked["items"]]
            for item in asked["items"]:
                post(client, SUBMIT, given(item, answer="N"))
            end = post(client, CLAIM, {"count": 50}).json()
            (mine,) = own_progress(world.cleo)
            seen.append((questions, end, mine.has_questions, mine.disputes, client.get(PROGRESS).json()))
            transaction.set_rollback(True)
    assert len(seen[0][0]) == 3 and seen[0][1]["items"] == []
    assert all(one == seen[0] for one in seen)


def test_nothing_of_who_began_an_item_or_when_is_told(world, as_user) -> None:
    """Ann and Ben have each begun some; Cleo is told no name, id, number, place or state of them."""
    for number, item in enumerate(world.campaign.items.order_by("order")):
        label_and_release(world, item, **{"ann" if number % 2 else "ben": "Y"})
    body = post(as_user(world.cleo), CLAIM, {"count": 50}).json()
    assert [set(item) for item in body["items"]] == [ITEM] * 6
    assert set(body["campaign"]) == {"pool", "state", "is_open", "evidence_rule", "guidelines_version", "lease_seconds"}
    plain = json.dumps(
        [{key: value for key, value in item.items() if key not in ("slot", "lease", "group")} for item in body["items"]]
    ).lower()
    for word in ("ann", "ben", "order", "number", "state", "started", "secret-system", "rank", "gold"):
        assert f'"{word}' not in plain


READS = (
    "/api/v1/campaigns", "/api/v1/campaigns/p1", OWN, PROGRESS, "/api/v1/schema", "/api/v1/measures", "/api/v1/jobs",
    "/api/v1/campaigns/p1/items", "/api/v1/pools/p1/qrels", "/api/v1/runs",
)  # fmt: skip


def test_what_a_token_can_read_is_the_same_whatever_others_did(world, gold) -> None:
    """Batches, a budget, answers of others, settled and disputed: of none of it anything is read.

    How many questions are left for oneself is the exception: see the next test.
    """
    _, secret = create_token(world.ann, "script", ["label"], 1)
    client = Client(headers={"Authorization": f"Token {secret}", "Accept": "application/json"})
    seen = []
    for what in ("nothing", "everything"):
        with transaction.atomic():
            if what == "everything":
                first, second, *_ = world.campaign.items.order_by("order")
                label_and_release(world, first, ben="Y", cleo="Y")
                label_and_release(world, second, ben="Y", cleo="N")
                Campaign.objects.update(batch_size=2, budget=3, target_tau=0.9, order="random", seed=77)
            answers = [client.get(url) for url in READS]
            told = [(answer.status_code, answer.json()) for answer in answers]
            assert told[READS.index(PROGRESS)][1].pop("left") == (7 if what == "nothing" else 5)
            seen.append(told)
            transaction.set_rollback(True)
    assert seen[0] == seen[1]
    assert [status for status, _ in seen[0]] == [200] * 5 + [403] * 5


def test_what_is_left_tells_nothing_of_answers(world, ann) -> None:
    """It is one less for an item that two others answered, whatever they said; one answer is not seen."""
    item, left = world.campaign.items.order_by("order").first(), {}
    for answers in ("", "Y", "N", "YY", "NN", "YN", "Y?", "??"):
        with transaction.atomic():
            label_and_release(world, item, **dict(zip(("ben", "cleo"), answers, strict=False)))
            left[answers] = ann.get(PROGRESS).json()["left"]
            transaction.set_rollback(True)
    assert left == {answers: 5 if len(answers) == 2 else 6 for answers in left}


def test_tickets_and_groups_follow_no_order(world, ann) -> None:
    """Tickets are random; the key of a group is not its place in the order, and another one in another campaign."""
    slots = Slot.objects.order_by("pk")
    tickets = [slot.ticket for slot in slots]
    assert {ticket.version for ticket in tickets} == {4} and len(set(tickets)) == 12
    assert tickets != sorted(tickets) and tickets != sorted(tickets, reverse=True)
    groups = {item["group"] for item in claimed(ann)}
    assert groups.isdisjoint({"0", "1"}) and len(groups) == 2
    assert {len(group) for group in groups} == {16}


def test_leases_are_of_one_person_and_ticket(world) -> None:
    one, two = Slot.objects.order_by("pk")[:2]
    leases = {lease_of(slot.ticket, user.pk) for slot in (one, two) for user in (world.ann, world.ben)}
    assert len(leases) == 4


# -- adjudicators --------------------------------------------------------------


def test_adjudicator_who_annotates_sees_no_answer_to_what_she_labelled_or_may_label(world, as_user) -> None:
    """Ada labels half of the items, others dispute all; what she is shown as a dispute she is never asked."""
    client = as_user(world.ada)
    items = list(world.campaign.items.order_by("order"))
    for item in items[:3]:
        label_and_release(world, item, ada="Y", ben="N")
    for item in items[3:5]:
        label_and_release(world, item, ann="Y", ben="N")
    Label.objects.update(created_at=timezone.now() - timedelta(minutes=60))
    told_ = post(client, DISPUTED, {"count": 50}).json()
    third = {str(t) for t in Slot.objects.filter(number=3, item__in=items[3:5]).values_list("ticket", flat=True)}
    assert {item["slot"] for item in told_["items"]} == third
    disputes = {item["question"] for item in told_["items"]}
    post(client, RELEASE, {"slots": list(third)})
    withdraw_labels(world.campaign, world.ben)
    asked = {item["question"] for item in claimed(client)}
    assert len(asked) == 1 and asked.isdisjoint(disputes)


def test_own_dispute_shows_neither_in_counts_nor_in_waiting_times(world, as_user) -> None:
    """Ada's label was contradicted: nothing she can reach differs from when it was not."""
    item = world.campaign.items.order_by("order").first()
    client = as_user(world.ada)
    seen = []
    for other in ("Y", "N"):
        with transaction.atomic():
            label_and_release(world, item, ada="Y", ben=other)
            for _ in range(2):
                (mine,) = own_progress(world.ada)
                seen.append(
                    (post(client, DISPUTED).json(), mine.disputes, claimed(client), client.get(PROGRESS).json())
                )
                windows_closed(item)
            transaction.set_rollback(True)
    assert seen[0] == seen[2] and seen[1] == seen[3]
    assert seen[0][0]["opens_in_seconds"] is None


def test_dispute_shows_live_answers_only(world, as_user) -> None:
    """Ann's label was withdrawn, Cleo changed hers, Ben's second answer was kept apart: none of these is shown."""
    item = world.campaign.items.order_by("order").first()
    for user, given_, word in ((world.ann, "Y", "withdrawn"), (world.ben, "N", "ben")):
        slot = slot_for(world.campaign, user, item)
        answer(user, slot, given_, comment=f"{word}-words")
        answer(user, slot, "Y", comment="surplus-words")
        release_all(user)
    withdraw_labels(world.campaign, world.ann)
    slot = slot_for(world.campaign, world.cleo, item)
    old = answer(world.cleo, slot, "N", comment="superseded-words").label
    url = change_url(str(old.client_id))
    assert post(as_user(world.cleo), url, changed("Y", comment="cleo-words")).status_code == 200
    windows_closed(item)
    client = as_user(world.ada)
    (dispute,) = post(client, DISPUTED).json()["items"]
    assert sorted((one["answer"], one["comment"]) for one in dispute["answers"]) == [
        ("N", "ben-words"),
        ("Y", "cleo-words"),
    ]
    assert all(
        set(one) == {"name", "answer", "source_url", "passage", "comment", "quick"} for one in dispute["answers"]
    )
    text = json.dumps([dispute, claimed(client), client.get(OWN).json()])
    for words in ("withdrawn", "superseded", "surplus", '"ann"', '"ben"', '"cleo"'):
        assert words not in text


def test_order_of_the_two_answers_says_not_who_gave_them(world, as_user) -> None:
    item = world.campaign.items.order_by("order").first()
    seen = []
    for first, second in (("ann", "ben"), ("ben", "ann")):
        with transaction.atomic():
            label_and_release(world, item, **{first: "Y", second: "N"})
            windows_closed(item)
            (slot,) = claim_disputed(world.campaign, world.ada)
            (dispute,) = post(as_user(world.ada), DISPUTED).json()["items"]
            seen.append([one["answer"] for one in dispute["answers"]])
            assert slot.item_id == item.pk
            transaction.set_rollback(True)
    assert seen[0] == seen[1]
