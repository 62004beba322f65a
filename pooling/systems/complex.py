"""ComplEx: a trilinear product over complex vectors, which can tell a relation from its inverse."""

from pooling.systems.rotate import features, query  # Re⟨h, r, conj t⟩ = real(h∘r)·real(t) + imag(h∘r)·imag(t)
from pooling.systems.spec import SystemSpec, from_pykeen, init_std

SPEC = SystemSpec(
    name="complex",
    label="ComplEx",
    family="decomposition",
    description="Multiplies head, relation and conjugate tail by complex coordinates and sums up.",
    source="Trouillon et al. (2016), Complex embeddings for simple link prediction, ICML",
    formula="Re⟨h, r, conj t⟩ = Re Σ h_i r_i conj(t_i), h, r and t complex",
    note="Small graphs use dropout on the query instead of the regulariser; large graphs use N3, the cubed moduli.",
    build=from_pykeen("ComplEx", regularizer=None),
    query=query,
    features=features,
    form="dot",
    small={"dropout": 0.2},
    large={"embedding_dim": 128, "n3": 0.05},
    extra_settings={"init_std": init_std},
)
