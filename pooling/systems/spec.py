"""What a system is to the rest of the program: a model with one scoring form, its settings and its presets.

PyKEEN and torch are imported inside functions only: pages, forms and commands list the systems, and should
not wait seconds for a deep-learning library to load.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict, cast

if TYPE_CHECKING:
    from pykeen.models import ERModel
    from pykeen.triples import KGInfo
    from torch import Tensor

Value = int | float | str

# Scores of a 1-vs-all epoch above which negatives are shared instead: FB15k-237 has 7.9e9, WN18RR 7.1e9,
# UMLS 1.4e6. At 5e8 an epoch against all entities takes about 5 s on one core.
LARGE_EPOCH_SCORES = 5e8


@dataclass(frozen=True)
class Setting:
    """A setting that a user may change: its type, its bounds (inclusive) or choices, and what it does."""

    type: type
    help: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()

    @property
    def allowed(self) -> str:
        """The allowed values, in words, as forms and errors print them."""
        if self.choices:
            return "one of " + ", ".join(self.choices)
        kind = "a whole number" if self.type is int else "a number"
        return f"{kind} from {self.low:g} to {self.high:g}"

    def parse(self, key: str, text: Any) -> Value:
        """Return the value of `text`; ValueError names the key, the value and what is allowed."""
        error = ValueError(f"setting {key}={text}: must be {self.allowed}")
        try:
            value = self.type(text)
        except (TypeError, ValueError):
            raise error from None
        if self.choices:
            if value not in self.choices:
                raise error
        elif not self.low <= value <= self.high:  # also refuses NaN
            raise error
        return value


COMMON_SETTINGS: dict[str, Setting] = {
    "embedding_dim": Setting(int, "numbers per entity (complex numbers for ComplEx and RotatE)", 2, 4096),
    "learning_rate": Setting(float, "step size of the optimiser", 1e-7, 10),
    "batch_size": Setting(int, "rows of a training batch: triples, or questions", 1, 65536),
    "epochs": Setting(int, "passes over the training triples", 1, 10000),
    "dropout": Setting(float, "share of the query vector that is dropped while training", 0, 0.95),
    "num_negatives": Setting(int, "entities drawn per batch as wrong answers; 0: all entities", 0, 1_000_000),
    "optimizer": Setting(str, "rule that updates the weights", choices=("adam", "adagrad")),
    "objective": Setting(
        str,
        "cross-entropy per triple, or per question over all its answers",
        choices=("triples", "questions"),
    ),
    "scale": Setting(float, "scores are multiplied by this in the loss (an inverse temperature)", 1e-3, 1e3),
    "decay": Setting(float, "learning rate of the last epoch, as a share of the first", 1e-4, 1),
    "validate_every": Setting(int, "epochs between two validations", 1, 10000),
    "validation_sample": Setting(int, "validation triples that are ranked; 0: all", 0, 100_000_000),
    "patience": Setting(int, "validations without improvement before training stops; 0: never", 0, 10000),
    "max_seconds": Setting(
        float, "training stops after this time and keeps the best epoch; 0: never", 0, 1e9
    ),
}


class CommonSettings(TypedDict):
    """The values of COMMON_SETTINGS, for those who compute with them."""

    embedding_dim: int
    learning_rate: float
    batch_size: int
    epochs: int
    dropout: float
    num_negatives: int
    optimizer: str
    objective: str
    scale: float
    decay: float
    validate_every: int
    validation_sample: int
    patience: int
    max_seconds: float


def common_settings(settings: Mapping[str, Value]) -> CommonSettings:
    """Resolved settings with the types that `Setting.parse` gave them; those of one system alone stay in."""
    return cast(CommonSettings, settings)


@dataclass(frozen=True)
class SystemSpec:
    """One registry row: what a system is called, how it is built, and its one scoring form.

    `query(model, entity[B], relation[B]) -> [B, d]` and `features(model) -> ([E, d], bias [E] or None)`;
    relation ids are inverse-aware (2r asks for the tail of r, 2r + 1 for its head), as PyKEEN numbers them. The
    score of entity e is `query · feature_e + bias_e`, or `-‖query - feature_e‖₂` where `distance` is true.
    """

    name: str
    label: str
    family: str  # translational | decomposition | neural
    description: str
    source: str
    build: Callable[[KGInfo, Mapping[str, Value], int], ERModel]
    query: Callable[[ERModel, Tensor, Tensor], Tensor]
    features: Callable[[ERModel], tuple[Tensor, Tensor | None]]
    distance: bool
    small: Mapping[str, Value]  # what differs from SMALL on graphs where all entities are scored
    large: Mapping[str, Value]  # what differs from LARGE on graphs where negatives are shared
    extra_settings: Mapping[str, Setting]

    @property
    def settings(self) -> dict[str, Setting]:
        """Every setting that the system knows, by name."""
        return {**COMMON_SETTINGS, **self.extra_settings}

    def preset(self, num_entities: int, num_train: int) -> dict[str, Value]:
        """The settings for a graph of this size (`num_train` triples, without their inverses)."""
        if 2.0 * num_train * num_entities > LARGE_EPOCH_SCORES:
            return {**LARGE, **self.large}
        return {**SMALL, **self.small}


# 1-vs-all cross-entropy with Adam (spec/systems §3, small graphs).
SMALL: dict[str, Value] = {
    "embedding_dim": 64,
    "learning_rate": 0.02,
    "batch_size": 256,
    "epochs": 20,
    "dropout": 0.0,
    "num_negatives": 0,
    "optimizer": "adam",
    "objective": "triples",
    "scale": 1.0,
    "decay": 1.0,
    "validate_every": 1,
    "validation_sample": 2000,
    "patience": 0,
    "max_seconds": 0.0,
}

# Shared negatives (spec/systems §3): drawn once per batch, plus the answers of the other rows.
LARGE: dict[str, Value] = {
    "embedding_dim": 256,
    "learning_rate": 0.18,
    "batch_size": 1024,
    "epochs": 16,
    "dropout": 0.0,
    "num_negatives": 1000,
    "optimizer": "adagrad",
    "objective": "triples",
    "scale": 1.0,
    "decay": 1.0,
    "validate_every": 1,
    "validation_sample": 2000,
    "patience": 3,
    "max_seconds": 0.0,
}


def pair(model: ERModel, entity: Tensor, relation: Tensor) -> tuple[Tensor, Tensor]:
    """Representations of a batch of entities and relations: one lookup each in PyKEEN's own tables."""
    return model.entity_representations[0](entity), model.relation_representations[0](relation)


init_std = Setting(float, "standard deviation of the first weights", 1e-5, 10)


def normal_init(settings: Mapping[str, Value]) -> Callable[[Tensor], Tensor]:
    """An initialiser for PyKEEN: normal with the standard deviation `init_std` of the settings.

    PyKEEN's own (unit normal, uniform on [0, 1]) give first scores so large that cross-entropy crawls.
    """
    from functools import partial

    from torch.nn.init import normal_

    return partial(normal_, std=float(settings["init_std"]))
