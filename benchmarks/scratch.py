"""Make a site for one benchmark: folder, artifacts and database, which are deleted at the end."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tests.postgres import own_database

if TYPE_CHECKING:
    from pooling.models import Graph

ENTITIES, RELATIONS = 14_541, 237  # of FB15k-237


@contextmanager
def scratch_site(server: str = "") -> Iterator[Path]:
    """Set Django up on an empty SQLite file, or an empty database of the PostgreSQL server at this address."""
    database = own_database("benchmark", server) if server else nullcontext("")
    with tempfile.TemporaryDirectory(prefix="triplepool-benchmark-") as folder, database as url:
        os.environ["TRIPLEPOOL_VAR"] = folder
        os.environ["ARTIFACT_ROOT"] = f"{folder}/artifacts"
        os.environ["DATABASE_URL"] = url or f"sqlite:///{folder}/benchmark.sqlite3"
        os.environ["CELERY_BROKER_URL"] = "filesystem://"
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
        import django
        from django.core.management import call_command
        from django.db import connections

        django.setup()
        call_command("migrate", verbosity=0, skip_checks=True)
        try:
            yield Path(folder)
        finally:
            connections.close_all()


def make_graph(test: int, rng: np.random.Generator) -> Graph:
    """Draw a graph with the numbers of entities and relations of FB15k-237 and `test` test triples."""
    from pooling.enums import GraphSource, Split
    from pooling.graphs.imports import import_graph
    from pooling.graphs.source_data import GraphSourceData, SplitRows

    train = np.stack(
        [
            np.arange(3 * ENTITIES) % ENTITIES,
            ENTITIES + rng.integers(RELATIONS, size=3 * ENTITIES),
            (ENTITIES * rng.random(3 * ENTITIES) ** 3).astype(np.int64),  # few tails are frequent
        ],
        axis=1,
    )
    others = np.stack(
        [
            rng.integers(ENTITIES, size=2 * test + 1000),
            ENTITIES + rng.integers(RELATIONS, size=2 * test + 1000),
            rng.integers(ENTITIES, size=2 * test + 1000),
        ],
        axis=1,
    )
    others = np.unique(others, axis=0)
    held = rng.permutation(others[~_rows_in(others, train)])[: test + 100]
    splits = {Split.TRAIN: np.unique(train, axis=0), Split.VALID: held[test:], Split.TEST: held[:test]}
    keys = [f"/m/{i:06x}" for i in range(ENTITIES)] + [f"/number_{i}/relation" for i in range(RELATIONS)]
    files = {split: SplitRows(f"{split.value}.tsv", rows.astype(np.int64)) for split, rows in splits.items()}
    return import_graph("drawn", GraphSourceData(GraphSource.TSV, keys, files), options={})


def _rows_in(rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return whether each row int[n, 3] is among the others, bool[n]."""

    def code(array: np.ndarray) -> np.ndarray:
        return (array[:, 0] * (ENTITIES + RELATIONS) + array[:, 1]) * ENTITIES + array[:, 2]

    return np.isin(code(rows), code(others))


def draw_candidates(questions: int, systems: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Draw the first 100 candidates int32[questions, 100] of each system.

    They agree about as much as real systems: at depth 10, six of them name about 22 entities for a question.
    """
    start = rng.integers(ENTITIES, size=(questions, 1))
    found = []
    for _ in range(systems):
        noise = rng.normal(scale=10, size=(questions, 140)).astype(np.float32)
        order = (np.arange(140, dtype=np.float32) + noise).argsort(axis=1)[:, :100]
        found.append(((start + 97 * order) % ENTITIES).astype(np.int32))
    return found
