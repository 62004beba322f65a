"""Time our one-pass ranking with candidates against PyKEEN's evaluator, on the same models, in one process.

    python benchmarks/ranking.py --quick      DistMult, few triples, within a minute; the last line is the main figure
    python benchmarks/ranking.py              five systems on FB15k-237; writes its table into docs/measured
    python benchmarks/ranking.py --presets    five more against the floor alone, within two minutes; writes its table

The weights are random: neither side looks at them. PyKEEN ranks 512 and 1,024 of the test triples, and the difference
is scaled to all of them (its time grows linearly, and what it does once is left out). Its batches have 32 triples,
which it chooses itself on a CPU; ComplEx alone gains by larger ones, since PyKEEN computes it as a matrix product, and
is measured at both. Ours ranks all test triples and collects 100 candidates per question. The floor is the
bare matrix product of the same shape into one buffer, rows aligned to cache lines or not, whichever is faster, and
three reads of the scores; ours and the floor take turns, so that other work on the machine meets both.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

os.environ.setdefault("GOMP_SPINCOUNT", "10000")  # as in all processes of the site (config/settings.py)
import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.graphs import fb15k237
from benchmarks.report import Summary, machine, write_section
from pooling.questions.kernel import Csr, Questions, answers_csr, questions_of
from pooling.scoring.ranking import score_questions
from pooling.scoring.ranks import RankingResult
from pooling.scoring.scorer import HEIGHT, Scorer, build_model
from pooling.systems import get_model

DIM = 256  # complex numbers for ComplEx and RotatE: 512 floats
SYSTEMS = ("distmult", "complex", "transe", "rotate", "transe-l1")
LARGE_BATCH = 256  # of PyKEEN's ComplEx
PRESETS = ("rescal", "tucker", "conve", "roth", "interacte")  # against the floor alone, with the sizes of their presets


class Row(NamedTuple):
    """Hold the times of one system, in seconds, for all test triples."""

    system: str
    pykeen: float
    best_pykeen: float  # at its best batch size
    ours: float
    floor: float | None  # None: no matrix product


def clock(act: Callable[[], object]) -> float:
    """Return the seconds that `act` takes."""
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


def pykeen_seconds(
    model: Any, train: np.ndarray, valid: np.ndarray, test: np.ndarray, sizes: tuple[int, int], batch: int
) -> float:
    """Return the seconds of PyKEEN's filtered evaluation of all test triples, from the slope between two samples."""
    from pykeen.evaluation import RankBasedEvaluator

    filters = [torch.as_tensor(x).long() for x in (train, valid)]
    shuffled = torch.as_tensor(test[np.random.default_rng(0).permutation(len(test))]).long()

    def evaluate(size: int) -> None:
        RankBasedEvaluator().evaluate(
            model, shuffled[:size], additional_filter_triples=filters, batch_size=batch, use_tqdm=False
        )

    evaluate(64)
    fewer, more = (clock(lambda size=size: evaluate(size)) for size in sizes)  # type: ignore[misc]
    return (more - fewer) / (sizes[1] - sizes[0]) * len(test)


def floor_of(features: torch.Tensor, batches: int) -> Callable[[], float]:
    """Return a function that times the bare products and three reads of the scores in the faster layout."""
    entities, query = len(features), torch.randn(HEIGHT, features.shape[1])
    aligned = -(-entities // 16) * 16
    buffers = [torch.empty(HEIGHT, width)[:, :entities] for width in (entities, aligned)]

    def products(buffer: torch.Tensor) -> None:
        for _ in range(batches):
            torch.mm(query, features.T, out=buffer)
            for _ in range(3):
                buffer.sum()

    return lambda: min(clock(lambda buffer=buffer: products(buffer)) for buffer in buffers)  # type: ignore[misc]


class Task(NamedTuple):
    """Hold both sides of the test triples as questions, and what is masked and wanted in them."""

    questions: Questions
    known: Csr
    wanted: Csr

    def rank(self, scorer: Scorer, top_k: int = 100) -> RankingResult:
        return score_questions(
            scorer, self.questions, masked=self.known, top_masked=self.wanted, wanted=self.wanted, top_k=top_k, seed=1
        )


def task_of(train: np.ndarray, valid: np.ndarray, test: np.ndarray, entities: int, relations: int) -> Task:
    """Return the task of ranking the test triples."""
    questions, _, _ = questions_of(test)
    known = answers_csr(questions, np.concatenate([train, valid]), entities, relations)
    return Task(questions, known, answers_csr(questions, test, entities, relations))


@torch.no_grad()
def measure(name: str, sizes: tuple[int, int], repeats: int) -> Row:
    """Return the times of one system."""
    train, valid, test, entities, relations = fb15k237()
    spec = get_model(name)
    settings = {**spec.preset(entities, len(train)), "embedding_dim": DIM}
    model = build_model(spec, entities, relations, settings, seed=1).eval()
    task, scorer = task_of(train, valid, test, entities, relations), Scorer(spec, model)
    floor = None
    if spec.form != "pointwise":
        floor = floor_of(scorer.features, -(-len(task.questions.side) // HEIGHT))
    task.rank(scorer)  # which loads compiled loops
    ours, floors = [], []
    for _ in range(repeats if floor else 1):
        ours.append(clock(lambda: task.rank(scorer)))
        if floor:
            floors.append(floor())
    theirs = pykeen_seconds(model, train, valid, test, sizes, 32)
    large = pykeen_seconds(model, train, valid, test, sizes, LARGE_BATCH) if name == "complex" else theirs
    return Row(
        spec.label, theirs, min(theirs, large), statistics.median(ours), statistics.median(floors) if floors else None
    )


@torch.no_grad()
def measure_presets(repeats: int) -> Iterator[str]:
    """Yield a line of the table for each of PRESETS."""
    train, valid, test, entities, relations = fb15k237()
    task = task_of(train, valid, test, entities, relations)
    yield "| system | numbers per entity | ours with top 100, s | floor, s | ours / floor | queries alone, s |"
    yield "|---|---|---|---|---|---|"
    for name in PRESETS:
        spec = get_model(name)
        settings = spec.preset(entities, len(train))
        scorer = Scorer(spec, build_model(spec, entities, relations, settings, seed=1).eval())
        floor = floor_of(scorer.features, -(-len(task.questions.side) // HEIGHT))
        task.rank(scorer)
        times = [(clock(partial(task.rank, scorer)), floor()) for _ in range(repeats)]
        ours, least = (statistics.median(column) for column in zip(*times, strict=True))
        queries = clock(partial(make_queries, scorer, task.questions))
        size = settings["embedding_dim"]
        yield f"| {spec.label} | {size} | {ours:.2f} | {least:.2f} | {ours / least:.2f} | {queries:.2f} |"


def make_queries(scorer: Scorer, questions: Questions) -> None:
    """Encode the questions alone, in batches of the height."""
    for start in range(0, len(questions.side), HEIGHT):
        scorer.queries(*(x[start : start + HEIGHT] for x in questions))


def table(rows: list[Row]) -> str:
    """Return the rows as Markdown."""
    lines = [
        "| system | PyKEEN, s | at its best batch, s | ours with top 100, s | times as fast | against its best"
        " | floor, s | ours / floor |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for r in rows:
        floor = ("", "") if r.floor is None else (f"{r.floor:.2f}", f"{r.ours / r.floor:.2f}")
        lines.append(
            f"| {r.system} | {r.pykeen:.0f} | {r.best_pykeen:.0f} | {r.ours:.2f} | {r.pykeen / r.ours:.0f}"
            f" | {r.best_pykeen / r.ours:.0f} | {floor[0]} | {floor[1]} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Run, print, and in the full form write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="DistMult only, in a minute")
    parser.add_argument("--presets", action="store_true", help="other systems, against the floor alone")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--systems", default=",".join(SYSTEMS), help="some of them: the table is not written")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    if args.presets:
        lines = list(measure_presets(3))
        print("\n".join(lines))
        intro = (
            f"The task of [Ranking](#ranking) with the presets of large graphs, without PyKEEN, {args.threads} threads,"
            f" medians of 3; {machine()}. *Queries alone* is the time in which a network encodes the"
            " questions, which the floor has not."
        )
        write_section("ranking-presets", "\n".join(["## Ranking: presets", "", intro, "", *lines]))
        return
    names, sizes, repeats = args.systems.split(","), (512, 1024), 5
    if args.quick:
        names, sizes, repeats = ["distmult"], (64, 128), 3
    before, rows = os.getloadavg()[0], []
    for name in names:
        row = measure(name, sizes, repeats)
        rows.append(row)
        bound = "" if row.floor is None else f", floor {row.floor:.2f} s: {row.ours / row.floor:.2f} × it"
        print(
            f"{row.system}: PyKEEN {row.pykeen:.1f} s (best batch {row.best_pykeen:.1f} s),"
            f" ours {row.ours:.2f} s{bound}",
            flush=True,
        )
    if not args.quick and names == list(SYSTEMS):
        busy = f"{before:.1f} before and {os.getloadavg()[0]:.1f} after"
        intro = (
            f"Filtered ranks of both sides of all FB15k-237 test triples, dimension {DIM} (ComplEx and RotatE: complex"
            f" numbers), {args.threads} threads, medians of {repeats} (TransE L1: once). PyKEEN's RankBasedEvaluator"
            " ran in the same process; its time comes from the slope between 512 and 1,024 triples. Its batches have 32"
            f" triples (its own choice on a CPU), and for ComplEx also {LARGE_BATCH}, because PyKEEN computes ComplEx"
            " as a matrix product, which is faster with large batches. *Floor* is the bare matrix products and three"
            f" reads of the scores. Load of the machine: {busy} (up to 2 means that nothing else ran); {machine()}."
        )
        write_section("ranking", "\n".join(["## Ranking", "", intro, "", table(rows)]))
    least = min(rows, key=lambda row: row.pykeen / row.ours)
    what = f"filtered ranks of FB15k-237's test triples, {least.system}"
    print(Summary(what, least.ours, "PyKEEN", least.pykeen, least.floor))


if __name__ == "__main__":
    main()
