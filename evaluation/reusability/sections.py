"""Build the page Reusability: which systems the labels can compare, and the effect of leaving systems out."""

from collections.abc import Callable, Sequence

import numpy as np

from evaluation.labels.pool_table import EvaluationError
from evaluation.measures.rank_table import Floats
from evaluation.planning.findings import TOP, Judged, judged_limits, judged_of, judged_shares, original, reuse_version
from evaluation.planning.yields import nan_if_none
from evaluation.reusability.leave_out import by_leaving_out, each_system, left_json, says
from evaluation.sections.builders import chart, series_of, table_of
from evaluation.sections.compared import compared_notes, compared_of
from evaluation.sections.section import (
    Action,
    Analysis,
    Cell,
    Column,
    Context,
    Json,
    Part,
    Section,
    Table,
    cell,
    seed_columns,
)
from evaluation.sections.seed_notes import seed_notes
from evaluation.sections.settings import Settings
from pooling.models import Pool
from pooling.systems.shown_names import shown_name

NAMED = 4  # systems in a sentence


def by_judged(context: Context) -> list[Section]:
    """Show the judged share of each system. EvaluationError for full test."""
    if context.settings.labels == "full-test":
        raise EvaluationError("Full test was not pooled: choose other labels.")
    rows, share, pool = judged_rows(context), context.settings.share, context.pool
    cuts = sorted(rows[0].shares) if rows else [TOP]
    systems = [row.system for row in rows]
    series = [series_of(f"Judged@{k}", systems, [row.shares[k] for row in rows], measure=i) for i, k in enumerate(cuts)]
    if rows:
        possible = [row.of_possible(row.k) for row in rows]
        series.append(series_of(f"Judged@{rows[0].k} of possible", systems, possible, measure=len(cuts)))
    label, axis = "Judged share of the first candidates of each system", {"range": [0, 1.02]}
    missing = [row for row in rows if not row.is_comparable(share)]
    add, route = "Add the {outside:,} missing triples of {system} to the pool", "reusability-extend"
    growable = [row for row in rows if not row.is_pooled and row.outside and pool.frozen_at is None]
    assumed = "counted" if context.settings.assumed_is_judged else "not counted"
    shown = Section(
        "judged",
        "Which systems can be compared",
        "How many of the first candidates of each system are judged. Most measures count unjudged candidates as wrong,"
        f" so a system that was not pooled is comparable only if at least {100 * share:g} % of its first"
        f" {min(TOP, pool.depth)} candidates are judged. Candidates that the pool cannot contain do not count in this"
        f" share.{_limit_says(rows)}",
        f"Labels: {context.labels.name}, questions of the seeds; assumed negatives {assumed} as judged. Not pooled:"
        f" among its first {pool.depth} candidates, the depth of the pool.",
        [_judged_table(context, rows, cuts)],
        chart("bars", label, series, y="judged share", yaxis=axis, sorted=True),
        _judged_says(rows, missing),
        [f"The pool was frozen on {pool.frozen_at:%Y-%m-%d}: it takes no more triples."] if pool.frozen_at else [],
        actions=[Action(add.format(**vars(row)), route, {"system": row.system}) for row in growable],
    )
    return [shown]


def _limit_says(rows: Sequence[Judged]) -> str:
    """Say the largest judged share that any system could have if the pool has fewer than k candidates, or nothing."""
    limit = rows[0].limits[rows[0].k] if rows else None
    if limit is None or limit == 1:
        return ""
    return (
        " The pool has fewer candidates for some questions, so without this rule no system could have more than"
        f" {100 * limit:.1f} %."
    )


def judged_rows(context: Context) -> list[Judged]:
    chosen = original(context.pool, context.table, context.settings)
    return judged_of(context.pool, context.table, chosen, context.settings.assumed_is_judged)


def _judged_table(context: Context, rows: Sequence[Judged], cuts: Sequence[int]) -> Table:
    share, first = context.settings.share, f"of its first {context.pool.depth} candidates"
    kept = "that no filter of the pool takes"

    def judged(k: int) -> tuple[Column, Callable[[Judged], Cell]]:
        column = Column(f"judged_{k}", f"Judged@{k}", "share", f"judged share of its first {k} candidates")
        return column, lambda row: cell(nan_if_none(row.shares[k]), "the seeds ask no question")

    def of_possible(k: int) -> tuple[Column, Callable[[Judged], Cell]]:
        about = f"Judged@{k} divided by the largest that any system could have, since the pool holds no more"
        column = Column(f"possible_{k}", f"Judged@{k} of possible", "share", about)
        return column, lambda row: cell(nan_if_none(row.of_possible(k)), "the seeds ask no question")

    def verdict(row: Judged) -> str:
        return "yes" if row.is_comparable(share) else "not comparable"

    table = table_of(
        "judged",
        "Judged share of the first candidates",
        rows,
        [
            (Column("system", "System", "system"), lambda row: row.system),
            (Column("pooled", "In the pool", "text"), lambda row: "yes" if row.is_pooled else "no"),
            *(column for k in cuts for column in (judged(k), of_possible(k))),
            (Column("outside", "Not pooled", "count", first), lambda row: row.outside),
            (Column("to_people", "Of these for people", "count", kept), lambda row: row.to_people),
            (Column("waiting", "Pooled, unjudged", "count"), lambda row: row.waiting),
            (Column("missing", "To be judged", "count"), lambda row: row.missing),
            (Column("verdict", "Comparable", "text"), verdict),
        ],
    )
    return seed_columns(table, range(2, 2 + 2 * len(cuts)), context.spread(_shares))


def _shares(context: Context) -> Floats:
    """Return Judged@k and its share of what is possible at each k, [systems, 2 × k]."""
    asked = (context.pool, context.table, original(context.pool, context.table, context.settings))
    limits, shares = judged_limits(*asked), judged_shares(*asked, context.settings.assumed_is_judged)
    rows = [Judged(name, True, TOP, of, limits) for name, of in shares.items()]
    return np.array([[nan_if_none(one) for k in limits for one in (row.shares[k], row.of_possible(k))] for row in rows])


def _judged_says(rows: Sequence[Judged], missing: Sequence[Judged]) -> str:
    if missing:
        counts = [
            f"{shown_name(row.system)} ({row.missing:,} triple{'s' if row.missing != 1 else ''} to judge)"
            for row in missing[:NAMED]
        ]
        more = f" and {len(missing) - NAMED} more" if len(missing) > NAMED else ""
        return f"Not comparable: {', '.join(counts)}{more}."
    return f"Every system is {'in the pool' if all(row.is_pooled for row in rows) else 'comparable'}."


def reusability_json(pool: Pool, settings: Settings) -> Json:
    """Return the content of the page for scripts. EvaluationError for full test."""
    context = ANALYSIS.context(pool, settings)
    rows = judged_rows(context)
    found, systems, families = each_system(context)
    return {
        "pool": pool.name,
        "labels": context.labels.name,
        "measures": list(settings.measures),
        "share": settings.share,
        "found_by": "ranks" if found.by_ranks else "provenance",
        "compared": compared_of(context),
        "says": [
            *compared_notes(compared_of(context)),
            _judged_says(rows, [row for row in rows if not row.is_comparable(settings.share)]),
            *filter(None, [says(context, systems, "system"), says(context, families, "family")]),
            *seed_notes(context, asked=False),
        ],
        "judged": {
            row.system: {
                **{"pooled": row.is_pooled, "k": row.k, "at": {str(k): of for k, of in row.shares.items()}},
                "possible": {str(k): of for k, of in row.limits.items()},
                "of_possible": {str(k): row.of_possible(k) for k in row.shares},
                **{name: getattr(row, name) for name in ("outside", "to_people", "waiting", "missing")},
                "comparable": row.is_comparable(settings.share),
            }
            for row in rows
        },
        "without": {"system": left_json(context, systems), "family": left_json(context, families)},
    }


ANALYSIS = Analysis(
    "reusability",
    "Reusability",
    "Are the labels fair to a system that was not in the pool, and which systems can they compare?",
    "reusability",
    ("labels", "measures", "questions", "assumed", "share"),
    (Part("judged", by_judged), Part("leave-out", by_leaving_out)),
    version=reuse_version,
    by_family=True,
    group="Coverage",
)
