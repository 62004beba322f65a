"""Build the theory page: its sections in their order, with the chosen settings and the paper's example in numbers."""

from collections.abc import Callable

import numpy as np

from evaluation.open_world.kernels.theory import ENTITIES, derivative, expected_metric, filtered_ranks, gain_of
from evaluation.open_world.theory_by_strength import approximation, correlation, slopes, theory
from evaluation.open_world.theory_settings import (
    METRICS,
    NO_TEST_ANSWER,
    TheorySettings,
    pair_repeats,
    signed,
    simulated,
)
from evaluation.open_world.theory_two_models import inconsistency, required
from evaluation.sections.builders import table_of
from evaluation.sections.section import Column, Section, cell


def chosen_numbers(settings: TheorySettings) -> Section:
    repeats, rho, metrics = pair_repeats(settings), settings.rho, settings.metrics
    drawn = simulated(settings.n, (settings.beta,), (settings.strength,), metrics, repeats, rho)
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
        "What each metric is expected to report. Were nothing missing and all else wrong, each would report ℓ itself.",
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
    table = table_of(
        "example",
        "Ranks before and after the missing answers are added",
        positions,
        [
            (Column("answer", "Answer", "text"), lambda name: name),
            (Column("of", "Of", "text"), lambda name: "test" if name in TEST_POSITIONS else "missing"),
            (Column("position", "Position", "count"), lambda name: positions[name]),
            (Column("before", "Rank before", "count"), lambda name: cell(before.get(name, np.nan), "no answer yet")),
            (Column("after", "Rank after", "count"), lambda name: after[name]),
        ],
    )
    means = [float(np.mean(gain_of("mrr")(np.array(list(ranks.values()))))) for ranks in (before, after)]
    return Section(
        "example",
        "An example: sports of the 1956 Olympics",
        "The paper asked BetaE on FB15k-237 for the sports of the 1956 Summer Olympics. Two are in the test set; six of"
        " the first eleven candidates are right and missing.",
        "Positions as the model returned them; ranks with the other answers filtered out.",
        [table],
        finding=f"MRR of the question is {means[0]:.1f} before and {means[1]:.4f} after: same model, same candidates.",
    )


def _ranks(positions: dict[str, int]) -> dict[str, float]:
    ordered = sorted(positions, key=lambda name: positions[name])
    ranks = filtered_ranks(list(positions.values()))
    return dict(zip(ordered, ranks.tolist(), strict=True))


# by the name of their only table
SECTIONS: dict[str, Callable[[TheorySettings], Section]] = {
    "theory": theory, "numbers": chosen_numbers, "slopes": slopes, "inconsistency": inconsistency,
    "required": required, "correlation": correlation, "approximation": approximation, "example": example,
}  # fmt: skip


def sections_of(settings: TheorySettings) -> list[Section]:
    return [make(settings) for make in SECTIONS.values()]
