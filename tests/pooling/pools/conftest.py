from __future__ import annotations

import pytest

from pooling.models import Graph
from pooling.runs import score as runs
from tests.pooling.pools.raw_cases import TiedScores


@pytest.fixture
def tied(trained: Graph, monkeypatch) -> dict[str, TiedScores]:
    """The scorer of each system of the town gives tied scores."""
    of = {system.name: TiedScores(trained, system.pk) for system in trained.systems.all()}
    monkeypatch.setattr(runs, "scorer_of", lambda system, graph: of[system.name])
    return of
