"""The page of a study as sections: a sparse-full chart for each metric, and what they add up to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from evaluation.models import Study
from evaluation.open_world.kernels.study import METRICS, slopes
from evaluation.open_world.study import options_of
from evaluation.open_world.study_curves import Curve, Density, View, densities_of, theory_curve
from evaluation.open_world.study_summary import UNDEFINED, division_sections, summary_section
from evaluation.sections.section import Cell, Chart, Column, Json, Section, Table, cell, numbers

GAIN = {
    "mrr": "Mean of 1/rank.",
    "hits@1": "Share of ranks at 1.",
    "hits@3": "Share of ranks up to 3.",
    "hits@10": "Share of ranks up to 10.",
    "log_mrr": "Mean of 1/log₂(rank + 1), which looks less at the top.",
    "p_mrr": "Mean of 1/√rank, which looks less at the top.",
}


def study_sections(study: Study, view: View) -> list[Section]:
    """All sections of what was evaluated so far; none where nothing was."""
    found = densities_of(study, view.division, view.chooser)
    place = {name: i for i, name in enumerate(options_of(study).systems)}
    shown = next((d for d in found if d.density == view.density and d.curves), None)
    sections = [] if shown is None else [_metric(view, shown, metric, place) for metric in METRICS]
    if any(density.curves for density in found):
        sections += [summary_section(view, found), *division_sections(study, view)]
    if shown is not None:
        sections += [_rests_on(found), _checkpoints(view, shown)]
    return sections


def _metric(view: View, shown: Density, metric: str, place: Mapping[str, int]) -> Section:
    label = METRICS[metric]
    rows: list[list[Cell]] = []
    series: list[Json] = []
    for curve in shown.curves:
        full, sparse = curve.values.full[metric], curve.values.sparse[metric]
        slope = slopes(full, sparse)
        rows.append(
            [
                curve.system,
                float(full[-1]),
                float(sparse[-1]),
                cell(slope.first, UNDEFINED["slope"]),
                cell(slope.last, UNDEFINED["slope"]),
                cell(slope.fall, UNDEFINED["fall"]),
            ]
        )
        series.append(
            {"name": curve.system, "x": numbers(full), "y": numbers(sparse), "system": place.get(curve.system, 0)}
        )
    expected = theory_curve(shown.curves[0].run, metric)
    most = max(max(one["x"]) for one in series)
    kept = expected[0] <= most * 1.05
    top = 1.08 * max(float(expected[1][kept].max()), *(max(one["y"]) for one in series))
    series.append(_line("theory", expected[0][kept], expected[1][kept]))
    series.append(_line("y = x", [0, most], [0, most]))
    chart = Chart(
        "lines",
        f"{label} on the sparse test set over {label} on the full one, a line a system",
        {"series": series, "x": f"{label}, full test set", "y": f"{label}, sparse test set", "yrange": [0, top]},
    )
    columns = [
        Column("system", "System", "system"),
        Column("full", "Full", note="last checkpoint, all open answers"),
        Column("sparse", "Sparse", note="last checkpoint, test answers only"),
        Column("slope_lower", "Slope, lower half", note="of the curve in the lower half of its range"),
        Column("slope_upper", "Slope, upper half", note="in the upper half"),
        Column("fall", "Fall of the slope", "share"),
    ]
    key = metric.replace("@", "-").replace("_", "-")  # as addresses can have it
    table = Table(f"{key}-systems", f"{label} of the systems", columns, rows)
    caption = f"{_caption(view, shown.curves[0])} Theory: strengths from 0 to 1, missing answers drawn."
    return Section(key, label, GAIN[metric], caption, [table], chart)


def _line(name: str, x: Sequence[float] | np.ndarray, y: Sequence[float] | np.ndarray) -> Json:
    dash = "solid" if name == "theory" else "dot"
    return {"name": name, "x": numbers(x), "y": numbers(y), "plain": True, "quiet": True, "dash": dash}


def _caption(view: View, curve: Curve) -> str:
    v = curve.values
    return (
        f"Density {view.density:g}; missing answers: {view.words}. A point per checkpoint. Full: {v.open:,} answers to "
        f"{v.asked:,} questions; sparse: {v.test:,} answers to {v.asked_sparse:,}. Means over questions."
    )


def _rests_on(found: Sequence[Density]) -> Section:
    rows: list[list[Cell]] = []
    for density in (d for d in found if d.curves):
        run, v = density.curves[0]
        graph = run.graph
        rows.append(
            [
                f"{density.density:g}",
                graph.name,
                graph.num_entities,
                graph.num_train,
                graph.num_valid,
                graph.num_test,
                v.asked,
                v.asked_sparse,
                v.open,
                v.open / v.asked if v.asked else 0.0,
                1 - v.test / v.open if v.open else 0.0,
            ]
        )
    columns = [
        Column("density", "Density", "text"),
        Column("graph", "Graph", "text"),
        Column("entities", "People", "count"),
        Column("train", "Train", "count"),
        Column("valid", "Valid", "count"),
        Column("test", "Test", "count"),
        Column("questions", "Questions, full", "count"),
        Column("questions_sparse", "Questions, sparse", "count"),
        Column("answers", "Open answers", "count", "outside train and valid"),
        Column("mean_answers", "N", note="open answers of a question, mean"),
        Column("beta", "β", "share", "share of the open answers that is missing"),
    ]
    return Section(
        "rests-on",
        "What it rests on",
        "The graphs have the same people and facts; only the division differs.",
        "Tail questions with enough answers among all true facts.",
        [Table("rests-on", "Graphs and questions", columns, rows)],
    )


def _checkpoints(view: View, shown: Density) -> Section:
    columns = [
        Column("system", "System", "system"),
        Column("epoch", "Epoch", "count"),
        Column("strength", "ℓ", "share", "open answers with no wrong entity above them"),
        *(
            Column(f"{metric}_{side}", f"{label}, {side}")
            for metric, label in METRICS.items()
            for side in ("full", "sparse")
        ),
    ]
    rows: list[list[Cell]] = [
        [
            curve.system,
            epoch,
            float(curve.values.strength[i]),
            *(float(getattr(curve.values, side)[metric][i]) for metric in METRICS for side in ("full", "sparse")),
        ]
        for curve in shown.curves
        for i, epoch in enumerate(curve.values.epochs)
    ]
    return Section(
        "checkpoints",
        "All checkpoints",
        "Epoch 0 is before training.",
        _caption(view, shown.curves[0]),
        [Table("checkpoints", "All checkpoints", columns, rows, in_files=True)],
    )
