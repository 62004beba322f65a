"""CompGCN: graph convolutions that compose entity and relation on every edge, with ConvE or DistMult on top."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from pooling.systems import conve, distmult
from pooling.systems.spec import ADAM, Setting, Settings, SystemSpec

if TYPE_CHECKING:
    from pykeen.models import ERModel
    from pykeen.triples import CoreTriplesFactory
    from torch import Tensor

COMPOSITIONS = ("multiplication", "subtraction", "circularcorrelation")  # PyKEEN's names


def build(info: CoreTriplesFactory, settings: Settings, seed: int) -> ERModel:
    """Build PyKEEN's CompGCN layers over all training triples, and its ConvE (with a bias per entity) or DistMult."""
    from pykeen.models import ERModel
    from pykeen.nn.init import xavier_normal_
    from pykeen.nn.modules import ConvEInteraction, DistMultInteraction
    from pykeen.nn.representation import CombinedCompGCNRepresentations, Embedding
    from torch.nn.init import zeros_

    dim = settings["embedding_dim"]
    entities, relations = CombinedCompGCNRepresentations(
        triples_factory=info,
        entity_representations_kwargs={"shape": dim, "initializer": xavier_normal_},
        relation_representations_kwargs={"shape": dim, "initializer": xavier_normal_},
        num_layers=settings["layers"],
        layer_kwargs={"composition": settings["composition"], "dropout": settings["layer_dropout"]},
    ).split()
    with_bias = settings["decoder"] == "conve"
    bias = [Embedding(max_id=info.num_entities, shape=(), initializer=zeros_)]
    image = {"output_channels": settings["channels"], "embedding_dim": dim}
    return ERModel(
        triples_factory=info,
        interaction=ConvEInteraction if with_bias else DistMultInteraction,
        interaction_kwargs={**image, **{key: settings[key] for key in conve.DROPOUTS}} if with_bias else None,
        entity_representations=[entities, *bias] if with_bias else [entities],
        relation_representations=[relations],
        random_seed=seed,
    )


def encode(model: Any) -> SimpleNamespace:
    """Return what a decoder sees of the model: its interaction, and tables of what the layers make of the graph."""
    combined = model.entity_representations[0].combined
    entities, relations = combined.entity_representations(None), combined.relation_representations(None)
    weight = edge_weights(combined.edge_index, len(entities))
    for layer in combined.layers:
        entities = convolve(layer, entities, relations, combined.edge_index, combined.edge_type, weight)
        relations = layer.w_rel(relations).to(entities.dtype)  # mixed precision: transforms want full

    def table(vectors: Tensor) -> Any:
        return lambda ids: vectors if ids is None else vectors[ids]

    return SimpleNamespace(
        interaction=model.interaction,
        entity_representations=[table(entities), *model.entity_representations[1:]],
        relation_representations=[table(relations)],
    )


def edge_weights(edge_index: Tensor, num_entities: int) -> Tensor:
    """Return 1 / √(edges from the head · edges to the tail) of each edge, as PyKEEN does, [edges, 1]."""
    source, target = edge_index
    from_head, to_tail = source.bincount(minlength=num_entities), target.bincount(minlength=num_entities)
    return (from_head[source] * to_tail[target]).rsqrt()[:, None]


def convolve(
    layer: Any, entities: Tensor, relations: Tensor, edge_index: Tensor, edge_type: Tensor, weight: Tensor
) -> Tensor:
    """Apply one layer, [E, d] -> [E, d].

    PyKEEN's own multiplies the message of every edge by the layer's matrix; here the messages of an entity are added up
    before, which is the same and needs far fewer products.
    """

    def received(source: Tensor, target: Tensor, kind: Tensor, matrix: Tensor) -> Tensor:
        message = layer.composition(entities[source], relations[kind]) * weight
        return layer.drop(entities.new_zeros(entities.shape).index_add(0, target, message) @ matrix)

    head, tail = edge_index
    own = layer.composition(entities, layer.self_loop) @ layer.w_loop
    forward = received(head, tail, 2 * edge_type, layer.w_fwd)
    backward = received(tail, head, 2 * edge_type + 1, layer.w_bwd)
    return layer.activation(layer.bn(layer.bias((own + forward + backward) / 3)))


def query(model: Any, entity: Tensor, relation: Tensor, encoded: SimpleNamespace) -> Tensor:
    """Return the decoder's query vectors of encoded heads and relations, [B, d]."""
    return decoder(encoded).query(encoded, entity, relation)


def features(model: Any, encoded: SimpleNamespace) -> tuple[Tensor, Tensor | None]:
    """Return encoded entities [E, d] and, with ConvE, the bias of each [E]."""
    return decoder(encoded).features(encoded)


def factors(model: Any, entity: Tensor, relation: Tensor, answer: Tensor) -> list[Tensor]:
    """Return the vectors of head, relation and answer before the graph is read, [B, d] each."""
    combined = model.entity_representations[0].combined
    entities = combined.entity_representations
    return [entities(entity), combined.relation_representations(relation), entities(answer)]


def decoder(encoded: SimpleNamespace) -> SystemSpec:
    """Return ConvE if entities have a bias, else DistMult."""
    return conve.SPEC if len(encoded.entity_representations) > 1 else distmult.SPEC


SPEC = SystemSpec(
    name="compgcn",
    label="CompGCN",
    family="neural",
    description="Every entity collects vectors from its neighbours and their relations. ConvE or DistMult then scores "
    "the result.",
    source="Vashishth et al. (2020), Composition-based multi-relational graph convolutional networks, ICLR",
    formula="decoder(h′, r′, t′); per layer h′ = tanh(norm(W_own φ(h, s) + W_out Σ φ(n, r) + W_in Σ φ(n, r⁻¹)) / 3)) "
    "over neighbours n, r′ = W_rel r; φ is a product, a difference or a circular correlation",
    note="It uses PyKEEN's layers, without the paper's basis vectors of relations. As in the paper, all training "
    "triples are edges at every step, also those of the batch. On a GPU, sums over edges differ in their last bits "
    "from run to run.",
    build=build,
    query=query,
    features=features,
    shared=encode,
    factors=factors,
    form="dot",
    needs_train=True,
    # messages of every edge and their gradients: 6.4 GB measured on FB15k-237 with 200 dimensions and one layer
    activations=lambda settings, triples: 29.0 * settings["layers"] * triples * settings["embedding_dim"],
    small={"learning_rate": 0.005, "epochs": 12},
    large={"embedding_dim": 200, "learning_rate": 0.001, **ADAM, "epochs": 40, "objective": "questions"},
    extra_settings={
        "decoder": Setting(
            str,
            "decoder that scores the encoded vectors",
            choices=("conve", "distmult"),
            small="distmult",
            large="conve",
        ),
        "composition": Setting(
            str, "operation that combines neighbour and relation", choices=COMPOSITIONS, large=COMPOSITIONS[2]
        ),
        "layers": Setting(int, "graph convolutions, one after the other", 1, 8, 1),
        "layer_dropout": Setting(float, "share of the collected vectors that is dropped while training", 0, 0.95, 0.1),
        "channels": conve.SPEC.extra_settings["channels"],
        **conve.dropouts((0.2,), (0.2,), (0.3,)),
    },
)
