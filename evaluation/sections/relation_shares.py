"""Show how the mixture of relations differs between label sets, and what it does to a measure."""

import numpy as np

from evaluation.labels.label_sets import LabelSet, label_set
from evaluation.measures.label_state import positive
from evaluation.measures.rank_table import Floats, Ints
from evaluation.measures.registry import Measure
from evaluation.measures.values import Values
from evaluation.sections.relation_names import named_relations, relation_axis
from evaluation.sections.section import (
    Cell,
    Chart,
    Column,
    Context,
    Section,
    Table,
    cell,
    label_caption,
    number,
    seed_cells,
)
from evaluation.sections.wording import both_captions, compared, place_cell, places, places_on_both, signed, why_no_tau
from evaluation.statistics.correlation import tau_of_means
from evaluation.statistics.groups import Groups, by_relation, group_means, relation_counts, reweighted
from pooling.pools.kernels.shares import SMOOTHING, divergence, shares

CHARTED = 20  # relations in the chart
ALL_TRIPLES = "all triples of the graph"  # train, valid and test


def positives_by_relation(context: Context, chosen: LabelSet) -> Ints:
    """Count the positive triples of each relation, [relations]."""
    return relation_counts(chosen.prepared, positive(chosen.state), context.table.graph.num_relations)


def _reweighted_means(context: Context, name: str, groups: Groups, weight: Floats) -> Floats:
    """Return plain mean, mean with these shares, and mean under `against`, [systems, 3]."""
    assumed = context.settings.assumed_is_judged
    values, before = (chosen.values([name], assumed)[name] for chosen in (context.labels, context.against))
    found = reweighted(group_means(values, groups), np.nan_to_num(weight))
    return np.stack([values.mean(), found.value, before.mean()], axis=1)


def reweighting(context: Context, measure: Measure, values: Values, before: Values) -> Section:
    """Show the measure under `labels` with the relation shares of `against`, beside the plain ones."""
    groups = by_relation(context.table.ranks, context.table.graph.relations)
    weight = shares(positives_by_relation(context, context.against))
    found = reweighted(group_means(values, groups), np.nan_to_num(weight))
    spread = context.spread(lambda each: _reweighted_means(each, measure.name, groups, weight))
    plain, old = values.mean(), before.mean()
    better = measure.higher_is_better
    place = [*places_on_both(plain, found.value, better), places(old, better)]
    reasons, reasons_before = values.reasons(), before.reasons()
    if np.isnan(found.dropped):
        no_weight = f"{context.against.name} has no positive triple to take shares from"
    elif found.dropped < 1:
        no_weight = "undefined on a relation of those shares"
    else:
        no_weight = "no relation of those shares has a unit under these labels"
    # plain and reweighted places are among the systems that have both values
    unplaced = ["" if np.isfinite(value) else reasons[i] or no_weight for i, value in enumerate(found.value)]
    rows: list[list[Cell]] = [[system] for system in context.systems]
    sides = (
        (plain, place[0], reasons, unplaced),
        (found.value, place[1], unplaced, unplaced),
        (old, place[2], reasons_before, reasons_before),
    )
    for side, (mean, of, why, no_place) in enumerate(sides):
        cells = seed_cells([*map(cell, mean, why)], spread and spread.at(side))
        for i, row in enumerate(rows):
            row += [cells[i], place_cell(of[i], no_place[i])]
    title = f"{measure.label} with the relation shares of {context.against.name}"
    dropped = "undefined" if np.isnan(found.dropped) else f"{100 * found.dropped:.1f} %"
    without = "an answer" if values.unit == "answer" else "a question"
    columns = [Column("system", "System", "system")]
    for key, label in (
        ("plain", context.labels.name),
        ("reweighted", f"{context.labels.name}, shares of {context.against.name}"),
        ("against", context.against.name),
    ):
        columns += [Column(key, label, "value"), Column(f"{key}_place", f"Place, {label}", "count")]
    return Section(
        "reweighted",
        title,
        "The sum over relations of w times the relation's mean, w being the relation's share of the positive triples"
        f" of {context.against.name}. What is left of the difference between the two label sets is not due to a"
        " different mixture of relations.",
        f"{label_caption(context.labels, context.settings)} Weights: {context.against.name}. Weight on relations"
        f" without {without} under {context.labels.name}: {dropped}, dropped, the rest scaled to 1."
        f" n = {values.n:,} {values.unit}s.",
        [Table("reweighted", title, columns, rows), _taus(context, measure, old, (plain, found.value))],
        finding=_reweighted_finding(context, place[0], place[1]),
    )


def _taus(context: Context, measure: Measure, old: Floats, new: tuple[Floats, Floats]) -> Table:
    """Compare the order of the systems under `against`, means [systems], with both orders under `labels`."""
    rows: list[list[Cell]] = []
    for of, mean in zip((context.labels.name, context.against.name), new, strict=True):
        systems = compared(old, mean)
        tau = tau_of_means(old, mean, measure.higher_is_better)
        rows.append([f"{context.labels.name}, shares of {of}", cell(tau, why_no_tau(systems)), systems])
    return Table(
        "reweighted-tau",
        f"Order of the systems by {measure.label}, against that under {context.against.name}",
        [Column("order", "Order under", "text"), Column("tau", "Tau", "value"), Column("systems", "Systems", "count")],
        rows,
    )


def _reweighted_finding(context: Context, plain: list[int | None], weighted: list[int | None]) -> str:
    pairs = [(a, b) for a, b in zip(plain, weighted, strict=True) if a is not None and b is not None]
    if len(pairs) < 2:
        return ""
    moved = sum(a != b for a, b in pairs)
    if not moved:
        return f"With the relation shares of {context.against.name} the order of the systems stays as it is."
    return f"With the relation shares of {context.against.name}, {moved} of {len(pairs)} systems change their place."


def relation_shares(context: Context) -> Section:
    """Show each relation's share of the positive triples, and how far apart these shares are."""
    full = label_set(context.pool, context.table, "full-test")
    sets = (context.against, context.labels, full)
    counts = [positives_by_relation(context, chosen) for chosen in sets]
    old, new, whole = (shares(count) for count in counts)
    reason = "no positive triple under these labels"
    used = np.flatnonzero(sum(counts))
    difference = new - old
    order = used[np.lexsort((used, -np.nan_to_num(np.abs(difference[used]))))]
    differing = order[np.nan_to_num(np.abs(difference[order])) > 0][:CHARTED]
    names = context.table.graph.relations
    rows: list[list[Cell]] = [
        [
            names[r],
            int(counts[0][r]),
            cell(old[r], reason),
            int(counts[1][r]),
            cell(new[r], reason),
            cell(100 * difference[r], reason),
            int(counts[2][r]),
            cell(whole[r], reason),
        ]
        for r in order
    ]
    columns = [Column("relation", "Relation", "text")]
    for key, chosen in zip(("against", "labels"), sets, strict=False):
        columns += [
            Column(f"{key}_n", f"Triples, {chosen.name}", "count"),
            Column(key, f"Share, {chosen.name}", "share"),
        ]
    columns += [
        Column("difference", "Difference, points", "change", "Percentage points: the second share less the first."),
        Column("full_test_n", "Triples, full test", "count"),
        Column("full_test", "Share, full test", "share"),
    ]
    apart = _divergences(context, *counts)
    return Section(
        "shares",
        "Relation shares",
        "Which share of the positive triples each relation has. The Kullback-Leibler divergence D(P ‖ Q) of two"
        " mixtures is 0 where they are equal; seeds, a sample of the test set, should be close to it.",
        f"{both_captions(context)} D in nats, {SMOOTHING:g} added to the count of each relation of the graph."
        f" {len(used):,} relations have a positive triple in one of the two or in the full test; the chart shows the"
        f" {differing.size} that differ most.",
        [
            Table(
                "divergence",
                "Kullback-Leibler divergence of relation shares",
                [Column("pair", "P ‖ Q", "text"), Column("divergence", "D, nats", "value")],
                [[name, cell(value, "one of the two has no positive triple")] for name, value in apart.items()],
            ),
            named_relations(Table("shares", "Relation shares", columns, rows), context.table.graph),
        ],
        _shares_chart(context, differing, old, new),
        " ".join([*_moved_most(context, differing, old, new), *_all_apart(apart)]),
    )


def _divergences(context: Context, old: Ints, new: Ints, full: Ints) -> dict[str, float]:
    """Return D of relation counts by name "P ‖ Q", each once, in the order of the chosen sets and of the paper."""
    table, graph = context.table, context.table.graph
    seeds = label_set(context.pool, table, "seeds")
    every = np.concatenate([graph.train[:, 1], graph.valid[:, 1], graph.test[:, 1]])
    counts = {
        context.against.name: old,
        context.labels.name: new,
        "full test": full,
        seeds.name: positives_by_relation(context, seeds),
        ALL_TRIPLES: np.bincount(every, minlength=graph.num_relations),
    }
    pairs = [
        (context.labels.name, context.against.name),
        ("full test", seeds.name),
        ("full test", context.against.name),
        ("full test", context.labels.name),
        (ALL_TRIPLES, "full test"),
    ]
    return {f"{p} ‖ {q}": divergence(counts[p], counts[q]) for p, q in pairs if p != q}


def _moved_most(context: Context, differing: Ints, old: Floats, new: Floats) -> list[str]:
    """Say which relation's share differs most; `differing` begins with it."""
    if not differing.size:
        return []
    r = differing[0]
    name = context.table.graph.relation_name(r)
    return [
        f"The share of {name} differs most: {100 * old[r]:.1f} % of the positive triples of"
        f" {context.against.name}, {100 * new[r]:.1f} % of those of {context.labels.name}."
    ]


def _all_apart(apart: dict[str, float]) -> list[str]:
    """Say how far apart the mixtures are, after what the figure means."""
    means = "How far apart two mixtures of relations are (Kullback-Leibler divergence, 0 where they are equal)"
    return [f"{means}: {'; '.join(_apart(*row) for row in apart.items())}."] if apart else []


def _apart(name: str, value: float) -> str:
    one, other = name.split(" ‖ ")
    return f"{one} from {other}, " + (f"{signed(value, 3)} nats" if np.isfinite(value) else "undefined")


def _shares_chart(context: Context, order: Ints, old: Floats, new: Floats) -> Chart:
    names = [context.table.graph.relations[r] for r in order]
    series = [
        {
            "name": chosen.name,
            "colour": colour,
            "hollow": hollow,
            "x": names,
            "y": [None if (v := number(share[r])) is None else 100 * v for r in order],
        }
        for chosen, colour, share, hollow in (
            (context.against, "--control", old, True),
            (context.labels, "--accent", new, False),
        )
    ]
    return Chart(
        "bars",
        f"Shares of {len(names)} relations under {context.against.name} and {context.labels.name}",
        {
            "series": series,
            "x": "% of the positive triples",
            "lying": True,
            "yaxis": relation_axis(order.tolist(), context.table.graph),
        },
    )
