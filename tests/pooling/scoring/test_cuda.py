"""On a GPU: every system's kernel against the CPU's, training, streamed entities, and refusals for want of memory.

Products of other shapes have other last bits, so ranks may differ where scores differ by less than 1e-5 of the largest
of their row. Needs neither Django nor data: `pytest --noconftest -m cuda tests/pooling/scoring/test_cuda.py`.
"""

from functools import cache

import numpy as np
import pytest
import torch

from pooling.graphs.kernels.family_trees import Shape, derive_relations, divide_facts, draw_families
from pooling.learning.loop import Training, train_system
from pooling.questions.kernel import Csr, Questions, answers_csr, questions_of, without
from pooling.scoring.distribution_pass import predict_questions
from pooling.scoring.free_memory import NoRoomError, free_bytes
from pooling.scoring.rank_rows import question_keys
from pooling.scoring.ranking import rank_of_triples, score_questions
from pooling.scoring.scorer import TILE_GPU, Scorer, build_model
from pooling.systems import SYSTEMS, get_model, resolve_settings
from pooling.systems.spec import SystemSpec

pytestmark = pytest.mark.cuda

DEVICE = "cuda"
MODELS = [name for name, entry in SYSTEMS.items() if isinstance(entry, SystemSpec)]
ENTITIES, RELATIONS, NEAR = 3000, 5, 1e-5


def triples(entities, count, seed=0):
    rng = np.random.default_rng(seed)
    return np.stack([rng.integers(0, high, count) for high in (entities, RELATIONS, entities)], 1)


def scorers(name):
    """Return scorers with equal weights, one on the CPU and one on the GPU."""
    train = triples(ENTITIES, 4000)
    settings = resolve_settings(name, ENTITIES, len(train), {"embedding_dim": 32})
    spec = get_model(name)
    return [
        Scorer(spec, build_model(spec, ENTITIES, RELATIONS, settings, seed=1, train=train), device)
        for device in ("cpu", DEVICE)
    ]


def problem(entities=ENTITIES, count=700):
    """Questions of some triples with known answers, and those that are wanted."""
    train, test = triples(entities, 4000), triples(entities, count, seed=1)
    questions, _, _ = questions_of(test)
    wanted = answers_csr(questions, test, entities, RELATIONS)
    masked = without(answers_csr(questions, train, entities, RELATIONS), wanted, entities)
    return questions, masked, wanted


@pytest.mark.parametrize("name", [*MODELS, "pykeen:PairRE"])
def test_ranks_and_candidates_equal_those_of_the_cpu_but_for_near_ties(name):
    cpu, gpu = scorers(name)
    questions, masked, wanted = problem()
    kwargs = {"masked": masked, "top_masked": wanted, "wanted": wanted, "top_k": 20, "seed": 1}
    rows = cpu.scores(*questions).double()
    near = NEAR * rows.abs().amax(1, keepdim=True)
    torch.testing.assert_close(gpu.scores(*questions).cpu().double() / near, rows / near, rtol=0, atol=1)
    expected, found = (score_questions(scorer, questions, **kwargs) for scorer in (cpu, gpu))

    row = torch.from_numpy(np.repeat(np.arange(len(rows)), np.diff(wanted.indptr)))
    own = rows[row, torch.from_numpy(wanted.indices).long()][:, None]
    close = ((rows[row] - own).abs() <= 2 * near[row]).sum(1).numpy()  # itself among them
    for kind in ("strict", "optimistic", "pessimistic"):
        assert (np.abs(getattr(found, kind) - getattr(expected, kind)) <= close).all()
    assert abs(np.mean(1 / found.strict) - np.mean(1 / expected.strict)) < 1e-5

    for i, (theirs, ours) in enumerate(zip(found.top_entity, expected.top_entity, strict=True)):
        np.testing.assert_allclose(rows[i, theirs], rows[i, ours], rtol=0, atol=2 * float(near[i]))
    same = (found.top_entity == expected.top_entity).all(1)
    assert same.mean() > 0.9
    assert (found.top_raw == expected.top_raw)[same].mean() > 0.99


@pytest.mark.parametrize("name", ["distmult", "rotate", "transe-l1"])
def test_mrr_equals_that_of_the_cpu(name):
    test = triples(ENTITIES, 700, seed=1)
    cpu, gpu = (rank_of_triples(scorer, test, num_relations=RELATIONS).mrr for scorer in scorers(name))
    assert abs(cpu - gpu) < 1e-5


def test_distributions_equal_those_of_the_cpu():
    questions, _, wanted = problem(count=150)
    keys = question_keys(questions, ENTITIES, RELATIONS)
    cpu, gpu = (
        predict_questions(scorer, questions, answers=wanted, keys=keys, alpha=1.0, seed=1)
        for scorer in scorers("complex")
    )
    np.testing.assert_allclose(gpu.log_normaliser, cpu.log_normaliser, rtol=1e-5, atol=1e-4)
    np.testing.assert_allclose(gpu.tvd, cpu.tvd, atol=1e-4)
    np.testing.assert_allclose(gpu.answer_score, cpu.answer_score, rtol=1e-4, atol=1e-5)
    assert (gpu.draws == cpu.draws).mean() > 0.99


@pytest.mark.parametrize("name", ["distmult", "transe", "roth", "conve"])
def test_streamed_and_chunked_equal_whole(name):
    """More entities than a tile, twins far apart: their scores tie whatever tile they are in.

    Streamed ones may differ in near-ties, since the CPU computes the queries; ConvE's alone have other bits there.
    """
    entities = 2 * TILE_GPU + 1234
    settings = resolve_settings(name, entities, 4000, {"embedding_dim": 16})
    spec = get_model(name)
    model = build_model(spec, entities, RELATIONS, settings, seed=1)
    with torch.no_grad():
        for weights in model.parameters():
            if len(weights) == entities:
                weights[TILE_GPU + 5 : TILE_GPU + 1005] = weights[:1000]
    questions, masked, wanted = problem(entities, 1500)
    kwargs = {"masked": masked, "top_masked": wanted, "wanted": wanted, "top_k": 20, "seed": 1}

    streamed = Scorer(spec, model, DEVICE, streamed=True)
    results = [score_questions(streamed, questions, chunk=chunk, **kwargs) for chunk in (None, TILE_GPU)]
    assert streamed.features.is_pinned() and not streamed.features.is_cuda
    whole = Scorer(spec, model, DEVICE)
    results += [score_questions(whole, questions, chunk=chunk, **kwargs) for chunk in (None, TILE_GPU)]
    assert whole.features.is_cuda
    exact = [(0, 1), (2, 3)] if name == "conve" else [(0, 1), (2, 3), (0, 2)]
    for i, j in exact:
        for a, b in zip(results[i], results[j], strict=True):
            np.testing.assert_array_equal(a, b)
    assert (results[0].strict == results[2].strict).mean() > 0.95
    np.testing.assert_allclose(results[0].top_score, results[2].top_score, rtol=1e-5)


def test_equal_scores_are_ranked_by_the_order_of_ties():
    questions, masked, wanted = problem(count=40)
    kwargs = {"masked": masked, "top_masked": wanted, "wanted": wanted, "top_k": 100, "seed": 1}
    results = []
    for scorer in scorers("distmult"):
        scorer.features[:] = scorer.features[:1].clone()  # all entities are twins
        results.append(score_questions(scorer, questions, **kwargs))
    expected, found = results
    for kind in ("strict", "optimistic", "pessimistic", "top_entity", "top_raw"):
        np.testing.assert_array_equal(getattr(found, kind), getattr(expected, kind))


def test_not_finite_names_the_question():
    _, gpu = scorers("distmult")
    gpu.features[7] = torch.nan
    questions, masked, wanted = problem(count=40)
    with pytest.raises(ValueError, match=r"DistMult: the scores of the .* are not finite"):
        score_questions(gpu, questions, masked=masked, top_masked=wanted, wanted=wanted, seed=1)


@cache
def family():
    """104 people of four trees, 23 relations: entities, relations, train, valid."""
    rng = np.random.default_rng(0)
    families = draw_families(4, Shape(people=26), rng)
    facts = derive_relations(families.parents, families.female)
    every = np.concatenate([np.insert(pairs, 1, relation, axis=1) for relation, pairs in enumerate(facts.values())])
    division = divide_facts(len(every), 1.0, 1.0, rng)
    return len(families.female), len(facts), every[division.train], every[division.valid]


def trained(name, folder, chosen, **others):
    entities, relations, train, valid = family()
    settings = resolve_settings(name, entities, len(train), {"embedding_dim": 16, **chosen})
    asked = {"seed": 1, "device": DEVICE, "directory": folder, **others}
    return train_system(Training(name, train, valid, entities, relations, settings, **asked))


@pytest.mark.parametrize("name", MODELS)
def test_training_lowers_a_finite_loss(name, tmp_path):
    result = trained(name, tmp_path, {"epochs": 2})
    losses = [epoch["loss"] for epoch in result.history]
    assert result.device == DEVICE and np.isfinite(losses).all() and losses[1] < losses[0]
    assert result.validation_mrr is not None and 0 < result.validation_mrr <= 1


def test_training_in_mixed_precision_lowers_the_loss(tmp_path):
    result = trained("complex", tmp_path, {"epochs": 2, "precision": "mixed"})
    assert result.history[1]["loss"] < result.history[0]["loss"]


def test_training_goes_on_from_its_checkpoint(tmp_path):
    def stop(epoch, scorer):
        if epoch == 3:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        trained("distmult", tmp_path / "halves", {"epochs": 4}, on_epoch=stop)
    halves, whole = (trained("distmult", tmp_path / folder, {"epochs": 4}) for folder in ("halves", "whole"))
    assert halves.history[-1]["loss"] == pytest.approx(whole.history[-1]["loss"], rel=1e-3)


def test_training_that_does_not_fit_is_refused_before_it_begins(tmp_path):
    free = free_bytes(DEVICE)
    assert free is not None
    _, relations, train, valid = family()
    size = free // (4 * 4096)  # the weights alone would fill the device
    settings = resolve_settings("distmult", size, len(train), {"embedding_dim": 4096})
    asked = Training("distmult", train, valid, size, relations, settings, seed=1, device=DEVICE, directory=tmp_path)
    message = r"^DistMult with embedding_dim 4096 on [\d,]+ entities needs about \d+ GB, \d+ GB are free: lower"
    with pytest.raises(NoRoomError, match=message):
        train_system(asked)


def test_scoring_that_does_not_fit_is_refused_before_it_begins():
    _, gpu = scorers("distmult")
    questions, masked, wanted = problem(count=40)
    free = free_bytes(DEVICE)
    assert free is not None
    taken = torch.empty(free - (256 << 20), dtype=torch.uint8, device=DEVICE)  # 256 MiB are left
    many = Csr(np.zeros(100_001, np.int64), np.zeros(0, np.int32))
    asked = Questions(*(np.resize(x, 100_000) for x in questions))
    message = r"^Scoring 100,000 questions at a time against 3,000 entities needs about 4\.8 GB, \d+ MB are free: end"
    with pytest.raises(NoRoomError, match=message):
        score_questions(gpu, asked, masked=many, top_masked=many, wanted=many, seed=1, batch_size=100_000)
    del taken
    score_questions(gpu, questions, masked=masked, top_masked=wanted, wanted=wanted, seed=1)
