"""RESCAL: a full matrix per relation."""

from dataclasses import replace

from pooling.systems.spec import SystemSpec, from_pykeen, init_std, pair
from pooling.systems.transe import features


def build(info, settings, seed):
    """Build PyKEEN's RESCAL without its regulariser: dropout does that work."""
    from pykeen.regularizers import NoRegularizer

    return from_pykeen("RESCAL", regularizer=NoRegularizer())(info, settings, seed)


def query(model, entity, relation):
    """Return hᵀ R, [B, d]."""
    h, r = pair(model, entity, relation)
    return (h.unsqueeze(1) @ r).squeeze(1)  # [B, 1, d] @ [B, d, d] -> [B, d]


SPEC = SystemSpec(
    name="rescal",
    label="RESCAL",
    family="decomposition",
    description="Multiplies head and tail through a matrix of the relation.",
    source="Nickel et al. (2011), A three-way model for collective learning on multi-relational data, ICML",
    formula="hᵀ R t, R a matrix of the relation",
    note="Trained with gradients and cross-entropy, not with alternating least squares. Dropout replaces its L2 term.",
    build=build,
    query=query,
    features=features,
    form="dot",
    small={"embedding_dim": 32, "learning_rate": 0.01, "batch_size": 512, "dropout": 0.2},
    large={"embedding_dim": 64, "dropout": 0.3, "learning_rate": 0.1},
    extra_settings={"init_std": replace(init_std, large=None)},
)
