"""A pass in shards gives the same files as one pass, whoever scores them, and what is done is never done again."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from core.enums import JobState
from core.files.artifacts import artifact_path
from core.jobs.execution import execute
from core.jobs.progress import LEAVING
from core.jobs.registry import handler_of
from core.models import Job
from pooling.enums import PoolingJob, PoolState
from pooling.models import Pool, PooledTriple, Run, System
from pooling.pools.build import create_pool
from pooling.runs import distributions, score, shard_work, shards
from pooling.runs.files import RunError
from tests.factories import make_job, make_system, make_umls

pytestmark = pytest.mark.django_db
KINDS = ["transe", "complex", "conve", "tucker", "hake", "compgcn"]


@pytest.fixture
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "LEAST", 256)


def fresh_pool(systems: list[System], name: str) -> Pool:
    return create_pool(systems[0].graph, name=name, systems=[s.name for s in systems], sample=0.6, seed=3, depth=5)


def build(pool: Pool, worker: str = "host:1") -> Job:
    job = make_job(PoolingJob.BUILD_POOL, pool=pool)
    execute(job.pk, worker)
    job.refresh_from_db()
    return job


def parts_on_disk() -> list[str]:
    folder = artifact_path("parts")
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def count_shards(monkeypatch: pytest.MonkeyPatch) -> list[tuple[bool, str, int]]:
    """Return a list that grows by each shard that is done: after pooling, what for, first question."""
    done: list[tuple[bool, str, int]] = []
    real = shard_work.run_shard

    def counted(job, progress):
        real(job, progress)
        done.append((PooledTriple.objects.exists(), job.params["act"], job.params["from"]))

    monkeypatch.setattr(
        "core.jobs.execution.handler_of", lambda kind: counted if kind == "score-shard" else handler_of(kind)
    )
    return done


@pytest.mark.parametrize("kind", KINDS)
def test_a_pool_in_shards_equals_a_pool_in_one_pass(kind: str, monkeypatch: pytest.MonkeyPatch):
    graph = make_umls()
    system = make_system(graph, kind)
    whole = fresh_pool([system], "whole")
    assert build(whole).state == JobState.DONE
    before, triples = Run.objects.get(system=system).sha256, set(whole.triples.values_list("head", "relation", "tail"))
    Pool.objects.all().delete()
    Run.objects.all().delete()
    monkeypatch.setattr(shards, "LEAST", 256)
    done = count_shards(monkeypatch)
    again = fresh_pool([system], "whole")
    job = build(again)
    assert (job.state, job.error) == (JobState.DONE, "")
    assert len(done) >= 6  # candidates, rank rows and distributions, each in two or more
    assert Run.objects.get(system=system).sha256 == before
    assert set(again.triples.values_list("head", "relation", "tail")) == triples
    assert not Job.objects.exclude(parent=None).exists()
    assert not parts_on_disk()


def test_each_system_is_a_part_of_the_pool(small_shards, monkeypatch: pytest.MonkeyPatch):
    graph = make_umls()
    systems = [make_system(graph, kind) for kind in ("transe", "distmult")]
    pool = fresh_pool(systems, "two")
    kinds: list[tuple[str, str]] = []
    real = handler_of

    def noted(kind):
        def handler(job, progress):
            kinds.append((kind, job.params.get("act", "")))
            real(kind)(job, progress)

        return handler

    monkeypatch.setattr("core.jobs.execution.handler_of", noted)
    assert build(pool).state == JobState.DONE
    assert [act for kind, act in kinds if kind == "score-system"] == [
        *["candidates"] * 2,
        *["rank rows"] * 2,
        *["distributions"] * 2,
    ]
    assert Pool.objects.get(pk=pool.pk).state == PoolState.READY


def test_weights_that_chose_alpha_are_gone_when_the_shards_load_theirs(small_shards, monkeypatch: pytest.MonkeyPatch):
    pool = fresh_pool([make_system(make_umls(), "distmult")], "p")
    loaded: list[weakref.ref[object]] = []
    held: list[int] = []
    real = distributions.scorer_of

    def counted(system, graph):
        gc.collect()  # a scorer refers to itself
        held.append(sum(ref() is not None for ref in loaded))
        scorer = real(system, graph)
        loaded.append(weakref.ref(scorer))
        return scorer

    monkeypatch.setattr(distributions, "scorer_of", counted)
    assert build(pool).state == JobState.DONE
    assert len(held) >= 3  # for α, and for two shards or more
    assert set(held) == {0}


def test_an_interrupted_pass_repeats_one_shard_at_most(small_shards, monkeypatch: pytest.MonkeyPatch):
    system = make_system(make_umls(), "distmult")
    pool = fresh_pool([system], "p")
    done = count_shards(monkeypatch)
    real = score.rank_here

    def leaving(*args, **settings):
        if len(done) == 2:
            LEAVING.set()
            args[4].stop()
        return real(*args, **settings)

    monkeypatch.setitem(shard_work.ACTS, "rank", leaving)
    try:
        job = build(pool)
    finally:
        LEAVING.clear()
    assert job.state == JobState.QUEUED
    first = list(done)
    assert len(first) == 2
    monkeypatch.setitem(shard_work.ACTS, "rank", real)
    execute(job.pk, "host:2")
    job.refresh_from_db()
    assert (job.state, job.error) == (JobState.DONE, "")
    assert len(done) == len(set(done))  # none twice


def test_what_cannot_be_ranked_is_said_by_the_job(small_shards, monkeypatch: pytest.MonkeyPatch):
    system = make_system(make_umls(), "distmult")
    pool = fresh_pool([system], "p")

    def refuse(*args, **settings):
        raise RunError("System umls/distmult cannot be ranked.")

    monkeypatch.setitem(shard_work.ACTS, "rank", refuse)
    job = build(pool)
    assert (job.state, job.error) == (JobState.FAILED, "System umls/distmult cannot be ranked.")
    assert Pool.objects.get(pk=pool.pk).state == PoolState.FAILED


def test_a_shard_is_larger_for_a_graph_of_many_facts():
    graph = type("G", (), {"train": np.zeros((20_000_000, 3), np.int8)})()
    assert shards.shard_size(graph) == 38_912  # 20,000,000 / 512, down to a multiple of 256
    graph.train = graph.train[:1000]
    assert shards.shard_size(graph) == 4096


def test_a_short_pass_is_not_divided(monkeypatch: pytest.MonkeyPatch):
    done = count_shards(monkeypatch)
    pool = fresh_pool([make_system(make_umls(), "distmult")], "p")
    assert build(pool).state == JobState.DONE
    assert not done
    assert distributions.has_predictive(
        Run.objects.get(), np.array(list(pool.triples.values_list("head", "relation", "tail")))
    )
