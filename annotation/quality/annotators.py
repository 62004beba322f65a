"""Report what each person did in a campaign, how fast, and how often others decided otherwise. For managers only."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from datetime import datetime
from statistics import median
from typing import Any, NamedTuple, TypeVar

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, Q, Sum

from annotation.enums import Answer, Cause, CheckKind, SlotState, Verdict
from annotation.judging.judgements import live_labels
from annotation.models import Campaign, CheckLabel, Flag, Label, SurplusLabel
from annotation.models.slot import ADJUDICATION
from annotation.people.members import roles_in
from annotation.people.simulated import is_simulated
from annotation.quality.kernel import Share
from annotation.quality.reports import week_of
from annotation.questions.templates import question_text
from pooling.graphs.opening import open_graph

QUICK_MS = 2000  # less is too short to read a question
LAST = 50
_OPPOSITE = ((Answer.YES, Verdict.NEGATIVE), (Answer.NO, Verdict.POSITIVE))

Key = TypeVar("Key", str, int)


@dataclass
class Work:
    """Counts of one person, in all or for one week. Labels are those that count; `active_ms` is of every answer."""

    label_ms: list[int] = field(default_factory=list)  # active time of each label, its changes included
    single_ms: list[int] = field(default_factory=list)  # of these, without labels that were given in bulk
    num_cant_tell: int = 0
    changed: int = 0
    decided: int = 0  # labels on items that an adjudicator decided with yes or no
    overturned: int = 0  # of these, otherwise than this person
    causes: Counter[str] = field(default_factory=Counter)  # of these, by the adjudicator's reason where one was chosen
    decisions: int = 0  # as an adjudicator
    withdrawn: int = 0
    num_quick: int = 0
    num_bulk: int = 0
    active_ms: int = 0
    gold_answered: int = 0
    gold_correct: int = 0
    gold_cant_tell: int = 0
    surplus: int = 0
    flags: int = 0

    def __add__(self, other: Work) -> Work:
        return Work(**{f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self)})

    @property
    def labels(self) -> int:
        return len(self.label_ms)

    @property
    def active_seconds(self) -> float:
        return self.active_ms / 1000

    @property
    def median_seconds(self) -> float | None:
        """Median of labels that were given one by one: those given in bulk share one time."""
        return median(self.single_ms) / 1000 if self.single_ms else None

    @property
    def labels_per_hour(self) -> float | None:
        """Labels per hour of active time on them; None if no time was measured."""
        spent = sum(self.label_ms)
        return 3_600_000 * self.labels / spent if spent else None

    @property
    def cant_tell(self) -> Share:
        return Share(self.num_cant_tell, self.labels)

    @property
    def quick(self) -> Share:
        """Labels that were given too quickly to read; those given in bulk are not counted."""
        return Share(self.num_quick, self.labels - self.num_bulk)

    @property
    def gold(self) -> Share:
        return Share(self.gold_correct, self.gold_answered)

    @property
    def overturn(self) -> Share:
        return Share(self.overturned, self.decided)

    @property
    def overturned_why(self) -> list[tuple[str, int]]:
        """Return the reasons of adjudicators in words with their numbers, most first."""
        return [(str(Cause(cause).label), number) for cause, number in self.causes.most_common()]


class Annotator(NamedTuple):
    person: User
    roles: str
    work: Work

    @property
    def is_simulated(self) -> bool:
        return is_simulated(self.person)


class LastLabel(NamedTuple):
    """A label as its page shows it; `judgement` is the final one, empty if there is none."""

    question: str
    label: Label
    judgement: str
    seconds: float  # of active time, the changes of the label included
    is_decision: bool

    @property
    def differs(self) -> bool:
        """Whether the judgement is the opposite of this answer."""
        return (self.label.answer, self.judgement) in _OPPOSITE


@dataclass(frozen=True)
class AnnotatorDetail:
    person: User
    roles: str
    work: Work
    weeks: list[tuple[str, Work]]
    last: list[LastLabel]


def annotators(campaign: Campaign) -> list[Annotator]:
    """Return everybody who ever answered in the campaign, members or not, by name."""
    work = _work(campaign, lambda person, _: person)
    people = User.objects.filter(pk__in=work).order_by("username")
    roles = roles_in(campaign)
    return [Annotator(person, roles.get(person.pk, ""), work[person.pk]) for person in people]


def annotator_detail(campaign: Campaign, person: User, *, overturned: bool = False) -> AnnotatorDetail:
    """Return the figures of one person, in all and by week of the answer, and their last labels (overturned ones)."""
    weeks = _work(campaign, lambda _, when: week_of(when), person)
    return AnnotatorDetail(
        person=person,
        roles=roles_in(campaign).get(person.pk, ""),
        work=sum(weeks.values(), Work()),
        weeks=sorted(weeks.items()),
        last=_last_labels(campaign, person, overturned),
    )


def took_part(campaign: Campaign, person: User) -> bool:
    """Tell whether this person is or was a member, or has labelled here."""
    return (
        campaign.members.filter(person=person).exists()
        or Label.objects.filter(item__campaign=campaign, annotator=person).exists()
    )


def _work(campaign: Campaign, key: Callable[[int, datetime], Key], person: User | None = None) -> dict[Key, Work]:
    """Return work by key(person id, time of the answer), for one person or for all; four queries."""
    own = Q() if person is None else Q(annotator=person)
    found: dict[Key, Work] = defaultdict(Work)
    _add_labels(found, key, campaign, person)
    _add_checks(found, key, CheckLabel.objects.filter(own, check_item__campaign=campaign))
    surplus = SurplusLabel.objects.filter(
        own, Q(item__campaign=campaign) | Q(check_item__campaign=campaign)
    ).values_list("annotator_id", "created_at", "active_ms")
    for who, when, active in surplus:
        work = found[key(who, when)]
        work.surplus += 1
        work.active_ms += active
    flags = Flag.objects.filter(campaign=campaign)
    if person is not None:
        flags = flags.filter(person=person)
    for who, when in flags.values_list("person_id", "created_at"):
        found[key(who, when)].flags += 1
    return dict(found)


class _Version(NamedTuple):
    """The columns of a label that count here."""

    slot: int
    number: int
    state: str
    item: int
    person: int
    answer: str
    active_ms: int
    is_bulk: bool
    cause: str
    created_at: datetime
    supersedes: int | None


def _add_labels(
    found: dict[Key, Work], key: Callable[[int, datetime], Key], campaign: Campaign, person: User | None
) -> None:
    rows = Label.objects.filter(item__campaign=campaign).order_by("id")
    if person is not None:  # other people's decisions tell what was overturned
        rows = rows.filter(Q(annotator=person) | Q(slot__number=ADJUDICATION))
    columns = ("slot_id", "slot__number", "slot__state", "item_id", "annotator_id", "answer", "active_ms", "is_bulk")
    versions = rows.values_list(*columns, "cause", "created_at", "supersedes_id")
    newest: dict[int, _Version] = {}
    spent: dict[int, int] = defaultdict(int)
    for row in versions.iterator():
        version = _Version(*row)
        newest[version.slot] = version
        spent[version.slot] += version.active_ms
        if person is None or version.person == person.pk:
            found[key(version.person, version.created_at)].active_ms += version.active_ms
    decisions = {
        version.item: version
        for version in newest.values()
        if version.number == ADJUDICATION and version.state == SlotState.ANSWERED
    }
    for version in newest.values():
        if person is None or version.person == person.pk:
            _add_label(found[key(version.person, version.created_at)], version, spent[version.slot], decisions)


def _add_label(work: Work, version: _Version, spent: int, decisions: dict[int, _Version]) -> None:
    if version.state == SlotState.WITHDRAWN:
        work.withdrawn += 1
    elif version.number == ADJUDICATION:
        work.decisions += 1
    else:
        work.label_ms.append(spent)
        if not version.is_bulk:
            work.single_ms.append(spent)
        work.num_bulk += version.is_bulk
        work.num_quick += spent < QUICK_MS and not version.is_bulk
        work.num_cant_tell += version.answer == Answer.CANT_TELL
        work.changed += version.supersedes is not None
        decision = decisions.get(version.item)
        if decision is not None and decision.answer != Answer.CANT_TELL:
            work.decided += 1
            if decision.answer != version.answer:
                work.overturned += 1
                work.causes.update([decision.cause] if decision.cause else [])


def _add_checks(found: dict[Key, Work], key: Callable[[int, datetime], Key], answers: Any) -> None:
    newest: dict[int, tuple[Work, str, str]] = {}
    for check, kind, expected, who, answer, active, when in answers.order_by("id").values_list(
        "check_item_id", "check_item__kind", "check_item__expected", "annotator_id", "answer", "active_ms", "created_at"
    ):
        work = found[key(who, when)]
        work.active_ms += active
        if kind == CheckKind.GOLD:
            newest[check] = (work, expected, answer)
    for work, expected, answer in newest.values():
        work.gold_answered += 1
        work.gold_correct += answer == expected
        work.gold_cant_tell += answer == Answer.CANT_TELL


def _last_labels(campaign: Campaign, person: User, overturned: bool) -> list[LastLabel]:
    graph = open_graph(campaign.pool.graph)
    found = live_labels().filter(item__campaign=campaign, annotator=person)
    if overturned:
        decisions = live_labels().filter(item=OuterRef("item"), slot__number=ADJUDICATION)
        others = decisions.exclude(answer=OuterRef("answer")).exclude(answer=Answer.CANT_TELL)
        found = found.exclude(slot__number=ADJUDICATION).filter(Exists(others))
    labels = list(found.select_related("slot", "template", "item__triple__judgement").order_by("-id")[:LAST])
    slots = [label.slot_id for label in labels]
    spent = dict(
        Label.objects.filter(slot__in=slots).order_by().values_list("slot_id").annotate(spent=Sum("active_ms"))
    )
    return [
        LastLabel(
            question_text(label.item, label.template, graph).statement,
            label,
            label.item.triple.judgement.verdict if hasattr(label.item.triple, "judgement") else "",
            spent[label.slot_id] / 1000,
            label.slot.number == ADJUDICATION,
        )
        for label in labels
    ]
