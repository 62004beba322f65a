"""Give notebooks measures, tests and correlations of runs as DataFrames, without Django or a database.

`from evaluation import …` gives these functions; docs/notebooks.md shows them.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from evaluation.measures.question_sums import question_sums
from evaluation.measures.registry import USUAL_NAMES as NAMES
from evaluation.measures.values import Values, values
from evaluation.notebooks.rank_table import RankedRuns, rank_table
from evaluation.statistics.bootstrap import bootstrap_correlations
from evaluation.statistics.t_tests import clustered_t_tests, paired_t_tests

__all__ = ["RankedRuns", "compare", "correlate", "evaluate", "per_answer", "per_question", "rank_table", "reasons"]


def evaluate(ranked: RankedRuns, measures: Iterable[str] = NAMES, assumed_is_judged: bool = True) -> pd.DataFrame:
    """Return the measures of every system.

    Parameters
    ----------
    ranked : RankedRuns
        The runs and labels, from `rank_table`.
    measures : iterable of str, optional
        Names such as "micro_mrr" and "map@20"; the usual ones if left out.
    assumed_is_judged : bool, default True
        Whether filtered triples count as judged negatives.

    Returns
    -------
    DataFrame
        A row per system and a column per measure; NaN where undefined (`reasons` says why).

    Raises
    ------
    ValueError
        For an unknown measure; the message names the known ones.

    Examples
    --------
    >>> from triplepool import evaluate
    >>> from triplepool.example import ranked
    >>> evaluate(ranked, ["micro_mrr", "macro_hits@1", "map"]).round(3)
            micro_mrr  macro_hits@1    map
    system
    RotatE      1.000          1.00  1.000
    TransE      0.857          0.75  0.833
    Random      0.267          0.00  0.317
    """
    found = values(ranked.prepared, ranked.state, measures, assumed_is_judged)
    means = {name: value.mean() for name, value in found.items()}
    return pd.DataFrame(means, index=_systems(ranked), columns=list(found))


def reasons(ranked: RankedRuns, measures: Iterable[str] = NAMES, assumed_is_judged: bool = True) -> pd.DataFrame:
    """Return why measures are undefined, in the shape of `evaluate`.

    Parameters
    ----------
    ranked : RankedRuns
        The runs and labels, from `rank_table`.
    measures : iterable of str, optional
        Names such as "micro_mrr" and "map@20"; the usual ones if left out.
    assumed_is_judged : bool, default True
        Whether filtered triples count as judged negatives.

    Returns
    -------
    DataFrame
        A row per system and a column per measure; "" where the value is defined.

    Raises
    ------
    ValueError
        For an unknown measure; the message names the known ones.

    Examples
    --------
    >>> from triplepool import rank_table, reasons
    >>> from triplepool.example import qrels, runs
    >>> short = rank_table(runs[runs["rank"] <= 3], qrels)
    >>> print(reasons(short, ["micro_mr"]).loc["Random", "micro_mr"])
    the run did not return 6 of 7 answers; a mean rank needs all
    """
    found = values(ranked.prepared, ranked.state, measures, assumed_is_judged)
    return pd.DataFrame({name: value.reasons() for name, value in found.items()}, index=_systems(ranked))


def per_question(ranked: RankedRuns, measure: str, assumed_is_judged: bool = True) -> pd.DataFrame:
    """Return one value for each evaluated question and system.

    Parameters
    ----------
    ranked : RankedRuns
        The runs and labels, from `rank_table`.
    measure : str
        A name such as "micro_mrr" or "map@20".
    assumed_is_judged : bool, default True
        Whether filtered triples count as judged negatives.

    Returns
    -------
    DataFrame
        A row per question with an answer, a column per system; for a micro measure the mean over its answers.

    Raises
    ------
    ValueError
        For an unknown measure; the message names the known ones.

    Examples
    --------
    >>> from triplepool import per_question
    >>> from triplepool.example import ranked
    >>> per_question(ranked, "map").round(3)
    system    RotatE  TransE  Random
    question
    q1           1.0   0.833   0.325
    q2           1.0   0.500   0.200
    q3           1.0   1.000   0.417
    q4           1.0   1.000   0.325
    """
    value = _values(ranked, measure, assumed_is_judged)
    sums = question_sums(value)
    means = sums.sums / sums.counts
    index = ranked.questions[sums.question]
    return pd.DataFrame((value.finish(means) if value.finish else means).T, index=index, columns=_systems(ranked))


def per_answer(ranked: RankedRuns, measure: str, assumed_is_judged: bool = True) -> pd.DataFrame:
    """Return one value for each answer and system.

    Parameters
    ----------
    ranked : RankedRuns
        The runs and labels, from `rank_table`.
    measure : str
        A micro measure, such as "micro_mrr".
    assumed_is_judged : bool, default True
        Whether filtered triples count as judged negatives.

    Returns
    -------
    DataFrame
        A row per answer (question, candidate), a column per system.

    Raises
    ------
    ValueError
        For an unknown measure, and for a macro measure, which has no value per answer.

    Examples
    --------
    >>> from triplepool import per_answer
    >>> from triplepool.example import ranked
    >>> per_answer(ranked, "micro_mrr").round(3).head(3)
    system              RotatE  TransE  Random
    question candidate
    q1       a             1.0     0.5    0.25
             b             1.0     1.0    0.25
    q2       b             1.0     0.5    0.20
    """
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
    """Test all pairs of systems with paired two-tailed t-tests.

    The values of a micro measure are not independent inside a question, so they are clustered by question.

    Parameters
    ----------
    ranked : RankedRuns
        The runs and labels, from `rank_table`.
    measure : str
        A name such as "micro_mrr" or "map@20".
    clustered : bool, optional
        Whether questions are clusters; by default they are for a micro measure.
    assumed_is_judged : bool, default True
        Whether filtered triples count as judged negatives.

    Returns
    -------
    DataFrame
        A row per pair: first, second, difference, t, p, p_holm (corrected for all pairs, Holm 1979), units, clusters;
        NaN where a value is undefined.

    Raises
    ------
    ValueError
        For an unknown measure; the message names the known ones.

    Examples
    --------
    >>> from triplepool import compare
    >>> from triplepool.example import ranked
    >>> compare(ranked, "micro_mrr")[["first", "second", "difference", "p_holm"]].round(3)
        first  second  difference  p_holm
    0  RotatE  TransE       0.143   0.232
    1  RotatE  Random       0.733   0.000
    2  TransE  Random       0.590   0.011
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
    """Return how much two label sets of the same runs agree on the order of the systems.

    Parameters
    ----------
    one, other : RankedRuns
        Two label sets of one table: see `RankedRuns.relabelled`.
    measures : sequence of str, optional
        Names of measures; the usual ones if left out.
    resamples : int, default 1000
        Bootstrap resamples of the questions.
    rng : numpy.random.Generator, optional
        Draws the resamples; seed 0 if left out.
    assumed_is_judged : bool, default True
        Whether filtered triples count as judged negatives.

    Returns
    -------
    DataFrame
        A row per measure: tau_b, its 95 % percentile interval low and high, tau_ap, rbo, spearman, and the questions
        evaluated under either. NaN where fewer than two systems are defined or one side ties them all.

    Raises
    ------
    ValueError
        If the two are not label sets of one table, or for an unknown measure.

    Examples
    --------
    >>> from triplepool import correlate
    >>> from triplepool.example import qrels, ranked
    >>> sparse = ranked.relabelled(qrels.groupby("question").head(2))
    >>> correlate(sparse, ranked, ["map"], resamples=100)[["tau_b", "tau_ap", "questions"]].round(3)
             tau_b  tau_ap  questions
    measure
    map        1.0     1.0          4
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
