"""Store the scores that a run gives validation triples and corrupted ones, from which thresholds are chosen.

They are one file of the run's folder, validation.npz, for the page Triple classification. The triples are the same for
every system of a graph. Jobs that store predictive distributions write it after them. Imported runs have none.
"""

import time
from typing import NamedTuple

import numpy as np

from core.callbacks import UNWATCHED, Watch
from core.files.artifacts import ArtifactError, artifact_path, writing
from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.graphs.opening import open_graph
from pooling.models import Run, System
from pooling.runs.files import RunError, cached, checked, files_of
from pooling.runs.score import TIE_SEED, on_newest, point_at, run_folder, scorer_of, write_run
from pooling.scoring.rank_rows import find
from pooling.scoring.ranks import NotFinite

VALIDATION = "validation.npz"
MOST = 10_000  # validation triples that are scored
TRIES = 20  # draws of a tail for each triple


class Validation(NamedTuple):
    """Hold n triples int32[n, 3], which of them are facts bool[n], and their scores as tail questions float32[n]."""

    triples: np.ndarray
    positive: np.ndarray
    score: np.ndarray


def read_validation(run: Run) -> Validation:
    """Read the validation scores of a run; RunError if it was made without them."""

    def read(run: Run) -> Validation:
        if VALIDATION not in files_of(run):
            if run.system.is_imported:
                raise RunError(_imported(run.system))
            raise RunError(
                f"The run of {run.system} has no validation scores yet: run score_runs POOL, or start the job on the "
                "pool's page Triple classification."
            )
        with np.load(checked(run, VALIDATION)) as file:
            return Validation(file["triples"], file["positive"], file["score"])

    return cached(run, "validation", read)


def has_validation(run: Run) -> bool:
    """Tell whether the run has validation scores."""
    return cached(run, "has validation", lambda run: VALIDATION in files_of(run))


def validation_triples(graph: GraphArrays, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return validation triples and a corrupted one for each, int32[n, 3], and which are facts, bool[n].

    At most MOST triples of valid are drawn. A corrupted one has another tail, drawn uniformly from the tails that its
    relation has in train or valid, so that most are of the right type; it is a fact of no split. A triple for which
    TRIES draws give no such tail has none.
    """
    kept = np.sort(rng.permutation(len(graph.valid))[:MOST])
    facts = graph.valid[kept].astype(np.int64)
    train_valid = np.concatenate([graph.train, graph.valid]).astype(np.int64)
    seen = np.unique(train_valid[:, 1] * graph.num_entities + train_valid[:, 2])  # tails by relation
    begin = np.searchsorted(seen, facts[:, 1] * graph.num_entities)
    size = np.searchsorted(seen, (facts[:, 1] + 1) * graph.num_entities) - begin
    known = np.unique(_codes(np.concatenate([train_valid, graph.test]), graph))
    tail = np.full(len(facts), -1)
    for _ in range(TRIES):
        open_ = np.flatnonzero(tail < 0)
        drawn = seen[begin[open_] + rng.integers(size[open_])] % graph.num_entities
        tried = np.column_stack([facts[open_, :2], drawn])
        new = find(known, _codes(tried, graph)) < 0
        tail[open_[new]] = drawn[new]
    corrupted = np.column_stack([facts[:, :2], tail])[tail >= 0]
    triples = np.concatenate([facts, corrupted]).astype(np.int32)
    return triples, np.arange(len(triples)) < len(facts)


def store_validation(system: System, watch: Watch = UNWATCHED) -> Run:
    """Add validation scores to the system's run, unless it has them.

    RunError if the run is imported or missing; InterruptedError once `watch.stop` returns true.
    """
    if system.is_imported:
        raise RunError(_imported(system))
    return on_newest(system, lambda run: _extend(system, run, watch))


def _imported(system: System) -> str:
    return f"The run of {system} was imported: it has no scores of validation triples."


def _extend(system: System, run: Run | None, watch: Watch) -> Run:
    from pooling.scoring.scorer import name_of_device  # imports torch, which only jobs need
    from pooling.scoring.tail_scores import tail_scores

    if run is None:
        raise RunError(f"System {system} has no run yet: run score_runs for a pool of its graph first.")
    if VALIDATION in files_of(run) and _is_whole(run):
        return run
    started, graph = time.monotonic(), open_graph(system.graph)
    triples, positive = validation_triples(graph, np.random.default_rng(TIE_SEED))
    scorer = scorer_of(system, graph)
    try:
        score = tail_scores(scorer, triples, graph.num_relations, watch)
    except NotFinite as error:
        raise RunError(
            f"System {system} cannot be scored. {error}: train it anew with a lower learning_rate."
        ) from error
    with run_folder(system) as relative:
        with writing(artifact_path(relative) / VALIDATION) as aside, aside.open("wb") as file:
            np.savez(file, triples=triples, positive=positive, score=score)
        seconds, device = time.monotonic() - started, name_of_device(scorer.device)
        fields = write_run(relative, system, run, {}, run.depth, seconds, written=[VALIDATION], devices=[device])
        return point_at(system, run, fields)


def _is_whole(run: Run) -> bool:
    try:
        checked(run, VALIDATION)
    except ArtifactError:
        return False
    return True


def _codes(triples: np.ndarray, graph: GraphArrays) -> np.ndarray:
    """Return one number per triple, int64[n]."""
    head, relation, tail = triples.astype(np.int64).T
    return (head * graph.num_relations + relation) * graph.num_entities + tail
