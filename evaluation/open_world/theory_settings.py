"""Read the settings of the theory page, which belongs to no pool, and simulate under them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from urllib.parse import urlencode

import numpy as np

from evaluation.labels.pool_table import EvaluationError
from evaluation.open_world.kernels.simulation import Simulated, simulate
from evaluation.open_world.kernels.theory import METRICS, allowed_rho

COMPARED = ("mrr", "hits@10", "log_mrr", "p_mrr")  # beside the chosen one, from top-heavy to less so
SPARSITIES = (0.2, 0.35, 0.5, 0.65)  # of the paper's figures 1 and 2
SEED = 7
MOST_ANSWERS, MOST_QUESTIONS, MOST_REPEATS = 200, 1_000_000, 400
DRAWN = 700_000  # answers that one figure draws
NO_TEST_ANSWER = "no question has a test answer"


@dataclass(frozen=True)
class TheorySettings:
    """Settings of the theory page; the defaults are the paper's."""

    n: int = 43  # right answers of a question
    beta: float = 0.35  # share of them that is missing
    strength: float = 0.7
    rho: float = 0.0  # correlation of "missing" and "recognised"
    metric: str = "mrr"
    delta: float = 0.05  # how much stronger the second model is
    questions: int = 500

    @property
    def label(self) -> str:
        return METRICS[self.metric]

    @property
    def metrics(self) -> tuple[str, ...]:
        """Return the compared metrics, the chosen one first."""
        return (self.metric, *(name for name in COMPARED if name != self.metric))

    @property
    def stronger(self) -> float:
        """Return the strength of the stronger model, 1 at most."""
        return min(1.0, self.strength + self.delta)

    @property
    def rho_range(self) -> tuple[float, float]:
        """Return the least and the greatest possible correlation."""
        low, high = allowed_rho(self.beta, self.strength)
        return float(low), float(high)

    @property
    def rho_text(self) -> str:
        low, high = self.rho_range
        return f"{_inward(low)} to {_inward(high)}"

    def query(self) -> str:
        """Return the settings that differ from their default as a query string."""
        return urlencode({name: value for name, value in vars(self).items() if value != getattr(TheorySettings, name)})


@dataclass(frozen=True)
class Slider:
    """A number of the form: the slider goes from low to high by step, the box takes numbers up to `most`."""

    name: str
    symbol: str
    text: str
    low: float
    high: float
    step: float
    most: float


SLIDERS = (
    Slider("n", "N", "Right answers of a question", 1, MOST_ANSWERS, 1, MOST_ANSWERS),
    Slider("beta", "β", "Share of right answers that is missing", 0, 1, 0.01, 1),
    Slider("strength", "ℓ", "Strength of the model", 0, 1, 0.01, 1),
    Slider("rho", "ρ", "Correlation of missing and recognised answers", -1, 1, 0.01, 1),
    Slider("delta", "Δℓ", "How much stronger the other model is", 0, 0.5, 0.005, 1),
    Slider("questions", "N_q", "Number of questions", 50, 5_000, 50, MOST_QUESTIONS),
)


def parse_theory(given: Mapping[str, Any]) -> TheorySettings:
    """Return the settings of an address. EvaluationError names a value that is not valid."""
    found: dict[str, Any] = {}
    for slider in SLIDERS:
        if text := str(given.get(slider.name, "")).strip():
            low = 1 if slider.name == "questions" else slider.low
            kind = int if slider.name in ("n", "questions") else float
            found[slider.name] = _number(slider, text, kind, low)
    if metric := str(given.get("metric", "")).strip():
        if metric not in METRICS:
            raise EvaluationError(f"metric is {metric[:40]!r}: choose {', '.join(METRICS)}.")
        found["metric"] = metric
    settings = TheorySettings(**found)
    low, high = settings.rho_range
    if settings.rho and not low <= settings.rho <= high:
        raise EvaluationError(
            f"ρ is {settings.rho:g}, which cannot be with β = {settings.beta:g} and ℓ = {settings.strength:g}: give a"
            f" number from {settings.rho_text}, or other β and ℓ."
        )
    return settings


def _number(slider: Slider, text: str, kind: type, low: float) -> Any:
    try:
        number = None if "_" in text else kind(text)  # Python takes 1_000 for a number
    except ValueError:
        number = None
    if number is None or not low <= number <= slider.most:
        whole, name = "whole number" if kind is int else "number", slider.symbol.replace("_", "")
        raise EvaluationError(
            f"{name} ({slider.name}) is {text[:40]!r}: give a {whole} from {low:.10g} to {slider.most:.10g}."
        )
    return number


def _inward(end: float) -> str:
    """Write the end of a range with three digits, rounded inwards."""
    return f"{np.trunc(end * 1000) / 1000:.3f}".replace("-", "−")


@lru_cache(maxsize=128)
def simulated(
    n: int, betas: tuple[float, ...], strengths: tuple[float, ...], metrics: tuple[str, ...], repeats: int, rho: float
) -> tuple[Simulated, ...]:
    """Return the simulation of each metric; equal arguments give equal values."""
    rng = np.random.default_rng([SEED, n])
    return tuple(simulate(n, betas, strengths, metrics, repeats, rng, rho=rho))


def repeats_for(n: int, cells: int) -> int:
    """Return how many questions each cell of a figure simulates, so that the figure takes about a second."""
    return max(20, min(MOST_REPEATS, DRAWN // (n * cells)))


def pair_repeats(settings: TheorySettings) -> int:
    """Return how many questions are simulated where one or two models are looked at."""
    return 4_000 if settings.n <= 50 else 1_000


def signed(value: float) -> str:
    """Write a number with a true minus."""
    return f"{value:g}".replace("-", "−")
