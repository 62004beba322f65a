"""Max-k of a pool against sets counted one by one from the models' own scores."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest

from core.enums import JobState
from core.jobs.execution import execute
from core.models import Job
from evaluation.labels.label_sets import label_set
from evaluation.labels.pool_table import EvaluationError, pool_table
from evaluation.max_k.kernel import oracle_limits
from evaluation.max_k.performance import KS, RunReader, limits, performance
from evaluation.max_k.sections import max_k_json
from evaluation.max_k.stored_runs import (
    OUTSIDE,
    RightAnswers,
    find_runs,
    right_answers,
    score_missing,
    scoring_jobs,
    stored_run,
)
from pooling.enums import PoolingJob
from pooling.graphs.opening import open_graph
from pooling.models import Pool
from pooling.questions.kernel import Csr, questions_from_keys
from pooling.runs.distributions import store_predictive
from pooling.runs.files import question_id
from pooling.runs.imports import import_run
from pooling.runs.score import wanted_triples
from pooling.training.train import systems_with_runs
from tests.evaluation.max_k.oracle import MaxK, answers_of, mean_goodness
from tests.evaluation.oracle import Question, Triple, seeds_of
from tests.factories import make_job

NAMES = ("transe", "distmult", "complex")
CHECKED = (1, 2, 5, 10, 27, 100)  # the town has 27 entities


def positives_of(pool: Pool, labels: str) -> set[Triple]:
    if labels == "full-test":
        return set(map(tuple, pool_table(pool).graph.test.tolist()))
    judged = pool.triples.filter(judgement__verdict="positive").values_list("head", "relation", "tail")
    return seeds_of(pool) | (set(judged) if labels == "current" else set())


def as_sets(right: RightAnswers, csr: Csr, pool: Pool) -> dict[Question, set[int]]:
    graph = pool_table(pool).graph
    columns = questions_from_keys(right.keys, graph.num_entities, graph.num_relations)
    asked = zip(columns.side.tolist(), columns.relation.tolist(), columns.entity.tolist(), strict=True)
    return {q: set(csr.indices[csr.indptr[i] : csr.indptr[i + 1]].tolist()) for i, q in enumerate(asked)}


def store(pool: Pool, *names: str) -> None:
    """What a job does for systems of a pool."""
    wanted = wanted_triples(pool, open_graph(pool.graph))
    for system in systems_with_runs(pool):
        if system.name in names:
            store_predictive(system, wanted)


def import_own(pool: Pool, folder: Path) -> None:
    """A run from outside that answers one question of the pool."""
    graph = open_graph(pool.graph)
    head, relation, tail = pool.seeds.order_by("pk").values_list("head", "relation", "tail")[0]
    question = question_id(0, graph.entities[head], graph.relations[relation])
    (folder / "run").write_text(f"{question} Q0 {quote(graph.entities[tail], safe='')} 1 3 x\n")
    import_run(pool.graph, folder / "run", name="outside", pool=pool)


@pytest.fixture
def stored(labelled: Pool) -> Pool:
    store(labelled, *NAMES)
    return labelled


def right_of(pool: Pool, labels: str, questions: str = "grown") -> RightAnswers:
    table = pool_table(pool)
    return right_answers(table, label_set(pool, table, labels, questions))


@pytest.mark.parametrize("labels", ["seeds", "current", "full-test"])
def test_right_answers(labelled: Pool, labels):
    graph = pool_table(labelled).graph
    right, own = right_of(labelled, labels), answers_of(positives_of(labelled, labels))
    test = answers_of(graph.test.tolist())
    known = answers_of([*graph.train.tolist(), *graph.valid.tolist()])
    filtered = {q: own[q] | test[q] for q in list(own)}
    assert as_sets(right, right.filtered, labelled) == filtered
    assert as_sets(right, right.raw, labelled) == {q: filtered[q] | known[q] for q in filtered}


def test_right_answers_of_the_questions_of_the_seeds_only(labelled: Pool):
    right = right_of(labelled, "current", "original")
    asked, current = answers_of(seeds_of(labelled)), answers_of(positives_of(labelled, "current"))
    found = as_sets(right, right.filtered, labelled)
    assert set(found) == set(asked) < set(current)
    assert any(found[q] > asked[q] for q in asked)


@pytest.mark.parametrize("labels", ["seeds", "current", "full-test"])
def test_every_protocol_is_what_the_scores_say(stored: Pool, labels):
    table, right = pool_table(stored), right_of(stored, labels)
    for system in systems_with_runs(stored):
        run = stored_run(system.run, table.graph.num_entities)
        oracle = MaxK(stored, system, positives_of(stored, labels), run.predictive.alpha)
        assert len(oracle.questions) == len(right.keys)
        for which in ("filtered", "raw"):
            found = performance(system.name, RunReader(run, right, which))  # type: ignore[arg-type]
            for name, protocol in (("TopK", "topk"), ("Greedy", "greedy")):
                for k in CHECKED:
                    values = [np.asarray(part)[k - 1] for part in found.protocols[name]]
                    assert values == pytest.approx(oracle.mean(protocol, k, which == "raw")), (name, k)
            recall = [oracle.expected_recall(k, which == "raw") for k in CHECKED]
            assert found.expected_recall[np.array(CHECKED) - 1] == pytest.approx(recall, abs=1e-6)
            assert found.mass == pytest.approx(oracle.mass(which == "raw"), abs=1e-6)
            assert found.tvd == pytest.approx(oracle.tvd(), abs=1e-6)


def test_sampling_is_the_distinct_ones_of_the_first_draws(stored: Pool):
    table, right = pool_table(stored), right_of(stored, "current")
    system = systems_with_runs(stored)[0]
    run = stored_run(system.run, table.graph.num_entities)
    place = np.searchsorted(run.predictive.keys, right.keys)
    sets = as_sets(right, right.filtered, stored)
    found = performance(system.name, RunReader(run, right, "filtered")).protocols["Sampling"]
    for k in CHECKED:
        drawn = [set(run.predictive.draws[at, :k].tolist()) for at in place]
        expected = mean_goodness(list(zip(drawn, sets.values(), strict=True)))
        assert [np.asarray(part)[k - 1] for part in found] == pytest.approx(expected)


@pytest.mark.parametrize("which", ["filtered", "raw"])
def test_limits_are_means_over_the_questions(labelled: Pool, which):
    csr = right_of(labelled, "current").of(which)
    counts = np.diff(csr.indptr)
    assert counts.min() < counts.max()
    for i, found in enumerate(limits(csr)):
        each = [oracle_limits(int(n), KS)[i] for n in counts]
        for part in ("precision", "recall", "f1"):
            assert getattr(found, part) == pytest.approx(np.mean([getattr(one, part) for one in each], axis=0))


def test_limits_of_one_are_exactly_one():
    """Questions of 1 to 6 answers, 1 to 6 of each: a sum of their shares times 1 is 1.0000000000000002."""
    counts = np.repeat(np.arange(1, 7), np.arange(1, 7))
    top, most = limits(Csr(np.concatenate([[0], np.cumsum(counts)]), np.zeros(counts.sum(), np.int32)))
    assert np.asarray(top.precision)[0] == 1
    assert (np.asarray(most.precision) == 1).all() and np.asarray(most.recall)[-1] == 1


def test_limits_bound_every_protocol(stored: Pool):
    table, right = pool_table(stored), right_of(stored, "current")
    top, most = limits(right.raw)
    assert np.all(np.asarray(most.f1) >= np.asarray(top.f1) - 1e-12)
    for _, run in find_runs(stored, table).ready:
        found = performance("x", RunReader(stored_run(run, table.graph.num_entities), right, "raw")).protocols
        # the town has fewer entities than k: TopK returns all of them, which is less than the limit supposes
        here = table.graph.num_entities
        for part in ("precision", "recall", "f1"):
            bound = np.asarray(getattr(top, part))[:here] + 1e-12
            assert np.all(np.asarray(getattr(found["TopK"], part))[:here] <= bound)
            for protocol in ("Greedy", "Sampling"):
                assert np.all(np.asarray(getattr(found[protocol], part)) <= np.asarray(getattr(most, part)) + 1e-12)


def test_a_run_without_distributions_is_scored_by_a_job(labelled: Pool):
    store(labelled, *NAMES[1:])
    found = find_runs(labelled, pool_table(labelled))
    assert (found.missing, [name for name, _ in found.ready], found.imported) == (
        ["transe"],
        ["distmult", "complex"],
        [],
    )
    (job,) = score_missing(labelled)
    assert (job.kind, job.system.name, job.params) == (PoolingJob.SCORE, "transe", {})
    assert score_missing(labelled) == [job] == scoring_jobs(labelled)
    execute(job.pk, "w")
    job.refresh_from_db()
    assert (job.state, job.error) == ("done", "")
    found = find_runs(labelled, pool_table(labelled))
    assert (found.missing, len(found.ready)) == ([], 3)
    assert scoring_jobs(labelled) == score_missing(labelled) == []
    assert Job.objects.filter(kind=PoolingJob.SCORE).count() == 1


def test_jobs_that_make_distributions_are_told_while_they_live(labelled: Pool):
    transe, distmult = systems_with_runs(labelled)[:2]
    make_job(PoolingJob.SCORE, JobState.DONE, pool=labelled, system=transe)
    make_job(PoolingJob.SCORE, pool=labelled, system=transe, params={"predictive": False})
    failed = make_job(PoolingJob.SCORE, JobState.FAILED, pool=labelled, system=distmult)
    make_job(PoolingJob.EXTEND_POOL, JobState.FAILED, pool=labelled)
    building = make_job(PoolingJob.BUILD_POOL, JobState.RUNNING, pool=labelled)
    assert set(scoring_jobs(labelled)) == {failed, building}
    extending = make_job(PoolingJob.EXTEND_POOL, pool=labelled)
    assert set(scoring_jobs(labelled)) == {failed, building, extending}


def test_a_run_is_read_once_and_a_new_one_anew(stored: Pool):
    (name, run), *_ = find_runs(stored, pool_table(stored)).ready
    before = stored_run(run, 27)
    assert stored_run(run, 27) is before
    graph = open_graph(stored.graph)
    everything = np.unique(np.concatenate([wanted_triples(stored, graph), graph.valid]), axis=0)
    newer = store_predictive(run.system, everything)
    after = stored_run(newer, 27)
    assert len(after.predictive.keys) > len(before.predictive.keys)
    right = right_of(stored, "current")
    old, new = (performance(name, RunReader(one, right, "raw")) for one in (before, after))
    assert new.mass == old.mass and (new.expected_recall == old.expected_recall).all()
    assert all((new.protocols[p].f1 == old.protocols[p].f1).all() for p in old.protocols)


def test_an_imported_run_is_told_apart(stored: Pool, tmp_path: Path):
    import_own(stored, tmp_path)
    found = find_runs(stored, pool_table(stored))
    assert (found.missing, found.imported, len(found.ready)) == ([], ["outside"], 3)
    assert score_missing(stored) == []
    assert max_k_json(stored, "current", [1])["left_out"] == {"outside": OUTSIDE}


def test_json_has_the_values_at_the_ks_that_are_asked_for(stored: Pool):
    found = max_k_json(stored, "current", [1, 10])
    table, right = pool_table(stored), right_of(stored, "current")
    assert (found["labels"], found["questions"], found["left_out"]) == ("current", len(right.keys), {})
    assert list(found["systems"]) == ["transe", "distmult", "complex"]
    for name, run in find_runs(stored, table).ready:
        one = performance(name, RunReader(stored_run(run, table.graph.num_entities), right, "raw"))
        told = found["systems"][name]
        assert (told["alpha"], told["tvd"], told["raw"]["mass"]) == (one.alpha, one.tvd, one.mass)
        assert told["raw"]["protocols"]["Greedy"]["10"]["f1"] == np.asarray(one.protocols["Greedy"].f1)[9]
        assert told["raw"]["protocols"]["Sampling"]["10"]["expected_recall"] == one.expected_recall[9]
        assert set(told["raw"]["protocols"]["TopK"]) == {"1", "10"}
    assert found["limits"]["raw"]["max-k"]["10"]["recall"] == np.asarray(limits(right.raw)[1].recall)[9]
    assert found["limits"]["filtered"]["top-k"]["1"]["precision"] == 1
    assert KS[0] == 1 and KS[-1] == 100


@pytest.mark.parametrize(
    ("ks", "words"), [([0], "k is 0: a run keeps"), ([5, 101], "k is 5, 101"), ([], "k is nothing")]
)
def test_a_k_that_no_run_can_answer_is_refused(stored: Pool, ks, words):
    with pytest.raises(EvaluationError, match=words):
        max_k_json(stored, "current", ks)


def test_without_any_distribution_it_is_said_what_to_do(labelled: Pool):
    with pytest.raises(EvaluationError, match=r"run score_runs p\."):
        max_k_json(labelled, "current", [10])


def test_an_imported_run_does_not_narrow_the_questions_of_a_page_that_cannot_show_it(stored: Pool, tmp_path: Path):
    import_own(stored, tmp_path)
    without, beside = (max_k_json(stored, "current", [1], names=names) for names in (NAMES, ["outside", *NAMES]))
    assert len(pool_table(stored, ["outside", *NAMES]).question_keys) and without["questions"] == beside["questions"]
    assert (beside["systems"], beside["compared"]) == (without["systems"], without["compared"])
    assert (list(without["left_out"]), list(beside["left_out"])) == ([], ["outside"])
    with pytest.raises(EvaluationError) as caught:
        max_k_json(stored, "current", [1], names=["outside"])
    assert str(caught.value) == (
        f"No system of pool p has its distributions: outside came from outside, and {OUTSIDE}. Choose a system that "
        "was trained here, or train one on graph town and run score_runs p."
    )
