"""Build the experiment of Yang, Lin and Zhang (2022), figures 3 to 14 and table 2, from the newest open-world study."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from django.db.models import Count, Q, Sum

from evaluation.models import Study
from evaluation.open_world.kernels.study import METRICS
from evaluation.open_world.study import options_of
from evaluation.open_world.study_curves import DensityCurves, StudyView, chooser_of, densities_of
from evaluation.open_world.study_sections import (
    SUMMARY_COLUMNS,
    median_fall,
    metric_section,
    pairs_of,
    summary_row,
    summary_section,
)
from evaluation.sections.section import Cell, Chart, Column, Context, Section, Table
from pooling.models import Pool

DENSITY = 0.75  # of figures 4 and 5
CORRELATED = "predicted-present"  # the paper's graph that a model has completed
FIGURES = {  # of all metrics, by division and density
    "independent": {0.95: 7, 0.85: 8, 0.75: 9, 0.65: 10},
    CORRELATED: {0.95: 11, 0.85: 12, 0.75: 13, 0.65: 14},
}
# printed in the paper: model, dimension, γ, steps, batch size, negatives
TABLE_2 = (
    ("RotatE", 100, 24, 100_000, 1024, 128), ("RotatE", 500, 12, 100_000, 256, 128),
    ("RotatE", 500, 12, 100_000, 1024, 512), ("RotatE", 500, 24, 100_000, 1024, 128),
    ("RotatE", 1000, 24, 100_000, 1024, 128), ("pRotatE", 1000, 24, 12_000, 1024, 128),
    ("pRotatE", 250, 24, 12_000, 1024, 128), ("pRotatE", 500, 24, 12_000, 1024, 128),
    ("pRotatE", 500, 24, 12_000, 128, 512), ("pRotatE", 500, 6, 12_000, 1024, 128),
    ("BetaE", 1000, 60, 400_000, 1024, 128), ("BetaE", 500, 240, 400_000, 1024, 128),
    ("BetaE", 500, 60, 400_000, 1024, 128), ("BetaE", 500, 15, 400_000, 1024, 128),
    ("BetaE", 100, 60, 400_000, 1024, 128), ("ComplEx", 1000, 500, 100_000, 1024, 128),
    ("ComplEx", 1000, 200, 100_000, 512, 256), ("ComplEx", 2000, 500, 100_000, 1024, 128),
)  # fmt: skip
PUBLISHED_GRAPH = (6_004, 23, 192_532)
DIFFERS = (
    "The paper draws its curves and prints no value of them, so there is no published figure beside. It has 18 settings"
    " of four models and up to 400,000 steps; the systems here are those of the study."
)
NONE = (
    "There is no open-world study yet: a manager starts one on the page Open world, Studies. A small one takes minutes."
)
Found = Mapping[str, Sequence[DensityCurves]]  # by division


def newest_study() -> Study | None:
    """Return the newest study of which something was evaluated."""
    return Study.objects.filter(runs__checkpoints__gt=0).order_by("-pk").first()


def study_version(_pool: Pool) -> str:
    """Return a text that changes with the newest study and whatever is evaluated of it."""
    study = newest_study()
    if study is None:
        return "none"
    found = study.runs.aggregate(checkpoints=Sum("checkpoints"), finished=Count("pk", filter=~Q(sha256="")))
    return f"{study.pk}/{found['checkpoints']}/{found['finished']}"


def of_study(_context: Context) -> list[Section]:
    """Return figures 3 to 14 and table 2, or what is missing."""
    study = newest_study()
    if study is None:
        title = "Figures 3 to 14, table 2. The experiment on family trees"
        text = "Systems are trained on family trees of which facts are missing, and evaluated with and without these."
        return [Section("no-study", title, text, "", [], notes=[NONE])]
    chooser = chooser_of(study)
    found = {division: densities_of(study, division, chooser) for division in FIGURES}
    shown = [density for density in found["independent"] if density.curves]
    nearest = min(shown, key=lambda one: abs(one.density - DENSITY))
    return [
        *_by_density(study, shown, "independent", chooser, "figure-3", "Figure 3"),
        _figure_4(shown, chooser),
        *_figure_5b(study, nearest, chooser),
        *_by_density(study, found[CORRELATED], CORRELATED, chooser, "figure-6", "Figures 5 (a) and 6"),
        _table_2(study),
        *_figures_7_to_14(study, found, chooser),
        _claims(study, found, chooser),
    ]


def _caption(study: Study) -> str:
    return f"Study {study.name}."


def _places(study: Study) -> dict[str, int]:
    return {name: i for i, name in enumerate(options_of(study).systems)}


def _by_density(
    study: Study, found: Sequence[DensityCurves], division: str, chooser: str, key: str, figure: str
) -> Iterator[Section]:
    """Yield MRR on the sparse over the full test set, a section for each density."""
    for i, density in enumerate(density for density in found if density.curves):
        view = StudyView(density.density, division, chooser)
        section = metric_section(view, density, "mrr", _places(study))
        what = "" if division == "independent" else f", missing: {view.words}"
        yield _renamed(
            section, f"{key}-{100 * density.density:g}", f"{figure}. MRR, density {density.density:g}{what}",
            [DIFFERS] if i == 0 and division == "independent" else (), study,
        )  # fmt: skip


def _renamed(section: Section, key: str, title: str, notes: Sequence[str], study: Study) -> Section:
    key = key.replace(".", "-")
    tables = [replace(table, key=key) for table in section.tables]
    caption = f"{_caption(study)} {section.caption}"
    return replace(section, key=key, title=title, tables=tables, notes=notes, caption=caption)


def _figure_4(shown: Sequence[DensityCurves], chooser: str) -> Section:
    section = summary_section(StudyView(DENSITY, "independent", chooser), shown)
    text = (
        "The paper shows one pair of curves: checkpoints that are better on the full test set and look worse on the"
        " sparse one. Here all pairs of checkpoints of different systems are counted."
    )
    title = "Figure 4. Degradation and inconsistency"
    return replace(section, key="figure-4", title=title, text=text, tables=[replace(section.tables[0], key="figure-4")])


def _figure_5b(study: Study, nearest: DensityCurves, chooser: str) -> Iterator[Section]:
    view = StudyView(nearest.density, "independent", chooser)
    for metric in ("log_mrr", "p_mrr"):
        section = metric_section(view, nearest, metric, _places(study))
        title = f"Figure 5 (b). {METRICS[metric]}, density {nearest.density:g}"
        yield _renamed(section, f"figure-5b-{metric.replace('_', '-')}", title, (), study)


def _table_2(study: Study) -> Section:
    rows: list[list[Cell]] = []
    options = options_of(study)
    for run in study.runs.filter(density=options.densities[0]).select_related("system"):
        of = run.system.settings
        told = [of.get(key, "") for key in ("embedding_dim", "margin", "epochs", "batch_size", "num_negatives")]
        rows.append([run.system.name, "here", *told])
    rows += [
        [name, "published", dim, gamma, steps, size, negatives] for name, dim, gamma, steps, size, negatives in TABLE_2
    ]
    columns = [Column("system", "Model", "text"), Column("of", "Of", "text"), Column("dimension", "Dimension", "count")]
    columns += [Column("gamma", "γ", "count"), Column("steps", "Epochs here, steps published", "count")]
    columns += [Column("batch", "Batch size", "count"), Column("negatives", "Negatives", "count")]
    graph = study.runs.select_related("graph")[0].graph
    people, relations = graph.num_entities, graph.num_relations
    asked, printed = PUBLISHED_GRAPH[:2], PUBLISHED_GRAPH[2]
    text = (
        f"The models that are compared. The paper's graph has {asked[0]:,} people, {asked[1]} relations and {printed:,}"
        f" facts; this one {people:,} people and {relations} relations."
    )
    return Section(
        "table-2",
        "Table 2. The models",
        text,
        _caption(study),
        [Table("table-2", "Models of the study", columns, rows)],
    )


def _figures_7_to_14(study: Study, found: Found, chooser: str) -> Iterator[Section]:
    """Yield a section for each division and density, with a panel for each metric."""
    for division, densities in found.items():
        for density in (density for density in densities if density.curves):
            view = StudyView(density.density, division, chooser)
            figure = FIGURES[division].get(density.density)
            place = f"Figure {figure}" if figure else "As figures 7 to 14"
            key = f"all-{'drawn' if division == 'independent' else 'correlated'}-{100 * density.density:g}"
            sections = {metric: metric_section(view, density, metric, _places(study)) for metric in METRICS}
            panels = [
                {"name": METRICS[metric], **section.chart.data} for metric, section in sections.items() if section.chart
            ]
            label = f"Every metric on the sparse test set over the full one, density {density.density:g}"
            rows: list[list[Cell]] = [[METRICS[metric], *summary_row(density, metric)] for metric in METRICS]
            section = Section(
                key,
                f"{place}. All metrics, density {density.density:g}, missing: {view.words}",
                "Sparse over full, a panel for each metric, as in figure 3. Fall of the slope: how much less steep the"
                " upper half of a curve is than the lower. The table counts what the curves say.",
                sections["mrr"].caption,
                [Table(key, place, [Column("metric", "Metric", "measure"), *SUMMARY_COLUMNS], rows)],
                Chart("panels", label, {"panels": panels}),
            )
            yield _renamed(section, f"figure-{figure}" if figure else key, section.title, (), study)


def _claims(study: Study, found: Found, chooser: str) -> Section:
    """Show what the paper concludes of its experiment, and whether the study says so too."""
    drawn = [density for density in found["independent"] if density.curves]
    falls = {metric: [median_fall(density, metric) for density in drawn] for metric in ("mrr", "log_mrr", "p_mrr")}
    wrong = {metric: [pairs_of(density, metric, False).share for density in drawn] for metric in falls}
    softer = [min(of) for of in zip(falls["log_mrr"], falls["p_mrr"], strict=True)]
    correlated, same = _shares_of_both(found, chooser)
    claims: list[tuple[str, Sequence[float], Sequence[float]]] = [
        ("The curve of MRR flattens as the full metric rises.", falls["mrr"], [0.0] * len(drawn)),
        ("log-MRR or p-MRR flattens less than MRR.", falls["mrr"], softer),
        ("log-MRR orders fewer pairs wrongly than MRR.", wrong["mrr"], wrong["log_mrr"]),
        ("Pairs are ordered wrongly more often where predictions decide what is missing.", correlated, same),
    ]
    rows: list[list[Cell]] = []
    for words, more, less in claims:
        pairs = [(a, b) for a, b in zip(more, less, strict=True) if np.isfinite(a) and np.isfinite(b)]
        held = sum(bool(a > b) for a, b in pairs)
        rows.append([words, f"at {held} of {len(pairs)} densities" if pairs else "cannot be told: no value"])
    columns = [Column("claim", "What the paper says", "text"), Column("here", "It is so here", "text")]
    table = Table("claims", "What the paper concludes of its experiment, and whether it is so here", columns, rows)
    text = "The conclusions of sections 6.1 to 6.3, by the figures of the table above."
    return Section("claims", "What holds here", text, _caption(study), [table])


def _shares_of_both(found: Found, chooser: str) -> tuple[list[float], list[float]]:
    """Return the shares of inverted pairs by MRR with correlation and without, of the same systems, by density."""
    drawn = {density.density: density for density in found["independent"]}
    correlated, same = [], []
    for density in found[CORRELATED]:
        curves = [curve for curve in drawn[density.density].curves if curve.system != chooser]
        correlated.append(pairs_of(density, "mrr", False).share)
        same.append(pairs_of(DensityCurves(density.density, curves), "mrr", False).share)
    return correlated, same
