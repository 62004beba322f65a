"""Build the page of a study: a sparse-full chart for each metric, summaries, graphs and checkpoints."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from evaluation.measures.rank_table import Floats
from evaluation.models import Study
from evaluation.open_world.kernels.study import METRICS, Pairs, inverted_pairs, slopes
from evaluation.open_world.study import options_of
from evaluation.open_world.study_curves import (
    DIVISIONS,
    DensityCurves,
    StudyView,
    SystemCurve,
    densities_of,
    division_words,
    theory_curve,
)
from evaluation.sections.builders import chart, series_of, table_of
from evaluation.sections.section import Cell, Column, Section, Table, cell, numbers
from pooling.systems.shown_names import shown_name

GAIN = {
    "mrr": "Mean of 1/rank.",
    "hits@1": "Share of ranks at 1.",
    "hits@3": "Share of ranks up to 3.",
    "hits@10": "Share of ranks up to 10.",
    "log_mrr": "Mean of 1/log₂(rank + 1), which looks less at the top.",
    "p_mrr": "Mean of 1/√rank, which looks less at the top.",
}
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


def study_sections(study: Study, view: StudyView) -> list[Section]:
    """Return all sections of what was evaluated so far; none where nothing was."""
    found = densities_of(study, view.division, view.chooser)
    place = {name: i for i, name in enumerate(options_of(study).systems)}
    shown = next((d for d in found if d.density == view.density and d.curves), None)
    sections = [] if shown is None else [metric_section(view, shown, metric, place) for metric in METRICS]
    if any(density.curves for density in found):
        sections += [summary_section(view, found), *division_sections(study, view)]
    if shown is not None:
        sections += [_rests_on(found), _checkpoints(view, shown)]
    return sections


def metric_section(view: StudyView, shown: DensityCurves, metric: str, place: Mapping[str, int]) -> Section:
    """Show the curve of each system, sparse over full, of one metric, with the one that theory expects."""
    label = METRICS[metric]
    key = metric.replace("@", "-").replace("_", "-")  # as addresses can have it
    curves = {curve.system: (curve.values.full[metric], curve.values.sparse[metric]) for curve in shown.curves}
    series = [series_of(name, *ends, system=place.get(name, 0)) for name, ends in curves.items()]
    full, sparse = theory_curve(shown.curves[0].run, metric)
    most = max(max(one["x"]) for one in series)
    kept = full <= most * 1.05
    top = 1.08 * max(float(sparse[kept].max(initial=0.0)), *(max(one["y"]) for one in series))
    series.append(series_of("theory", full[kept], sparse[kept], plain=True, quiet=True, dash="solid"))
    series.append(series_of("y = x", [0.0, most], [0.0, most], plain=True, quiet=True, dash="dot"))
    axes = {"x": f"{label}, full test set", "y": f"{label}, sparse test set", "yrange": [0, top]}
    return Section(
        key,
        label,
        GAIN[metric],
        f"{_caption(view, shown.curves[0])} Theory: strengths from 0 to 1, missing answers drawn.",
        [_slopes_table(f"{key}-systems", f"{label} of the systems", curves)],
        chart("lines", f"{label} on the sparse test set over {label} on the full one, a line a system", series, **axes),
    )


def _slopes_table(key: str, title: str, curves: Mapping[str, tuple[Floats, Floats]]) -> Table:
    bent = {name: slopes(*ends) for name, ends in curves.items()}
    last, level = "last checkpoint, ", UNDEFINED["slope"]
    lower, upper = "of the curve in the lower half of its range", "in the upper half"
    return table_of(
        key,
        title,
        curves,
        [
            (Column("system", "System", "system"), lambda name: name),
            (Column("full", "Full", note=f"{last}all open answers"), lambda name: float(curves[name][0][-1])),
            (Column("sparse", "Sparse", note=f"{last}test answers only"), lambda name: float(curves[name][1][-1])),
            (Column("slope_lower", "Slope, lower half", note=lower), lambda name: cell(bent[name].first, level)),
            (Column("slope_upper", "Slope, upper half", note=upper), lambda name: cell(bent[name].last, level)),
            (Column("fall", "Fall of the slope", "share"), lambda name: cell(bent[name].fall, UNDEFINED["fall"])),
        ],
    )


def _caption(view: StudyView, curve: SystemCurve) -> str:
    v = curve.values
    return (
        f"Density {view.density:g}; missing answers: {view.words}. A point per checkpoint. Full: {v.open:,} answers to "
        f"{v.asked:,} questions; sparse: {v.test:,} answers to {v.asked_sparse:,}. Means over questions."
    )


def _rests_on(found: Sequence[DensityCurves]) -> Section:
    def graph(name: str) -> Callable[[DensityCurves], Cell]:
        return lambda density: getattr(density.curves[0].run.graph, name)

    def value(name: str) -> Callable[[DensityCurves], Cell]:
        return lambda density: getattr(density.curves[0].values, name)

    def ratio(density: DensityCurves, part: str, whole: str, otherwise: float) -> float:
        of, by = (getattr(density.curves[0].values, name) for name in (part, whole))
        return of / by if by else otherwise

    mean, missing = "open answers of a question, mean", "share of the open answers that is missing"
    table = table_of(
        "rests-on",
        "Graphs and questions",
        [density for density in found if density.curves],
        [
            (Column("density", "Density", "text"), lambda density: f"{density.density:g}"),
            (Column("graph", "Graph", "text"), graph("name")),
            (Column("entities", "People", "count"), graph("num_entities")),
            (Column("train", "Train", "count"), graph("num_train")),
            (Column("valid", "Valid", "count"), graph("num_valid")),
            (Column("test", "Test", "count"), graph("num_test")),
            (Column("questions", "Questions, full", "count"), value("asked")),
            (Column("questions_sparse", "Questions, sparse", "count"), value("asked_sparse")),
            (Column("answers", "Open answers", "count", "outside train and valid"), value("open")),
            (Column("mean_answers", "N", note=mean), lambda one: ratio(one, "open", "asked", 0.0)),
            (Column("beta", "β", "share", missing), lambda one: 1 - ratio(one, "test", "open", 1.0)),
        ],
    )
    return Section(
        "rests-on",
        "What it rests on",
        "The graphs have the same people and facts; only the division differs.",
        "Tail questions with enough answers among all true facts.",
        [table],
    )


def _checkpoints(view: StudyView, shown: DensityCurves) -> Section:
    sides = [(metric, side) for metric in METRICS for side in ("full", "sparse")]
    columns = [
        Column("system", "System", "system"),
        Column("epoch", "Epoch", "count"),
        Column("strength", "ℓ", "share", "open answers with no wrong entity above them"),
        *(Column(f"{metric}_{side}", f"{METRICS[metric]}, {side}") for metric, side in sides),
    ]
    rows: list[list[Cell]] = []
    for curve in shown.curves:
        values = [curve.values.strength, *(getattr(curve.values, side)[metric] for metric, side in sides)]
        epochs = zip(curve.values.epochs, np.stack(values, axis=1).tolist(), strict=True)
        rows += [[curve.system, epoch, *own] for epoch, own in epochs]
    return Section(
        "checkpoints",
        "All checkpoints",
        "Epoch 0 is before training.",
        _caption(view, shown.curves[0]),
        [Table("checkpoints", "All checkpoints", columns, rows, in_files=True)],
    )


def pairs_of(density: DensityCurves, metric: str, last: bool) -> Pairs:
    """Count the inverted pairs of systems at their last checkpoints, or of all their checkpoints."""
    curves = [curve.values for curve in density.curves]
    cut = slice(-1, None) if last else slice(None)
    owner = np.repeat(np.arange(len(curves)), [1 if last else len(v.epochs) for v in curves])
    full, sparse = (np.concatenate([getattr(v, side)[metric][cut] for v in curves]) for side in ("full", "sparse"))
    return inverted_pairs(owner, full, sparse)


def median_fall(density: DensityCurves, metric: str) -> float:
    """Return how much less steep the curves are above than below, the median of the systems; nan where none has it."""
    falls = [slopes(curve.values.full[metric], curve.values.sparse[metric]).fall for curve in density.curves]
    known = [fall for fall in falls if np.isfinite(fall)]
    return float(np.median(known)) if known else float("nan")


def summary_row(density: DensityCurves, metric: str) -> list[Cell]:
    """Return the cells of SUMMARY_COLUMNS."""
    every, last = pairs_of(density, metric, False), pairs_of(density, metric, True)
    shares = [cell(pairs.share, UNDEFINED["pairs"]) for pairs in (every, last)]
    fall = cell(median_fall(density, metric), UNDEFINED["fall"])
    return [fall, shares[0], every.compared, every.largest, shares[1], last.compared]


def summary_section(view: StudyView, found: Sequence[DensityCurves]) -> Section:
    """Show degradation and inconsistency of every metric by density."""
    kept = [density for density in found if density.curves]
    rows: list[list[Cell]] = [
        [f"{density.density:g}", label, *summary_row(density, metric)]
        for density in kept
        for metric, label in METRICS.items()
    ]
    densities = [density.density for density in kept]
    shares = {metric: numbers([pairs_of(density, metric, False).share for density in kept]) for metric in METRICS}
    series = [series_of(METRICS[name], densities, own, measure=i) for i, (name, own) in enumerate(shares.items())]
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
    told = [f"{METRICS[name]} {100 * fall:.0f} % and {100 * shares[name]:.1f} %" for name, fall in falls.items()]
    return f"At density {density.density:g}, fall of the slope and inverted pairs: {'; '.join(told)}."


def division_sections(study: Study, view: StudyView) -> list[Section]:
    """Return one density under all divisions, without the system that divides: all rows are of the same systems."""
    rows: list[list[Cell]] = []
    for division in DIVISIONS:
        density = next((d for d in densities_of(study, division, view.chooser) if d.density == view.density), None)
        curves = [c for c in density.curves if c.system != view.chooser] if density else []
        if density is None or not curves:
            continue
        same = DensityCurves(density.density, curves)
        rho = cell(float(np.mean([curve.values.rho for curve in curves])), UNDEFINED["rho"])
        for metric, label in METRICS.items():
            ends = [float(curve.values.sparse[metric][-1]) for curve in curves]
            own = [division_words(division, view.chooser), label, rho, float(np.mean(ends)), max(ends) - min(ends)]
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
            f"Each question keeps its number of test answers. {shown_name(view.chooser)} says which they are: those it"
            " ranks best (as in a graph completed with it), or those it ranks worst. No system is trained anew.",
            f"Density {view.density:g}, the last checkpoint of {shown_name(view.chooser)}, which is left out.",
            [Table("divisions", "Divisions of the open answers", columns, rows)],
        )
    ]
