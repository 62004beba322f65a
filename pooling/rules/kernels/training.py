"""Train the rule miner: from triples to a file of rules and a validation MRR, with progress and a way to stop."""

import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from pooling.learning.loop import Training, TrainResult
from pooling.rules.kernels.mining import mine_rules
from pooling.rules.kernels.rule_table import RULES, read_rules, write_rules
from pooling.rules.kernels.scorer import BLOCK, RuleScorer
from pooling.rules.kernels.signed_graph import SignedGraph, graph_bytes
from pooling.rules.kernels.stage_progress import StageProgress
from pooling.scoring.free_memory import check_free
from pooling.scoring.ranking import validation_mrr
from pooling.systems.spec import Value

FLOAT_BYTES = 8
STAGES = {"looking for paths": 1.0, "counting rules": 1.0, "validating": 1.0}


def mine_system(asked: Training) -> TrainResult:
    """Mine rules from the training triples, as `train_system` learns vectors from them.

    Mining counts as one epoch without a loss, and calls no `on_epoch`. It is done anew where it was interrupted, with
    the same rules. It runs on the CPU, in one thread, whatever `device` and `threads` ask for. Raises TrainingCancelled
    as soon as `should_stop()` is true, and ValueError where memory is short.
    """
    train, settings, size = asked.train, asked.settings, (asked.num_entities, asked.num_relations)
    _check_memory(*size, len(train))
    progress, began = StageProgress(asked, STAGES), time.monotonic()
    graph = SignedGraph(train, *size)
    rules = mine_rules(graph, settings, asked.seed, progress.tell)
    write_rules(Path(asked.directory) / RULES, rules)
    scorer = RuleScorer(rules, graph, str(settings["aggregation"]))
    mrr = validation_mrr(
        scorer,
        train,
        np.asarray(asked.valid).reshape(-1, 3),
        asked.num_relations,
        size=int(settings["validation_sample"]),
        seed=asked.seed,
        watch=progress.watch("validating"),
    )
    seconds = time.monotonic() - began
    progress.end_round(mrr, "mined")
    row = {"epoch": 1, "loss": None, "validation_mrr": mrr, "seconds": seconds}
    return TrainResult(1, 1, mrr, seconds, "cpu", False, [row])


def _check_memory(num_entities: int, num_relations: int, num_triples: int) -> None:
    """Raise ValueError with the figures if memory will not do, before anything is built."""
    needed = graph_bytes(num_entities, num_relations, num_triples) + 4 * FLOAT_BYTES * BLOCK
    what = f"Rules on {num_entities:,} entities and {num_relations:,} relations need"
    check_free(needed, "cpu", what, "mine on a machine with more memory, or a graph with fewer relations")


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
