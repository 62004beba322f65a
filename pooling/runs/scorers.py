"""Rank a model that lives outside: a Python function, registered by an entry point, scores the questions.

A package names it in its pyproject.toml:

    [project.entry-points."triplepool.scorers"]
    mine = "my_package.model:score"

`score(questions)` takes AskedQuestions and returns float [questions, entities], higher is better. All entities are
ranked by our code, with rank rows of every pooled and test triple, so that *not returned* does not arise. What a pool
that grows asks anew is asked of the same function, so the package must be installed where the workers are.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.runs.files import SIDES, RunError

if TYPE_CHECKING:
    from pooling.scoring.scorer import Score

GROUP = "triplepool.scorers"


class AskedQuestion(NamedTuple):
    """Hold one question: `side` is what is asked for, tail or head; `entity` and `relation` are keys, what is given."""

    side: str
    entity: str
    relation: str


@dataclass(frozen=True)
class AskedQuestions(Sequence[AskedQuestion]):
    """Hold the questions of one call, and the entities in the order in which columns of the scores must be.

    Ids of the same: side int[n] (0 tail, 1 head), entity int[n], relation int[n], into `entities` and `relations`.
    """

    entities: Sequence[str]
    relations: Sequence[str]
    side_ids: np.ndarray
    entity_ids: np.ndarray
    relation_ids: np.ndarray

    def __len__(self) -> int:
        return len(self.side_ids)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(len(self)))]
        side, entity, relation = int(self.side_ids[at]), int(self.entity_ids[at]), int(self.relation_ids[at])
        return AskedQuestion(SIDES[side], self.entities[entity], self.relations[relation])

    def __iter__(self) -> Iterator[AskedQuestion]:
        return (self[i] for i in range(len(self)))


OutsideScore = Callable[[AskedQuestions], Any]


def find_scorer(name: str) -> OutsideScore:
    """Load the scorer that an installed package registers under this name; RunError lists those that are there."""
    found = {one.name: one for one in entry_points(group=GROUP)}
    if name not in found:
        raise RunError(
            f"There is no scorer {name[:80]!r} here. Scorers: {', '.join(sorted(found)) or 'none'}. Install the "
            f"package that registers it in the group {GROUP}, where commands and workers run."
        )
    try:
        loaded: OutsideScore = found[name].load()
    except Exception as error:  # the package is somebody else's
        raise RunError(f"The scorer {name} cannot be loaded: {type(error).__name__}: {error}.") from error
    return loaded


class OutsideScorer:
    """Score questions for pooling/scoring/ranking.py by calling a function from outside."""

    def __init__(self, name: str, graph: GraphArrays) -> None:
        import torch

        self.label, self.graph, self.num_entities = name, graph, graph.num_entities
        self.device = torch.device("cpu")
        self._score = find_scorer(name)
        self._last: tuple[bytes, Any] | None = None

    def in_order(self, order: np.ndarray) -> "Score":
        """Return a function that scores questions with entity `order[j]` in column j, as Scores.in_order."""
        import torch

        def scores(side, entity, relation, out=None):
            whole = torch.from_numpy(self._rows(*(np.asarray(x).astype(np.int64) for x in (side, entity, relation))))
            found = whole[:, torch.as_tensor(np.asarray(order))]
            return found if out is None else out.copy_(found)

        return scores

    def _rows(self, side: np.ndarray, entity: np.ndarray, relation: np.ndarray) -> np.ndarray:
        """Return float32 [n, entities]; the rows of the last call are kept, since chunks ask for the same ones."""
        key = b"".join(x.tobytes() for x in (side, entity, relation))
        if self._last is None or self._last[0] != key:
            asked = AskedQuestions(self.graph.entities, self.graph.relations, side, entity, relation)
            try:
                found = np.asarray(self._score(asked), dtype=np.float32)
            except Exception as error:  # the function is somebody else's
                raise RunError(f"The scorer {self.label} failed: {type(error).__name__}: {error}.") from error
            if found.shape != (len(side), self.num_entities):
                raise RunError(
                    f"The scorer {self.label} returned scores of shape {found.shape} for {len(side)} questions and "
                    f"{self.num_entities} entities: return one row a question and one column an entity."
                )
            self._last = key, np.ascontiguousarray(found)
        rows: np.ndarray = self._last[1]
        return rows
