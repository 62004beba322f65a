"""Read label sets: the labels that an evaluation uses, as one state for each triple of the pool's table."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal, NamedTuple

import numpy as np
from django.contrib.auth.models import AnonymousUser, User

from annotation.enums import Verdict
from annotation.judging.judgements import current_verdicts
from annotation.judging.verdicts import verdicts_at, verdicts_by_person
from annotation.models import Campaign, Label
from annotation.models.slot import ADJUDICATION
from annotation.quality.reports import annotator_numbers
from core import clock
from core.people.roles import CampaignRole, can_manage
from evaluation.enums import QrelsOrigin
from evaluation.labels.current_sums import live_sums
from evaluation.labels.pool_table import EvaluationError, PoolTable
from evaluation.labels.qrels import get_qrels, qrels_state, state_counts
from evaluation.measures.label_state import LabelState, positive
from evaluation.measures.prepared import Prepared
from evaluation.measures.question_sums import QuestionSums, question_sums
from evaluation.measures.values import Values, values
from pooling.models import Pool
from pooling.scoring.rank_rows import question_keys, rows_of

HELP = "seeds, current, full-test, depth:D, until:TIME, annotator:N, qrels:NAME or imported:NAME"
Questions = Literal["grown", "original"]
# the qrels of a key, by its first word
QRELS = {"qrels": QrelsOrigin.FROZEN, "imported": QrelsOrigin.IMPORTED}
_STATES: dict[str, LabelState] = {  # of a Verdict or its text
    Verdict.POSITIVE: LabelState.POSITIVE,
    Verdict.NEGATIVE: LabelState.NEGATIVE,
    Verdict.UNDECIDED: LabelState.UNJUDGED,
}

_FROZEN = "qrels:"
NOTHING_JUDGED = "No triple had been judged by then."


def frozen_name(key: str) -> str:
    """Return the name of the frozen qrels that a key is of, else ''."""
    return key.removeprefix(_FROZEN) if key.startswith(_FROZEN) else ""


class QuestionCounts(NamedTuple):
    """Count the questions with an answer: all, those with a judged negative, those with one or an assumed one."""

    answered: int
    with_negative: int
    with_negative_or_assumed: int


@dataclass(frozen=True)
class LabelSet:
    """Hold `state` int8[triples] (LabelState) of a label set; `prepared` has the positions that it is read against.

    `asked` bool[questions]: the evaluated questions, where they have an answer; None: all. `note` warns the reader
    where the set holds a surprise.
    """

    key: str
    name: str
    state: np.ndarray
    prepared: Prepared
    asked: np.ndarray | None = None
    note: str = ""

    def counts(self) -> dict[str, int]:
        """Count triples by state, over seeds and pooled triples (for full test: test triples)."""
        return state_counts(self.state)

    def question_counts(self) -> QuestionCounts:
        table = self.prepared.table

        def holding(triples: np.ndarray) -> np.ndarray:
            return np.bincount(table.question[triples[table.triple]], minlength=table.questions) > 0

        answered = holding(positive(self.state))
        if self.asked is not None:
            answered &= self.asked
        judged = holding(self.state == LabelState.NEGATIVE)
        assumed = holding(self.state == LabelState.ASSUMED_NEGATIVE)
        return QuestionCounts(
            int(answered.sum()), int((answered & judged).sum()), int((answered & (judged | assumed)).sum())
        )

    def values(self, names: Iterable[str], assumed_is_judged: bool = True) -> dict[str, Values]:
        """Return per-unit values of the named measures, for the evaluated questions."""
        found = values(self.prepared, self.state, names, assumed_is_judged)
        if self.asked is None:
            return found
        return {name: value.keep(self.asked) for name, value in found.items()}

    def sums(self, names: Iterable[str], assumed_is_judged: bool = True) -> dict[str, QuestionSums]:
        """Return `values` summed by question; for the current labels only what changed is computed again."""
        if self.key != "current":
            return {name: question_sums(value) for name, value in self.values(names, assumed_is_judged).items()}
        found = live_sums(self.prepared, self.state, tuple(names), assumed_is_judged)
        return found if self.asked is None else {name: sums.keep(self.asked) for name, sums in found.items()}


def label_set(pool: Pool, table: PoolTable, key: str, questions: str = "grown") -> LabelSet:
    """Return the label set that `key` names; EvaluationError says which there are.

    `questions`: "grown", every question with an answer under these labels; or "original", of these only the tail and
    head questions of the seed triples. Full test brings its own questions: for it both are the same.

    seeds: seed triples positive, nothing else pooled. current: the current judgements. depth:D: those of them on
    triples of pool depth ≤ D. until:TIME: the judgements as they were at TIME (annotation/judging/verdicts.py
    says precisely how), TIME in ISO format, UTC unless it names a zone. annotator:N: what annotator N says by labels
    that count now; N is the number that stands for a name on the agreement page. qrels:NAME: frozen, imported:NAME:
    imported. full-test: all test triples positive, read against E without train and valid.
    """
    if questions not in ("grown", "original"):
        raise EvaluationError(f"Unknown question set {questions[:40]!r}: give grown or original.")
    chosen = _label_set(pool, table, key)
    if questions == "grown":
        return chosen
    if key == "full-test":
        note = "Full test has its own questions; original and grown are the same for it."
        return replace(chosen, note=note)
    if key.partition(":")[0] in QRELS:  # a pool may have been given seeds since
        return replace(chosen, asked=questions_asked(table, table.is_test & (chosen.state != LabelState.NOT_POOLED)))
    return replace(chosen, asked=original_questions(table))


def original_questions(table: PoolTable) -> np.ndarray:
    """Tell which questions are the tail or head question of a seed triple, bool [questions]."""
    return questions_asked(table, table.is_seed)


def questions_asked(table: PoolTable, seeds: np.ndarray) -> np.ndarray:
    """Tell which questions are the tail or head question of one of these triples, bool[triples]: bool [questions]."""
    rows = rows_of(table.triples[seeds])
    keys = question_keys(rows, table.graph.num_entities, table.graph.num_relations)
    return np.isin(table.question_keys, keys)


def _label_set(pool: Pool, table: PoolTable, key: str) -> LabelSet:
    kind, _, argument = key.partition(":")
    if key == "full-test":
        state = np.where(table.is_test, LabelState.POSITIVE, LabelState.NOT_POOLED).astype(np.int8)
        return LabelSet(key, "full test", state, table.full_test)
    if key == "seeds":
        state = np.where(table.is_seed, LabelState.POSITIVE, LabelState.NOT_POOLED).astype(np.int8)
        return LabelSet(key, "seeds only", state, table.pool)
    if key == "current":
        return LabelSet(key, "current labels", current_state(pool, table), table.pool)
    if kind == "depth" and re.fullmatch("[0-9]{1,9}", argument):
        state = to_depth(current_state(pool, table), table, int(argument))
        return LabelSet(key, f"labels to depth {argument}", state, table.pool)
    if kind == "until" and argument:
        return _until(pool, table, parse_time(argument))
    if kind == "annotator" and re.fullmatch("[0-9]{1,9}", argument):
        return _annotator(pool, table, int(argument))
    if kind in QRELS and argument:
        state = qrels_state(table, get_qrels(pool, argument, QRELS[kind]))
        name = f"{'imported' if kind == 'imported' else 'qrels'} {argument}"
        return LabelSet(key, name, state, table.pool_of(table.is_test & (state != LabelState.NOT_POOLED)))
    raise EvaluationError(f"Unknown label set {key[:200]!r}: give {HELP}.")


def _until(pool: Pool, table: PoolTable, when: datetime) -> LabelSet:
    verdicts = verdicts_at(pool, when)
    shown = when.strftime("%Y-%m-%d %H:%M:%S").removesuffix(":00")
    return LabelSet(
        f"until:{when.replace(tzinfo=None).isoformat()}Z",
        f"labels until {shown} UTC",
        state_of(table, list(verdicts), list(verdicts.values())),
        table.pool,
        note="" if verdicts else NOTHING_JUDGED,
    )


def _annotator(pool: Pool, table: PoolTable, number: int) -> LabelSet:
    campaign = Campaign.objects.filter(pool=pool).first()
    people = {n: person for person, n in annotator_numbers(campaign).items()} if campaign else {}
    if number not in people:
        known = f"give 1 to {len(people)}" if people else "nobody has given a label yet"
        raise EvaluationError(f"Pool {pool.name} has no annotator {number}: {known}.")
    assert campaign is not None
    verdicts = verdicts_by_person(campaign, people[number]).get(people[number], {})
    if not verdicts:
        raise EvaluationError(f"Annotator {number} has no label that counts: all were withdrawn.")
    state = state_of(table, list(verdicts), list(verdicts.values()))
    role = _role(people[number], _label_givers(campaign))
    return LabelSet(f"annotator:{number}", f"labels of {role} {number}", state, table.pool)


def parse_time(text: str) -> datetime:
    """Return an ISO time of the past, in UTC; without a zone it is UTC. EvaluationError otherwise."""
    try:
        when = datetime.fromisoformat(text)
        when = when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise EvaluationError(
            f"{text[:40]!r} is not a valid time: write it as in until:2026-03-02T12:00 (UTC, or with a zone as in"
            " +02:00)."
        ) from error
    if when > clock.now():
        raise EvaluationError(f"{text[:40]!r} has not come yet: labels as they stood are of the past.")
    return when


# -- states -----------------------------------------------------------------------------------------------------


def current_state(pool: Pool, table: PoolTable) -> np.ndarray:
    """Return the current state of every triple, int8[triples]. A label beats a filter."""
    ids, verdicts = current_verdicts(pool)
    return state_of(table, ids.tolist(), verdicts.tolist())


def state_of(table: PoolTable, triple_ids: Sequence[int], verdicts: Sequence[str]) -> np.ndarray:
    """Return the state of every triple when only these pooled triples have verdicts, int8[triples]."""
    state = np.full(len(table.triples), LabelState.NOT_POOLED, dtype=np.int8)
    state[table.pooled_id > 0] = LabelState.UNJUDGED
    state[table.filtered] = LabelState.ASSUMED_NEGATIVE
    at = [table.position_of[i] for i in triple_ids]
    state[at] = [_STATES[verdict] for verdict in verdicts]
    state[table.is_seed] = LabelState.POSITIVE
    return state


def to_depth(state: np.ndarray, table: PoolTable, depth: int) -> np.ndarray:
    """Return `state` without labels and filters of triples that only a deeper pool holds, int8[triples]."""
    return np.where((table.depth > depth) & (state != LabelState.NOT_POOLED), LabelState.UNJUDGED, state).astype(
        np.int8
    )


# -- which there are --------------------------------------------------------------------------------------------


class LabelChoice(NamedTuple):
    """Hold one entry of a select box."""

    key: str
    name: str
    group: str


def label_sets(pool: Pool, person: User | AnonymousUser) -> list[LabelChoice]:
    """List the label sets of a pool for an evaluator; managers see annotators' names beside their numbers.

    Label sets of a time ("until") are endless and left out.
    """
    choices = [
        LabelChoice("seeds", "seeds only: the sampled test triples", "Whole label sets"),
        LabelChoice("current", "current labels", "Whole label sets"),
        LabelChoice("full-test", "full test: all test triples of the graph", "Whole label sets"),
    ]
    choices += [
        LabelChoice(f"depth:{depth}", f"labels to depth {depth}", "Pool depth") for depth in range(pool.depth + 1)
    ]
    rows = list(pool.qrels.order_by("created_at", "pk").values_list("name", "origin"))
    for kind, origin in QRELS.items():
        group = f"{origin.label.capitalize()} qrels"
        choices += [LabelChoice(f"{kind}:{name}", f"{kind} {name}", group) for name, given in rows if given == origin]
    return choices + _annotators(pool, named=can_manage(person))


def _annotators(pool: Pool, *, named: bool) -> list[LabelChoice]:
    campaign = Campaign.objects.filter(pool=pool).first()
    numbers = annotator_numbers(campaign) if campaign else {}
    if not numbers:
        return []
    names = dict(User.objects.filter(pk__in=numbers).values_list("pk", "username")) if named else {}
    givers = _label_givers(campaign)

    def called(pk: int, n: int) -> str:
        return f"{_role(pk, givers)} {n}" + (f" ({names[pk]})" if named else "")

    return [
        LabelChoice(f"annotator:{n}", called(pk, n), "Labels of one person")
        for pk, n in sorted(numbers.items(), key=lambda entry: entry[1])
    ]


def _label_givers(campaign: Campaign | None) -> set[int]:
    """Return the people who gave labels; the others only decided disputes."""
    labels = Label.objects.filter(item__campaign=campaign).exclude(slot__number=ADJUDICATION).order_by()
    return set(labels.values_list("annotator", flat=True).distinct())


def _role(person: int, label_givers: set[int]) -> CampaignRole:
    return CampaignRole.ANNOTATOR if person in label_givers else CampaignRole.ADJUDICATOR
