"""Define a system for the rest of the program: a model with one scoring form, its settings and its presets.

PyKEEN and torch are imported inside functions only: pages, forms and commands list the systems, and should
not wait seconds for a deep-learning library to load.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, TypedDict, cast

if TYPE_CHECKING:
    from pykeen.models import ERModel
    from torch import Tensor

Value = int | float | str
Settings = Mapping[str, Any]  # resolved: a Value of the setting's type by name
FORMS = ("dot", "euclidean", "link", "pointwise", "model")
FAMILIES = {
    "translational": "a relation moves the head to the tail",
    "decomposition": "a factorisation of the tensor of facts",
    "hyperbolic": "distances in a curved space, which has room for hierarchies",
    "neural": "a network reads head and relation",
    "query": "designed for logical queries, used here for one hop",
    "rules": "rules with a confidence, mined from the training triples",
    "other": "any other PyKEEN model, by its class name",
}

# Scores of a 1-vs-all epoch above which negatives are shared instead: FB15k-237 has 7.9e9, WN18RR 7.1e9,
# UMLS 1.4e6. At 5e8 an epoch against all entities takes about 5 s on one core.
LARGE_EPOCH_SCORES = 5e8


@dataclass(frozen=True)
class Setting:
    """Describe a setting that a user may change: type, meaning, bounds (inclusive) or choices, and presets.

    Without a preset for small graphs the first choice is taken, without one for large graphs that of small ones.
    """

    type: type
    help: str
    low: float | None = None
    high: float | None = None
    small: Value | None = None
    large: Value | None = None
    choices: tuple[str, ...] = ()

    @property
    def allowed(self) -> str:
        """Return the allowed values in words, as forms and errors print them."""
        if self.choices:
            return "one of " + ", ".join(self.choices)
        if self.type is int:
            return f"a whole number from {self.low:,} to {self.high:,}"
        return f"a number from {self.low:,.10g} to {self.high:,.10g}"

    def preset(self, *, large: bool) -> Value:
        """Return the preset for large or for small graphs."""
        small = self.choices[0] if self.small is None else self.small
        return small if self.large is None or not large else self.large

    def parse(self, key: str, text: Any) -> Value:
        """Return the value of `text`; ValueError names the key, the value and what is allowed."""
        error = ValueError(f"setting {key}={text}: must be {self.allowed}")
        try:
            if self.type is not str and "_" in str(text):  # Python takes 1_000 for a number
                raise error
            value = self.type(text)
        except (TypeError, ValueError):
            raise error from None
        if not (value in self.choices if self.choices else self.low <= value <= self.high):  # also refuses NaN
            raise error
        return value


# Small graphs, where all entities are scored: cross-entropy (1-vs-all) with Adam. Large graphs: shared negatives, drawn
# once per batch, plus the answers of the other rows. Numbers: least, most, small graphs, large graphs if they differ.
COMMON_SETTINGS: dict[str, Setting] = {
    "embedding_dim": Setting(int, "numbers per entity (complex numbers for ComplEx and RotatE)", 2, 4096, 64, 256),
    "learning_rate": Setting(float, "step size of the optimiser", 1e-7, 10, 0.02, 0.18),
    "batch_size": Setting(int, "rows of a training batch: triples, or questions", 2, 65536, 256, 1024),
    "epochs": Setting(int, "passes over the training triples", 1, 10000, 20, 16),
    "dropout": Setting(float, "share of the query vector that is dropped while training", 0, 0.95, 0.0),
    "num_negatives": Setting(int, "entities drawn per batch as wrong answers; 0: all entities", 0, 1_000_000, 0, 1000),
    "optimizer": Setting(
        str,
        "rule that updates the weights; sparse-adagrad is Adagrad that touches only the entities of the batch, for "
        "graphs of millions of entities",
        choices=("adam", "adagrad", "adamax", "sparse-adagrad"),
        large="adagrad",
    ),
    "objective": Setting(
        str,
        "rows of a batch: triples with one right answer, or questions with all their answers",
        choices=("triples", "questions"),
    ),
    "loss": Setting(
        str,
        "cross-entropy over the entities; binary cross-entropy of each entity; or drawn wrong answers, weighted by "
        "their scores",
        choices=("cross-entropy", "bce", "self-adversarial"),
    ),
    "margin": Setting(float, "γ of the self-adversarial loss: scores are shifted by it", 0, 1000, 9.0),
    "temperature": Setting(
        float, "α of the self-adversarial loss: a higher value gives hard wrong answers more weight", 0, 10, 1.0
    ),
    "smoothing": Setting(float, "share of the right answers' label that all entities divide", 0, 0.5, 0.0),
    "n3": Setting(float, "weight of the cubed moduli of head, relation and answer in the loss", 0, 10, 0.0),
    "l2": Setting(float, "weight of the squared moduli of head, relation and answer in the loss", 0, 10, 0.0),
    "precision": Setting(
        str, "mixed: training multiplies matrices in bfloat16, on a GPU only", choices=("full", "mixed")
    ),
    "scale": Setting(float, "factor of the scores in the loss (an inverse temperature)", 1e-3, 1e3, 1.0),
    "decay": Setting(float, "learning rate of the last epoch, as a share of the first", 1e-4, 1, 1.0),
    "validate_every": Setting(int, "epochs between two validations", 1, 10000, 1),
    "validation_sample": Setting(int, "validation triples that are ranked; 0: all", 0, 100_000_000, 2000),
    "patience": Setting(
        int, "number of validations without improvement before training stops; 0: never", 0, 10000, 0, 3
    ),
    "max_seconds": Setting(float, "training stops after this time, even in its first epoch; 0: never", 0, 1e9, 0.0),
}
SMALL, LARGE = ({key: of.preset(large=large) for key, of in COMMON_SETTINGS.items()} for large in (False, True))
# What many systems change on large graphs: a falling learning rate under Adam.
ADAM: dict[str, Value] = {"optimizer": "adam", "decay": 0.1, "epochs": 20}
# What systems were trained with before they could choose: their rows and checkpoints lack these keys.
NEUTRAL = {key: SMALL[key] for key in ("loss", "margin", "temperature", "smoothing", "n3", "l2", "precision")}


class CommonSettings(TypedDict):
    """Type the values of COMMON_SETTINGS, for code that computes with them."""

    embedding_dim: int
    learning_rate: float
    batch_size: int
    epochs: int
    dropout: float
    num_negatives: int
    optimizer: str
    objective: str
    loss: str
    margin: float
    temperature: float
    smoothing: float
    n3: float
    l2: float
    precision: str
    scale: float
    decay: float
    validate_every: int
    validation_sample: int
    patience: int
    max_seconds: float


def with_neutral(settings: Mapping[str, Value]) -> dict[str, Value]:
    """Return the settings, completed with what was meant where an older row says nothing."""
    return {**NEUTRAL, **settings}


def common_settings(settings: Mapping[str, Value]) -> CommonSettings:
    """Return resolved settings with the types of `Setting.parse`; those of one system alone stay in."""
    return cast(CommonSettings, with_neutral(settings))


@dataclass(frozen=True, kw_only=True)
class Entry:
    """Describe a system to pages, forms and commands, however it is trained."""

    name: str
    label: str
    family: str  # a key of FAMILIES
    description: str
    source: str
    formula: str = ""  # score of (h, r, t), in plain text
    note: str = ""  # where it departs from its paper, and why
    small: Mapping[str, Value] = field(default_factory=dict)  # what differs from the settings' presets for small graphs
    large: Mapping[str, Value] = field(default_factory=dict)  # and for large ones
    extra_settings: Mapping[str, Setting] = field(default_factory=dict)
    check: Callable[[Mapping[str, Value]], None] | None = None  # ValueError where settings do not go together
    weights: ClassVar[str] = "best.pt"  # the file that training leaves

    @property
    def slug(self) -> str:
        """Return the name as rows and addresses can have it: pykeen-PairRE."""
        return self.name.replace(":", "-")

    def __post_init__(self) -> None:
        if self.family not in FAMILIES:
            raise ValueError(f"{self.name}: the families are {', '.join(FAMILIES)}")

    @property
    def settings(self) -> dict[str, Setting]:
        """Return every setting of the system by name."""
        return {**COMMON_SETTINGS, **self.extra_settings}

    def preset(self, num_entities: int, num_train: int) -> dict[str, Value]:
        """Return the settings for a graph of this size (`num_train` triples, without their inverses)."""
        return self.values(large=2.0 * num_train * num_entities > LARGE_EPOCH_SCORES)

    def values(self, *, large: bool) -> dict[str, Value]:
        """Return the settings for large or for small graphs."""
        presets = {key: setting.preset(large=large) for key, setting in self.settings.items()}
        return {**presets, **(self.large if large else self.small)}

    def check_settings(self, settings: Settings) -> None:
        """Raise ValueError if settings do not go together: which, and what to change."""
        if self.check is not None:
            self.check(settings)


@dataclass(frozen=True, kw_only=True)
class SystemSpec(Entry):
    """Describe a model that learns vectors: how it is built, and its one scoring form.

    `query(model, entity[B], relation[B]) -> [B, d]` and `features(model) -> ([E, f], bias [E] or None)`;
    relation ids are inverse-aware (2r asks for the tail of r, 2r + 1 for its head), as PyKEEN numbers them.
    `form` says how the two become scores (`pooling/scoring/forms.py`): dot, euclidean, or link, pointwise and model
    with a function `compare` of the system's own. The model is PyKEEN's, or `tables` of our own
    (`pooling/systems/tables.py`); where `needs_train` is true, `build` gets a CoreTriplesFactory with the training
    triples and their inverses. Where `shared(model)` is given (a graph is encoded, say), it is computed once a step,
    and `query` and `features` get its result as their last argument. `factors(model, entity, relation, answer)` are the
    vectors, real or complex, that the settings n3 and l2 keep small; None: those of PyKEEN's first tables.
    `activations(settings, training triples)` are the floats that a large network keeps of a training step, for the
    estimate of memory. `probabilistic`: its scores are the logits of a distribution over the entities, so that no
    scale is looked for.
    """

    build: Callable[[Any, Settings, int], Any]  # (KGInfo or CoreTriplesFactory, settings, seed)
    query: Callable[..., Tensor]
    features: Callable[..., tuple[Tensor, Tensor | None]]
    form: str  # a key of FORMS
    compare: Callable[..., Tensor] | None = None  # of the forms link, pointwise and model
    compiled: str = ""  # of the form pointwise: the loop that does the same on a CPU (`pooling/scoring/compiled.py`)
    needs_train: bool = False
    shared: Callable[[Any], Any] | None = None
    factors: Callable[[Any, Tensor, Tensor, Tensor], list[Tensor]] | None = None
    activations: Callable[[Settings, int], float] | None = None
    probabilistic: bool = False
    multiple: int = 1  # embedding_dim must be a multiple of it
    zero: tuple[str, ...] = ()  # of dropout, n3 and l2: what must stay at 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.form not in FORMS or (self.compare is None) != (self.form in ("dot", "euclidean")):
            raise ValueError(f"{self.name}: the forms are {', '.join(FORMS)}; the last three need compare")

    def check_settings(self, settings: Settings) -> None:
        common = common_settings(settings)
        if common["loss"] == "self-adversarial" and not common["num_negatives"]:
            raise ValueError(
                "loss=self-adversarial with num_negatives=0: this loss weighs wrong answers that are drawn; "
                "set num_negatives to 1 or more (256, say)"
            )
        if common["loss"] == "self-adversarial" and common["smoothing"]:
            raise ValueError(
                f"loss=self-adversarial with smoothing={common['smoothing']:g}: this loss has no labels to smooth; "
                "set smoothing to 0"
            )
        if common["optimizer"] == "sparse-adagrad" and self.needs_train:
            raise ValueError(
                f"optimizer=sparse-adagrad: {self.label} reads the vectors of all entities in every batch; set "
                "optimizer to adagrad"
            )
        if common["optimizer"] == "sparse-adagrad" and not common["num_negatives"]:
            raise ValueError(
                "optimizer=sparse-adagrad with num_negatives=0: all entities are in every batch; set num_negatives to "
                "1 or more (1000, say), or optimizer to adagrad"
            )
        if common["embedding_dim"] % self.multiple:
            what = "an even number" if self.multiple == 2 else f"a multiple of {self.multiple}"
            raise ValueError(f"embedding_dim is {common['embedding_dim']}: {self.label} needs {what}")
        for key in self.zero:
            if settings[key]:
                why = "drops nothing" if key == "dropout" else "has no vectors to keep small"
                raise ValueError(f"{key} is {settings[key]}: {self.label} {why}, leave it at 0")
        super().check_settings(settings)


def pair(model: ERModel, entity: Tensor, relation: Tensor) -> tuple[Tensor, Tensor]:
    """Look up a batch of entities and relations in PyKEEN's own tables: one representation each."""
    return model.entity_representations[0](entity), model.relation_representations[0](relation)


init_std = Setting(float, "standard deviation of the initial weights", 1e-5, 10, 0.1, 0.01)


def from_pykeen(
    name: str, own: Mapping[str, str] | None = None, **options: Any
) -> Callable[[Any, Settings, int], ERModel]:
    """Return a `build` that makes PyKEEN's model of this class name.

    `options` are further arguments of the class, `own` those that are settings, by the name of the setting. A system
    with the setting `init_std` starts with normal weights: PyKEEN's own (unit normal, uniform on [0, 1]) give first
    scores so large that cross-entropy crawls.
    """

    def build(info: Any, settings: Settings, seed: int) -> ERModel:
        from functools import partial

        from pykeen import models
        from torch.nn.init import normal_

        given = {**options, **{argument: settings[key] for argument, key in (own or {}).items()}}
        if "init_std" in settings:
            given |= dict.fromkeys(
                ("entity_initializer", "relation_initializer"), partial(normal_, std=settings["init_std"])
            )
        size = settings["embedding_dim"]
        return getattr(models, name)(triples_factory=info, embedding_dim=size, random_seed=seed, **given)

    return build
