"""Relation categories: a hand example, the border at 1.5, and a literal count over drawn triples."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooling.graphs.kernels.degrees import relation_categories, relation_counts


def literal_categories(triples: list[tuple[int, int, int]], num_relations: int) -> list[str]:
    """Compute the category from averages over the heads and over the tails of a relation."""
    result = []
    for relation in range(num_relations):
        facts = {(h, t) for h, r, t in triples if r == relation}
        if not facts:
            result.append("")
            continue
        tails_per_head = len(facts) / len({h for h, _ in facts})
        heads_per_tail = len(facts) / len({t for _, t in facts})
        result.append(f"{'N' if heads_per_tail > 1.5 else '1'}-{'N' if tails_per_head > 1.5 else '1'}")
    return result


def test_relation_categories_hand_example():
    train = np.array(
        [
            *[(0, 0, 1), (2, 0, 3)],  # one tail per head, one head per tail
            *[(0, 1, 1), (0, 1, 2)],  # two tails of one head
            *[(1, 2, 0), (2, 2, 0)],  # two heads of one tail
            *[(0, 3, 2), (0, 3, 3), (1, 3, 2), (1, 3, 3)],
        ],
        np.int32,
    )
    assert relation_categories(train, 5) == ["1-1", "1-N", "N-1", "N-N", ""]


def test_relation_categories_one_and_a_half_is_not_many():
    assert relation_categories(np.array([(0, 0, 1), (0, 0, 2), (3, 0, 4)], np.int32), 1) == ["1-1"]


def test_relation_counts_repeated_triple_counts_once():
    train = np.array([(0, 0, 1), (0, 0, 1), (0, 0, 2)], np.int32)
    assert [counts.tolist() for counts in relation_counts(train, 2)] == [[2, 0], [1, 0], [2, 0]]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2), st.integers(0, 5)), max_size=40))
def test_relation_categories_equal_literal(triples):
    train = np.array(triples, np.int32).reshape(-1, 3)
    assert relation_categories(train, 4) == literal_categories(triples, 4)


@pytest.mark.parametrize("shift", [1, 1000])
def test_relation_categories_do_not_depend_on_ids(shift):
    train = np.random.default_rng(1).integers(0, 8, (60, 3)).astype(np.int32)
    moved = train + np.array([shift, 0, shift], np.int32)
    assert relation_categories(moved, 8) == relation_categories(train, 8)
