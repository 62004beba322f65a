"""Write the tables of estimate_coverage.py: coverage, bias and spread."""

import os
import platform
from collections.abc import Mapping

import numpy as np

from benchmarks.estimate_coverage import ROOT, Case, Cell, Rows, truth
from benchmarks.fb15k237_study import table
from benchmarks.report import write_section

NAME = "estimate-coverage"


def write_tables(case: Case, found: Mapping[Cell, Rows], to_docs: bool) -> None:
    """Print the tables; write them to docs/measured/benchmarks.md and the first to docs/evaluation.md."""
    true = truth(case)
    cells, draws = list(found), min(map(len, found.values()))
    quantities = list(found[cells[0]][0])
    with_ends = [name for name in quantities if np.isfinite(found[cells[0]][0][name]).all()]
    without = [name for name in quantities if name not in with_ends]
    head = ["interval", *(cell.title for cell in cells)]
    covered, shifts = (
        table(head, [[_label(name), *(of(case, name, found[cell], true) for cell in cells)] for name in names])
        for of, names in ((_covered, with_ends), (_shift, quantities))
    )
    about = (
        f"{draws:,} draws of each order and share from the published labels of FB15k-237 (12,567 triples for people,"
        f" 1,714 of them positive), six runs of docs/measured ({', '.join(case.systems)})."
    )
    single = np.concatenate([_shares(case, name, found[cell], true) for cell in cells for name in with_ends])
    near = int(((single >= 92) & (single <= 98)).sum())
    short = (
        f"{about} Percent of the intervals that hold the value of the whole pool: mean over the six systems, and in"
        f" brackets the least and the most of a system. Of {draws:,} draws a share has a standard error of"
        f" {100 * np.sqrt(0.95 * 0.05 / draws):.1f} points. Of {single.size} shares of one system or one stratum,"
        f" {near} are from 92 to 98, the others from {single.min():.1f} to {single.max():.1f}."
        " By `benchmarks/estimate_coverage.py`."
    )
    measured = (
        f"## Coverage of estimates\n\nMachine: {os.cpu_count()} cores, {platform.processor() or platform.machine()},"
        f" Python {platform.python_version()}. {short}\n\n{covered}\n\nBias ± standard deviation of the estimates in"
        f" percent of the value of the whole pool, mean over the systems. {len(without)} of them have no interval."
        f"\n\n{shifts}"
    )
    print(measured)
    if to_docs:
        write_section(NAME, measured)
        write_section(NAME, f"{short}\n\n{covered}", ROOT / "docs" / "evaluation.md")


def write_totals(held: Mapping[Cell, float], draws: int) -> None:
    """Print how often the intervals of totals hold, and write it below the tables."""
    shares = "; ".join(
        f"{cell.title} {100 * share:.1f} ± {100 * np.sqrt(share * (1 - share) / draws):.1f}"
        for cell, share in held.items()
    )
    text = (
        f"The totals need no model, so they were drawn more often: of {draws:,} draws, the intervals of the number of"
        f" positives hold it in (percent ± standard error): {shares}."
    )
    print(text)
    for file in (ROOT / "docs" / "measured" / "benchmarks.md", ROOT / "docs" / "evaluation.md"):
        write_section("estimate-totals", text, file)


def _label(name: str) -> str:
    from evaluation.estimates.estimate import LABELS
    from evaluation.estimates.kernels.quantities import COUNTS

    kind, quantity = name.split(maxsplit=1)
    if kind == "wilson":
        return "Positives of a stratum (Wilson)"
    labels = LABELS | {one.name: one.label for one in COUNTS}
    return f"{labels[quantity]}, by the model" if kind == "model" else labels[quantity]


def _true(case: Case, name: str, rows: Rows, true: Mapping[str, np.ndarray]) -> np.ndarray:
    if not name.startswith("wilson"):
        return true[name]
    if rows[0][name].shape[1] == 1:
        return np.array([float((case.positive & case.might).sum())])
    from pooling.orders.stratified import strata_of, stratum_of

    stratum = stratum_of(np.maximum(case.depth[case.might], 1), strata_of({}).bounds)
    return np.bincount(stratum, case.positive[case.might]).astype(np.float64)


def _covered(case: Case, name: str, rows: Rows, true: Mapping[str, np.ndarray]) -> str:
    share = _shares(case, name, rows, true)
    mean = f"{share.mean():.0f}"
    return mean if share.size == 1 else f"{mean} ({share.min():.0f}–{share.max():.0f})"


def _shares(case: Case, name: str, rows: Rows, true: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return the percent of draws whose interval holds the value of the whole pool, of each system or stratum."""
    value = _true(case, name, rows, true)
    every = np.stack([row[name] for row in rows])  # [draws, value low high, systems]
    open_ends = np.ptp(every[:, 2] - every[:, 1], axis=0) + (every[:, 2] - every[:, 1]).max(axis=0) > 1e-9
    held = (every[:, 1] <= value + 1e-9) & (value - 1e-9 <= every[:, 2])
    share: np.ndarray = 100 * held.mean(axis=0)[open_ends]  # a stratum that is all drawn has no chance in it
    return share


def _shift(case: Case, name: str, rows: Rows, true: Mapping[str, np.ndarray]) -> str:
    value = _true(case, name, rows, true)
    every = np.stack([row[name][0] for row in rows])
    with np.errstate(invalid="ignore"):
        bias = 100 * (np.nanmean(every, axis=0) / value - 1).mean()
        spread = 100 * (np.nanstd(every, axis=0) / value).mean()
    return f"{bias:+.1f} ± {spread:.1f}" if spread < 1000 else "± over 1,000"
