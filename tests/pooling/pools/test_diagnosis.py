"""What an imported pool tells of its rule: literal counts on the town, and the figures of the published pool."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from django.conf import settings

from pooling.graphs.imports import import_graph
from pooling.graphs.opening import open_graph
from pooling.graphs.tsv import read_tsv
from pooling.models import Graph, Pool
from pooling.pools.build import import_pool
from pooling.pools.diagnosis import BUCKETS, Diagnosis, diagnose, diagnosis_of, diagnosis_says
from pooling.pools.rows import read_rows
from pooling.pools.seeds import seed_array
from tests.factories import make_pool, names_of
from tests.pooling.pools.raw_cases import Question


def answers(triples: np.ndarray) -> dict[Question, set[int]]:
    found: dict[Question, set[int]] = {}
    for h, r, t in triples.tolist():
        found.setdefault((0, r, h), set()).add(t)
        found.setdefault((1, r, t), set()).add(h)
    return found


def copied(pool: Pool, folder: Path, name: str = "copy") -> Pool:
    """The pool, written to files and imported."""
    rows = pool.triples.values_list("head", "relation", "tail", "depth")
    lines = ["\t".join([*names_of(pool.graph, row[:3]), str(row[3])]) for row in rows]
    (folder / "pool.tsv").write_text("\n".join(lines))
    (folder / "seeds.tsv").write_text("\n".join("\t".join(names_of(pool.graph, s)) for s in seed_array(pool).tolist()))
    return import_pool(pool.graph, name=name, file=folder / "pool.tsv", seeds_file=folder / "seeds.tsv")


def literal(pool: Pool) -> tuple[int, int, list[tuple[int, float | None]]]:
    """Short questions, those that no filtered pool leaves so short, and the buckets, by loops."""
    graph, seeds = open_graph(pool.graph), seed_array(pool)
    pooled = np.array(pool.triples.values_list("head", "relation", "tail"), dtype=np.int32)
    held, asked = answers(np.concatenate([pooled, seeds])), answers(seeds)
    of_graph = answers(np.concatenate([graph.train, graph.valid, graph.test]))
    known = answers(np.concatenate([graph.train, graph.valid]))
    short, impossible = 0, 0
    buckets: list[list[int]] = [[] for _ in BUCKETS]
    for question in asked:
        candidates = len(held[question])
        possible = graph.num_entities - len(of_graph[question] - asked[question])
        short += candidates < pool.depth
        impossible += candidates < pool.depth <= possible
        count = len(known.get(question, ()))
        buckets[sum(most is not None and count > most for _, most in BUCKETS)].append(candidates)
    return short, impossible, [(len(b), sum(b) / len(b) if b else None) for b in buckets]


@pytest.mark.parametrize("rule", ["filtered", "raw"])
def test_the_diagnosis_counts_what_loops_count(trained: Graph, tied, tmp_path, rule: str):
    pool = copied(make_pool(trained, rule=rule, systems=["transe"]), tmp_path)
    found = diagnosis_of(pool)
    assert found is not None
    by_known = [(bucket.questions, bucket.candidates) for bucket in found.by_known]
    assert (found.short, found.impossible, by_known) == literal(pool)
    assert [bucket.known for bucket in found.by_known] == ["0", "1", "2-5", "6-20", "21-100", "> 100"]
    depths = list(pool.triples.values_list("depth", flat=True))
    assert found.by_depth == [(depth, depths.count(depth)) for depth in sorted(set(depths))]
    assert (found.k, found.questions) == (5, len(answers(seed_array(pool))))
    assert pool.rule == "unknown"


def test_questions_that_cannot_have_k_candidates_prove_nothing(trained: Graph, tied):
    """At every depth that a pool of the town could have, while more and more of its triples go."""
    pool = make_pool(trained, rule="raw", systems=["transe"], depth=40)
    _, gathered, _ = read_rows(pool)
    seen = set()
    for pool.depth in range(1, 28):
        deep = gathered._replace(depth=np.full(len(gathered.depth), pool.depth))
        found = diagnose(deep, seed_array(pool), open_graph(trained))
        assert (found.short, found.impossible) == literal(pool)[:2]
        pool.triples.filter(pk__in=list(pool.triples.values_list("pk", flat=True))[:4]).delete()
        _, gathered, _ = read_rows(pool)
        seen.add((found.short > 0, found.impossible > 0))
    assert {(True, False), (True, True)} <= seen


def test_a_raw_pool_is_not_filtered_and_a_filtered_one_may_be(trained: Graph, tied, tmp_path):
    raw, filtered = (
        diagnosis_of(copied(make_pool(trained, name=rule, rule=rule, systems=["transe"]), tmp_path, f"{rule}-copy"))
        for rule in ("raw", "filtered")
    )
    assert raw is not None and filtered is not None
    assert (raw.is_not_filtered, filtered.is_not_filtered, filtered.impossible) == (True, False, 0)
    assert "Not a filtered pool" in diagnosis_says(raw)[1]
    assert "Nothing speaks against a filtered pool" in diagnosis_says(filtered)[1]


def test_a_built_pool_is_not_diagnosed(pool: Pool):
    assert diagnosis_of(pool) is None


@pytest.mark.data
def test_the_published_pool_is_not_filtered(db):
    """The figures by which shared/spec/reproduction.md proves it."""
    data = Path(settings.DATA_ROOT)
    folder = data / "fb-test-s"
    graph = import_graph("fb15k-237", read_tsv(data / "fb15k-237"), options={})
    files = {"file": folder / "pool.tsv.gz", "seeds_file": folder / "seed_triples.tsv"}
    found = diagnosis_of(import_pool(graph, name="fb-test-s", filters=["category-head", "category-tail"], **files))
    assert isinstance(found, Diagnosis)
    assert (found.k, found.questions, found.short) == (10, 1_745, 756)
    assert round(100 * found.short / found.questions, 1) == 43.3
    means = {bucket.known: round(bucket.candidates or 0, 1) for bucket in found.by_known}
    assert means == {"0": 29.1, "1": 21.1, "2-5": 16.4, "6-20": 8.0, "21-100": 4.9, "> 100": 10.9}
    assert (found.by_depth[0], found.by_depth[-1]) == ((1, 955), (10, 2_735))
    assert found.is_not_filtered and found.impossible == 756
