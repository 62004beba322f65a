"""Build the theory page: its sections in their order. Those about numbers, the example and two models are made here."""

import math
from collections.abc import Callable

import numpy as np

from evaluation.measures.rank_table import Floats
from evaluation.open_world.kernels.simulation import Simulated
from evaluation.open_world.kernels.theory import (
    ENTITIES,
    chance_to_mistake,
    derivative,
    expected_metric,
    filtered_ranks,
    gain_of,
    inconsistency_probability,
    required_questions,
)
from evaluation.open_world.theory_by_strength import approximation, correlation, slopes, theory
from evaluation.open_world.theory_settings import (
    METRICS,
    NO_TEST_ANSWER,
    TheorySettings,
    pair_repeats,
    signed,
    simulated,
)
from evaluation.sections.builders import chart, series_of, table_of
from evaluation.sections.section import Cell, Column, Section, Table, cell

ASKED = np.unique(np.round(np.logspace(1, 5, 41)).astype(int))  # numbers of questions in the chart
SHOWN = (50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 50_000)  # and in the table
CHANCES = (0.01, 0.05, 0.1)
DELTAS = np.array([0.005, 0.01, 0.02, 0.05, 0.1, 0.2])
NO_STRONGER = "no model is stronger than ℓ = 1"
UNDEFINED = "not defined where β or ℓ is 0"


def chosen_numbers(settings: TheorySettings) -> Section:
    repeats, rho, metrics = pair_repeats(settings), settings.rho, settings.metrics
    drawn = _drawn(settings, rho)
    at = (settings.n, settings.beta, settings.strength)
    rest = "With what an answer that is not recognised adds at a random place among all entities."
    alone = "The paper's expectation: what is not recognised adds nothing."
    spread, steep = "Standard deviation between questions.", "Of a metric that reports the strength: 1."

    def expected(metric: str, entities: int = 0) -> float:
        return float(expected_metric(*at, metric, rho=rho, entities=entities))

    table = table_of(
        "numbers",
        "Metrics at these settings",
        list(zip(metrics, drawn, strict=True)),
        [
            (Column("metric", "Metric", "text"), lambda row: METRICS[row[0]]),
            (Column("expected", "Ê", note=alone), lambda row: expected(row[0])),
            (Column("with_rest", "Ê and the rest", note=rest), lambda row: expected(row[0], ENTITIES)),
            (Column("simulated", "Simulated"), lambda row: cell(row[1].mean[0, 0], NO_TEST_ANSWER)),
            (Column("error", "Standard error"), lambda row: cell(row[1].error[0, 0], NO_TEST_ANSWER)),
            (Column("sd", "Deviation", note=spread), lambda row: cell(row[1].sd[0, 0], NO_TEST_ANSWER)),
            (Column("slope", "Slope dÊ/dℓ", note=steep), lambda row: float(derivative(*at, row[0]))),
        ],
    )
    at_best = expected_metric(settings.n, settings.beta, 1.0, settings.metric)
    return Section(
        "numbers",
        "At these settings",
        "What each metric is expected to report. With no missing answer and all others wrong, each would report ℓ.",
        f"N = {settings.n}, β = {settings.beta:g}, ℓ = {settings.strength:g}, ρ = {signed(rho)}. Simulation:"
        f" {repeats:,} questions, {ENTITIES:,} entities; slope without correlation.",
        [table],
        finding=f"A perfect model (ℓ = 1) is expected to have {settings.label} {at_best:.3f}; this one"
        f" {table.rows[0][1]:.3f}.",
    )


TEST_POSITIONS = {"swimming": 5, "sailing": 6}
MISSING_POSITIONS = {
    "water polo": 1, "boxing": 2, "dressage": 3, "show jumping": 4, "canoe sprint": 9, "cycling": 11,
}  # fmt: skip


def example(_settings: TheorySettings | None = None) -> Section:
    """Show table 1 of the paper, which follows from positions alone and is the same for all settings."""
    positions = {**TEST_POSITIONS, **MISSING_POSITIONS}
    before, after = _ranks(TEST_POSITIONS), _ranks(positions)
    for name, position in MISSING_POSITIONS.items():
        before[name] = position - sum(ahead < position for ahead in TEST_POSITIONS.values())
    table = table_of(
        "example",
        "Ranks before and after the missing answers are added",
        positions,
        [
            (Column("answer", "Answer", "text"), lambda name: name),
            (Column("of", "Of", "text"), lambda name: "test" if name in TEST_POSITIONS else "missing"),
            (Column("position", "Position", "count"), lambda name: positions[name]),
            (Column("before", "Rank before", "count"), lambda name: before[name]),
            (Column("after", "Rank after", "count"), lambda name: after[name]),
        ],
    )
    asked = [[before[name] for name in TEST_POSITIONS], list(after.values())]
    means = [float(np.mean(gain_of("mrr")(np.array(ranks)))) for ranks in asked]
    return Section(
        "example",
        "An example: sports of the 1956 Olympics",
        "The paper asked BetaE on FB15k-237 for the sports of the 1956 Summer Olympics. Two are in the test set; six of"
        " the first eleven candidates are right and missing.",
        "Positions as the model returned them; ranks with the other answers filtered out, before with those of test"
        " alone.",
        [table],
        finding=f"MRR of the question is {means[0]:.1f} before and {means[1]:.4f} after: same model, same candidates.",
    )


def _ranks(positions: dict[str, int]) -> dict[str, float]:
    ordered = sorted(positions, key=lambda name: positions[name])
    ranks = filtered_ranks(list(positions.values()))
    return dict(zip(ordered, ranks.tolist(), strict=True))


def variances(settings: TheorySettings) -> Floats:
    """Return the variances of one question without correlation, [metrics, 2]: the model and the stronger one.

    nan where there are no test answers. The deviations of `chosen_numbers` come from the same draws.
    """
    return np.stack([found.sd[0] ** 2 for found in _drawn(settings, 0.0)])


def _drawn(settings: TheorySettings, rho: float) -> tuple[Simulated, ...]:
    """Simulate the model and the stronger one, for each metric; with a correlation only the model.

    The stronger one may be too strong for it.
    """
    levels = (settings.strength, settings.stronger) if rho == 0 else (settings.strength,)
    return simulated(settings.n, (settings.beta,), levels, settings.metrics, pair_repeats(settings), rho)


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


# by the name of their only table
SECTIONS: dict[str, Callable[[TheorySettings], Section]] = {
    "theory": theory, "numbers": chosen_numbers, "slopes": slopes, "inconsistency": inconsistency,
    "required": required, "correlation": correlation, "approximation": approximation, "example": example,
}  # fmt: skip


def sections_of(settings: TheorySettings) -> list[Section]:
    return [make(settings) for make in SECTIONS.values()]
