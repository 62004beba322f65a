"""Time pointwise systems by compiled loops against the same scores by torch, on the same models, in one process.

    python benchmarks/pointwise.py --quick      TransE L1, some of the questions, within a minute
    python benchmarks/pointwise.py              four systems on FB15k-237; writes its table into docs/measured

The weights are random, of the presets for large graphs. Loops rank all test triples from both sides and collect 100
candidates a question. torch (`SystemSpec.compare`) ranks some of the same questions, whose time is scaled to all;
*other ranks* counts those of them that differ, because sums were rounded in another order.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

os.environ.setdefault("GOMP_SPINCOUNT", "10000")  # as in all processes of the site (config/settings.py)
import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.graphs import fb15k237
from benchmarks.report import Summary, machine, write_section
from pooling.questions.kernel import answers_csr, questions_of
from pooling.scoring import compiled
from pooling.scoring.ranking import score_questions
from pooling.scoring.scorer import HEIGHT, Scorer, build_model
from pooling.systems import get_model

SYSTEMS = ("transe-l1", "protate", "hake", "query2box")
SAMPLE = 4 * HEIGHT  # questions that torch ranks
NEVER = 1 << 60


class Row(NamedTuple):
    """Hold the seconds of one system, the median and the shortest of ours, and how many ranks of the sample differ."""

    system: str
    ours: float
    least: float
    torch: float
    different: int
    sample: int


def measure(name: str, repeats: int, questions_most: int) -> Row:
    """Return the times of one system, for all questions or the first ones."""
    train, valid, test, entities, relations = fb15k237()
    spec = get_model(name)
    settings = {**spec.preset(entities, len(train))}
    model = build_model(spec, entities, relations, settings, seed=1).eval()
    test = test[np.random.default_rng(0).permutation(len(test))][: questions_most // 2]

    def rank(scorer: Scorer, triples: np.ndarray) -> tuple[float, np.ndarray]:
        questions, _, _ = questions_of(triples)
        known = answers_csr(questions, np.concatenate([train, valid]), entities, relations)
        wanted = answers_csr(questions, triples, entities, relations)
        begin = time.perf_counter()
        found = score_questions(scorer, questions, masked=known, top_masked=wanted, wanted=wanted, seed=1)
        return time.perf_counter() - begin, found.optimistic

    few = test[: SAMPLE // 2]
    loops = Scorer(spec, model)
    assert loops.prepared is not None
    _, ranks = rank(loops, few)  # compiles
    ours = [rank(loops, test)[0] for _ in range(repeats)]
    usual, compiled.LEAST_FLOATS = compiled.LEAST_FLOATS, NEVER
    try:
        plain = Scorer(spec, model)
    finally:
        compiled.LEAST_FLOATS = usual
    seconds, expected = rank(plain, few)
    different = int((ranks != expected).sum())
    scale = len(questions_of(test)[0].side) / len(questions_of(few)[0].side)
    return Row(spec.label, statistics.median(ours), min(ours), seconds * scale, different, ranks.size)


def main() -> None:
    """Run, print, and in the full form write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="TransE L1, some of the questions")
    args = parser.parse_args()
    names, repeats, most = (SYSTEMS[:1], 1, 4 * SAMPLE) if args.quick else (SYSTEMS, 3, 1 << 30)
    before, rows = os.getloadavg()[0], []
    for name in names:
        rows.append(measure(name, repeats, most))
        print(rows[-1], flush=True)
    if not args.quick:
        lines = [
            "| system | torch, s | ours, s | shortest, s | times as fast | other ranks |",
            "|---|---|---|---|---|---|",
        ]
        lines += [
            f"| {r.system} | {r.torch:.0f} | {r.ours:.1f} | {r.least:.1f} | {r.torch / r.ours:.0f}"
            f" | {r.different} of {r.sample:,} |"
            for r in rows
        ]
        intro = (
            "Filtered ranks of both sides of all FB15k-237 test triples with 100 candidates a question, presets for"
            f" large graphs, {torch.get_num_threads()} threads, medians of {repeats}; torch ranked at most {SAMPLE:,}"
            " questions, scaled to all. *Other ranks*: those of the sample that differ, because sums are rounded in"
            f" another order. Load of the machine: {before:.1f} before and {os.getloadavg()[0]:.1f} after; {machine()}."
        )
        write_section("pointwise", "\n".join(["## Pointwise systems", "", intro, "", *lines]))
    worst = min(rows, key=lambda row: row.torch / row.ours)
    print(Summary(f"filtered ranks of FB15k-237's test triples, {worst.system}", worst.ours, "torch", worst.torch))


if __name__ == "__main__":
    main()
