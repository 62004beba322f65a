"""Build the sections about the softmax: the effect of its parameter α, and how sharp and right distributions are."""

from collections.abc import Iterator, Sequence

import numpy as np

from evaluation.max_k.kernel import Goodness
from evaluation.max_k.performance import KS, means
from evaluation.max_k.system_sections import SAID, SYSTEM, RunsUnderLabels, value_at
from evaluation.sections.builders import chart, series_of
from evaluation.sections.section import Cell, Chart, Column, Context, Json, Section, Table
from pooling.scoring.distributions import ALPHAS

NAMES = [f"{alpha:g}" for alpha in ALPHAS]
BY_ALPHA = [Column(f"alpha_{name}", f"α = {name}") for name in NAMES]
FROM_ZERO = {"rangemode": "tozero"}
BY_K = {  # title, axis and text
    "recall": (
        "expected recall of Sampling",
        "R@k",
        "The recall that k draws have on average: the mean over the answers of 1 − (1 − p)^k. Too small an α finds"
        " answers by chance only, too large a one draws the same entities again and again.",
    ),
    "f1": (
        "F1 under Greedy",
        "F1@k",
        "Precision hardly depends on k where p is sharp, so that F1 flattens once the answers that p is sure of are"
        " found.",
    ),
}


def effect(context: Context, runs: RunsUnderLabels, system: str) -> Iterator[Section]:
    """Show the effect of α: Figure 2 and Table 3 of the paper, filtered as there."""
    k, reads = context.settings.k, {name: runs.read(name) for name in runs.stored}
    greedy = {name: [means(read.greedy(a, np.array([k]))) for a in ALPHAS] for name, read in reads.items()}
    mass = {name: [read.mass(alpha) for alpha in ALPHAS] for name, read in reads.items()}
    chosen = {name: ALPHAS.index(stored.predictive.alpha) for name, stored in runs.stored.items()}
    f1 = {name: [value_at(found, "f1", 1) for found in of_system] for name, of_system in greedy.items()}
    caption = f"{runs.caption(context)} {SAID['filtered']}. Rings: the α chosen on validation."
    yield Section(
        "alpha",
        f"Effect of α: F1@{k} under Greedy",
        "p(entity) is proportional to exp(α · score). A small α spreads p over all entities, a large one puts it on the"
        " first. α is chosen for each system by filtered F1@10 on validation, never on test; a model that was trained"
        f" as a distribution keeps its own. Here is F1@{k} at each.",
        caption,
        [_effect_table(runs, greedy, mass, chosen, k)],
        _chart(context, f"F1@{k}", f1, chosen),
        _hits(f1, chosen, k),
    )
    title = f"Precision of a draw by α under {runs.labels.name}, filtered"
    best = [(row, 1 + int(np.argmax(of_system))) for row, of_system in enumerate(mass.values())]
    yield Section(
        "alpha-precision",
        "Effect of α: precision of single draws",
        "The probability that one draw is right: the total probability mass of the right answers. The paper calls it"
        " the precision of Sampling; the distinct entities of k draws have another one.",
        caption,
        [Table("alpha-precision", title, [SYSTEM, *BY_ALPHA], [[name, *of] for name, of in mass.items()], best)],
        _chart(context, "mass of the right answers", mass, chosen),
    )
    read, own = reads[system], runs.stored[system].predictive.alpha
    values = {
        "recall": [read.expected_recall(alpha) for alpha in ALPHAS],
        "f1": [np.asarray(means(read.greedy(alpha)).f1) for alpha in ALPHAS],
    }
    ticked = f"{runs.caption(context)} {SAID['filtered']}. ✓: the α chosen on validation."
    for part, by_alpha in values.items():
        yield _by_k(part, system, by_alpha, own, ticked)


def _effect_table(
    runs: RunsUnderLabels,
    greedy: dict[str, list[Goodness]],
    mass: dict[str, list[float]],
    chosen: dict[str, int],
    k: int,
) -> Table:
    columns = [
        SYSTEM,
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
        read = runs.read(name)
        most = max(value_at(found, "f1", 1) for found in of_system)
        for i, (alpha, found) in enumerate(zip(ALPHAS, of_system, strict=True)):
            values = [value_at(found, part, 1) for part in ("precision", "recall", "f1")]
            if values[-1] == most:
                best.append((len(rows), 5))
            sampling = float(read.expected_recall(alpha, np.array([k]))[0])
            rows.append([name, NAMES[i], "yes" if i == chosen[name] else "", *values, mass[name][i], sampling])
    return Table("alpha", f"P, R and F1 at {k} by α under {runs.labels.name}, filtered", columns, rows, best)


def _chart(context: Context, y: str, values: dict[str, list[float]], chosen: dict[str, int]) -> Chart:
    series: list[Json] = []
    for name, of_system in values.items():
        system, i = context.systems.index(name), chosen[name]
        series.append(series_of(name, NAMES, np.array(of_system), system=system))
        series.append(series_of(f"{name}, chosen", [NAMES[i]], [of_system[i]], system=system, ring=True))
    label = f"{y} of every system by α"
    return chart("lines", label, series, x="α", y=y, xaxis={"type": "category"}, yaxis=FROM_ZERO)


def _hits(f1: dict[str, list[float]], chosen: dict[str, int], k: int) -> str:
    same = sum(max(of_system) == of_system[chosen[name]] for name, of_system in f1.items())
    lost = {name: max(of_system) - of_system[chosen[name]] for name, of_system in f1.items()}
    worst = max(lost, key=lambda name: lost[name])
    most = f"; the most is lost by {worst}, {lost[worst]:.3f}" if lost[worst] > 0 else ""
    return f"At the α chosen on validation {same} of {len(f1)} systems have their highest F1@{k} on these labels{most}."


def _by_k(part: str, system: str, values: Sequence[np.ndarray], own: float, caption: str) -> Section:
    """Show recall or F1 of a system by k, [KS] at each α; `own` is its chosen α."""
    title, y, text = BY_K[part]
    heading = f"Effect of α: {title}, {system}"
    series = []
    for i, (alpha, of_alpha) in enumerate(zip(ALPHAS, values, strict=True)):
        look = {"shade": i / (len(ALPHAS) - 1), "step": i, "plain": True, "wide": alpha == own}
        series.append(series_of(f"α = {NAMES[i]}{' ✓' if alpha == own else ''}", KS.tolist(), of_alpha, **look))
    rows: list[list[Cell]] = [[int(k), *(float(of_alpha[k - 1]) for of_alpha in values)] for k in KS]
    return Section(
        f"alpha-{part}",
        heading,
        text,
        caption,
        [Table(f"alpha-{part}", f"{y} of {system} by α, filtered", [Column("k", "k", "count"), *BY_ALPHA], rows)],
        chart("lines", f"{heading}, a line for each α", series, x="k", y=y, yaxis=FROM_ZERO),
    )


def contrast(context: Context, sides: Sequence[RunsUnderLabels]) -> Section:
    """Show total variation distance and probability mass: the table in section 6.2.4 of the paper."""
    columns = [SYSTEM, Column("alpha", "α", "text", "chosen on validation")]
    for runs in sides:
        columns += [
            Column(f"tvd_{runs.key}", f"TVD, {runs.labels.name}", note="½ Σ |p − 1/|E||"),
            Column(f"raw_{runs.key}", f"TPM raw, {runs.labels.name}", note="Σ p over the right answers"),
            Column(f"filtered_{runs.key}", f"TPM filtered, {runs.labels.name}", note="without train and valid"),
        ]
    rows = list[list[Cell]]()
    for i, name in enumerate(sides[0].stored):
        raw, filtered = ([runs.found(which)[i] for runs in sides] for which in ("raw", "filtered"))
        own = [(r.tvd, r.mass, f.mass) for r, f in zip(raw, filtered, strict=True)]
        rows.append([name, f"{raw[0].alpha:g}", *(value for values in own for value in values)])
    return Section(
        "contrast",
        "How sharp and how right p is",
        "TVD is the total variation distance between p and the uniform distribution, from 0 (all entities alike) to"
        " almost 1 (one entity has everything). TPM is the total probability mass of the right answers: the precision"
        " of a single draw. Where one of them is low, Sampling and Greedy differ more.",
        f"{' '.join(runs.caption(context) for runs in sides)} Means over the questions.",
        [Table("contrast", "Total variation distance and total probability mass", columns, rows)],
    )
