"""Max-k: what the parameter of the softmax does, and how sharp and how right the distributions are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from evaluation.max_k.kernel import Goodness
from evaluation.max_k.performance import KS, means
from evaluation.max_k.system_sections import SAID, RunsUnderLabels, value_at
from evaluation.sections.section import Cell, Chart, Column, Context, Json, Section, Table, numbers
from pooling.scoring.distributions import ALPHAS

NAMES = [f"{alpha:g}" for alpha in ALPHAS]


def effect(context: Context, side: RunsUnderLabels, system: str) -> Iterator[Section]:
    """Figure 2 and Table 3 of the paper; like there, filtered."""
    k = context.settings.k
    greedy = {name: _greedy(side, name, k) for name in side.stored}
    mass = {name: [side.read(name).mass(alpha) for alpha in ALPHAS] for name in side.stored}
    chosen = {name: ALPHAS.index(stored.predictive.alpha) for name, stored in side.stored.items()}
    f1 = {name: [value_at(found, "f1", 1) for found in of_system] for name, of_system in greedy.items()}
    caption = f"{side.caption(context)} {SAID['filtered']}. Rings: the α chosen on validation."
    yield Section(
        "alpha",
        f"Effect of α: F1@{k} under Greedy",
        "p(entity) is proportional to exp(α · score). A small α spreads p over all entities, a large one puts it on the"
        " first. α is chosen for each system by filtered F1@10 on validation, never on test; a model that was trained"
        f" as a distribution keeps its own. Here is F1@{k} at each.",
        caption,
        [_effect_table(side, greedy, mass, chosen, k)],
        _chart(context, f"F1@{k}", f1, chosen),
        _hits(f1, chosen, k),
    )
    yield Section(
        "alpha-precision",
        "Effect of α: precision of single draws",
        "The probability that one draw is right: the total probability mass of the right answers. The paper calls it"
        " the precision of Sampling; the distinct entities of k draws have another one.",
        caption,
        [_mass_table(side, mass)],
        _chart(context, "mass of the right answers", mass, chosen),
    )
    read = side.read(system)
    recall = [read.expected_recall(alpha) for alpha in ALPHAS]
    yield _by_k(
        context,
        side,
        system,
        "recall",
        "expected recall of Sampling",
        "R@k",
        recall,
        "The recall that k draws have on average: the mean over the answers of 1 − (1 − p)^k. Too small an α finds"
        " answers by chance only, too large a one draws the same entities again and again.",
    )
    by_k = [np.asarray(means(read.greedy(alpha)).f1) for alpha in ALPHAS]
    yield _by_k(
        context,
        side,
        system,
        "f1",
        "F1 under Greedy",
        "F1@k",
        by_k,
        "Precision hardly depends on k where p is sharp, so that F1 flattens once the answers that p is sure of are"
        " found.",
    )


def _greedy(side: RunsUnderLabels, system: str, k: int) -> list[Goodness]:
    """At each α, means over the questions at this k alone."""
    read = side.read(system)
    return [means(read.greedy(alpha, np.array([k]))) for alpha in ALPHAS]


def _effect_table(
    side: RunsUnderLabels,
    greedy: dict[str, list[Goodness]],
    mass: dict[str, list[float]],
    chosen: dict[str, int],
    k: int,
) -> Table:
    columns = [
        Column("system", "System", "system"),
        Column("alpha", "α", "text"),
        Column("chosen", "Chosen", "text", "by filtered F1@10 under Greedy on validation"),
        Column("precision", f"Greedy P@{k}"),
        Column("recall", f"Greedy R@{k}"),
        Column("f1", f"Greedy F1@{k}"),
        Column("mass", "Precision of a draw"),
        Column("sampling", f"Sampling R@{k}", note="expected"),
    ]
    rows, best = list[list[Cell]](), []
    for name, of_system in greedy.items():
        read = side.read(name)
        most = max(value_at(found, "f1", 1) for found in of_system)
        for i, (alpha, found) in enumerate(zip(ALPHAS, of_system, strict=True)):
            if (f1 := value_at(found, "f1", 1)) == most:
                best.append((len(rows), 5))
            rows.append(
                [
                    name,
                    NAMES[i],
                    "yes" if i == chosen[name] else "",
                    value_at(found, "precision", 1),
                    value_at(found, "recall", 1),
                    f1,
                    mass[name][i],
                    float(read.expected_recall(alpha, np.array([k]))[0]),
                ]
            )
    return Table("alpha", f"P, R and F1 at {k} by α under {side.labels.name}, filtered", columns, rows, best)


def _mass_table(side: RunsUnderLabels, mass: dict[str, list[float]]) -> Table:
    columns = [Column("system", "System", "system"), *(Column(f"alpha_{name}", f"α = {name}") for name in NAMES)]
    rows: list[list[Cell]] = [[name, *of_system] for name, of_system in mass.items()]
    best = [(row, 1 + int(np.argmax(of_system))) for row, of_system in enumerate(mass.values())]
    return Table("alpha-precision", f"Precision of a draw by α under {side.labels.name}, filtered", columns, rows, best)


def _chart(context: Context, y: str, values: dict[str, list[float]], chosen: dict[str, int]) -> Chart:
    series: list[Json] = []
    for name, of_system in values.items():
        system, i = context.systems.index(name), chosen[name]
        series.append({"system": system, "name": name, "x": NAMES, "y": numbers(of_system)})
        ring = {"system": system, "name": f"{name}, chosen", "x": [NAMES[i]], "y": [of_system[i]], "ring": True}
        series.append(ring)
    return Chart(
        "lines",
        f"{y} of every system by α",
        {"series": series, "x": "α", "y": y, "xaxis": {"type": "category"}, "yaxis": {"rangemode": "tozero"}},
    )


def _hits(f1: dict[str, list[float]], chosen: dict[str, int], k: int) -> str:
    same = sum(max(of_system) == of_system[chosen[name]] for name, of_system in f1.items())
    lost = {name: max(of_system) - of_system[chosen[name]] for name, of_system in f1.items()}
    worst = max(lost, key=lambda name: lost[name])
    most = f"; the most is lost by {worst}, {lost[worst]:.3f}" if lost[worst] > 0 else ""
    return f"At the α chosen on validation {same} of {len(f1)} systems have their highest F1@{k} on these labels{most}."


def _by_k(
    context: Context,
    side: RunsUnderLabels,
    system: str,
    key: str,
    title: str,
    y: str,
    values: Sequence[np.ndarray],
    text: str,
) -> Section:
    own = side.stored[system].predictive.alpha
    series = [
        {
            "name": f"α = {name}{' ✓' if alpha == own else ''}",
            "x": KS.tolist(),
            "y": numbers(of_alpha),
            "shade": i / (len(ALPHAS) - 1),
            "step": i,
            "plain": True,
            "wide": alpha == own,
        }
        for i, (name, alpha, of_alpha) in enumerate(zip(NAMES, ALPHAS, values, strict=True))
    ]
    columns = [Column("k", "k", "count"), *(Column(f"alpha_{name}", f"α = {name}") for name in NAMES)]
    rows: list[list[Cell]] = [[int(k), *(float(of_alpha[k - 1]) for of_alpha in values)] for k in KS]
    heading = f"Effect of α: {title}, {system}"
    return Section(
        f"alpha-{key}",
        heading,
        text,
        f"{side.caption(context)} {SAID['filtered']}. ✓: the α chosen on validation.",
        [Table(f"alpha-{key}", f"{y} of {system} by α, filtered", columns, rows)],
        Chart(
            "lines",
            f"{heading}, a line for each α",
            {"series": series, "x": "k", "y": y, "yaxis": {"rangemode": "tozero"}},
        ),
    )


def contrast(context: Context, sides: Sequence[RunsUnderLabels]) -> Section:
    """The table of TVD and TPM in section 6.2.4 of the paper."""
    columns = [
        Column("system", "System", "system"),
        Column("alpha", "α", "text", "chosen on validation"),
        *(
            column
            for side in sides
            for column in (
                Column(f"tvd_{side.key}", f"TVD, {side.labels.name}", note="½ Σ |p − 1/|E||"),
                Column(f"raw_{side.key}", f"TPM raw, {side.labels.name}", note="Σ p over the right answers"),
                Column(f"filtered_{side.key}", f"TPM filtered, {side.labels.name}", note="without train and valid"),
            )
        ),
    ]
    rows = list[list[Cell]]()
    for i, name in enumerate(sides[0].stored):
        raw, filtered = ([side.found(which)[i] for side in sides] for which in ("raw", "filtered"))
        own = [(r.tvd, r.mass, f.mass) for r, f in zip(raw, filtered, strict=True)]
        rows.append([name, f"{raw[0].alpha:g}", *(value for values in own for value in values)])
    return Section(
        "contrast",
        "How sharp and how right p is",
        "TVD is the total variation distance between p and the uniform distribution, from 0 (all entities alike) to"
        " almost 1 (one entity has everything). TPM is the total probability mass of the right answers: the precision"
        " of a single draw. Where one of them is low, Sampling and Greedy differ more.",
        f"{' '.join(side.caption(context) for side in sides)} Means over the questions.",
        [Table("contrast", "Total variation distance and total probability mass", columns, rows)],
    )
