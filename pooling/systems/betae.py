"""BetaE: entities and questions are rows of beta distributions, compared by Kullback-Leibler divergence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pooling.systems.spec import Setting, Settings, SystemSpec
from pooling.systems.tables import tables

if TYPE_CHECKING:
    from torch import Tensor

LEAST = 0.05  # of α and β: the density of smaller ones has poles that ruin the gradient


def build(info: Any, settings: Settings, seed: int) -> Any:
    """Build tables and the network that reads (h, r) and returns the distributions of the question.

    Entities hold α and β of d distributions before `positive`.
    """
    from torch import empty, nn

    width, hidden = 2 * settings["embedding_dim"], settings["hidden"]
    net: list[nn.Module] = [nn.Linear(width + settings["embedding_dim"], hidden), nn.ReLU()]
    for _ in range(settings["layers"] - 1):
        net += [nn.Linear(hidden, hidden), nn.ReLU()]
    net.append(nn.Linear(hidden, width))
    return tables(
        {
            "entity": nn.init.normal_(empty(info.num_entities, width)),
            "relation": nn.init.normal_(empty(info.num_relations, settings["embedding_dim"])),
        },
        {"projection": nn.Sequential(*net)},
    )


def positive(raw: Tensor) -> tuple[Tensor, Tensor]:
    """Return α and β, [·, d] each, of raw numbers [·, 2d]."""
    from torch.nn.functional import softplus

    alpha, beta = (softplus(raw) + LEAST).chunk(2, -1)
    return alpha, beta


def log_beta(alpha: Tensor, beta: Tensor) -> Tensor:
    """Return the logarithm of the beta function B(α, β)."""
    return alpha.lgamma() + beta.lgamma() - (alpha + beta).lgamma()


def query(model: Any, entity: Tensor, relation: Tensor) -> Tensor:
    """Return α_q, β_q and −Σ log B(α_q, β_q), [B, 2d + 1]."""
    import torch

    read = torch.cat([*positive(model.vectors["entity"][entity]), model.vectors["relation"][relation]], 1)
    alpha, beta = positive(model.nets["projection"](read))
    return torch.cat([alpha, beta, -log_beta(alpha, beta).sum(1, keepdim=True)], 1)


def features(model: Any) -> tuple[Tensor, Tensor]:
    """Return the factors of α_q, β_q and −Σ log B(q) in −Σ KL(t‖q), [E, 2d + 1], and the part of t alone [E]."""
    import torch

    alpha, beta = positive(model.vectors["entity"])
    both = (alpha + beta).digamma()
    by_alpha, by_beta = alpha.digamma() - both, beta.digamma() - both
    bias = (log_beta(alpha, beta) - alpha * by_alpha - beta * by_beta).sum(1)
    return torch.cat([by_alpha, by_beta, torch.ones_like(by_alpha[:, :1])], 1), bias


SPEC = SystemSpec(
    name="betae",
    label="BetaE",
    family="query",
    description="Turns head and relation into beta distributions. Tails with the closest distributions rank first.",
    source="Ren and Leskovec (2020), Beta embeddings for multi-hop logical reasoning in knowledge graphs, NeurIPS",
    formula="−Σ_i KL(Beta(α_t, β_t)_i ‖ Beta(α_q, β_q)_i) with (α_q, β_q) = MLP(α_h, β_h, r)",
    note="One hop only: no intersections, unions, negations or longer paths. Parameters are softplus(x) + 0.05, which "
    "always has a gradient; the authors clip x + 1. The paper's γ belongs to the self-adversarial loss (margin).",
    build=build,
    query=query,
    features=features,
    form="dot",
    small={"learning_rate": 0.005},
    large={"learning_rate": 0.0005, "optimizer": "adam", "decay": 0.1},
    extra_settings={
        "hidden": Setting(
            int, "units of each hidden layer of the network that reads head and relation", 1, 16384, 128, 800
        ),
        "layers": Setting(int, "hidden layers of that network", 1, 16, 2),
    },
    zero=("dropout",),  # the numbers of a question are parameters, and none can be left out
)
