"""Estimate the memory of a training before anything is built, keep freed memory between batches, measure the peak."""

import contextlib
import ctypes
import re
import resource
from pathlib import Path
from typing import Any

import numpy as np
import torch

from pooling.learning.losses import STATES
from pooling.scoring.free_memory import check_free
from pooling.scoring.scorer import build_model
from pooling.systems.spec import Settings, SystemSpec, common_settings

FLOAT, INT = 4, 8  # bytes
PROCESS = Path("/proc/self")
SCORE_COPIES = 5  # of the scores of a batch: themselves, their weights, the loss of each, and slopes
RANKING_BYTES = 1 << 29  # what a validation takes at most beside model and graph
SMALL_GRAPH = (61, 7)  # entities and relations: two primes, so that shapes tell them apart


def estimate_bytes(
    spec: SystemSpec, num_entities: int, num_relations: int, settings: Settings, train: np.ndarray
) -> int:
    """Estimate the most bytes that training takes: weights, slopes, optimiser, graph, and a batch or a validation.

    Nothing is built: weights are counted on torch's meta device. Of a network's layers it knows what the system tells
    (`SystemSpec.activations`).
    """
    common = common_settings(settings)
    sizes = _weights(spec, num_entities, num_relations, settings, train)
    weights = FLOAT * sum(rows * width for rows, width in sizes)
    rows = min(common["batch_size"], 2 * len(train))
    per_entity = sum(width for count, width in sizes if count == num_entities)
    per_relation = sum(width for count, width in sizes if count == 2 * num_relations)
    columns = rows + common["num_negatives"] if common["num_negatives"] else num_entities
    if common["objective"] == "questions" or common["loss"] == "self-adversarial":
        columns = min(columns, num_entities)  # one for each entity, however often it is drawn
    # a query's vectors and a column's features are looked up, and have slopes
    batch = FLOAT * (SCORE_COPIES * rows * columns + 3 * rows * (per_entity + per_relation) + 2 * columns * per_entity)
    if spec.activations is not None:
        batch += int(FLOAT * spec.activations(settings, len(train)))
    graph = 5 * 2 * INT * len(train)  # entity, relation and answer of each row, its order, and a mask
    ranking = min(2 * FLOAT * 256 * num_entities, RANKING_BYTES)
    slopes = 0 if common["optimizer"] == "sparse-adagrad" else weights
    held = weights * (1 + STATES[common["optimizer"]]) + slopes  # and the optimiser's memory
    # slopes come from the query and from the features, and are added up
    return held + graph + max(slopes + batch, ranking)


def _weights(
    spec: SystemSpec, num_entities: int, num_relations: int, settings: Settings, train: np.ndarray
) -> list[tuple[int, int]]:
    """Return rows and width of each table of weights."""
    if not spec.needs_train:
        with torch.device("meta"):  # shapes without numbers
            model: Any = build_model(spec, num_entities, num_relations, settings, seed=0)
        return [_size(p) for p in model.parameters()]
    # such a model reads its graph while it is built: take a small one and let the tables grow
    entities, relations = SMALL_GRAPH
    ring = np.arange(entities)
    small = np.stack([ring, ring % relations, np.roll(ring, 1)], 1)
    model = build_model(spec, entities, relations, settings, seed=0, train=small)
    grown = {entities: num_entities, 2 * relations: 2 * num_relations}
    return [(grown.get(rows, rows), width) for rows, width in map(_size, model.parameters())]


def _size(weights: torch.Tensor) -> tuple[int, int]:
    """Return rows and width, in floats: a double or a complex number counts as two."""
    rows = weights.shape[0] if weights.dim() else 1
    return rows, weights.numel() * weights.element_size() // FLOAT // max(rows, 1)


def check_memory(
    spec: SystemSpec, num_entities: int, num_relations: int, settings: Settings, train: np.ndarray, device: str
) -> int:
    """Return the estimate; ValueError with the figures if less is free on the device."""
    needed = estimate_bytes(spec, num_entities, num_relations, settings, train)
    if device.startswith("cuda") and settings["optimizer"] == "adagrad":  # it makes a copy of the weights there
        sizes = _weights(spec, num_entities, num_relations, settings, train)
        needed += FLOAT * sum(rows * width for rows, width in sizes)
    what = f"{spec.label} with embedding_dim {settings['embedding_dim']} on {num_entities:,} entities needs"
    check_free(needed, device, what, "lower embedding_dim or batch_size")
    return needed


def keep_freed_memory() -> None:
    """Let this process keep freed blocks for the next batch, where the C library is glibc.

    Otherwise the gradients of the entity table (15 MB each on FB15k-237) come as fresh pages in every batch, and
    touching these costs more than the arithmetic on them: 81 ms a batch against 59 ms (ComplEx, one core).
    """
    trim_threshold, mmap_threshold, gigabyte = -1, -3, 1 << 30
    with contextlib.suppress(OSError, AttributeError):
        libc = ctypes.CDLL("libc.so.6")
        libc.mallopt(mmap_threshold, gigabyte)
        libc.mallopt(trim_threshold, gigabyte)


def reset_peak() -> None:
    """Start a new measurement; where the system does not allow it, the peak is that of the whole process so far."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)  # what an earlier training freed, and the process kept
    with contextlib.suppress(OSError):
        (PROCESS / "clear_refs").write_text("5")
    if torch.cuda.is_available():
        torch.cuda.reset_peak_memory_stats()


def peak_bytes(device: str) -> int:
    """Return the most bytes held on `device` since reset_peak; on a CPU with the worker's libraries, about 0.4 GB."""
    if device.startswith("cuda"):
        return int(torch.cuda.max_memory_allocated())
    with contextlib.suppress(OSError):
        if found := re.search(r"^VmHWM:\s*(\d+) kB", (PROCESS / "status").read_text(), re.M):
            return int(found[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
