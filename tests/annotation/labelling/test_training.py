"""Training: who must pass it, what is drawn, what passes, and that it enters nothing."""

from __future__ import annotations

import pytest

from annotation.campaigns.lifecycle import set_rules
from annotation.errors import AnswerRefused, CampaignError, TrainingNeeded
from annotation.labelling.own_labels import label_counts, own_progress
from annotation.labelling.training import (
    answer_training,
    check_trained,
    let_through,
    needed,
    needs_training,
    start_round,
    trainees,
)
from annotation.models import Campaign, Check, CheckLabel, Gold, Label, Training
from annotation.people.own_data import own_data
from annotation.quality.annotators import annotators
from annotation.quality.checks import claim_questions, gold_from_file
from annotation.quality.hours import hours
from core.models import AuditEntry
from tests.annotation.factories import World, label_and_release, make_check, make_gold, put_last


@pytest.fixture
def training(world: World) -> Campaign:
    """Ten gold items, five of each answer; a training of four, which three correct answers pass."""
    for tail, known in enumerate("YNYNYNYNYN"):
        make_gold(world, tail, known)
    set_rules(world.campaign, training_items=4, training_percent=75)
    return world.campaign


def answer_round(campaign: Campaign, user, right: int):
    """Answer a whole round, `right` of them correctly."""
    own = start_round(campaign, user)
    for number, question in enumerate(own.questions):
        wrong = "N" if question.gold.answer == "Y" else "Y"
        answer_training(campaign, user, question.pk, question.gold.answer if number < right else wrong)
    return own


def test_nobody_is_given_real_questions_before_the_pass_mark(world: World, training: Campaign):
    assert needs_training(training, world.ann)
    with pytest.raises(TrainingNeeded):
        check_trained(training, world.ann)
    answer_round(training, world.ann, 2)
    assert needs_training(training, world.ann)
    answer_round(training, world.ann, 3)
    check_trained(training, world.ann)
    assert needs_training(training, world.ben)


def test_without_training_nobody_needs_it_and_labels_given_before_are_enough(world: World, items):
    assert not needs_training(world.campaign, world.ann)
    label_and_release(world, items[0], ann="Y")
    Campaign.objects.update(training_items=4)
    world.campaign.refresh_from_db()
    assert [needs_training(world.campaign, person) for person in (world.ann, world.ben)] == [False, True]


@pytest.mark.parametrize(("size", "percent", "count"), [(10, 80, 8), (3, 50, 2), (7, 100, 7), (5, 0, 0), (10, 81, 9)])
def test_the_pass_mark_is_rounded_up(size: int, percent: int, count: int):
    assert needed(size, percent) == count


def test_a_round_is_half_yes_and_half_no_and_the_next_has_other_questions(world: World, training: Campaign):
    first = answer_round(training, world.ann, 0)
    second = answer_round(training, world.ann, 0)
    assert [sorted(one.gold.answer for one in own.questions) for own in (first, second)] == [list("NNYY")] * 2
    assert not {one.gold_id for one in first.questions} & {one.gold_id for one in second.questions}
    assert [one.place for one in second.questions] == [1, 2, 3, 4]
    with pytest.raises(AnswerRefused, match="no other training statements"):
        start_round(training, world.ann)  # two are left


def test_a_round_is_drawn_once_and_by_person(world: World, training: Campaign):
    own = start_round(training, world.ann)
    assert [one.pk for one in start_round(training, world.ann).questions] == [one.pk for one in own.questions]
    golds = [one.gold_id for one in own.questions]
    Training.objects.all().delete()
    assert [one.gold_id for one in start_round(training, world.ann).questions] == golds
    assert [one.gold_id for one in start_round(training, world.ben).questions] != golds


def test_the_first_answer_stays(world: World, training: Campaign):
    question = start_round(training, world.ann).questions[0]
    assert answer_training(training, world.ann, question.pk, "?").answer == "?"
    assert answer_training(training, world.ann, question.pk, question.gold.answer).answer == "?"
    with pytest.raises(AnswerRefused):
        answer_training(training, world.ben, question.pk, "Y")


def test_training_and_unmarked_gold_never_share_an_item(world: World, training: Campaign):
    """What training has told is not asked as a check, and what was a check is not in training."""
    Gold.objects.all().delete()
    at_ann, at_ben = make_gold(world, 3), make_gold(world, 4)
    Campaign.objects.update(training_items=1, gold_percent=50)
    training.refresh_from_db()
    items = training.items.filter(side="tail")
    put_last(training, side="tail")
    head = items[0].triple.head
    Gold.objects.update(head=head)
    make_check(world, world.ann, gold=at_ben)
    assert [one.gold_id for one in start_round(training, world.ann).questions] == [at_ann.pk]
    claim_questions(training, world.ann, 50)
    claim_questions(training, world.cleo, 50)
    checks = Check.objects.exclude(gold=None).order_by("person", "gold").values_list("person", "gold")
    assert list(checks) == [(world.ann.pk, at_ben.pk), (world.cleo.pk, at_ann.pk), (world.cleo.pk, at_ben.pk)]


def test_its_answers_enter_nothing(world: World, training: Campaign):
    answer_round(training, world.ann, 4)
    assert not Label.objects.exists() and not CheckLabel.objects.exists()
    assert label_counts(world.ann, training)[:2] == (0, 0)
    assert annotators(training) == [] and hours(training) == []
    told = own_data(world.ann)["training"]
    assert [(row["round"], row["pool"]) for row in told] == [(1, "p1")] * 4 and not own_data(world.ben)["training"]


def test_a_manager_sees_everybody_and_lets_a_person_through(world: World, training: Campaign):
    answer_round(training, world.ann, 1)
    answer_round(training, world.ann, 1)
    answer_round(training, world.ben, 4)
    start_round(training, world.cleo)
    rows = {row.person.username: row for row in trainees(training)}
    assert list(rows) == ["ada", "ann", "ben", "cleo"]
    state = {name: (row.is_needed, row.has_missed, row.is_stuck) for name, row in rows.items()}
    assert state == {
        "ada": (True, False, False),
        "ann": (True, True, True),
        "ben": (False, False, False),
        "cleo": (True, False, False),
    }
    assert rows["ann"].round and (rows["ann"].round.number, rows["ann"].round.correct) == (2, 1)
    let_through(training, world.ann, by=world.manager)
    check_trained(training, world.ann)
    assert AuditEntry.objects.filter(act="training-waived", subject=world.ann, person=world.manager).count() == 1
    with pytest.raises(CampaignError):
        let_through(training, world.ann, by=world.manager)
    with pytest.raises(CampaignError):
        let_through(training, world.stranger, by=world.manager)


@pytest.mark.parametrize("people", [1, 3])
def test_trainees_queries_do_not_grow(world: World, training: Campaign, people: int, django_assert_num_queries):
    for name in ("ann", "ben", "cleo")[:people]:
        start_round(training, getattr(world, name))
    with django_assert_num_queries(6):
        assert len(trainees(training)) == 4


def test_training_needs_as_many_gold_items(world: World):
    with pytest.raises(CampaignError, match="you asked for 4, and there are 0"):
        set_rules(world.campaign, training_items=4)


def test_the_first_page_says_how_many_questions(world: World, training: Campaign):
    assert [row.training for row in own_progress(world.ann)] == [4]
    answer_round(training, world.ann, 4)
    assert [row.training for row in own_progress(world.ann)] == [0]


def test_a_gold_file_brings_sources(world: World, tmp_path):
    file = tmp_path / "gold.tsv"
    file.write_text("p1\tlived_in\tc1\tY\tzoe\thttps://example.org/p1\n")
    gold_from_file(world.campaign, file)
    assert Gold.objects.get().source_url == "https://example.org/p1"
