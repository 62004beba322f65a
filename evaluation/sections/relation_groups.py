"""Show one measure by side and relation category, and by popularity of the answer, under two label sets."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.labels.label_sets import LabelSet
from evaluation.measures.rank_table import Floats, Ints
from evaluation.measures.registry import Measure
from evaluation.measures.values import GroupMeans, Values
from evaluation.sections.section import Cell, Chart, Column, Context, Section, Table, cell, label_caption, numbers
from evaluation.sections.wording import (
    beside,
    best_of,
    compared,
    group_cells,
    most_often,
    named_ticks,
    set_notes,
    signed,
    steps,
    undefined_notes,
    why_no_tau,
)
from evaluation.statistics.bootstrap import Families
from evaluation.statistics.correlation import tau_of_means
from evaluation.statistics.groups import Groups, by_popularity, by_side_and_category, group_means
from evaluation.statistics.seeds import SeedSpread, spread_over_seeds
from pooling.enums import Category
from pooling.graphs.kernels.degrees import BAND_EDGES, entity_degree
from pooling.systems.shown_names import shown_name

NO_CATEGORY = "not in train"  # a relation without a training triple has no category


@dataclass(frozen=True)
class ValuesUnder:
    """Hold one of the two label sets, with the values of the measure under it.

    `each` are the values of every seed, where systems stand for `families` of them.
    """

    key: str  # labels or against
    labels: LabelSet
    values: Values
    each: Values | None = None
    families: Families = ()

    def means(self, groups: Groups) -> GroupMeans:
        return group_means(self.values, groups)

    def spread(self, groups: Groups) -> SeedSpread | None:
        """Return the spread of `means` over seeds; None where systems stand for no families."""
        return spread_over_seeds(group_means(self.each, groups).mean, self.families) if self.each else None


def values_under(context: Context, key: str, name: str) -> ValuesUnder:
    """Return the values of a measure under `labels` or `against`, of each seed too where families are shown."""

    def found(one: Context) -> Values:
        chosen: LabelSet = getattr(one, key)
        return chosen.values([name], one.settings.assumed_is_judged)[name]

    each = found(context.each) if context.is_folded else None
    return ValuesUnder(key, getattr(context, key), found(context), each, context.families)


def caption(context: Context, *sides: ValuesUnder) -> str:
    captions = [label_caption(side.labels, context.settings) for side in sides]
    counts = " and ".join(f"{side.values.n:,}" for side in sides)
    return f"{' '.join(captions)} n = {counts} {sides[0].values.unit}s."


# -- by category ------------------------------------------------------------------------------------------------


def categories(context: Context) -> tuple[Ints, list[str]]:
    """Return the number of each relation's category, [relations], and the names; relations not in train come last."""
    names = [*Category.values, *([NO_CATEGORY] if "" in context.table.graph.categories else [])]
    number_of = {name: i for i, name in enumerate(names)} | {"": len(Category.values)}
    return np.array([number_of[name] for name in context.table.graph.categories]), names


def by_categories(context: Context, measure: Measure, old: ValuesUnder, new: ValuesUnder) -> list[Section]:
    groups = by_side_and_category(context.table.ranks, *categories(context))
    before, after = old.means(groups), new.means(groups)
    every = (old.values.mean(), new.values.mean())
    rows = [
        _tau_row(name, measure, before.mean[:, g], after.mean[:, g], int(before.count[g]), int(after.count[g]))
        for g, name in enumerate(groups.names)
    ]
    total = _tau_row("all", measure, *every, old.values.n, new.values.n)
    unit = f"{new.values.unit}s"
    title = f"{measure.label} by side and relation category"
    return [
        Section(
            "category-tau",
            f"Agreement by side and relation category, by {measure.label}",
            f"Tau-b between the orders of the systems under {old.labels.name} and {new.labels.name}, for the questions"
            " of one side and of relations of one category (x-y: x heads for a tail, y tails for a head; N is more than"
            f" 1.5 on average in train). {steps(len(context.systems))}",
            caption(context, old, new),
            [
                Table(
                    "category-tau",
                    "Kendall's tau-b by side and relation category",
                    [
                        Column("group", "Side and category", "text"),
                        Column("against_n", f"{unit.capitalize()}, {old.labels.name}", "count"),
                        Column("labels_n", f"{unit.capitalize()}, {new.labels.name}", "count"),
                        Column("systems", "Systems", "count", "Systems with a value under both label sets."),
                        Column("tau", "Tau-b", "tau"),
                    ],
                    [*rows, total],
                )
            ],
            finding=_least_agreement(groups.names, rows),
            notes=[
                *set_notes(old.labels, new.labels),
                *(
                    note
                    for side in (old, new)
                    for note in undefined_notes(side.labels, {measure.name: side.values}, [measure], context.systems)
                ),
            ],
        ),
        _by_group(
            context,
            measure,
            "category",
            title,
            "Side and category",
            groups,
            old,
            new,
            "The mean of each system over the questions of one side and of relations of one category. In the tables the"
            " best of a row is bold. Groups with few answers say little.",
        ),
    ]


def _tau_row(name: str, measure: Measure, one: Floats, other: Floats, n: int, of: int) -> list[Cell]:
    systems = compared(one, other)
    reason = "no unit under one of the label sets" if not (n and of) else why_no_tau(systems)
    return [name, n, of, systems, cell(tau_of_means(one, other, measure.higher_is_better), reason)]


def _least_agreement(names: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    found = [(row[4], name) for name, row in zip(names, rows, strict=True) if isinstance(row[4], float)]
    if len(found) < 2:
        return ""
    low, high = min(found), max(found)
    if low[0] == high[0]:
        return f"Tau-b is {signed(low[0])} in every group where it is defined."
    return (
        f"The orders agree least on {low[1]} questions (tau-b {signed(low[0])}),"
        f" most on {high[1]} questions ({signed(high[0])})."
    )


# -- values by group --------------------------------------------------------------------------------------------


def _by_group(
    context: Context,
    measure: Measure,
    key: str,
    title: str,
    what: str,
    groups: Groups,
    old: ValuesUnder,
    new: ValuesUnder,
    text: str,
    groups_before: Groups | None = None,
) -> Section:
    """A table for each label set, systems in columns; the chart has the second label set. `groups_before`: the
    groups under the first, where they depend on labels."""
    sides = ((new, groups), (old, groups_before or groups))
    found = new.means(groups)
    return Section(
        key,
        title,
        text,
        f"{caption(context, new, old)} The chart shows {new.labels.name}.",
        [group_table(context, measure, f"{key}-{side.key}", what, side, of) for side, of in sides],
        _group_chart(context, measure, what, found, groups.names),
        _best_by_group(context, measure, found, new.labels.name),
    )


def _best_by_group(context: Context, measure: Measure, found: GroupMeans, name: str) -> str:
    used = np.flatnonzero(found.count).tolist()
    leaders = [i for g in used for i in best_of(found.mean[:, g], measure)]
    wins = most_often({system: leaders.count(i) for i, system in enumerate(context.systems)})
    return f"Of the {len(used)} groups with answers under {name}, {wins}." if wins else ""


def group_table(
    context: Context, measure: Measure, key: str, what: str, side: ValuesUnder, groups: Groups, used_only: bool = False
) -> Table:
    """Build a table with systems in columns; `used_only` drops the groups that have no unit."""
    found = side.means(groups)
    cells = group_cells(side.values, groups, found, side.values.unit, side.spread(groups))
    shown = [g for g in range(len(groups.names)) if found.count[g] or not used_only]
    rows: list[list[Cell]] = [
        [groups.names[g], int(found.count[g]), *(of_system[g] for of_system in cells)] for g in shown
    ]
    best = [(row, i + 2) for row, g in enumerate(shown) for i in best_of(found.mean[:, g], measure)]
    columns = [
        Column("group", what, "text"),
        Column("n", f"{side.values.unit.capitalize()}s", "count"),
        *(Column(system, shown_name(system), "value") for system in context.systems),
    ]
    return Table(key, f"{measure.label} under {side.labels.name}", columns, rows, best)


def _group_chart(context: Context, measure: Measure, what: str, found: GroupMeans, names: Sequence[str]) -> Chart:
    used = np.flatnonzero(found.count).tolist()
    series = [
        {
            "system": i,
            "name": system,
            "x": [at + beside(i, len(context.systems)) for at in range(len(used))],
            "y": numbers(found.mean[i, used]),
            "hover": [f"{system}, {names[g]}: {_written(found.mean[i, g])} (n = {found.count[g]:,})" for g in used],
        }
        for i, system in enumerate(context.systems)
    ]
    return Chart(
        "points",
        f"{measure.label} of every system, {what.lower()}",
        {"series": series, "y": measure.label, "xaxis": named_ticks([names[g] for g in used], divided=True)},
    )


def _written(value: float) -> str:
    return signed(value, 1 if abs(value) >= 10 else 4) if np.isfinite(value) else "undefined"


def by_bands(context: Context, measure: Measure, old: ValuesUnder, new: ValuesUnder) -> Section:
    graph = context.table.graph
    degree = entity_degree(graph.train, graph.num_entities)
    groups, before = (by_popularity(side.labels.prepared.table, side.labels.state, degree) for side in (new, old))
    edges = ", ".join(str(edge) for edge in BAND_EDGES)
    whose = (
        "Each answer has its own band."
        if new.values.unit == "answer"
        else "A question has the band of its most popular answer, the same for every system."
    )
    return _by_group(
        context,
        measure,
        "popularity",
        f"{measure.label} by popularity of the answer",
        "Degree of the answer",
        groups,
        old,
        new,
        "Popularity is the degree of the answer: the training triples in which it appears, in bands that end at"
        f" {edges}. {whose}",
        before,
    )
