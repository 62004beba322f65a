"""Compute the error rate of each filter from its audit sample, and measures with the answers that filters miss."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from django.db.models import Count, Q

from annotation.enums import BatchOrigin, Verdict
from annotation.models import Item
from annotation.quality.kernel import Share
from evaluation.measures.label_state import LabelState, impute
from evaluation.measures.rank_table import Floats
from evaluation.sections.section import Context
from evaluation.statistics.correlation import tau_of_means
from pooling.enums import TO_PEOPLE
from pooling.models import Pool
from pooling.pools.kernels.filters import REASONS

IMPUTATIONS = 20
ENDS = ("low", "rate", "high")  # of the interval of a rate


@dataclass(frozen=True)
class AuditedFilter:
    """One filter: `errors` are the positive ones among the judged triples of its sample."""

    reason: str  # name of the filter
    filtered: int
    assumed: int  # of these still assumed negative: nobody has judged them
    drawn: int
    undecided: int
    errors: Share

    @property
    def rates(self) -> dict[str, float] | None:
        """Return the false-negative rate and the ends of its 95 % Wilson interval; None before a judgement."""
        interval = self.errors.interval
        if interval is None or self.errors.value is None:
            return None
        return {"low": interval[0], "rate": self.errors.value, "high": interval[1]}

    @property
    def missed(self) -> dict[str, float] | None:
        """Return the expected positives among triples still assumed negative, for the rate and both ends."""
        return None if self.rates is None else {end: rate * self.assumed for end, rate in self.rates.items()}


def audited_filters(pool: Pool) -> list[AuditedFilter]:
    """Return each filter that took a triple, in the order of the registry. Rates come from the sample alone."""
    filtered = pool.triples.exclude(reason=TO_PEOPLE).order_by("reason").values_list("reason")
    sizes = filtered.annotate(n=Count("pk"), assumed=Count("pk", filter=Q(judgement=None)))
    sample = Item.objects.filter(campaign__pool=pool, batch__origin=BatchOrigin.AUDIT).order_by()
    counts = sample.values_list("triple__reason").annotate(
        drawn=Count("pk"),
        **{
            verdict.value: Count("pk", filter=Q(triple__judgement__verdict=verdict))
            for verdict in (Verdict.POSITIVE, Verdict.NEGATIVE, Verdict.UNDECIDED)
        },
    )
    of = {reason: rest for reason, *rest in counts}
    found = []
    for reason, n, assumed in sizes:
        drawn, positive, negative, undecided = of.get(reason, (0, 0, 0, 0))
        found.append(AuditedFilter(reason, n, assumed, drawn, undecided, Share(positive, positive + negative)))
    return sorted(found, key=lambda one: REASONS.index(one.reason))


def sample_version(pool: Pool) -> str:
    """Return a text that changes when more filtered triples are in the sample."""
    return str(Item.objects.filter(campaign__pool=pool, batch__origin=BatchOrigin.AUDIT).count())


@dataclass(frozen=True)
class Effect:
    """Effect on one measure: means now, and over imputations at each end, [systems]; tau between both orders."""

    now: Floats
    imputed: Mapping[str, Floats]
    tau: Mapping[str, float]


def effects(context: Context, filters: list[AuditedFilter]) -> dict[str, Effect]:
    """Return each measure as if triples still assumed negative were positive by their filter's rate.

    Means over 20 seeded imputations, the same draws for the rate and both ends of its interval. A filter without a
    rate is left as it is.
    """
    labels, table = context.labels, context.table
    names, judged = context.settings.measures, context.settings.assumed_is_judged
    place = {one.reason: i for i, one in enumerate(filters)}
    rule = np.full(len(labels.state), -1, dtype=np.int64)
    for pk, reason in context.pool.triples.exclude(reason=TO_PEOPLE).values_list("pk", "reason"):
        rule[table.position_of[pk]] = place[reason]
    rule[labels.state != LabelState.ASSUMED_NEGATIVE] = -1
    rates = {end: np.array([one.rates[end] if one.rates else 0.0 for one in filters], dtype=np.float64) for end in ENDS}
    sums = {name: {end: np.zeros(table.ranks.systems) for end in ENDS} for name in names}
    for draw in range(IMPUTATIONS):
        chance = context.rng(draw).random(len(rule))
        for end in ENDS:
            state = impute(labels.state, rule, rates[end], chance)
            for name, value in replace(labels, key="imputed", state=state).values(names, judged).items():
                sums[name][end] += value.mean()
        if context.progress:
            context.progress(draw + 1, IMPUTATIONS)
    found = {}
    for measure in context.measures:
        now = labels.values([measure.name], judged)[measure.name].mean()
        imputed = {end: total / IMPUTATIONS for end, total in sums[measure.name].items()}
        tau = {end: tau_of_means(now, mean, measure.higher_is_better) for end, mean in imputed.items()}
        found[measure.name] = Effect(now, imputed, tau)
    return found
