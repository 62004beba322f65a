"""Compare the orders of systems on the three test sets of Zhou et al. (2022), and place ours among the published."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from evaluation.labels.label_sets import LabelSet
from evaluation.measures.rank_table import Floats
from evaluation.papers import published
from evaluation.papers.published import NOT_PUBLISHED
from evaluation.sections.builders import chart, series_of
from evaluation.sections.section import Cell, Column, Section, Table, cell
from evaluation.sections.wording import why_no_tau
from evaluation.statistics.correlation import tau_of_means

Means = Mapping[str, Floats]  # of each test set, float [systems]


def orders(
    systems: Sequence[str], named: Sequence[str], sets: Mapping[str, LabelSet], caption: str
) -> Iterator[Section]:
    """Yield figure 3, then our systems among the published ones where the published results are there.

    named: the names of our systems in the published results; sets: O, S and S-C by these names.
    """
    means = {name: chosen.values(["micro_mrr"])["micro_mrr"].mean() for name, chosen in sets.items()}
    keys = {name: chosen.key for name, chosen in sets.items()}
    yield _figure_3(systems, means, keys, caption)
    if published.rows("systems"):
        yield _among_published(systems, named, means, keys, caption)


def _figure_3(systems: Sequence[str], means: Means, keys: Mapping[str, str], caption: str) -> Section:
    order = np.argsort(-np.nan_to_num(means["O"], nan=-1.0), kind="stable").tolist()
    names = [systems[i] for i in order]
    series = [series_of(name, names, means[name][order], measure=i) for i, name in enumerate(means)]
    rows: list[list[Cell]] = []
    for one, other in (("S", "O"), ("S", "S-C"), ("O", "S-C")):
        tau = tau_of_means(means[one], means[other])
        theirs = cell(published.tau_between("micro_mrr", keys[one], keys[other]), NOT_PUBLISHED)
        rows.append([f"{one} – {other}", cell(tau, why_no_tau(len(names))), theirs])
    columns = [Column("pair", "Test sets", "text"), Column("tau", "Tau", "tau")]
    columns.append(Column("published", "Published", "tau"))
    return Section(
        "figure-3", "Figure 3. Micro MRR of the systems on the three test sets",
        "Systems by their place on O. Where the lines of S and S-C cross, more labels turn the comparison of systems.",
        caption,
        [Table("figure-3-tau", "Kendall's tau-b between the test sets, by Micro MRR", columns, rows)],
        chart=chart("lines", "Micro MRR of every system on O, S and S-C", series, y="Micro MRR"),
    )  # fmt: skip


def _among_published(
    systems: Sequence[str], named: Sequence[str], means: Means, keys: Mapping[str, str], caption: str
) -> Section:
    """Draw published Micro MRR as lines and ours as rings; a place counts the other published systems above."""
    table = published.rows("systems")
    theirs = {name: published.values(table, "micro_mrr", test_set=published.SETS[key]) for name, key in keys.items()}
    order = sorted({*theirs["O"], *named}, key=lambda name: (-theirs["O"].get(name, -1.0), name))
    series = []
    for slot, name in enumerate(means):
        ours = dict(zip(named, means[name].tolist(), strict=True))
        for words, values, ring in ((name, theirs[name], False), (f"{name}, measured here", ours, True)):
            y = np.array([values.get(system, np.nan) for system in order])
            series.append(series_of(words, order, y, measure=slot, ring=ring))
    rows: list[list[Cell]] = []
    for i, system in enumerate(named):
        row: list[Cell] = [systems[i]]
        for name, values in theirs.items():
            place = 1 + sum(value > means[name][i] for other, value in values.items() if other != system)
            own = 1 + sum(value > values[system] for value in values.values()) if system in values else None
            row += [cell(float(means[name][i])), int(place) if np.isfinite(means[name][i]) else None, own]
        rows.append(row)
    columns = [Column("system", "System", "system")]
    for name in means:
        columns += [Column(f"{name}-mrr", f"Micro MRR on {name}"), Column(f"{name}-place", "Place", "count")]
        columns.append(Column(f"{name}-published", "Published place", "count"))
    title = "Our systems among the published"
    return Section(
        "among-published", title,
        "Lines: the thirteen published systems. Rings: systems of this pool. A place is among the other published"
        " systems: 1 if it is above all of them.",
        caption,
        [Table("among-published", "Micro MRR, and places among the published systems", columns, rows)],
        chart=chart("lines", f"{title}: Micro MRR on O, S and S-C", series, y="Micro MRR"),
    )  # fmt: skip
