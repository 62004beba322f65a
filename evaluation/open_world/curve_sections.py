"""Sections of the open-world page about one model: what a metric is expected to say, over its strength."""

from __future__ import annotations

from typing import Any

import numpy as np

from evaluation.measures.rank_table import Floats
from evaluation.open_world.kernels.theory import (
    ENTITIES,
    allowed_rho,
    derivative,
    expected_metric,
    mrr_approximation,
    mrr_approximation_bound,
)
from evaluation.open_world.world_settings import (
    LABELS,
    NO_TEST_ANSWER,
    SPARSITIES,
    WorldSettings,
    repeats_for,
    simulated,
)
from evaluation.sections.section import Cell, Chart, Column, Section, Table, cell, numbers

STRENGTHS = np.linspace(0.02, 1.0, 50)
POINTS = np.linspace(0.1, 1.0, 10)  # of the simulation
CORRELATIONS = (-0.1, 0.0, 0.1, 0.2)  # the paper's figure 2
NO_LOGARITHM = "the logarithm has no value where β or ℓ is 0"

# -- theory against simulation ----------------------------------------------------------------------------------


def theory(settings: WorldSettings) -> Section:
    """Figure 1 of the paper (2, with a correlation): the four sparsities, and the chosen one."""
    betas = sorted({*SPARSITIES, settings.beta})
    repeats = repeats_for(settings.n, len(betas) * len(POINTS))
    series: list[dict[str, Any]] = []
    rows: list[list[Cell]] = []
    for i, beta in enumerate(betas):
        name = f"β = {beta:g}" + (" (chosen)" if beta == settings.beta else "")
        of_beta, told = _one_curve(settings, beta, settings.rho, repeats, {"measure": i, "name": name})
        series += of_beta
        rows += [[beta, *row] for row in told]
    chosen = expected_metric(settings.n, settings.beta, settings.strength, settings.metric, rho=settings.rho)
    series.append(
        {
            "name": "these settings",
            "measure": betas.index(settings.beta),
            "x": [settings.strength],
            "y": [float(chosen)],
            "ring": True,
        }
    )
    return Section(
        "theory",
        f"{settings.label}: theory against simulation",
        "The reported number against the strength of the model. Where the curve is flat, a better model hardly reports"
        " more; the sparser the test set, the flatter.",
        f"N = {settings.n}, ρ = {_signed(settings.rho)}, {ENTITIES:,} entities. Ring: these settings."
        f" {_legend(settings, repeats)}",
        [
            Table(
                "theory",
                f"{settings.label}, expected and simulated",
                [Column("beta", "β", "value"), *_columns(settings)],
                rows,
            )
        ],
        Chart(
            "lines",
            f"{settings.label} against strength, for {len(betas)} sparsities",
            {"series": series, "x": "strength ℓ", "y": settings.label, "yaxis": {"rangemode": "tozero"}},
        ),
        notes=_notes(settings),
    )


def correlation(settings: WorldSettings) -> Section:
    """Figure 2 of the paper: one sparsity under several correlations."""
    rhos = sorted({*CORRELATIONS, settings.rho})
    repeats = repeats_for(settings.n, len(rhos) * len(POINTS))
    series: list[dict[str, Any]] = []
    rows: list[list[Cell]] = []
    for i, rho in enumerate(rhos):
        name = f"ρ = {_signed(rho)}" + (" (chosen)" if rho == settings.rho else "")
        of_rho, told = _one_curve(settings, settings.beta, rho, repeats, {"measure": i, "name": name})
        series += of_rho
        rows += [[rho, *row] for row in told]
    return Section(
        "correlation",
        f"{settings.label} when what is missing is what the model recognises",
        "Of two models of one strength, the one whose recognised answers are missing more often (larger ρ) reports"
        " less. More questions do not mend this.",
        f"N = {settings.n}, β = {settings.beta:g}. A curve is drawn where its ρ can be. {_legend(settings, repeats)}",
        [
            Table(
                "correlation",
                f"{settings.label} by correlation",
                [Column("rho", "ρ", "value"), *_columns(settings)],
                rows,
            )
        ],
        Chart(
            "lines",
            f"{settings.label} against strength, for {len(rhos)} correlations",
            {"series": series, "x": "strength ℓ", "y": settings.label, "yaxis": {"rangemode": "tozero"}},
        ),
    )


def _one_curve(
    settings: WorldSettings, beta: float, rho: float, repeats: int, look: dict[str, Any]
) -> tuple[list[dict[str, Any]], list[list[Cell]]]:
    """The series of a sparsity and a correlation, and rows of the table: strength, theory, logarithm, simulation."""
    metric, n = settings.metric, settings.n
    levels, points = _possible(beta, STRENGTHS, rho), _possible(beta, POINTS, rho)
    theory = expected_metric(n, beta, levels, metric, rho=rho)
    series = [{**look, "x": numbers(levels), "y": numbers(theory), "plain": True}]
    if metric == "mrr":
        near = mrr_approximation(n, beta, levels, rho)
        series.append({**look, "x": numbers(levels), "y": numbers(np.where(near > 0, near, np.nan)), "thin": True})
    else:
        whole = expected_metric(n, beta, levels, metric, rho=rho, entities=ENTITIES)
        series.append({**look, "x": numbers(levels), "y": numbers(whole), "thin": True})
    if not points.size:
        return series, []
    (drawn,) = simulated(n, (beta,), tuple(points.tolist()), (metric,), repeats, rho)
    mean, error = drawn.mean[0], drawn.error[0]
    series.append(
        {
            **look,
            "name": f"{look['name']}, simulated",
            "x": numbers(points),
            "y": numbers(mean),
            "spread": numbers(2 * error),
            "marks": True,
        }
    )
    expected = expected_metric(n, beta, points, metric, rho=rho)
    rest = expected_metric(n, beta, points, metric, rho=rho, entities=ENTITIES)
    second = mrr_approximation(n, beta, points, rho) if metric == "mrr" else rest
    rows: list[list[Cell]] = [
        [
            float(points[j]),
            float(expected[j]),
            cell(second[j], NO_LOGARITHM),
            cell(mean[j], NO_TEST_ANSWER),
            cell(error[j], NO_TEST_ANSWER),
            cell(drawn.sd[0, j], NO_TEST_ANSWER),
        ]
        for j in range(points.size)
    ]
    return series, rows


def _possible(beta: float, strengths: Floats, rho: float) -> Floats:
    """The strengths at which there can be such a correlation."""
    if rho == 0:
        return strengths
    low, high = allowed_rho(beta, strengths)
    return strengths[(low <= rho) & (rho <= high)]


def _columns(settings: WorldSettings) -> list[Column]:
    second = "Logarithm" if settings.metric == "mrr" else "Ê and the rest"
    return [
        Column("strength", "ℓ", "value"),
        Column("expected", "Ê", "value"),
        Column("second", second, "value"),
        Column("simulated", "Simulated", "value"),
        Column("error", "Standard error", "value"),
        Column("sd", "Deviation", "value", "Standard deviation between questions."),
    ]


def _legend(settings: WorldSettings, repeats: int) -> str:
    thin = "the logarithm of Theorem 4.1" if settings.metric == "mrr" else "Ê and the rest"
    return (
        f"Thick: Ê; thin: {thin}; points: the mean of {repeats:,} simulated questions ± 2 of its standard errors (the"
        " deviation between questions is in the table)."
    )


def _notes(settings: WorldSettings) -> list[str]:
    notes = []
    if settings.metric in ("log_mrr", "p_mrr"):
        notes.append(
            f"Ê leaves out what answers add that the model does not recognise. For {settings.label} that is not little;"
            " the thin curve has it."
        )
    none = settings.beta**settings.n
    if none > 0.01:
        notes.append(
            f"At β = {settings.beta:g}, {100 * none:.1f} % of the questions of {settings.n} answers have no test"
            " answer. The simulation leaves them out, Ê does not."
        )
    return notes


# -- the logarithm, and slopes ----------------------------------------------------------------------------------


def approximation(settings: WorldSettings) -> Section:
    n, beta, rho = settings.n, settings.beta, settings.rho
    levels = _possible(beta, STRENGTHS, rho)
    exact, near = expected_metric(n, beta, levels, "mrr", rho=rho), mrr_approximation(n, beta, levels, rho)
    error, bound = np.abs(near - exact), mrr_approximation_bound(n, beta, levels, rho)
    rows: list[list[Cell]] = [
        [
            float(levels[j]),
            float(exact[j]),
            cell(near[j], NO_LOGARITHM),
            cell(error[j], NO_LOGARITHM),
            cell(bound[j], NO_LOGARITHM),
        ]
        for j in range(levels.size)
    ]
    series = [
        {"name": "error", "measure": 0, "x": numbers(levels), "y": numbers(error), "plain": True},
        {"name": "its bound", "measure": 1, "x": numbers(levels), "y": numbers(bound), "plain": True},
    ]
    return Section(
        "approximation",
        "How good the logarithm is",
        "Theorem 4.1 puts a logarithm of the strength in the place of Ê of MRR. Its error, and the bound that the paper"
        " proves, by strength.",
        f"N = {n}, β = {beta:g}, ρ = {_signed(rho)}. MRR.",
        [
            Table(
                "approximation",
                "Error of the logarithm and its bound",
                [
                    Column("strength", "ℓ", "value"),
                    Column("expected", "Ê", "value"),
                    Column("near", "Logarithm", "value"),
                    Column("error", "Error", "value"),
                    Column("bound", "Bound", "value"),
                ],
                rows,
            )
        ],
        Chart(
            "lines",
            "Error of the logarithm and its bound, against strength",
            {
                "series": series,
                "x": "strength ℓ",
                "y": "absolute error",
                "yaxis": {"type": "log", "dtick": 1, "exponentformat": "none"},
            },
        ),
    )


def slopes(settings: WorldSettings) -> Section:
    """Corollaries 4.1-4.3 and the paper's §5: how much of a gain in strength each metric reports."""
    found = {name: derivative(settings.n, settings.beta, STRENGTHS, name) for name in settings.metrics}
    series = [
        {"name": LABELS[name], "measure": i, "x": numbers(STRENGTHS), "y": numbers(slope), "plain": True}
        for i, (name, slope) in enumerate(found.items())
    ]
    rows: list[list[Cell]] = [
        [float(level), *(float(slope[j]) for slope in found.values())] for j, level in enumerate(STRENGTHS)
    ]
    here = {name: float(derivative(settings.n, settings.beta, settings.strength, name)) for name in found}
    steep, flat = max(here, key=lambda name: here[name]), min(here, key=lambda name: here[name])
    return Section(
        "slopes",
        "Slope: how much of a gain in strength is reported",
        "1 where the metric rises as the strength does. Metrics that look at the top only fall most.",
        f"N = {settings.n}, β = {settings.beta:g}, no correlation. dÊ/dℓ.",
        [
            Table(
                "slopes",
                "Slope by strength",
                [Column("strength", "ℓ", "value"), *(Column(name, LABELS[name], "value") for name in found)],
                rows,
            )
        ],
        Chart(
            "lines",
            "Slope of each metric against strength",
            {"series": series, "x": "strength ℓ", "y": "slope dÊ/dℓ", "yrange": [0, 1.05]},
        ),
        finding=""
        if here[steep] == here[flat]
        else f"At ℓ = {settings.strength:g}, 0.1 more strength is about {here[flat] / 10:.3f} more {LABELS[flat]}, and"
        f" {here[steep] / 10:.3f} more {LABELS[steep]}.",
    )


def _signed(value: float) -> str:
    return f"{value:g}".replace("-", "−")
