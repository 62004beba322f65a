"""Train a system: resumable, seeded, with early stopping on the validation MRR.

Every triple (h, r, t) is trained in both directions, (h, 2r, t) and (t, 2r + 1, h). `batches.py` says what a batch
is, `losses.py` what is made small. With the setting precision=mixed, products are computed in bfloat16 on a GPU; its
exponents are those of float32, so that no loss needs scaling. Validation is always in full precision.
Source: Ruffinelli et al. (2020), You CAN teach an old dog new tricks, ICLR (objectives and settings).
"""

import contextlib
import time
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import torch

from core.callbacks import Stop, Watch
from pooling.learning.batches import BATCHES
from pooling.learning.losses import make_optimizer
from pooling.learning.memory import check_memory, keep_freed_memory
from pooling.scoring.checkpoints import BEST, LATEST, WITHIN, read_checkpoint, write_checkpoint
from pooling.scoring.ranking import validation_mrr
from pooling.scoring.ranks import NotFinite
from pooling.scoring.scorer import Scorer, build_model, resolve_device
from pooling.scoring.torch_state import cpu_threads
from pooling.systems import get_model
from pooling.systems.spec import Value, common_settings, with_neutral

REPORT_SECONDS = 0.5
WITHIN_SECONDS = 240.0  # between checkpoints within an epoch: with the time to write one, five minutes are lost at most
KEPT = ("epoch", "best_epoch", "best_mrr", "seconds", "history", "stopped_early")  # of a run, in its checkpoint
OnEpoch = Callable[[int, Callable[[], Scorer]], None]  # an epoch that has ended, and what makes its scorer


class TrainingCancelled(Exception):  # noqa: N818 - not an error: somebody asked for it
    """Report that training was asked to stop; the checkpoint of the batches that were done is kept."""


@dataclass(frozen=True)
class EpochReport:
    """Tell where training is; `fraction` is of the current epoch, times are in seconds."""

    epoch: int  # being trained, from 1
    epochs: int
    fraction: float
    loss: float | None  # of systems that have one
    validation_mrr: float | None
    best_mrr: float | None
    seconds_left: float
    words: str = ""  # what is done, where it is no epoch


@dataclass(frozen=True)
class TrainResult:
    """Hold the result of a training: `seconds` of all its sessions, `history` with a dict per epoch."""

    epochs_done: int
    best_epoch: int
    validation_mrr: float | None
    seconds: float
    device: str
    stopped_early: bool
    history: list[dict[str, Any]]


class Diverged(ValueError):  # noqa: N818 - what happened, as TrainingCancelled
    """Report a loss that is no longer finite.

    `best_epoch` is the epoch whose weights are kept, 0 for none; `result` is what training gave until then.
    """

    def __init__(self, message: str, result: TrainResult) -> None:
        super().__init__(message)
        self.result, self.best_epoch = result, result.best_epoch


@dataclass(frozen=True)
class Training:
    """Say what is to be trained: the system `name` on triples int[n, 3]; what it learns is left in `directory`.

    `on_epoch` is called before the checkpoint of its epoch is written: no epoch is lost to it.
    """

    name: str
    train: np.ndarray
    valid: np.ndarray
    num_entities: int
    num_relations: int
    settings: Mapping[str, Value]
    _: KW_ONLY
    seed: int
    directory: Path
    device: str = "auto"
    threads: int | None = None
    on_progress: Callable[[EpochReport], None] = lambda report: None
    should_stop: Stop = lambda: False
    on_epoch: OnEpoch = lambda epoch, scorer: None


def train_system(asked: Training) -> TrainResult:
    """Train a system that learns vectors, and leave the best epoch's weights.

    A directory that holds a checkpoint of the same system, settings and seed is resumed where it was written, after an
    epoch or within one, with the same result as if it had not been interrupted (on one device); one of others is
    refused (ValueError). A checkpoint is written after each epoch, every four minutes within one, and on a stop.
    Raises TrainingCancelled as soon as `should_stop()` is true, Diverged where the loss is not finite, and ValueError
    where memory will not do or mixed precision finds no GPU.
    """
    keep_freed_memory()
    with cpu_threads(asked.threads):
        return _Run(asked).train()


class _Run:
    """Hold the state of one training."""

    def __init__(self, asked: Training) -> None:
        self.asked, self.directory = asked, Path(asked.directory)
        self.spec, self.device = spec, device = get_model(asked.name), resolve_device(asked.device)
        size, settings = (asked.num_entities, asked.num_relations), dict(asked.settings)
        self.settings = common_settings(settings)
        self.train_triples, self.valid_triples = np.asarray(asked.train), np.asarray(asked.valid).reshape(-1, 3)
        self.identity = {
            "system": spec.name,
            "settings": dict(sorted(settings.items())),  # databases differ in the order of keys, checkpoints must not
            "seed": asked.seed,
            "num_entities": asked.num_entities,
            "num_relations": asked.num_relations,
            "num_train": len(self.train_triples),
            "num_valid": len(self.valid_triples),
        }
        self.mixed = self.settings["precision"] == "mixed"
        if self.mixed and not device.startswith("cuda"):
            raise ValueError("mixed precision needs a GPU: set precision to full, or train with device cuda")
        if self.settings["optimizer"] == "sparse-adagrad" and size[0] == 2 * size[1]:
            raise ValueError(
                f"optimizer=sparse-adagrad tells entities from relations by their number, and there are {size[0]:,} of "
                "both, inverse relations counted; set optimizer to adagrad"
            )
        check_memory(spec, *size, settings, self.train_triples, device)
        self.model = build_model(spec, *size, settings, asked.seed, self.train_triples).to(device)
        self.optimizer = make_optimizer(self.model, self.settings, device)
        self.batches = BATCHES[self.settings["objective"]](self.train_triples, size[0], self.settings, device)
        self.epoch, self.best_epoch, self.seconds = 0, 0, 0.0
        self.best_mrr: float | None = None
        self.history: list[dict[str, Any]] = []
        self.stopped_early = False
        # of the epoch that is being trained: batches that are done, and the sum of their losses
        self.batch, self.total = 0, torch.zeros((), device=device)
        self.generators: list[torch.Tensor] = []  # states of a resumed epoch
        self.resume()
        self.started = time.monotonic() - self.seconds
        self.reported, self.saved = 0.0, time.monotonic()

    def resume(self) -> None:
        """Continue from the checkpoint of the directory, if there is one."""
        if (state := self.read(LATEST)) is not None:
            self.take(state)
            for key in KEPT:
                setattr(self, key, state[key])
        if (state := self.read(WITHIN)) is not None and state["epoch"] == self.epoch:
            self.take(state)
            self.seconds, self.batch, self.generators = state["seconds"], state["batch"], state["generators"]
            self.total.fill_(state["total"])

    def read(self, name: str) -> dict[str, Any] | None:
        """Read a checkpoint of the directory; None if there is none, ValueError if it belongs to another training."""
        if not (path := self.directory / name).exists():
            return None
        state = read_checkpoint(path)
        known = {**state["identity"], "settings": with_neutral(state["identity"]["settings"])}
        if known != {**self.identity, "settings": dict(self.settings)}:
            raise ValueError(f"{path} belongs to another training: remove it or use another directory")
        return state

    def take(self, state: dict[str, Any]) -> None:
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])

    def train(self) -> TrainResult:
        """Train the remaining epochs."""
        epochs = self.settings["epochs"]
        while self.epoch < epochs and not self.stopped_early:
            before = self.seconds
            loss = self.train_epoch(self.epoch + 1)
            mrr = self.validate(self.epoch + 1)
            self.epoch += 1
            self.seconds = time.monotonic() - self.started
            is_best = not len(self.valid_triples) if mrr is None else mrr > (self.best_mrr or -1)
            if is_best:
                self.best_epoch, self.best_mrr = self.epoch, mrr
            row = {"epoch": self.epoch, "loss": loss, "validation_mrr": mrr, "seconds": self.seconds}
            self.history = [*self.history, row]
            self.stopped_early = self.stopped_early or (self.epoch < epochs and self.is_over(self.seconds - before))
            self.asked.on_epoch(self.epoch, lambda: Scorer(self.spec, self.model, self.device))
            self.started = time.monotonic() - self.seconds  # what others do with an epoch is no training
            self.save(is_best)
            self.report(self.epoch, 1.0, loss)
        if not self.best_epoch:
            self.validate_last()
        return self.result()

    def validate_last(self) -> None:
        """Validate after the last epoch, if no validation was due before, so that there are weights to keep."""
        mrr = self.validate(self.epoch)
        self.best_epoch, self.best_mrr, self.seconds = self.epoch, mrr, time.monotonic() - self.started
        row = {**self.history[-1], "validation_mrr": mrr, "seconds": self.seconds}
        self.history = [*self.history[:-1], row]
        self.save(is_best=True)
        self.report(self.epoch, 1.0, row["loss"])

    def result(self) -> TrainResult:
        """Return the result of the training so far."""
        return TrainResult(
            self.epoch, self.best_epoch, self.best_mrr, self.seconds, self.device, self.stopped_early, self.history
        )

    def is_over(self, epoch_seconds: float) -> bool:
        """Return whether patience has run out, or most of another epoch would lie behind the time limit."""
        limit, patience = self.settings["max_seconds"], self.settings["patience"]
        if limit and self.seconds + epoch_seconds / 2 > limit:
            return True
        return bool(patience) and self.epoch - self.best_epoch >= patience * self.settings["validate_every"]

    def train_epoch(self, epoch: int) -> float:
        """Train one epoch; return its mean loss.

        All randomness of an epoch follows from (seed, epoch). An epoch that is resumed draws the same batches again,
        passes over those that are done, and goes on with the states of the generators. The first one ends at the time
        limit if it takes longer; of later ones `is_over` knows how long they take.
        """
        devices = [torch.cuda.current_device()] if self.device.startswith("cuda") else []
        seed = np.random.SeedSequence([self.asked.seed, epoch]).generate_state(1, np.uint64)[0] >> 1
        with torch.random.fork_rng(devices=devices):
            torch.manual_seed(int(seed))
            self.set_rate(epoch)
            self.model.train()
            size, limit = len(self.batches), 0.0 if self.epoch else self.settings["max_seconds"]
            for i, batch in enumerate(self.batches.draw()):
                if i < self.batch:
                    continue
                self.restore_generators(devices)
                if self.asked.should_stop():
                    self.stop(epoch, devices)
                if time.monotonic() - self.saved > WITHIN_SECONDS:
                    self.save_within(devices)
                self.optimizer.zero_grad(set_to_none=True)
                with torch.autocast(self.device.split(":")[0], torch.bfloat16, enabled=self.mixed):
                    loss = self.batches.loss(self.spec, self.model, batch)
                loss.backward()
                self.optimizer.step()
                self.model.post_parameter_update()
                self.total, self.batch = self.total + loss.detach(), i + 1
                if limit and i + 1 < size and time.monotonic() - self.started > limit:
                    self.stopped_early = True
                    break
                if i + 1 < size and time.monotonic() - self.reported > REPORT_SECONDS:
                    self.report(epoch, (i + 1) / size, self.finite(self.total / self.batch, epoch))
        mean = self.finite(self.total / max(self.batch, 1), epoch)
        for weights in self.model.parameters():  # the last step may have spoilt them
            self.finite(weights.detach().sum(), epoch)
        return mean

    def restore_generators(self, devices: list[int]) -> None:
        """Go on with the generators of a resumed epoch: of the CPU, then of the GPU if there is one."""
        if self.generators:
            torch.set_rng_state(self.generators[0])
            for device, state in zip(devices, self.generators[1:], strict=False):
                torch.cuda.set_rng_state(state, device)
            self.generators = []

    def stop(self, epoch: int, devices: list[int]) -> NoReturn:
        """Write a checkpoint and raise TrainingCancelled."""
        # the folder may be another attempt's by now, or the disk full: the last checkpoint will do
        with contextlib.suppress(OSError):
            self.save_within(devices)
        raise TrainingCancelled(f"training of {self.spec.name} was stopped in epoch {epoch}")

    def save_within(self, devices: list[int]) -> None:
        """Write a checkpoint within the epoch; that of the last whole epoch stays, for the best weights may be its."""
        state = {
            "identity": self.identity,
            "epoch": self.epoch,
            "batch": self.batch,
            "total": self.total.item(),
            "seconds": time.monotonic() - self.started,
            "generators": [torch.get_rng_state(), *map(torch.cuda.get_rng_state, devices)],
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
        }
        write_checkpoint(self.directory / WITHIN, state)
        self.saved = time.monotonic()

    def finite(self, figure: torch.Tensor, epoch: int) -> float:
        """Return the figure; raise Diverged if it is NaN or infinite."""
        value = figure.item()
        if not np.isfinite(value):
            raise self.diverged("loss", epoch)
        return value

    def diverged(self, what: str, epoch: int) -> Diverged:
        """Return the error to raise; keep the best whole epoch."""
        if not self.best_epoch and 0 < self.epoch < epoch:  # none was validated: the last one is the best
            self.best_epoch = self.epoch
            state = read_checkpoint(self.directory / LATEST)
            self.write_best(state["model"])
        kept = f"the weights of epoch {self.best_epoch} are kept" if self.best_epoch else "nothing is kept"
        return Diverged(
            f"the {what} of {self.spec.label} is not finite in epoch {epoch}; {kept}. Lower the learning_rate",
            self.result(),
        )

    def set_rate(self, epoch: int) -> None:
        """Let the rate fall geometrically from `learning_rate` to `decay` times it in the last epoch."""
        share = (epoch - 1) / max(self.settings["epochs"] - 1, 1)
        for group in self.optimizer.param_groups:
            group["lr"] = self.settings["learning_rate"] * self.settings["decay"] ** share

    def validate(self, epoch: int) -> float | None:
        """Return the validation MRR (`validation_mrr`) when it is due, and at the end at the latest; else None."""
        due = epoch % self.settings["validate_every"] == 0 or epoch in (self.settings["epochs"], self.epoch)
        if not due or not len(self.valid_triples):
            return None
        try:
            return validation_mrr(
                Scorer(self.spec, self.model, self.device),
                self.train_triples,
                self.valid_triples,
                self.asked.num_relations,
                size=self.settings["validation_sample"],
                seed=self.asked.seed,
                watch=Watch(stop=self.asked.should_stop),
            )
        except NotFinite:
            raise self.diverged("score", epoch) from None
        except InterruptedError:
            self.stop(epoch, [])

    def save(self, is_best: bool) -> None:
        """Write the checkpoint of this epoch; the best weights first, so that the checkpoint never names others."""
        model = self.model.state_dict()
        if is_best:
            self.write_best(model)
        state = {key: getattr(self, key) for key in ("identity", *KEPT)}
        write_checkpoint(self.directory / LATEST, {"model": model, "optimizer": self.optimizer.state_dict(), **state})
        (self.directory / WITHIN).unlink(missing_ok=True)
        self.batch, self.total, self.saved = 0, torch.zeros((), device=self.device), time.monotonic()

    def write_best(self, model: dict[str, Any]) -> None:
        write_checkpoint(self.directory / BEST, {"model": model, "epoch": self.epoch, "identity": self.identity})

    def report(self, epoch: int, fraction: float, loss: float) -> None:
        """Tell the caller where training is."""
        self.reported = time.monotonic()
        done = max(epoch - 1 + fraction, 1e-9)
        spent = self.reported - self.started
        left = spent / done * (self.settings["epochs"] - done)
        if self.settings["max_seconds"]:
            left = min(left, max(self.settings["max_seconds"] - spent, 0.0))
        last = self.history[-1]["validation_mrr"] if self.history else None
        ended = 0.0 if self.stopped_early else left
        self.asked.on_progress(EpochReport(epoch, self.settings["epochs"], fraction, loss, last, self.best_mrr, ended))
