"""Judgements follow from labels: two that agree, else the adjudicator's; imported ones where people have none."""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import NamedTuple

import numpy as np
from django.db.models import Count, Max
from django.utils import timezone

from annotation.domain.moves import move_item
from annotation.enums import Answer, ItemState, JudgementOrigin, SlotState, Verdict
from annotation.models import ImportedLabel, Item, Judgement, Label, Slot
from annotation.models.slot import ADJUDICATION
from pooling.models import Pool

_VERDICTS = {Answer.YES: Verdict.POSITIVE, Answer.NO: Verdict.NEGATIVE, Answer.CANT_TELL: Verdict.UNDECIDED}


class Verdicts(NamedTuple):
    """One entry a judged triple: id int64[n], Verdict str[n], when it was decided datetime64[us][n] (UTC)."""

    triple_id: np.ndarray
    verdict: np.ndarray
    decided_at: np.ndarray


def decide(answers: Mapping[int, str]) -> tuple[ItemState, Verdict | None]:
    """State and verdict of an item from the answers in its slots, by slot number."""
    if ADJUDICATION in answers:
        verdict = _VERDICTS[Answer(answers[ADJUDICATION])]
        return (ItemState.UNDECIDED if verdict is Verdict.UNDECIDED else ItemState.SETTLED), verdict
    if len(answers) < 2:
        return ItemState.OPEN, None
    first, second = answers.values()
    if first == second != Answer.CANT_TELL:
        return ItemState.SETTLED, _VERDICTS[Answer(first)]
    return ItemState.DISPUTED, None


def majority(answers: Iterable[str]) -> Verdict:
    """Of labels made elsewhere. Can't tell is no vote; a tie is undecided."""
    count = Counter(answers)
    difference = count[Answer.YES] - count[Answer.NO]
    return Verdict.POSITIVE if difference > 0 else Verdict.NEGATIVE if difference < 0 else Verdict.UNDECIDED


def judge_item(item: Item, *, now: datetime | None = None) -> None:
    """Bring state, third slot and judgement of an item in line with its labels. The caller has locked the item."""
    now = now or timezone.now()
    current = Label.objects.filter(item=item, superseded_by=None).order_by("slot__number")
    state, verdict = decide(dict(current.values_list("slot__number", "answer")))
    before = item.state
    move_item(item, state, settled_at=now if verdict is not None else None)
    if state == ItemState.DISPUTED:
        Slot.objects.get_or_create(item=item, number=ADJUDICATION)
    elif before == ItemState.DISPUTED:
        # withdrawn when the labels agree after all; an answered third slot is what decided, and stays
        Slot.objects.filter(item=item, number=ADJUDICATION).exclude(state=SlotState.ANSWERED).delete()
    _write(item, verdict, now)


def _write(item: Item, verdict: Verdict | None, now: datetime) -> None:
    """The judgement is never deleted: the time of the last decision is the version of all that is computed from it."""
    judgement = Judgement.objects.filter(triple_id=item.triple_id).first()
    origin = JudgementOrigin.PEOPLE
    if verdict is None:
        if judgement is None or judgement.origin == JudgementOrigin.IMPORT:
            return
        imported = list(ImportedLabel.objects.filter(triple_id=item.triple_id).values_list("answer", flat=True))
        origin = JudgementOrigin.IMPORT if imported else JudgementOrigin.PEOPLE
        verdict = majority(imported)
    if judgement is None:
        pool = item.campaign.pool_id
        Judgement.objects.create(
            pool_id=pool, triple_id=item.triple_id, verdict=verdict, origin=origin, decided_at=now
        )
    elif (judgement.verdict, judgement.origin) != (verdict, origin):
        Judgement.objects.filter(pk=judgement.pk).update(verdict=verdict, origin=origin, decided_at=now)


def current_verdicts(pool: Pool) -> Verdicts:
    """Every judgement of the pool, by triple id."""
    rows = list(pool.judgements.order_by("triple_id").values_list("triple_id", "verdict", "decided_at"))
    return Verdicts(
        np.array([row[0] for row in rows], dtype=np.int64),
        np.array([row[1] for row in rows], dtype="U10"),
        np.array([row[2].replace(tzinfo=None) for row in rows], dtype="datetime64[us]"),
    )


def labels_version(pool: Pool) -> str:
    """Differs whenever the judgements differ; empty while there are none."""
    last = pool.judgements.aggregate(at=Max("decided_at"), n=Count("pk"))
    return f"{last['at'].isoformat()}/{last['n']}" if last["n"] else ""
