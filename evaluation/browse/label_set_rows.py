"""List every label set of a pool with its counts."""

from dataclasses import dataclass, field, replace
from datetime import datetime

import numpy as np
from django.contrib.auth.models import AnonymousUser, User
from django.db.models import Max

from annotation.judging.verdicts import verdicts_by_person
from annotation.models import Campaign
from annotation.quality.reports import annotator_numbers
from core.files.artifacts import ArtifactError
from evaluation.labels import label_sets
from evaluation.labels.label_sets import QRELS, LabelChoice, LabelSet, QuestionCounts, state_of
from evaluation.labels.pool_table import PoolTable
from evaluation.labels.qrels import qrels_state
from evaluation.models import Qrels
from pooling.models import Pool

ALL_WITHDRAWN = "No label of this annotator counts: all were withdrawn."


@dataclass(frozen=True)
class LabelSetRow:
    """Describe one label set; without `counts` there is a `problem`, in words."""

    key: str
    name: str
    group: str
    counts: dict[str, int] | None = None
    questions: QuestionCounts | None = None
    at: datetime | None = None  # its last judgement, or when it was frozen or imported
    by: str = ""
    notes: list[str] = field(default_factory=list)
    problem: str = ""


def label_set_rows(pool: Pool, table: PoolTable, person: User | AnonymousUser) -> list[LabelSetRow]:
    """Return a row for each label set that this person may choose. The number of queries does not grow with them."""
    return list(map(_RowMaker(pool, table).row, label_sets.label_sets(pool, person)))


def label_set_row(chosen: LabelSet, group: str, at: datetime | None = None, by: str = "") -> LabelSetRow:
    notes = [chosen.note] if chosen.note else []
    return LabelSetRow(chosen.key, chosen.name, group, chosen.counts(), chosen.question_counts(), at, by, notes)


class _RowMaker:
    """Read once what several label sets are made from, and make their rows."""

    def __init__(self, pool: Pool, table: PoolTable) -> None:
        self.pool, self.table = pool, table
        self.current = label_sets.current_state(pool, table)
        self.decided = pool.judgements.aggregate(at=Max("decided_at"))["at"]
        self.qrels: dict[str, Qrels] = {row.name: row for row in pool.qrels.select_related("created_by")}
        campaign = Campaign.objects.filter(pool=pool).first()
        self.people = {n: pk for pk, n in annotator_numbers(campaign).items()} if campaign else {}
        self.by_person = verdicts_by_person(campaign) if campaign else {}

    def row(self, choice: LabelChoice) -> LabelSetRow:
        kind, _, argument = choice.key.partition(":")
        if kind in QRELS:
            return self._qrels(choice, self.qrels[argument])
        if kind == "annotator":
            return self._annotator(choice, int(argument))
        if kind == "current":
            return self._row(choice, self.current, self.decided)
        if kind == "depth":
            return self._row(choice, label_sets.to_depth(self.current, self.table, int(argument)))
        return label_set_row(label_sets.label_set(self.pool, self.table, choice.key), choice.group)

    def _row(self, choice: LabelChoice, state: np.ndarray, at: datetime | None = None, by: str = "") -> LabelSetRow:
        return label_set_row(LabelSet(choice.key, choice.name, state, self.table.pool), choice.group, at, by)

    def _annotator(self, choice: LabelChoice, number: int) -> LabelSetRow:
        verdicts = self.by_person.get(self.people[number])
        if verdicts is None:
            return LabelSetRow(choice.key, choice.name, choice.group, problem=ALL_WITHDRAWN)
        return self._row(choice, state_of(self.table, list(verdicts), list(verdicts.values())))

    def _qrels(self, choice: LabelChoice, qrels: Qrels) -> LabelSetRow:
        by = qrels.created_by.username if qrels.created_by else "server"
        try:
            state = qrels_state(self.table, qrels)
        except ArtifactError as error:
            return LabelSetRow(choice.key, choice.name, choice.group, at=qrels.created_at, by=by, problem=str(error))
        return replace(self._row(choice, state, qrels.created_at, by), notes=list(qrels.notes))
