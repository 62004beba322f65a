"""Build the page Measures: every system by every measure under two label sets, and what changes between them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from evaluation.labels.label_sets import LabelSet
from evaluation.measures.rank_table import Floats
from evaluation.measures.registry import Measure
from evaluation.measures.values import Values
from evaluation.sections.builders import chart, series_of
from evaluation.sections.section import (
    Analysis,
    Cell,
    Chart,
    Column,
    Context,
    Part,
    Section,
    Table,
    cell,
    label_caption,
    seed_cells,
)
from evaluation.sections.wording import (
    best_of,
    both_captions,
    group_cells,
    measure_column,
    most_often,
    named_ticks,
    places_on_both,
    set_notes,
    system_words,
    undefined_notes,
    words,
)
from evaluation.statistics.correlation import merit
from evaluation.statistics.groups import SIDES, by_side, group_means
from evaluation.statistics.seeds import SeedSpread
from pooling.systems.shown_names import shown_name

ByName = Mapping[str, Values]  # of measures
NAMED = 6  # measures that a sentence lists by name
UNITS = "n counts answers for micro measures and questions for macro and list measures."
SYSTEM = Column("system", "System", "system")


def all_values(context: Context) -> list[Section]:
    names, assumed = context.settings.measures, context.settings.assumed_is_judged
    found, before = context.labels.values(names, assumed), context.against.values(names, assumed)
    new, old = (context.spread(partial(_means, side=side)) for side in ("labels", "against"))
    sections = [
        _under(context, "labels", context.labels, found, new),
        _change(context, before, found),
        _under(context, "against", context.against, before, old),
        _by_side(context, found),
    ]
    first = context.measures[0]
    order = np.argsort(-merit(found[first.name].mean(), first.higher_is_better), kind="stable").tolist()
    text = (
        f" In all tables of this page, systems are in the order by {first.label} under {context.labels.name}. The"
        " values are means without intervals: Discriminative power tests which systems differ, and the results overview"
        " gives the range of each place."
    )
    sections[0] = replace(sections[0], text=sections[0].text + text)
    return [replace(section, tables=[_in_order(table, order) for table in section.tables]) for section in sections]


def _in_order(table: Table, order: Sequence[int]) -> Table:
    """Return a table whose rows are systems with its rows in this order."""
    best = [(order.index(row), column) for row, column in table.best]
    return replace(table, rows=[table.rows[i] for i in order], best=best)


def _means(context: Context, side: str) -> Floats:
    """Return the mean of every measure under `labels` or `against`, [systems, measures]."""
    chosen: LabelSet = getattr(context, side)
    found = chosen.values(context.settings.measures, context.settings.assumed_is_judged)
    return np.stack([found[measure.name].mean() for measure in context.measures], axis=1)


def _under(context: Context, key: str, chosen: LabelSet, found: ByName, spread: SeedSpread | None) -> Section:
    title = f"Under {chosen.name}"
    cells: list[list[Cell]] = [list(context.systems)]  # [columns][systems]
    best: list[tuple[int, int]] = []
    for column, measure in enumerate(context.measures, 1):
        values = found[measure.name]
        cells.append(seed_cells([*map(cell, values.mean(), values.reasons())], spread and spread.at(column - 1)))
        best += [(row, column) for row in best_of(values.mean(), measure)]
    columns = [SYSTEM, *map(measure_column, context.measures)]
    foot: list[Cell] = ["n", *(found[measure.name].n for measure in context.measures)]
    return Section(
        key,
        title,
        "The value of every system by every measure; the best of a column is bold. The row below says how many answers"
        " or questions a mean is taken over.",
        f"{label_caption(chosen, context.settings)} {UNITS}",
        [Table(key, title, columns, [list(row) for row in zip(*cells, strict=True)], best, foot)],
        finding=_leaders(context, chosen, found) if key == "labels" else "",
        notes=[*set_notes(chosen), *undefined_notes(chosen, found, context.measures, context.systems)],
    )


def _leaders(context: Context, chosen: LabelSet, found: ByName) -> str:
    """Say which system is best by how many of the measures."""
    wins: dict[str, list[str]] = {}
    for measure in context.measures:
        for i in best_of(found[measure.name].mean(), measure):
            wins.setdefault(shown_name(context.systems[i]), []).append(measure.label)
    if not wins:
        return ""
    most = max(wins, key=lambda system: len(wins[system]))
    measures = len(context.measures)
    if len(wins) == 1 and len(wins[most]) == measures:
        by = f"all {measures} measures" if measures > 1 else "the measure"
        return f"{most} has the best mean by {by} under {chosen.name}. Discriminative power says whether it is sure."
    if measures > NAMED:
        counts = {system: len(labels) for system, labels in wins.items()}
        return f"Of the {measures} measures under {chosen.name}, {most_often(counts)}."
    parts = [f"{system} by {words(labels)}" for system, labels in sorted(wins.items(), key=lambda w: -len(w[1]))]
    return f"Best under {chosen.name}: {'; '.join(parts)}."


def _change(context: Context, before: ByName, found: ByName) -> Section:
    """Build the section of changes from `against` to `labels`: values and places."""
    title = f"From {context.against.name} to {context.labels.name}"
    rows: list[list[Cell]] = [[system] for system in context.systems]
    movers = {}
    spread = context.spread(lambda each: _means(each, "labels") - _means(each, "against"))
    for column, measure in enumerate(context.measures):
        old, new = before[measure.name], found[measure.name]
        places = zip(*places_on_both(old.mean(), new.mean(), measure.higher_is_better), strict=True)
        reasons = [one or other for one, other in zip(new.reasons(), old.reasons(), strict=True)]
        moves = [a - b if a is not None and b is not None else None for a, b in places]
        changes = zip((new.mean() - old.mean()).tolist(), reasons, moves, strict=True)
        cells = seed_cells([cell(*one, moved=moved) for *one, moved in changes], spread and spread.at(column))
        for row, own in zip(rows, cells, strict=True):
            row.append(own)
        movers[measure.name] = sum(bool(moved) for moved in moves)
    columns = [SYSTEM, *(measure_column(m, kind="change") for m in context.measures)]
    foot: list[Cell] = ["moved", *movers.values()]
    first, ends = context.measures[0].name, [context.against.name, context.labels.name]
    values = np.stack([before[first].mean(), found[first].mean()], axis=1)
    label = f"{context.measures[0].label} of every system, from {ends[0]} to {ends[1]}"
    same = context.labels.key == context.against.key
    return Section(
        "change",
        title,
        "How the value of each system changes when the second label set takes the place of the first, and, behind the"
        " arrow, how many places the system gains (▲) or loses (▼) by it. The chart shows the values by the first"
        " measure.",
        both_captions(context),
        [Table("change", title, columns, rows, foot=foot)],
        _two_ends(context, label, values, ends),
        "Both are the same label set." if same else _moves(context, movers),
    )


def _moves(context: Context, movers: Mapping[str, int]) -> str:
    if len(context.systems) < 2:
        return "One system only: there is no order, so nothing can move."
    by_count: dict[int, list[str]] = {}
    for m in context.measures:
        by_count.setdefault(movers[m.name], []).append(m.label)
    still = by_count.pop(0, [])
    if not by_count:
        return "No system changes its place by any of these measures."
    if len(context.measures) > NAMED:
        least, most = min(movers.values()), max(movers.values())
        return f"Of {len(context.systems)} systems {least} to {most} change their place, depending on the measure."
    moving = [f"{n} by {words(labels)}" for n, labels in sorted(by_count.items(), reverse=True)]
    none = f"; by {words(still)} none does" if still else ""
    return f"Of {len(context.systems)} systems these change their place: {'; '.join(moving)}{none}."


def _both_sides(context: Context, label: str, values: Floats) -> Chart:
    """Draw the value of each system on tail and on head questions, by the first measure; `values` [systems, 2]."""
    series = [series_of(f"{side} questions", context.systems, values[:, i], measure=i) for i, side in enumerate(SIDES)]
    return chart("points", label, series, y=context.measures[0].label, sorted=True)


def _two_ends(context: Context, label: str, values: Floats, ends: Sequence[str]) -> Chart:
    """Draw a line for each system between two named ticks, by the first measure; `values` [systems, 2]."""
    series = [series_of(name, [0, 1], values[i], system=i) for i, name in enumerate(context.systems)]
    return chart("lines", label, series, y=context.measures[0].label, xaxis=named_ticks(ends))


def _by_side(context: Context, found: ByName) -> Section:
    """Build the section that separates tail questions from head questions, under `labels`."""
    title = f"By side, under {context.labels.name}"
    rows: list[list[Cell]] = [[system] for system in context.systems]
    columns, foot, best = [SYSTEM], list[Cell](["n"]), list[tuple[int, int]]()
    sides = by_side(context.labels.prepared.table)
    means = {}
    for measure in context.measures:
        values = found[measure.name]
        groups = means[measure.name] = group_means(values, sides)
        spread = context.spread(partial(_side_means, name=measure.name))
        cells = group_cells(values, sides, groups, "answer", spread)
        for side, name in enumerate(SIDES):
            best += [(row, len(columns)) for row in best_of(groups.mean[:, side], measure)]
            columns.append(measure_column(measure, f"{measure.name}_{name}", f"{measure.label}, {name}"))
            foot.append(int(groups.count[side]))
            for row, of_system in zip(rows, cells, strict=True):
                row.append(of_system[side])
    first = context.measures[0]
    label = f"{first.label} of every system on tail and on head questions"
    return Section(
        "sides",
        title,
        "The same means over tail questions (head, relation, ?) and head questions (?, relation, tail) apart. Head"
        " questions often have many answers, and a label that turns up on one side is an answer on the other too.",
        f"{label_caption(context.labels, context.settings)} {UNITS}",
        [Table("sides", title, columns, rows, best, foot)],
        _both_sides(context, label, means[first.name].mean),
        _sides_finding(context.systems, means[first.name].mean, first),
    )


def _side_means(context: Context, name: str) -> Floats:
    """Return the means of a measure under `labels` on tail and on head questions, [systems, sides]."""
    values = context.labels.values([name], context.settings.assumed_is_judged)[name]
    return group_means(values, by_side(context.labels.prepared.table)).mean


def _sides_finding(systems: Sequence[str], mean: Floats, measure: Measure) -> str:
    """Say which system is best on each side; `mean` [systems, sides]."""
    leaders = [system_words(systems[i] for i in best_of(mean[:, side], measure)) for side in range(len(SIDES))]
    if not all(leaders):
        return ""
    if leaders[0] == leaders[1]:
        return f"By {measure.label}, {leaders[0]} is best on both sides."
    return f"By {measure.label}, {leaders[0]} is best on {SIDES[0]} questions and {leaders[1]} on {SIDES[1]} questions."


ANALYSIS = Analysis(
    "measures",
    "Measures",
    "What does every measure say of every system, and what do the labels change?",
    "measures",
    ("labels", "against", "measures", "questions", "assumed", "seeds"),
    (Part("values", all_values),),
    group="Ranking",
)
