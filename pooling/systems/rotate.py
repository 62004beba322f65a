"""RotatE: a relation is a rotation in the complex plane, coordinate by coordinate."""

from dataclasses import replace

from pooling.systems.spec import SystemSpec, from_pykeen, pair


def query(model, entity, relation):
    """Return h ∘ r, real and imaginary parts interleaved, [B, 2d]."""
    import torch

    h, r = pair(model, entity, relation)
    return torch.view_as_real(h * r).flatten(1)  # [B, d, 2] -> [B, 2d]


def features(model):
    """Return entity vectors as reals, interleaved in the same way, [E, 2d], no bias."""
    import torch

    return torch.view_as_real(model.entity_representations[0](None)).flatten(1), None


SPEC = SystemSpec(
    name="rotate",
    label="RotatE",
    family="translational",
    description="Rotates each complex coordinate of the head by the relation's angle. The closer to the tail, the "
    "higher the score.",
    source="Sun et al. (2019), RotatE: knowledge graph embedding by relational rotation in complex space, ICLR",
    formula="−‖h ∘ r − t‖₂, h and t complex, |r_i| = 1",
    note=(
        "The distance is the 2-norm over all coordinates, as in PyKEEN, because one matrix product gives it. The "
        "paper sums the moduli. Trained with cross-entropy."
    ),
    build=from_pykeen("RotatE"),  # whose constrainer puts relations back on the unit circle after every step
    query=query,
    features=features,
    form="euclidean",
    large={"embedding_dim": 128, "learning_rate": 0.01, "optimizer": "adam", "scale": 4.0, "decay": 0.1, "epochs": 20},
)


def moduli(query, features):
    """Return −Σ |q_i − t_i| of queries [B, 1, 2d] and features [1 or B, n, 2d], whose numbers are complex: [B, n]."""
    import torch

    difference = (query - features).unflatten(-1, (-1, 2)).contiguous()
    return -torch.view_as_complex(difference).abs().sum(-1)


# only models from elsewhere use it: DGL-KE and LibKGE train RotatE so
MODULI = replace(
    SPEC,
    name="rotate-moduli",
    label="RotatE (moduli)",
    formula="−Σ |h_i r_i − t_i|, h and t complex, |r_i| = 1",
    note="The distance sums the moduli, as in the paper. It has no matrix-product form, so it ranks more slowly.",
    form="pointwise",
    compare=moduli,
)
