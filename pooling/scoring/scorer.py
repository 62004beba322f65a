"""Score questions with a trained model, by matrix products of one fixed shape.

A GPU takes larger products than a CPU. Where its memory does not hold the model, the model stays in the memory of the
host, and the features of the entities are copied to the GPU tile by tile (`streaming.py`): the scores are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
import torch
from torch import Tensor

from pooling.scoring.checkpoints import BEST, read_checkpoint
from pooling.scoring.forms import features_of, form_of, query_of, shared_of
from pooling.scoring.free_memory import check_free, free_bytes
from pooling.scoring.streaming import Stream, held_bytes, on_device, pin_weights
from pooling.scoring.torch_state import exact_layers
from pooling.systems import get_model
from pooling.systems.spec import SystemSpec, Value

if TYPE_CHECKING:
    from pykeen.models import ERModel

Ids = np.ndarray | Tensor
Score = Callable[..., Tensor]  # (side, entity, relation, out=None) -> [B, C]
HEIGHT, TILE = 256, 1024  # questions and entities of one product
HEIGHT_GPU, TILE_GPU = 1024, 1 << 16  # on a GPU, a multiple of those of a CPU
ADVICE = "end other programs on the GPU, or choose the device cpu"
BATCH_BYTES_GPU = 3 << 30  # what a batch takes at most beside model and features


def resolve_device(device: str = "auto") -> str:
    """Return `device`; "auto" becomes "cuda" where there is one, else "cpu"."""
    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    return device


def name_of_device(device: torch.device) -> str:
    """Return what a run records of the device that scored it: cpu, or the name of the GPU."""
    return "cpu" if device.type == "cpu" else torch.cuda.get_device_name(device)


def shape_on(device: torch.device) -> tuple[int, int]:
    """Return how many questions and entities one product has on a device."""
    return (HEIGHT, TILE) if device.type == "cpu" else (HEIGHT_GPU, TILE_GPU)


def build_model(
    spec: SystemSpec,
    num_entities: int,
    num_relations: int,
    settings: Mapping[str, Value],
    seed: int,
    train: np.ndarray | None = None,
) -> ERModel:
    """Build the model; the same seed gives the same weights. Leave torch's global seed as it was.

    `train` int[n, 3] are the training triples, for systems that read them (`needs_train`).
    """
    from pykeen.triples import CoreTriplesFactory, KGInfo

    info: KGInfo
    if spec.needs_train:
        if train is None:
            raise ValueError(f"{spec.name} reads the training triples: give them as train")
        triples = torch.as_tensor(np.asarray(train, np.int64).reshape(-1, 3))
        info = CoreTriplesFactory(triples, num_entities, num_relations, create_inverse_triples=True)
    else:
        info = KGInfo(num_entities=num_entities, num_relations=num_relations, create_inverse_triples=True)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return spec.build(info, settings, seed)


class Scores(Protocol):
    """Say what `score_questions` needs of a model."""

    num_entities: int
    device: torch.device

    def in_order(self, order: np.ndarray) -> Score:
        """Return a function that scores questions with entity `order[j]` in column j.

        `order` may be some of the entities only. Consecutive ones, the first a multiple of TILE and the last of all
        or just before another, get the same scores bit for bit whatever else is asked with them.
        """


class Scorer:
    """Score questions with a trained model, tile by tile; the model is put into eval mode.

    A tile is always scored by the same call: HEIGHT questions (the last one repeated where there are fewer) against
    TILE entities, more of both on a GPU (`shape_on`). The bits of a matrix product depend on its shape, so those of a
    score then depend on nothing else. With `streamed` the model stays on the CPU; None: where it does not fit.
    """

    def __init__(
        self, spec: SystemSpec, model: ERModel, device: str | torch.device = "cpu", streamed: bool | None = None
    ) -> None:
        self.spec, self.label = spec, spec.label
        self.device = torch.device(device)
        self.height, self.tile = shape_on(self.device)
        self.streamed = _is_too_large(spec, model, self.device) if streamed is None else streamed
        self.home = torch.device("cpu") if self.streamed else self.device  # of the model
        self.model = model.to(self.home).eval()
        if self.streamed and self.device.type != "cpu":
            pin_weights(self.model)
        self.form = form_of(spec, self.model)
        with torch.no_grad():
            self.shared = shared_of(spec, self.model)
            features, bias = features_of(spec, self.model, self.shared)
            self.features = features.detach()
            self.stream = Stream(self.features, self.device, self.tile) if self.streamed else None
            if self.stream and self.device.type != "cpu" and not self.features.is_pinned():
                self.features = self.features.pin_memory()
            if self.stream:
                made = [self.form.prepare(part) for _, part in self.stream.tiles(self.features)]
                parts = [part for part in made if part is not None]
                self.prepared = torch.cat(parts) if parts else None
            else:
                self.prepared = self.form.prepare(self.features)
        self.bias = None if bias is None else bias.detach().to(self.device)
        self.num_entities = len(self.features)
        self.scores = self.in_order(np.arange(self.num_entities))
        self._asked: tuple[Tensor, Tensor] | None = None

    def in_order(self, order: np.ndarray) -> Score:
        """Return `scores(side, entity, relation, out=None) -> float32 [B, C]`, column j = entity `order[j]`.

        Arguments are arrays or tensors of length B; `out` is a buffer [B, C] that is written and returned.
        """
        first, size = int(order[0]) if len(order) else 0, len(order)
        consecutive = np.array_equal(order, np.arange(first, first + size))
        # A slice is a view: a chunk of the entities takes no memory.
        pick = slice(first, first + size) if consecutive else torch.as_tensor(order)
        features = self.features[pick]
        bias, prepared = (None if x is None else x[pick] for x in (self.bias, self.prepared))

        @torch.no_grad()
        def scores(side, entity, relation, out=None):
            query = self.queries(side, entity, relation)
            if out is None:
                out = torch.empty((len(side), size), device=self.device)
            for column, part in self._tiles(features):
                here = slice(column, column + len(part))
                for row in range(0, len(side), self.height):
                    target = out[row : row + self.height, here]
                    whole = target if len(target) == self.height else target.new_empty(self.height, target.shape[1])
                    self.form.columns(
                        query[row : row + self.height],
                        part,
                        None if bias is None else bias[here],
                        None if prepared is None else prepared[here],
                        whole,
                    )
                    if whole is not target:
                        target.copy_(whole[: len(target)])
            return out

        return scores

    def _tiles(self, features: Tensor) -> Iterator[tuple[int, Tensor]]:
        """Yield the first row of each tile of features, and the tile on the device."""
        if self.stream is not None:
            yield from self.stream.tiles(features)
        else:
            yield from ((first, features[first : first + self.tile]) for first in range(0, len(features), self.tile))

    def queries(self, side: Ids, entity: Ids, relation: Ids) -> Tensor:
        """Return query vectors [B, q], B rounded up to a multiple of the height; those of the last call are kept."""
        # compared on the CPU: a GPU would be waited for
        side, entity, relation = (torch.as_tensor(x, device="cpu").long() for x in (side, entity, relation))
        asked = torch.stack([entity, 2 * relation + side])  # [2, B]
        asked = torch.cat([asked, asked[:, -1:].expand(2, -len(side) % self.height)], 1)
        if self._asked is None or not torch.equal(self._asked[0], asked):
            pairs = on_device(asked, self.home).split(self.height, 1)
            with exact_layers(self.home):
                parts = [query_of(self.spec, self.model, pair[0], pair[1], self.shared) for pair in pairs]
            self._asked = asked, on_device(torch.cat(parts), self.device)
        return self._asked[1]


def _is_too_large(spec: SystemSpec, model: ERModel, device: torch.device) -> bool:
    """Tell whether a GPU has no room for weights, features made of them, and a batch: the model is on the CPU yet.

    ValueError if the scores need the weights themselves, so that the features alone are no use.
    """
    if device.type == "cpu" or any(weights.device.type != "cpu" for weights in model.parameters()):
        return False
    needed, free = 2 * held_bytes(model) + BATCH_BYTES_GPU, free_bytes(str(device))
    if free is None or needed <= free:
        return False
    if spec.form == "model":
        check_free(needed, str(device), f"Scoring with {spec.label} needs", ADVICE)
    return True


def load_scorer(
    name: str,
    directory: Path,
    num_entities: int,
    num_relations: int,
    settings: Mapping[str, Value],
    device: str = "auto",
    train: np.ndarray | None = None,
) -> Scorer:
    """Return the scorer of the best epoch that `train_system` left in `directory`; `train` as in `build_model`."""
    spec = get_model(name)
    model = build_model(spec, num_entities, num_relations, settings, seed=0, train=train)
    model.load_state_dict(read_checkpoint(Path(directory) / BEST)["model"])
    return Scorer(spec, model, resolve_device(device))
