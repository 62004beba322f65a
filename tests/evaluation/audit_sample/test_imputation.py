import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evaluation.measures.label_state import LabelState, impute


def literal(state, rule, rate, chance):
    found = []
    for s, r, c in zip(state, rule, chance, strict=True):
        found.append(LabelState.POSITIVE if r != -1 and c < rate[r] else s)
    return found


@given(st.integers(0, 2**32 - 1), st.integers(0, 30), st.integers(0, 3))
def test_imputation_is_what_its_definition_says(seed, n, rules) -> None:
    rng = np.random.default_rng(seed)
    state = rng.integers(0, 5, n).astype(np.int8)
    rule, rate, chance = rng.integers(-1, rules, n), rng.random(rules), rng.random(n)
    assert impute(state, rule, rate, chance).tolist() == literal(state, rule, rate, chance)


def test_rates_of_nothing_and_of_everything_and_what_is_left_alone() -> None:
    state = np.full(4, LabelState.ASSUMED_NEGATIVE, dtype=np.int8)
    rule, chance = np.array([0, 0, 1, -1]), np.array([0.0, 0.99, 0.5, 0.0])
    assert impute(state, rule, np.array([1.0, 0.0]), chance).tolist() == [4, 4, 2, 2]
    assert impute(state, rule, np.array([0.0, 0.51]), chance).tolist() == [2, 2, 4, 2]
    assert impute(state, rule, np.array([0.0, 0.5]), chance).dtype == np.int8


def test_higher_rates_make_the_same_triples_positive_and_more() -> None:
    rng = np.random.default_rng(3)
    state, rule, chance = np.full(500, 2, np.int8), np.zeros(500, int), rng.random(500)
    few, more = (impute(state, rule, np.array([rate]), chance) == 4 for rate in (0.1, 0.3))
    assert not (few & ~more).any() and few.sum() < more.sum()
