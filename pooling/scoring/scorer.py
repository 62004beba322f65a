"""Score questions with a trained model, by matrix products of one fixed shape."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
import torch
from torch import Tensor

from pooling.scoring.checkpoints import BEST, read_checkpoint
from pooling.scoring.forms import features_of, form_of, query_of, shared_of
from pooling.systems import get_model
from pooling.systems.spec import SystemSpec, Value

if TYPE_CHECKING:
    from pykeen.models import ERModel

Ids = np.ndarray | Tensor
Score = Callable[..., Tensor]  # (side, entity, relation, out=None) -> [B, C]
HEIGHT, TILE = 256, 1024  # questions and entities of one product


def resolve_device(device: str = "auto") -> str:
    """Return `device`; "auto" becomes "cuda" where there is one, else "cpu"."""
    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    return device


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
    TILE entities. The bits of a matrix product depend on its shape, so those of a score then depend on nothing else.
    """

    def __init__(self, spec: SystemSpec, model: ERModel, device: str | torch.device = "cpu") -> None:
        self.spec, self.label = spec, spec.label
        self.device = torch.device(device)
        self.model = model.to(self.device).eval()
        self.form = form_of(spec, self.model)
        with torch.no_grad():
            self.shared = shared_of(spec, self.model)
            features, bias = features_of(spec, self.model, self.shared)
            self.features = features.detach()
            self.prepared = self.form.prepare(self.features)
        self.bias = None if bias is None else bias.detach()
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
        pick = slice(first, first + size) if consecutive else torch.as_tensor(order, device=self.device)
        features = self.features[pick]
        bias, prepared = (None if x is None else x[pick] for x in (self.bias, self.prepared))

        @torch.no_grad()
        def scores(side, entity, relation, out=None):
            query = self._queries(side, entity, relation)
            if out is None:
                out = torch.empty((len(side), size), device=self.device)
            for row in range(0, len(side), HEIGHT):
                for column in range(0, size, TILE):
                    here = slice(column, column + TILE)
                    target = out[row : row + HEIGHT, here]
                    whole = target if len(target) == HEIGHT else target.new_empty(HEIGHT, target.shape[1])
                    self.form.columns(
                        query[row : row + HEIGHT],
                        features[here],
                        None if bias is None else bias[here],
                        None if prepared is None else prepared[here],
                        whole,
                    )
                    if whole is not target:
                        target.copy_(whole[: len(target)])
            return out

        return scores

    def _queries(self, side: Ids, entity: Ids, relation: Ids) -> Tensor:
        """Return query vectors [B, q], B rounded up to a multiple of HEIGHT; those of the last call are kept."""
        side, entity, relation = (torch.as_tensor(x, device=self.device).long() for x in (side, entity, relation))
        asked = torch.stack([entity, 2 * relation + side])  # [2, B]
        asked = torch.cat([asked, asked[:, -1:].expand(2, -len(side) % HEIGHT)], 1)
        if self._asked is None or not torch.equal(self._asked[0], asked):
            parts = [query_of(self.spec, self.model, pair[0], pair[1], self.shared) for pair in asked.split(HEIGHT, 1)]
            self._asked = asked, torch.cat(parts)
        return self._asked[1]


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
