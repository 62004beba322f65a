"""Rules by plain loops over facts: slow, and short enough to be right."""

from itertools import product

from hypothesis import strategies as st

ENTITIES, RELATIONS = 5, 2
triples = st.lists(
    st.tuples(st.integers(0, ENTITIES - 1), st.integers(0, RELATIONS - 1), st.integers(0, ENTITIES - 1)),
    min_size=1,
    max_size=14,
)
BODIES = [body for length in (1, 2, 3) for body in product(range(2 * RELATIONS), repeat=length)]

# Everything is mined: nothing is drawn, dropped or cut.
ALL = {
    "max_length": 3, "min_support": 1, "min_confidence": 0.0, "laplace": 5.0, "max_rules": 4000,
    "aggregation": "max", "samples": 1000, "paths": 100_000, "candidates": 1000, "max_steps": 10**9,
    "validation_sample": 0,
}  # fmt: skip


def holds(facts, signed, a, b):
    """Whether inverse-aware relation `signed` leads from a to b."""
    return ((a, signed // 2, b) if signed % 2 == 0 else (b, signed // 2, a)) in facts


def paths(facts, body, x):
    """The ends of all paths of distinct entities from x along the body, with repeats."""
    found = [[x]]
    for signed in body:
        found = [
            [*path, e] for path in found for e in range(ENTITIES) if e not in path and holds(facts, signed, path[-1], e)
        ]
    return [path[-1] for path in found]


def pairs(facts, body):
    """(x, y) that the body connects."""
    return {(x, y) for x in range(ENTITIES) for y in paths(facts, body, x)}


def all_rules(facts, laplace=5.0):
    """{(relation, body): (support, covered, confidence)} of every rule with a case."""
    found = {}
    connected = {body: pairs(facts, body) for body in BODIES}
    for relation in range(RELATIONS):
        for body in BODIES:
            support = sum((x, relation, y) in facts for x, y in connected[body])
            if support and body != (2 * relation,):
                covered = len(connected[body])
                found[relation, body] = (support, covered, support / (covered + laplace))
    return found
