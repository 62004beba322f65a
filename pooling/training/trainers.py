"""How systems of a kind are trained and loaded: those that learn vectors, and those that mine rules."""

from __future__ import annotations

from collections.abc import Callable

from pooling.learning import loop
from pooling.rules.kernels.training import load_rules, mine_system
from pooling.scoring import scorer
from pooling.systems import get_system
from pooling.systems.rules import RuleSpec


def trainer_of(kind: str) -> Callable[..., loop.TrainResult]:
    """What trains systems of this kind; called as `train_system` is."""
    return mine_system if isinstance(get_system(kind), RuleSpec) else loop.train_system


def loader_of(kind: str) -> Callable[..., scorer.Scores]:
    """What loads a trained system of this kind for ranking; called as `load_scorer` is."""
    return load_rules if isinstance(get_system(kind), RuleSpec) else scorer.load_scorer
