"""TransE: a relation is a translation from head to tail."""

from pooling.systems.spec import SystemSpec, from_pykeen, pair


def query(model, entity, relation):
    """Return h + r, [B, d]."""
    h, r = pair(model, entity, relation)
    return h + r


def features(model):
    """Return entity vectors [E, d], no bias."""
    return model.entity_representations[0](None), None


SPEC = SystemSpec(
    name="transe",
    label="TransE",
    family="translational",
    description="Adds the relation's vector to the head's. The closer the tail is to the sum, the higher the score.",
    source="Bordes et al. (2013), Translating embeddings for modeling multi-relational data, NeurIPS",
    formula="−‖h + r − t‖₂",
    note="Entities are not moved back to the unit sphere after each step. The loss is cross-entropy, not a margin.",
    build=from_pykeen("TransE", scoring_fct_norm=2, entity_constrainer=None),  # this norm has a matrix-product form
    query=query,
    features=features,
    form="euclidean",
    large={"learning_rate": 0.003, "optimizer": "adam", "scale": 4.0, "decay": 0.1, "epochs": 20},
)
