"""Build the sections about the softmax: the effect of its parameter α, and how sharp and right distributions are."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from evaluation.max_k.performance import KS, RunReader, means
from evaluation.max_k.stored_runs import Which
from evaluation.max_k.system_sections import SAID, SYSTEM, RunsUnderLabels, over_seeds, which_of
from evaluation.measures.rank_table import Floats
from evaluation.sections.builders import chart, series_of
from evaluation.sections.section import Cell, Chart, Column, Context, Json, Section, Table, seed_columns
from pooling.scoring.distributions import ALPHAS
from pooling.systems.shown_names import shown_name

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
    """Show the effect of α: Figure 2 and Table 3 of the paper, which are filtered."""
    k, which = context.settings.k, which_of(context)
    of = cache(lambda name: _by_alpha(runs.read(name, which), k))
    chosen = {name: ALPHAS.index(stored.predictive.alpha) for name, stored in runs.stored.items()}
    f1, mass = ({name: of(name)[:, column].tolist() for name in runs.stored} for column in (2, 3))
    caption = f"{runs.caption(context)} {SAID[which]}. Rings: the α chosen on validation."
    yield Section(
        "alpha",
        f"Effect of α: F1@{k} under Greedy",
        "p(entity) is proportional to exp(α · score). A small α spreads p over all entities, a large one puts it on the"
        " first. α is chosen for each system by filtered F1@10 on validation, never on test; a model that was trained"
        f" as a distribution keeps its own. Here is F1@{k} at each.",
        caption,
        [_effect_table(context, runs, of, chosen)],
        _chart(context, f"F1@{k}", f1, chosen),
        _hits(f1, chosen, k),
    )
    title = f"Precision of a draw by α under {runs.labels.name}, {which}"
    best = [(row, 1 + int(np.argmax(of_system))) for row, of_system in enumerate(mass.values())]
    draws = Table("alpha-precision", title, [SYSTEM, *BY_ALPHA], [[name, *own] for name, own in mass.items()], best)
    spread = over_seeds(context, runs, lambda name: of(name)[None, :, 3])
    yield Section(
        "alpha-precision",
        "Effect of α: precision of single draws",
        "The probability that one draw is right: the total probability mass of the right answers. The paper calls it"
        " the precision of Sampling; the distinct entities of k draws have another one.",
        caption,
        [seed_columns(draws, range(1, len(draws.columns)), spread)],
        _chart(context, "mass of the right answers", mass, chosen),
        _one_draw({name: mass[name][i] for name, i in chosen.items()}),
    )
    read, own = runs.read(system, which), runs.stored[system].predictive.alpha
    values = {
        "recall": [read.expected_recall(alpha) for alpha in ALPHAS],
        "f1": [np.asarray(means(read.greedy(alpha)).f1) for alpha in ALPHAS],
    }
    ticked = (
        f"{runs.caption(context)} {SAID[which]}. ✓: the α chosen on validation. The chart has it, the next ones below"
        " and above it, and the smallest and largest; the table has all."
    )
    for part, by_alpha in values.items():
        section = _by_k(part, system, which, by_alpha, own, ticked)
        yield replace(section, finding=_best_alpha(BY_K[part][1], [float(one[k - 1]) for one in by_alpha], own, k))


def _by_alpha(read: RunReader, k: int) -> Floats:
    """Return P, R and F1 at k under Greedy, mass and expected recall at k of Sampling, [ALPHAS, 5]."""
    ks = np.array([k])
    greedy = [[float(part[0]) for part in means(read.greedy(alpha, ks))] for alpha in ALPHAS]  # type: ignore[index]
    sampling = [[read.mass(alpha), float(read.expected_recall(alpha, ks)[0])] for alpha in ALPHAS]
    return np.hstack([greedy, sampling])


def _effect_table(
    context: Context, runs: RunsUnderLabels, of: Callable[[str], Floats], chosen: dict[str, int]
) -> Table:
    """Return the table of α; `of` a system are its values at each, [ALPHAS, 5]."""
    k, which = context.settings.k, which_of(context)
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
    for name in runs.stored:
        most = of(name)[:, 2].max()
        for i, values in enumerate(of(name).tolist()):
            if values[2] == most:
                best.append((len(rows), 5))
            rows.append([name, NAMES[i], "yes" if i == chosen[name] else "", *values])
    table = Table("alpha", f"P, R and F1 at {k} by α under {runs.labels.name}, {which}", columns, rows, best)
    return seed_columns(table, range(3, len(columns)), over_seeds(context, runs, of))


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
    most = f"; the most is lost by {shown_name(worst)}, {lost[worst]:.3f}" if lost[worst] > 0 else ""
    return f"At the α chosen on validation {same} of {len(f1)} systems have their highest F1@{k} on these labels{most}."


def _one_draw(mass: dict[str, float]) -> str:
    """Say whose single draw is right most often, and whose least; `mass` of each system at its α."""
    most, least = max(mass, key=lambda name: mass[name]), min(mass, key=lambda name: mass[name])
    told = f"One draw from {shown_name(most)} is right with probability {mass[most]:.3f}"
    return f"{told}, from {shown_name(least)} with {mass[least]:.3f}." if least != most else f"{told}."


def _best_alpha(y: str, values: Sequence[float], own: float, k: int) -> str:
    """Say at which α a value at k is highest, and what it is at the chosen one; `values` [ALPHAS]."""
    best, chosen = int(np.argmax(values)), ALPHAS.index(own)
    if values[best] == values[chosen]:
        return f"{y} at k = {k} is highest at the chosen α = {NAMES[chosen]}: {values[chosen]:.3f}."
    return (
        f"{y} at k = {k} is highest at α = {NAMES[best]} ({values[best]:.3f}); at the chosen α = {NAMES[chosen]} it is"
        f" {values[chosen]:.3f}."
    )


def _by_k(part: str, system: str, which: Which, values: Sequence[np.ndarray], own: float, caption: str) -> Section:
    """Show recall or F1 of a system by k, [KS] at each α; `own` is its chosen α."""
    title, y, text = BY_K[part]
    heading = f"Effect of α: {title}, {shown_name(system)}"
    last, chosen = len(ALPHAS) - 1, ALPHAS.index(own)
    drawn = sorted({0, max(chosen - 1, 0), chosen, min(chosen + 1, last), last})  # more lines cannot be told apart
    series = []
    for line, i in enumerate(drawn):
        name, wide = f"α = {NAMES[i]}{' ✓' if i == chosen else ''}", i == chosen
        series.append(series_of(name, KS.tolist(), values[i], measure=line, plain=True, wide=wide))
    by_alpha = f"{y} of {shown_name(system)} by α, {which}"
    rows: list[list[Cell]] = [[int(k), *(float(of_alpha[k - 1]) for of_alpha in values)] for k in KS]
    return Section(
        f"alpha-{part}",
        heading,
        text,
        caption,
        [Table(f"alpha-{part}", by_alpha, [Column("k", "k", "count"), *BY_ALPHA], rows, in_files=True)],
        chart("lines", f"{heading}, a line for each of {len(series)} α", series, x="k", y=y, yaxis=FROM_ZERO),
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

    def of(system: str) -> list[float]:
        found = [(runs.performance(system, "raw"), runs.performance(system, "filtered")) for runs in sides]
        return [value for raw, filtered in found for value in (raw.tvd, raw.mass, filtered.mass)]

    alphas = {name: f"{stored.predictive.alpha:g}" for name, stored in sides[0].stored.items()}
    rows: list[list[Cell]] = [[name, alpha, *of(name)] for name, alpha in alphas.items()]
    table = Table("contrast", "Total variation distance and total probability mass", columns, rows)
    spread = over_seeds(context, sides[0], lambda system: [of(system)])
    return Section(
        "contrast",
        "How sharp and how right p is",
        "TVD is the total variation distance between p and the uniform distribution, from 0 (all entities alike) to"
        " almost 1 (one entity has everything). TPM is the total probability mass of the right answers: the precision"
        " of a single draw. Where one of them is low, Sampling and Greedy differ more.",
        f"{' '.join(runs.caption(context) for runs in sides)} Means over the questions.",
        [seed_columns(table, range(2, len(columns)), spread)],
        finding=_sharpest({name: of(name) for name in alphas}),
    )


def _sharpest(found: dict[str, list[float]]) -> str:
    """Say which system is sharpest and which has most mass on right answers; `found` begins with TVD and raw TPM."""
    sharp, right = (max(found, key=lambda name: found[name][i]) for i in (0, 1))
    has = "it has" if sharp == right else f"{shown_name(right)} has"
    return (
        f"{shown_name(sharp)} is sharpest (TVD {found[sharp][0]:.3f}); {has} the most probability on right answers"
        f" (TPM raw {found[right][1]:.3f})."
    )
