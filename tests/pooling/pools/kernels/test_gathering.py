"""Gathering, against a loop over systems, questions and ranks."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pooling.pools.kernels.gathering import PROVENANCE, Gathered, gather, merge
from pooling.questions.kernel import Questions, questions_of

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
    seeds = draw(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 1), st.integers(0, 4)), min_size=1, max_size=6))
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
    keys = [(d, r, h, t) for d, (h, r, t) in zip(forward.depth.tolist(), forward.triples.tolist(), strict=True)]
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


# -- merging ----------------------------------------------------------------------------------------------------


@given(worlds(), worlds())
def test_merged_pools_hold_every_finding_of_both_once_and_the_smaller_depth(one, other):
    old, fresh = gather(*one), gather(*other)
    merged = merge(old, fresh)
    first, second = unpacked(old), unpacked(fresh)
    expected = {triple: sorted({*first.get(triple, []), *second.get(triple, [])}) for triple in {**first, **second}}
    assert unpacked(merged) == expected
    assert [tuple(t) for t in merged.triples.tolist()] == list(expected)  # the old ones, then what is new
    assert merged.depth.tolist() == [min(rank for _, _, rank in expected[t]) for t in expected]
    assert merged.indptr.tolist() == np.cumsum([0, *map(len, expected.values())]).tolist()


@given(worlds())
def test_merging_a_pool_with_a_deeper_one_or_itself_is_the_deeper_one(world):
    questions, candidates, depth = world
    old, deeper = gather(questions, candidates, max(1, depth - 2)), gather(questions, candidates, depth)
    assert unpacked(merge(old, deeper)) == unpacked(deeper)
    for one, other in zip(merge(deeper, deeper), deeper, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_triple_without_findings_keeps_its_depth_until_it_is_found_higher():
    bare = Gathered(
        np.array([[3, 7, 1], [3, 7, 2]], np.int32), np.array([2, 5]), np.zeros(0, PROVENANCE), np.zeros(3, int)
    )
    found = np.array([(4, 0, 3), (4, 0, 4)], PROVENANCE)
    fresh = Gathered(np.array([[3, 7, 1], [3, 7, 2]], np.int32), np.array([3, 4]), found, np.arange(3))
    merged = merge(bare, fresh)
    assert (merged.depth.tolist(), unpacked(merged)) == ([2, 4], {(3, 7, 1): [(4, 0, 3)], (3, 7, 2): [(4, 0, 4)]})


def test_nothing_merged_with_nothing_is_nothing():
    nothing = gather(questions_of(np.array([[0, 0, 1]]))[0], [], depth=3)
    merged = merge(nothing, nothing)
    assert (merged.triples.shape, len(merged.findings), merged.indptr.tolist()) == ((0, 3), 0, [0])


def test_lists_may_be_shorter_than_the_depth():
    questions = Questions(np.array([0], np.int8), np.array([3], np.int32), np.array([7], np.int32))
    gathered = gather(questions, [np.zeros((1, 0), np.int32), np.array([[5, 6]], np.int32)], depth=4)
    assert unpacked(gathered) == {(3, 7, 5): [(1, 0, 1)], (3, 7, 6): [(1, 0, 2)]}
