"""Our one-pass ranking with candidates against PyKEEN's evaluator, on the same models, in one process.

    python benchmarks/ranking.py --quick      DistMult, few triples, within a minute; the last line is the ratio
    python benchmarks/ranking.py              four systems on FB15k-237; writes its table into docs/benchmarks.md

The weights are random: neither side looks at them. PyKEEN ranks a seeded sample of the test triples, at its own
best batch size, and its time is scaled to all of them (it grows linearly); ours ranks all and collects 100
candidates per question. The floor is the bare matrix products of the same shapes into one buffer.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.graphs import fb15k237
from benchmarks.report import write_section
from pooling.kernels.questions import answers_csr, questions_of
from pooling.kernels.ranking import score_questions
from pooling.kernels.scorer import Scorer, build_model
from pooling.systems import get_system

DIM = {"distmult": 256, "complex": 128, "transe": 256, "rotate": 128}


class Row(NamedTuple):
    """Times of one system, in seconds."""

    system: str
    pykeen: float
    ours: float
    floor: float


def seconds(act: Callable[[], object], repeats: int) -> float:
    """Median time of `act`."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        act()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def pykeen_seconds(model, train, valid, triples, repeats: int) -> float:
    """Median time of PyKEEN's filtered evaluation of `triples`."""
    from pykeen.evaluation import RankBasedEvaluator

    filters = [torch.as_tensor(x).long() for x in (train, valid)]
    batch = torch.as_tensor(triples).long()
    return seconds(
        lambda: RankBasedEvaluator().evaluate(
            model, batch, additional_filter_triples=filters, batch_size=32, use_tqdm=False
        ),
        repeats,
    )


def measure(name: str, sample: int, repeats: int) -> Row:
    """Times for one system, in seconds."""
    train, valid, test, entities, relations = fb15k237()
    spec = get_system(name)
    settings = {**spec.preset(entities, len(train)), "embedding_dim": DIM[name]}
    model = build_model(spec, entities, relations, settings, seed=1).eval()
    picked = test[np.random.default_rng(0).choice(len(test), sample, replace=False)]
    with torch.no_grad():
        theirs = pykeen_seconds(model, train, valid, picked, min(repeats, 3)) / sample * len(test)
    questions, _, _ = questions_of(test)
    known = answers_csr(questions, np.concatenate([train, valid]), entities, relations)
    wanted = answers_csr(questions, test, entities, relations)
    scorer = Scorer(spec, model)
    ours = seconds(
        lambda: score_questions(scorer, questions, masked=known, top_masked=wanted, wanted=wanted, seed=1),
        repeats,
    )
    features = scorer.features
    buffer, query = torch.empty(256, entities), torch.randn(256, features.shape[1])

    def products() -> None:
        for _ in range(-(-len(questions.side) // 256)):
            torch.mm(query, features.T, out=buffer)

    floor = seconds(products, repeats)
    return Row(spec.label, theirs, ours, floor)


def main() -> None:
    """Run, print, and in the full form write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="DistMult only, in a minute")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    names, sample, repeats = (["distmult"], 192, 3) if args.quick else (list(DIM), 512, 5)
    rows = []
    for name in names:
        row = measure(name, sample, repeats)
        rows.append(row)
        print(
            f"{row.system}: PyKEEN {row.pykeen:.1f} s ({sample} triples), ours {row.ours:.2f} s,"
            f" matrix products alone {row.floor:.2f} s: {row.ours / row.floor:.1f} × the floor",
            flush=True,
        )
    if not args.quick:
        table = [
            "| system | PyKEEN, s | ours with top 100, s | ratio | matrix products alone, s |",
            "|---|---|---|---|---|",
        ]
        table += [
            f"| {r.system} | {r.pykeen:.0f} | {r.ours:.2f} | {r.pykeen / r.ours:.0f} | {r.floor:.2f} |"
            for r in rows
        ]
        intro = (
            f"Filtered ranks of both sides of all FB15k-237 test triples, {args.threads} threads, medians of"
            f" {repeats}; PyKEEN's RankBasedEvaluator, same process, from {sample} triples."
        )
        write_section("ranking", "\n".join(["## Ranking", "", intro, "", *table]))
    print(f"ranking: {min(r.pykeen / r.ours for r in rows):.1f} x PyKEEN")


if __name__ == "__main__":
    main()
