"""Qrels: frozen once, never changed."""

from __future__ import annotations

import errno

import pytest

from core.files.artifacts import ArtifactError, artifact_path
from evaluation.labels import qrels as module
from evaluation.labels.pool_table import EvaluationError
from evaluation.labels.qrels import freeze_qrels, freeze_warnings, get_qrels, pooled_state, read_qrels, state_counts
from evaluation.measures.label_state import LabelState
from evaluation.models import Qrels
from pooling.models import Pool
from pooling.pools.build import create_pool
from tests.factories import judge, make_person
from tests.page import numbers


def test_qrels_hold_every_seed_and_pooled_triple_with_its_state(labelled: Pool):
    qrels = freeze_qrels(labelled, "v1", make_person("boss"))
    triples, state = read_qrels(qrels)
    seeds = list(labelled.seeds.order_by("id").values_list("head", "relation", "tail"))
    pooled = list(labelled.triples.order_by("id").values_list("head", "relation", "tail"))
    assert list(map(tuple, triples.tolist())) == [*seeds, *pooled]
    verdicts = dict(labelled.judgements.values_list("triple_id", "verdict"))
    for row, value in zip(labelled.triples.order_by("id"), state[len(seeds) :].tolist(), strict=True):
        unjudged = LabelState.ASSUMED_NEGATIVE if row.reason else LabelState.UNJUDGED
        expected = {
            "positive": LabelState.POSITIVE,
            "negative": LabelState.NEGATIVE,
            "undecided": LabelState.UNJUDGED,
        }.get(verdicts.get(row.pk, ""), unjudged)
        assert value == expected
    assert set(state[: len(seeds)].tolist()) == {LabelState.POSITIVE}
    counts = state_counts(state)
    assert sum(counts.values()) == len(triples)
    assert counts == {name: getattr(qrels, f"num_{name}") for name in counts}
    assert qrels.created_by is not None and qrels.created_by.username == "boss"


def test_a_name_is_used_once(labelled: Pool):
    first = freeze_qrels(labelled, "v1")
    judge(labelled.triples.all()[0], "positive")
    with pytest.raises(EvaluationError) as caught:
        freeze_qrels(labelled, "v1")
    assert str(caught.value) == ("Pool p has qrels 'v1' already; frozen qrels never change: choose a new name.")
    assert Qrels.objects.get().sha256 == first.sha256


def test_somebody_who_froze_the_same_name_in_the_same_moment_came_first(labelled: Pool, monkeypatch):
    state = pooled_state

    def slow(pool: Pool):
        monkeypatch.setattr(module, "pooled_state", state)
        freeze_qrels(pool, "v1")
        return state(pool)

    monkeypatch.setattr(module, "pooled_state", slow)
    with pytest.raises(EvaluationError, match="Pool p has qrels 'v1' already"):
        freeze_qrels(labelled, "v1")
    assert Qrels.objects.count() == 1
    read_qrels(Qrels.objects.get())


@pytest.mark.parametrize("name", ["", "a b", "a/b", "x" * 81])
def test_a_name_that_is_no_name_is_refused(labelled: Pool, name: str):
    with pytest.raises(EvaluationError) as caught:
        freeze_qrels(labelled, name)
    assert str(caught.value) == f"Qrels name {name!r}: use letters, digits, - and _, at most 80."


def test_a_pool_that_is_not_ready_is_not_frozen(pool: Pool):
    building = create_pool(pool.graph, name="q", sample=0.2)
    with pytest.raises(EvaluationError) as caught:
        freeze_qrels(building, "v1")
    assert str(caught.value) == "Pool q is building: freeze it when it is ready."


def test_a_full_disk_leaves_no_qrels(labelled: Pool, monkeypatch):
    def full(*args: object, **kwargs: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(module.pq, "write_table", full)
    with pytest.raises(ArtifactError, match="No space left on device"):
        freeze_qrels(labelled, "v1")
    assert not Qrels.objects.exists()
    assert list(artifact_path("qrels").iterdir()) == []


def test_a_damaged_run_keeps_nobody_from_freezing(labelled: Pool):
    system = labelled.graph.systems.get(name="transe")
    path = artifact_path(system.run.artifact) / "ranks.parquet"
    whole = path.read_bytes()
    path.write_bytes(b"something else")
    qrels = freeze_qrels(labelled, "v1")
    assert qrels.systems is None
    path.write_bytes(whole)
    other = freeze_qrels(labelled, "v2")
    assert other.systems == ["transe", "distmult", "complex"]
    assert (qrels.num_positive, qrels.sha256) == (other.num_positive, other.sha256)


def test_a_damaged_file_is_refused(labelled: Pool):
    qrels = freeze_qrels(labelled, "v1")
    artifact_path(qrels.artifact).write_bytes(b"something else")
    with pytest.raises(ArtifactError, match="is not the file that was written"):
        read_qrels(get_qrels(labelled, "v1"))


@pytest.mark.parametrize(
    ("negative", "assumed", "unjudged", "told"),
    [
        (1, 0, 0, []),
        (1, 0, 5, [["5", "10"]]),
        (1, 0, 6, [["6", "10"]]),
        (0, 0, 0, [[]]),
        (0, 7, 5, [["7"], ["5", "10"]]),
        (0, 7, 10, [["7"], ["10", "10"]]),
    ],
)
def test_freezing_warns_without_negatives_and_of_what_is_unjudged(negative, assumed, unjudged, told):
    counts = {"positive": 90, "negative": negative, "assumed_negative": assumed, "unjudged": unjudged}
    assert [numbers(warning) for warning in freeze_warnings(counts, 10)] == told
