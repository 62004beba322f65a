"""Filters, triple by triple."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pooling.models import PooledTriple
from pooling.pools.kernels.filter_base import FilterInput
from pooling.pools.kernels.filters import (
    DEFAULT_FILTERS,
    DEFAULT_TEXT,
    FILTERS,
    REASONS,
    apply_filters,
    parse_filters,
    reason_label,
)

CATEGORIES = ["1-1", "1-N", "N-1", "N-N", ""]
TYPES = ["", "person", "city"]
NOTHING = np.zeros((0, 3), np.int32)


def literal_reason(found: FilterInput, i: int, names: list[str]) -> str:
    """Return the first of the filters that takes triple i, written from their definitions."""
    head, relation, tail = found.triples[i].tolist()
    category, domain, range_ = found.category[relation], found.domains[relation], found.ranges[relation]
    train = found.train.tolist()

    def entailed(entity: int) -> set[str]:
        heads = {found.domains[r] for h, r, _ in train if h == entity}
        return (heads | {found.ranges[r] for _, r, t in train if t == entity}) - {""}

    def contradicts(types: set[str], wanted: str) -> bool:
        return bool(wanted) and len(types) > 0 and wanted not in types

    def inconsistent(types_of: Callable[[int], set[str]]) -> bool:
        return contradicts(types_of(head), domain) or contradicts(types_of(tail), range_)

    takes = {
        "category-head": bool(found.by_head[i]) and category in ("1-1", "1-N"),
        "category-tail": bool(found.by_tail[i]) and category in ("1-1", "N-1"),
        "types": inconsistent(lambda e: set(found.types[e])),
        "types-entailed": inconsistent(entailed),
        "types-both": inconsistent(lambda e: set(found.types[e]) | entailed(e)),
        "self-answer": head == tail and not any(r == relation and h == t for h, r, t in train),
    }
    return next((name for name in names if takes[name]), "")


@st.composite
def found_triples(draw):
    rows = draw(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=12))
    flags = st.lists(st.booleans(), min_size=len(rows), max_size=len(rows))
    types = st.lists(st.lists(st.sampled_from(TYPES[1:]), unique=True).map(tuple), min_size=5, max_size=5)
    wanted = st.lists(st.sampled_from(TYPES), min_size=5, max_size=5)
    train = draw(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 4)), max_size=8))
    return FilterInput(
        np.array(rows, dtype=np.int32),
        np.array(draw(flags)),
        np.array(draw(flags)),
        CATEGORIES,
        draw(types),
        draw(wanted),
        draw(wanted),
        np.array(train, dtype=np.int32).reshape(-1, 3),
    )


@settings(max_examples=400)
@given(found_triples(), st.permutations(list(FILTERS)).flatmap(lambda p: st.sampled_from([p, p[:2], p[:1], []])))
def test_reasons_are_those_of_the_words(found, names):
    expected = [literal_reason(found, i, names) for i in range(len(found.triples))]
    assert apply_filters(found, names).tolist() == expected


@pytest.mark.parametrize(
    ("category", "side", "reason"),
    [
        ("1-1", "head", "category-head"), ("1-1", "tail", "category-tail"),
        ("1-N", "head", "category-head"), ("1-N", "tail", ""),
        ("N-1", "head", ""), ("N-1", "tail", "category-tail"),
        ("N-N", "head", ""), ("N-N", "tail", ""),
        ("", "head", ""), ("", "tail", ""),
    ],
)  # fmt: skip
def test_category_filters_by_the_side_that_found_the_triple(category, side, reason):
    found = FilterInput(
        np.array([[0, 0, 1]], np.int32),
        np.array([side == "tail"]),
        np.array([side == "head"]),
        [category],
        [(), ()],
        [""],
        [""],
        NOTHING,
    )
    assert apply_filters(found, parse_filters("category")).tolist() == [reason]
    assert apply_filters(found, []).tolist() == [""]


def test_parse_filters_knows_groups_order_and_repeats():
    assert parse_filters("category,types") == ["category-head", "category-tail", "types"]
    assert parse_filters(" types , category-tail,types") == ["types", "category-tail"]
    assert parse_filters("none") == parse_filters("") == []


def test_unknown_filter_is_named_with_those_that_exist():
    with pytest.raises(ValueError) as caught:
        parse_filters("types,colour")
    assert str(caught.value) == (
        "unknown filter 'colour': the known filters are category-head, category-tail, types, types-entailed, "
        "types-both, self-answer, category, none"
    )


@pytest.mark.parametrize(("word", "what"), [("known", "known triples"), ("duplicates", "duplicates")])
def test_what_is_always_left_out_is_no_filter_to_choose(word: str, what: str):
    with pytest.raises(ValueError) as caught:
        parse_filters(f"types,{word}")
    assert str(caught.value) == f"{word!r} has no switch, since {what} are always left out: leave the word out"


def test_a_type_that_no_relation_wants_is_a_type_all_the_same():
    """A declared cat is no person, though no relation of the graph is about cats."""
    row = np.array([[0, 0, 1]], np.int32)
    found = FilterInput(row, np.array([True]), np.array([False]), ["N-N"], [("cat",), ()], ["person"], [""], NOTHING)
    assert apply_filters(found, ["types"]).tolist() == ["types"]
    assert apply_filters(found, ["types-entailed"]).tolist() == [""]
    assert apply_filters(found, ["types-both"]).tolist() == ["types-both"]


def test_types_entailed_from_train_by_either_side():
    """Of `born in` (person, city): 0 was born somewhere, somebody was born in 1, 2 is in train without a type."""
    train = np.array([[0, 0, 1], [2, 1, 2]], np.int32)
    rows = [[0, 0, 1], [0, 0, 0], [1, 0, 1], [2, 0, 1], [0, 0, 2]]
    flags = np.ones(len(rows), bool)
    found = FilterInput(
        np.array(rows, np.int32), flags, flags, ["N-N", "N-N"], [()] * 3, ["person", ""], ["city", ""], train
    )
    assert FILTERS["types-entailed"].rule(found).tolist() == [False, True, True, False, False]


def test_reasons_of_triples_are_the_names_of_the_filters():
    assert ("", *FILTERS) == REASONS
    assert {reason_label(name) for name in FILTERS} == {rule.label for rule in FILTERS.values()}
    assert reason_label("") == "to people"
    longest = PooledTriple._meta.get_field("reason").max_length
    assert max(map(len, REASONS)) <= longest
    assert set(DEFAULT_FILTERS) < set(FILTERS)


def test_self_loops_are_filtered_by_default_unless_train_has_one_of_the_relation():
    """Nobody is their own cousin (0), but somebody knows themself (1)."""
    train = np.array([[0, 0, 1], [2, 1, 2]], np.int32)
    rows = np.array([[0, 0, 0], [1, 0, 1], [0, 0, 2], [0, 1, 0], [2, 1, 0]], np.int32)
    none = np.zeros(len(rows), bool)
    found = FilterInput(rows, none, none, ["N-N", "N-N"], [()] * 3, ["", ""], ["", ""], train)
    assert apply_filters(found, DEFAULT_FILTERS).tolist() == ["self-answer", "self-answer", "", "", ""]
    assert apply_filters(found, parse_filters("category,types")).tolist() == [""] * 5


def test_the_default_of_commands_is_the_default_of_pages():
    assert tuple(parse_filters(DEFAULT_TEXT)) == DEFAULT_FILTERS
