"""Build the theory sections about two models: how often the weaker one looks better, and how to prevent it."""

import math

import numpy as np

from evaluation.measures.rank_table import Floats
from evaluation.open_world.kernels.theory import (
    chance_to_mistake,
    expected_metric,
    inconsistency_probability,
    required_questions,
)
from evaluation.open_world.theory_settings import METRICS, NO_TEST_ANSWER, TheorySettings, pair_repeats, simulated
from evaluation.sections.builders import chart, series_of
from evaluation.sections.section import Cell, Column, Section, Table, cell

ASKED = np.unique(np.round(np.logspace(1, 5, 41)).astype(int))  # numbers of questions in the chart
SHOWN = (50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 50_000)  # and in the table
CHANCES = (0.01, 0.05, 0.1)
DELTAS = np.array([0.005, 0.01, 0.02, 0.05, 0.1, 0.2])
NO_STRONGER = "no model is stronger than ℓ = 1"
UNDEFINED = "not defined where β or ℓ is 0"


def variances(settings: TheorySettings) -> Floats:
    """Return the variances of one question without correlation, [metrics, 2]: the model and the stronger one.

    nan where there are no test answers.
    """
    levels = (settings.strength, settings.stronger)
    drawn = simulated(settings.n, (settings.beta,), levels, settings.metrics, pair_repeats(settings), 0.0)
    return np.stack([found.sd[0] ** 2 for found in drawn])


def inconsistency(settings: TheorySettings) -> Section:
    """Show the probability of the wrong order: Theorem 4.2 of the paper, and with Ê for every metric."""
    spread, metrics = variances(settings), settings.metrics

    def chances(questions: np.ndarray) -> list[Floats]:
        by_metric = [_chances(settings, name, spread[i], questions) for i, name in enumerate(metrics)]
        return [_by_logarithm(settings, spread, questions), *by_metric]

    dotted, *curves = chances(ASKED)
    series = [
        series_of(METRICS[name], ASKED, values, measure=i, plain=True)
        for i, (name, values) in enumerate(zip(metrics, curves, strict=True))
    ]
    series.append(series_of("MRR, logarithm", ASKED, dotted, plain=True, quiet=True, dash="dot"))
    shown = np.array(sorted({*SHOWN, settings.questions}))
    told = chances(shown)
    rows: list[list[Cell]] = [
        [int(questions), *(cell(values[j], UNDEFINED) for values in told)] for j, questions in enumerate(shown)
    ]
    columns = [
        Column("questions", "Questions", "count"),
        Column("logarithm", "MRR, logarithm", "p"),
        *(Column(name, METRICS[name], "p") for name in metrics),
    ]
    label, axis = "Probability of the wrong order against the number of questions", {"type": "log", "dtick": 1}
    here = float(told[1][int(np.flatnonzero(shown == settings.questions)[0])])
    return Section(
        "inconsistency",
        "How often the weaker model looks at least as good",
        "Two independent models, one stronger by Δℓ, on the same number of questions. The dotted curve is the paper's"
        " Theorem 4.2, with the logarithm for MRR; the others take Ê of their metric.",
        f"N = {settings.n}, β = {settings.beta:g}, ℓ = {settings.strength:g} and {settings.stronger:g}, no correlation."
        f" Variances from {pair_repeats(settings):,} simulated questions.",
        [Table("inconsistency", "Probability that the weaker model looks at least as good", columns, rows)],
        chart("lines", label, series, x="questions", y="P(wrong order)", yrange=[0, 0.52], xaxis=axis),
        finding=""
        if math.isnan(here)
        else f"On {settings.questions:,} questions the weaker model has at least the {settings.label} of the stronger"
        f" one with probability {here:.3f}.",
        notes=_notes(settings),
    )


def required(settings: TheorySettings) -> Section:
    """Show the number of questions that puts two models in the right order: Corollary 4.4 of the paper."""
    variance = float(variances(settings)[settings.metrics.index("mrr"), 0])
    reason = NO_TEST_ANSWER if math.isnan(variance) else NO_STRONGER if settings.strength == 1 else UNDEFINED
    most = 1 - settings.strength
    deltas = DELTAS[most >= DELTAS] if most >= DELTAS[0] else np.array([most])
    fine = np.logspace(math.log10(0.002), math.log10(max(0.0021, min(0.3, most))), 30)
    fine = fine[fine <= most]

    def needed(delta: float | Floats, chance: float) -> Floats:
        return required_questions(settings.n, settings.beta, settings.strength, delta, chance, variance)

    series = [
        series_of(f"at most {100 * chance:g} %", fine, needed(fine, chance), measure=i, plain=True)
        for i, chance in enumerate(CHANCES)
    ]
    rows: list[list[Cell]] = [
        [float(delta), *(_whole(needed(delta, chance), reason) for chance in CHANCES)] for delta in deltas
    ]
    columns = [Column(f"at_{p:g}", f"Wrong in at most {100 * p:g} %", "count") for p in CHANCES]
    shown = "" if math.isnan(variance) else f" V(MRR) = {variance:.2e}."
    if deltas[0] > 0 and settings.beta * settings.strength > 0 and not math.isnan(variance):
        constants = [f"{float(needed(deltas[0], p) * deltas[0] ** 2):.2f} at {100 * p:g} %" for p in CHANCES]
        shown += f" c: {'; '.join(constants)}."
    label, axes = "Questions that are needed", {"xaxis": {"type": "log"}, "yaxis": {"type": "log", "dtick": 1}}
    across = "difference in strength Δℓ"
    return Section(
        "required",
        "How many questions it takes",
        "The number of questions from which on MRR puts two models, Δℓ apart, in the wrong order with at most the given"
        " probability. Half the difference takes four times the questions.",
        f"N = {settings.n}, β = {settings.beta:g}, ℓ = {settings.strength:g}, no correlation.{shown}"
        " The number is c/Δℓ², for a Δℓ that is small beside ℓ.",
        [Table("required", label, [Column("delta", "Δℓ"), *columns], rows)],
        chart("lines", f"{label} against the difference in strength", series, x=across, y="questions", **axes),
        notes=[
            "The paper's example (β 0.35, ℓ 0.7, N 43, V 0.0074, “p = 5 %”, c = 2.85) does not follow from its formula,"
            " which gives c = 4.65 at 5 % and 2.82 at 10 %."
        ],
    )


def _chances(settings: TheorySettings, metric: str, spread: Floats, questions: np.ndarray) -> Floats:
    levels = np.array([settings.strength, settings.stronger])
    expected = expected_metric(settings.n, settings.beta, levels, metric)
    if np.isnan(spread).any():
        return np.full(questions.shape, np.nan)
    return chance_to_mistake(expected[1] - expected[0], questions, spread.sum())


def _by_logarithm(settings: TheorySettings, spread: Floats, questions: np.ndarray) -> Floats:
    one, other = spread[settings.metrics.index("mrr")]
    if math.isnan(one + other):
        return np.full(questions.shape, np.nan)
    more = settings.stronger - settings.strength
    return inconsistency_probability(settings.n, settings.beta, settings.strength, more, questions, one, other)


def _whole(value: Floats, reason: str) -> Cell:
    return math.ceil(value) if np.isfinite(value) else {"value": None, "reason": reason}


def _notes(settings: TheorySettings) -> list[str]:
    if settings.strength + settings.delta <= 1 + 1e-9:
        return []
    return [f"Strengths end at 1: the stronger model has ℓ = 1, not {settings.strength + settings.delta:g}."]
