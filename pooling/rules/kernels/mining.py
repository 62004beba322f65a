"""Mine the rules of a graph: look for bodies around training triples, count each once, keep the best.

One body is counted for all relations that it was found for, since the pairs it connects are the same. What is
drawn (triples, pairs of edges, entities to count from) is drawn with the seed; the settings say how much of each,
and a graph that is small enough is mined completely.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from scipy import sparse

from core.callbacks import TellStage
from pooling.rules.kernels.paths import candidate_bodies, canonical
from pooling.rules.kernels.rule_table import MAX_LENGTH, Rules
from pooling.rules.kernels.signed_graph import Body, SignedGraph, Walker, reverse
from pooling.systems.spec import Value

MOST_RULES = 1_000_000


class Count(NamedTuple):
    """Hold the counts of a body: pairs it connects, those of them that each head connects, share of the starts."""

    covered: int
    support: list[int]
    share: float


class BodyCounter:
    """Count one body after another; sorted ones share the walks of their common beginning.

    Where the walks along a body take more than `max_steps` steps, they are made from some entities only: in `order`
    (a permutation) until the steps are used up, at least one. Body and head are counted from the same entities, so that
    their ratio stands for all.
    """

    def __init__(self, graph: SignedGraph, order: np.ndarray, max_steps: int) -> None:
        self.graph, self.order, self.max_steps = graph, order, max_steps
        self.from_all = Walker(graph)

    def count(self, body: Body, heads: list[int]) -> Count:
        """Count the pairs that `body` connects, and how many of these each inverse-aware relation of `heads` does."""
        steps = self.graph.walks(body)
        walker, share = self.from_all, 1.0
        if steps.sum() > self.max_steps:
            starts = self.order[steps[self.order] > 0]
            last = int(np.searchsorted(np.cumsum(steps[starts]), self.max_steps, side="right"))
            chosen = np.sort(starts[: max(1, last)])
            walker, share = Walker(self.graph, chosen), len(chosen) / len(starts)
        connected = self._keys(walker, walker.along(body))
        connected.sort()
        return Count(len(connected), [self._shared(head, walker, connected) for head in heads], share)

    def _shared(self, head: int, walker: Walker, connected: np.ndarray) -> int:
        """Count the pairs of relation `head`, from the walker's starts, that are among the keys `connected`."""
        if not len(connected):
            return 0
        keys = self._keys(walker, walker.rows(self.graph.matrices[head]))
        place = np.searchsorted(connected, keys)
        place[place == len(connected)] = 0
        return int((connected[place] == keys).sum())

    def _keys(self, walker: Walker, ends: sparse.csr_array) -> np.ndarray:
        return self.graph.keys(np.repeat(walker.starts, np.diff(ends.indptr)), ends.indices)


class _Rule(NamedTuple):
    """Hold a counted rule; rules of a relation sort from best to worst."""

    relation: int
    unlikely: float  # 1 - confidence
    unsupported: int  # -support
    length: int
    body: Body
    covered: int
    share: float


def mine_rules(
    graph: SignedGraph,
    settings: Mapping[str, Value],
    seed: int,
    tell: TellStage,
    wanted: Callable[[Body], bool] = lambda body: True,
) -> Rules:
    """Return the rules of all relations, at most `max_rules` each; the same settings and seed give the same.

    Bodies that are not `wanted` are not counted.
    """
    heads = _heads_of_bodies(graph, settings, np.random.default_rng([seed, 0]), tell, wanted)
    return count_rules(graph, heads, settings, seed, tell)


def count_rules(
    graph: SignedGraph, heads: Mapping[Body, list[int]], settings: Mapping[str, Value], seed: int, tell: TellStage
) -> Rules:
    """Count bodies, each for the inverse-aware relations in `heads`; return those that the settings let through."""
    order = np.random.default_rng([seed, 1]).permutation(graph.num_entities)
    counter = BodyCounter(graph, order, int(settings["max_steps"]))
    laplace, least = float(settings["laplace"]), float(settings["min_confidence"])
    rules: list[_Rule] = []
    for done, (body, signed) in enumerate(sorted(heads.items())):
        if done % 100 == 0:
            tell("counting rules", done, len(heads))
        count = counter.count(body, signed)
        for head, support in zip(signed, count.support, strict=True):
            confidence = support / max(count.covered + laplace, 1)
            if support >= int(settings["min_support"]) and confidence >= least:
                forward = body if head % 2 == 0 else reverse(body)
                rules.append(_Rule(head >> 1, 1 - confidence, -support, len(body), forward, count.covered, count.share))
    best = _best(rules, int(settings["max_rules"]))
    if len(best) > MOST_RULES:
        raise ValueError(f"{len(best):,} rules were found, at most {MOST_RULES:,} can be kept: lower max_rules")
    return _as_arrays(best, laplace)


def _heads_of_bodies(
    graph: SignedGraph,
    settings: Mapping[str, Value],
    rng: np.random.Generator,
    tell: TellStage,
    wanted: Callable[[Body], bool],
) -> dict[Body, list[int]]:
    """Return the bodies to count, in one direction each, with the inverse-aware relations they may explain."""
    heads: dict[Body, set[int]] = {}
    for relation in range(graph.num_relations):
        tell("looking for paths", relation, graph.num_relations)
        bodies = candidate_bodies(
            graph,
            relation,
            max_length=int(settings["max_length"]),
            samples=int(settings["samples"]),
            paths=int(settings["paths"]),
            limit=int(settings["candidates"]),
            rng=rng,
        )
        for body, signed in (canonical(body, 2 * relation) for body in bodies if wanted(body)):
            heads.setdefault(body, set()).add(signed)
    return {body: sorted(signed) for body, signed in heads.items()}


def _best(rules: list[_Rule], limit: int) -> list[_Rule]:
    """Return the first `limit` rules of each relation."""
    kept: list[_Rule] = []
    number = 0
    for rule in sorted(rules):
        number = number + 1 if kept and kept[-1].relation == rule.relation else 1
        if number <= limit:
            kept.append(rule)
    return kept


def _as_arrays(rules: list[_Rule], laplace: float) -> Rules:
    support = np.array([-rule.unsupported for rule in rules], np.int64)
    covered = np.array([rule.covered for rule in rules], np.int64)
    return Rules(
        relation=np.array([rule.relation for rule in rules], np.int32),
        body=np.array([(*rule.body, *[-1] * (MAX_LENGTH - rule.length)) for rule in rules], np.int32).reshape(
            -1, MAX_LENGTH
        ),
        support=support,
        covered=covered,
        share=np.array([rule.share for rule in rules], np.float64),
        confidence=support / np.maximum(covered + laplace, 1),
    )
