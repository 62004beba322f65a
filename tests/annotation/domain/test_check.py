"""Gold items and re-checks: who is asked what and when, and that it enters nothing."""

from uuid import uuid4

import pytest
from django.db import transaction

from annotation.domain.campaign import open_campaign
from annotation.domain.check import (
    claim_questions,
    draw_recheck,
    gold_from_file,
    gold_from_pool,
    question_of,
    recheck_choices,
    set_gold_active,
)
from annotation.domain.judgement import current_verdicts, labels_version, live_labels
from annotation.domain.label import change
from annotation.domain.progress import label_counts
from annotation.domain.quality import agreement_report
from annotation.domain.queue import release
from annotation.errors import CampaignError
from annotation.models import Campaign, Check, CheckLabel, Gold, Item, Judgement, Label, Slot, SurplusLabel
from evaluation.domain.qrels import freeze_qrels
from pooling.artifacts import artifact_path
from pooling.domain.graph import open_graph
from pooling.enums import PoolOrigin, PoolState
from pooling.models import Pool, PooledTriple
from tests.annotation.answered import label_all
from tests.annotation.world import World, answer, findings


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
def two_golds(world, monkeypatch) -> tuple[Gold, Gold]:
    """One of the tail question of p1, which has items, and one of a question of its own; every slot draws one."""
    monkeypatch.setattr("annotation.domain.check._luck", lambda *_: 0.0)
    index = open_graph(world.pool.graph).entity_index
    set_percent(world, 50)
    return (
        make_gold(world.campaign, index["p1"], index["c7"]),
        make_gold(world.campaign, index["p9"], index["c2"], known="N"),
    )


@pytest.fixture
def large(world) -> Campaign:
    """400 items in 40 groups, and 400 gold items of other questions."""
    pool = Pool.objects.create(
        graph=world.pool.graph, name="large", origin=PoolOrigin.BUILT, state=PoolState.READY, depth=9,
        seed_source="test", contributors=["a"],
    )  # fmt: skip
    PooledTriple.objects.bulk_create(
        PooledTriple(
            pool=pool, head=i % 10, relation=0, tail=i // 10, depth=1, provenance=findings((0, 1, 1))
        )
        for i in range(400)
    )
    campaign = open_campaign(pool, seed=1)
    Gold.objects.bulk_create(
        Gold(campaign=campaign, head=i, relation=0, tail=1000, side="tail", answer="Y", origin="file")
        for i in range(400)
    )
    campaign.members.create(person=world.ann, role="annotator")
    return campaign


def take_all(campaign: Campaign, user) -> int:
    """Claim until nothing is left; how many checks came."""
    while slots := [place for place in claim_questions(campaign, user, 50) if isinstance(place, Slot)]:
        Slot.objects.filter(pk__in=[slot.pk for slot in slots]).update(state="answered")
    return Check.objects.filter(campaign=campaign, person=user).count()


# -- gold: how many, where -----------------------------------------------------


@pytest.mark.parametrize(("percent", "low", "high"), [(0, 0, 0), (20, 40, 120), (50, 150, 250)])
def test_gold_comes_at_the_chosen_rate(world, large, percent, low, high) -> None:
    """20 of 100: a mean of 80 in 400, standard deviation 8."""
    Campaign.objects.update(gold_percent=percent)
    large.refresh_from_db()
    assert low <= take_all(large, world.ann) <= high


def test_gold_is_drawn_by_the_seed_of_the_campaign(world, large) -> None:
    def drawn(seed: int) -> list[tuple[int, int]]:
        Campaign.objects.update(gold_percent=30, seed=seed)
        large.refresh_from_db()
        with transaction.atomic():
            take_all(large, world.ann)
            found = list(Check.objects.order_by("gold").values_list("gold", "order"))
            transaction.set_rollback(True)
        return found

    first = drawn(1)
    assert len(first) > 50
    assert drawn(1) == first != drawn(2)


def test_gold_of_the_same_question_stands_among_its_candidates(world, two_golds) -> None:
    places = claim_questions(world.campaign, world.ann, 50)
    questions = [question_of(place.item if isinstance(place, Slot) else place) for place in places]
    assert kinds(places).count("c") == 2
    for question in set(questions):  # those of one question are neighbours
        at = [i for i, asked in enumerate(questions) if asked == question]
        assert at == list(range(at[0], at[0] + len(at)))
    same = next(place for place in places if isinstance(place, Check) and place.gold == two_golds[0])
    assert questions.count(question_of(same)) == 4
    assert not isinstance(places[questions.index(question_of(same))], Check)  # it is not the first of them


def test_gold_of_another_question_comes_after_the_group(world, two_golds) -> None:
    two_golds[0].delete()
    places = claim_questions(world.campaign, world.ann, 1)
    assert kinds(places) == "sssc"
    assert places[-1].order == max(place.item.order for place in places[:3])


def test_gold_never_stands_apart_from_its_question_when_that_is_in_hand(world, two_golds) -> None:
    """Both groups are held, and each has only gold of the other: it goes with its own question or not at all."""
    two_golds[1].delete()
    index = open_graph(world.pool.graph).entity_index
    for number in range(8):
        make_gold(world.campaign, index["p1"], 100 + number)
    places = claim_questions(world.campaign, world.ann, 50)
    questions = [question_of(place.item if isinstance(place, Slot) else place) for place in places]
    assert len({q for i, q in enumerate(questions) if i == 0 or questions[i - 1] != q}) == sum(
        i == 0 or questions[i - 1] != q for i, q in enumerate(questions)
    )
    assert (
        kinds(places).count("c") == 3
    )  # the three slots of that question; the others drew nothing that fits


def test_check_held_from_before_joins_its_question(world, two_golds) -> None:
    """Gold of p1's question came alone, as another one's; then p1's candidates are given out."""
    set_percent(world, 0)
    question = question_of(two_golds[0])
    others = [item.order for item in world.campaign.items.all() if question_of(item) != question]
    far = max(others) if max(others) == 5 else min(others)
    check = Check.objects.create(
        campaign=world.campaign, kind="gold", person=world.ann, gold=two_golds[0], expected="Y", order=far,
        state="leased", template=None,
    )  # fmt: skip
    places = claim_questions(world.campaign, world.ann, 50)
    at = [
        i
        for i, place in enumerate(places)
        if question_of(place.item if isinstance(place, Slot) else place) == question_of(check)
    ]
    assert len(at) == 4 and at == list(range(at[0], at[0] + 4))


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
    make_gold(world.campaign, 50, 51)
    first = claim_questions(world.campaign, world.ann, 1)
    again = claim_questions(world.campaign, world.ann, 1)
    assert [place.ticket for place in first] == [place.ticket for place in again]


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
    change(world.ann, mine.client_id, uuid4(), "Y", mine.source_url)
    assert CheckLabel.objects.count() == 5
    assert Label.objects.count() == SurplusLabel.objects.count() == live_labels().count() == 0
    assert (Item.objects.count(), Slot.objects.count()) == (6, 12)
    assert (Judgement.objects.count(), labels_version(world.pool)) == (0, "")
    assert len(current_verdicts(world.pool).triple_id) == 0
    assert repr(agreement_report(world.campaign)) == before
    assert label_counts(world.ann, world.campaign) == (2, 2)


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
            campaign=world.campaign, kind="gold", person=world.cleo, gold=gold, expected="Y", order=0,
            state="leased", template=Slot.objects.exclude(template=None).first().template,
        )  # fmt: skip
        answer(world.cleo, check, "N")
    assert written("after") == before and CheckLabel.objects.count() == 2


# -- gold: where it comes from -------------------------------------------------


def test_gold_from_pool_takes_seeds_and_triples_filtered_for_their_type(world) -> None:
    assert gold_from_pool(world.campaign, positives=1, negatives=1, by=world.manager) == (2, 0)
    index = open_graph(world.pool.graph).entity_index
    assert {(g.head, g.tail, g.answer, g.origin, g.side) for g in Gold.objects.all()} == {
        (index["p1"], index["c7"], "Y", "seed", "tail"), (index["p9"], index["c2"], "N", "filter", "tail"),
    }  # fmt: skip
    assert gold_from_pool(world.campaign, positives=1, negatives=1) == (0, 2)
    with pytest.raises(CampaignError, match="2 gold items of triples seed: the pool has 1"):
        gold_from_pool(world.campaign, positives=2, negatives=0)


def test_gold_from_a_file_is_all_or_nothing_and_names_its_lines(world, tmp_path) -> None:
    names = open_graph(world.pool.graph).entities
    item = world.campaign.items.select_related("triple").first().triple
    path = tmp_path / "gold.tsv"
    good = "p5\tlived_in\tc0\tY\n"
    path.write_text(
        f"{good}nobody\tlived_in\tc0\tN\np5\tlived_in\tc1\t?\n{names[item.head]}\tlived_in\t{names[item.tail]}\tY\n"
    )
    with pytest.raises(CampaignError) as error:
        gold_from_file(world.campaign, path)
    for words in ("gold.tsv:2: the graph does not have head", "gold.tsv:3: a gold item has answer Y or N",
                  "gold.tsv:4: people label this triple", "no gold item was added"):  # fmt: skip
        assert words in str(error.value)
    assert Gold.objects.count() == 0
    path.write_text(good)
    assert gold_from_file(world.campaign, path) == (1, 0)


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


@pytest.mark.parametrize(
    ("size", "who", "words"), [(0, "cleo", "at least one"), (1, "stranger", "is no member")]
)
def test_recheck_refuses(world, judged, size, who, words) -> None:
    with pytest.raises(CampaignError, match=words):
        draw_recheck(world.campaign, getattr(world, who), size)
    assert Check.objects.count() == 0


def test_answer_to_a_recheck_is_kept_and_the_judgement_stays(world, judged) -> None:
    draw_recheck(world.campaign, world.cleo, 5)
    before = (
        labels_version(world.pool),
        list(Judgement.objects.order_by("pk").values_list("verdict", "decided_at")),
    )
    places = [place for place in claim_questions(world.campaign, world.cleo, 50) if isinstance(place, Check)]
    assert len(places) == 5
    for check in places:
        answer(world.cleo, check, "N" if check.expected == "Y" else "Y")
    assert CheckLabel.objects.filter(annotator=world.cleo).count() == 5
    after = (
        labels_version(world.pool),
        list(Judgement.objects.order_by("pk").values_list("verdict", "decided_at")),
    )
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
