"""Say how many triples each pooling rule would give before anything is computed: counted in runs, else bounded."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Unpack

import numpy as np

from pooling.enums import PoolRule
from pooling.graphs.opening import open_graph
from pooling.models import Graph, Run, System
from pooling.pools.build import chosen_seeds
from pooling.pools.filtering import reasons
from pooling.pools.kernels.gathering import gather
from pooling.pools.seeds import Sample
from pooling.questions.kernel import answers_csr, distinct_questions
from pooling.runs.files import TopK, read_topk
from pooling.runs.score import check_depth
from pooling.scoring.rank_rows import question_keys
from pooling.training.train import get_systems

MOST_FINDINGS = 3_000_000  # are counted in two seconds; with more there are only bounds


class RuleSize(NamedTuple):
    """Hold the triples that a rule gives: a count if `is_exact`, else an upper bound, and `to_people` is None."""

    rule: PoolRule
    pooled: int
    to_people: int | None
    is_exact: bool


class Gap(NamedTuple):
    """Count the questions that a system's run does not hold, and those whose raw positions it does not know."""

    system: str
    unscored: int
    without_raw: int


class PoolSize(NamedTuple):
    """Hold the size of a pool by each rule; `too_many`: it would take long to count, so there are only bounds."""

    seeds: int
    questions: int
    rules: list[RuleSize]
    gaps: list[Gap]
    too_many: bool


def estimate_pool(
    graph: Graph,
    *,
    systems: Sequence[str],
    depth: int,
    filters: Sequence[str],
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
    questions = distinct_questions(seeds)
    keys = question_keys(questions, *arrays.shape)
    runs = Run.objects.select_related("system__graph").filter(system__in=chosen)
    held = {run.system_id: read_topk(run, keep=False) for run in runs}
    facts = np.concatenate([arrays.train, arrays.valid, arrays.test])
    free = arrays.num_entities - np.diff(answers_csr(questions, facts, *arrays.shape).indptr)
    known = [_known(system, held.get(system.pk), keys, free) for system in chosen]
    too_many = len(keys) * len(chosen) * depth > MOST_FINDINGS
    rules = []
    for rule in (PoolRule.FILTERED, PoolRule.RAW):
        covered = np.array([of[rule] for of in known])  # [systems, questions]
        unknown = np.full(len(keys), len(chosen)) if too_many else (~covered).sum(axis=0)  # systems, of each question
        bound = int(np.minimum(unknown * np.minimum(depth, free), free).sum())
        pooled, to_people = 0, 0
        if not too_many:
            topks = [held.get(system.pk) for system in chosen]
            raw = rule == PoolRule.RAW
            lists = [_candidates(topk, of, keys, depth, raw) for topk, of in zip(topks, covered, strict=True)]
            gathered = gather(questions, lists, depth)
            pooled = len(gathered.triples)
            to_people = int((reasons(gathered, seeds, arrays, filters) == "").sum())
        rules.append(RuleSize(rule, pooled + bound, None if bound else to_people, not bound))
    gaps = [
        Gap(system.name, int((~of[PoolRule.FILTERED]).sum()), int((of[PoolRule.FILTERED] & ~of[PoolRule.RAW]).sum()))
        for system, of in zip(chosen, known, strict=True)
    ]
    return PoolSize(len(seeds), len(keys), rules, [gap for gap in gaps if gap.unscored or gap.without_raw], too_many)


def _known(system: System, topk: TopK | None, keys: np.ndarray, free: np.ndarray) -> dict[PoolRule, np.ndarray]:
    """Tell by rule of which questions the run says all, bool[m] each: an imported one gives what it has."""
    if topk is None:
        return dict.fromkeys((PoolRule.FILTERED, PoolRule.RAW), free == 0)
    held = np.isin(keys, topk.keys) | (free == 0) | system.is_imported
    return {PoolRule.FILTERED: held, PoolRule.RAW: held & ~np.isin(keys, topk.lacks_raw)}


def _candidates(topk: TopK | None, covered: np.ndarray, keys: np.ndarray, depth: int, raw: bool) -> np.ndarray:
    """Return the candidates int32[m, K] that a run gives for the `covered` questions, bool[m]; -1 elsewhere."""
    if topk is None:
        return np.full((len(keys), 1), -1, dtype=np.int32)
    return np.where(covered[:, None], topk.raw_of(keys, depth) if raw else topk.of(keys), -1)
