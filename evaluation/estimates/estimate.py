"""Estimate measures of a whole pool from the part that was judged, where that part is a random sample."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.callbacks import Tell
from evaluation.estimates.kernels.estimator import Estimator
from evaluation.estimates.kernels.jackknife import Estimate, jackknife
from evaluation.estimates.kernels.model_assisted import ModelEstimator
from evaluation.estimates.kernels.quantities import LISTS, MEASURED
from evaluation.estimates.kernels.weights import CERTAIN
from evaluation.estimates.sample import PoolSample, pool_sample
from evaluation.labels.label_sets import original_questions
from evaluation.labels.pool_table import PoolTable, pool_table
from evaluation.measures.rank_table import Flags, Floats
from evaluation.measures.registry import parse_measure
from evaluation.measures.values import values
from pooling.models import Pool

BANDS = (1, 2, 4, 7)  # pool depths at which a band of the model ends

# what an estimate is worth, beside its interval
TEXTS = {
    "unbiased": "Every drawn set of positives counts 1 / the probability of drawing it. Totals are right on average"
    " whatever the positives are; where questions have many answers the spread is large.",
    "modelled": "Every drawn answer counts 1 / its probability, and a model says how many undrawn positives stand above"
    " it. The spread is small; the bias of the model, a few percent, is in no interval.",
    "lists": "infAP and infNDCG of the questions that have a certain positive, which are asked whatever is drawn. They"
    " divide by an estimate within each question, so they are too small while few of its triples are judged; no"
    " interval shows that.",
}
LABELS = {name: parse_measure(name).label for name in MEASURED} | {one.name: one.label for one in LISTS}
UNCUT = "Cut there, such a value would no longer be right on average, so it stands as it is; intervals are cut."


@dataclass(frozen=True)
class Estimated:
    """Unbiased and modelled estimates: measure -> arrays [systems], counts -> [1]. plain: infAP, of one stratum."""

    systems: list[str]
    left_out: list[str]
    drawn: PoolSample
    unbiased: dict[str, Estimate]
    modelled: dict[str, Estimate]
    plain: Floats | None


def estimate(
    pool: Pool, *, questions: str = "grown", assumed_is_judged: bool = True, seed: int = 7, progress: Tell | None = None
) -> Estimated:
    """Return estimates of every system with 95 % intervals. NoSampleError where labels are no sample of the pool.

    questions, assumed_is_judged: as in label sets; what is assumed matters to plain infAP alone. seed: of the groups
    that the jackknife leaves out.
    """
    table = pool_table(pool)
    drawn = pool_sample(pool, table)
    asked = np.ones(table.pool.table.questions, dtype=bool)
    if questions == "original":
        asked = original_questions(table)
    rng = np.random.default_rng(seed)
    tell = progress or (lambda done, total: None)

    def spread(of: Estimator | ModelEstimator, part: int) -> dict[str, Estimate]:
        def told(done: int, total: int) -> None:
            tell(part * total + done, 2 * total)

        return _within(jackknife(of.estimate, drawn.sample, rng, progress=told))

    unbiased = spread(Estimator(table.pool, drawn.sample, asked), 0)
    bands = np.searchsorted(BANDS, table.depth)
    modelled = spread(ModelEstimator(table.pool, drawn.sample, asked, bands), 1)
    plain = _plain_infap(table, drawn, asked, assumed_is_judged) if len(drawn.strata) == 1 else None
    return Estimated(table.systems, table.left_out, drawn, unbiased, modelled, plain)


def of_chosen(found: Estimated, families: Sequence[Sequence[int]]) -> Estimated:
    """Return the estimates of the first system of each family, given as indices of systems."""
    chosen = [family[0] for family in families]

    def cut(estimates: Mapping[str, Estimate]) -> dict[str, Estimate]:
        return {
            name: Estimate(*(part[chosen] for part in one)) if name in LABELS else one
            for name, one in estimates.items()
        }

    plain = None if found.plain is None else found.plain[chosen]
    systems = [found.systems[i] for i in chosen]
    return replace(found, systems=systems, unbiased=cut(found.unbiased), modelled=cut(found.modelled), plain=plain)


def beyond(estimates: Mapping[str, Estimate], names: Iterable[str]) -> str:
    """Name the measures with values that no measure can have, and say why they stay; empty: none."""
    out = [name for name in names if np.any((estimates[name].value < 0) | (estimates[name].value > 1))]
    if not out:
        return ""
    return f"Below 0 or above 1, where no measure can be: {', '.join(LABELS[name] for name in out)}. {UNCUT}"


def _within(found: dict[str, Estimate]) -> dict[str, Estimate]:
    """Cut the intervals of measures at 0 and 1, between which the truth is."""
    cut = {
        name: one._replace(low=np.clip(one.low, 0.0, 1.0), high=np.clip(one.high, 0.0, 1.0))
        for name, one in found.items()
        if name in LABELS
    }
    return found | cut


def _plain_infap(table: PoolTable, drawn: PoolSample, asked: Flags, assumed_is_judged: bool) -> Floats:
    """Return trec_eval's infAP [systems] of the questions with a certain positive, undrawn triples unjudged."""
    ranks = table.pool.table
    certain = np.zeros(ranks.questions, dtype=bool)
    known = drawn.sample.positive & (drawn.sample.stratum == CERTAIN)
    certain[ranks.question[known[ranks.triple]]] = True
    return values(table.pool, drawn.state, ["infap"], assumed_is_judged)["infap"].keep(certain & asked).mean()
