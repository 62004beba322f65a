"""Score pointwise systems by compiled loops on a CPU: no difference of two vectors is ever written to memory.

A system names its loop (`SystemSpec.compiled`, a key of LOOPS). Without numba, on a GPU, in training and for small
graphs, `SystemSpec.compare` scores as before; both add the same numbers, in another order. A loop scores each pair of
a query and a feature alone, so that a score depends on nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

AT_ONCE = 8  # queries that a feature is compared with before the next is read: they stay in the innermost cache
LEAST_FLOATS = 1 << 20  # of the features: below, compiling takes longer than all scores
SIGNATURE = "void(float32[:,:,::1], float32[:,:,::1], float32[:,:], int64, int64)"


# Loops over queries [B, m, d], features [C, n, d] and scores [B, C], for the queries from `start` to `stop`. The parts
# of a vector have an axis of their own: an index that is a sum may be negative for all that the compiler knows.


def _l1(query: Any, features: Any, out: Any, start: int, stop: int) -> None:
    for first in range(start, stop, AT_ONCE):
        for c in range(len(features)):
            for b in range(first, min(first + AT_ONCE, stop)):
                total = np.float32(0)
                for k in range(features.shape[2]):
                    total += abs(query[b, 0, k] - features[c, 0, k])
                out[b, c] = -total


def _sine(query: Any, features: Any, out: Any, start: int, stop: int) -> None:
    for first in range(start, stop, AT_ONCE):
        for c in range(len(features)):
            for b in range(first, min(first + AT_ONCE, stop)):
                total = np.float32(0)
                for k in range(features.shape[2]):
                    total += abs(query[b, 0, k] * features[c, 1, k] - query[b, 1, k] * features[c, 0, k])
                out[b, c] = -query[b, 2, 0] * total


def _hake(query: Any, features: Any, out: Any, start: int, stop: int) -> None:
    for first in range(start, stop, AT_ONCE):
        for c in range(len(features)):
            for b in range(first, min(first + AT_ONCE, stop)):
                phase, squares = np.float32(0), np.float32(0)
                for k in range(features.shape[2]):
                    phase += abs(query[b, 0, k] * features[c, 1, k] - query[b, 1, k] * features[c, 0, k])
                    away = query[b, 2, k] - query[b, 3, k] * features[c, 2, k]
                    squares += away * away
                out[b, c] = -np.sqrt(squares) - query[b, 4, 0] * phase


def _box(query: Any, features: Any, out: Any, start: int, stop: int) -> None:
    for first in range(start, stop, AT_ONCE):
        for c in range(len(features)):
            for b in range(first, min(first + AT_ONCE, stop)):
                total = np.float32(0)
                for k in range(features.shape[2]):
                    distance = abs(features[c, 0, k] - query[b, 0, k])
                    total += max(query[b, 2, 0] * distance, distance - query[b, 1, k])
                out[b, c] = -total


# What the loops take in place of a system's queries [B, q] and features [C, f].


def _one(vectors: Tensor) -> list[Tensor]:
    return [vectors]


def _sines(angles: Tensor) -> list[Tensor]:
    """Return sin and cos: |sin(a − b)| is then |sin a cos b − cos a sin b|."""
    return [angles.sin(), angles.cos()]


def _sine_query(query: Tensor) -> list[Tensor]:
    return [*_sines(query[:, :-1]), query[:, -1:].expand(-1, query.shape[1] - 1)]


def _hake_query(query: Tensor) -> list[Tensor]:
    half, moved, weight = query[:, :-1].chunk(3, 1)
    return [*_sines(half), moved, weight, query[:, -1:].expand_as(half)]


def _hake_features(features: Tensor) -> list[Tensor]:
    half, modulus = features.chunk(2, 1)
    return [*_sines(half), modulus]


def _box_query(query: Tensor) -> list[Tensor]:
    from pooling.systems.query2box import INSIDE

    center, offset = query.chunk(2, 1)
    return [center, offset, torch.full_like(center, INSIDE)]


class Loop(NamedTuple):
    """Hold a loop, and the parts of queries and of features that it takes."""

    run: Callable[..., None]
    query: Callable[[Tensor], list[Tensor]] = _one
    features: Callable[[Tensor], list[Tensor]] = _one


LOOPS = {
    "l1": Loop(_l1),
    "sine": Loop(_sine, _sine_query, _sines),
    "hake": Loop(_hake, _hake_query, _hake_features),
    "box": Loop(_box, _box_query),
}


@cache
def _machine_code(name: str) -> Callable[..., None]:
    from numba import njit

    # sums may be added up in any order, and a product with a sum at once, as matrix products do
    loose = {"reassoc", "contract", "nsz"}
    compiled: Callable[..., None] = njit(SIGNATURE, nogil=True, fastmath=loose, error_model="numpy")(LOOPS[name].run)
    return compiled


@cache
def _threads(count: int, process: int) -> ThreadPoolExecutor:  # threads do not come along into a forked process
    return ThreadPoolExecutor(count, thread_name_prefix="scores")


def features_for(name: str, features: Tensor) -> Tensor | None:
    """Return what the loop of this name takes in place of features [C, f]: [C, n, d], or None where it is not used."""
    fits = features.device.type == "cpu" and features.dtype == torch.float32 and features.numel() >= LEAST_FLOATS
    return torch.stack(LOOPS[name].features(features), 1) if fits and find_spec("numba") else None


def write_scores(name: str, query: Tensor, features: Tensor, out: Tensor) -> None:
    """Write the scores of queries [B, q], as the system has them, against those of `features_for` into out [B, C]."""
    run = _machine_code(name)
    asked = torch.stack(LOOPS[name].query(query), 1).numpy()
    given, target = features.numpy(), out.numpy()
    in_threads(lambda start, stop: run(asked, given, target, start, stop), len(asked))


def in_threads(run: Callable[[int, int], None], rows: int) -> None:
    """Call `run(start, stop)` for equal parts of the rows at once, one for each thread of torch; none for no rows."""
    count = torch.get_num_threads()
    step = -(-rows // count)
    parts = [(start, min(start + step, rows)) for start in range(0, rows, step or 1)]
    others = [_threads(count, os.getpid()).submit(run, *part) for part in parts[1:]]
    for part in parts[:1]:
        run(*part)
    for done in others:
        done.result()
