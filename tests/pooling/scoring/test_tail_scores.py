"""Scores of triples, read from the chunks of entities that a pass goes through."""

import numpy as np
import pytest
import torch

from core.callbacks import Watch
from pooling.scoring import ranking
from pooling.scoring.ranks import NotFinite
from pooling.scoring.scorer import TILE
from pooling.scoring.tail_scores import tail_scores

ENTITIES, RELATIONS = 3 * TILE - 5, 4


class Numbers:
    """Scores a tail question by a formula, and a head question by nothing that a test expects."""

    num_entities, device, label = ENTITIES, torch.device("cpu"), "Numbers"

    def __init__(self, wrong: int = -1) -> None:
        self.wrong = wrong

    def in_order(self, order):
        columns = torch.as_tensor(order)

        def score(side, entity, relation, out):
            given = torch.as_tensor(np.asarray(entity) % 1000 + 1000 * np.asarray(relation)).float()
            out.copy_(given[:, None] + columns[None, :] / 8 - 10_000 * torch.as_tensor(side)[:, None])
            out[:, columns == self.wrong] = float("nan")
            return out

        return score


def expected(triples: np.ndarray) -> list[float]:
    return [h % 1000 + 1000 * r + t / 8 for h, r, t in triples.tolist()]


def drawn(seed: int, n: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.integers(size, size=n) for size in (ENTITIES, RELATIONS, ENTITIES)])


@pytest.mark.parametrize("floats", [1 << 26, 1])  # one chunk, and a chunk for each tile
def test_each_triple_has_the_score_of_its_tail_question(floats: int, monkeypatch):
    monkeypatch.setattr(ranking, "BUFFER_FLOATS", floats)
    triples = drawn(3, 700)
    triples[350:, :2] = triples[:350, :2]  # several tails of a question
    triples[-1] = triples[0]  # and one twice
    assert tail_scores(Numbers(), triples, RELATIONS).tolist() == expected(triples)


def test_no_triple_has_no_score():
    assert tail_scores(Numbers(), np.zeros((0, 3), int), RELATIONS).tolist() == []


def test_only_a_score_that_is_read_must_be_finite():
    triples = np.array([[0, 0, 5], [1, 2, 7]])
    assert tail_scores(Numbers(wrong=6), triples, RELATIONS).tolist() == expected(triples)
    with pytest.raises(NotFinite, match="Numbers: the scores of the tail question"):
        tail_scores(Numbers(wrong=7), triples, RELATIONS)


def test_progress_counts_questions_and_a_stop_is_obeyed():
    told: list[tuple[int, int]] = []
    triples = np.array([[0, 0, 5], [0, 0, 6], [1, 2, 7]])
    tail_scores(Numbers(), triples, RELATIONS, Watch(lambda *at: told.append(at)))
    assert told[-1] == (2, 2)
    with pytest.raises(InterruptedError):
        tail_scores(Numbers(), triples, RELATIONS, Watch(stop=lambda: True))
