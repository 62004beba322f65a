"""A pool that grew is evaluated at once; qrels that are older stay as they were, to the last digit."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.jobs.progress import Progress
from evaluation.browse.pool_states import pool_states
from evaluation.labels.pool_table import pool_table, ranks_version
from evaluation.labels.qrels import freeze_qrels
from evaluation.sections.metrics import metrics
from evaluation.test_sets.export import export_test_set, export_trec
from pooling.models import Pool
from pooling.pools.growth import extend_pool, run_extend_pool
from tests.factories import make_system

MEASURES = ["micro_mrr", "macro_mrr", "map", "judged@10"]


def extend(pool: Pool, **asked: object) -> Pool:
    job = extend_pool(pool, **asked)  # type: ignore[arg-type]
    run_extend_pool(job, Progress(job))
    return Pool.objects.get(pk=pool.pk)


def test_new_seeds_are_candidates_and_answers_and_no_known_facts_any_more(labelled: Pool):
    before = pool_table(labelled)
    known = before.triples[before.is_test & ~before.is_seed].tolist()
    found = metrics(labelled, "seeds", MEASURES)
    labelled = extend(labelled, count=6)
    after = pool_table(labelled)
    assert (after.systems, after.left_out) == (before.systems, [])
    seeds = set(map(tuple, after.triples[after.is_seed].tolist()))
    new = seeds - set(map(tuple, before.triples[before.is_seed].tolist()))
    assert len(new) == 6 and all(list(triple) in known for triple in new)
    assert metrics(labelled, "seeds", MEASURES)["n"]["micro_mrr"] == found["n"]["micro_mrr"] + 12
    assert after.pool.table.rows > before.pool.table.rows
    assert metrics(labelled, "full-test", MEASURES)["systems"] == full_test(labelled)


def full_test(pool: Pool) -> dict:
    """The same of a table that was never in memory."""
    from evaluation.labels import pool_table as table

    table._tables.clear()
    return metrics(pool, "full-test", MEASURES)["systems"]


@pytest.mark.parametrize("questions", ["grown", "original"])
def test_qrels_from_before_give_the_same_figures_after_it(labelled: Pool, questions: str):
    make_system(labelled.graph, "rescal")
    freeze_qrels(labelled, "v1")
    before = metrics(labelled, "qrels:v1", MEASURES, questions=questions)
    labelled = extend(labelled, count=6, depth=9, systems=["rescal"])
    after = metrics(labelled, "qrels:v1", MEASURES, questions=questions)
    assert after["systems"].pop("rescal") is not None
    assert (after["systems"], after["counts"], after["n"]) == (before["systems"], before["counts"], before["n"])
    current = metrics(labelled, "current", MEASURES, questions=questions)
    assert current["n"] != before["n"]
    freeze_qrels(labelled, "v2")
    assert metrics(labelled, "qrels:v2", MEASURES, questions=questions)["systems"] == current["systems"]


def test_what_is_kept_is_made_anew_though_no_triple_is_new(labelled: Pool):
    """A pool that holds every candidate gets deeper, or is filtered anew: only what it says of its triples changes."""
    labelled = extend(labelled, depth=40)
    version, contents = ranks_version(labelled), pool_states(labelled).contents
    labelled = extend(labelled, depth=50)
    assert labelled.growth[-1]["triples"] == 0
    assert ranks_version(labelled) != version
    assert pool_states(labelled).contents is not contents
    version, contents = ranks_version(labelled), pool_states(labelled).contents
    assert (ranks_version(labelled), pool_states(labelled).contents is contents) == (version, True)
    Pool.objects.update(filters=["types"])
    assert ranks_version(Pool.objects.get()) != version
    assert pool_states(Pool.objects.get()).contents is not contents


def test_qrels_from_before_export_the_same_bytes_after_it(labelled: Pool, tmp_path: Path):
    qrels = freeze_qrels(labelled, "v1")
    export_test_set(qrels, tmp_path / "before")
    export_trec(labelled, tmp_path / "trec-before", qrels)
    labelled = extend(labelled, count=6, depth=9)
    qrels = labelled.qrels.get(name="v1")
    export_test_set(qrels, tmp_path / "after")
    export_trec(labelled, tmp_path / "trec-after", qrels)
    for path in (tmp_path / "before").rglob("*.*"):
        name = path.relative_to(tmp_path / "before")
        assert (tmp_path / "after" / name).read_bytes() == path.read_bytes(), name
    for name in ("topics.tsv", "pool.txt", "qrels.txt"):
        assert (tmp_path / "trec-after" / name).read_bytes() == (tmp_path / "trec-before" / name).read_bytes(), name
