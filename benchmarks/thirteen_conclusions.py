"""Say of each conclusion of Zhou et al. (2022) whether the measured systems bear it out."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from benchmarks.thirteen_tables import Compared
    from evaluation.measures.values import Values

FEWEST = 8  # systems, which make 28 pairs
LOW = 0.4  # of tau: "much less than 0.4" in the paper
HOLDS, NOT, UNKNOWN = "**holds here**", "**does not hold here**", "**cannot be told**"


def conclusions(of: "Compared") -> "Iterator[str]":
    """Yield a sentence for each conclusion, in the paper's order."""
    few = len(of.names) < FEWEST
    if few:
        yield f"{len(of.names)} systems are too few: with fewer than {FEWEST}, no conclusion is confirmed or denied."
    every = (
        _spread,
        _drastic,
        _least_and_most,
        _first,
        _categories,
        _macro_correlates,
        _mixture,
        _difficulty,
        _stability,
    )
    for conclusion in (*every, _discrimination):
        told = conclusion(of)
        yield told.replace(HOLDS, UNKNOWN).replace(NOT, UNKNOWN) if few else told


def _spread(of: "Compared") -> str:
    from benchmarks.thirteen import SYSTEMS

    ours = of.values["O"]["micro_mrr"].mean()
    theirs = [SYSTEMS[name][0] for name in of.names]
    return (
        f"Keep the spread of the systems in mind: Micro MRR on O goes from {ours.min():.3f} to {ours.max():.3f} here,"
        f" and from {min(theirs):.3f} to {max(theirs):.3f} in the paper. If systems are far apart, labels seldom change"
        " their order, so tau is high."
    )


def verdict(low: float, high: float, below: float) -> str:
    """Tell whether an interval lies below a value, above it, or on both sides."""
    return HOLDS if high < below else NOT if low > below else UNKNOWN


def _drastic(of: "Compared") -> str:
    taus = of.taus["S", "S-C"]
    tau = taus["micro_mrr"]
    theirs = of.published_tau(("S", "S-C"), "micro_mrr")
    told = "" if theirs is None else f"; tau of the published rows is {theirs:.2f}"
    return (
        f"More labels change the order by micro measures drastically (tau far below {LOW}):"
        f" {verdict(tau.low, tau.high, LOW)}. Tau of Micro MRR between S and S-C is {tau.value:.2f}"
        f" [{tau.low:.2f}, {tau.high:.2f}]{told}. The systems differ, and so does their training time."
    )


def _least_and_most(of: "Compared") -> str:
    from benchmarks.thirteen_tables import MICRO

    taus = {name: of.taus["S", "S-C"][name] for name in MICRO}
    order = sorted(taus, key=lambda name: taus[name].value)
    apart = taus[order[0]].high < taus[order[-1]].low
    same = order[0] == "micro_hits@3" and set(order[-2:]) == {"micro_mr", "micro_hits@10"}
    return (
        "Micro MR and Micro Hits@10 agree best between S and S-C, Micro Hits@3 least:"
        f" {UNKNOWN if not apart else HOLDS if same else NOT}. Least here: {order[0]} ({taus[order[0]].value:.2f}),"
        f" best: {order[-1]} ({taus[order[-1]].value:.2f}); their intervals {'do not ' if apart else ''}overlap."
    )


def _first(of: "Compared") -> str:
    means = {key: of.values[key]["micro_mrr"].mean() for key in ("O", "S-C")}
    best = int(np.argmax(means["O"]))
    place = 1 + int((means["S-C"] > means["S-C"][best]).sum())
    found = HOLDS if place > len(of.names) // 3 else NOT
    return (
        f"The best system on O by Micro MRR falls to the middle on S-C (in the paper from first to eighth): {found}."
        f" Here {of.names[best]} is first on O and place {place} of {len(of.names)} on S-C."
    )


def _categories(of: "Compared") -> str:
    from evaluation.statistics.correlation import tau_of_means
    from evaluation.statistics.groups import by_side_and_category, group_means
    from pooling.enums import Category

    names = list(Category.values)
    number = np.array([names.index(c) if c in names else -1 for c in of.table.graph.categories])
    groups = by_side_and_category(of.table.ranks, number, names)
    one, other = (group_means(of.values[key]["micro_mrr"], groups) for key in ("S", "S-C"))
    tau = {name: tau_of_means(one.mean[:, g], other.mean[:, g]) for g, name in enumerate(groups.names)}
    fixed = [name for name in tau if name.endswith("1-1")]
    changed = ["head N-1", "tail 1-N", "head N-N", "tail N-N"]
    same = all(tau[name] > 0.95 for name in fixed) and all(tau[name] < 0.95 for name in changed)
    told = ", ".join(f"{name} {tau[name]:.2f}" for name in [*fixed, *changed])
    return (
        "The order stays the same for 1-1 relations and changes where labels were added:"
        f" {HOLDS if same else NOT}. Tau of Micro MRR between S and S-C: {told}."
    )


def _macro_correlates(of: "Compared") -> str:
    found = []
    for name in ("mrr", "hits@10"):
        micro, macro = (of.taus["S", "S-C"][f"{kind}_{name}"] for kind in ("micro", "macro"))
        found.append((name, micro, macro))
    if all(macro.low > micro.high for _, micro, macro in found):
        how = HOLDS
    elif any(macro.high < micro.low for _, micro, macro in found):
        how = NOT
    else:
        how = UNKNOWN
    told = "; ".join(
        f"{name}: micro {micro.value:.2f} [{micro.low:.2f}, {micro.high:.2f}],"
        f" macro {macro.value:.2f} [{macro.low:.2f}, {macro.high:.2f}]"
        for name, micro, macro in found
    )
    return (
        f"Macro measures are more stable under sparse labels than micro measures: {how}. Tau between S and S-C, {told}."
    )


def _mixture(of: "Compared") -> str:
    from evaluation.measures.label_state import positive
    from evaluation.statistics.correlation import tau_of_means
    from evaluation.statistics.groups import by_relation, group_means, relation_counts, reweighted
    from pooling.pools.kernels.shares import shares

    seeds, graph = of.chosen["S"], of.table.graph
    weight = shares(relation_counts(seeds.prepared, positive(seeds.state), graph.num_relations))
    groups = by_relation(of.table.ranks, graph.relations)
    again = reweighted(group_means(of.values["S-C"]["micro_mrr"], groups), weight).value
    old, new = (of.values[key]["micro_mrr"].mean() for key in ("S", "S-C"))
    plain, weighted = tau_of_means(old, new), tau_of_means(old, again)
    how = UNKNOWN if plain > 0.95 else HOLDS if weighted - plain < (1 - plain) / 2 else NOT
    return (
        f"The shares of relations are not the main cause of the change: {how}. Tau of Micro MRR between S and S-C is"
        f" {plain:.2f}; with the relation shares of S, it is {weighted:.2f}. The paper has -0.23 and -0.21."
    )


def _difficulty(of: "Compared") -> str:
    best = int(np.argmax(of.values["O"]["micro_mrr"].mean()))
    name = "hitter" if "hitter" in of.names else of.names[best]
    medians = {key: _median_relation(of, by["micro_mrr"], of.names.index(name)) for key, by in of.values.items()}
    near = abs(medians["O"] - medians["S-C"]) < 0.05
    told = ", ".join(f"{key} {value:.3f}" for key, value in medians.items())
    return (
        f"The new labels are not easier than the old ones: {HOLDS if near else NOT}. Micro MRR of the median relation"
        f" of {name}: {told}."
    )


def _median_relation(of: "Compared", values: "Values", system: int) -> float:
    from evaluation.statistics.groups import by_relation, group_means

    means = group_means(values, by_relation(of.table.ranks, of.table.graph.relations)).mean[system]
    return float(np.nanmedian(means))


def _stability(of: "Compared") -> str:
    from benchmarks.thirteen_tables import REPEATS, SEED
    from evaluation.statistics.stability import stability_curve

    names, found = ("micro_mrr", "micro_hits@10", "macro_mrr", "macro_hits@10"), dict[str, dict[str, float]]()
    for key in ("O", "S-C"):
        chosen = of.chosen[key]
        rng = np.random.default_rng(SEED)
        curve = stability_curve(chosen.prepared, chosen.state, names, rng, sizes=[0.8], repeats=REPEATS)
        found[key] = {name: float(curve.mean(name)[0]) for name in names}
    above = all(found["O"][f"macro_{name}"] > found["O"][f"micro_{name}"] for name in ("mrr", "hits@10"))
    below = all(found["O"][f"macro_{name}"] < found["O"][f"micro_{name}"] for name in ("mrr", "hits@10"))
    told = "; ".join(f"{key}: {', '.join(f'{n} {v:.3f}' for n, v in by.items())}" for key, by in found.items())
    return (
        "Macro measures are more stable than micro measures when test triples are left out of O, less so on S-C:"
        f" {HOLDS if above else NOT if below else UNKNOWN}. Mean tau with 80 % of the positives, {REPEATS} draws."
        f" {told}."
        " The paper reads 0.8 for micro and above 0.95 for macro measures from its figure 7a."
    )


def _discrimination(of: "Compared") -> str:
    gap: dict[str, Any] = {}
    for key in ("O", "S-C"):
        micro, macro = (of.tests[key][name].area() for name in ("micro_mrr", "macro_mrr"))
        gap[key] = (micro, macro)
    better = gap["O"][1] < gap["O"][0]
    closer = abs(np.subtract(*gap["S-C"])) < abs(np.subtract(*gap["O"]))
    told = "; ".join(f"{key}: micro {micro:.3f}, macro {macro:.3f}" for key, (micro, macro) in gap.items())
    return (
        "Macro measures separate more pairs than micro measures on O, and the gap closes on S-C:"
        f" {HOLDS if better and closer else NOT}. Mean p of all pairs by MRR, {told} (lower is better)."
    )
