"""Measure memory and time of ranking as the number of entities grows, on made-up graphs, each in its own process.

    python benchmarks/ranking_memory.py --quick   15 and 150 thousand entities; the last line is the most memory
    python benchmarks/ranking_memory.py           and 1.5 million; writes its table into docs/measured

Memory is the peak of the process while it ranks, less what it held just before: model, graph, questions and scorer.
Time is of the processor, not of the clock: what else runs on the machine matters less.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

os.environ.setdefault("GOMP_SPINCOUNT", "10000")  # as in all processes of the site (config/settings.py)
import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.processes import resident
from benchmarks.report import write_section
from pooling.questions.kernel import answers_csr, questions_of
from pooling.scoring.ranking import score_questions
from pooling.scoring.scorer import Scorer, build_model
from pooling.systems import get_model

SIZES = (15_000, 150_000, 1_500_000)
DIM, RELATIONS, TRIPLES, REPEATS = 128, 20, 256, 3
LIMIT = 512  # MiB


def measure(entities: int) -> dict[str, Any]:
    """Return CPU seconds, and MiB before and at the peak, of ranking both sides of some triples."""
    rng = np.random.default_rng(0)
    triples = rng.integers(0, [entities, RELATIONS, entities], size=(4 * entities, 3)).astype(np.int32)
    test, train = triples[:TRIPLES], triples[TRIPLES:]
    spec = get_model("distmult")
    settings = {**spec.preset(entities, len(train)), "embedding_dim": DIM}
    scorer = Scorer(spec, build_model(spec, entities, RELATIONS, settings, seed=0))
    questions, _, _ = questions_of(test)
    known = answers_csr(questions, train, entities, RELATIONS)
    wanted = answers_csr(questions, test, entities, RELATIONS)
    masked = known._replace(indptr=np.zeros_like(known.indptr), indices=known.indices[:0])
    before, seconds = resident("VmRSS"), []
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    for _ in range(REPEATS):
        start = time.process_time()
        score_questions(scorer, questions, masked=masked, top_masked=known, wanted=wanted, seed=0)
        seconds.append(time.process_time() - start)
    return {
        "entities": entities,
        "questions": len(questions.side),
        "seconds": statistics.median(seconds),
        "before": before,
        "more": resident("VmHWM") - before,
    }


def main() -> None:
    """Run each size, print, and in the full form write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="the two smaller graphs")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--entities", type=int, help="one size in this process, printed as JSON")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    if args.entities:
        print(json.dumps(measure(args.entities)))
        return
    rows = []
    for size in SIZES[:2] if args.quick else SIZES:
        command = [sys.executable, __file__, "--entities", str(size), "--threads", str(args.threads)]
        out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        rows.append(json.loads(out.splitlines()[-1]))
        print(rows[-1], flush=True)
    if not args.quick:
        lines = [
            "| entities | CPU seconds | µs per question and thousand entities | held before, MiB | more at peak, MiB |",
            "|---|---|---|---|---|",
        ]
        lines += [
            f"| {r['entities']:,} | {r['seconds']:.2f}"
            f" | {1e9 * r['seconds'] / r['questions'] / r['entities']:.1f} | {r['before']:.0f} | {r['more']:.0f} |"
            for r in rows
        ]
        intro = (
            f"DistMult d{DIM}, {rows[0]['questions']} questions with their ranks and 100 candidates,"
            f" threads: {args.threads}, medians of {REPEATS}. The graphs are made up, with 4 triples per entity."
            f" *Before* is model, graph and libraries. Target: at most {LIMIT} MiB more, time linear in the entities."
        )
        write_section("ranking-memory", "\n".join(["## Ranking: memory", "", intro, "", *lines]))
    print(f"ranking memory: {max(r['more'] for r in rows):.0f} MiB more at the peak")


if __name__ == "__main__":
    main()
