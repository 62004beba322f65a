"""Agreement of labels, and the reports of checks."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from itertools import permutations
from uuid import uuid4

import krippendorff
import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from annotation.labelling.assignments import GivenAnswer
from annotation.labelling.submit import change
from annotation.labelling.withdraw import withdraw_labels
from annotation.models import Check, CheckLabel, Label, SurplusLabel
from annotation.quality.annotators import annotators
from annotation.quality.hours import hours
from annotation.quality.kernel import NOTHING, ONE_CATEGORY, Agreement, Coefficient, Intervals, Share
from annotation.quality.reports import (
    WITH_CANT_TELL,
    AgreementReport,
    GroupAgreement,
    agreement_report,
    annotator_numbers,
    gold_report,
    recheck_report,
    surest_low,
    weakest,
    week_of,
)
from annotation.questions.templates import current_template
from pooling.models import PooledTriple, Relation
from tests.annotation.factories import LINK, MONDAY, decide, label_all, label_and_release, make_check, make_gold


def test_agreement_equals_other_packages(world, items):
    ann, ben = "YYNNYN", "YNNNYY"
    label_all(world, items, ann, ben)
    found = agreement_report(world.campaign)
    codes = np.array([["YN".index(answer) for answer in answers] for answers in (ann, ben)])
    alpha = krippendorff.alpha(reliability_data=codes, level_of_measurement="nominal")
    (pair,) = found.pairs
    assert (found.items, found.overall.raw) == (6, Share(4, 6))
    assert found.overall.alpha == Coefficient(pytest.approx(alpha), 6)
    assert found.overall.ac1 == Coefficient(pytest.approx(1 / 3), 6)
    kappa = Coefficient(pytest.approx(cohen_kappa_score(*codes)), 6)
    assert pair == (world.ann.pk, world.ben.pk, Share(4, 6), kappa, None)
    assert found.intervals == Intervals(None, None, None)  # six items are too few


def test_pairs_are_apart_and_what_is_surely_low_comes_first(world, items):
    label_all(world, items[:2], "YN", "NN", ("ann", "ben"))
    label_all(world, items[2:5], "YNY", "YNN", ("cleo", "ann"))
    found = agreement_report(world.campaign).pairs
    assert [(pair.one, pair.other, pair.raw) for pair in found] == [
        (world.ann.pk, world.ben.pk, Share(1, 2)),
        (world.ann.pk, world.cleo.pk, Share(2, 3)),
    ]
    assert [pair.kappa.value for pair in found] == [
        pytest.approx(0.0),
        pytest.approx(cohen_kappa_score(list("YNN"), list("YNY"))),
    ]


def test_kappa_does_not_depend_on_who_was_first(world, items):
    """Ben is first on half of the items: his answers must stay his."""
    label_all(world, items[:3], "YYN", "NNN", ("ann", "ben"))
    label_all(world, items[3:6], "NNY", "YNY", ("ben", "ann"))
    (pair,) = agreement_report(world.campaign).pairs
    assert pair.kappa.value == pytest.approx(cohen_kappa_score(list("YYNYNY"), list("NNNNNY")))


def test_only_items_with_two_live_labels_count(world, items):
    label_all(world, items[:3], "YNY", "YNN")
    label_and_release(world, items[3], ann="Y")  # half labelled
    decide(world, ada="Y")  # a third answer is not part of it
    assert agreement_report(world.campaign).overall.raw == Share(2, 3)
    withdraw_labels(world.campaign, world.ben)
    assert agreement_report(world.campaign).items == 0
    label_and_release(world, items[0], cleo="N")
    found = agreement_report(world.campaign)
    assert (found.items, found.overall.raw) == (1, Share(0, 1))


def test_changed_label_counts_as_it_is_now(world, items):
    label_and_release(world, items[0], ann="Y", ben="N")
    label = Label.objects.get(annotator=world.ben)
    change(world.ben, label.client_id, GivenAnswer(uuid4(), "Y", LINK))
    assert agreement_report(world.campaign).overall.raw == Share(1, 1)


def test_checks_and_late_answers_are_not_part_of_agreement(world, items):
    label_and_release(world, items[0], ann="Y", ben="Y")
    SurplusLabel.objects.create(
        item=items[0],
        annotator=world.cleo,
        answer="N",
        client_id=uuid4(),
        template=current_template(Relation.objects.get()),
    )
    make_check(world, world.cleo, "N", gold=make_gold(world, 3))
    assert agreement_report(world.campaign).overall.raw == Share(1, 1)


def test_cant_tell_is_left_out_or_an_answer(world, items):
    label_all(world, items[:4], "YN?Y", "YN?N")
    assert agreement_report(world.campaign).overall.raw == Share(2, 3)
    with_it = agreement_report(world.campaign, categories=WITH_CANT_TELL).overall
    codes = np.array([[0, 1, 2, 0], [0, 1, 2, 1]])
    alpha = krippendorff.alpha(reliability_data=codes, level_of_measurement="nominal")
    assert (with_it.raw, with_it.alpha) == (Share(3, 4), Coefficient(pytest.approx(alpha), 4))


@pytest.mark.parametrize("categories", ["YN", WITH_CANT_TELL])
def test_table_of_answers_has_every_item_once(world, items, categories):
    label_all(world, items, "YNYN??", "YNNY?Y")
    found = agreement_report(world.campaign, categories=categories).answers
    assert [(pair.one, pair.other, pair.n) for pair in found] == [
        ("yes", "yes", 1),
        ("yes", "no", 2),
        ("yes", "can't tell", 1),
        ("no", "no", 1),
        ("no", "can't tell", 0),
        ("can't tell", "can't tell", 1),
    ]


def test_same_answer_everywhere_is_undefined(world, items):
    label_all(world, items[:2], "NN", "NN")
    found = agreement_report(world.campaign)
    undefined = Coefficient(None, 2, ONE_CATEGORY)
    assert found.overall == (Share(2, 2), undefined, undefined)
    assert found.pairs[0].kappa == undefined


def test_nothing_labelled_is_undefined(world):
    found = agreement_report(world.campaign)
    undefined = Coefficient(None, 0, NOTHING)
    assert found.overall == (Share(0, 0), undefined, undefined)
    assert (found.items, found.pairs, found.relations, found.weeks) == (0, [], [], [])


def test_unknown_categories_are_refused(world):
    with pytest.raises(ValueError, match="categories 'Y'"):
        agreement_report(world.campaign, categories="Y")


def test_by_week_of_the_second_label(world, items):
    label_all(world, items[:3], "YNY", "YNN")
    for item, days in zip(items[:3], (0, 7, 7), strict=True):
        first, second = Label.objects.filter(item=item).order_by("pk")
        Label.objects.filter(pk=first.pk).update(created_at=MONDAY - timedelta(days=90))
        Label.objects.filter(pk=second.pk).update(created_at=MONDAY + timedelta(days=days))
    weeks = agreement_report(world.campaign).weeks
    assert [(week.name, week.agreement.raw) for week in weeks] == [("2026-W10", Share(1, 1)), ("2026-W11", Share(1, 2))]


def test_by_relation(world, items):
    other = Relation.objects.create(graph=world.pool.graph, index=1, key="<b>born in</b>")
    label_all(world, items[:3], "YNY", "YNN")
    PooledTriple.objects.filter(pk=items[2].triple_id).update(relation=other.index)
    relations = agreement_report(world.campaign).relations
    assert [(group.name, group.agreement.raw) for group in relations] == [
        ("<b>born in</b>", Share(0, 1)),
        ("lived in", Share(2, 2)),
    ]


def test_few_items_are_not_first_by_chance_and_none_is_last():
    # 95 % intervals (Wilson): 61 of 100 ends at 0.700, 0 of 1 at 0.793, 95 of 100 at 0.978
    shares = [Share(95, 100), Share(0, 0), Share(0, 1), Share(61, 100)]
    assert sorted(shares, key=surest_low) == [Share(61, 100), Share(0, 1), Share(95, 100), Share(0, 0)]


def test_weakest_relation_is_surely_below_all_items():
    def group(name: str, hits: int, n: int) -> GroupAgreement:
        return GroupAgreement(name, Agreement(Share(hits, n), Coefficient(None, n), Coefficient(None, n)))

    overall = group("all", 900, 1000).agreement  # from 0.880 on
    few, near, low, lower = group("few", 0, 19), group("near", 85, 100), group("low", 61, 100), group("lower", 50, 100)
    report = AgreementReport(1000, overall, Intervals(None, None, None), [], [few, near, low, lower], [], [])
    assert weakest(report) == lower
    assert weakest(replace(report, relations=[few, near])) is None
    assert weakest(replace(report, overall=group("all", 0, 0).agreement)) is None


def test_another_campaign_is_not_part_of_it(world, items, tmp_path):
    from annotation.campaigns.lifecycle import open_campaign
    from tests.annotation.factories import make_pool

    other = open_campaign(make_pool(world.pool.graph, "p2"))
    label_and_release(world, items[0], ann="Y", ben="Y")
    assert (agreement_report(other).items, annotators(other), hours(other)) == (0, [], [])


@pytest.mark.parametrize("count", [1, 3])
def test_agreement_queries_do_not_grow(world, items, count, django_assert_num_queries):
    for item, people in zip(items[:count], permutations(("ann", "ben", "cleo"), 2), strict=False):
        label_and_release(world, item, **dict.fromkeys(people, "Y"))
    with django_assert_num_queries(2):
        agreement_report(world.campaign)


@pytest.mark.parametrize(
    ("when", "week"),
    [(MONDAY, "2026-W10"),
     (datetime(2027, 1, 3, tzinfo=UTC), "2026-W53"), (datetime(2024, 12, 30, tzinfo=UTC), "2025-W01")],
)  # fmt: skip
def test_week_of_the_year_it_belongs_to(when, week):
    assert week_of(when) == week


def test_numbers_of_annotators_stay(world, items):
    label_and_release(world, items[0], cleo="Y")
    label_and_release(world, items[1], ben="Y")
    assert annotator_numbers(world.campaign) == {world.cleo.pk: 1, world.ben.pk: 2}
    withdraw_labels(world.campaign, world.cleo)
    label_and_release(world, items[2], ann="Y")  # the smallest id comes last
    assert annotator_numbers(world.campaign) == {world.cleo.pk: 1, world.ben.pk: 2, world.ann.pk: 3}


def test_gold_report_by_item(world):
    first, second, third = (make_gold(world, tail, known) for tail, known in ((3, "Y"), (4, "N"), (5, "Y")))
    for person, one, other in ((world.ann, "Y", "N"), (world.ben, "N", ""), (world.cleo, "?", "Y")):
        make_check(world, person, one, gold=first)
        make_check(world, person, other, gold=second)
    assert gold_report(world.campaign.golds.all()) == [
        (first, 3, 3, Share(1, 3), 1),
        (second, 3, 2, Share(1, 2), 0),
        (third, 0, 0, Share(0, 0), 0),
    ]


def test_recheck_report_by_sample(world, items):
    for item, expected, given in zip(items, "YYYNNN", ["Y", "N", "", "N", "?", "N"], strict=True):
        make_check(world, world.ada, given, item=item, expected=expected)
    Check.objects.update(created_at=MONDAY)
    make_check(world, world.cleo, item=items[0], expected="Y")
    Check.objects.filter(person=world.cleo).update(created_at=MONDAY + timedelta(days=1))
    none = Share(0, 0)
    assert recheck_report(world.campaign) == [
        (world.cleo, date(2026, 3, 3), 1, 0, none, none, none, 0),
        (world.ada, date(2026, 3, 2), 6, 5, Share(3, 5), Share(1, 2), Share(2, 3), 1),
    ]


def test_changed_answer_to_a_check_counts_once_and_as_it_is_now(world, items):
    gold = make_gold(world, 3, "Y")
    for check in (make_check(world, world.ann, "N", gold=gold), make_check(world, world.ada, "N", item=items[0])):
        first = check.labels.get()
        CheckLabel.objects.create(
            check_item=check,
            annotator=check.person,
            answer="Y",
            client_id=uuid4(),
            supersedes=first,
            template=first.template,
        )
    assert gold_report(world.campaign.golds.all()) == [(gold, 1, 1, Share(1, 1), 0)]
    (sample,) = recheck_report(world.campaign)
    assert (sample.answered, sample.both) == (1, Share(1, 1))


@pytest.mark.parametrize("count", [1, 3])
def test_check_report_queries_do_not_grow(world, items, count, django_assert_num_queries):
    for person in (world.ann, world.ben, world.cleo)[:count]:
        make_check(world, person, "Y", gold=make_gold(world, 3 + person.pk % 7))
        make_check(world, person, "Y", item=items[0])
    with django_assert_num_queries(2):  # one of them for the gold items themselves
        gold_report(world.campaign.golds.all())
    with django_assert_num_queries(2):
        recheck_report(world.campaign)
