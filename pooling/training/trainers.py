"""Choose how systems of a kind are trained and loaded."""

from collections.abc import Callable

from pooling.learning import loop
from pooling.rules.kernels.plogicnet import load_plogicnet, train_plogicnet
from pooling.rules.kernels.rnnlogic import load_rnnlogic, train_rnnlogic
from pooling.rules.kernels.training import load_rules, mine_system
from pooling.scoring import scorer
from pooling.systems import get_system

Trainer = Callable[[loop.Training], loop.TrainResult]
Loader = Callable[..., scorer.Scores]
# of the systems with rules; all others learn vectors
OF_RULES: dict[str, tuple[Trainer, Loader]] = {
    "rules": (mine_system, load_rules),
    "plogicnet": (train_plogicnet, load_plogicnet),
    "rnnlogic": (train_rnnlogic, load_rnnlogic),
    "rnnlogic-plus": (train_rnnlogic, load_rnnlogic),
}


def trainer_of(kind: str) -> Trainer:
    """Return the function that trains systems of this kind."""
    found = OF_RULES.get(get_system(kind).name)
    return found[0] if found else loop.train_system


def loader_of(kind: str) -> Loader:
    """Return the function that loads a trained system of this kind for ranking; it is called like `load_scorer`."""
    found = OF_RULES.get(get_system(kind).name)
    return found[1] if found else scorer.load_scorer
