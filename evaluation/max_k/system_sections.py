"""Build the sections that compare systems at k, with usual measures and with the limits of an oracle."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from evaluation.labels.label_sets import LabelSet
from evaluation.max_k.kernel import Goodness
from evaluation.max_k.performance import KS, PROTOCOLS, Performance, RunReader, limits, performance
from evaluation.max_k.stored_runs import WHICH, RightAnswers, StoredRun, Which
from evaluation.measures.registry import parse_measure
from evaluation.sections.builders import chart, series_of
from evaluation.sections.section import (
    Cell,
    Chart,
    Column,
    Context,
    Json,
    Section,
    Table,
    cell,
    label_caption,
    seed_columns,
)
from evaluation.sections.wording import best_of, system_words
from evaluation.statistics.seeds import SeedSpread, spread_over_seeds
from pooling.systems.shown_names import shown_name

SHOWN = (1, 5, 10, 50, 100)  # ks of the tables
CONVENTIONAL = ("micro_hits@10", "micro_mr", "micro_mrr")
SAID = {
    "filtered": "Filtered: answers of train and valid count as wrong",
    "raw": "Raw: answers of train and valid count as right",
}
PARTS = {"precision": "P", "recall": "R", "f1": "F1"}
LIMITS = ("top-k limit", "max-k limit")
SYSTEM = Column("system", "System", "system")


@dataclass(frozen=True)
class RunsUnderLabels:
    """The systems that can be shown, by name in the order of the page, under one label set."""

    key: str  # labels or against
    labels: LabelSet
    right: RightAnswers
    stored: Mapping[str, StoredRun]
    of_seeds: Mapping[str, StoredRun]  # those, and the other seeds of their families

    @property
    def n(self) -> int:
        return len(self.right.keys)

    @cached_property
    def _kept(self) -> dict[tuple[str, Which], Performance]:
        return {}

    def read(self, system: str, which: Which = "filtered") -> RunReader:
        return RunReader(self.of_seeds[system], self.right, which)

    def performance(self, system: str, which: Which) -> Performance:
        if (system, which) not in self._kept:
            self._kept[system, which] = performance(system, self.read(system, which))
        return self._kept[system, which]

    def found(self, which: Which) -> list[Performance]:
        return [self.performance(system, which) for system in self.stored]

    def caption(self, context: Context) -> str:
        return f"{label_caption(self.labels, context.settings)} n = {self.n:,} questions."


def over_seeds(context: Context, runs: RunsUnderLabels, values: Callable[[str], ArrayLike]) -> SeedSpread | None:
    """Return the spread over seeds of a table with one or more rows for each shown system, [rows, columns].

    `values` of a system: [its rows, columns]. A family has none where one of its seeds lacks distributions.
    """
    if not context.is_folded:
        return None
    found = {name: np.asarray(values(name), dtype=np.float64) for name in runs.of_seeds}
    rows, columns = next(iter(found.values())).shape
    every = [found.get(name, np.full((rows, columns), np.nan)) for name in context.each.systems]
    spread = spread_over_seeds(np.stack(every), context.families)
    shown = [context.systems.index(name) for name in runs.stored]
    mean, sd = (part[shown].reshape(-1, columns) for part in (spread.mean, spread.sd))
    return SeedSpread(mean, sd, np.repeat(spread.seeds[shown], rows))


def greedy_f1(found: Performance, k: int) -> float:
    return value_at(found.protocols["Greedy"], "f1", k)


def best_system(runs: RunsUnderLabels, which: Which, k: int) -> Performance:
    """Return the system with the highest F1@k under Greedy, the first of equal ones."""
    return max(runs.found(which), key=lambda one: greedy_f1(one, k))


def value_at(found: Goodness, part: str, k: int) -> float:
    return float(np.asarray(getattr(found, part))[k - 1])


def conventional(context: Context, runs: RunsUnderLabels) -> Section:
    """Show usual measures beside precision, recall and F1: Table 4 of the paper."""
    k = context.settings.k
    of = "" if runs.labels.key == "full-test" else f": {runs.labels.name}"  # a title says so of full test
    return Section(
        f"usual-{runs.key}",
        f"Usual measures and max-k{of}",
        "Mean rank, MRR and Hits@10 look at one answer at a time. Max-k asks what a system would return if it may"
        f" return at most {k} entities, and how much of that is right.",
        f"{runs.caption(context)} P, R and F1 are filtered, at k = {k}, means over the questions.",
        [_conventional_table(context, runs, k)],
        finding=_who_leads(context, runs, k),
    )


def _conventional_table(context: Context, runs: RunsUnderLabels, k: int) -> Table:
    measures = [parse_measure(name) for name in CONVENTIONAL]
    values = getattr(context.each, runs.key).values(CONVENTIONAL, context.settings.assumed_is_judged)
    places = {name: i for i, name in enumerate(context.each.systems)}
    pairs = [(name, part) for name in PROTOCOLS for part in PARTS]

    def of(system: str) -> list[float]:
        one = runs.performance(system, "filtered")
        usual = [float(values[measure.name].mean()[places[system]]) for measure in measures]
        return [*usual, *(value_at(one.protocols[name], part, k) for name, part in pairs)]

    columns = [
        SYSTEM,
        *(Column(measure.name, measure.label, "value", measure.description) for measure in measures),
        *(Column(f"{name.lower()}_{part}", f"{name} {PARTS[part]}@{k}") for name, part in pairs),
    ]
    rows = list[list[Cell]]()
    for system in runs.stored:
        why = [values[measure.name].reasons()[places[system]] for measure in measures]
        rows.append([system, *map(cell, of(system), why + [""] * len(pairs))])
    found = np.array([of(system) for system in runs.stored])
    best = [(row, i + 1) for i, measure in enumerate(measures) for row in best_of(found[:, i], measure)]
    best += _best(found[:, len(measures) :], 1 + len(measures))
    title = f"Usual measures and max-k at {k} under {runs.labels.name}"
    table = Table(f"usual-{runs.key}", title, columns, rows, best)
    return seed_columns(table, range(1, len(columns)), over_seeds(context, runs, lambda system: [of(system)]))


def _best(found: np.ndarray, first: int) -> list[tuple[int, int]]:
    """Return the highest cells of every column of [rows, columns] whose values differ; columns count from `first`."""
    most = found.max(axis=0)
    return [(row, first + column) for row, column in np.argwhere((found == most) & (found.min(axis=0) < most)).tolist()]


def _who_leads(context: Context, runs: RunsUnderLabels, k: int) -> str:
    values = runs.labels.values(["micro_mrr"], context.settings.assumed_is_judged)["micro_mrr"].mean()
    by_rank = max(runs.stored, key=lambda name: np.nan_to_num(values[context.systems.index(name)], nan=-1.0))
    by_max = best_system(runs, "filtered", k)
    told = "the same system leads" if by_max.system == by_rank else f"{shown_name(by_rank)} leads"
    return (
        f"Under {runs.labels.name} {shown_name(by_max.system)} has the highest filtered F1@{k} under Greedy"
        f" ({greedy_f1(by_max, k):.3f}); by Micro MRR {told}."
    )


def models(context: Context, sides: Sequence[RunsUnderLabels]) -> Section:
    """Show P, R and F1 of every system and protocol: Figure 4 of the paper."""
    runs, which = sides[0], which_of(context)
    top, most = limits(runs.right.of(which))
    series = [
        _by_k(one.system, one.protocols["Greedy"].f1, system=context.systems.index(one.system))
        for one in runs.found(which)
    ]
    return Section(
        "models",
        "F1 of every system and the limits",
        "F1 of what Greedy returns when at most k entities are allowed. An oracle that knows the answers and must"
        " return k entities is at the top-k limit; one that may return fewer is at the max-k limit.",
        f"{runs.caption(context)} {SAID[which]}. Greedy, α of each system chosen on validation.",
        [_models_table(context, one, each) for one in sides for each in WHICH],
        _k_chart(f"F1@k of every system under Greedy, {which}", series, (top.f1, most.f1), "F1@k"),
        _against_limits(runs, which, context.settings.k),
    )


def which_of(context: Context) -> Which:
    return "filtered" if context.settings.answers == "filtered" else "raw"


def _models_table(context: Context, runs: RunsUnderLabels, which: Which) -> Table:
    shown = [(part, k) for k in SHOWN for part in PARTS]

    def of(found: Goodness) -> list[float]:
        return [value_at(found, part, k) for part, k in shown]

    def rows_of(system: str) -> list[list[float]]:
        return [of(found) for found in runs.performance(system, which).protocols.values()]

    rows: list[list[Cell]] = [
        [system, protocol, *values]
        for system in runs.stored
        for protocol, values in zip(PROTOCOLS, rows_of(system), strict=True)
    ]
    columns = [SYSTEM, Column("protocol", "Protocol", "text")]
    columns += [Column(f"{part}_{k}", f"{PARTS[part]}@{k}") for part, k in shown]
    best = _best(np.array([row[2:] for row in rows], dtype=np.float64), 2)
    table = Table(f"models-{runs.key}-{which}", f"P, R and F1 under {runs.labels.name}, {which}", columns, rows, best)
    table = seed_columns(table, range(2, len(columns)), over_seeds(context, runs, rows_of))
    bounds = zip(LIMITS, limits(runs.right.of(which)), strict=True)
    limit: list[list[Cell]] = [["limit", name, *of(bound)] for name, bound in bounds]
    return replace(table, rows=[*table.rows, *limit])


def _against_limits(runs: RunsUnderLabels, which: Which, k: int) -> str:
    top, most = (value_at(bound, "f1", k) for bound in limits(runs.right.of(which)))
    one = best_system(runs, which, k)
    above = [found.system for found in runs.found(which) if greedy_f1(found, k) > top]
    told = f"No system is above what an oracle reaches that must return {k}."
    if above:
        told = f"Greedy of {system_words(above)} is above what any system can reach that must return {k}."
    return (
        f"At k = {k} the limits of F1 are {top:.3f} (exactly k) and {most:.3f} (at most k);"
        f" the best system has {greedy_f1(one, k):.3f} ({shown_name(one.system)}). {told}"
    )


def _by_k(name: str, values: object, **look: object) -> Json:
    return series_of(name, KS.tolist(), np.asarray(values), plain=True, **look)


def _k_chart(label: str, series: Sequence[Json], bounds: Sequence[object], y: str) -> Chart:
    dashed = zip(LIMITS, bounds, ("dot", "dash"), strict=True)
    limit = [_by_k(name, bound, quiet=True, dash=dash) for name, bound, dash in dashed]
    return chart("lines", label, [*series, *limit], x="k", y=y, yrange=[0, 1.02])


TEXTS = {
    "precision": "The share of what is returned that is right. TopK returns the k best entities, Sampling the distinct"
    " ones of k draws from the softmax of the scores, Greedy the first ones, as many as the draws would leave.",
    "recall": "The share of the right answers that is returned. The table has the exact mean of Sampling beside what"
    " its draws gave.",
    "f1": "The harmonic mean of both, of each question. A system that must return k entities is bounded by the top-k"
    " limit; one that may return fewer, by the max-k limit.",
}


def protocols(context: Context, runs: RunsUnderLabels, system: str) -> Iterator[Section]:
    """Show P, R and F1 of the protocols of one system by k: Figure 3 of the paper."""
    which = which_of(context)
    one = runs.performance(system, which)
    bounds, k = limits(runs.right.of(which)), context.settings.k
    for part, text in TEXTS.items():
        series = [_by_k(name, getattr(one.protocols[name], part), measure=i) for i, name in enumerate(PROTOCOLS)]
        limit = [getattr(bound, part) for bound in bounds]
        title = f"{'F1' if part == 'f1' else part.capitalize()} of the protocols: {shown_name(system)}"
        yield Section(
            f"protocol-{part}",
            title,
            text,
            f"{runs.caption(context)} {SAID[which]}. α = {one.alpha:g}.",
            [_protocol_table(one, part, limit)],
            _k_chart(f"{title}, by k", series, limit, f"{PARTS[part]}@k"),
            _of_protocols(one, part, bounds, k),
        )


def _of_protocols(one: Performance, part: str, bounds: Sequence[Goodness], k: int) -> str:
    told = ", ".join(f"{name} {value_at(one.protocols[name], part, k):.3f}" for name in PROTOCOLS)
    top, most = (value_at(bound, part, k) for bound in bounds)
    return (
        f"{PARTS[part]}@{k} of {shown_name(one.system)}: {told}; the limits are {top:.3f} (exactly k) and {most:.3f}"
        " (at most k)."
    )


def _protocol_table(one: Performance, part: str, limit: Sequence[object]) -> Table:
    named = [(name, np.asarray(getattr(one.protocols[name], part))) for name in PROTOCOLS]
    if part == "recall":
        named.append(("Sampling, expected", one.expected_recall))
    named += [(name, np.asarray(bound)) for name, bound in zip(LIMITS, limit, strict=True)]
    columns = [Column("k", "k", "count"), *(Column(name, name) for name, _ in named)]
    rows: list[list[Cell]] = [[int(k), *(float(values[k - 1]) for _, values in named)] for k in KS]
    return Table(f"protocol-{part}", f"{PARTS[part]}@k of {shown_name(one.system)}", columns, rows, in_files=True)
