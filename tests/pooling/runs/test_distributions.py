"""Predictive distributions of runs: what is stored equals the model's own softmax, and grows without changing."""

from __future__ import annotations

import errno
import json
import math
import os
import signal
from pathlib import Path
from typing import NoReturn
from urllib.parse import quote

import numpy as np
import pytest

from core.callbacks import UNWATCHED, Watch
from core.enums import JobState
from core.files.artifacts import ArtifactError, artifact_path
from core.jobs.progress import JobCancelled, Progress
from core.models import Job
from pooling.enums import PoolingJob
from pooling.graphs.opening import open_graph
from pooling.models import Graph, Pool, Run, System
from pooling.questions.kernel import questions_from_keys
from pooling.runs import distributions
from pooling.runs import distributions as score_job
from pooling.runs import files as run_files
from pooling.runs import score as runs
from pooling.runs.distributions import (
    PREDICTIVE,
    Predictive,
    has_predictive,
    predict_for_pool,
    read_predictive,
    store_predictive,
)
from pooling.runs.files import RunError, question_id, read_ranks, read_topk
from pooling.runs.imports import import_run
from pooling.runs.score import score_system, wanted_triples
from pooling.runs.shards import Scored
from pooling.runs.validation import read_validation, store_validation
from pooling.scoring import distribution_pass
from pooling.scoring.distributions import ALPHAS, DRAWS, TOP
from pooling.scoring.ranks import tie_order
from tests.factories import make_job, make_system

NONE = np.zeros((0, 3), np.int32)


@pytest.fixture
def system(town: Graph) -> System:
    """One with a run that holds no distributions."""
    system = make_system(town, "distmult")
    score_system(system, seeds=NONE, triples=open_graph(town).test[:2])
    return system


def scores_of(system: System, keys: np.ndarray) -> np.ndarray:
    """Scores float32 [n, E] by the model itself."""
    graph = open_graph(system.graph)
    scorer = runs.scorer_of(system, graph)
    questions = questions_from_keys(keys, graph.num_entities, graph.num_relations)
    return scorer.scores(*questions).cpu().numpy()


def by_question(held: Predictive) -> dict[int, tuple[object, ...]]:
    rows = {}
    for i, key in enumerate(held.keys.tolist()):
        begin, end = held.answers.indptr[i : i + 2]
        arrays = [held.top_entity, held.top_score, held.log_normaliser, held.tvd, held.draws]
        known = [held.answers.indices[begin:end], held.answer_score[begin:end]]
        rows[key] = tuple(tuple(x.tolist()) for x in [*(a[i] for a in arrays), *known])
    return rows


def questions_in(triples: np.ndarray, graph) -> set[tuple[int, int, int]]:
    return {q for h, r, t in triples.tolist() for q in ((0, r, h), (1, r, t))}


def known_answers(graph, *splits: np.ndarray) -> dict[tuple[int, int, int], set[int]]:
    known: dict[tuple[int, int, int], set[int]] = {}
    for head, relation, tail in np.concatenate(splits).tolist():
        known.setdefault((0, relation, head), set()).add(tail)
        known.setdefault((1, relation, tail), set()).add(head)
    return known


def test_what_is_stored_equals_the_models_own_softmax(system: System):
    graph = open_graph(system.graph)
    pooled = np.array([[0, 0, 1], [3, 0, 9]], np.int32)
    asked = np.concatenate([graph.test, pooled])
    held = read_predictive(store_predictive(system, asked))
    e, r = graph.num_entities, graph.num_relations
    questions = list(zip(*(x.tolist() for x in questions_from_keys(held.keys, e, r)), strict=True))
    assert {(s, r, g) for s, g, r in questions} == questions_in(asked, graph)
    scores, known = scores_of(system, held.keys), known_answers(graph, graph.train, graph.valid, asked)
    place = np.argsort(tie_order(e, runs.TIE_SEED))
    for i, (side, given, relation) in enumerate(questions):
        begin, end = held.answers.indptr[i : i + 2]
        answers = held.answers.indices[begin:end]
        assert answers.tolist() == sorted(known[side, relation, given])
        np.testing.assert_array_equal(held.answer_score[begin:end], scores[i, answers])
        order = np.lexsort([place, -scores[i]])
        assert held.top_entity[i].tolist() == [*order.tolist(), *[-1] * (TOP - e)]
        np.testing.assert_array_equal(held.top_score[i, :e], scores[i, order])
        for a, alpha in enumerate(ALPHAS):
            weights = np.exp(alpha * scores[i].astype(np.float64))
            assert held.log_normaliser[i, a] == pytest.approx(math.log(weights.sum()), rel=1e-12)
            distance = np.abs(weights / weights.sum() - 1 / e).sum() / 2
            assert held.tvd[i, a] == pytest.approx(distance, abs=1e-12)
    assert held.draws.shape == (len(held.keys), DRAWS)
    assert ((held.draws >= 0) & (held.draws < e)).all()


def test_answer_scores_are_those_of_the_ranking_pass(system: System):
    """Candidates of the run that are answers too have the same scores, bit for bit."""
    graph = open_graph(system.graph)
    run = score_system(system, seeds=graph.test, triples=graph.test)
    topk = read_topk(run)
    pooled = np.array(
        [
            (key % graph.num_entities, key // graph.num_entities, entity[0])
            for key, entity in zip(topk.keys.tolist(), topk.entity.tolist(), strict=True)
            if key < graph.num_relations * graph.num_entities
        ],
        np.int32,
    )
    held = read_predictive(store_predictive(system, np.concatenate([graph.test, pooled])))
    seen = 0
    for key, entities, scores in zip(topk.keys, topk.entity, topk.score, strict=True):
        i = int(np.searchsorted(held.keys, key))
        begin, end = held.answers.indptr[i : i + 2]
        of = dict(zip(held.answers.indices[begin:end].tolist(), held.answer_score[begin:end].tolist(), strict=True))
        for entity, score in zip(entities.tolist(), scores.tolist(), strict=True):
            if entity in of:
                assert of[entity] == score
                seen += 1
    assert seen >= len(pooled)


def test_ranks_and_candidates_stay_and_are_extended_beside_it(system: System):
    graph = open_graph(system.graph)
    before = Run.objects.get(system=system)
    ranks = read_ranks(before)
    run = store_predictive(system, graph.test[:2])
    assert (run.num_rank_rows, run.num_questions) == (before.num_rank_rows, before.num_questions)
    np.testing.assert_array_equal(read_ranks(run).ranks, ranks.ranks)
    held = by_question(read_predictive(run))
    grown = score_system(system, seeds=graph.test, triples=graph.test)
    assert grown.num_rank_rows > run.num_rank_rows
    assert by_question(read_predictive(grown)) == held
    assert [p.name for p in artifact_path("runs").iterdir()] == [artifact_path(grown.artifact).name]


def test_a_second_pass_adds_questions_and_changes_none(system: System):
    graph = open_graph(system.graph)
    first = store_predictive(system, graph.test[:5])
    before = by_question(read_predictive(first))
    assert store_predictive(system, graph.test[1:4]).sha256 == first.sha256
    after = read_predictive(store_predictive(system, graph.test))
    assert {key: by_question(after)[key] for key in before} == before
    assert (np.diff(after.keys) > 0).all() and len(after.keys) > len(before)
    Run.objects.filter(system=system).delete()
    score_system(system, seeds=NONE, triples=graph.test[:2])
    assert by_question(read_predictive(store_predictive(system, graph.test))) == by_question(after)


def test_new_answers_of_a_held_question_are_added(system: System):
    graph = open_graph(system.graph)
    head, relation, _ = graph.test[0].tolist()
    known = known_answers(graph, graph.train, graph.valid, graph.test)
    new = [e for e in range(graph.num_entities) if e not in known[0, relation, head]][:3]
    pooled = np.array([[head, relation, tail] for tail in new], np.int32)
    before = by_question(read_predictive(store_predictive(system, graph.test)))
    run = store_predictive(system, pooled[:2])
    assert has_predictive(run, pooled[:2]) and not has_predictive(run, pooled)
    after = by_question(read_predictive(store_predictive(system, pooled[2:])))
    e, r = graph.num_entities, graph.num_relations
    more = {relation * e + head: set(new)} | {(r + relation) * e + tail: {head} for tail in new}
    for key, row in before.items():
        assert after[key][:5] == row[:5]
        assert set(after[key][5]) == set(row[5]) | more.get(key, set())  # type: ignore[call-overload]
    assert list(after[relation * e + head][5]) == sorted([*known[0, relation, head], *new])


def test_has_predictive_says_what_is_held(system: System):
    graph = open_graph(system.graph)
    run = Run.objects.get(system=system)
    assert not has_predictive(run, graph.test[:1])
    run = store_predictive(system, graph.test[:3])
    assert has_predictive(run, graph.test[:3])
    assert has_predictive(run, NONE)
    assert not has_predictive(run, graph.test)


def test_a_run_without_says_what_to_do(system: System):
    with pytest.raises(RunError) as caught:
        read_predictive(Run.objects.get(system=system))
    assert str(caught.value) == (
        "The run of town/distmult has no predictive distributions yet: run score_runs POOL, or start the job on "
        "the pool's max-k page."
    )
    fresh = make_system(system.graph, "transe")
    with pytest.raises(RunError) as caught:
        store_predictive(fresh, NONE)
    assert str(caught.value) == ("System town/transe has no run yet: run score_runs for a pool of its graph first.")


def test_an_imported_run_cannot_have_any(pool: Pool, tmp_path):
    graph = open_graph(pool.graph)
    head, relation, tail = graph.test[0].tolist()
    asked = question_id(0, graph.entities[head], graph.relations[relation])
    (tmp_path / "run").write_text(f"{asked} Q0 {quote(graph.entities[tail], safe='')} 1 3 x\n")
    system = import_run(pool.graph, tmp_path / "run", name="theirs").system
    sentence = "The run of town/theirs was imported: it has no scores of all entities, so no predictive distribution."
    for act in (lambda: store_predictive(system, NONE), lambda: read_predictive(system.run)):
        with pytest.raises(RunError) as caught:
            act()
        assert str(caught.value) == sentence
    assert not has_predictive(system.run, NONE)
    for again in (lambda: store_validation(system), lambda: read_validation(system.run)):
        with pytest.raises(RunError) as caught:
            again()
        assert str(caught.value) == "The run of town/theirs was imported: it has no scores of validation triples."
    job = make_job(PoolingJob.SCORE, JobState.RUNNING, pool=pool, system=system)
    score_job.score(job, Progress(job))
    job.refresh_from_db()
    assert job.log.endswith(f"{sentence}\n")
    run = Run.objects.get(system=system)
    assert set(run_files.files_of(run)) == {"topk.parquet", "ranks.parquet", "asked.parquet", run_files.RETURNED}


# -- jobs -------------------------------------------------------------------------------------------------------


def test_the_scoring_job_makes_them_unless_it_is_told_not_to(pool: Pool):
    system = System.objects.get(graph=pool.graph, name="complex")
    wanted = wanted_triples(pool, open_graph(pool.graph))
    without, usual = (
        make_job(PoolingJob.SCORE, JobState.RUNNING, pool=pool, system=system, params=params)
        for params in ({"predictive": False}, {})
    )
    score_job.score(without, Progress(without))
    assert not has_predictive(Run.objects.get(system=system), wanted)
    score_job.score(usual, Progress(usual))
    assert has_predictive(Run.objects.get(system=system), wanted)
    usual.refresh_from_db()
    assert (usual.stage, usual.unit) == ("validation scores of ComplEx", "questions")
    assert usual.done == usual.total > 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("killed_in", ["_predict", "savez", "point_at"])
def test_a_scoring_job_that_is_killed_after_the_ranks_is_finished_by_the_next_attempt(
    pool: Pool, tmp_path: Path, monkeypatch, killed_in
):
    """kill -9 between ranks and distributions, half-way through their file, and before the row points there."""
    system = make_system(pool.graph, "rescal")
    graph = open_graph(pool.graph)
    ranks = runs.score_for_pool(system, pool, Progress(make_job(PoolingJob.SCORE, JobState.DONE, pool=pool)))
    wanted = distributions._wanted(wanted_triples(pool, graph), None, graph)
    expected, _ = distributions._predict(system, graph, wanted, 1.0, UNWATCHED)
    files = {p.name: p.read_bytes() for p in artifact_path(ranks.artifact).iterdir()}
    job = make_job(PoolingJob.SCORE, JobState.RUNNING, pool=pool, system=system)
    if (child := os.fork()) == 0:  # what it does to the database in memory is lost with it, as nothing is committed
        _be_killed_in(killed_in, job, expected)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    run = Run.objects.get(system=system)
    assert (run.artifact, run.sha256) == (ranks.artifact, ranks.sha256)
    assert {p.name: p.read_bytes() for p in artifact_path(run.artifact).iterdir()} == files
    assert len(list(artifact_path("runs").glob(f"{system.pk}-*"))) == (1 if killed_in == "_predict" else 2)

    monkeypatch.setattr(distributions, "_own_alpha", lambda system: 1.0)
    score_job.score(job, Progress(job))
    held = read_predictive(Run.objects.get(system=system))
    assert by_question(held) == by_question(expected)
    assert (read_ranks(Run.objects.get(system=system)).ranks == read_ranks(ranks).ranks).all()


def _be_killed_in(place: str, job: Job, expected: Predictive) -> NoReturn:
    """Do the job in a child process, torch left out (its threads do not survive a fork)."""

    def kill(*args: object, **kwargs: object) -> None:
        if place == "savez":
            args[0].write(b"PK half of it")  # type: ignore[attr-defined]
            args[0].flush()  # type: ignore[attr-defined]
        os.kill(os.getpid(), signal.SIGKILL)

    distributions._predict = lambda *args: (expected, Scored({}, ["cpu"], []))
    setattr(np if place == "savez" else distributions, place, kill)
    try:
        score_job.score(job, Progress(job))
    finally:
        os._exit(1)  # it should not have come here


def test_progress_counts_the_questions_of_validation_too(system: System):
    graph = open_graph(system.graph)
    told: list[tuple[int, int]] = []
    run = store_predictive(system, graph.test, Watch(lambda *at: told.append(at)))
    questions = len(questions_in(graph.valid, graph)) + len(read_predictive(run).keys)
    assert {total for _, total in told} == {questions}
    assert [done for done, _ in told] == sorted({done for done, _ in told}) and told[-1][0] == questions


@pytest.mark.parametrize("after", [0, 1])
def test_a_cancelled_job_leaves_the_old_run(pool: Pool, after):
    system = System.objects.get(graph=pool.graph, name="complex")
    before = Run.objects.get(system=system)
    job = make_job(PoolingJob.SCORE, JobState.RUNNING, pool=pool, system=system)
    progress, asked = Progress(job), []
    progress.should_stop = lambda: bool(asked.append(1)) or len(asked) > after  # type: ignore[method-assign]
    with pytest.raises(JobCancelled):
        predict_for_pool(system, pool, progress)
    kept = Run.objects.get(system=system)
    assert (kept.sha256, kept.artifact) == (before.sha256, before.artifact)
    assert artifact_path(kept.artifact).is_dir()


# -- files ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fails_at", ["savez", "write_json"])
def test_a_full_disk_leaves_the_old_run_whole_and_nothing_else(system: System, monkeypatch, fails_at):
    graph = open_graph(system.graph)
    run = store_predictive(system, graph.test[:3])
    before = by_question(read_predictive(run))

    def full(*args, **kwargs):
        with run_files.writing(artifact_path("full")):
            raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(np if fails_at == "savez" else runs, fails_at, full)
        with pytest.raises(ArtifactError, match="No space left on device"):
            store_predictive(system, graph.test)
    kept = Run.objects.get(system=system)
    assert kept.sha256 == run.sha256
    assert by_question(read_predictive(kept)) == before
    assert [p.name for p in artifact_path("runs").iterdir()] == [artifact_path(kept.artifact).name]


def test_the_files_checksum_is_kept_and_damage_refused(system: System):
    run = store_predictive(system, open_graph(system.graph).test)
    path = artifact_path(run.artifact) / PREDICTIVE
    assert PREDICTIVE in json.loads((path.parent / "run.json").read_text())["sha256"]
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(ArtifactError, match=r"predictive\.npz is not the file that was written"):
        read_predictive(run)


def test_the_same_questions_give_the_same_file(system: System):
    graph = open_graph(system.graph)
    digests = []
    for _ in range(2):
        run = store_predictive(system, graph.test)
        digests.append(run_files.files_of(run)[PREDICTIVE])
        run.delete()
        score_system(system, seeds=NONE, triples=graph.test[:2])
    assert digests[0] == digests[1]


def test_a_reader_with_an_old_row_reads_the_run_that_took_its_place(system: System):
    graph = open_graph(system.graph)
    old = store_predictive(system, graph.test[:2])
    newer = store_predictive(system, graph.test)
    assert by_question(read_predictive(old)) == by_question(read_predictive(newer))
    assert has_predictive(old, graph.test)


def test_a_run_that_another_job_extends_meanwhile_loses_nothing(system: System, monkeypatch):
    graph, predict = open_graph(system.graph), distribution_pass.predict_questions
    left = [1]

    def slow(*args, **kwargs):
        if left.pop() if left else 0:
            score_system(system, seeds=graph.test, triples=graph.test)
        return predict(*args, **kwargs)

    monkeypatch.setattr(distribution_pass, "predict_questions", slow)
    run = store_predictive(system, graph.test)
    assert has_predictive(run, graph.test)
    assert len(read_topk(run).keys) == run.num_questions > 0


# -- α ----------------------------------------------------------------------------------------------------------


def test_alpha_is_chosen_on_valid_and_stays(system: System, monkeypatch):
    """Every α by hand: F1@10 under Greedy of valid's questions, whose answers are those in valid alone."""
    scorer_of = runs.scorer_of

    def louder(*args):
        scorer = scorer_of(*args)
        scorer.features.mul_(100)  # so far apart that α matters
        return scorer

    for module in (runs, distributions):
        monkeypatch.setattr(module, "scorer_of", louder)
    graph = open_graph(system.graph)
    held = read_predictive(store_predictive(system, graph.test[:2]))
    known = known_answers(graph, graph.valid)
    e, r = graph.num_entities, graph.num_relations
    asked = sorted(known)
    keys = np.array([(s * r + relation) * e + given for s, relation, given in asked])
    mean = []
    for alpha in ALPHAS:
        total = 0.0
        for question, scores in zip(asked, scores_of(system, keys).astype(np.float64), strict=True):
            p = np.exp(alpha * (scores - scores.max()))
            p /= p.sum()
            order = np.argsort(-p, kind="stable")
            sure = int((p >= 0.1).sum())
            size = sure + round(10 * (1 - p[order[:sure]].sum()))
            hits = len(known[question] & set(order[:size].tolist()))
            total += 2 * hits / (size + len(known[question]))
        mean.append(total / len(asked))
    assert len(set(mean)) > 1
    assert held.alpha == ALPHAS[int(np.argmax(mean))]
    assert read_predictive(store_predictive(system, graph.test)).alpha == held.alpha


def test_weights_are_loaded_once_for_alpha_and_the_questions(system: System, monkeypatch):
    loaded: list[System] = []
    scorer_of = runs.scorer_of

    def counted(asked: System, graph):
        loaded.append(asked)
        return scorer_of(asked, graph)

    for module in (runs, distributions):
        monkeypatch.setattr(module, "scorer_of", counted)
    store_predictive(system, open_graph(system.graph).test)
    assert loaded == [system]


def test_a_probabilistic_model_has_its_own_alpha(town: Graph, monkeypatch):
    """ProjE's scores are logits: its p is their softmax at the scale it was trained with."""
    system = make_system(town, "proje")
    graph = open_graph(town)
    score_system(system, seeds=NONE, triples=graph.test[:1])
    monkeypatch.setattr(distributions, "best_alpha", lambda *args: 50.0)
    assert read_predictive(store_predictive(system, graph.test[:1])).alpha == 1.0
    assert [
        distributions._own_alpha(System(kind="proje", settings={**system.settings, **other}))
        for other in ({"scale": 5.0}, {"scale": 3.0}, {"loss": "bce"})
    ] == [5.0, None, None]


def test_at_most_two_thousand_triples_choose_alpha():
    valid = np.arange(9000).reshape(3000, 3)
    sample = distributions._sample(valid)
    assert len(sample) == 2000 and set(map(tuple, sample)) < set(map(tuple, valid))
    np.testing.assert_array_equal(sample, distributions._sample(valid))
    assert len(distributions._sample(valid[:0])) == 0


@pytest.mark.parametrize("name", [PREDICTIVE, "validation.npz"])
def test_what_is_lost_beside_the_ranks_is_computed_again(system: System, name: str):
    graph = open_graph(system.graph)
    runs.score_system(system, seeds=graph.test, triples=graph.test)
    store_predictive(system, graph.test)
    run = store_validation(system)
    path = artifact_path(run.artifact) / name
    before = path.read_bytes()
    path.unlink()
    store_predictive(system, graph.test)
    again = store_validation(system)
    assert again.pk == run.pk and (artifact_path(again.artifact) / name).read_bytes() == before


def test_lost_distributions_do_not_keep_a_run_from_growing(system: System):
    graph = open_graph(system.graph)
    runs.score_system(system, seeds=graph.test[:2], triples=graph.test[:2])
    run = store_predictive(system, graph.test[:2])
    before = len(read_ranks(run).keys)
    (artifact_path(run.artifact) / PREDICTIVE).write_bytes(b"something else")
    grown = runs.score_system(system, seeds=graph.test, triples=graph.test)
    assert PREDICTIVE not in run_files.files_of(grown) and len(read_ranks(grown).keys) > before
    assert has_predictive(store_predictive(system, graph.test), graph.test)
