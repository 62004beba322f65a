"""A trained model as a function from questions to the scores of all entities: one matrix product a batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
import torch

from pooling.kernels.checkpoints import BEST, read_checkpoint
from pooling.systems import SystemSpec, Value, get_system

if TYPE_CHECKING:
    from pykeen.models import ERModel

Score = Callable[..., torch.Tensor]  # (side, entity, relation, out=None) -> [B, E]


def resolve_device(device: str = "auto") -> str:
    """Return "cuda" where there is one, if `device` is "auto"."""
    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    return device


def build_model(
    spec: SystemSpec, num_entities: int, num_relations: int, settings: Mapping[str, Value], seed: int
) -> ERModel:
    """Build the PyKEEN model; the same seed gives the same weights. Leaves torch's global seed as it was."""
    from pykeen.triples import KGInfo

    info = KGInfo(num_entities=num_entities, num_relations=num_relations, create_inverse_triples=True)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return spec.build(info, settings, seed)


class Scores(Protocol):
    """What `score_questions` needs of a model."""

    num_entities: int
    device: torch.device

    def in_order(self, order: np.ndarray) -> Score:
        """Return a function that scores questions with entity `order[j]` in column j."""


class Scorer:
    """Scores of a trained PyKEEN model by one matrix product per batch; the model is put into eval mode."""

    def __init__(self, spec: SystemSpec, model: ERModel, device: str | torch.device = "cpu") -> None:
        self.spec = spec
        self.device = torch.device(device)
        self.model = model.to(self.device).eval()
        with torch.no_grad():
            features, bias = spec.features(self.model)
        self.features = features.detach()
        self.bias = None if bias is None else bias.detach()
        self.num_entities = len(self.features)
        self.scores = self.in_order(np.arange(self.num_entities))

    def in_order(self, order: np.ndarray) -> Score:
        """Return `scores(side, entity, relation, out=None) -> float32 [B, E]`, column j = entity `order[j]`.

        Arguments are arrays or tensors of length B; `out` is a buffer [B, E] that is written and returned.
        """
        identity = np.array_equal(order, np.arange(self.num_entities))
        columns = torch.as_tensor(order, device=self.device)
        features = self.features if identity else self.features[columns]
        bias = self.bias if identity or self.bias is None else self.bias[columns]
        squares = (features * features).sum(1) if self.spec.distance else None

        @torch.no_grad()
        def scores(side, entity, relation, out=None):
            side, entity, relation = (
                torch.as_tensor(x, device=self.device).long() for x in (side, entity, relation)
            )
            query = self.spec.query(self.model, entity, 2 * relation + side)  # [B, d]
            if squares is None:
                out = torch.mm(query, features.T, out=out)
                return out if bias is None else out.add_(bias)
            # ‖q − f‖² = ‖q‖² + ‖f‖² − 2 q·f; rounding may push it below zero
            out = torch.addmm(squares, query, features.T, alpha=-2, out=out)
            return out.add_((query * query).sum(1, keepdim=True)).clamp_(min=0).sqrt_().neg_()

        return scores


def load_scorer(
    name: str,
    directory: Path,
    num_entities: int,
    num_relations: int,
    settings: Mapping[str, Value],
    device: str = "auto",
) -> Scorer:
    """Return the scorer of the best epoch that `train_system` left in `directory`."""
    spec = get_system(name)
    model = build_model(spec, num_entities, num_relations, settings, seed=0)
    model.load_state_dict(read_checkpoint(Path(directory) / BEST)["model"])
    return Scorer(spec, model, resolve_device(device))
