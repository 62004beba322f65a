"""Sections of the open-world page in numbers: the chosen settings, and the paper's example."""

from __future__ import annotations

import numpy as np

from evaluation.open_world.kernels.theory import ENTITIES, derivative, expected_metric, filtered_ranks, gain_of
from evaluation.open_world.world_settings import LABELS, NO_TEST_ANSWER, WorldSettings, simulated
from evaluation.sections.section import Cell, Column, Section, Table, cell

# -- the chosen point -------------------------------------------------------------------------------------------


def chosen_numbers(settings: WorldSettings) -> Section:
    repeats = 4_000 if settings.n <= 50 else 1_000
    drawn = simulated(settings.n, (settings.beta,), (settings.strength,), settings.metrics, repeats, settings.rho)
    at = (settings.n, settings.beta, settings.strength)
    rows: list[list[Cell]] = [
        [
            LABELS[name],
            float(expected_metric(*at, name, rho=settings.rho)),
            float(expected_metric(*at, name, rho=settings.rho, entities=ENTITIES)),
            cell(found.mean[0, 0], NO_TEST_ANSWER),
            cell(found.error[0, 0], NO_TEST_ANSWER),
            cell(found.sd[0, 0], NO_TEST_ANSWER),
            float(derivative(*at, name)),
        ]
        for name, found in zip(settings.metrics, drawn, strict=True)
    ]
    at_best = expected_metric(settings.n, settings.beta, 1.0, settings.metric)
    return Section(
        "numbers",
        "At these settings",
        "What each metric is expected to report. Were nothing missing and all else wrong, each would report ℓ itself.",
        f"N = {settings.n}, β = {settings.beta:g}, ℓ = {settings.strength:g}, ρ = {_signed(settings.rho)}. Simulation:"
        f" {repeats:,} questions, {ENTITIES:,} entities; slope without correlation.",
        [
            Table(
                "numbers",
                "Metrics at these settings",
                [
                    Column("metric", "Metric", "text"),
                    Column("expected", "Ê", "value", "The paper's expectation: what is not recognised adds nothing."),
                    Column(
                        "with_rest",
                        "Ê and the rest",
                        "value",
                        "With what an answer that is not recognised adds at a random place among all entities.",
                    ),
                    Column("simulated", "Simulated", "value"),
                    Column("error", "Standard error", "value"),
                    Column("sd", "Deviation", "value", "Standard deviation between questions."),
                    Column("slope", "Slope dÊ/dℓ", "value", "Of a metric that reports the strength: 1."),
                ],
                rows,
            )
        ],
        finding=f"A perfect model (ℓ = 1) is expected to have {settings.label} {at_best:.3f}; this one"
        f" {rows[0][1]:.3f}.",
    )


# -- the paper's example ----------------------------------------------------------------------------------------

TEST_POSITIONS = {"swimming": 5, "sailing": 6}
MISSING_POSITIONS = {
    "water polo": 1, "boxing": 2, "dressage": 3, "show jumping": 4, "canoe sprint": 9, "cycling": 11,
}  # fmt: skip


def example(_settings: WorldSettings | None = None) -> Section:
    """Table 1 of the paper, from the positions alone: the same for all settings."""
    before = _ranks(TEST_POSITIONS)
    after = _ranks({**TEST_POSITIONS, **MISSING_POSITIONS})
    rows: list[list[Cell]] = [
        [
            name,
            "test" if name in TEST_POSITIONS else "missing",
            position,
            cell(before.get(name, np.nan), "no answer yet"),
            after[name],
        ]
        for name, position in {**TEST_POSITIONS, **MISSING_POSITIONS}.items()
    ]
    means = [float(np.mean(gain_of("mrr")(np.array(list(ranks.values()))))) for ranks in (before, after)]
    return Section(
        "example",
        "An example: sports of the 1956 Olympics",
        "The paper asked BetaE on FB15k-237 for the sports of the 1956 Summer Olympics. Two are in the test set; six of"
        " the first eleven candidates are right and missing.",
        "Positions as the model returned them; ranks with the other answers filtered out.",
        [
            Table(
                "example",
                "Ranks before and after the missing answers are added",
                [
                    Column("answer", "Answer", "text"),
                    Column("of", "Of", "text"),
                    Column("position", "Position", "count"),
                    Column("before", "Rank before", "count"),
                    Column("after", "Rank after", "count"),
                ],
                rows,
            )
        ],
        finding=f"MRR of the question is {means[0]:.1f} before and {means[1]:.4f} after: same model, same candidates.",
    )


def _ranks(positions: dict[str, int]) -> dict[str, float]:
    ordered = sorted(positions, key=lambda name: positions[name])
    ranks = filtered_ranks(list(positions.values()))
    return dict(zip(ordered, ranks.tolist(), strict=True))


def _signed(value: float) -> str:
    return f"{value:g}".replace("-", "−")
