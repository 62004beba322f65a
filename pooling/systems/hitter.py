"""HittER: one transformer reads pairs of entity and relation, another reads a question's pair among its neighbours."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pooling.systems.interacte import features  # entity vectors with biases, as there
from pooling.systems.spec import Setting, Settings, SystemSpec, init_std
from pooling.systems.tables import factors_of, tables

if TYPE_CHECKING:
    from pykeen.triples import CoreTriplesFactory
    from torch import Tensor
    from torch.nn import Module

# Rows of the table `kinds`, which tells a transformer what a token is
ENTITY, RELATION, SOURCE, NEIGHBOUR = range(4)


def build(info: CoreTriplesFactory, settings: Settings, seed: int) -> Any:
    """Build tables of entities (and their biases) and relations, special tokens, two transformers, and the edges."""
    from torch import empty, nn, zeros

    dim = settings["embedding_dim"]
    rows = {"entity": info.num_entities, "relation": info.num_relations, "kinds": 4, "pair": 1, "context": 1}
    vectors = {name: nn.init.normal_(empty(n, dim), std=settings["init_std"]) for name, n in rows.items()}
    vectors |= {"mask": nn.init.normal_(empty(1, dim), std=settings["init_std"]), "bias": zeros(info.num_entities)}
    others = {name: vectors.pop(name) for name in ("kinds", "pair", "context", "mask")}
    return tables(
        vectors,
        {
            "pair": transformer(settings, settings["pair_layers"]),
            "context": transformer(settings, settings["context_layers"]),
            "mask": nn.Dropout(settings["mask"]),
        },
        edges(info, settings["neighbours"]),
        others,
    )


def transformer(settings: Settings, layers: int) -> Module:
    """Build pre-norm encoder layers with GELU, four times as wide inside, and a last normalisation."""
    from torch import nn

    dim = settings["embedding_dim"]
    layer = nn.TransformerEncoderLayer(
        dim, settings["heads"], 4 * dim, settings["inner_dropout"], "gelu", batch_first=True, norm_first=True
    )
    return nn.TransformerEncoder(layer, layers, nn.LayerNorm(dim), enable_nested_tensor=False)


def edges(info: CoreTriplesFactory, most: int) -> dict[str, Tensor]:
    """List the edges of all entities, one after the other: `start` and `count` [E], `near` and `via` [edges].

    The edge (n, v) of e says that n has the inverse-aware relation v to e. An entity's edges are shuffled once,
    for every seed alike; ranking reads the first `most`. The last edge belongs to nobody: a graph may have none.
    """
    import torch
    from torch import cat

    head, relation, tail = info.mapped_triples.T
    owner, near, via = cat([tail, head]), cat([head, tail]), cat([2 * relation, 2 * relation + 1])
    order = torch.randperm(len(owner), generator=torch.Generator().manual_seed(0))
    order = order[torch.argsort(owner[order], stable=True)]
    count = torch.bincount(owner, minlength=info.num_entities)
    nobody = torch.zeros(1, dtype=torch.long)
    return {
        "start": count.cumsum(0) - count,
        "count": count,
        "near": cat([near[order], nobody]),
        "via": cat([via[order], nobody]),
        "slots": torch.arange(most),
    }


def query(model: Any, entity: Tensor, relation: Tensor) -> Tensor:
    """Return what the second transformer makes of the question among its neighbours, [B, d]."""
    import torch

    table, kinds = model.vectors, model.others["kinds"]
    near, via, present = neighbours(model, entity, relation)
    seen = model.nets["mask"](torch.ones_like(entity[:, None], dtype=kinds.dtype)) > 0
    source = torch.where(seen, table["entity"][entity], model.others["mask"])
    around = kinds.new_zeros(*near.shape, kinds.shape[1])  # [B, n, d]
    around[present] = read_pair(model, table["entity"][near[present]], via[present]) + kinds[NEIGHBOUR]
    own = read_pair(model, source, relation) + kinds[SOURCE]
    tokens = torch.cat([model.others["context"].expand_as(own)[:, None], own[:, None], around], 1)  # [B, 2 + n, d]
    absent = torch.cat([torch.zeros_like(present[:, :2]), ~present], 1)
    return model.nets["context"](tokens, src_key_padding_mask=absent)[:, 0]


def neighbours(model: Any, entity: Tensor, relation: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return neighbours of each entity, their relations to it, and which of them exist, [B, n] each.

    Where an entity has more than n, training draws n of them anew and ranking takes the first. Those that answer the
    question itself are left out: in training one of them is the answer.
    """
    import torch

    edges = model.constants
    slots, count = edges["slots"], edges["count"][entity][:, None]
    place = slots.expand(len(entity), -1)
    if model.training:
        drawn = (torch.rand(place.shape, device=place.device) * count).long()
        place = torch.where(count > len(slots), drawn, place)
    present = slots < count
    edge = (edges["start"][entity][:, None] + place).where(present, -1)
    near, via = edges["near"][edge], edges["via"][edge]
    return near, via, present & (via != relation[:, None] ^ 1)


def read_pair(model: Any, entity: Tensor, relation: Tensor) -> Tensor:
    """Return what the first transformer makes of entity vectors [N, d] and relation ids [N], [N, d]."""
    import torch

    table, kinds = model.vectors, model.others["kinds"]
    tokens = [
        model.others["pair"].expand_as(entity),
        entity + kinds[ENTITY],
        table["relation"][relation] + kinds[RELATION],
    ]
    return model.nets["pair"](torch.stack(tokens, 1))[:, 0]  # [N, 3, d] -> [N, d]


def activations(settings: Settings, triples: int) -> float:
    """Estimate about 34 vectors for each token and layer, and its attention thrice, with all neighbours.

    Where every entity has its 50 neighbours, a batch of the large preset keeps 25 MB a row for the way back; with what
    passes between, a process on a CPU was measured at 36 MB a row for 32 rows and 33 MB for 64. On a GPU FB15k-237,
    where many entities have fewer, takes 21 MB a row.
    """
    pairs, inner = 1 + settings["neighbours"], settings["pair_layers"]
    tokens, outer = 2 + settings["neighbours"], settings["context_layers"]
    vectors = 34.0 * settings["embedding_dim"] * (3 * pairs * inner + tokens * outer)
    attention = 3.0 * settings["heads"] * (9 * pairs * inner + tokens**2 * outer)
    return min(settings["batch_size"], 2 * triples) * (vectors + attention)


def check(settings: Settings) -> None:
    """Raise ValueError if heads do not share a vector evenly."""
    if settings["embedding_dim"] % settings["heads"]:
        raise ValueError(
            f"embedding_dim is {settings['embedding_dim']}: HittER's {settings['heads']} heads cannot share it evenly; "
            "set heads to a divisor"
        )


SPEC = SystemSpec(
    name="hitter",
    label="HittER",
    family="neural",
    description="Two transformers read the question's pair of head and relation, together with the pairs around the "
    "head.",
    source="Chen et al. (2021), HittER: hierarchical transformers for knowledge graph embeddings, EMNLP",
    formula="context([G], pair(h, r), pair(n₁, v₁), …, pair(n_k, v_k))·t + b_t over neighbours n_i v_i h; both are "
    "transformers, read at their first token",
    note="The paper's masked entity task is only half implemented. The head is hidden in a share of the questions "
    "(mask), but no second loss guesses it, and no random entity ever replaces it. In training and ranking, all "
    "neighbours that answer the question are left out. The paper leaves out only the one answer, and only in "
    "training. Layers normalise their input (pre-norm), because normalising the output learns slowly without a "
    "warm-up. The preset of small graphs fits a CPU: one layer each, 8 neighbours, no hidden head.",
    build=build,
    query=query,
    features=features,
    factors=factors_of("relation"),
    form="dot",
    needs_train=True,
    activations=activations,
    small={"embedding_dim": 32, "learning_rate": 0.005, "decay": 0.2, "batch_size": 64, "epochs": 10},
    large={
        "embedding_dim": 320,
        "learning_rate": 0.01,
        "optimizer": "adamax",
        "objective": "questions",
        "batch_size": 512,
        "num_negatives": 0,
        "epochs": 60,
        "decay": 0.1,
    },
    extra_settings={
        "pair_layers": Setting(int, "layers of the transformer that reads a pair", 1, 24, 1, 3),
        "context_layers": Setting(int, "layers of the transformer that reads the neighbourhood", 1, 24, 1, 6),
        "heads": Setting(int, "attention heads of both, a divisor of embedding_dim", 1, 64, 4, 8),
        "neighbours": Setting(int, "largest number of neighbours that it reads", 1, 1000, 8, 50),
        "mask": Setting(float, "share of the questions whose head is hidden while training", 0, 0.95, 0.0, 0.5),
        "inner_dropout": Setting(float, "dropout inside of both transformers", 0, 0.95, 0.0, 0.1),
        "init_std": replace(init_std, small=0.02, large=None),
    },
    check=check,
)
