"""InteractE: ConvE with more crossings of head and relation: permuted, laid out as a chequerboard, no borders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pooling.systems.conve import dropouts
from pooling.systems.spec import ADAM, Setting, Settings, SystemSpec
from pooling.systems.tables import factors_of, tables

if TYPE_CHECKING:
    from torch import Tensor


def build(info: Any, settings: Settings, seed: int) -> Any:
    """Build tables of entities (and their biases) and relations, filters, and the layers before and after them."""
    from torch import empty, nn, zeros

    dim, images, size = settings["embedding_dim"], settings["permutations"], settings["kernel"]
    maps = images * settings["filters"]
    vectors = {
        "entity": nn.init.xavier_normal_(empty(info.num_entities, dim)),
        "relation": nn.init.xavier_normal_(empty(info.num_relations, dim)),
        "bias": zeros(info.num_entities),
    }
    filters = nn.init.xavier_normal_(empty(settings["filters"], 1, size, size))
    return tables(
        vectors,
        {
            "before": nn.Sequential(nn.BatchNorm2d(images), nn.Dropout(settings["input_dropout"])),
            "maps": nn.Sequential(
                nn.BatchNorm2d(maps), nn.ReLU(), nn.Dropout2d(settings["feature_map_dropout"]), nn.Flatten()
            ),
            "after": nn.Sequential(
                nn.Linear(maps * 2 * dim, dim), nn.Dropout(settings["output_dropout"]), nn.BatchNorm1d(dim), nn.ReLU()
            ),
        },
        {"cells": chequer(dim, settings["rows"], images)},
        {"filters": filters},
    )


def chequer(dim: int, rows: int, images: int) -> Tensor:
    """Return which coordinate of (h, r) is in which cell, [images, rows, 2 · dim / rows]; r is numbered from dim.

    Each image has a permutation of h and one of r, drawn once for every seed, and lays them out in turns: a cell
    of h has neighbours of r only.
    """
    import numpy as np
    import torch

    rng = np.random.default_rng(0)
    cells = np.empty((images, rows, 2 * dim // rows), np.int64)
    of_head = np.indices(cells.shape[1:]).sum(0) % 2 == 0
    for image in cells:
        image[of_head], image[~of_head] = rng.permutation(dim), dim + rng.permutation(dim)
    return torch.as_tensor(cells)


def query(model: Any, entity: Tensor, relation: Tensor) -> Tensor:
    """Return the encoded images of head and relation, [B, d]."""
    import torch
    from torch.nn.functional import conv2d, pad

    filters, cells = model.others["filters"], model.constants["cells"]
    images, margin = len(cells), filters.shape[-1] // 2
    pairs = torch.cat([model.vectors["entity"][entity], model.vectors["relation"][relation]], 1)
    x = model.nets["before"](pairs[:, cells])  # [B, 2d] -> [B, images, rows, columns]
    x = pad(x, (margin,) * 4, mode="circular")
    x = conv2d(x, filters.repeat(images, 1, 1, 1), groups=images)  # -> [B, images · filters, rows, columns]
    return model.nets["after"](model.nets["maps"](x))


def features(model: Any) -> tuple[Tensor, Tensor]:
    """Return entity vectors [E, d] and the bias of each entity [E]."""
    return model.vectors["entity"], model.vectors["bias"]


def check(settings: Settings) -> None:
    """Raise ValueError for images that do not come out even, and kernels that have no middle or do not fit."""
    dim, rows, kernel = settings["embedding_dim"], settings["rows"], settings["kernel"]
    if dim % rows:
        raise ValueError(
            f"embedding_dim is {dim}: InteractE lays it out in rows × columns, and {rows} rows do not divide it; "
            "set rows to a divisor"
        )
    if kernel % 2 == 0:
        raise ValueError(f"kernel is {kernel}: InteractE needs an odd number, so that a filter has a middle")
    if kernel // 2 > min(rows, 2 * dim // rows):
        raise ValueError(
            f"kernel is {kernel}: it would wrap around an image of {rows} × {2 * dim // rows} cells more than once; "
            "set kernel lower or embedding_dim higher"
        )


SPEC = SystemSpec(
    name="interacte",
    label="InteractE",
    family="neural",
    description="Arranges head and relation as a chequerboard that wraps around, convolves it, and compares the "
    "result with the tail.",
    source="Vashishth et al. (2020), InteractE: improving convolution-based knowledge graph embeddings by increasing "
    "feature interactions, AAAI",
    formula="relu(W vec(relu(chequer(π(h), π(r)) ⊛ ω)))·t + b_t; ⊛ is convolution on a torus, channel by channel",
    note="The permutations π are the same for every seed. The setting loss=bce gives the paper's binary cross-entropy "
    "with label smoothing. Our presets use cross-entropy, which learns faster.",
    build=build,
    query=query,
    features=features,
    factors=factors_of("relation"),
    form="dot",
    small={"learning_rate": 0.005, "batch_size": 128, "epochs": 12},
    large={
        "embedding_dim": 200,
        "learning_rate": 0.001,
        **ADAM,
        "epochs": 40,
        "objective": "questions",
        "batch_size": 256,
    },
    extra_settings={
        "rows": Setting(int, "rows of the chequerboard, a divisor of embedding_dim", 1, 512, 8, 10),
        "permutations": Setting(int, "number of chequerboards; each has its own order", 1, 16, 2, 1),
        "filters": Setting(int, "filters of the convolution, the same for each chequerboard", 1, 512, 8, 96),
        "kernel": Setting(int, "height and width of a filter, an odd number", 1, 31, 3, 9),
        **dropouts((0.2,), (0.2, 0.4), (0.3, 0.4)),
    },
    check=check,
)
