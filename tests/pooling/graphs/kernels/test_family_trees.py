"""Family rules against a literal oracle that asks, for every two people, what the words mean."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooling.graphs.kernels.family_trees import (
    RULES,
    Growth,
    Shape,
    derive_relations,
    divide_facts,
    draw_families,
    grow_families,
)


def literal_relations(parents: list[tuple[int, int]], female: list[bool]) -> dict[str, list[list[int]]]:
    """Every relation from its definition, person by person."""
    people = range(len(parents))

    def is_parent(a, b):
        return a in parents[b] and -1 not in parents[b]

    def is_sibling(a, b):
        return a != b and -1 not in parents[a] and parents[a] == parents[b]

    def is_spouse(a, b):
        return a != b and any(set(parents[child]) == {a, b} for child in people)

    def is_grandparent(a, b):
        return a != b and any(is_parent(a, x) and is_parent(x, b) for x in people)

    def is_parents_sibling(a, b):
        return a != b and any(is_sibling(a, x) and is_parent(x, b) for x in people)

    def is_cousin(a, b):
        return a != b and any(is_parent(x, a) and is_parent(y, b) and is_sibling(x, y) for x in people for y in people)

    def woman(kin):
        return lambda a, b: female[a] and kin(a, b)

    def man(kin):
        return lambda a, b: not female[a] and kin(a, b)

    def turned(kin):
        return lambda a, b: kin(b, a)

    meaning = {
        "parentOf": is_parent,
        "motherOf": woman(is_parent),
        "fatherOf": man(is_parent),
        "childOf": turned(is_parent),
        "daughterOf": woman(turned(is_parent)),
        "sonOf": man(turned(is_parent)),
        "siblingOf": is_sibling,
        "sisterOf": woman(is_sibling),
        "brotherOf": man(is_sibling),
        "wifeOf": woman(is_spouse),
        "husbandOf": man(is_spouse),
        "grandmotherOf": woman(is_grandparent),
        "grandfatherOf": man(is_grandparent),
        "grandchildOf": turned(is_grandparent),
        "granddaughterOf": woman(turned(is_grandparent)),
        "grandsonOf": man(turned(is_grandparent)),
        "auntOf": woman(is_parents_sibling),
        "uncleOf": man(is_parents_sibling),
        "nieceOf": woman(turned(is_parents_sibling)),
        "nephewOf": man(turned(is_parents_sibling)),
        "cousinOf": is_cousin,
        "girlCousinOf": woman(is_cousin),
        "boyCousinOf": man(is_cousin),
    }
    return {name: [[a, b] for a in people for b in people if holds(a, b)] for name, holds in meaning.items()}


def as_lists(relations):
    return {name: pairs.tolist() for name, pairs in relations.items()}


@pytest.mark.parametrize("seed", range(4))
def test_derive_relations_equal_literal_on_drawn_families(seed):
    families = draw_families(2, Shape(people=22), np.random.default_rng(seed))
    expected = literal_relations([tuple(p) for p in families.parents.tolist()], families.female.tolist())
    assert as_lists(derive_relations(families.parents, families.female)) == expected
    assert set(RULES) == set(expected) and len(RULES) == 23
    assert all(expected.values()) or families.female.sum() in (0, len(families.female))


@given(st.data())
def test_derive_relations_equal_literal_on_any_descent(data):
    """Half-siblings, marriages among relatives, unknown parents: the rules still say what they say."""
    n = data.draw(st.integers(2, 9))
    female = [True, False] + [data.draw(st.booleans()) for _ in range(n - 2)]
    parents = [(-1, -1)] * 2
    for person in range(2, n):
        mothers = [p for p in range(person) if female[p]]
        fathers = [p for p in range(person) if not female[p]]
        couple = (data.draw(st.sampled_from(mothers)), data.draw(st.sampled_from(fathers)))
        parents.append(couple if data.draw(st.booleans()) else (-1, -1))
    relations = derive_relations(np.array(parents, np.int32), np.array(female))
    assert as_lists(relations) == literal_relations(parents, female)


def test_draw_families_everybody_is_related_to_somebody_and_nobody_across_trees():
    for people in (3, 4, 7, 60):
        families = draw_families(5, Shape(people=people), np.random.default_rng(people))
        assert np.bincount(families.tree).max() <= people
        pairs = np.concatenate(list(derive_relations(families.parents, families.female).values()))
        assert np.unique(pairs).tolist() == list(range(len(families.female)))
        assert (families.tree[pairs[:, 0]] == families.tree[pairs[:, 1]]).all()
        mothers, fathers = families.parents[families.parents[:, 0] >= 0].T
        assert families.female[mothers].all() and not families.female[fathers].any()


def test_divide_facts_each_fact_once_in_the_shares_asked_for():
    division = divide_facts(100_000, 0.75, 0.7, np.random.default_rng(3))
    parts = np.stack([division.train, division.valid, division.test, division.missing])
    assert (parts.sum(axis=0) == 1).all()
    train, valid, test, missing = parts.mean(axis=1)
    assert valid == pytest.approx(0.05 * (train + valid), abs=1e-5)
    assert train + valid == pytest.approx(0.75 * 0.7, abs=0.005)
    assert test == pytest.approx(0.75 * 0.3, abs=0.005)
    assert missing == pytest.approx(0.25, abs=0.005)


def test_divide_facts_full_density_misses_nothing():
    assert divide_facts(1000, 1.0, 0.7, np.random.default_rng(0)).missing.sum() == 0


@pytest.mark.parametrize("seed", range(3))
def test_grow_families_equal_literal_on_small_trees(seed):
    families = grow_families(2, Growth(people=24, depth=3, children=4), np.random.default_rng(seed))
    expected = literal_relations([tuple(p) for p in families.parents.tolist()], families.female.tolist())
    assert as_lists(derive_relations(families.parents, families.female)) == expected


def levels(parents):
    """Generation of everybody who is related to person 0, by walking from relative to relative."""
    found, todo = {0: 0}, [0]
    while todo:
        person = todo.pop()
        couples = [parents[person], *(pair for pair in parents if person in pair)]
        near = {parent: -1 for parent in couples[0] if parent >= 0}
        near |= {other: 0 for pair in couples[1:] for other in pair}
        near |= {child: 1 for child, pair in enumerate(parents) if person in pair}
        for other, step in near.items():
            if other not in found:
                found[other] = found[person] + step
                todo.append(other)
            assert found[other] == found[person] + step
    return found


@pytest.mark.parametrize(("people", "depth", "children"), [(60, 3, 20), (41, 2, 3), (9, 1, 1), (300, 3, 20)])
def test_grow_families_keep_to_people_depth_and_children(people, depth, children):
    families = grow_families(1, Growth(people, depth, children), np.random.default_rng(people))
    parents = [tuple(pair) for pair in families.parents.tolist()]
    found = levels(parents)
    assert sorted(found) == list(range(len(parents)))  # one tree
    assert len(parents) == people or children == 1  # such trees end before
    assert max(found.values()) - min(found.values()) == depth
    couples = [pair for pair in parents if pair != (-1, -1)]
    assert max(couples.count(pair) for pair in couples) <= children
    assert len(set(couples)) == len({m for m, _ in couples}) == len({f for _, f in couples})  # one spouse
    assert all(max(pair) < child for child, pair in enumerate(parents))


@pytest.fixture(scope="module")
def large():
    families = grow_families(20, Growth(), np.random.default_rng(1))
    return families, derive_relations(families.parents, families.female)


def pairs_of(relations, *names, turned=False):
    found = [tuple(pair[::-1] if turned else pair) for name in names for pair in relations[name].tolist()]
    assert len(found) == len(set(found))  # what is named together never overlaps
    return set(found)


def test_large_graph_has_the_size_of_the_paper(large):
    families, relations = large
    assert len(families.female) == 6_000
    assert 150_000 < sum(map(len, relations.values())) < 300_000  # the paper's: 192,532
    assert (families.tree[relations["cousinOf"]][:, 0] == families.tree[relations["cousinOf"]][:, 1]).all()


@pytest.mark.parametrize(
    ("whole", "parts"),
    [
        ("parentOf", ("motherOf", "fatherOf")),
        ("childOf", ("daughterOf", "sonOf")),
        ("siblingOf", ("sisterOf", "brotherOf")),
        ("cousinOf", ("girlCousinOf", "boyCousinOf")),
        ("grandchildOf", ("granddaughterOf", "grandsonOf")),
    ],
)
def test_large_graph_gender_variants_partition_their_relation(large, whole, parts):
    assert pairs_of(large[1], *parts) == pairs_of(large[1], whole)


@pytest.mark.parametrize(
    ("relations", "inverse"),
    [
        (("parentOf",), ("childOf",)),
        (("grandmotherOf", "grandfatherOf"), ("grandchildOf",)),
        (("auntOf", "uncleOf"), ("nieceOf", "nephewOf")),
        (("wifeOf",), ("husbandOf",)),
        (("siblingOf",), ("siblingOf",)),
        (("cousinOf",), ("cousinOf",)),
    ],
)
def test_large_graph_inverses_and_symmetry(large, relations, inverse):
    assert pairs_of(large[1], *relations) == pairs_of(large[1], *inverse, turned=True)


def test_grow_families_same_seed_same_trees():
    one, other, third = (grow_families(2, Growth(30), np.random.default_rng(s)) for s in (5, 5, 6))
    assert one.parents.tolist() == other.parents.tolist()
    assert one.parents.tolist() != third.parents.tolist()
