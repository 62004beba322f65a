"""Reusability: would the labels have been fair to a system that had not been in the pool, and are they to this one?"""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.labels.pool_table import EvaluationError
from evaluation.planning.findings import TOP, Judged, judged_of, original, reuse_version
from evaluation.planning.yields import nan_if_none
from evaluation.reusability.leave_out import by_leaving_out, each_system, left_json, says
from evaluation.sections.section import Action, Analysis, Cell, Chart, Column, Context, Json, Part, Section, Table, cell
from evaluation.sections.settings import Settings
from pooling.models import Pool

NAMED = 4  # systems in a sentence


def by_judged(context: Context) -> list[Section]:
    """EvaluationError for the full test set."""
    if context.settings.labels == "full-test":
        raise EvaluationError("The full test set was not pooled: choose other labels.")
    return [_judged(context, judged_rows(context))]


def judged_rows(context: Context) -> list[Judged]:
    chosen = original(context.pool, context.table, context.settings)
    return judged_of(context.pool, context.table, chosen, context.settings.assumed_is_judged)


def _judged(context: Context, rows: Sequence[Judged]) -> Section:
    share, pool = context.settings.share, context.pool
    cuts = sorted(rows[0].shares) if rows else [TOP]
    columns = [
        Column("system", "System", "system"),
        Column("pooled", "In the pool", "text"),
        *(Column(f"judged_{k}", f"Judged@{k}", "share", f"judged share of its first {k} candidates") for k in cuts),
        Column("outside", "Not pooled", "count", f"of its first {pool.depth} candidates"),
        Column("to_people", "Of these for people", "count", "that no filter of the pool takes"),
        Column("waiting", "Pooled, unjudged", "count"),
        Column("missing", "To be judged", "count"),
        Column("verdict", "Comparable", "text"),
    ]
    nothing = "the seeds ask no question"
    table: list[list[Cell]] = [
        [
            row.system,
            "yes" if row.is_pooled else "no",
            *(cell(nan_if_none(row.shares[k]), nothing) for k in cuts),
            row.outside,
            row.to_people,
            row.waiting,
            row.missing,
            "yes" if row.is_comparable(share) else "not comparable",
        ]
        for row in rows
    ]
    series = [
        {"name": f"Judged@{k}", "x": [row.system for row in rows], "y": [row.shares[k] for row in rows], "measure": i}
        for i, k in enumerate(cuts)
    ]
    missing = [row for row in rows if not row.is_comparable(share)]
    growable = [row for row in rows if not row.is_pooled and row.outside and pool.frozen_at is None]
    assumed = "counted" if context.settings.assumed_is_judged else "not counted"
    return Section(
        "judged",
        "Which systems can be compared",
        "How much of what each system returns first has been judged. What nobody judged counts as wrong in most"
        f" measures, so a system that was not pooled is comparable only where at least {100 * share:g} % of its first"
        f" {min(TOP, pool.depth)} candidates are judged.",
        f"Labels: {context.labels.name}, questions of the seeds; assumed negatives {assumed} as judged. Not pooled:"
        f" among its first {pool.depth} candidates, the depth of the pool.",
        [Table("judged", "Judged share of the first candidates", columns, table)],
        Chart(
            "bars",
            "Judged share of the first candidates of each system",
            {"series": series, "y": "judged share", "yaxis": {"range": [0, 1.02]}},
        ),
        _judged_says(rows, missing),
        [f"The pool was frozen on {pool.frozen_at:%Y-%m-%d}: it takes no more triples."] if pool.frozen_at else [],
        actions=[
            Action(
                f"Add the {row.outside:,} missing triples of {row.system} to the pool",
                "reusability-extend",
                {"system": row.system},
            )
            for row in growable
        ],
    )


def _judged_says(rows: Sequence[Judged], missing: Sequence[Judged]) -> str:
    if missing:
        names = ", ".join(
            f"{row.system} ({row.missing:,} triple{'s' if row.missing != 1 else ''} to judge)"
            for row in missing[:NAMED]
        )
        if len(missing) > NAMED:
            names += f" and {len(missing) - NAMED} more"
        return f"Not comparable: {names}."
    if all(row.is_pooled for row in rows):
        return "Every system is in the pool."
    return "Every system is comparable."


def reusability_json(pool: Pool, settings: Settings) -> Json:
    """What the page says, for who reads it by a script; EvaluationError for labels that no pool has."""
    context = Context(pool, settings)
    rows = judged_rows(context)
    found, systems, families = each_system(context)
    return {
        "pool": pool.name,
        "labels": context.labels.name,
        "measures": list(settings.measures),
        "share": settings.share,
        "found_by": "ranks" if found.by_ranks else "provenance",
        "says": [
            _judged_says(rows, [row for row in rows if not row.is_comparable(settings.share)]),
            *filter(None, [says(context, systems, "system"), says(context, families, "family")]),
        ],
        "judged": {
            row.system: {
                "pooled": row.is_pooled,
                "k": row.k,
                "at": {str(k): of for k, of in row.shares.items()},
                "outside": row.outside,
                "to_people": row.to_people,
                "waiting": row.waiting,
                "missing": row.missing,
                "comparable": row.is_comparable(settings.share),
            }
            for row in rows
        },
        "without": {"system": left_json(context, systems), "family": left_json(context, families)},
    }


ANALYSIS = Analysis(
    "reusability",
    "Reusability",
    "Reusability",
    "Are the labels fair to a system that was not in the pool, and which systems can they compare?",
    "reusability",
    ("labels", "measures", "questions", "assumed", "share"),
    (Part("judged", by_judged), Part("leave-out", by_leaving_out)),
    version=reuse_version,
)
