"""The door for notebooks: measures, tests and correlations of runs as DataFrames, without Django or a database.

`from evaluation import …` gives these functions; docs/notebooks.md shows them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from evaluation.measures.question_sums import question_sums
from evaluation.measures.registry import USUAL
from evaluation.measures.values import Values, values
from evaluation.notebooks.rank_table import RankedRuns, rank_table
from evaluation.statistics.bootstrap import bootstrap_correlations
from evaluation.statistics.t_tests import clustered_t_tests, paired_t_tests

__all__ = ["RankedRuns", "compare", "correlate", "evaluate", "per_answer", "per_question", "rank_table", "reasons"]

NAMES = tuple(measure.name for measure in USUAL)


def evaluate(ranked: RankedRuns, measures: Iterable[str] = NAMES, assumed_is_judged: bool = True) -> pd.DataFrame:
    """The measures, a row per system and a column per measure; NaN where undefined (`reasons` says why)."""
    found = values(ranked.prepared, ranked.state, measures, assumed_is_judged)
    means = {name: value.mean() for name, value in found.items()}
    return pd.DataFrame(means, index=_systems(ranked), columns=list(found))


def reasons(ranked: RankedRuns, measures: Iterable[str] = NAMES, assumed_is_judged: bool = True) -> pd.DataFrame:
    """Why a measure is undefined, in the shape of `evaluate`; "" where it is defined."""
    found = values(ranked.prepared, ranked.state, measures, assumed_is_judged)
    return pd.DataFrame({name: value.reasons() for name, value in found.items()}, index=_systems(ranked))


def per_question(ranked: RankedRuns, measure: str, assumed_is_judged: bool = True) -> pd.DataFrame:
    """One value per evaluated question (row) and system (column); for a micro measure the mean over its answers."""
    value = _values(ranked, measure, assumed_is_judged)
    sums = question_sums(value)
    means = sums.sums / sums.counts
    index = ranked.questions[sums.question]
    return pd.DataFrame((value.finish(means) if value.finish else means).T, index=index, columns=_systems(ranked))


def per_answer(ranked: RankedRuns, measure: str, assumed_is_judged: bool = True) -> pd.DataFrame:
    """One value per answer (row: question, candidate) and system (column); ValueError for a macro measure."""
    value = _values(ranked, measure, assumed_is_judged)
    if value.unit_row is None:
        raise ValueError(f"{measure!r} has one value per question, not per answer: use per_question")
    question, candidate = ranked.questions[value.unit_question], pd.Index(ranked.candidates[value.unit_row])
    index = pd.MultiIndex.from_arrays([question, candidate], names=["question", "candidate"])
    units = value.finish(value.per_unit) if value.finish else value.per_unit
    return pd.DataFrame(units.T, index=index, columns=_systems(ranked))


def compare(
    ranked: RankedRuns, measure: str, clustered: bool | None = None, assumed_is_judged: bool = True
) -> pd.DataFrame:
    """Paired two-tailed t-tests of all pairs of systems: first, second, difference, t, p, p_holm, units, clusters.

    The values of a micro measure are not independent inside a question, so they are clustered by question unless
    `clustered` is False. `p_holm` is corrected for all pairs (Holm 1979). NaN where a value is undefined.
    """
    value = _values(ranked, measure, assumed_is_judged)
    tests = clustered_t_tests(value) if _by_default(value, clustered) else paired_t_tests(value)
    systems = _systems(ranked)
    return pd.DataFrame(
        {
            "first": systems[tests.first],
            "second": systems[tests.second],
            "difference": tests.difference,
            "t": tests.t,
            "p": tests.p,
            "p_holm": tests.corrected("holm"),
            "units": tests.n,
            "clusters": tests.n if tests.clusters is None else tests.clusters,
        }
    )


def correlate(
    one: RankedRuns,
    other: RankedRuns,
    measures: Sequence[str] = NAMES,
    resamples: int = 1000,
    rng: np.random.Generator | None = None,
    assumed_is_judged: bool = True,
) -> pd.DataFrame:
    """How much two label sets of the same runs agree on the order of the systems, a row per measure.

    Columns: tau_b, its 95 % percentile interval low and high over `resamples` of the questions drawn by `rng`
    (default: seed 0), tau_ap, rbo, spearman, and the questions evaluated under either. A value is NaN where fewer
    than two systems are defined or one side ties them all.
    """
    if one.systems != other.systems or not one.questions.equals(other.questions):
        raise ValueError("both must be label sets of the same table: see RankedRuns.relabelled")
    sides = [
        {name: question_sums(value) for name, value in found.items()}
        for found in (values(r.prepared, r.state, measures, assumed_is_judged) for r in (one, other))
    ]
    found = bootstrap_correlations(sides[0], sides[1], rng or np.random.default_rng(0), resamples)
    columns: dict[str, dict[str, float]] = {}
    for name, by in found.items():
        tau = by["tau_b"]
        low, high = (np.nan, np.nan) if np.isnan(tau.value) else (tau.low, tau.high)
        columns[name] = {"tau_b": tau.value, "low": low, "high": high}
        columns[name] |= {other: by[other].value for other in ("tau_ap", "rbo", "spearman")}
        columns[name]["questions"] = tau.questions
    table = pd.DataFrame(columns).T.rename_axis("measure")
    return table.astype({"questions": int})


def _systems(ranked: RankedRuns) -> pd.Index:
    return pd.Index(ranked.systems, name="system")


def _values(ranked: RankedRuns, measure: str, assumed_is_judged: bool) -> Values:
    return values(ranked.prepared, ranked.state, [measure], assumed_is_judged)[measure]


def _by_default(value: Values, clustered: bool | None) -> bool:
    return value.unit == "answer" if clustered is None else clustered
