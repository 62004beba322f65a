"""Losses equal their definitions, written out entity by entity, and their slopes point downhill."""

import math

import pytest
import torch

from pooling.learning.losses import Cells, binary_cross_entropy, cross_entropy, penalty, self_adversarial

ENTITIES = 5
ANSWERS = [{1, 3}, {0}]  # of two questions
CELLS = [(0, 1), (0, 3), (1, 0)]


def all_cells(*, dtype=torch.float64):
    """Both questions against all entities."""
    torch.manual_seed(3)
    scores = torch.randn(2, ENTITIES, dtype=dtype, requires_grad=True)
    row, place = torch.tensor(CELLS).T
    return Cells(scores, row, place, None, ENTITIES)


def drawn_cells():
    """The same, with a weight for each cell, as if some entities had been drawn: 1 at right answers."""
    cells = all_cells()
    weight = torch.tensor([[2.0, 1, 5, 1, 0.5], [1, 3, 2, 2, 4]], dtype=torch.float64)
    return cells._replace(log_weight=weight.log())


def literal(cells):
    """Scores and weights as lists."""
    weights = torch.ones(2, ENTITIES) if cells.log_weight is None else cells.log_weight.exp()
    return cells.scores.tolist(), weights.tolist()


def label(question, entity, smoothing):
    """What the loss wants of an entity: right answers keep 1 − ε, all get ε / E."""
    return (1 - smoothing) * (entity in ANSWERS[question]) + smoothing / ENTITIES


@pytest.mark.parametrize("make", [all_cells, drawn_cells])
@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_cross_entropy_equals_literal(make, smoothing):
    cells = make()
    scores, weights = literal(cells)
    expected = []
    for question, answer in CELLS:
        total = sum(w * math.exp(s) for s, w in zip(scores[question], weights[question], strict=True))
        loss = 0.0
        for entity in range(ENTITIES):
            share = (1 - smoothing) * (entity == answer)
            share += smoothing / ENTITIES * weights[question][entity]
            loss += share * -scores[question][entity]
        expected.append(loss + math.log(total))
    assert cross_entropy(cells, smoothing).item() == pytest.approx(sum(expected) / len(expected), rel=1e-12)


@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_cross_entropy_one_answer_equals_torch(smoothing):
    cells = all_cells()
    one = cells._replace(scores=cells.scores[1:], row=torch.tensor([0]), place=torch.tensor([2]))
    expected = torch.nn.functional.cross_entropy(one.scores, one.place, label_smoothing=smoothing)
    torch.testing.assert_close(cross_entropy(one, smoothing), expected)


@pytest.mark.parametrize("make", [all_cells, drawn_cells])
@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_binary_cross_entropy_equals_literal(make, smoothing):
    cells = make()
    scores, weights = literal(cells)
    expected = 0.0
    for question in range(2):
        for entity in range(ENTITIES):
            chance = 1 / (1 + math.exp(-scores[question][entity]))
            wanted = label(question, entity, smoothing)
            loss = -wanted * math.log(chance) - (1 - wanted) * math.log(1 - chance)
            expected += loss * (weights[question][entity] if entity not in ANSWERS[question] else 1) / 2
    assert binary_cross_entropy(cells, smoothing).item() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("temperature", [0.0, 0.7])
def test_self_adversarial_equals_literal(temperature):
    torch.manual_seed(4)
    right = torch.randn(3, dtype=torch.float64)
    wrong = torch.randn(2, 4, dtype=torch.float64)
    known = torch.tensor([[False, True, False, False], [False] * 4])
    margin, row = 1.5, [0, 0, 1]

    def sigmoid(x):
        return 1 / (1 + math.exp(-x))

    expected = []
    for answer, question in zip(right.tolist(), row, strict=True):
        scores = [s for s, k in zip(wrong[question].tolist(), known[question].tolist(), strict=True) if not k]
        total = sum(math.exp(temperature * s) for s in scores)
        against = sum(math.exp(temperature * s) / total * -math.log(sigmoid(-s - margin)) for s in scores)
        expected.append(-math.log(sigmoid(margin + answer)) + against)
    found = self_adversarial(right, torch.tensor(row), wrong, known, margin, temperature)
    assert found.item() == pytest.approx(sum(expected) / 3, rel=1e-12)


def test_self_adversarial_weights_have_no_slope():
    """Only the loss of each wrong answer has: its share p is a number."""
    wrong = torch.tensor([[0.5, -1.0]], dtype=torch.float64, requires_grad=True)
    known = torch.zeros(1, 2, dtype=torch.bool)
    self_adversarial(torch.zeros(1), torch.tensor([0]), wrong, known, 0.0, 1.0).backward()
    share = torch.softmax(wrong.detach(), 1)
    torch.testing.assert_close(wrong.grad, share * torch.sigmoid(wrong.detach()))


def test_self_adversarial_all_drawn_are_known():
    """Nothing is left to weigh: the right answer's part alone, and no NaN."""
    wrong = torch.ones(1, 2, requires_grad=True)
    known = torch.ones(1, 2, dtype=torch.bool)
    loss = self_adversarial(torch.zeros(1), torch.tensor([0]), wrong, known, 0.0, 1.0)
    loss.backward()
    assert loss.item() == pytest.approx(math.log(2))
    assert wrong.grad.tolist() == [[0, 0]]


@pytest.mark.parametrize("loss", [cross_entropy, binary_cross_entropy])
@pytest.mark.parametrize("make", [all_cells, drawn_cells])
def test_slope_equals_numbers(loss, make):
    cells = make()

    def of_scores(scores):
        return loss(cells._replace(scores=scores), 0.2)

    assert torch.autograd.gradcheck(of_scores, cells.scores)


def test_penalty_equals_literal():
    real = torch.tensor([[1.0, -2.0], [0.0, 3.0]])
    turned = torch.tensor([[3 + 4j], [0j]])
    assert penalty([real, turned], n3=0.1, l2=0.0) == pytest.approx(0.1 * (1 + 8 + 27 + 125) / 2)
    assert penalty([real, turned], n3=0.0, l2=0.2) == pytest.approx(0.2 * (1 + 4 + 9 + 25) / 2)
    assert penalty([real], n3=0.1, l2=0.2) == pytest.approx(0.1 * 18 + 0.2 * 7)


def test_penalty_slope_at_zero_is_finite():
    zero = torch.zeros(2, 3, dtype=torch.complex64, requires_grad=True)
    penalty([zero], n3=1.0, l2=1.0).backward()
    assert zero.grad.tolist() == [[0j] * 3] * 2
