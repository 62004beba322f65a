"""Write the methods part of a report from a pool and the settings."""

import math
import platform
from collections.abc import Sequence

from django.db.models import Count

from annotation.enums import JudgementOrigin
from annotation.judging.judgements import live_labels
from annotation.models import Campaign, ImportedLabel
from annotation.models.slot import ADJUDICATION
from annotation.quality.kernel import Coefficient
from annotation.quality.reports import agreement_report
from core.errors import UserError
from core.libraries import versions_of
from evaluation.analyses.stability import REPEATS
from evaluation.analyses.tukey_hsd import PERMUTATIONS
from evaluation.labels.pool_table import systems_with_runs
from evaluation.sections.section import Cell, Column, Context, Json, Table, cell, label_caption
from pooling.enums import PoolOrigin
from pooling.models import Pool, System
from pooling.pools.kernels.filters import reason_label
from pooling.pools.report import pool_counts

PACKAGES = ("numpy", "scipy", "torch", "pykeen", "Django")
MOST_FILES = 4  # named of the files that labels came from
Paragraph = tuple[str, str]  # heading, text


def methods(context: Context) -> list[Paragraph]:
    """Return headings and texts, in the order in which the data came about."""
    pool, settings = context.pool, context.settings
    return [
        ("Graph", _graph(pool)),
        ("Pool", _pool(pool)),
        ("Filters", _filters(pool)),
        ("Annotation", _annotation(pool)),
        ("Label sets", _labels(context)),
        (
            "Measures",
            "Micro measures are means over answers: each answer is ranked with the other answers of its question"
            " removed, ties by the mean of the best and the worst position. Macro measures are means over"
            " questions. Lists are in strict order: ties are broken by one seeded random order of the entities."
            " Entities that answer a question in train, in valid, or in the part of test that was not sampled are"
            " no candidates.",
        ),
        (
            "Rank correlation",
            "Orders of systems are compared by Kendall's tau-b, tau_AP (symmetric, with ties), rank-biased overlap"
            " (persistence 0.9) and Spearman's rho. Intervals are 95 % percentile intervals of 1,000 bootstrap"
            f" resamples of the questions, the same ones for all measures, seed {settings.seed}.",
        ),
        (
            "Stability",
            f"20 sizes from 1 to 95 %, {REPEATS} seeded random subsets a size, seed {settings.seed}. A triple that"
            " is left out loses its label: it is neither an answer nor filtered.",
        ),
        (
            "Tests",
            "All pairs of systems by paired two-tailed t-tests, for micro measures clustered by question; Holm's"
            " and Benjamini and Hochberg's corrections over the pairs of a measure; randomised Tukey HSD with"
            f" {PERMUTATIONS:,} permutations, seed {settings.seed}. α = {settings.alpha:g}.",
        ),
        (
            "Undefined values",
            "A value that is not defined is written as undefined, with its reason; it is never replaced by 0.",
        ),
        ("Software", "TriplePool; " + ", ".join(f"{name} {number}" for name, number in versions().items()) + "."),
    ]


def _graph(pool: Pool) -> str:
    graph = pool.graph
    return (
        f"{graph.name} ({graph.get_source_display()}): {graph.num_entities:,} entities,"
        f" {graph.num_relations:,} relations; {graph.num_train:,} triples in train,"
        f" {graph.num_valid:,} in valid, {graph.num_test:,} in test."
        f" SHA-256 {graph.sha256[:16]}…"
    )


def _pool(pool: Pool) -> str:
    counts = pool_counts(pool)
    made = "built" if pool.origin == PoolOrigin.BUILT else "imported"
    systems = f" by {len(pool.contributors)} systems ({', '.join(pool.contributors)})" if pool.contributors else ""
    return (
        f"{pool.name}, {made}{systems} to depth {pool.depth} from {counts['seeds']:,} seed triples"
        f" ({pool.seed_source}): the first candidates of both questions of each seed triple,"
        f" {counts['pooled']:,} pooled triples. Pooling rule: {pool.get_rule_display()}."
    )


def _filters(pool: Pool) -> str:
    counts = pool_counts(pool)
    # where labels come from a file alone, nobody here was asked
    left = f"{counts['to_people']:,} {'went to people' if _is_labelled_here(pool) else 'were not filtered'}."
    if not counts["filtered"]:
        return f"No triple was filtered; {left}"
    reasons = "; ".join(f"{n:,} as {reason_label(reason)}" for reason, n in counts["by_reason"].items())
    return (
        f"{counts['filtered']:,} pooled triples were assumed to be negative without a person: {reasons}."
        f" {left} A label beats a filter."
    )


def _is_labelled_here(pool: Pool) -> bool:
    judged = pool.judgements.filter(origin=JudgementOrigin.PEOPLE)
    return judged.exists() or live_labels().filter(item__campaign__pool=pool).exists()


def _annotation(pool: Pool) -> str:
    """Describe annotation and imports; a pool without a campaign has no rule of annotation."""
    origins = dict(pool.judgements.order_by().values_list("origin").annotate(n=Count("id")))
    people, imported = origins.get(JudgementOrigin.PEOPLE, 0), origins.get(JudgementOrigin.IMPORT, 0)
    campaign, files = Campaign.objects.filter(pool=pool).first(), _files(pool)
    said = []
    if campaign and not _is_labelled_here(pool):
        said.append("A campaign was opened, but nobody has labelled in it yet.")
    elif campaign:
        plain = live_labels().filter(item__campaign=campaign).exclude(slot__number=ADJUDICATION)
        third = live_labels().filter(item__campaign=campaign, slot__number=ADJUDICATION)
        said.append(
            "Each triple gets two blind labels (yes, no, can't tell) of two people; where they differ, or somebody"
            " cannot tell, a third person decides."
            f" Labels that count: {plain.count():,}, and {third.count():,} of adjudicators."
        )
    if people:
        said.append(f"{people:,} triples were judged by people.")
    if imported or files:
        which = f"{imported:,} triples have judgements imported from {files or 'elsewhere'}"
        rest = " that people have not judged" if people else ""
        said.append(f"{which}: the majority of the imported labels of a triple{rest}, undecided where they tie.")
    if campaign and _is_labelled_here(pool):
        said.append(_agreement(campaign))
    return " ".join(said) or "No triple is judged."


def _files(pool: Pool) -> str:
    """Name the files that labels were imported from, a few of them."""
    imported = ImportedLabel.objects.filter(triple__pool=pool).order_by("file_name")
    names = list(imported.values_list("file_name", flat=True).distinct())
    more = f" and {len(names) - MOST_FILES:,} more" if len(names) > MOST_FILES else ""
    return ", ".join(names[:MOST_FILES]) + more


def _agreement(campaign: Campaign) -> str:
    found = agreement_report(campaign).overall
    if not found.raw.n:
        return "No triple has two labels of yes or no yet, so agreement is undefined."
    return (
        "Agreement of the two labels, can't tell left out:"
        f" {100 * found.raw.hits / found.raw.n:.1f} % of {found.raw.n:,} triples,"
        f" Krippendorff's alpha {_coefficient(found.alpha)}, Gwet's AC1 {_coefficient(found.ac1)}."
    )


def _coefficient(found: Coefficient) -> str:
    return f"undefined ({found.reason})" if found.value is None else f"{found.value:.3f}".replace("-", "−")


def _labels(context: Context) -> str:
    """Describe both label sets, or say why one does not exist."""
    said = []
    for side in ("labels", "against"):
        try:
            chosen = getattr(context, side)
            said.append(" ".join(filter(None, [label_caption(chosen, context.settings), chosen.note])))
        except UserError as error:
            said.append(f"{getattr(context.settings, side)}: {error}")
    return f"{said[0]} Compared with: {said[1]}"


def versions() -> Json:
    return {"Python": platform.python_version(), **versions_of(*PACKAGES)}


def systems_table(pool: Pool) -> Table:
    """Return a table of the systems with a run, and how they were trained."""
    columns = [
        Column("system", "System", "system"),
        Column("kind", "Model", "text"),
        Column("seed", "Seed", "count"),
        Column("epoch", "Best epoch", "count"),
        Column("mrr", "Validation MRR"),
        Column("settings", "Settings", "text"),
        Column("sha256", "SHA-256", "text"),
    ]
    rows: list[list[Cell]] = []
    for system in systems_with_runs(pool):
        settings = ", ".join(f"{key} {value}" for key, value in sorted(system.settings.items()))
        rows.append([system.name, system.kind, *_trained(system), settings, system.sha256[:16]])
    return Table("report-systems", "Systems", columns, rows)


def _trained(system: System) -> list[Cell]:
    """Return seed, best epoch and validation MRR."""
    if system.is_imported:
        return [cell(math.nan, "an imported run: nothing is known of its training")] * 3
    return [system.seed, system.best_epoch, {"value": system.validation_mrr, "reason": "not kept"}]


def measures_table(context: Context) -> Table:
    """Return a table of the chosen measures with formula and source."""
    rows: Sequence[Sequence[Cell]] = [[m.label, m.name, m.formula, m.parameters, m.source] for m in context.measures]
    texts = [Column(name.lower(), name, "text") for name in ("Name", "Formula", "Parameters", "Source")]
    columns = [Column("measure", "Measure", "measure"), *texts]
    return Table("report-measures", "Measures", columns, rows)
