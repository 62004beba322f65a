import numpy as np

from pooling.pools.kernels.gathering import question_sides, shown_questions
from tests.annotation.factories import findings


def test_side_is_that_of_the_best_rank_or_of_the_seeds() -> None:
    triples = np.array([[1, 0, 2], [1, 0, 3], [4, 0, 5], [1, 0, 9], [8, 0, 9]])
    packed = [findings((0, 0, 5), (1, 1, 2)), findings((0, 1, 3), (1, 0, 3)), findings((2, 1, 1)), b"", b""]
    assert question_sides(triples, packed, np.array([[1, 0, 7]])).tolist() == [1, 0, 1, 0, 1]


def test_question_names_the_side_the_relation_and_the_entity_that_is_given() -> None:
    triples, sides = np.array([[1, 3, 2], [4, 0, 5]]), np.array([0, 1], dtype=np.int8)
    assert shown_questions(triples, sides).tolist() == [[0, 3, 1], [1, 0, 5]]
