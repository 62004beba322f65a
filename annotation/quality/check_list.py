"""List gold items for a manager, and count what can be re-checked."""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from django.contrib.auth.models import User

from annotation.enums import Verdict
from annotation.labelling.queue import newest_templates
from annotation.models import Campaign, Check, Gold
from annotation.quality.checks import recheck_choices
from annotation.quality.reports import GoldResult, gold_report
from annotation.questions.templates import question_text
from pooling.graphs.opening import open_graph


class GoldRow(NamedTuple):
    result: GoldResult
    question: str


class RecheckSupply(NamedTuple):
    """Final judgements that one person could re-check."""

    person: User
    positive: int
    negative: int

    @property
    def total(self) -> int:
        return self.positive + self.negative


def gold_rows(campaign: Campaign, golds: Iterable[Gold]) -> list[GoldRow]:
    """Return gold items with how people answered and the question as it is asked now; two queries."""
    results = gold_report(golds)
    graph = open_graph(campaign.pool.graph)
    templates = newest_templates(campaign, {result.gold.relation for result in results})
    return [
        GoldRow(result, question_text(Check(gold=result.gold), templates[result.gold.relation], graph).statement)
        for result in results
    ]


def recheck_supply(campaign: Campaign, person: User) -> RecheckSupply:
    """Count the final judgements that this person could re-check."""
    verdicts = Counter(recheck_choices(campaign, person).values_list("verdict", flat=True))
    return RecheckSupply(person, verdicts[Verdict.POSITIVE], verdicts[Verdict.NEGATIVE])
