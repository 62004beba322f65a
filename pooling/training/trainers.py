"""Choose how systems of a kind are trained and loaded: they learn vectors or mine rules."""

from collections.abc import Callable

from pooling.learning import loop
from pooling.rules.kernels.training import load_rules, mine_system
from pooling.scoring import scorer
from pooling.systems import get_system
from pooling.systems.rules import RuleSpec


def trainer_of(kind: str) -> Callable[..., loop.TrainResult]:
    """Return the function that trains systems of this kind; it is called like `train_system`."""
    return mine_system if isinstance(get_system(kind), RuleSpec) else loop.train_system


def loader_of(kind: str) -> Callable[..., scorer.Scores]:
    """Return the function that loads a trained system of this kind for ranking; it is called like `load_scorer`."""
    return load_rules if isinstance(get_system(kind), RuleSpec) else scorer.load_scorer
