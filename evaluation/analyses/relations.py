"""Build the page Relations: one measure by relation category, by popularity of the answer, by relation."""

from collections.abc import Sequence

import numpy as np

from evaluation.measures.registry import Measure, parse_measure
from evaluation.sections.relation_groups import ValuesUnder, by_bands, by_categories, caption, group_table, values_under
from evaluation.sections.relation_names import named_relations
from evaluation.sections.relation_shares import relation_shares, reweighting
from evaluation.sections.section import Analysis, Cell, Chart, Column, Context, Part, Section, Table, cell, number
from evaluation.sections.wording import signed
from evaluation.statistics.groups import boxes, by_relation
from pooling.systems.shown_names import shown_name


def all_relations(context: Context) -> list[Section]:
    measure = parse_measure(context.settings.measure)
    old, new = (values_under(context, key, measure.name) for key in ("against", "labels"))
    return [
        *by_categories(context, measure, old, new),
        by_bands(context, measure, old, new),
        _distribution(context, measure, old, new),
        reweighting(context, measure, new.values, old.values),
        relation_shares(context),
    ]


# -- relation by relation ---------------------------------------------------------------------------------------


def _distribution(context: Context, measure: Measure, old: ValuesUnder, new: ValuesUnder) -> Section:
    """Build the section of quartiles over relations, for each system under the two label sets."""
    graph = context.table.graph
    groups = by_relation(context.table.ranks, graph.relations)
    title = f"{measure.label} relation by relation"
    drawn, rows, medians = [], list[list[Cell]](), []
    for side in (old, new):
        found = boxes(side.means(groups))
        reasons = side.values.reasons()
        for i, system in enumerate(context.systems):
            five = [float(of[i]) for of in (found.low, found.q1, found.median, found.q3, found.high)]
            why = reasons[i] or "no relation has an answer under these labels"
            counts = int(found.relations[i]), int(found.outside[i].sum())
            rows.append([system, side.labels.name, counts[0], *(cell(value, why) for value in five), counts[1]])
            medians.append(five[2])
            if np.isfinite(five[2]):
                box = dict(zip(("low", "q1", "median", "q3", "high"), map(number, five), strict=True))
                name, look = f"{system}, {side.labels.name}", {"hollow": side is old, "slot": side.key}
                drawn.append({"system": i, "name": name, **look, "boxes": [{"x": system, **box}]})
    within = "value within 1.5 interquartile ranges of the box."
    columns = [
        Column("system", "System", "system"),
        Column("labels", "Labels", "text"),
        Column("relations", "Relations", "count", "Relations with an answer and a defined value."),
        Column("low", "Low", "value", f"The smallest {within}"),
        Column("q1", "First quartile", "value"),
        Column("median", "Median", "value"),
        Column("q3", "Third quartile", "value"),
        Column("high", "High", "value", f"The largest {within}"),
        Column("outside", "Outside", "count", "Relations beyond low and high."),
    ]
    return Section(
        "distribution",
        title,
        "One mean for each relation; a box spans the middle half of the relations, its line is the median. Hollow"
        f" boxes: {old.labels.name}; filled ones: {new.labels.name}.",
        f"{caption(context, old, new)} Every relation with at least one {new.values.unit} counts alike; quartiles by"
        " linear interpolation, whiskers to the last relation within 1.5 interquartile ranges.",
        [
            Table("distribution", title, columns, rows),
            *(
                named_relations(
                    group_table(context, measure, f"by-relation-{side.key}", "Relation", side, groups, used_only=True),
                    graph,
                )
                for side in (new, old)
            ),
        ],
        Chart("box", f"{title}, a hollow and a filled box for each system", {"groups": drawn, "y": measure.label}),
        _medians(context.systems, medians, old, new, measure),
    )


def _medians(
    systems: Sequence[str], medians: Sequence[float], old: ValuesUnder, new: ValuesUnder, measure: Measure
) -> str:
    """Say where the median of the relations moved most."""
    change = np.array(medians[len(systems) :]) - np.array(medians[: len(systems)])
    if not np.isfinite(change).any() or old.labels.key == new.labels.key:
        return ""
    i = int(np.nanargmax(np.abs(change)))
    if change[i] == 0:
        return f"No system's median relation changes from {old.labels.name} to {new.labels.name}."
    digits = 1 if abs(medians[i]) >= 10 else 4
    return (
        f"The median relation of {shown_name(systems[i])} moves most: {measure.label}"
        f" {signed(medians[i], digits)} under {old.labels.name},"
        f" {signed(medians[len(systems) + i], digits)} under {new.labels.name}."
    )


ANALYSIS = Analysis(
    "relations",
    "Relations",
    "On which relations, sides and answers do the systems differ, and how much does the mixture of relations matter?",
    "relations",
    ("labels", "against", "measure", "questions", "assumed", "seeds"),
    (Part("relations", all_relations),),
    group="Ranking",
)
