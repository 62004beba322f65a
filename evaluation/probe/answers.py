"""Prepare the answers of a label set for PROBE: their ranks under every system, and their degrees."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from evaluation.measures.rank_table import Floats, Ints
from evaluation.measures.values import NO_ANSWER
from evaluation.probe.kernel import probe_surface, rank_scores
from evaluation.sections.relation_groups import ValuesUnder
from evaluation.sections.section import Cell, Context, cell
from evaluation.sections.wording import words
from evaluation.statistics.seeds import SeedSpread, spread_over_seeds
from pooling.graphs.kernels.degrees import entity_degree

# 41 x 41 points that hold those of the paper's table
SHARPNESSES = [i / 20 for i in range(41)]
ROBUSTNESSES = [i / 40 for i in range(41)]
PAPER_SHARPNESSES = (0.25, 0.5, 1.0, 2.0)
PAPER_ROBUSTNESSES = (0.0, 0.25, 0.5, 1.0)
MRR = (1.0, 0.0)  # the sharpness and robustness at which PROBE is MRR, but for an affine change


@dataclass(frozen=True)
class ProbeAnswers:
    """Answers of one label set: filtered ranks [systems, n], and the training triples of each answer, [n].

    `each` are those of every seed, where systems stand for families of them (`under.families`).
    """

    under: ValuesUnder
    ranks: Floats
    popularity: Ints
    entities: int
    each: "ProbeAnswers | None" = None

    @property
    def name(self) -> str:
        return self.under.labels.name

    @property
    def n(self) -> int:
        return self.ranks.shape[1]

    @cached_property
    def grid(self) -> Floats:
        """Return PROBE on the whole map, [systems, sharpnesses, robustnesses]."""
        return self.surface(SHARPNESSES, ROBUSTNESSES)

    def surface(self, sharpnesses: Sequence[float], robustnesses: Sequence[float]) -> Floats:
        return probe_surface(self.ranks, self.popularity, self.entities, sharpnesses, robustnesses)

    def spread(self, values: Callable[["ProbeAnswers"], Floats]) -> SeedSpread | None:
        """Return the spread over seeds of `values` [systems, …]; None where systems stand for no families."""
        return spread_over_seeds(values(self.each), self.under.families) if self.each else None

    def cell(self, value: float, digits: int = 12, **more: object) -> Cell:
        """Return a value as a cell, or why it is undefined."""
        return cell(round(float(value), digits), NO_ANSWER, **more)


def probe_answers(context: Context, key: str) -> ProbeAnswers:
    """Return the answers of a label set for PROBE; `key` is labels or against."""
    graph, chosen = context.table.graph, getattr(context, key)
    values = chosen.values(["micro_mr"])["micro_mr"]
    assert values.unit_row is not None  # micro: a unit is an answer
    entity = chosen.prepared.table.entity[values.unit_row]
    return ProbeAnswers(
        ValuesUnder(key, chosen, values, families=context.families),
        np.where(np.isnan(values.per_unit), np.inf, values.per_unit),
        entity_degree(graph.train, graph.num_entities)[entity],
        graph.num_entities,
        probe_answers(context.each, key) if context.is_folded else None,
    )


def missing_notes(context: Context, *sides: ProbeAnswers) -> list[str]:
    """Return a note on the systems that did not return all answers, for each label set."""
    notes = []
    for one in sides:
        missing = zip(context.systems, np.isinf(one.ranks).sum(axis=1).tolist(), strict=True)
        if named := [f"{name} {count:,}" for name, count in missing if count]:
            told = f"{one.name}: not returned, of {one.n:,} answers: {words(named)}."
            notes.append(f"{told} These score 0, as the last rank does.")
    return notes


def with_scores(answers: ProbeAnswers, sharpness: float) -> ValuesUnder:
    """Return the answers of a label set with the scores of their ranks as values."""
    under = answers.under
    scores = rank_scores(answers.ranks, answers.entities, sharpness)
    values = replace(under.values, per_unit=scores, higher_is_better=True, missing="")
    return replace(under, values=values, each=with_scores(answers.each, sharpness).values if answers.each else None)
