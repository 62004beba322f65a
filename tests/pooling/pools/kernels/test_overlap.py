import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pooling.pools.kernels.gathering import overlap


def test_overlap_of_three_systems():
    found = overlap(np.array([0, 1, 0, 2, 2]), np.array([0, 2, 3, 3, 5]), 3)  # {0, 1}, {0}, {}, {2, 2}
    assert found.shared.tolist() == [[2, 1, 0], [1, 1, 0], [0, 0, 1]]
    assert found.only.tolist() == [1, 0, 1]


@given(st.lists(st.lists(st.integers(0, 4), max_size=6), max_size=8))
def test_overlap_equals_that_of_sets(findings: list[list[int]]):
    indptr = np.cumsum([0, *map(len, findings)])
    found = overlap(np.array([s for one in findings for s in one], dtype=np.int64), indptr, 5)
    sets = [{i for i, one in enumerate(findings) if s in one} for s in range(5)]
    assert found.shared.tolist() == [[len(a & b) for b in sets] for a in sets]
    others = [set().union(*(b for b in sets if b is not a)) for a in sets]
    assert found.only.tolist() == [len(a - rest) for a, rest in zip(sets, others, strict=True)]
