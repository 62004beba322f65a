"""Tables and curves of a pool, each computed once for a version of labels and ranks, and kept."""

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from django.db import transaction

from evaluation.domain.labelset import label_set
from evaluation.domain.table import pool_table, ranks_version, version
from evaluation.kernels.correlation import bootstrap_tau
from evaluation.kernels.curves import depth_curve, half_curve, stability_curve
from evaluation.kernels.judged import top_shares
from evaluation.kernels.significance import clustered_t_tests, paired_t_tests
from evaluation.kernels.values import Values, values
from evaluation.measures import MEASURES, parse_measure
from evaluation.models import Figure
from pooling.domain.job import Progress, handles
from pooling.enums import JobKind
from pooling.models import Job, Pool

DEFAULT_MEASURES = tuple(measure.name for measure in MEASURES)
CURVE_MEASURES = ("micro_mrr", "micro_hits@10", "macro_mrr", "macro_hits@10", "map@20", "ndcg@20")
# judged@k says how far labels reach, not how good a system is: it orders nothing
RANKING_MEASURES = tuple(name for name in DEFAULT_MEASURES if not name.startswith("judged"))
LABEL_SETS = ("seeds", "current", "full-test")
BOOTSTRAP_SEED = STABILITY_SEED = 7
ALPHA = 0.05
REPEATS = 50

Content = dict[str, Any]


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _numbers(array: np.ndarray) -> list[float | None]:
    return [_number(value) for value in np.asarray(array, dtype=np.float64).tolist()]


# -- what is computed -------------------------------------------------------------------------------------------


def metrics(
    pool: Pool,
    labels: str = "current",
    measures: Sequence[str] = DEFAULT_MEASURES,
    assumed_is_judged: bool = True,
) -> Content:
    """Measures of every system under one label set: {labels, counts, n, systems: {name: {measure: value or null}}}."""
    names = [parse_measure(name).name for name in measures]
    table = pool_table(pool)
    chosen = label_set(pool, table, labels)
    found = values(chosen.prepared, chosen.state, names, assumed_is_judged)
    by_system: dict[str, dict[str, float | None]] = {system: {} for system in table.systems}
    for name in names:
        for system, mean in zip(table.systems, found[name].mean().tolist(), strict=True):
            by_system[system][name] = _number(mean)
    return {
        "labels": labels, "name": chosen.name, "counts": chosen.counts(), "assumed_is_judged": assumed_is_judged,
        "n": {name: found[name].n for name in names}, "systems": by_system, "left_out": table.left_out,
    }  # fmt: skip


def correlations(pool: Pool, one: str = "seeds", other: str = "current") -> Content:
    """Tau-b of each measure between two label sets, with a 95 % bootstrap interval over questions."""
    table = pool_table(pool)
    sets = [label_set(pool, table, key) for key in (one, other)]
    found = [values(s.prepared, s.state, RANKING_MEASURES) for s in sets]
    rows = {}
    for name in RANKING_MEASURES:
        interval = bootstrap_tau(found[0][name], found[1][name], np.random.default_rng(BOOTSTRAP_SEED))
        rows[name] = {
            "tau": _number(interval.tau), "low": _number(interval.low), "high": _number(interval.high),
            "questions": interval.questions, "resamples": interval.resamples, "defined": interval.defined,
        }  # fmt: skip
    return {"one": one, "other": other, "systems": len(table.systems), "measures": rows}


def depth(pool: Pool) -> Content:
    """Measures and taus when only labels to depth d count, d = 0 (seeds) … the pool's depth."""
    table = pool_table(pool)
    chosen = label_set(pool, table, "current")
    curve = depth_curve(chosen.prepared, chosen.state, table.depth, CURVE_MEASURES, deepest=pool.depth)
    return {
        "depths": curve.depths.tolist(), "positives": curve.positives.tolist(), "questions": curve.questions.tolist(),
        "systems": table.systems,
        "means": {name: [_numbers(row) for row in curve.means[name]] for name in CURVE_MEASURES},
        "tau_to_seeds": {name: _numbers(curve.tau_to_seeds[name]) for name in CURVE_MEASURES},
        "tau_to_full": {name: _numbers(curve.tau_to_full[name]) for name in CURVE_MEASURES},
    }  # fmt: skip


def stability(
    pool: Pool, labels: str = "current", progress: Callable[[int, int], None] | None = None
) -> Content:
    """Tau on random subsets of the positives, 20 sizes × 50; and between disjoint halves."""
    table = pool_table(pool)
    chosen = label_set(pool, table, labels)
    rng = np.random.default_rng(STABILITY_SEED)

    def tell(offset: float) -> Callable[[int, int], None]:
        return lambda done, total: progress(int(1000 * (offset + done / total)), 2000) if progress else None

    curve = stability_curve(
        chosen.prepared, chosen.state, CURVE_MEASURES, rng, repeats=REPEATS, progress=tell(0)
    )
    halves = half_curve(chosen.prepared, chosen.state, CURVE_MEASURES, rng, repeats=REPEATS, progress=tell(1))
    return {
        "labels": labels, "positives": curve.positives, "repeats": REPEATS, "systems": len(table.systems),
        "sizes": list(curve.sizes), "half_sizes": list(halves.sizes),
        "mean": {name: _numbers(curve.mean(name)) for name in CURVE_MEASURES},
        "sd": {name: _numbers(curve.sd(name)) for name in CURVE_MEASURES},
        "half_mean": {name: _numbers(halves.mean(name)) for name in CURVE_MEASURES},
        "half_sd": {name: _numbers(halves.sd(name)) for name in CURVE_MEASURES},
    }  # fmt: skip


def t_tests(pool: Pool, labels: str = "current") -> Content:
    """Paired t-tests of all pairs of systems: the p curve of each measure, its area, the share below 0.05."""
    table = pool_table(pool)
    chosen = label_set(pool, table, labels)
    found = values(chosen.prepared, chosen.state, CURVE_MEASURES)
    return {
        "labels": labels, "alpha": ALPHA, "systems": table.systems,
        "measures": {name: _tests(found[name]) for name in CURVE_MEASURES},
    }  # fmt: skip


def _tests(value: Values) -> Content:
    tests = paired_t_tests(value)
    clustered = clustered_t_tests(value) if value.unit == "answer" else None
    return {
        "unit": value.unit, "n": value.n, "p": _numbers(tests.p), "curve": _numbers(tests.curve()),
        "area": _number(tests.area()), "share_below": _number(tests.share_below(ALPHA)),
        "pairs": [tests.first.tolist(), tests.second.tolist()],
        "clustered": clustered and {
            "clusters": clustered.clusters, "curve": _numbers(clustered.curve()),
            "share_below": _number(clustered.share_below(ALPHA)), "area": _number(clustered.area()),
        },
    }  # fmt: skip


def shares(pool: Pool, k: int = 10) -> Content:
    """What stands in the first k candidates of the evaluated questions, per system, under the current labels."""
    table = pool_table(pool)
    chosen = label_set(pool, table, "current")
    found = top_shares(chosen.prepared, chosen.state, table.is_seed, k)
    kinds = ("original", "new", "negative", "assumed_negative", "unjudged", "not_pooled")
    return {
        "k": k, "positions": found.positions,
        "systems": {
            system: {kind: _number(getattr(found, kind)[i]) for kind in kinds}
            for i, system in enumerate(table.systems)
        },
    }  # fmt: skip


# -- kept -------------------------------------------------------------------------------------------------------

QUICK: dict[str, Callable[[Pool], Content]] = {
    **{f"metrics:{key}": partial(metrics, labels=key) for key in LABEL_SETS},
    "correlations:seeds:current": lambda pool: correlations(pool, "seeds", "current"),
    "correlations:seeds:full-test": lambda pool: correlations(pool, "seeds", "full-test"),
    "depth": depth,
    "t_tests:current": t_tests,
    "shares": shares,
}  # fmt: skip


# Seeds and the full test set are what they are, whatever is labelled.
UNLABELLED = ("metrics:seeds", "metrics:full-test", "correlations:seeds:full-test")


def figure(pool: Pool, key: str) -> Figure:
    """A quick figure, computed if what it rests on (labels, ranks) has changed since it was kept; otherwise read."""
    now = ranks_version(pool) if key in UNLABELLED else version(pool)
    kept = Figure.objects.filter(pool=pool, key=key).first()
    if kept is not None and kept.version == now:
        return kept
    started = time.monotonic()
    return _keep(pool, key, now, QUICK[key](pool), time.monotonic() - started)


def _keep(pool: Pool, key: str, at: str, content: Content, seconds: float) -> Figure:
    with transaction.atomic():
        kept, _ = Figure.objects.update_or_create(
            pool=pool, key=key, defaults={"version": at, "content": content, "seconds": seconds}
        )
    return kept


def kept_figure(pool: Pool, key: str) -> Figure | None:
    """A figure as it was last computed, however old."""
    return Figure.objects.filter(pool=pool, key=key).first()


def compute_stability(pool: Pool, progress: Callable[[int, int], None] | None = None) -> Figure:
    """The stability curve takes seconds to minutes: a job computes it, pages show how old it is."""
    now = version(pool)
    kept = kept_figure(pool, "stability:current")
    if kept is not None and kept.version == now:
        return kept
    started = time.monotonic()
    content = stability(pool, "current", progress)
    return _keep(pool, "stability:current", now, content, time.monotonic() - started)


@handles(JobKind.EVALUATE)
def run_evaluate(job: Job, progress: Progress) -> None:
    assert job.pool is not None
    compute_stability(
        job.pool, lambda done, total: progress.report("stability", done // 20, total // 20, "subsets")
    )
