"""BiQUE: a relation shifts the head and multiplies it in the biquaternions, which holds rotations of both kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pooling.systems.spec import Settings, SystemSpec, init_std
from pooling.systems.tables import factors_of, features, normal, tables

if TYPE_CHECKING:
    from torch import Tensor

PARTS = 8  # reals of a biquaternion: complex numbers w, x, y, z of w + xi + yj + zk, real and imaginary parts


def build(info: Any, settings: Settings, seed: int) -> Any:
    """Build tables of d / 8 biquaternions; factors start as random as entities do."""
    rows = {"entity": info.num_entities, "shift": info.num_relations, "factor": info.num_relations}
    return tables({name: normal(n, settings["embedding_dim"], settings["init_std"]) for name, n in rows.items()})


def query(model: Any, entity: Tensor, relation: Tensor) -> Tensor:
    """Return (h + r₊) ⊗ r×, [B, d]."""
    v = model.vectors
    return hamilton(v["entity"][entity] + v["shift"][relation], v["factor"][relation])


def hamilton(a: Tensor, b: Tensor) -> Tensor:
    """Multiply biquaternions [B, d]: Hamilton's product, with complex coefficients (their root of −1 commutes)."""
    import torch

    def coefficients(x: Tensor) -> tuple[Tensor, ...]:
        # [B, d] -> [B, d / 8, 4, 2] -> 4 × complex [B, d / 8]
        return torch.view_as_complex(x.unflatten(1, (-1, 4, 2)).contiguous()).unbind(2)

    (aw, ax, ay, az), (bw, bx, by, bz) = coefficients(a), coefficients(b)
    w = aw * bw - ax * bx - ay * by - az * bz
    x = aw * bx + ax * bw + ay * bz - az * by
    y = aw * by - ax * bz + ay * bw + az * bx
    z = aw * bz + ax * by - ay * bx + az * bw
    return torch.view_as_real(torch.stack([w, x, y, z], 2)).flatten(1)


def factors(model: Any, entity: Tensor, relation: Tensor, answer: Tensor) -> list[Tensor]:
    """Return the lengths of the biquaternions of head, relation and answer, [B, d / 8] each."""
    vectors = factors_of("shift", "factor")(model, entity, relation, answer)
    return [x.unflatten(1, (-1, PARTS)).norm(dim=2) for x in vectors]


SPEC = SystemSpec(
    name="bique",
    label="BiQUE",
    family="decomposition",
    description="Shifts the head, multiplies it by the relation as biquaternions, and compares the result with the "
    "tail.",
    source="Guo and Kok (2021), BiQUE: biquaternionic embeddings of knowledge graphs, EMNLP",
    formula="((h + r₊) ⊗ r×) · t, ⊗ Hamilton's product of biquaternions, · over their eight real parts",
    note="Dropout on the query replaces the weighted N3. The setting n3 counts a biquaternion's length.",
    build=build,
    query=query,
    features=features,
    form="dot",
    factors=factors,
    small={"dropout": 0.2},
    large={"embedding_dim": 128, "dropout": 0.4},
    extra_settings={"init_std": init_std},
    multiple=PARTS,
)
