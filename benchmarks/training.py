"""An epoch of our training against PyKEEN's own loop: same graph and model, cross-entropy in both.

    python benchmarks/training.py --quick     DistMult on FB15k-237, parts of an epoch; the last line is the
    ratio
    python benchmarks/training.py             whole table; writes it into docs/benchmarks.md

PyKEEN's nearest equivalent to 1,000 shared negatives is its LCWA loop, which scores every question against
all
entities with the same cross-entropy; its sLCWA loop is measured with 64 negatives per triple, of its own
drawing. Both
sides run for a number of batches, medians, scaled to an epoch.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import statistics
import sys
import time
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.graphs import fb15k237
from benchmarks.report import write_section
from pooling.kernels.batches import BATCHES
from pooling.kernels.training import build_model, keep_freed_memory
from pooling.systems import SYSTEMS, get_system


def our_epoch(name: str, batches: int) -> float:
    """Seconds of one of our epochs, from the median batch."""
    train, _, _, entities, relations = fb15k237()
    spec = get_system(name)
    settings = spec.preset(entities, len(train))
    model = build_model(spec, entities, relations, settings, seed=1).train()
    kind = torch.optim.Adagrad if settings["optimizer"] == "adagrad" else torch.optim.Adam
    optimizer = kind(model.parameters(), lr=settings["learning_rate"], fused=True)
    rows = BATCHES[settings["objective"]](train, entities, settings, "cpu")
    times = []
    for batch in itertools.islice(rows.draw(), batches + 2):
        start = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        rows.loss(spec, model, batch).backward()
        optimizer.step()
        model.post_parameter_update()
        times.append(time.perf_counter() - start)
    return statistics.median(times[2:]) * len(rows)


def pykeen_epoch(name: str, batches: int, loop: str) -> float:
    """Seconds of an epoch of PyKEEN's loop, from the median of its batches."""
    from pykeen.training import LCWATrainingLoop, SLCWATrainingLoop
    from pykeen.training.callbacks import TrainingCallback
    from pykeen.triples import CoreTriplesFactory

    train, _, _, entities, relations = fb15k237()
    spec = get_system(name)
    settings = spec.preset(entities, len(train))
    triples = torch.as_tensor(train).long()
    factory = CoreTriplesFactory(triples, entities, relations, create_inverse_triples=True)
    model = build_model(spec, entities, relations, settings, seed=1)
    model.loss = make_loss()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.001)
    times: list[float] = []

    class EnoughError(Exception):
        pass

    class Clock(TrainingCallback):
        def on_batch(self, epoch: int, batch, batch_loss: float, **kwargs) -> None:
            times.append(time.perf_counter())
            if len(times) > batches + 1:
                raise EnoughError

    size = 1024 if loop == "slcwa" else 256
    kwargs = {"negative_sampler_kwargs": {"num_negs_per_pos": 64}} if loop == "slcwa" else {}
    maker = SLCWATrainingLoop if loop == "slcwa" else LCWATrainingLoop
    trainer = maker(model=model, triples_factory=factory, optimizer=optimizer, **kwargs)
    with contextlib.suppress(EnoughError):
        trainer.train(factory, num_epochs=1, batch_size=size, use_tqdm=False, callbacks=Clock)
    gaps = [b - a for a, b in itertools.pairwise(times)]
    rows = 2 * len(train)
    if loop == "lcwa":
        both = torch.cat([triples[:, :2], torch.stack([triples[:, 2], triples[:, 1] + relations], 1)])
        rows = len(torch.unique(both, dim=0))
    return statistics.median(gaps) * rows / size


def make_loss():
    """PyKEEN's cross-entropy over the scores of a row."""
    from pykeen.losses import CrossEntropyLoss

    return CrossEntropyLoss()


def main() -> None:
    """Run, print, and in the full form write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="DistMult only, in a minute")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    keep_freed_memory()
    batches = 5 if args.quick else 15
    table = [
        "| system | ours, s/epoch | PyKEEN LCWA, s/epoch | PyKEEN sLCWA 64, s/epoch | ratio (LCWA) |",
        "|" + "---|" * 5,
    ]
    ratios = []
    for name in ["distmult"] if args.quick else SYSTEMS:
        ours = our_epoch(name, 3 * batches)
        lcwa = pykeen_epoch(name, 2 if args.quick else 3, "lcwa")
        slcwa = pykeen_epoch(name, batches, "slcwa")
        ratios.append(lcwa / ours)
        label = get_system(name).label
        print(f"{label}: ours {ours:.1f} s/epoch, PyKEEN LCWA {lcwa:.0f}, sLCWA {slcwa:.0f}", flush=True)
        table.append(f"| {label} | {ours:.1f} | {lcwa:.0f} | {slcwa:.0f} | {lcwa / ours:.1f} |")
    if not args.quick:
        intro = f"FB15k-237, presets, {args.threads} CPU threads, medians of batches scaled to an epoch."
        write_section("training", "\n".join(["## Training", "", intro, "", *table]))
    print(f"training: {statistics.median(ratios):.1f} x PyKEEN")


if __name__ == "__main__":
    main()
