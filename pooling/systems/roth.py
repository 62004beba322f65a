"""RotH: rotations between two translations in a hyperbolic space, whose curvature belongs to the relation.

Entities are tangent vectors at the origin, since the ball that they are mapped into differs by relation. With q and t
tangent vectors (q is a tangent vector again after all moves), k = √c and a = 2k‖q‖, b = 2k‖t‖, the hyperbolic law of
cosines, cosh(k d) = cosh a cosh b − sinh a sinh b cos(q, t), gives without a difference of large numbers

    sinh²(k d / 2) = sinh²((a − b) / 2) + sinh a sinh b (‖q‖‖t‖ − q·t) / (2‖q‖‖t‖)

so that the products q·t of one matrix product are enough, in single precision. The moves of the head, of which there
are few, are computed in double precision.
Source: Ungar (2008), A gyrovector space approach to hyperbolic geometry (Möbius addition, exponential map).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pooling.systems.atte import FIRST_STD, rotate
from pooling.systems.spec import ADAM, Settings, SystemSpec
from pooling.systems.tables import factors_of, normal, tables, uniform

if TYPE_CHECKING:
    from torch import Tensor

EDGE = 1 - 1e-5  # points are kept this near to the centre of a ball of radius one (the authors' value for doubles)
SMALLEST = 1e-12  # under a root: its slope is infinite at zero
BLOCK_FLOATS = 1 << 18  # scores that are computed at once while ranking: they stay in the cache of a CPU core
VECTORS = 64  # floats: a multiple of what any CPU computes at once


def build(info: Any, settings: Settings, seed: int) -> Any:
    """Build tables of entities, biases, and of what belongs to a relation: two translations, angles, curvature."""
    import torch

    size, entities, relations = settings["embedding_dim"], info.num_entities, info.num_relations
    return tables(
        {
            "entity": normal(entities, size, FIRST_STD),
            "head_bias": torch.zeros(entities),
            "tail_bias": torch.zeros(entities),
            "before": normal(relations, size, FIRST_STD),
            "rotation": uniform(relations, size // 2),
            "after": normal(relations, size, FIRST_STD),
            "curvature": torch.ones(relations),  # of which the softplus is taken
        }
    )


def norm(vector: Tensor) -> Tensor:
    """Return ‖v‖ of [..., d], kept as a column; its slope stays finite at zero."""
    return (vector * vector).sum(-1, keepdim=True).clamp_min(SMALLEST).sqrt()


def to_ball(vector: Tensor, k: Tensor) -> Tensor:
    """Return the point of the ball of radius 1 / k that a tangent vector at its centre leads to."""
    length = k * norm(vector)
    return vector * (length.tanh().clamp(max=EDGE) / length)


def to_tangent(point: Tensor, k: Tensor) -> Tensor:
    """Return the tangent vector at the centre that leads to a point; pull back what lies beyond the edge."""
    import torch

    length = k * norm(point)
    return point * (torch.atanh(length.clamp(max=EDGE)) / length)


def add(x: Tensor, y: Tensor, k: Tensor) -> Tensor:
    """Return the Möbius sum x ⊕ y in the ball of radius 1 / k."""
    c = k * k
    xy, x2, y2 = ((u * v).sum(-1, keepdim=True) for u, v in ((x, y), (x, x), (y, y)))
    above = (1 + 2 * c * xy + c * y2) * x + (1 - c * x2) * y
    return above / (1 + 2 * c * xy + c * c * x2 * y2)


def query(model: Any, entity: Tensor, relation: Tensor) -> Tensor:
    """Return q as a tangent vector, then b_h and k, [B, d + 2]."""
    import torch

    def rows(name: str, ids: Tensor) -> Tensor:
        return model.vectors[name][ids].double()

    k = torch.nn.functional.softplus(rows("curvature", relation)).sqrt().unsqueeze(1)
    x = add(to_ball(rows("entity", entity), k), to_ball(rows("before", relation), k), k)
    x = rotate(x, rows("rotation", relation))
    q = to_tangent(add(x, to_ball(rows("after", relation), k), k), k)
    return torch.cat([q, rows("head_bias", entity).unsqueeze(1), k], 1).float()


def features(model: Any) -> tuple[Tensor, Tensor]:
    """Return tangent vectors t [E, d] and b_t."""
    return model.vectors["entity"], model.vectors["tail_bias"]


def compare(products: Tensor, query: Tensor, squares: Tensor) -> Tensor:
    """Return −d² + b_h of products [B, n] of q and t, query [B, d + 2] and squares ‖t‖² [n] or [B, n]."""
    import torch

    if torch.is_grad_enabled() or squares.ndim > 1:
        return _scores(products, query, squares)
    step = max(1, BLOCK_FLOATS // max(products.shape[1], 1))
    for part, some in zip(products.split(step), query.split(step), strict=True):
        part.copy_(_scores(part, some, squares))
    return products


def _scores(products: Tensor, query: Tensor, squares: Tensor) -> Tensor:
    q, bias, k = query[:, :-2], query[:, -2:-1], query[:, -1:]
    own, lengths = norm(q), squares.clamp_min(SMALLEST).sqrt()
    gap = _each("sinh", k * (own - lengths))
    # sinh a / ‖q‖ · sinh b / ‖t‖, of lengths that are never zero
    spread = _each("sinh", 2 * k * own) / own * (_each("sinh", 2 * k * lengths) / lengths)
    turn = (own * lengths - products).clamp_min(0) / 2
    distance = 2 * _each("asinh", (gap * gap + spread * turn).clamp_min(SMALLEST).sqrt()) / k
    return bias - distance * distance


def _each(function: str, values: Tensor) -> Tensor:
    """Return a function of each value, which does not depend on how many others there are.

    A CPU computes the last ones of a tensor, those that fill no vector, by another formula than the rest; its threads
    take equal parts. So the tensor is filled up while ranking.
    """
    import torch

    if torch.is_grad_enabled() or values.is_cuda:
        return getattr(values, function)()
    flat = values.reshape(-1)
    missing = -flat.numel() % (VECTORS * torch.get_num_threads())
    return getattr(torch.nn.functional.pad(flat, (0, missing)), function)()[: flat.numel()].view(values.shape)


SPEC = SystemSpec(
    name="roth",
    label="RotH",
    family="hyperbolic",
    description="Moves the head through a hyperbolic space by a translation, a rotation and a second translation.",
    source="Chami et al. (2020), Low-dimensional hyperbolic knowledge graph embeddings, ACL",
    formula="−d(q, t)² + b_h + b_t, q = Rot(θ_r)(h ⊕ r₁) ⊕ r₂, d the distance in the Poincaré ball of curvature −c_r",
    note=(
        "Weights are in single precision, not double. The head is moved in double precision, and the law of cosines "
        "gives the distance; this keeps the scores as exact as in double precision. Rotations are stored as angles."
    ),
    build=build,
    query=query,
    features=features,
    form="link",
    factors=factors_of("before", "after"),  # as tangent vectors
    compare=compare,
    large={"embedding_dim": 128, "learning_rate": 0.005, **ADAM},
    multiple=2,
    zero=("dropout",),  # the last two numbers of the query are no coordinates
)
