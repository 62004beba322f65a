"""List gold items for a manager, and count what can be re-checked."""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db.models import Count, F, Q

from annotation.enums import SlotState, Verdict
from annotation.labelling.queue import newest_templates
from annotation.models import Campaign, Check, Gold
from annotation.quality.checks import recheck_choices
from annotation.questions.templates import question_text
from pooling.graphs.imports import open_graph


class GoldRow(NamedTuple):
    gold: Gold
    question: str
    given: int  # people who hold it or answered it
    answered: int
    correct: int


class RecheckSupply(NamedTuple):
    """Final judgements that one person could re-check."""

    person: User
    positive: int
    negative: int

    @property
    def total(self) -> int:
        return self.positive + self.negative


def gold_rows(campaign: Campaign, golds: Iterable[Gold]) -> list[GoldRow]:
    """Return gold items with the question as it is asked now, and how people answered; two queries.

    The figures are those of reports.gold_report, for these items only.
    """
    golds = list(golds)
    newest = Q(labels__isnull=False, labels__superseded_by=None)
    counts = {
        gold: counted
        for gold, *counted in Check.objects.filter(gold__in=[gold.pk for gold in golds])
        .exclude(state=SlotState.FREE)
        .order_by()
        .values_list("gold")
        .annotate(
            given=Count("pk", distinct=True),
            answered=Count("pk", filter=newest),
            correct=Count("pk", filter=newest & Q(labels__answer=F("expected"))),
        )
    }
    graph = open_graph(campaign.pool.graph)
    templates = newest_templates(campaign, {gold.relation for gold in golds})
    return [
        GoldRow(
            gold,
            question_text(Check(gold=gold), templates[gold.relation], graph).statement,
            *counts.get(gold.pk, (0, 0, 0)),
        )
        for gold in golds
    ]


def recheck_supply(campaign: Campaign, person: User) -> RecheckSupply:
    """Count the final judgements that this person could re-check."""
    verdicts = Counter(recheck_choices(campaign, person).values_list("verdict", flat=True))
    return RecheckSupply(person, verdicts[Verdict.POSITIVE], verdicts[Verdict.NEGATIVE])
