"""A Python function from outside as a system: ranked as our own, asked again when a pool grows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pooling.graphs.opening import open_graph
from pooling.models import Graph, Pool, System
from pooling.runs import scorers
from pooling.runs.export import get_run, whole_run
from pooling.runs.files import RunError, read_ranks, read_topk
from pooling.runs.score import score_for_pool, scorer_of
from pooling.runs.scorer_imports import import_scorer
from pooling.runs.scorers import AskedQuestion, AskedQuestions
from tests.factories import make_pool, progress_of


class Registered:
    """An entry point."""

    def __init__(self, name: str, function: Any) -> None:
        self.name, self.function = name, function

    def load(self) -> Any:
        if isinstance(self.function, Exception):
            raise self.function
        return self.function


@pytest.fixture
def register(monkeypatch) -> Callable[..., None]:
    def add(**functions: Any) -> None:
        found = [Registered(name, function) for name, function in functions.items()]
        monkeypatch.setattr(scorers, "entry_points", lambda group: found if group == scorers.GROUP else [])

    return add


def as_transe(graph: Graph) -> Callable[[AskedQuestions], np.ndarray]:
    """A function from outside that knows only keys, and scores as TransE does here."""
    arrays = open_graph(graph)
    score = scorer_of(System.objects.get(graph=graph, name="transe"), arrays).in_order(np.arange(arrays.num_entities))

    def function(questions: AskedQuestions) -> np.ndarray:
        assert questions.entities == arrays.entities
        side = np.array([("tail", "head").index(question.side) for question in questions])
        entity = np.array([arrays.entity_index[question.entity] for question in questions])
        relation = np.array([arrays.relation_index[question.relation] for question in questions])
        return score(side, entity, relation).numpy()

    return function


def test_a_scorer_is_ranked_as_the_same_system_here(pool: Pool, register):
    register(mine=as_transe(pool.graph))
    system = import_scorer(pool.graph, "mine", name="outside", family="neural", pool=pool)
    assert (system.kind, system.state, system.scorer) == ("imported", "trained", "mine")
    ours, theirs = get_run(pool.graph, "transe"), get_run(pool.graph, "outside")
    for read in (read_ranks, read_topk):
        for one, other in zip(read(ours), read(theirs), strict=True):
            assert one.tolist() == other.tolist()
    assert read_ranks(theirs).ranks.min() >= 1  # nothing is "not returned"
    lines = [b"".join(whole_run(run)).decode().replace(run.system.name, "x") for run in (ours, theirs)]
    assert lines[0] == lines[1]


def test_a_pool_that_grows_asks_the_scorer_again(trained: Graph, register):
    register(mine=as_transe(trained))
    first = make_pool(trained, "first")
    system = import_scorer(trained, "mine", name="outside", family="not known")
    before = len(read_ranks(system.run).keys)
    run = score_for_pool(system, first, progress_of(first))
    assert len(read_ranks(run).keys) > before and read_ranks(run).ranks.min() >= 1


def test_questions_are_told_by_key():
    ids = (np.array([0, 1]), np.array([1, 0]), np.array([0, 0]))
    asked = AskedQuestions(["a", "b"], ["r"], *ids)
    assert list(asked) == [AskedQuestion("tail", "b", "r"), AskedQuestion("head", "a", "r")]
    assert (len(asked), asked[1], asked[:1]) == (2, AskedQuestion("head", "a", "r"), [AskedQuestion("tail", "b", "r")])


def test_what_a_scorer_does_wrong_is_told_and_leaves_nothing(trained: Graph, register):
    def broken(questions: AskedQuestions) -> np.ndarray:
        raise KeyError("weights")

    entities = open_graph(trained).num_entities
    register(
        broken=broken,
        narrow=lambda questions: np.zeros((len(questions), 3)),
        endless=lambda questions: np.full((len(questions), entities), np.nan),
        missing=ImportError("no module"),
    )
    told = {
        "none": "There is no scorer 'none' here. Scorers: broken, endless, missing, narrow.",
        "broken": "The scorer broken failed: KeyError: 'weights'.",
        "narrow": "The scorer narrow returned scores of shape",
        "endless": "are not finite: mend the scorer endless.",
        "missing": "The scorer missing cannot be loaded: ImportError: no module.",
    }
    for name, words in told.items():
        with pytest.raises(RunError) as caught:
            import_scorer(trained, name, name="outside", family="not known")
        assert words in str(caught.value)
    assert not System.every.filter(name="outside").exists()
