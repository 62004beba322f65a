"""Train the rule miner: from triples to a file of rules and a validation MRR, with progress and a way to stop."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from core.callbacks import Stop
from pooling.learning.loop import REPORT_SECONDS, EpochReport, TrainingCancelled, TrainResult
from pooling.learning.memory import free_bytes, in_words
from pooling.rules.kernels.mining import mine_rules
from pooling.rules.kernels.rule_table import RULES, read_rules, write_rules
from pooling.rules.kernels.scorer import BLOCK, RuleScorer
from pooling.rules.kernels.signed_graph import SignedGraph, graph_bytes
from pooling.scoring.ranking import validation_mrr
from pooling.systems.spec import Value

FLOAT_BYTES = 8
STAGES = ("looking for paths", "counting rules", "validating")


def mine_system(
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
    should_stop: Stop | None = None,
    threads: int | None = None,
) -> TrainResult:
    """Mine rules from triples int[n, 3] and leave them in `directory`; arguments are those of `train_system`.

    Mining counts as one epoch without a loss. It is done anew where it was interrupted, with the same rules. It runs
    on the CPU, in one thread, whatever `device` and `threads` ask for. Raises TrainingCancelled as soon as
    `should_stop()` is true, and ValueError where memory is short.
    """
    _check_memory(num_entities, num_relations, len(train))
    progress = _Reporter(name, on_progress, should_stop)
    graph = SignedGraph(train, num_entities, num_relations)
    rules = mine_rules(graph, settings, seed, progress.tell)
    write_rules(Path(directory) / RULES, rules)
    scorer = RuleScorer(rules, graph, str(settings["aggregation"]))
    mrr = validation_mrr(
        scorer,
        train,
        np.asarray(valid).reshape(-1, 3),
        num_relations,
        size=int(settings["validation_sample"]),
        seed=seed,
        progress=lambda done, total: progress.tell(STAGES[2], done, total),
    )
    seconds = time.monotonic() - progress.started
    progress.done(mrr)
    row = {"epoch": 1, "loss": None, "validation_mrr": mrr, "seconds": seconds}
    return TrainResult(1, 1, mrr, seconds, "cpu", False, [row])


def _check_memory(num_entities: int, num_relations: int, num_triples: int) -> None:
    """Raise ValueError with the figures if memory will not do, before anything is built."""
    needed = graph_bytes(num_entities, num_relations, num_triples) + 4 * FLOAT_BYTES * BLOCK
    free = free_bytes("cpu")
    if free is not None and needed > free:
        raise ValueError(
            f"Rules on {num_entities:,} entities and {num_relations:,} relations need about {in_words(needed)}, "
            f"{in_words(free)} are free: mine on a machine with more memory, or a graph with fewer relations"
        )


class _Reporter:
    """Report a few times a second, and stop when asked to."""

    def __init__(self, name: str, on_progress: Callable[[EpochReport], None] | None, should_stop: Stop | None) -> None:
        self.name = name
        self.on_progress = on_progress or (lambda report: None)
        self.should_stop = should_stop or (lambda: False)
        self.started = self.stage_began = time.monotonic()
        self.reported, self.stage = 0.0, ""

    def tell(self, stage: str, done: int, total: int) -> None:
        """Report the stage; called often.

        The time left is that of the stage: how long the next takes shows when it begins.
        """
        if self.should_stop():
            raise TrainingCancelled(f"mining of {self.name} was stopped while {stage}")
        now = time.monotonic()
        if stage != self.stage:
            self.stage, self.stage_began = stage, now
        if now - self.reported > REPORT_SECONDS:
            self.reported = now
            share = done / max(total, 1)
            left = (now - self.stage_began) / share * (1 - share) if share else 0.0
            # A third of the bar for each stage, and a little left for the end
            fraction = min((STAGES.index(stage) + share) / len(STAGES), 0.99)
            self._report(fraction, None, left, f"{stage}, {done:,} of {total:,}")

    def done(self, mrr: float | None) -> None:
        """Report the end."""
        self._report(1.0, mrr, 0.0, "mined")

    def _report(self, fraction: float, mrr: float | None, left: float, words: str) -> None:
        self.on_progress(EpochReport(1, 1, fraction, None, mrr, mrr, left, words))


def load_rules(
    name: str,
    directory: Path,
    num_entities: int,
    num_relations: int,
    settings: Mapping[str, Value],
    device: str = "auto",
    train: np.ndarray | None = None,
) -> RuleScorer:
    """Return the scorer of the rules that `mine_system` left in `directory`; arguments as in `load_scorer`.

    Rules lead through the training triples int[n, 3]: without these they propose nothing.
    """
    if train is None:
        raise ValueError(f"{name} reads the training triples: give them as train")
    graph = SignedGraph(train, num_entities, num_relations)
    return RuleScorer(read_rules(Path(directory) / RULES), graph, str(settings["aggregation"]))
