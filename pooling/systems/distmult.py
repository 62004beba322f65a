"""DistMult: a trilinear product over real vectors."""

from pooling.systems.spec import SystemSpec, from_pykeen, init_std, pair
from pooling.systems.transe import features


def query(model, entity, relation):
    """Return h ∘ r, [B, d]."""
    h, r = pair(model, entity, relation)
    return h * r


SPEC = SystemSpec(
    name="distmult",
    label="DistMult",
    family="decomposition",
    description="Multiplies head, relation and tail coordinate by coordinate and sums up.",
    source="Yang et al. (2015), Embedding entities and relations for learning and inference, ICLR",
    formula="⟨h, r, t⟩ = Σ h_i r_i t_i",
    note="Small graphs use dropout on the query instead of the regulariser; large graphs use N3, the cubed moduli. "
    "Entities keep their lengths.",
    build=from_pykeen("DistMult", entity_constrainer=None, regularizer=None),
    query=query,
    features=features,
    form="dot",
    small={"dropout": 0.2},
    large={"n3": 0.05},
    extra_settings={"init_std": init_std},
)
