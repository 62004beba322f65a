"""Make judgements from labels: two that agree, else the adjudicator's, else imported ones."""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import NamedTuple

import numpy as np
from django.db.models import Count, QuerySet, Window

from annotation.enums import Answer, ItemState, JudgementOrigin, SlotState, Verdict
from annotation.judging.transitions import move_item, release_slots
from annotation.models import ImportedLabel, Item, Judgement, Label, Slot
from annotation.models.slot import ADJUDICATION
from core import clock
from core.fixed import Fixed
from pooling.models import Pool

LAST = 50  # judgements named in a version: more than the transactions that can be under way at once
VERDICTS = {Answer.YES: Verdict.POSITIVE, Answer.NO: Verdict.NEGATIVE, Answer.CANT_TELL: Verdict.UNDECIDED}


class VerdictArrays(NamedTuple):
    """Judged triples by id: triple_id int64[n]; verdict str[n], a Verdict."""

    triple_id: np.ndarray
    verdict: np.ndarray


def live_labels() -> QuerySet[Label]:
    """Return the labels that count: the latest version in each slot, except in withdrawn slots."""
    return Label.objects.filter(superseded_by=None, slot__state=SlotState.ANSWERED)


_LIVE = Fixed(lambda item: live_labels().filter(item=item).values_list("slot__number", "answer"))
_JUDGEMENT = Fixed(lambda triple: Judgement.objects.filter(triple=triple))


def decide(answers: Mapping[int, str], *, reopened: bool = False) -> tuple[ItemState, Verdict | None]:
    """Return state and verdict of an item from the answers that count, by slot number.

    A reopened item needs a third answer even where two agree.
    """
    places = [answer for number, answer in answers.items() if number != ADJUDICATION]
    if len(places) < 2:
        return ItemState.OPEN, None
    if ADJUDICATION in answers:
        verdict = VERDICTS[Answer(answers[ADJUDICATION])]
        return (ItemState.UNDECIDED if verdict is Verdict.UNDECIDED else ItemState.SETTLED), verdict
    if places[0] == places[1] != Answer.CANT_TELL and not reopened:
        return ItemState.SETTLED, VERDICTS[Answer(places[0])]
    return ItemState.DISPUTED, None


def majority(answers: Iterable[str]) -> Verdict:
    """Return the majority of labels made elsewhere. Can't tell is not a vote; a tie is undecided."""
    count = Counter(answers)
    return verdict_of_lead(count[Answer.YES] - count[Answer.NO])


def verdict_of_lead(lead: int) -> Verdict:
    """Return the majority by how many more say yes than no."""
    return Verdict.POSITIVE if lead > 0 else Verdict.NEGATIVE if lead < 0 else Verdict.UNDECIDED


def fallback_verdict(imported: Collection[str]) -> tuple[Verdict, JudgementOrigin]:
    """Return verdict and origin where people no longer decide: by imported labels, or undecided."""
    return majority(imported), JudgementOrigin.IMPORT if imported else JudgementOrigin.PEOPLE


def taken_back(pool: Pool) -> QuerySet[Judgement]:
    """Return judgements that no longer hold: people are asked about their triples again."""
    waiting = (ItemState.OPEN, ItemState.DISPUTED)
    back = pool.judgements.filter(verdict=Verdict.UNDECIDED, origin=JudgementOrigin.PEOPLE)
    return back.filter(triple__item__state__in=waiting).order_by()


def judge_item(item: Item, *, now: datetime | None = None) -> None:
    """Bring state, third slot and judgement of an item in line with its labels. The caller holds its lock."""
    now = now or clock.now()
    state, verdict = decide(dict(_LIVE(item=item.pk)), reopened=item.reopened)
    before = item.state
    move_item(item, state, settled_at=now if verdict is not None else None)
    third = Slot.objects.filter(item=item, number=ADJUDICATION).exclude(state=SlotState.WITHDRAWN)
    if state == ItemState.DISPUTED != before:
        if not third.exists():
            Slot.objects.create(item=item, number=ADJUDICATION)
    elif before == ItemState.DISPUTED != state:
        # withdrawn when the labels agree after all; an answered third slot is what decided, and stays
        drop_third_slots([item.pk])
    _write(item, verdict, now)


def drop_third_slots(items: Collection[int]) -> None:
    """Remove the third slots of items that are no longer disputed; answered ones stay.

    A slot that an adjudicator holds is only freed: their answer may be on its way, and is then kept apart.
    """
    third = Slot.objects.filter(item__in=items, number=ADJUDICATION)
    Slot.objects.filter(pk__in=list(third.filter(state=SlotState.FREE).values_list("pk", flat=True))).delete()
    held = list(third.filter(state=SlotState.LEASED).values_list("pk", flat=True))
    release_slots(Slot.objects.filter(pk__in=held))


def _write(item: Item, verdict: Verdict | None, now: datetime) -> None:
    """Write the judgement; never delete one, since the time of the last decision is the version of all results."""
    judgement = _JUDGEMENT.first(triple=item.triple_id)
    origin = JudgementOrigin.PEOPLE
    if verdict is None:
        if judgement is None or judgement.origin == JudgementOrigin.IMPORT:
            return
        imported = list(ImportedLabel.objects.filter(triple_id=item.triple_id).values_list("answer", flat=True))
        verdict, origin = fallback_verdict(imported)
    if judgement is None:
        pool = item.campaign.pool_id
        Judgement.objects.create(pool_id=pool, triple_id=item.triple_id, verdict=verdict, origin=origin, decided_at=now)
    elif (judgement.verdict, judgement.origin) != (verdict, origin):
        Judgement.objects.filter(pk=judgement.pk).update(verdict=verdict, origin=origin, decided_at=now)


def current_verdicts(pool: Pool) -> VerdictArrays:
    """Return every judgement of the pool, by triple id."""
    rows = list(pool.judgements.order_by("triple_id").values_list("triple_id", "verdict"))
    return VerdictArrays(
        np.array([row[0] for row in rows], dtype=np.int64), np.array([row[1] for row in rows], dtype="U10")
    )


def decision_times(pool: Pool) -> tuple[np.ndarray, np.ndarray]:
    """Return the triple of every judgement, int64[n], and when, datetime64[us][n] in UTC, by triple id."""
    rows = list(pool.judgements.order_by("triple_id").values_list("triple_id", "decided_at"))
    return (
        np.array([row[0] for row in rows], dtype=np.int64),
        np.array([row[1].replace(tzinfo=None) for row in rows], dtype="datetime64[us]"),
    )


def labels_version(pool: Pool) -> str:
    """Return a text that differs whenever the judgements differ; empty if there are none.

    Later versions compare as greater. The time of the last decision is not enough: a transaction may commit after one
    that decided later.
    """
    latest = list(
        pool.judgements.annotate(n=Window(Count("pk")))
        .order_by("-decided_at", "-pk")
        .values_list("pk", "decided_at", "n")[:LAST]
    )
    if not latest:
        return ""
    _, at, n = latest[0]
    seen = " ".join(f"{pk}@{when.isoformat()}" for pk, when, _ in latest)
    return f"{at.isoformat()}/{n}/{hashlib.sha256(seen.encode()).hexdigest()[:12]}"
