import numpy as np

from pooling.kernels.degrees import Degrees, degrees


def test_degrees_count_heads_and_tails_and_a_loop_twice():
    train = np.array([[0, 0, 1], [0, 0, 2], [0, 1, 0]], dtype=np.int32)
    assert degrees(train, 4) == Degrees(mean=1.5, median=1.0, high=4.0, largest=4, alone=1)


def test_degrees_of_nothing():
    assert degrees(np.zeros((0, 3), np.int32), 0) == Degrees(0.0, 0.0, 0.0, 0, 0)
    assert degrees(np.zeros((0, 3), np.int32), 2) == Degrees(0.0, 0.0, 0.0, 0, 2)
