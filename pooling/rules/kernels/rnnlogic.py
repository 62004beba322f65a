"""Train RNNLogic: a recurrent network proposes rules, a predictor weighs them, and the best ones teach the network.

Source: Qu et al. (2021), RNNLogic: learning logic rules for reasoning on knowledge graphs, ICLR.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy import sparse

from pooling.learning.loop import Training, TrainResult
from pooling.rules.kernels.mining import count_rules, mine_rules
from pooling.rules.kernels.paths import canonical
from pooling.rules.kernels.rule_embedding import RuleEmbedding, fit_vectors
from pooling.rules.kernels.rule_generator import RuleGenerator
from pooling.rules.kernels.rule_predictor import Grounded, fit, ground, popularity, reach, worth
from pooling.rules.kernels.rule_table import RULES, Rules, read_model, read_rules, write_rules
from pooling.rules.kernels.scorer import PathScorer, places_of
from pooling.rules.kernels.signed_graph import Body, SignedGraph, Walker, reverse
from pooling.rules.kernels.stage_progress import StageProgress
from pooling.scoring.checkpoints import LATEST, read_checkpoint, write_checkpoint
from pooling.scoring.ranking import validation_mrr
from pooling.scoring.torch_state import cpu_threads
from pooling.systems.spec import Value

STAGES = {
    "looking for paths": 5.0,
    "counting rules": 5.0,
    "teaching the generator": 10.0,
    "weighing rules": 60.0,
    "learning vectors of rules": 10.0,
    "validating": 10.0,
}
RATES, VECTORS = "rates", "vectors/"  # names of arrays beside the rules


class Predictor(PathScorer):
    """Score by the sum of weight × groundings over the rules that lead to an entity, plus rate × its popularity."""

    def __init__(self, rules: Rules, rates: np.ndarray, graph: SignedGraph) -> None:
        super().__init__(graph)
        self.rules, self.rates = rules, rates  # rates float64[2R], by inverse-aware relation

    def of_relation(self, signed: int, entity: np.ndarray) -> tuple[sparse.csr_array, np.ndarray]:
        """See `PathScorer`: what no rule reaches is scored by its popularity alone."""
        walker, shape = Walker(self.graph, entity), (len(entity), self.num_entities)
        total, reached = np.zeros(shape[0] * shape[1]), np.zeros(shape[0] * shape[1], bool)
        for body, weight in self.rules.weighted(signed):
            ends = walker.along(body)
            places = places_of(ends)
            total[places] += weight * ends.data
            reached[places] = True
        return self.proposed(signed, np.flatnonzero(reached), total[reached], shape)

    def proposed(
        self, signed: int, places: np.ndarray, score: np.ndarray, shape: tuple[int, int]
    ) -> tuple[sparse.csr_array, np.ndarray]:
        """Return the scores of these places, and those of all other entities, with what popularity adds to both."""
        others = self.rates[signed] * popularity(self.graph, signed)
        whole = (score + others[places % shape[1]]).astype(np.float32)
        return sparse.csr_array((whole, np.divmod(places, shape[1])), shape=shape), others.astype(np.float32)


class VectorPredictor(Predictor):
    """Score by the vectors of the rules that lead to an entity (`rule_embedding.py`), plus rate × its popularity."""

    def __init__(self, rules: Rules, model: RuleEmbedding, graph: SignedGraph) -> None:
        super().__init__(rules, model.rates.detach().double().numpy(), graph)
        self.model = model.eval()

    @torch.no_grad()
    def of_relation(self, signed: int, entity: np.ndarray) -> tuple[sparse.csr_array, np.ndarray]:
        """See `PathScorer`."""
        bodies = [body for body, _ in self.rules.weighted(signed)]
        places, counts, _ = reach(self.graph, bodies, entity)
        score = np.zeros(0)
        if len(places):
            score = self.model.scores(counts, self.model.vectors(signed, bodies)).double().numpy()
        return self.proposed(signed, places, score, (len(entity), self.num_entities))


def train_rnnlogic(asked: Training) -> TrainResult:
    """Train generator and predictor round by round, and leave the rules and weights of the best round.

    A round counts as an epoch without a loss; the setting `rule_dim` adds one that learns vectors of the rules. A
    training that was interrupted goes on after its last whole round, with the same result. It runs on one thread of
    the CPU, whatever `device` and `threads` ask for. Raises TrainingCancelled as soon as `should_stop()` is true, and
    ValueError where no rule is found.
    """
    with cpu_threads(1):  # its products are so small that a second thread waits more than it works
        return _Rounds(asked).run()


class _Rounds:
    """Hold the state of one training: the bodies that are kept for each relation, and the generator."""

    def __init__(self, asked: Training) -> None:
        self.asked, self.settings, self.seed = asked, asked.settings, asked.seed
        self.graph = SignedGraph(asked.train, asked.num_entities, asked.num_relations)
        self.relations = range(asked.num_relations)
        self.vectors = int(self.settings.get("rule_dim", 0))
        self.rounds = int(self.settings["rounds"])
        self.progress = StageProgress(asked, STAGES, self.rounds + bool(self.vectors))
        size = int(self.settings["generator_dim"]), int(self.settings["hidden_dim"])
        self.generator = RuleGenerator(asked.num_relations, *size, asked.seed)
        self.kept: list[list[Body]] = []
        self.history: list[dict[str, Any]] = []
        self.began = time.monotonic()
        self.resume()

    def run(self) -> TrainResult:
        """Train the remaining rounds."""
        if not self.kept:
            mined = mine_rules(self.graph, self.settings, self.seed, self.progress.tell)
            self.kept = [mined.bodies(r) for r in self.relations]
            self.teach(0)
        while len(self.history) < self.rounds:
            self.train_round(len(self.history) + 1)
        if self.vectors and len(self.history) == self.rounds:
            self.train_vectors()
        last = [self.history[-1]] if self.vectors else self.history
        best = max(last, key=lambda row: (row["validation_mrr"] or 0, -row["epoch"]))
        seconds = self.history[-1]["seconds"]
        mrr = best["validation_mrr"]
        return TrainResult(len(self.history), best["epoch"], mrr, seconds, "cpu", False, self.history)

    # -- rounds --

    def train_round(self, number: int) -> None:
        """Propose bodies, weigh them with those that are kept, keep the best, and teach the generator."""
        proposals, longest = int(self.settings["proposals"]), int(self.settings["max_length"])
        proposed = self.generator.propose(self.relations, proposals, longest, self.seed + number)
        weights, rates = [], np.zeros(2 * len(self.relations))
        for r in self.relations:
            self.progress.tell("weighing rules", r, len(self.relations))
            bodies = sorted({*self.kept[r], *proposed[r]})
            self.kept[r], weight, rates[2 * r : 2 * r + 2] = self.choose(r, bodies, number)
            weights.append(weight)
        self.teach(number)
        rules = self.counted(weights)
        mrr = self.validate(Predictor(rules, rates, self.graph))
        if all((mrr or 0) > (row["validation_mrr"] or 0) for row in self.history):
            write_rules(self.path, rules, {RATES: rates})
        self.end_round(mrr)

    def choose(self, relation: int, bodies: list[Body], number: int) -> tuple[list[Body], np.ndarray, np.ndarray]:
        """Return the bodies that are worth most, their weights float64[n, 2], and the rates of popularity float64[2].

        Both sides of the relation, tails and heads, have weights of their own.
        """
        value, weight, rates = np.zeros(len(bodies)), np.zeros((len(bodies), 2)), np.zeros(2)
        asked = {side: found for side in (0, 1) if (found := self.ground(2 * relation + side, bodies, number))}
        for grounded in asked.values():
            value += worth(grounded, self.fit(grounded)[0])
        best = np.sort(np.argsort(-value, kind="stable")[: int(self.settings["max_rules"])])
        for side, grounded in asked.items():
            weight[best, side], rates[side] = self.fit(grounded._replace(counts=grounded.counts[:, best]))
        return [bodies[i] for i in best], weight[best], rates

    def ground(self, signed: int, bodies: Sequence[Body], number: int) -> Grounded | None:
        """Ground bodies of the relation around drawn questions of one of its sides; None if it has none."""
        entity = np.unique(self.graph.matrices[signed].tocoo().coords[0])
        if not len(entity):
            return None
        rng = np.random.default_rng([self.seed, 3, number, signed])
        drawn = rng.permutation(entity)[: int(self.settings["samples"])]
        paths = [reverse(body) for body in bodies] if signed % 2 else bodies
        return ground(self.graph, signed, paths, drawn, int(self.settings["max_groundings"]))

    def fit(self, grounded: Grounded) -> tuple[np.ndarray, float]:
        """Return weights of the rules float64[n], and the rate of popularity."""
        weight, rate, _ = fit(grounded, float(self.settings["smoothing"]), float(self.settings["weight_decay"]))
        return weight, rate

    def teach(self, number: int) -> None:
        """Fit the generator to the bodies that are kept."""
        relation = [r for r, bodies in enumerate(self.kept) for _ in bodies]
        if not relation:
            raise ValueError(
                "no rule was found in the training triples: lower min_support or min_confidence, or choose a system "
                "that learns vectors"
            )
        tokens = self.generator.tokens_of(relation, [body for bodies in self.kept for body in bodies])
        rng, rate = np.random.default_rng([self.seed, 2, number]), float(self.settings["generator_rate"])
        epochs, watch = int(self.settings["generator_epochs"]), self.progress.watch("teaching the generator")
        self.generator.learn(tokens, epochs, rate, rng, watch)

    def train_vectors(self) -> None:
        """Learn vectors of the rules of the best round, in the place of their weights."""
        rules = read_rules(self.path)
        parts = []
        for signed in range(2 * len(self.relations)):
            bodies = rules.bodies(signed >> 1)
            grounded = self.ground(signed, bodies, 0) if bodies else None
            if grounded is not None:
                paths = [reverse(body) for body in bodies] if signed % 2 else bodies
                parts.append((signed, paths, grounded))
        model = RuleEmbedding(len(self.relations), self.vectors, self.seed)
        rng, rate = np.random.default_rng([self.seed, 4]), float(self.settings["vector_rate"])
        watch = self.progress.watch("learning vectors of rules")
        fit_vectors(model, parts, int(self.settings["vector_epochs"]), rate, rng, watch)
        mrr = self.validate(VectorPredictor(rules, model, self.graph))
        write_rules(self.path, rules, {VECTORS + key: tensor.numpy() for key, tensor in model.state_dict().items()})
        self.end_round(mrr)

    def validate(self, scorer: Predictor) -> float | None:
        return validation_mrr(
            scorer,
            self.asked.train,
            np.asarray(self.asked.valid).reshape(-1, 3),
            len(self.relations),
            size=int(self.settings["validation_sample"]),
            seed=self.seed,
            watch=self.progress.watch("validating"),
        )

    def counted(self, weights: list[np.ndarray]) -> Rules:
        """Return the kept rules with their evidence and their weights, given by relation as float64[n, 2]."""
        heads: dict[Body, list[int]] = {}
        of: dict[tuple[int, Body], np.ndarray] = {}
        for r, (bodies, weight) in enumerate(zip(self.kept, weights, strict=True)):
            for body, both in zip(bodies, weight, strict=True):
                counted, signed = canonical(body, 2 * r)
                heads.setdefault(counted, []).append(signed)
                of[r, body] = both
        every = {**self.settings, "min_support": 0, "min_confidence": 0.0}
        rules = count_rules(self.graph, heads, every, self.seed, self.progress.tell)
        order = [of[int(r), rules.body_of(i)] for i, r in enumerate(rules.relation)]
        return replace(rules, weight=np.array(order).reshape(-1, 2))

    # -- files --

    @property
    def path(self) -> Path:
        return Path(self.asked.directory) / RULES

    @property
    def identity(self) -> dict[str, Any]:
        asked = self.asked
        size = asked.num_entities, asked.num_relations, len(asked.train), len(asked.valid)
        settings = dict(sorted(asked.settings.items()))  # databases differ in the order of keys, checkpoints must not
        return {"system": asked.name, "settings": settings, "seed": asked.seed, "size": list(size)}

    def end_round(self, mrr: float | None) -> None:
        """Write what the next round needs, and report."""
        number, seconds = len(self.history) + 1, time.monotonic() - self.began
        self.history.append({"epoch": number, "loss": None, "validation_mrr": mrr, "seconds": seconds})
        state = {"identity": self.identity, "kept": self.kept, "history": self.history}
        write_checkpoint(self.path.with_name(LATEST), {**state, "generator": self.generator.state_dict()})
        self.progress.end_round(mrr, f"round {number} of {self.progress.rounds}")

    def resume(self) -> None:
        """Continue from the checkpoint of the directory, if there is one."""
        if not (path := self.path.with_name(LATEST)).exists():
            return
        state = read_checkpoint(path)
        if state["identity"] != self.identity:
            raise ValueError(f"{path} belongs to another training: remove it or use another directory")
        self.kept, self.history = [[tuple(body) for body in bodies] for bodies in state["kept"]], state["history"]
        self.generator.load_state_dict(state["generator"])
        self.progress.round = len(self.history) + 1
        self.began -= self.history[-1]["seconds"]


def load_rnnlogic(
    name: str,
    directory: Path,
    num_entities: int,
    num_relations: int,
    settings: Mapping[str, Value],
    device: str = "auto",
    train: np.ndarray | None = None,
) -> Predictor:
    """Return the scorer that `train_rnnlogic` left in `directory`; arguments as in `load_scorer`."""
    if train is None:
        raise ValueError(f"{name} reads the training triples: give them as train")
    path, graph = Path(directory) / RULES, SignedGraph(train, num_entities, num_relations)
    rules, arrays = read_rules(path), read_model(path)
    if RATES in arrays:
        return Predictor(rules, arrays[RATES], graph)
    model = RuleEmbedding(num_relations, int(settings["rule_dim"]), seed=0)
    model.load_state_dict({key.removeprefix(VECTORS): torch.from_numpy(array) for key, array in arrays.items()})
    return VectorPredictor(rules, model, graph)
