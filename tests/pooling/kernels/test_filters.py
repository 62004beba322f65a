"""Filters, triple by triple."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooling.kernels.filters import FILTERS, Found, apply_filters, parse_filters

CATEGORIES = ["1-1", "1-N", "N-1", "N-N", ""]
TYPES = ["", "person", "city"]


def literal_reason(found: Found, i: int, names: list[str]) -> str:
    """The first of the filters that takes triple i, from the words of spec/metrics.md §3."""
    head, relation, tail = found.triples[i].tolist()
    category, domain, range_ = found.category[relation], found.domains[relation], found.ranges[relation]

    def contradicts(entity: int, wanted: str) -> bool:
        declared = found.types[entity]
        return bool(wanted) and len(declared) > 0 and wanted not in declared

    takes = {
        "category-head": bool(found.by_head[i]) and category in ("1-1", "1-N"),
        "category-tail": bool(found.by_tail[i]) and category in ("1-1", "N-1"),
        "types": contradicts(head, domain) or contradicts(tail, range_),
    }
    return next((name for name in names if takes[name]), "")


@st.composite
def found_triples(draw):
    rows = draw(
        st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=12)
    )
    flags = st.lists(st.booleans(), min_size=len(rows), max_size=len(rows))
    types = st.lists(st.lists(st.sampled_from(TYPES[1:]), unique=True).map(tuple), min_size=4, max_size=4)
    wanted = st.lists(st.sampled_from(TYPES), min_size=5, max_size=5)
    return Found(
        np.array(rows, dtype=np.int32), np.array(draw(flags)), np.array(draw(flags)), CATEGORIES,
        draw(types), draw(wanted), draw(wanted),
    )  # fmt: skip


@given(
    found_triples(), st.permutations(list(FILTERS)).flatmap(lambda p: st.sampled_from([p, p[:2], p[:1], []]))
)
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
    found = Found(
        np.array([[0, 0, 1]], np.int32), np.array([side == "tail"]), np.array([side == "head"]),
        [category], [(), ()], [""], [""],
    )  # fmt: skip
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
        "unknown filter 'colour': the known filters are category-head, category-tail, types, category, none"
    )
