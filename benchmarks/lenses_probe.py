"""Time PROBE at 41 x 41 points on as many ranks as the full test of FB15k-237, against its formula; medians.

    python benchmarks/lenses_probe.py --quick     6 systems; the last line is the main ratio
    python benchmarks/lenses_probe.py             6 and 13 systems; writes its table into docs/measured

Ranks and degrees are drawn: 40,932 answers among 14,541 entities, as many as the test set has on both sides.
The formula is numpy's, one point after the other, all answers at once; equal values are checked first.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.report import Summary, write_section  # noqa: E402
from evaluation.probe.kernel import best_systems, probe_surface, system_places  # noqa: E402

ANSWERS, ENTITIES, HIGHEST = 40_932, 14_541, 8_000
SHARPNESSES, ROBUSTNESSES = np.arange(41) / 20, np.arange(41) / 40
CHECKED = 3  # every how many points of each axis the formula computes
TARGET = 2.0  # seconds


def drawn(systems: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw ranks [systems, answers], half of them whole and many of them 1, and degrees [answers]."""
    rng = np.random.default_rng(42)
    ranks = np.floor(2 * ENTITIES ** (rng.random((systems, ANSWERS)) ** 1.5)) / 2
    return np.clip(ranks, 1, ENTITIES), rng.geometric(1 / 40, ANSWERS).clip(max=HIGHEST)


def point(ranks: np.ndarray, degree: np.ndarray, a: float, b: float) -> np.ndarray:
    """Return PROBE [systems] by the formula; a above 0."""
    weight = (1 / (degree + 1)) ** b
    score = ((1 / ranks) ** a - 1) / (1 - (1 / ENTITIES) ** a) + 1
    return (score * weight).sum(axis=1) / weight.sum()


def median_seconds(act: Callable[[], object], repeats: int) -> float:
    taken = []
    for _ in range(repeats):
        begin = time.perf_counter()
        act()
        taken.append(time.perf_counter() - begin)
    return statistics.median(taken)


def measured(systems: int, repeats: int) -> tuple[str, Summary]:
    ranks, degree = drawn(systems)
    surface = probe_surface(ranks, degree, ENTITIES, SHARPNESSES, ROBUSTNESSES)
    some = [(i, j) for i in range(CHECKED, 41, CHECKED) for j in range(0, 41, CHECKED)]
    begin = time.perf_counter()
    for i, j in some:
        expected = point(ranks, degree, SHARPNESSES[i], ROBUSTNESSES[j])
        np.testing.assert_allclose(surface[:, i, j], expected, atol=1e-10)
    slow = (time.perf_counter() - begin) / len(some) * surface[0].size
    fast = median_seconds(lambda: probe_surface(ranks, degree, ENTITIES, SHARPNESSES, ROBUSTNESSES), repeats)
    order = median_seconds(lambda: (best_systems(surface), system_places(surface)), repeats)
    size = f"{systems} systems, {ANSWERS:,} answers, {surface[0].size:,} points"
    row = (
        f"| {size} | {fast:.2f} s; the formula {slow:.1f} s, from {len(some)} points: {slow / fast:.0f} x"
        f" | {order * 1e3:.0f} ms | <= {TARGET:g} s |"
    )
    return row, Summary(f"PROBE of {systems} systems at {surface[0].size:,} points", fast, "point by point", slow)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="6 systems, nothing written")
    arguments = parser.parse_args()
    lines = [
        f"{os.cpu_count()} cores, drawn ranks, medians of 5. The values equal the formula to 1e-10 at the points"
        " compared.",
        "",
        "| what | all points | best systems and places | asked for |",
        "|---|---|---|---|",
    ]
    print("\n".join(lines))
    main_figure = None
    for systems in (6,) if arguments.quick else (6, 13):
        row, main_figure = measured(systems, 5)
        lines.append(row)
        print(row, flush=True)
    if not arguments.quick:
        write_section("lenses-probe", "\n".join(["## PROBE", "", *lines]))
    print(main_figure)


if __name__ == "__main__":
    main()
