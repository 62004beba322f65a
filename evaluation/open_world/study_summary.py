"""What the curves of a study add up to: degradation, inconsistency, and what predictions do to both."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evaluation.models import Study
from evaluation.open_world.kernels.study import METRICS, Pairs, inverted_pairs, slopes
from evaluation.open_world.study_curves import DIVISIONS, Density, View, densities_of
from evaluation.sections.section import Cell, Chart, Column, Section, Table, cell, numbers

UNDEFINED = {
    "slope": "the full metric is the same at all checkpoints",
    "fall": "the slope of the lower half is not above 0",
    "pairs": "fewer than two systems, or no two checkpoints differ",
    "rho": "all or none of the answers is predicted",
}


def pairs_of(density: Density, metric: str, last: bool) -> Pairs:
    """Pairs of systems at their last checkpoints, or of all their checkpoints."""
    curves = [curve.values for curve in density.curves]
    cut = slice(-1, None) if last else slice(None)
    owner = np.repeat(np.arange(len(curves)), [1 if last else len(v.epochs) for v in curves])
    full, sparse = (np.concatenate([getattr(v, side)[metric][cut] for v in curves]) for side in ("full", "sparse"))
    return inverted_pairs(owner, full, sparse)


def median_fall(density: Density, metric: str) -> float:
    falls = [slopes(curve.values.full[metric], curve.values.sparse[metric]).fall for curve in density.curves]
    known = [fall for fall in falls if np.isfinite(fall)]
    return float(np.median(known)) if known else float("nan")


def summary_row(density: Density, metric: str) -> list[Cell]:
    every, last = pairs_of(density, metric, False), pairs_of(density, metric, True)
    return [
        cell(median_fall(density, metric), UNDEFINED["fall"]),
        cell(every.share, UNDEFINED["pairs"]),
        every.compared,
        every.largest,
        cell(last.share, UNDEFINED["pairs"]),
        last.compared,
    ]


SUMMARY_COLUMNS = [
    Column(
        "fall", "Fall of the slope", "share", "median of the systems, from the lower half of the curve to the upper"
    ),
    Column("inverted", "Inverted pairs", "share", "of checkpoints of different systems"),
    Column("pairs", "Pairs", "count"),
    Column("largest", "Largest inverted difference", note="of the full metric"),
    Column("inverted_last", "Inverted, last checkpoints", "share", "of pairs of systems"),
    Column("pairs_last", "Pairs, last", "count"),
]


def summary_section(view: View, found: Sequence[Density]) -> Section:
    kept = [density for density in found if density.curves]
    rows: list[list[Cell]] = [
        [f"{density.density:g}", label, *summary_row(density, metric)]
        for density in kept
        for metric, label in METRICS.items()
    ]
    series = [
        {
            "name": label,
            "measure": i,
            "x": [density.density for density in kept],
            "y": numbers([pairs_of(density, metric, False).share for density in kept]),
        }
        for i, (metric, label) in enumerate(METRICS.items())
    ]
    chart = Chart(
        "lines",
        "Share of inverted pairs over the density, a line a metric",
        {"series": series, "x": "density", "y": "share of inverted pairs", "xaxis": {"autorange": "reversed"}},
    )
    columns = [Column("density", "Density", "text"), Column("metric", "Metric", "measure"), *SUMMARY_COLUMNS]
    return Section(
        "summary",
        "Degradation and inconsistency",
        "Degradation: the sparse metric grows less and less while the full one still grows. Inconsistency: of two "
        "checkpoints of different systems, the one that is better on the full set looks worse on the sparse one.",
        f"All densities; missing answers: {view.words}. Sparser test sets to the right.",
        [Table("summary", "Degradation and inconsistency", columns, rows)],
        chart,
        _finding(kept[-1]),
    )


def _finding(density: Density) -> str:
    falls = {metric: median_fall(density, metric) for metric in ("mrr", "log_mrr", "p_mrr")}
    shares = {metric: pairs_of(density, metric, False).share for metric in falls}
    if not all(np.isfinite([*falls.values(), *shares.values()])):
        return ""
    told = "; ".join(
        f"{METRICS[metric]} {100 * falls[metric]:.0f} % and {100 * shares[metric]:.1f} %" for metric in falls
    )
    return f"At density {density.density:g}, fall of the slope and inverted pairs: {told}."


def division_sections(study: Study, view: View) -> list[Section]:
    """One density under all divisions; the system that divides is left out, so that all rows are of the same ones."""
    rows: list[list[Cell]] = []
    for division in DIVISIONS:
        density = next((d for d in densities_of(study, division, view.chooser) if d.density == view.density), None)
        curves = [c for c in density.curves if c.system != view.chooser] if density else []
        if density is None or not curves:
            continue
        same = Density(density.density, curves)
        rho = [curve.values.rho for curve in curves]
        words = DIVISIONS[division].format(chooser=view.chooser)
        for metric, label in METRICS.items():
            ends = [float(curve.values.sparse[metric][-1]) for curve in curves]
            rows.append(
                [
                    words,
                    label,
                    cell(float(np.mean(rho)), UNDEFINED["rho"]),
                    float(np.mean(ends)),
                    max(ends) - min(ends),
                    *summary_row(same, metric),
                ]
            )
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
