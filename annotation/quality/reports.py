"""Report how far people agree with each other, with gold answers, and with an expert who judges again."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import combinations_with_replacement, pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
from django.contrib.auth.models import User
from django.db.models import Count, F, Min, Q

from annotation.enums import Answer, CheckKind, SlotState, Verdict
from annotation.judging.judgements import live_labels
from annotation.models import Campaign, Check, CheckLabel, Gold, Label
from annotation.models.slot import ADJUDICATION
from annotation.quality.checks import recheck_choices
from annotation.quality.kernel import (
    MISSING,
    Agreement,
    Coefficient,
    Intervals,
    Ints,
    Share,
    agreement,
    bootstrap,
    cohen_kappa,
)
from annotation.questions.templates import statements_now
from pooling.questions.relation_names import choices_in_words

YES_NO = "YN"  # an item with a can't tell is left out
LEAST_ITEMS = 20  # of a relation that is named as the lowest: fewer say little of it
SEED = 0  # of the bootstrap: the same labels always have the same intervals
WITH_CANT_TELL = "YN?"  # can't tell is an answer like the others

Key = TypeVar("Key", bound=Any)


class PairAgreement(NamedTuple):
    """Two people, by id, on the items that both labelled."""

    one: int
    other: int
    raw: Share
    kappa: Coefficient
    interval: tuple[float, float] | None = None  # of kappa


class GroupAgreement(NamedTuple):
    name: str
    agreement: Agreement
    intervals: Intervals = Intervals(None, None, None)
    relation: int | None = None  # its index in the graph; None of a week


class AnswerPair(NamedTuple):
    """How many items have these two answers, whoever gave which."""

    one: str
    other: str
    n: int


@dataclass(frozen=True)
class AgreementReport:
    """Agreement of the two plain labels of an item, without adjudicators, checks and surplus answers."""

    items: int  # with two live labels
    overall: Agreement
    intervals: Intervals  # of the coefficients over all
    pairs: list[PairAgreement]  # in the order of `surest_low`, like relations
    relations: list[GroupAgreement]
    weeks: list[GroupAgreement]  # of the later label, in order
    answers: list[AnswerPair]


class _DoubleLabels(NamedTuple):
    """Items with two live labels. The first answer of each is of the person with the smaller id."""

    first: Ints
    second: Ints
    people: list[tuple[int, int]]
    relations: list[int]
    weeks: list[str]


def agreement_report(campaign: Campaign, *, categories: str = YES_NO) -> AgreementReport:
    """Return agreement in all, by pair of people, by relation and by week. ValueError for unknown categories."""
    if categories not in (YES_NO, WITH_CANT_TELL):
        raise ValueError(f"categories {categories!r}: {YES_NO!r} or {WITH_CANT_TELL!r}")
    doubles = _double_labels(campaign)
    names = dict(choices_in_words((one.index, one.name, one.key) for one in campaign.pool.graph.relations.all()))
    answers = Counter(zip(doubles.first.tolist(), doubles.second.tolist(), strict=True))
    # the last of the three codes is can't tell
    size = len(categories)
    first, second = (np.where(codes < size, codes, MISSING) for codes in (doubles.first, doubles.second))

    def of(rows: Ints) -> Agreement:
        return agreement(first[rows], second[rows], size)

    def intervals(rows: Ints | slice = slice(None)) -> Intervals:
        # a generator of their own: an interval does not depend on the other groups
        return bootstrap(first[rows], second[rows], size, np.random.default_rng(SEED))

    pairs = [
        PairAgreement(*people, of(rows).raw, cohen_kappa(first[rows], second[rows], size), intervals(rows).kappa)
        for people, rows in _rows_by_key(doubles.people)
    ]

    def groups(of_item: Sequence[Key], name: Callable[[Key], str]) -> list[GroupAgreement]:
        return [GroupAgreement(name(key), of(rows), intervals(rows)) for key, rows in _rows_by_key(of_item)]

    indexes = sorted(set(doubles.relations))  # as groups are
    relations = [
        group._replace(relation=index)
        for index, group in zip(indexes, groups(doubles.relations, names.__getitem__), strict=True)
    ]
    return AgreementReport(
        items=first.size,
        overall=agreement(first, second, size),
        intervals=intervals(),
        pairs=sorted(pairs, key=lambda pair: surest_low(pair.raw)),
        relations=sorted(relations, key=lambda group: (*surest_low(group.agreement.raw), group.name)),
        weeks=groups(doubles.weeks, str),
        answers=[
            AnswerPair(str(one.label), str(other.label), answers[i, j] + (answers[j, i] if i != j else 0))
            for (i, one), (j, other) in combinations_with_replacement(enumerate(Answer), 2)
        ],
    )


def surest_low(share: Share) -> tuple[float, float]:
    """Return a sorting key that puts a share first that is surely low: by the upper end of its 95 % interval.

    A share of few items is not first by chance alone; one of none is last.
    """
    return (share.interval[1], share.value or 0.0) if share.interval else (2.0, 0.0)


def lowest(report: AgreementReport, least: int = LEAST_ITEMS) -> GroupAgreement | None:
    """Return the relation of at least `least` items that is first by `surest_low`; None if there is none."""
    enough = (group for group in report.relations if group.agreement.raw.n >= least)
    return min(enough, key=lambda group: surest_low(group.agreement.raw), default=None)


def weakest(report: AgreementReport, least: int = LEAST_ITEMS) -> GroupAgreement | None:
    """Return the relation, of at least `least` items, on which people surely agree less than over all; None if none.

    Surely: its 95 % interval ends below that of all items.
    """
    overall, found = report.overall.raw.interval, lowest(report, least)
    if found is None or overall is None:
        return None
    return found if surest_low(found.agreement.raw)[0] < overall[0] else None


def _double_labels(campaign: Campaign) -> _DoubleLabels:
    rows = (
        live_labels()
        .filter(item__campaign=campaign)
        .exclude(slot__number=ADJUDICATION)
        .order_by("item_id", "annotator_id")
        .values_list("item_id", "annotator_id", "answer", "created_at", "item__triple__relation")
    )
    codes = {answer: code for code, answer in enumerate(Answer.values)}
    found: list[tuple[int, int]] = []
    people, relations, weeks = [], [], []
    for (item, one, first, early, relation), (again, other, second, late, _) in pairwise(rows.iterator()):
        if item == again:
            found.append((codes[first], codes[second]))
            people.append((one, other))
            relations.append(relation)
            weeks.append(week_of(max(early, late)))
    array = np.array(found, dtype=np.int64).reshape(-1, 2)
    return _DoubleLabels(array[:, 0], array[:, 1], people, relations, weeks)


def _rows_by_key(of_item: Sequence[Key]) -> list[tuple[Key, Ints]]:
    """Return each key, in order, with the positions of its items."""
    places: dict[Key, list[int]] = defaultdict(list)
    for place, key in enumerate(of_item):
        places[key].append(place)
    return [(key, np.array(places[key])) for key in sorted(places)]


def week_of(when: datetime) -> str:
    """Return the ISO week of a time in UTC: 2026-W07."""
    year, week, _ = when.isocalendar()
    return f"{year}-W{week:02d}"


def annotator_numbers(campaign: Campaign) -> dict[int, int]:
    """Return person id -> a number from 1, by first label, for readers who may not know names.

    It never changes.
    """
    first = (
        Label.objects.filter(item__campaign=campaign).order_by().values_list("annotator_id").annotate(first=Min("id"))
    )
    ranked = sorted(first, key=lambda row: row[1])
    return {person: number for number, (person, _) in enumerate(ranked, 1)}


# -- checks ------------------------------------------------------------------------------------------------------


class GoldResult(NamedTuple):
    """How people answered one gold item; can't tell is not correct."""

    gold: Gold
    asked: int  # people who hold it or answered it
    answered: int
    correct: Share
    cant_tell: int


def gold_report(golds: Iterable[Gold]) -> list[GoldResult]:
    """Return the gold items, in the given order, with how people answered them; one query."""
    golds = list(golds)
    current = Q(labels__isnull=False, labels__superseded_by=None)
    checks = Check.objects.filter(gold__in=[gold.pk for gold in golds])
    checks = checks.exclude(state__in=[SlotState.FREE, SlotState.WITHDRAWN]).order_by()
    counts = {
        gold: counted
        for gold, *counted in checks.values_list("gold").annotate(
            given=Count("pk", distinct=True),
            answered=Count("pk", filter=current),
            correct=Count("pk", filter=current & Q(labels__answer=F("expected"))),
            cant_tell=Count("pk", filter=current & Q(labels__answer=Answer.CANT_TELL)),
        )
    }
    results = []
    for gold in golds:
        asked, answered, correct, cant_tell = counts.get(gold.pk, (0, 0, 0, 0))
        results.append(GoldResult(gold, asked, answered, Share(correct, answered), cant_tell))
    return results


class RecheckResult(NamedTuple):
    """A sample of final judgements that one person judged again; can't tell is not agreement."""

    person: User
    drawn_on: date
    drawn: int
    answered: int
    both: Share
    positive: Share  # of the judgements that were positive when the sample was drawn
    negative: Share
    cant_tell: int


def recheck_report(campaign: Campaign) -> list[RecheckResult]:
    """Return each re-check sample, newest first. A sample is what one person was given on one day (UTC)."""
    current = CheckLabel.objects.filter(superseded_by=None, check_item__campaign=campaign)
    answers = dict(current.filter(check_item__kind=CheckKind.RECHECK).values_list("check_item", "answer"))
    samples: dict[tuple[date, int], list[Check]] = defaultdict(list)
    checks = Check.objects.filter(campaign=campaign, kind=CheckKind.RECHECK).select_related("person")
    for check in checks:
        samples[check.created_at.date(), check.person_id].append(check)
    return [_recheck(day, samples[day, person], answers) for day, person in sorted(samples, reverse=True)]


def _recheck(day: date, sample: list[Check], answers: dict[int, str]) -> RecheckResult:
    count = Counter((check.expected, answers[check.pk]) for check in sample if check.pk in answers)
    positive, negative = (
        Share(count[expected, expected], sum(count[expected, given] for given in Answer.values))
        for expected in (Answer.YES.value, Answer.NO.value)
    )
    both = Share(positive.hits + negative.hits, positive.n + negative.n)
    cant_tell = sum(n for (_, given), n in count.items() if given == Answer.CANT_TELL)
    return RecheckResult(sample[0].person, day, len(sample), both.n, both, positive, negative, cant_tell)


class RecheckSupply(NamedTuple):
    """Final judgements that one person could re-check."""

    person: User
    positive: int
    negative: int

    @property
    def total(self) -> int:
        return self.positive + self.negative


def gold_rows(campaign: Campaign, golds: Iterable[Gold]) -> list[tuple[GoldResult, str]]:
    """Return gold items with how people answered and the question as it is asked now; two queries."""
    results = gold_report(golds)
    questions = statements_now(campaign, [Check(gold=result.gold) for result in results])
    return list(zip(results, questions, strict=True))


def recheck_supply(campaign: Campaign, person: User) -> RecheckSupply:
    """Count the final judgements that this person could re-check."""
    verdicts = Counter(recheck_choices(campaign, person).values_list("verdict", flat=True))
    return RecheckSupply(person, verdicts[Verdict.POSITIVE], verdicts[Verdict.NEGATIVE])
