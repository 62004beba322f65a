import numpy as np
import pytest

from pooling.graphs.kernels.degrees import Degrees, band, band_names, degrees, entity_degree


def test_degrees_count_heads_and_tails_and_a_loop_twice():
    train = np.array([[0, 0, 1], [0, 0, 2], [0, 1, 0]], dtype=np.int32)
    assert degrees(train, 4) == Degrees(mean=1.5, median=1.0, high=4.0, largest=4, alone=1)


def test_degrees_of_nothing():
    assert degrees(np.zeros((0, 3), np.int32), 0) == Degrees(0.0, 0.0, 0.0, 0, 0)
    assert degrees(np.zeros((0, 3), np.int32), 2) == Degrees(0.0, 0.0, 0.0, 0, 2)


def test_entity_degree_counts_triples_and_a_loop_once():
    triples = np.array([[0, 0, 1], [1, 0, 0], [2, 1, 2], [0, 1, 1]])
    assert entity_degree(triples, 4).tolist() == [3, 3, 1, 0]


def test_bands_end_at_their_edges():
    assert band(np.array([0, 1, 2, 5, 6, 20, 21, 100, 101])).tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4]
    assert band_names() == ("0-1", "2-5", "6-20", "21-100", "over 100")
    assert band_names((0, 3, 4)) == ("0", "1-3", "4", "over 4")
    with pytest.raises(ValueError, match=r"must ascend: \(5, 5\)"):
        band(np.array([1]), (5, 5))
