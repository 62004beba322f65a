"""Gathering, against a loop over systems, questions and ranks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooling.kernels.pool import PROVENANCE, Gathered, gather, sample_seeds
from pooling.kernels.questions import Questions, questions_of

ENTITIES = 8
Finding = tuple[int, int, int]


def literal_gather(
    questions: Questions, candidates: list[np.ndarray], depth: int
) -> dict[tuple[int, int, int], list[Finding]]:
    """Triple -> (system, side, rank) of each finding, sorted."""
    found: dict[tuple[int, int, int], list[Finding]] = {}
    for system, lists in enumerate(candidates):
        for q, entities in enumerate(lists.tolist()):
            side, given_, relation = (int(x[q]) for x in questions)
            for rank, entity in enumerate(entities[:depth], 1):
                if entity >= 0:
                    triple = (entity, relation, given_) if side else (given_, relation, entity)
                    found.setdefault(triple, []).append((system, side, rank))
    return {triple: sorted(findings) for triple, findings in found.items()}


def unpacked(gathered: Gathered) -> dict[tuple[int, int, int], list[Finding]]:
    return {
        tuple(triple): [
            (int(f["system"]), int(f["side"]), int(f["rank"]))
            for f in gathered.findings[gathered.indptr[i] : gathered.indptr[i + 1]]
        ]
        for i, triple in enumerate(gathered.triples.tolist())
    }


@st.composite
def worlds(draw):
    """Questions of a few seeds, lists of a few systems (shorter ones end in -1), and a depth."""
    seeds = draw(
        st.lists(st.tuples(st.integers(0, 4), st.integers(0, 1), st.integers(0, 4)), min_size=1, max_size=6)
    )
    questions, _, _ = questions_of(np.array(seeds))
    width = draw(st.integers(1, 5))
    lists = []
    for _ in range(draw(st.integers(1, 3))):
        rows = []
        for _ in questions.side:
            entities = draw(st.permutations(range(ENTITIES)))[:width]
            length = draw(st.integers(0, width))
            rows.append([*entities[:length], *[-1] * (width - length)])
        lists.append(np.array(rows, dtype=np.int32))
    return questions, lists, draw(st.integers(1, width))


@given(worlds())
def test_gathered_triples_hold_every_finding_and_the_smallest_rank(world):
    questions, candidates, depth = world
    gathered = gather(questions, candidates, depth)
    expected = literal_gather(questions, candidates, depth)
    assert unpacked(gathered) == expected
    assert len(gathered.triples) == len(expected)
    smallest = {triple: min(rank for _, _, rank in findings) for triple, findings in expected.items()}
    assert gathered.depth.tolist() == [smallest[tuple(triple)] for triple in gathered.triples.tolist()]


@given(worlds())
def test_order_of_the_pool_does_not_depend_on_the_order_of_the_systems(world):
    questions, candidates, depth = world
    forward, backward = gather(questions, candidates, depth), gather(questions, candidates[::-1], depth)
    keys = [
        (d, r, h, t) for d, (h, r, t) in zip(forward.depth.tolist(), forward.triples.tolist(), strict=True)
    ]
    assert keys == sorted(keys)
    assert forward.triples.tolist() == backward.triples.tolist()


def test_one_triple_found_from_both_sides_is_one_triple_with_two_findings():
    questions = Questions(np.array([0, 1], np.int8), np.array([3, 4], np.int32), np.array([7, 7], np.int32))
    gathered = gather(questions, [np.array([[1, 4], [3, -1]], np.int32)], depth=2)
    assert gathered.triples.tolist() == [[3, 7, 1], [3, 7, 4]]
    assert gathered.depth.tolist() == [1, 1]
    assert unpacked(gathered) == {(3, 7, 1): [(0, 0, 1)], (3, 7, 4): [(0, 0, 2), (0, 1, 1)]}


def test_nothing_found_is_an_empty_pool():
    questions, _, _ = questions_of(np.array([[0, 0, 1]]))
    gathered = gather(questions, [np.full((2, 3), -1, np.int32)], depth=3)
    assert (gathered.triples.shape, len(gathered.findings), gathered.indptr.tolist()) == ((0, 3), 0, [0])
    assert gather(questions, [], depth=3).triples.shape == (0, 3)


def test_a_finding_takes_four_bytes():
    assert PROVENANCE.itemsize == 4


@pytest.mark.parametrize(("num_test", "share", "count"), [(20466, 0.05, 1023), (10, 0.01, 1), (10, 1.0, 10)])
def test_sample_is_ascending_without_repeats_and_seeded(num_test, share, count):
    places = sample_seeds(num_test, share, np.random.default_rng(3))
    assert len(places) == count
    assert sorted(set(places.tolist())) == places.tolist()
    assert 0 <= places.min() <= places.max() < num_test
    assert places.tolist() == sample_seeds(num_test, share, np.random.default_rng(3)).tolist()


def test_another_seed_is_another_sample():
    one, other = (sample_seeds(1000, 0.1, np.random.default_rng(seed)).tolist() for seed in (1, 2))
    assert one != other
