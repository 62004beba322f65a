"""Summarise the curves of a study: degradation, inconsistency, and the effect of predictions on both."""

from collections.abc import Sequence

import numpy as np

from evaluation.models import Study
from evaluation.open_world.kernels.study import METRICS, Pairs, inverted_pairs, slopes
from evaluation.open_world.study_curves import DIVISIONS, DensityCurves, StudyView, densities_of
from evaluation.sections.builders import chart, series_of
from evaluation.sections.section import Cell, Column, Section, Table, cell, numbers

UNDEFINED = {
    "slope": "the full metric is the same at all checkpoints",
    "fall": "the slope of the lower half is not above 0",
    "pairs": "fewer than two systems, or no two checkpoints differ",
    "rho": "all or none of the answers is predicted",
}
MEDIAN = "median of the systems, from the lower half of the curve to the upper"
SUMMARY_COLUMNS = [
    Column("fall", "Fall of the slope", "share", MEDIAN),
    Column("inverted", "Inverted pairs", "share", "of checkpoints of different systems"),
    Column("pairs", "Pairs", "count"),
    Column("largest", "Largest inverted difference", note="of the full metric"),
    Column("inverted_last", "Inverted, last checkpoints", "share", "of pairs of systems"),
    Column("pairs_last", "Pairs, last", "count"),
]


def pairs_of(density: DensityCurves, metric: str, last: bool) -> Pairs:
    """Count the inverted pairs of systems at their last checkpoints, or of all their checkpoints."""
    curves = [curve.values for curve in density.curves]
    cut = slice(-1, None) if last else slice(None)
    owner = np.repeat(np.arange(len(curves)), [1 if last else len(v.epochs) for v in curves])
    full, sparse = (np.concatenate([getattr(v, side)[metric][cut] for v in curves]) for side in ("full", "sparse"))
    return inverted_pairs(owner, full, sparse)


def median_fall(density: DensityCurves, metric: str) -> float:
    falls = [slopes(curve.values.full[metric], curve.values.sparse[metric]).fall for curve in density.curves]
    known = [fall for fall in falls if np.isfinite(fall)]
    return float(np.median(known)) if known else float("nan")


def summary_row(density: DensityCurves, metric: str) -> list[Cell]:
    every, last = pairs_of(density, metric, False), pairs_of(density, metric, True)
    shares = [cell(pairs.share, UNDEFINED["pairs"]) for pairs in (every, last)]
    fall = cell(median_fall(density, metric), UNDEFINED["fall"])
    return [fall, shares[0], every.compared, every.largest, shares[1], last.compared]


def summary_section(view: StudyView, found: Sequence[DensityCurves]) -> Section:
    kept = [density for density in found if density.curves]
    rows: list[list[Cell]] = [
        [f"{density.density:g}", label, *summary_row(density, metric)]
        for density in kept
        for metric, label in METRICS.items()
    ]
    densities = [density.density for density in kept]
    series = [
        series_of(label, densities, numbers([pairs_of(density, metric, False).share for density in kept]), measure=i)
        for i, (metric, label) in enumerate(METRICS.items())
    ]
    label, axis = "Share of inverted pairs over the density, a line a metric", {"autorange": "reversed"}
    columns = [Column("density", "Density", "text"), Column("metric", "Metric", "measure"), *SUMMARY_COLUMNS]
    return Section(
        "summary",
        "Degradation and inconsistency",
        "Degradation: the sparse metric grows less and less while the full one still grows. Inconsistency: of two "
        "checkpoints of different systems, the one that is better on the full set looks worse on the sparse one.",
        f"All densities; missing answers: {view.words}. Sparser test sets to the right.",
        [Table("summary", "Degradation and inconsistency", columns, rows)],
        chart("lines", label, series, x="density", y="share of inverted pairs", xaxis=axis),
        _finding(kept[-1]),
    )


def _finding(density: DensityCurves) -> str:
    falls = {metric: median_fall(density, metric) for metric in ("mrr", "log_mrr", "p_mrr")}
    shares = {metric: pairs_of(density, metric, False).share for metric in falls}
    if not all(np.isfinite([*falls.values(), *shares.values()])):
        return ""
    told = "; ".join(
        f"{METRICS[metric]} {100 * falls[metric]:.0f} % and {100 * shares[metric]:.1f} %" for metric in falls
    )
    return f"At density {density.density:g}, fall of the slope and inverted pairs: {told}."


def division_sections(study: Study, view: StudyView) -> list[Section]:
    """Return one density under all divisions, without the system that divides: all rows are of the same systems."""
    rows: list[list[Cell]] = []
    for division, words in DIVISIONS.items():
        density = next((d for d in densities_of(study, division, view.chooser) if d.density == view.density), None)
        curves = [c for c in density.curves if c.system != view.chooser] if density else []
        if density is None or not curves:
            continue
        same = DensityCurves(density.density, curves)
        rho = cell(float(np.mean([curve.values.rho for curve in curves])), UNDEFINED["rho"])
        for metric, label in METRICS.items():
            ends = [float(curve.values.sparse[metric][-1]) for curve in curves]
            own = [words.format(chooser=view.chooser), label, rho, float(np.mean(ends)), max(ends) - min(ends)]
            rows.append([*own, *summary_row(same, metric)])
    columns = [
        Column("division", "Missing answers", "text"),
        Column("metric", "Metric", "measure"),
        Column("rho", "ρ", note="of missing and predicted, mean of the systems, last checkpoints"),
        Column("sparse", "Sparse, mean", note="of the systems at their last checkpoints"),
        Column("gap", "Gap", note="between the best and the worst system"),
        *SUMMARY_COLUMNS,
    ]
    if not rows:
        return []
    return [
        Section(
            "divisions",
            "When predictions decide what is missing",
            f"Each question keeps its number of test answers; {view.chooser} says which they are: those that it ranks "
            "best (a graph that was completed with it), or those that it ranks worst. No system is trained anew.",
            f"Density {view.density:g}, the last checkpoint of {view.chooser}, which is left out.",
            [Table("divisions", "Divisions of the open answers", columns, rows)],
        )
    ]
