"""Time training against PyKEEN's own loops: same graph, same model, cross-entropy in all, in one process.

    python benchmarks/training.py --quick     DistMult and TransE on UMLS; the last line is the main ratio
    python benchmarks/training.py             whole tables; writes them into docs/measured

The main ratio is like for like: on UMLS both score each distinct question (a batch of 256) against all entities, with
cross-entropy over all its answers, the same first weights, Adam with the same rate, and the same number of epochs;
ours is the objective "questions" without shared negatives, PyKEEN's is LCWATrainingLoop with CrossEntropyLoss. One
difference is left: ours takes the mean over answers, PyKEEN's over questions. The MRR that both reach on the test
triples stands beside the times.

On FB15k-237 ComplEx 128 is trained for both of PyKEEN's objectives: LCWA, every question against all 14,541 entities
with cross-entropy, and sLCWA, every triple against 64 drawn entities with the self-adversarial loss (ours draws them
once a batch, PyKEEN for each triple). Then all six with each program's own means: ours against about 2,000 entities
that the rows of a batch share, for which PyKEEN has no loop. That is what an epoch costs, not the same work. All
run some batches; medians, scaled to an epoch.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

os.environ.setdefault("GOMP_SPINCOUNT", "10000")  # as in all processes of the site (config/settings.py)
import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.graphs import fb15k237
from benchmarks.report import Summary, write_section
from pooling.learning.batches import BATCHES, Batches, QuestionBatches
from pooling.learning.losses import make_optimizer
from pooling.learning.memory import keep_freed_memory
from pooling.scoring.ranking import rank_of_triples
from pooling.scoring.scorer import Scorer, build_model
from pooling.systems import USUAL, get_model
from pooling.systems.spec import SystemSpec, Value, common_settings

if TYPE_CHECKING:
    from pykeen.models import ERModel

BATCH, NEGATIVES = 256, 64
Split = tuple[np.ndarray, np.ndarray, np.ndarray, int, int]


class Trained(NamedTuple):
    """Hold the seconds of an epoch, and the MRR on the test triples at the end."""

    seconds: float
    mrr: float


def umls() -> Split:
    """Return train, valid, test int64[n, 3] of UMLS, which PyKEEN ships, and the numbers of entities and relations."""
    from pykeen.datasets import UMLS

    data = UMLS()
    assert data.validation is not None
    splits = [f.mapped_triples.numpy() for f in (data.training, data.validation, data.testing)]
    return splits[0], splits[1], splits[2], data.num_entities, data.num_relations


# -- like for like -----------------------------------------------------------------------------------------------


def fresh(spec: SystemSpec, graph: Split) -> tuple[ERModel, torch.optim.Optimizer]:
    """Return the model with its first weights, and its optimiser: the same for both programs."""
    train, _, _, entities, relations = graph
    settings = spec.preset(entities, len(train))
    model = build_model(spec, entities, relations, settings, seed=1).train()
    return model, make_optimizer(model, common_settings(settings), "cpu")


def test_mrr(spec: SystemSpec, model: ERModel, graph: Split) -> float:
    """Return the filtered MRR on the test triples."""
    train, valid, test, _, relations = graph
    return rank_of_triples(Scorer(spec, model), test, train, valid, num_relations=relations).mrr


def our_training(spec: SystemSpec, graph: Split, epochs: int) -> Trained:
    """Train on questions against all entities, as pooling.learning.loop does it."""
    train, _, _, entities, _ = graph
    model, optimizer = fresh(spec, graph)
    settings = common_settings(
        {
            **spec.preset(entities, len(train)),
            "batch_size": BATCH,
            "num_negatives": 0,
            "dropout": 0.0,
            "objective": "questions",
        }
    )
    torch.manual_seed(1)
    begin = time.perf_counter()
    rows = QuestionBatches(train, entities, settings, "cpu")
    for _ in range(epochs):
        for batch in rows.draw():
            step(spec, model, optimizer, rows, batch)
    return Trained((time.perf_counter() - begin) / epochs, test_mrr(spec, model, graph))


def step(
    spec: SystemSpec, model: ERModel, optimizer: torch.optim.Optimizer, rows: Batches, batch: torch.Tensor
) -> None:
    """Train one batch."""
    optimizer.zero_grad(set_to_none=True)
    rows.loss(spec, model, batch).backward()
    optimizer.step()
    model.post_parameter_update()


def pykeen_training(spec: SystemSpec, graph: Split, epochs: int) -> Trained:
    """Train in PyKEEN's LCWA loop: questions against all entities."""
    from pykeen.losses import CrossEntropyLoss
    from pykeen.training import LCWATrainingLoop
    from pykeen.triples import CoreTriplesFactory

    train, _, _, entities, relations = graph
    model, optimizer = fresh(spec, graph)
    model.loss = CrossEntropyLoss()
    factory = CoreTriplesFactory(torch.as_tensor(train), entities, relations, create_inverse_triples=True)
    loop = LCWATrainingLoop(model=model, triples_factory=factory, optimizer=optimizer)
    torch.manual_seed(1)
    begin = time.perf_counter()
    loop.train(factory, num_epochs=epochs, batch_size=BATCH, use_tqdm=False, use_tqdm_batch=False, pin_memory=False)
    return Trained((time.perf_counter() - begin) / epochs, test_mrr(spec, model, graph))


def like_for_like(names: list[str], epochs: int) -> tuple[list[str], Summary]:
    """Return the table on UMLS, and the figure of the system that gains least."""
    graph = umls()
    table = [
        "| system | ours, s/epoch | PyKEEN LCWA, s/epoch | ratio | test MRR, ours | test MRR, PyKEEN |",
        "|---" * 6 + "|",
    ]
    found = []
    for name in names:
        spec = get_model(name)
        our_training(spec, graph, 1)  # both once for warmth
        pykeen_training(spec, graph, 1)
        ours, theirs = our_training(spec, graph, epochs), pykeen_training(spec, graph, epochs)
        found.append(Summary(f"an epoch on UMLS, {spec.label}", ours.seconds, "PyKEEN", theirs.seconds))
        table.append(
            f"| {spec.label} | {ours.seconds:.3f} | {theirs.seconds:.3f} | {found[-1].ratio:.1f}"
            f" | {ours.mrr:.3f} | {theirs.mrr:.3f} |"
        )
        print(table[-1], flush=True)
    return table, min(found, key=lambda one: one.ratio)


# -- each program's means on a large graph -----------------------------------------------------------------------


def our_epoch(name: str, batches: int, **overrides: Value) -> float:
    """Return the seconds of one of our epochs with the preset, from the median batch."""
    train, _, _, entities, relations = fb15k237()
    spec = get_model(name)
    preset = {**spec.preset(entities, len(train)), **overrides}
    settings = common_settings(preset)
    model = build_model(spec, entities, relations, preset, seed=1).train()
    optimizer = make_optimizer(model, settings, "cpu")
    rows = BATCHES[settings["objective"]](train, entities, settings, "cpu")
    times = []
    for batch in itertools.islice(rows.draw(), batches + 2):
        begin = time.perf_counter()
        step(spec, model, optimizer, rows, batch)
        times.append(time.perf_counter() - begin)
    return statistics.median(times[2:]) * len(rows)


class EnoughError(Exception):
    """Stop PyKEEN's loop once enough batches were timed."""


def pykeen_epoch(name: str, batches: int, loop: str, adversarial: bool = False) -> float:
    """Return the seconds of an epoch of PyKEEN's loop, from the median of its batches."""
    from pykeen.losses import CrossEntropyLoss, NSSALoss
    from pykeen.training import LCWATrainingLoop, SLCWATrainingLoop
    from pykeen.training.callbacks import TrainingCallback
    from pykeen.triples import CoreTriplesFactory

    train, _, _, entities, relations = fb15k237()
    spec = get_model(name)
    triples = torch.as_tensor(train).long()
    factory = CoreTriplesFactory(triples, entities, relations, create_inverse_triples=True)
    model = build_model(spec, entities, relations, spec.preset(entities, len(train)), seed=1)
    model.loss = NSSALoss() if adversarial else CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.001)
    times: list[float] = []

    class Clock(TrainingCallback):
        def on_batch(self, epoch: int, batch: Any, batch_loss: float, **kwargs: Any) -> None:
            times.append(time.perf_counter())
            if len(times) > batches + 1:
                raise EnoughError

    trainer: LCWATrainingLoop | SLCWATrainingLoop
    if loop == "slcwa":
        size, rows = 1024, 2 * len(train)
        negatives = {"num_negs_per_pos": NEGATIVES}
        trainer = SLCWATrainingLoop(
            model=model, triples_factory=factory, optimizer=optimizer, negative_sampler_kwargs=negatives
        )
    else:
        both = torch.cat([triples[:, :2], torch.stack([triples[:, 2], triples[:, 1] + relations], 1)])
        size, rows = BATCH, len(torch.unique(both, dim=0))
        trainer = LCWATrainingLoop(model=model, triples_factory=factory, optimizer=optimizer)
    with contextlib.suppress(EnoughError):
        trainer.train(factory, num_epochs=1, batch_size=size, use_tqdm=False, callbacks=Clock, pin_memory=False)
    return statistics.median(b - a for a, b in itertools.pairwise(times)) * rows / size


def same_objectives() -> tuple[list[str], list[float]]:
    """Train ComplEx 128 on FB15k-237 with PyKEEN's objectives; return the table, and the ratios to LCWA and sLCWA."""
    ours = (
        our_epoch("complex", 12, objective="questions", num_negatives=0, batch_size=BATCH, optimizer="adam"),
        our_epoch("complex", 40, loss="self-adversarial", num_negatives=NEGATIVES, optimizer="adam"),
    )
    theirs = (pykeen_epoch("complex", 3, "lcwa"), pykeen_epoch("complex", 10, "slcwa", adversarial=True))
    names = ("all entities, cross-entropy (LCWA)", f"{NEGATIVES} drawn, self-adversarial (sLCWA)")
    ratios = [b / a for a, b in zip(ours, theirs, strict=True)]
    table = ["| objective, ComplEx 128 | ours, s/epoch | PyKEEN, s/epoch | ratio |", "|---" * 4 + "|"]
    for name, a, b, ratio in zip(names, ours, theirs, ratios, strict=True):
        table.append(f"| {name} | {a:.1f} | {b:.0f} | {ratio:.0f} |")
        print(table[-1], flush=True)
    return table, ratios


def large_table() -> list[str]:
    """Time an epoch on FB15k-237 with each program's means."""
    table = [
        "| system | ours, shared negatives, s/epoch | PyKEEN LCWA, all entities, s/epoch"
        f" | PyKEEN sLCWA, {NEGATIVES} negatives a triple, s/epoch |",
        "|---" * 4 + "|",
    ]
    for name in USUAL:
        cells = (our_epoch(name, 45), pykeen_epoch(name, 3, "lcwa"), pykeen_epoch(name, 10, "slcwa"))
        table.append(f"| {get_model(name).label} | {cells[0]:.1f} | {cells[1]:.0f} | {cells[2]:.0f} |")
        print(table[-1], flush=True)
    return table


def main() -> None:
    """Run, print, and in the full form write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="two systems on UMLS, within a minute")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    keep_freed_memory()
    table, least = like_for_like(["distmult", "transe"] if args.quick else list(USUAL), 5 if args.quick else 20)
    if not args.quick:
        same, against = same_objectives()
        large = large_table()
        intro = (
            f"UMLS, {args.threads} CPU threads: every distinct question against all entities, cross-entropy, batches of"
            f" {BATCH}, 20 epochs from the same initial weights. Our program takes the mean loss"
            " over answers, PyKEEN over questions."
        )
        objectives = (
            "FB15k-237, PyKEEN's own objectives (medians of batches, scaled to an epoch). Our program draws"
            " entities once per batch, PyKEEN for each triple."
        )
        means = (
            "FB15k-237, an epoch with each program's means (medians of batches, scaled). The work differs: a"
            " row of ours uses about 2,000 entities that its batch shares. PyKEEN's LCWA uses all 14,541 and has fewer"
            f" rows (distinct questions); its sLCWA draws {NEGATIVES} for each row."
        )
        text = ["## Training", "", intro, "", *table, "", objectives, "", *same, "", means, "", *large]
        write_section("training", "\n".join(text))
        print(f"training: {against[0]:.0f} x PyKEEN's LCWA, {against[1]:.0f} x its sLCWA (ComplEx 128, FB15k-237)")
    print(least)


if __name__ == "__main__":
    main()
