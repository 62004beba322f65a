"""Rows of a training, and the losses that their scores give, written out triple by triple."""

import dataclasses

import numpy as np
import pytest
import torch

from pooling.learning.batches import QuestionBatches, TripleBatches, scores_of
from pooling.learning.losses import factors_of
from pooling.scoring.scorer import Scorer, build_model
from pooling.systems import get_model, resolve_settings


def rows_of(batches, rows):
    triples = zip(batches.entity[rows].tolist(), batches.relation[rows].tolist(), strict=True)
    return list(triples)


def test_triple_batches_hold_both_directions():
    batches = TripleBatches(np.array([[0, 1, 5], [2, 0, 3]]), 6, {"batch_size": 10}, "cpu")
    (rows,) = batches.draw()
    found = {(e, r, a) for (e, r), a in zip(rows_of(batches, rows), batches.answer[rows].tolist(), strict=True)}
    assert found == {(0, 2, 5), (5, 3, 0), (2, 0, 3), (3, 1, 2)}


def test_shared_negatives_loss_equals_literal():
    """The row's own answer counts once, however often it is drawn or is another row's answer."""
    triples = np.array([[0, 0, 1], [2, 0, 1], [3, 0, 4], [1, 0, 4]])
    chosen = resolve_settings("distmult", 6, 4, {"num_negatives": 9, "dropout": 0, "embedding_dim": 5, "scale": 2})
    model, spec = build_model(get_model("distmult"), 6, 1, chosen, 0), get_model("distmult")
    batches = TripleBatches(triples, 6, chosen, "cpu")
    rows = torch.arange(8)
    torch.manual_seed(0)
    loss = batches.loss(spec, model, rows)
    torch.manual_seed(0)
    answers = batches.answer.tolist()
    columns = answers + torch.randint(6, (9,)).tolist()
    scores = 2 * model.score_t(torch.stack([batches.entity, batches.relation], 1)).detach()
    expected = []
    for i, answer in enumerate(answers):
        total = scores[i, answer].exp()
        for c in columns:  # 9 of 6 entities are drawn, 8 are answers: each stands for 1 / (expected count)
            if c != answer:
                total = total + scores[i, c].exp() / (9 / 6 + answers.count(c))
        expected.append(total.log() - scores[i, answer])
    torch.testing.assert_close(loss.detach(), torch.stack(expected).mean())


@pytest.mark.parametrize("negatives", [0, 4])
def test_question_batches_loss_equals_literal(negatives):
    triples = np.array([[0, 0, 1], [0, 0, 2], [3, 0, 1], [0, 0, 1]])
    chosen = resolve_settings(
        "distmult", 9, 4, {"num_negatives": negatives, "dropout": 0, "embedding_dim": 5, "objective": "questions"}
    )
    model, spec = build_model(get_model("distmult"), 9, 1, chosen, 0), get_model("distmult")
    batches = QuestionBatches(triples, 9, chosen, "cpu")
    rows = torch.arange(len(batches.count))
    answers = {(0, 0): {1, 2}, (3, 0): {1}, (1, 1): {0, 3}, (2, 1): {0}}
    assert set(rows_of(batches, rows)) == set(answers)
    torch.manual_seed(0)
    loss = batches.loss(spec, model, rows)
    torch.manual_seed(0)
    drawn = torch.randint(9, (4,)).tolist() if negatives else range(9)
    columns = sorted(set(drawn) | {a for found in answers.values() for a in found})
    times = {a: sum(a in found for found in answers.values()) for a in range(9)}
    chance = {c: 1 - np.exp(-(4 / 9 + times[c])) if negatives else 1.0 for c in columns}
    expected = []
    for question, found in answers.items():
        scores = model.score_t(torch.tensor([question]))[0].detach()
        total = sum(scores[c].exp() / (1.0 if c in found else chance[c]) for c in columns)
        expected += [total.log() - scores[a] for a in found]
    torch.testing.assert_close(loss.detach(), torch.stack(expected).mean())


def small_batches(kind, name="distmult", **overrides):
    """Four triples of one relation among six entities, and an untrained model."""
    triples = np.array([[0, 0, 1], [2, 0, 1], [3, 0, 4], [0, 0, 4]])
    chosen = resolve_settings(name, 6, 4, {"dropout": 0, "embedding_dim": 4, **overrides})
    return kind(triples, 6, chosen, "cpu"), get_model(name), build_model(get_model(name), 6, 1, chosen, 0)


@pytest.mark.parametrize("kind", [TripleBatches, QuestionBatches])
@pytest.mark.parametrize("smoothing", [0, 0.2])
def test_binary_cross_entropy_of_rows_equals_literal(kind, smoothing):
    batches, spec, model = small_batches(kind, loss="bce", smoothing=smoothing)
    rows = torch.arange(len(batches.entity))
    row, answer = batches.right(rows)
    right = set(zip(row.tolist(), answer.tolist(), strict=True))
    scores = model.score_t(torch.stack([batches.entity, batches.relation], 1)).detach()
    labels = torch.tensor([[float((i, e) in right) for e in range(6)] for i in rows.tolist()])
    labels = (1 - smoothing) * labels + smoothing / 6
    expected = torch.nn.functional.binary_cross_entropy_with_logits(scores, labels, reduction="sum")
    torch.testing.assert_close(batches.loss(spec, model, rows).detach(), expected / len(rows))


@pytest.mark.parametrize("kind", [TripleBatches, QuestionBatches])
def test_binary_cross_entropy_drawn_has_the_mean_of_all(kind):
    """Over many draws of batches and entities, the loss of columns is the loss against all entities."""
    triples = np.random.default_rng(0).integers(0, [40, 1, 40], (60, 3))
    losses = {}
    for drawn in (0, 12):
        chosen = resolve_settings(
            "distmult",
            40,
            60,
            {
                "dropout": 0,
                "embedding_dim": 4,
                "loss": "bce",
                "smoothing": 0.1,
                "num_negatives": drawn,
                "batch_size": 12,
                "init_std": 1,
            },
        )
        spec = get_model("distmult")
        batches, model = kind(triples, 40, chosen, "cpu"), build_model(spec, 40, 1, chosen, 0)
        torch.manual_seed(0)
        with torch.no_grad():
            found = [batches.loss(spec, model, r).item() for _ in range(60) for r in batches.draw() if len(r) == 12]
        losses[drawn] = np.mean(found)
    assert losses[12] == pytest.approx(losses[0], rel=0.02)


@pytest.mark.parametrize("kind", [TripleBatches, QuestionBatches])
@pytest.mark.parametrize("name", ["distmult", "transe"])
def test_self_adversarial_rows_equal_literal(kind, name):
    """Drawn entities count once each; a row's own answers among them not at all."""
    batches, spec, model = small_batches(
        kind, name, loss="self-adversarial", num_negatives=4, margin=2, temperature=0.5, scale=3
    )
    rows = torch.arange(len(batches.entity))
    torch.manual_seed(1)
    loss = batches.loss(spec, model, rows).item()
    torch.manual_seed(1)
    drawn = set(torch.randint(6, (4,)).tolist())
    assert 1 in drawn or 4 in drawn  # some of them are answers
    row, answer = (x.tolist() for x in batches.right(rows))
    scores = 3 * model.score_t(torch.stack([batches.entity, batches.relation], 1)).detach().double().numpy()
    expected = []
    for i, a in zip(row, answer, strict=True):
        own = {b for j, b in zip(row, answer, strict=True) if j == i}
        wrong = np.array([scores[i, e] for e in sorted(drawn - own)])
        share = np.exp(0.5 * wrong) / np.exp(0.5 * wrong).sum()
        expected.append(np.log1p(np.exp(-2 - scores[i, a])) + (share * np.log1p(np.exp(wrong + 2))).sum())
    assert loss == pytest.approx(np.mean(expected), rel=1e-5)


@pytest.mark.parametrize("kind", [TripleBatches, QuestionBatches])
def test_regularisers_are_added(kind):
    batches, spec, model = small_batches(kind, "complex")
    rows = torch.arange(len(batches.entity))
    plain = batches.loss(spec, model, rows).item()
    batches.settings = {**batches.settings, "n3": 0.3, "l2": 0.2}
    row, answer = batches.right(rows)
    entities, relations = (r[0](None).detach() for r in (model.entity_representations, model.relation_representations))
    expected = 0.0
    for i, a in zip(row.tolist(), answer.tolist(), strict=True):
        for vector in (entities[batches.entity[i]], relations[batches.relation[i]], entities[a]):
            for number in vector.tolist():
                expected += 0.3 * abs(number) ** 3 + 0.2 * abs(number) ** 2
    assert batches.loss(spec, model, rows).item() - plain == pytest.approx(expected / len(row), rel=1e-4)


def test_factors_of_unknown_model_is_refused():
    spec = dataclasses.replace(get_model("distmult"), factors=None)
    with pytest.raises(ValueError, match="DistMult has no vectors that n3 and l2 could keep small: set both to 0"):
        factors_of(spec, torch.nn.Linear(2, 2), *torch.zeros(3, 1, dtype=torch.long))


def test_factors_of_a_system_are_its_own():
    spec = dataclasses.replace(get_model("distmult"), factors=lambda *args: [args[3]])
    assert factors_of(spec, None, None, None, "answer") == ["answer"]


def shared_system(calls):
    """DistMult whose tables are turned over once for query and features together."""
    spec = get_model("distmult")

    def shared(model):
        calls.append("shared")
        return -model.entity_representations[0](None)

    def query(model, entity, relation, shared):
        return shared[entity] * model.relation_representations[0](relation)

    def features(model, shared):
        return shared, None

    return dataclasses.replace(spec, shared=shared, query=query, features=features)


@pytest.mark.parametrize("overrides", [{}, {"loss": "self-adversarial", "num_negatives": 5}])
def test_shared_part_is_computed_once_a_step(overrides):
    batches, spec, model = small_batches(TripleBatches, **overrides)
    calls, rows = [], torch.arange(8)
    torch.manual_seed(1)
    expected = batches.loss(spec, model, rows)
    torch.manual_seed(1)
    found = batches.loss(shared_system(calls), model, rows)
    torch.testing.assert_close(found, expected)  # both signs turn
    assert calls == ["shared"]


def test_shared_part_is_computed_once_a_scorer():
    _, spec, model = small_batches(TripleBatches)
    calls = []
    scorer = Scorer(shared_system(calls), model)
    questions = (torch.zeros(3), torch.arange(3), torch.zeros(3))
    torch.testing.assert_close(scorer.scores(*questions), Scorer(spec, model).scores(*questions))
    scorer.scores(*questions)
    assert calls == ["shared"]


@pytest.mark.parametrize(("name", "rounded"), [("distmult", True), ("transe", False)])
def test_mixed_precision_rounds_products_only(name, rounded):
    """The code path of a GPU, on a CPU: distances stay as they are, all scores come back in full precision."""
    _, spec, model = small_batches(TripleBatches, name)
    query = spec.query(model, torch.arange(4), torch.zeros(4, dtype=torch.long))
    expected = scores_of(spec, model)(query, None)
    with torch.autocast("cpu", torch.bfloat16):
        found = scores_of(spec, model)(query, None)
    assert found.dtype == torch.float32
    assert torch.equal(found, expected) is not rounded
    torch.testing.assert_close(found, expected, rtol=0.02, atol=0.02)
