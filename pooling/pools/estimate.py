"""Say how large a pool would be and what each choice changes, before anything is scored: counted, or bounded."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Unpack

import numpy as np

from pooling.enums import PoolRule
from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.graphs.opening import open_graph
from pooling.models import Graph, Run, System
from pooling.pools.build import chosen_seeds
from pooling.pools.filtering import found_by
from pooling.pools.kernels.filter_base import FilterInput
from pooling.pools.kernels.filters import FILTERS, GROUPS, apply_filters
from pooling.pools.kernels.gathering import gather
from pooling.pools.seeds import Sample
from pooling.questions.kernel import answers_csr, distinct_questions
from pooling.runs.files import TopK, read_topk
from pooling.runs.score import MOST_CANDIDATES, check_depth
from pooling.scoring.rank_rows import question_keys
from pooling.training.train import get_systems

MOST_FINDINGS = 1_500_000  # are counted in about a second; with more, a part of the seeds is counted
RULES = (PoolRule.FILTERED, PoolRule.RAW)


class Size(NamedTuple):
    """Count pooled triples and those to people, if `is_exact`; otherwise both are upper bounds."""

    pooled: int
    to_people: int
    is_exact: bool

    def times(self, factor: float) -> "Size":
        return Size(round(self.pooled * factor), round(self.to_people * factor), self.is_exact)


class RuleSize(NamedTuple):
    rule: PoolRule
    size: Size


class Change(NamedTuple):
    """Another choice: its kind (depth, without, filter, no-filter), what it is about, and how many triples more."""

    kind: str
    about: str
    size: Size
    more_to_people: int

    @property
    def is_unknown(self) -> bool:
        """Return whether the difference is not known: a filter takes triples, and an upper bound has none to count."""
        return self.kind in ("filter", "no-filter") and not self.size.is_exact


class Gap(NamedTuple):
    """Count the questions that a system's run does not hold, and those whose raw positions it does not know."""

    system: str
    unscored: int
    without_raw: int


class PoolSize(NamedTuple):
    """Hold the size of a pool by each rule, and the size with other choices by the chosen one.

    `is_sampled`, `changes_sampled`: counted for a part of the seeds, and multiplied.
    """

    seeds: int
    questions: int
    rules: list[RuleSize]
    changes: list[Change]
    gaps: list[Gap]
    is_sampled: bool
    changes_sampled: bool

    def of(self, rule: str) -> Size:
        """Return the size by one rule."""
        return next(row.size for row in self.rules if row.rule == rule)


def estimate_pool(
    graph: Graph,
    *,
    systems: Sequence[str],
    depth: int,
    filters: Sequence[str],
    rule: str = PoolRule.FILTERED,
    seeds_file: Path | None = None,
    **sample: Unpack[Sample],
) -> PoolSize:
    """Return what create_pool with these arguments would give by each rule. PoolError as there; nothing is scored.

    What the runs hold already is counted. Of a question that a system has not been asked, or whose raw positions its
    run does not know, at most `depth` candidates come, and no more than the entities that do not answer it.
    """
    arrays = open_graph(graph)
    chosen = get_systems(graph, systems)
    check_depth(depth, chosen)
    seeds, _ = chosen_seeds(arrays, seeds_file, sample)
    runs = Run.objects.select_related("system__graph").filter(system__in=chosen)
    held = {run.system_id: read_topk(run, keep=False) for run in runs}
    whole = _Lists(arrays, seeds, chosen, [held.get(system.pk) for system in chosen])
    every = range(len(chosen))
    part = whole.part(len(every) * depth)
    sizes = [RuleSize(one, part.size(one, every, depth, filters).times(len(seeds) / len(part.seeds))) for one in RULES]
    # each choice below is gathered anew: without each system, at half and at double the depth
    few = part.part(len(every) * depth * (len(every) + 3))
    changes = _changes(few, PoolRule(rule), chosen, depth, list(filters), len(seeds) / len(few.seeds))
    sampled = len(part.seeds) < len(seeds), len(few.seeds) < len(seeds)
    return PoolSize(len(seeds), len(whole.keys), sizes, changes, whole.gaps(), *sampled)


def _changes(
    lists: "_Lists", rule: PoolRule, systems: Sequence[System], depth: int, filters: list[str], factor: float
) -> list[Change]:
    """Return the sizes with another depth, without each system, and with one filter more or less."""
    every = list(range(len(systems)))
    base = lists.size(rule, every, depth, filters)

    def change(kind: str, about: str, use: Sequence[int], depth: int, filters: Sequence[str]) -> Change:
        size = lists.size(rule, use, depth, filters)
        return Change(kind, about, size.times(factor), round((size.to_people - base.to_people) * factor))

    depths = sorted({max(1, depth // 2), min(2 * depth, MOST_CANDIDATES)} - {depth})
    found = [change("depth", str(other), every, other, filters) for other in depths]
    if len(every) > 1:
        found += [
            change("without", system.name, [s for s in every if s != i], depth, filters)
            for i, system in enumerate(systems)
        ]
    for name in FILTERS:
        kind = "no-filter" if name in filters else "filter"
        others = [other for other in filters if other != name] if name in filters else [*filters, name]
        found.append(change(kind, FILTERS[name].label, every, depth, others))
    return found


class _Lists:
    """The stored lists of some systems for the questions of some seeds, int32[n, 3]."""

    def __init__(
        self, arrays: GraphArrays, seeds: np.ndarray, systems: Sequence[System], held: Sequence[TopK | None]
    ) -> None:
        self.arrays, self.seeds, self.systems, self.held = arrays, seeds, systems, held
        self.questions = distinct_questions(seeds)
        self.keys = question_keys(self.questions, *arrays.shape)
        facts = np.concatenate([arrays.train, arrays.valid, arrays.test])
        answers = answers_csr(self.questions, facts, *arrays.shape)
        self.free = arrays.num_entities - np.diff(answers.indptr)  # entities that do not answer a question
        self.known = [self._known(system, topk) for system, topk in zip(systems, held, strict=True)]
        self._found: dict[tuple[PoolRule, tuple[int, ...], int], FilterInput] = {}

    def part(self, findings: int) -> "_Lists":
        """Return these lists, or those of a part of the seeds that are quick to count at `findings` a question."""
        most = MOST_FINDINGS // max(1, findings)
        if len(self.keys) <= most:
            return self
        count = max(1, most * len(self.seeds) // len(self.keys))
        drawn = np.random.default_rng(0).choice(len(self.seeds), count, replace=False)
        return _Lists(self.arrays, self.seeds[np.sort(drawn)], self.systems, self.held)

    def _known(self, system: System, topk: TopK | None) -> dict[PoolRule, np.ndarray]:
        """Tell by rule of which questions the run says all, bool[m] each: an imported one gives what it has."""
        if topk is None:
            return dict.fromkeys(RULES, self.free == 0)
        held = np.isin(self.keys, topk.keys) | (self.free == 0) | system.is_imported
        return {PoolRule.FILTERED: held, PoolRule.RAW: held & ~np.isin(self.keys, topk.lacks_raw)}

    def size(self, rule: PoolRule, use: Sequence[int], depth: int, filters: Sequence[str]) -> Size:
        """Return the size of the pool of the systems `use` (their index)."""
        unknown = np.sum([~self.known[s][rule] for s in use], axis=0)  # systems, of each question
        bound = np.minimum(unknown * np.minimum(depth, self.free), self.free)
        found = self._gathered(rule, tuple(use), depth)
        people = int((apply_filters(found, filters) == "").sum())
        askable = ~self._filtered(filters)
        return Size(len(found.triples) + int(bound.sum()), people + int(bound[askable].sum()), not bound.any())

    def _gathered(self, rule: PoolRule, use: tuple[int, ...], depth: int) -> FilterInput:
        """Return what the lists give for the questions that they know."""
        key = (rule, use, depth)
        if key not in self._found:
            lists = [self._candidates(s, rule, depth) for s in use]
            self._found[key] = found_by(gather(self.questions, lists, depth), self.seeds, self.arrays)
        return self._found[key]

    def _candidates(self, system: int, rule: PoolRule, depth: int) -> np.ndarray:
        """Return the candidates int32[m, K] of the questions that a system's run knows; -1 elsewhere."""
        topk, known = self.held[system], self.known[system][rule]
        if topk is None:
            return np.full((len(self.keys), 1), -1, dtype=np.int32)
        listed = topk.raw_of(self.keys, depth) if rule == PoolRule.RAW else topk.of(self.keys)
        return np.where(known[:, None], listed, -1)

    def _filtered(self, filters: Sequence[str]) -> np.ndarray:
        """Tell which questions give nothing to people, bool[m]: their relation's category takes every candidate."""
        side, zero = self.questions.side, np.zeros(len(self.keys), dtype=np.int32)
        triples = np.stack([zero, self.questions.relation.astype(np.int32), zero], axis=1)
        graph = self.arrays
        of = FilterInput(
            triples, side == 0, side == 1, graph.categories, graph.types, graph.domains, graph.ranges, graph.train
        )
        return apply_filters(of, [name for name in filters if name in GROUPS["category"]]) != ""

    def gaps(self) -> list[Gap]:
        """Return the systems whose runs lack some questions."""
        found = []
        for system, of in zip(self.systems, self.known, strict=True):
            lacks_raw = of[PoolRule.FILTERED] & ~of[PoolRule.RAW]
            found.append(Gap(system.name, int((~of[PoolRule.FILTERED]).sum()), int(lacks_raw.sum())))
        return [gap for gap in found if gap.unscored or gap.without_raw]
