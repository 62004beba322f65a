"""A model that does not fit on a GPU stays in the memory of the host; its entities are copied tile by tile."""

import numpy as np
import pytest
import torch

from pooling.questions.kernel import Questions, answers_csr, questions_of
from pooling.scoring import free_memory, scorer
from pooling.scoring.free_memory import NoRoomError
from pooling.scoring.ranking import _held, score_questions
from pooling.scoring.scorer import HEIGHT, TILE, Scorer, build_model
from pooling.scoring.streaming import Stream, held_bytes
from pooling.systems import get_model, resolve_settings

ENTITIES, RELATIONS = 2 * TILE + 77, 2
# one system of each form: dot, euclidean, link, pointwise; with a bias; one that reads the graph
FORMS = ["distmult", "transe", "roth", "transe-l1", "conve", "compgcn"]
TRIPLES = np.array([[0, 0, 1], [1, 1, 2]])
GPU = torch.device("cuda:0")


def model_of(name):
    settings = resolve_settings(name, ENTITIES, 10, {"embedding_dim": 8})
    return get_model(name), build_model(get_model(name), ENTITIES, RELATIONS, settings, seed=1, train=TRIPLES)


@pytest.mark.parametrize("name", FORMS)
def test_streamed_scores_have_the_bits_of_whole_ones(name):
    spec, model = model_of(name)
    rng = np.random.default_rng(0)
    asked = rng.integers(0, 2, HEIGHT + 40), rng.integers(0, ENTITIES, HEIGHT + 40), rng.integers(0, 2, HEIGHT + 40)
    whole, streamed = Scorer(spec, model), Scorer(spec, model, streamed=True)
    assert streamed.stream is not None and [len(slot) for slot in streamed.stream.slots] == [TILE, TILE]
    np.testing.assert_array_equal(streamed.scores(*asked), whole.scores(*asked))
    some = rng.permutation(ENTITIES)[:100]
    np.testing.assert_array_equal(streamed.in_order(some)(*asked), whole.in_order(some)(*asked))


@pytest.mark.parametrize("chunk", [None, TILE])
def test_streamed_ranks_equal_whole_ones(chunk):
    rng = np.random.default_rng(3)
    triples = np.stack([rng.integers(0, ENTITIES, 300), rng.integers(0, RELATIONS, 300), rng.integers(0, 9, 300)], 1)
    questions, _, _ = questions_of(triples)
    wanted = answers_csr(questions, triples, ENTITIES, RELATIONS)
    none = answers_csr(questions, triples[:0], ENTITIES, RELATIONS)
    spec, model = model_of("transe")

    def ranked(streamed):
        chosen = Scorer(spec, model, streamed=streamed)
        return score_questions(
            chosen, Questions(*questions), masked=none, top_masked=wanted, wanted=wanted, top_k=10, seed=1, chunk=chunk
        )

    for a, b in zip(ranked(True), ranked(False), strict=True):
        np.testing.assert_array_equal(a, b)


def test_stream_of_fewer_rows_than_a_tile_takes_no_more():
    features = torch.randn(5, 3)
    stream = Stream(features, torch.device("cpu"), 100)
    ((first, tile),) = stream.tiles(features)
    assert (first, len(stream.slots[0])) == (0, 5) and torch.equal(tile, features)


def test_model_is_streamed_only_where_a_gpu_has_no_room(monkeypatch):
    spec, model = model_of("distmult")
    needed = 2 * held_bytes(model) + scorer.BATCH_BYTES_GPU
    assert not scorer._is_too_large(spec, model, torch.device("cpu"))
    for free, expected in ((None, False), (needed, False), (needed - 1, True)):
        monkeypatch.setattr(scorer, "free_bytes", lambda device, free=free: free)
        assert scorer._is_too_large(spec, model, GPU) is expected
    there = build_model(spec, 5, 2, resolve_settings("distmult", 5, 10), seed=1).to("meta")  # on another device already
    assert not scorer._is_too_large(spec, there, GPU)


def test_scores_that_need_the_weights_are_refused_where_a_gpu_has_no_room(monkeypatch):
    for module in (scorer, free_memory):
        monkeypatch.setattr(module, "free_bytes", lambda device: 2_000_000_000)
    message = (
        r"^Scoring with PairRE \(PyKEEN\) needs about 3\.2 GB, 2\.0 GB are free: end other programs on the GPU, or "
        r"choose the device cpu$"
    )
    with pytest.raises(NoRoomError, match=message):
        scorer._is_too_large(*model_of("pykeen:PairRE"), GPU)


def test_scores_held_on_a_gpu_take_a_quarter_of_what_is_free(monkeypatch):
    for module in ("pooling.scoring.ranking", "pooling.scoring.free_memory"):
        monkeypatch.setattr(f"{module}.free_bytes", lambda device: 1_600_000)
    assert _held(GPU, 100, 1000) == 100_000
    with pytest.raises(NoRoomError, match=r"^Scoring 100 questions at a time against 1,001 entities needs about 2 MB"):
        _held(GPU, 100, 1001)
    for module in ("pooling.scoring.ranking", "pooling.scoring.free_memory"):
        monkeypatch.setattr(f"{module}.free_bytes", lambda device: 1 << 40)
    assert _held(GPU, 100, 1000) == 1 << 28
