"""Train a system: PyKEEN's model, our loop. Resumable, seeded, with early stopping on the validation MRR.

Every triple (h, r, t) is trained in both directions, (h, 2r, t) and (t, 2r + 1, h). The loss is cross-entropy
of the right answer against all entities or, on large graphs, against entities that are drawn once per batch
and shared by its rows, plus the answers of the other rows: one matrix product instead of a lookup per negative.
Source: Ruffinelli et al. (2020), You CAN teach an old dog new tricks, ICLR (objectives and settings).
"""

from __future__ import annotations

import contextlib
import ctypes
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from pooling.kernels.batches import BATCHES, Batches
from pooling.kernels.checkpoints import BEST, LATEST, read_checkpoint, write_checkpoint
from pooling.kernels.ranking import rank_of_triples
from pooling.kernels.scorer import Scorer, build_model, resolve_device
from pooling.systems import SystemSpec, Value, common_settings, get_system

REPORT_SECONDS = 0.5


class TrainingCancelled(Exception):  # noqa: N818 - not an error: somebody asked for it
    """Training was asked to stop; the checkpoint of the last whole epoch is kept."""


@dataclass(frozen=True)
class EpochReport:
    """Where training stands. `fraction` is of the current epoch; times in seconds."""

    epoch: int  # being trained, from 1
    epochs: int
    fraction: float
    loss: float
    validation_mrr: float | None
    best_mrr: float | None
    seconds_left: float


@dataclass(frozen=True)
class TrainResult:
    """What training gave. `seconds` span all sessions of a resumed training; `history`: a dict per epoch."""

    epochs_done: int
    best_epoch: int
    validation_mrr: float | None
    seconds: float
    device: str
    stopped_early: bool
    history: list[dict[str, Any]]


def train_system(
    name: str,
    train: np.ndarray,
    valid: np.ndarray,
    num_entities: int,
    num_relations: int,
    settings: Mapping[str, Value],
    *,
    seed: int,
    device: str = "auto",
    directory: Path,
    on_progress: Callable[[EpochReport], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
    threads: int | None = None,
) -> TrainResult:
    """Train system `name` on triples int[n, 3]; the best epoch's weights stay in `directory`.

    A directory that holds a checkpoint of the same system, settings and seed is resumed after its last whole
    epoch, with the same result as if it had not been interrupted (on one device); one of others is refused
    (ValueError). Raises TrainingCancelled as soon as `should_stop()` is true, and ValueError where the loss is
    not finite.
    """
    keep_freed_memory()
    with _threads(threads):
        run = _Run(
            get_system(name), train, valid, num_entities, num_relations, dict(settings), seed,
            resolve_device(device), Path(directory), on_progress, should_stop,
        )  # fmt: skip
        return run.train()


def keep_freed_memory() -> None:
    """Let this process keep freed blocks for the next batch, where the C library is glibc.

    Otherwise the gradients of the entity table (15 MB each on FB15k-237) come as fresh pages in every batch, and
    touching these costs more than the arithmetic on them: 81 ms a batch against 59 ms (ComplEx, one core).
    """
    trim_threshold, mmap_threshold, gigabyte = -1, -3, 1 << 30
    with contextlib.suppress(OSError, AttributeError):
        libc = ctypes.CDLL("libc.so.6")
        libc.mallopt(mmap_threshold, gigabyte)
        libc.mallopt(trim_threshold, gigabyte)


@contextlib.contextmanager
def _threads(number: int | None) -> Iterator[None]:
    """Use `number` CPU threads within: two busy two-thread processes on two cores are far slower."""
    before = torch.get_num_threads()
    torch.set_num_threads(number or before)
    try:
        yield
    finally:
        torch.set_num_threads(before)


class _Run:
    """The state of one training."""

    def __init__(
        self, spec: SystemSpec, train: np.ndarray, valid: np.ndarray, num_entities: int, num_relations: int,
        settings: dict[str, Value], seed: int, device: str, directory: Path,
        on_progress: Callable[[EpochReport], None] | None, should_stop: Callable[[], bool] | None,
    ) -> None:  # fmt: skip
        self.spec, self.seed, self.device, self.directory = spec, seed, device, directory
        self.settings = common_settings(settings)
        self.on_progress = on_progress or (lambda report: None)
        self.should_stop = should_stop or (lambda: False)
        self.num_entities, self.num_relations = num_entities, num_relations
        self.train_triples, self.valid_triples = np.asarray(train), np.asarray(valid).reshape(-1, 3)
        self.identity = {
            "system": spec.name, "settings": settings, "seed": seed, "num_entities": num_entities,
            "num_relations": num_relations, "num_train": len(train), "num_valid": len(valid),
        }  # fmt: skip
        self.model = build_model(spec, num_entities, num_relations, settings, seed).to(device)
        self.optimizer = self._optimizer()
        kind = BATCHES[self.settings["objective"]]
        self.batches: Batches = kind(self.train_triples, num_entities, self.settings, device)
        self.epoch, self.best_epoch, self.seconds = 0, 0, 0.0
        self.best_mrr: float | None = None
        self.history: list[dict[str, Any]] = []
        self.stopped_early = False
        self.resume()
        self.started = time.monotonic() - self.seconds
        self.reported = 0.0

    def _optimizer(self) -> torch.optim.Optimizer:
        rate, parameters = self.settings["learning_rate"], self.model.parameters()
        if self.settings["optimizer"] == "adagrad":
            return torch.optim.Adagrad(parameters, lr=rate, fused=self.device == "cpu" or None)
        return torch.optim.Adam(parameters, lr=rate, fused=True)

    def resume(self) -> None:
        """Go on from the checkpoint of the directory, if there is one."""
        path = self.directory / LATEST
        if not path.exists():
            return
        state = read_checkpoint(path)
        if state["identity"] != self.identity:
            raise ValueError(f"{path} belongs to another training: remove it or use another directory")
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        for key in ("epoch", "best_epoch", "best_mrr", "seconds", "history", "stopped_early"):
            setattr(self, key, state[key])

    def train(self) -> TrainResult:
        """Train the epochs that are left."""
        epochs = self.settings["epochs"]
        while self.epoch < epochs and not self.stopped_early:
            before = self.seconds
            loss = self.train_epoch(self.epoch + 1)
            self.epoch += 1
            mrr = self.validate() if self.validates(self.epoch) else None
            self.seconds = time.monotonic() - self.started
            is_best = (mrr is None and not len(self.valid_triples)) or (
                mrr is not None and mrr > (self.best_mrr or -1)
            )
            if is_best:
                self.best_epoch, self.best_mrr = self.epoch, mrr
            row = {"epoch": self.epoch, "loss": loss, "validation_mrr": mrr, "seconds": self.seconds}
            self.history = [*self.history, row]
            self.stopped_early = self.epoch < epochs and self.is_over(self.seconds - before)
            self.save(is_best)
            self.report(self.epoch, 1.0, loss)
        return TrainResult(
            self.epoch, self.best_epoch, self.best_mrr, self.seconds, self.device, self.stopped_early,
            self.history,
        )  # fmt: skip

    def is_over(self, epoch_seconds: float) -> bool:
        """Whether patience has run out, or most of another epoch would lie behind the time limit."""
        limit, patience = self.settings["max_seconds"], self.settings["patience"]
        if limit and self.seconds + epoch_seconds / 2 > limit:
            return True
        return bool(patience) and self.epoch - self.best_epoch >= patience * self.settings["validate_every"]

    def train_epoch(self, epoch: int) -> float:
        """Train one epoch; return its mean loss.

        All randomness of an epoch follows from (seed, epoch): a resumed training needs no generator state.
        """
        devices = [torch.cuda.current_device()] if self.device.startswith("cuda") else []
        with torch.random.fork_rng(devices=devices):
            torch.manual_seed(
                int(np.random.SeedSequence([self.seed, epoch]).generate_state(1, np.uint64)[0] >> 1)
            )
            self.set_rate(epoch)
            self.model.train()
            total, count, size = torch.zeros((), device=self.device), 0, len(self.batches)
            for i, batch in enumerate(self.batches.draw()):
                if self.should_stop():
                    raise TrainingCancelled(f"training of {self.spec.name} was stopped in epoch {epoch}")
                self.optimizer.zero_grad(set_to_none=True)
                loss = self.batches.loss(self.spec, self.model, batch)
                loss.backward()
                self.optimizer.step()
                self.model.post_parameter_update()
                total, count = total + loss.detach(), count + 1
                if i + 1 < size and time.monotonic() - self.reported > REPORT_SECONDS:
                    self.report(epoch, (i + 1) / size, float(total) / count)
        mean = float(total) / max(count, 1)
        if not np.isfinite(mean):
            raise ValueError(
                f"the loss of {self.spec.name} is not finite in epoch {epoch}: lower the learning_rate"
            )
        return mean

    def set_rate(self, epoch: int) -> None:
        """Let the rate fall geometrically from `learning_rate` to `decay` times it in the last epoch."""
        share = (epoch - 1) / max(self.settings["epochs"] - 1, 1)
        for group in self.optimizer.param_groups:
            group["lr"] = self.settings["learning_rate"] * self.settings["decay"] ** share

    def validates(self, epoch: int) -> bool:
        """Whether the epoch ends with a validation; the last one always does."""
        due = epoch % self.settings["validate_every"] == 0 or epoch == self.settings["epochs"]
        return bool(len(self.valid_triples)) and due

    def validate(self) -> float:
        """Return the filtered MRR on the validation triples, or on one seeded sample of them."""
        sample, size = self.valid_triples, self.settings["validation_sample"]
        if size and size < len(sample):
            sample = sample[np.random.default_rng(self.seed).choice(len(sample), size, replace=False)]
        scorer = Scorer(self.spec, self.model, self.device)
        ranks = rank_of_triples(
            scorer, sample, self.train_triples, self.valid_triples, num_relations=self.num_relations
        )
        return ranks.mrr

    def save(self, is_best: bool) -> None:
        """Write the checkpoint of this epoch; the best weights first, so that it never names others."""
        model = self.model.state_dict()
        if is_best:
            write_checkpoint(
                self.directory / BEST, {"model": model, "epoch": self.epoch, "identity": self.identity}
            )
        keys = ("identity", "epoch", "best_epoch", "best_mrr", "seconds", "history", "stopped_early")
        state = {key: getattr(self, key) for key in keys}
        write_checkpoint(
            self.directory / LATEST, {"model": model, "optimizer": self.optimizer.state_dict(), **state}
        )

    def report(self, epoch: int, fraction: float, loss: float) -> None:
        """Tell the caller where training stands."""
        self.reported = time.monotonic()
        done = max(epoch - 1 + fraction, 1e-9)
        spent = self.reported - self.started
        left = spent / done * (self.settings["epochs"] - done)
        if self.settings["max_seconds"]:
            left = min(left, max(self.settings["max_seconds"] - spent, 0.0))
        last = self.history[-1]["validation_mrr"] if self.history else None
        ended = 0.0 if self.stopped_early else left
        row = EpochReport(epoch, self.settings["epochs"], fraction, loss, last, self.best_mrr, ended)
        self.on_progress(row)
