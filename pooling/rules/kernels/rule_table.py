"""Hold rules r(X, Y) ← b1(X, A), b2(A, B), b3(B, Y) with their evidence, as arrays and as a file."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from core.files.atomic_write import written_aside
from pooling.rules.kernels.signed_graph import Body, reverse

RULES = "rules.npz"
MODEL = "model/"  # before the names of arrays that are no rules
MAX_LENGTH = 3


@dataclass(frozen=True, eq=False)
class Rules:
    """Hold n rules, by relation and falling confidence.

    `share` is the share of the entities with a path on which `support` and `covered` were counted: 1 is all.
    """

    relation: np.ndarray  # int32[n]: r, an original relation id
    body: np.ndarray  # int32[n, 3]: inverse-aware relation ids, -1 behind the end
    support: np.ndarray  # int64[n]: pairs that the body connects and r as well
    covered: np.ndarray  # int64[n]: pairs that the body connects
    share: np.ndarray  # float64[n]
    confidence: np.ndarray  # float64[n]: support / (covered + pseudo count)
    weight: np.ndarray | None = None  # float64[n, k] where a system learns k weights of a rule

    def __len__(self) -> int:
        return len(self.relation)

    def body_of(self, i: int) -> Body:
        """Return the path of rule i."""
        return tuple(int(s) for s in self.body[i] if s >= 0)

    def of_question(self, signed: int) -> list[tuple[Body, float]]:
        """Return paths from the entity of a question to its answers, sorted, with their confidence.

        `signed` is 2r for tails of r and 2r + 1 for heads, which are found by walking backwards.
        """
        return self._paths(signed, self.confidence)

    def weighted(self, signed: int) -> list[tuple[Body, float]]:
        """Return paths as `of_question` does, with the learned weight for this side of the relation."""
        assert self.weight is not None
        return self._paths(signed, self.weight[:, signed % 2])

    def _paths(self, signed: int, number: np.ndarray) -> list[tuple[Body, float]]:
        chosen = np.flatnonzero(self.relation == signed >> 1).tolist()
        bodies = [self.body_of(i) if signed % 2 == 0 else reverse(self.body_of(i)) for i in chosen]
        return sorted(zip(bodies, number[chosen].tolist(), strict=True))

    def bodies(self, relation: int) -> list[Body]:
        """Return the bodies of the rules of an original relation id, in their order."""
        return [self.body_of(i) for i in np.flatnonzero(self.relation == relation).tolist()]


def write_rules(path: Path, rules: Rules, model: Mapping[str, np.ndarray] | None = None) -> None:
    """Write plain arrays: the rules, and those of a model that belongs to them; OSError if the disk refuses."""
    arrays = {f.name: array for f in fields(rules) if (array := getattr(rules, f.name)) is not None}
    arrays |= {MODEL + name: array for name, array in (model or {}).items()}
    with written_aside(path) as aside, aside.open("wb") as file:
        np.savez_compressed(file, **arrays)


def read_rules(path: Path) -> Rules:
    """Read the rules that `write_rules` wrote; run no code from the file."""
    with np.load(path, allow_pickle=False) as arrays:
        return Rules(**{f.name: arrays[f.name] for f in fields(Rules) if f.name in arrays})


def read_model(path: Path) -> dict[str, np.ndarray]:
    """Read the arrays of the model that `write_rules` wrote beside the rules, by name."""
    with np.load(path, allow_pickle=False) as arrays:
        return {name.removeprefix(MODEL): arrays[name] for name in arrays.files if name.startswith(MODEL)}
