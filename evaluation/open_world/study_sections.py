"""Build the page of a study: a sparse-full chart for each metric, summaries, graphs and checkpoints."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from evaluation.measures.rank_table import Floats
from evaluation.models import Study
from evaluation.open_world.kernels.study import METRICS, slopes
from evaluation.open_world.study import options_of
from evaluation.open_world.study_curves import DensityCurves, StudyView, SystemCurve, densities_of, theory_curve
from evaluation.open_world.study_summary import UNDEFINED, division_sections, summary_section
from evaluation.sections.builders import chart, series_of, table_of
from evaluation.sections.section import Cell, Column, Json, Section, Table, cell

GAIN = {
    "mrr": "Mean of 1/rank.",
    "hits@1": "Share of ranks at 1.",
    "hits@3": "Share of ranks up to 3.",
    "hits@10": "Share of ranks up to 10.",
    "log_mrr": "Mean of 1/log₂(rank + 1), which looks less at the top.",
    "p_mrr": "Mean of 1/√rank, which looks less at the top.",
}


def study_sections(study: Study, view: StudyView) -> list[Section]:
    """Return all sections of what was evaluated so far; none where nothing was."""
    found = densities_of(study, view.division, view.chooser)
    place = {name: i for i, name in enumerate(options_of(study).systems)}
    shown = next((d for d in found if d.density == view.density and d.curves), None)
    sections = [] if shown is None else [_metric(view, shown, metric, place) for metric in METRICS]
    if any(density.curves for density in found):
        sections += [summary_section(view, found), *division_sections(study, view)]
    if shown is not None:
        sections += [_rests_on(found), _checkpoints(view, shown)]
    return sections


def _metric(view: StudyView, shown: DensityCurves, metric: str, place: Mapping[str, int]) -> Section:
    label = METRICS[metric]
    key = metric.replace("@", "-").replace("_", "-")  # as addresses can have it
    curves = {curve.system: (curve.values.full[metric], curve.values.sparse[metric]) for curve in shown.curves}
    series = [series_of(name, *ends, system=place.get(name, 0)) for name, ends in curves.items()]
    full, sparse = theory_curve(shown.curves[0].run, metric)
    most = max(max(one["x"]) for one in series)
    kept = full <= most * 1.05
    top = 1.08 * max(float(sparse[kept].max()), *(max(one["y"]) for one in series))
    series += [_quiet("theory", full[kept], sparse[kept], "solid"), _quiet("y = x", [0.0, most], [0.0, most], "dot")]
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
    last, lower = "last checkpoint, ", "of the curve in the lower half of its range"
    return table_of(
        key,
        title,
        curves,
        [
            (Column("system", "System", "system"), lambda name: name),
            (Column("full", "Full", note=f"{last}all open answers"), lambda name: float(curves[name][0][-1])),
            (Column("sparse", "Sparse", note=f"{last}test answers only"), lambda name: float(curves[name][1][-1])),
            (
                Column("slope_lower", "Slope, lower half", note=lower),
                lambda name: cell(bent[name].first, UNDEFINED["slope"]),
            ),
            (
                Column("slope_upper", "Slope, upper half", note="in the upper half"),
                lambda name: cell(bent[name].last, UNDEFINED["slope"]),
            ),
            (Column("fall", "Fall of the slope", "share"), lambda name: cell(bent[name].fall, UNDEFINED["fall"])),
        ],
    )


def _quiet(name: str, x: Any, y: Any, dash: str) -> Json:
    return series_of(name, x, y, plain=True, quiet=True, dash=dash)


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
            (
                Column("mean_answers", "N", note="open answers of a question, mean"),
                lambda density: ratio(density, "open", "asked", 0.0),
            ),
            (
                Column("beta", "β", "share", "share of the open answers that is missing"),
                lambda density: 1 - ratio(density, "test", "open", 1.0),
            ),
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
