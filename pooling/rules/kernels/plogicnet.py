"""Train pLogicNet: an embedding model and weighted rules that teach each other, round by round.

In a round the embedding model learns the training triples, and from the second round on those derived triples that the
rules believe. It then says of every derived triple how likely it is, and the weights of the rules are fitted to that.
Source: Qu and Tang (2019), Probabilistic logic neural networks for reasoning, NeurIPS.
"""

import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from core.callbacks import UNWATCHED, Watch
from pooling.learning.loop import EpochReport, Training, TrainResult, train_system
from pooling.rules.kernels.grounded_triples import GroundedTriples, fit_weights, grounded_triples
from pooling.rules.kernels.mining import mine_rules
from pooling.rules.kernels.rule_table import RULES, Rules, read_model, read_rules, write_rules
from pooling.rules.kernels.signed_graph import Body, SignedGraph
from pooling.rules.kernels.stage_progress import StageProgress
from pooling.scoring.checkpoints import BEST, read_checkpoint
from pooling.scoring.ranking import validation_mrr
from pooling.scoring.scorer import HEIGHT, Score, Scorer, build_model, load_scorer, resolve_device
from pooling.systems import get_model
from pooling.systems.spec import Value

STAGES = {
    "looking for paths": 2.0,
    "counting rules": 2.0,
    "deriving triples": 1.0,
    "training": 90.0,
    "annotating": 2.0,
    "weighing rules": 1.0,
    "validating": 2.0,
}


def is_pattern(body: Body) -> bool:
    """Tell whether a body is one of the four patterns: r(y, x), s(y, x), s(x, y), or s(x, y) ∧ t(y, z)."""
    return len(body) == 1 or (len(body) == 2 and not body[0] % 2 and not body[1] % 2)


def embedding_settings(settings: Mapping[str, Value], num_entities: int, num_train: int) -> dict[str, Value]:
    """Return the settings of the embedding model: its preset, with what pLogicNet has settings for put in."""
    spec = get_model(str(settings["embedding"]))
    own = {key: settings[key] for key in spec.settings if key in settings}
    limit = float(settings["max_seconds"]) / int(settings["rounds"])
    fixed: dict[str, Value] = {"loss": "self-adversarial", "scale": 1.0, "smoothing": 0.0, "max_seconds": limit}
    chosen = {**spec.preset(num_entities, num_train), **own, **fixed}
    spec.check_settings(chosen)
    return chosen


class _Round(NamedTuple):
    """Hold what a round leaves: its rules with their weights, which derived triples they believe, how well all rank."""

    number: int
    rules: Rules
    believed: np.ndarray  # bool[n]
    mrr: float | None
    inner: TrainResult


def train_plogicnet(asked: Training) -> TrainResult:
    """Train rules and embedding model, and leave those of the best round.

    A round counts as an epoch without a loss. A training that was interrupted goes on after the last whole epoch of
    its embedding model, with the same result. Errors are those of `train_system`, and ValueError where the rules
    derive too many triples.
    """
    rounds = int(asked.settings["rounds"])
    progress = StageProgress(asked, STAGES, rounds)
    graph = SignedGraph(asked.train, asked.num_entities, asked.num_relations)
    mined = mine_rules(graph, _bounds(asked.settings), asked.seed, progress.tell, is_pattern)
    if not len(mined):
        raise ValueError(
            "no rule of the four patterns is sure enough: lower rule_threshold, or choose a system that learns vectors"
        )
    grounded = grounded_triples(graph, mined, int(asked.settings["max_groundings"]), progress.tell)
    believed = np.zeros(len(grounded.triples), bool)
    history: list[dict[str, Any]] = []
    best: _Round | None = None
    seconds = 0.0
    for number in range(1, rounds + 1):
        began = time.monotonic()
        done = _round(asked, number, mined, grounded, believed, progress)
        believed, seconds = done.believed, seconds + max(done.inner.seconds, time.monotonic() - began)
        history.append({"epoch": number, "loss": None, "validation_mrr": done.mrr, "seconds": seconds})
        if best is None or (done.mrr or 0) > (best.mrr or 0):
            best = done
        progress.end_round(done.mrr, f"round {number} of {rounds}")
    assert best is not None
    model = read_checkpoint(_folder(asked, best.number) / BEST)["model"]
    write_rules(Path(asked.directory) / RULES, best.rules, {key: tensor.numpy() for key, tensor in model.items()})
    return TrainResult(rounds, best.number, best.mrr, seconds, best.inner.device, False, history)


def _bounds(settings: Mapping[str, Value]) -> dict[str, Value]:
    """Return the settings of the miner for rules of the four patterns."""
    fixed: dict[str, Value] = {"max_length": 2, "min_support": 1, "laplace": 0.0, "paths": 0}
    own = {key: settings[key] for key in ("max_rules", "samples", "candidates", "max_steps")}
    return {**fixed, **own, "min_confidence": settings["rule_threshold"]}


def _folder(asked: Training, number: int) -> Path:
    return Path(asked.directory) / f"round-{number}"


def _round(
    asked: Training, number: int, mined: Rules, grounded: GroundedTriples, believed: np.ndarray, progress: StageProgress
) -> _Round:
    """Train the embedding model with the derived triples that are believed, then weigh the rules by what it says."""
    settings, valid = asked.settings, np.asarray(asked.valid).reshape(-1, 3)
    threshold, share = float(settings["triple_threshold"]), float(settings["rule_share"])
    model, inner = _train_embedding(asked, number, grounded.triples[believed & ~grounded.observed], progress)
    likely = likelihood(model, grounded, float(settings["margin"]), progress.watch("annotating"))
    target = np.where(grounded.observed | (likely >= threshold), 1.0, likely)
    rate, sweeps = float(settings["rule_rate"]), int(settings["rule_sweeps"])
    weight = fit_weights(grounded, target, rate, sweeps, progress.watch("weighing rules"))
    said = grounded.believed(weight)
    mrr = validation_mrr(
        LogicScorer(model, grounded.triples, share * said),
        asked.train,
        valid,
        asked.num_relations,
        size=int(settings["validation_sample"]),
        seed=asked.seed,
        watch=progress.watch("validating"),
    )
    return _Round(number, replace(mined, weight=weight[:, None]), said >= threshold, mrr, inner)


def _train_embedding(
    asked: Training, number: int, derived: np.ndarray, progress: StageProgress
) -> tuple[Scorer, TrainResult]:
    """Train the embedding model on the training triples and derived ones int[n, 3]; return it at its best epoch."""
    settings = embedding_settings(asked.settings, asked.num_entities, len(asked.train))

    def tell(report: EpochReport) -> None:
        words = f"round {number}: epoch {report.epoch} of {report.epochs}, loss {report.loss:.4f}"
        done = report.epoch - 1 + report.fraction
        progress.tell("training", done, report.epochs, left=report.seconds_left, words=words)

    inner = replace(
        asked,
        name=str(asked.settings["embedding"]),
        train=np.concatenate([asked.train, derived]),
        settings=settings,
        directory=_folder(asked, number),
        on_progress=tell,
    )
    result = train_system(inner)
    size = asked.num_entities, asked.num_relations
    return load_scorer(inner.name, inner.directory, *size, settings, result.device, inner.train), result


def likelihood(scorer: Scorer, grounded: GroundedTriples, margin: float, watch: Watch = UNWATCHED) -> np.ndarray:
    """Return σ(margin + score) of each derived triple by the embedding model, float64[n]; observed ones get 1."""
    likely = np.ones(len(grounded.triples))
    hidden = np.flatnonzero(~grounded.observed)
    head, relation, tail = grounded.triples[hidden].T
    asked, row = np.unique(np.stack([head, relation]), axis=1, return_inverse=True)
    order = np.argsort(row, kind="stable")
    ends = np.searchsorted(row[order], np.arange(0, asked.shape[1] + HEIGHT, HEIGHT))
    for part, first in enumerate(range(0, asked.shape[1], HEIGHT)):
        watch.tell(first, asked.shape[1])
        entity, of = asked[:, first : first + HEIGHT]
        scores = scorer.scores(np.zeros_like(entity), entity, of)
        here = order[ends[part] : ends[part + 1]]
        found = scores[torch.from_numpy(row[here] - first), torch.from_numpy(tail[here])]
        likely[hidden[here]] = torch.sigmoid(margin + found.double()).cpu().numpy()
    return likely


class LogicScorer:
    """Score questions by an embedding model, and add a bonus float64[n] to triples int64[n, 3] that rules derive."""

    def __init__(self, embedding: Scorer, triples: np.ndarray, bonus: np.ndarray) -> None:
        self.embedding, self.num_entities, self.device = embedding, embedding.num_entities, embedding.device
        head, relation, tail = triples.T
        key = np.concatenate([2 * relation * self.num_entities + head, (2 * relation + 1) * self.num_entities + tail])
        order = np.argsort(key, kind="stable")
        self.key, self.answer = key[order], np.concatenate([tail, head])[order]
        self.bonus = np.tile(bonus, 2)[order].astype(np.float32)

    def in_order(self, order: np.ndarray) -> Score:
        """Return `scores(side, entity, relation, out=None) -> float32 [B, C]`, column j = entity `order[j]`."""
        plain = self.embedding.in_order(order)
        column = np.full(self.num_entities, -1)
        column[order] = np.arange(len(order))

        def scores(side, entity, relation, out=None) -> Tensor:
            out = plain(side, entity, relation, out)
            asked = (2 * np.asarray(relation) + np.asarray(side)) * self.num_entities + np.asarray(entity)
            begin, end = (np.searchsorted(self.key, asked, at) for at in ("left", "right"))
            row = np.repeat(np.arange(len(asked)), end - begin)
            place = np.arange(len(row)) + np.repeat(begin - np.cumsum(end - begin) + (end - begin), end - begin)
            at = column[self.answer[place]]
            here = at >= 0
            cells = (torch.from_numpy(x[here]).to(self.device) for x in (row, at))
            out[tuple(cells)] += torch.from_numpy(self.bonus[place[here]]).to(self.device)
            return out

        return scores


def load_plogicnet(
    name: str,
    directory: Path,
    num_entities: int,
    num_relations: int,
    settings: Mapping[str, Value],
    device: str = "auto",
    train: np.ndarray | None = None,
) -> LogicScorer:
    """Return the scorer of the best round that `train_plogicnet` left in `directory`; arguments as in `load_scorer`."""
    if train is None:
        raise ValueError(f"{name} reads the training triples: give them as train")
    path, size = Path(directory) / RULES, (num_entities, num_relations)
    rules, weights = read_rules(path), read_model(path)
    spec = get_model(str(settings["embedding"]))
    model = build_model(spec, *size, embedding_settings(settings, num_entities, len(train)), seed=0, train=train)
    model.load_state_dict({key: torch.from_numpy(array) for key, array in weights.items()})
    limit = int(settings["max_groundings"])
    grounded = grounded_triples(SignedGraph(train, *size), rules, limit, lambda *stage: None)
    assert rules.weight is not None
    bonus = float(settings["rule_share"]) * grounded.believed(rules.weight[:, 0])
    return LogicScorer(Scorer(spec, model, resolve_device(device)), grounded.triples, bonus)
