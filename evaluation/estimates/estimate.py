"""Estimate measures of a whole pool from the part that was judged, where that part is a random sample."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.callbacks import Tell
from evaluation.estimates.kernels.estimator import Estimator
from evaluation.estimates.kernels.intervals import Estimate, of_total, without
from evaluation.estimates.kernels.modelled import modelled
from evaluation.estimates.kernels.nist import nist_lists
from evaluation.estimates.kernels.quantities import LISTS, MEASURED, MODELLED
from evaluation.estimates.kernels.weights import CERTAIN, Sample
from evaluation.estimates.sample import PoolSample, pool_sample
from evaluation.labels.label_sets import original_questions
from evaluation.labels.pool_table import PoolTable, pool_table
from evaluation.measures.label_state import nonrelevant
from evaluation.measures.prepared import Prepared
from evaluation.measures.rank_table import Flags, Floats, Ints
from evaluation.measures.registry import parse_measure
from evaluation.measures.values import values
from pooling.models import Pool

# what an estimate is worth
TEXTS = {
    "unbiased": "Every drawn set of positives counts 1 / the probability of drawing it. Totals are right on average"
    " whatever the positives are; where questions have many answers the spread is large.",
    "modelled": "Labels of undrawn triples are imputed 40 times by a model of ranks, depths, questions and relations,"
    " fitted to the drawn ones; the measures of these 40 pools have the mean and the spread that are shown.",
    "lists": "MAP and nDCG@20 by the model, of all questions with an answer. Beside them infAP and infNDCG of the"
    " questions that have a certain positive, which are asked whatever is drawn.",
}
LABELS = {name: parse_measure(name).label for name in (*MEASURED, *MODELLED)} | {one.name: one.label for one in LISTS}
UNCUT = "Cut there, such a value would no longer be right on average, so it stands as it is."


@dataclass(frozen=True)
class Estimated:
    """Unbiased and modelled estimates: measure -> arrays [systems], counts -> [1]. plain: infAP, of one stratum.

    The unbiased measures and both numbers of questions have no interval (quantities.NO_INTERVAL says why).
    """

    systems: list[str]
    left_out: list[str]
    drawn: PoolSample
    unbiased: dict[str, Estimate]
    modelled: dict[str, Estimate]
    plain: Floats | None


def estimate(
    pool: Pool,
    *,
    questions: str = "grown",
    assumed_is_judged: bool = True,
    seed: int = 7,
    systems: Sequence[str] = (),
    progress: Tell | None = None,
) -> Estimated:
    """Return estimates of every system with 95 % intervals. NoSampleError where labels are no sample of the pool.

    questions, assumed_is_judged: as in label sets; what is assumed matters to plain infAP and NIST's measures alone.
    seed: of the labels that are imputed. systems: those to compare; empty: all that were asked enough questions.
    """
    table = pool_table(pool, systems)
    drawn = pool_sample(pool, table)
    asked = np.ones(table.pool.table.questions, dtype=bool)
    if questions == "original":
        asked = original_questions(table)
    judged = drawn.sample.positive | nonrelevant(drawn.state, assumed_is_judged)
    rng, tell = np.random.default_rng(seed), progress or (lambda done, total: None)
    unbiased, model = estimates_of(table.pool, drawn.sample, judged, asked, table.depth, rng, tell)
    plain = _plain_infap(table, drawn, asked, assumed_is_judged) if len(drawn.strata) == 1 else None
    return Estimated(table.systems, table.left_out, drawn, unbiased, model, plain)


def estimates_of(
    prepared: Prepared, sample: Sample, judged: Flags, asked: Flags, depth: Ints, rng: np.random.Generator, tell: Tell
) -> tuple[dict[str, Estimate], dict[str, Estimate]]:
    """Return the unbiased and the modelled estimates of a sample.

    judged bool [triples]: those with a label; asked bool [questions]; depth int [triples], of the pool.
    """
    table = prepared.table
    found = Estimator(prepared, sample, asked).estimate(sample) | nist_lists(prepared, sample, judged, asked)
    unbiased = {name: without(value) for name, value in found.items()}
    sizes = np.bincount(table.triple[asked[table.question]], minlength=len(sample.stratum)).astype(np.float64)
    for name, size in (("positives", np.ones(len(sizes))), ("answers", sizes)):
        unbiased[name] = of_total(found[name], sample, size)
    by_model = _within(modelled(prepared, sample, asked, depth, (*MEASURED, *MODELLED), rng, tell))
    return unbiased, by_model | {"questions": without(by_model["questions"].value)}


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
