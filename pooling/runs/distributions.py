"""Store the predictive distributions of a run, which the max-k protocols need beside candidates and ranks.

They are one file of the run's folder, predictive.npz, made from the scores of all entities, so that imported runs have
none. Jobs that score write it after the rank rows, since evaluations need not wait for it, and later add what is
missing; `--no-predictive` leaves it out.
"""

import time
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from core.callbacks import UNWATCHED, Watch
from core.files.artifacts import ArtifactError, artifact_path, writing
from core.jobs.progress import Progress
from core.models import Job
from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.graphs.opening import open_graph
from pooling.models import Pool, Run, System
from pooling.questions.kernel import Csr, answers_csr, distinct_questions, entries, questions_from_keys
from pooling.runs.files import RunError, cached, checked, files_of
from pooling.runs.kernel import csr_of
from pooling.runs.score import (
    TIE_SEED,
    on_newest,
    point_at,
    run_folder,
    score_for_pool,
    scorer_of,
    wanted_triples,
    write_run,
)
from pooling.runs.shards import Pass, Scored, do_pass, forget, is_divided
from pooling.runs.validation import store_validation
from pooling.scoring.distributions import ALPHAS, DistributionResult, best_alpha
from pooling.scoring.rank_rows import find, question_keys, row_keys, rows_of
from pooling.scoring.ranks import NotFinite
from pooling.systems import get_system
from pooling.systems.shown_names import shown_name
from pooling.systems.spec import SystemSpec, with_neutral

PREDICTIVE = "predictive.npz"
VALIDATION = 2000  # triples whose questions choose α


class Predictive(NamedTuple):
    """Hold p(y|q) ∝ exp(α·score) over all entities E, for n questions; A = len(ALPHAS)."""

    keys: np.ndarray  # int64[n], sorted, as question_keys
    top_entity: np.ndarray  # int32[n, TOP], best first, ties by the tie permutation; -1 where |E| < TOP
    top_score: np.ndarray  # float32[n, TOP], -inf there
    log_normaliser: np.ndarray  # float64[n, A]: log Σ_E exp(α·score)
    tvd: np.ndarray  # float64[n, A]: ½ Σ_E |p − 1/|E||
    draws: np.ndarray  # int32[n, DRAWS]: i.i.d. from p at `alpha`, seeded
    answers: Csr  # of each question: train ∪ valid ∪ test ∪ the triples that were asked for
    answer_score: np.ndarray  # float32[len(answers.indices)]
    alpha: float  # of ALPHAS, chosen on validation under Greedy by filtered F1@10


def read_predictive(run: Run) -> Predictive:
    """Read the distributions of a run; RunError if it was made without them."""
    return cached(run, "distributions", _read, keep=False)


def has_predictive(run: Run, triples: np.ndarray) -> bool:
    """Tell whether the run has both questions of all triples int[m, 3], and their scores."""
    held: np.ndarray | None = cached(run, "predictive", _held)
    asked = row_keys(rows_of(triples), *open_graph(run.system.graph).shape)
    return held is not None and bool((find(held, asked) >= 0).all())


def read_tail_scores(run: Run, triples: np.ndarray) -> np.ndarray:
    """Return the score of each triple int[n, 3] as an answer to its tail question, float32[n].

    RunError if the run has no distributions, or not of all these triples.
    """
    held = read_predictive(run)
    graph = open_graph(run.system.graph)
    asked = row_keys(rows_of(triples), *graph.shape)[: len(triples)]  # the tail questions come first
    at = find(_rows(held.keys, held.answers, graph), asked)
    if (at < 0).any():
        raise RunError(f"The run of {run.system} lacks scores of {int((at < 0).sum()):,} triples: run score_runs POOL.")
    return held.answer_score[at]


def store_predictive(system: System, triples: np.ndarray, watch: Watch = UNWATCHED) -> Run:
    """Add to the system's run the distributions of both questions of triples int[m, 3], where they are missing.

    RunError if the run is imported or missing; InterruptedError once `watch.stop` returns true.
    """
    if system.is_imported:
        raise RunError(_imported(system))
    return on_newest(system, lambda run: _extend(system, run, triples, watch))


def predict_for_pool(system: System, pool: Pool, progress: Progress) -> None:
    """Store the distributions of one system for everything in the pool, and its validation scores.

    An imported run has none.
    """
    if system.is_imported:
        progress.log(_imported(system))
        return
    watch = progress.watch(f"distributions of {shown_name(system.name)}", "questions")
    store_predictive(system, wanted_triples(pool, open_graph(system.graph)), watch)
    store_validation(system, progress.watch(f"validation scores of {shown_name(system.name)}", "questions"))


def score(job: Job, progress: Progress) -> None:
    """Fill in the rank rows of job.system for job.pool, then the distributions (params: predictive)."""
    assert job.pool is not None and job.system is not None
    score_for_pool(job.system, job.pool, progress)
    if job.params.get("predictive", True):
        predict_for_pool(job.system, job.pool, progress)


def _imported(system: System) -> str:
    return f"The run of {system} was imported: it has no scores of all entities, so no predictive distribution."


def _read(run: Run) -> Predictive:
    if PREDICTIVE not in files_of(run):
        if run.system.is_imported:
            raise RunError(_imported(run.system))
        raise RunError(
            f"The run of {run.system} has no predictive distributions yet: run score_runs POOL, or start the job on "
            "the pool's max-k page."
        )
    with np.load(checked(run, PREDICTIVE)) as file:
        arrays = {name: file[name] for name in file.files}
    answers = Csr(arrays.pop("indptr"), arrays.pop("indices"))
    return Predictive(**{**arrays, "answers": answers, "alpha": float(arrays["alpha"])})


def _held(run: Run) -> np.ndarray | None:
    """Return the sorted row keys int64 of the questions and answers that the run has; None without distributions."""
    if PREDICTIVE not in files_of(run):
        return None
    with np.load(checked(run, PREDICTIVE)) as file:
        return _rows(file["keys"], Csr(file["indptr"], file["indices"]), open_graph(run.system.graph))


def _rows(keys: np.ndarray, answers: Csr, graph: GraphArrays) -> np.ndarray:
    """Return the row keys of questions and their answers."""
    return np.repeat(keys, np.diff(answers.indptr)) * graph.num_entities + answers.indices


def _extend(system: System, run: Run | None, triples: np.ndarray, watch: Watch) -> Run:
    if run is None:
        raise RunError(f"System {system} has no run yet: run score_runs for a pool of its graph first.")
    graph = open_graph(system.graph)
    old = _before(run)
    asked = _wanted(triples, old, graph)
    if not len(asked.keys) and old is not None:
        return run
    started = time.monotonic()
    try:
        fresh, scored = _predict(system, graph, asked, old.alpha if old else None, watch)
    except NotFinite as error:
        raise RunError(
            f"System {system} cannot be scored. {error}: train it anew with a lower learning_rate."
        ) from error
    whole = _merged(old, fresh) if old else fresh
    stored = _store(system, run, whole, time.monotonic() - started, scored.devices)
    forget(scored.parts)
    return stored


def _before(run: Run) -> Predictive | None:
    """Return the distributions that a run has; None where it has none, or they are missing or damaged."""
    if PREDICTIVE not in files_of(run):
        return None
    try:
        return read_predictive(run)
    except ArtifactError:
        return None


class _Asked(NamedTuple):
    keys: np.ndarray  # int64[n], sorted
    answers: Csr


def _wanted(triples: np.ndarray, old: Predictive | None, graph: GraphArrays) -> _Asked:
    """Return the questions that are not yet held with all their answers, and their answers now."""
    e = graph.num_entities
    held = _rows(old.keys, old.answers, graph) if old else np.zeros(0, np.int64)
    rows = np.setdiff1d(row_keys(rows_of(triples), *graph.shape), held)
    keys = np.unique(rows // e)
    facts = np.concatenate([graph.train, graph.valid, graph.test])
    known = answers_csr(questions_from_keys(keys, *graph.shape), facts, *graph.shape)
    every = np.concatenate([rows, _rows(keys, known, graph), held[np.isin(held // e, keys)]])
    question, entity = np.divmod(np.unique(every), e)
    counts = np.bincount(np.searchsorted(keys, question), minlength=len(keys))
    return _Asked(keys, csr_of(counts, entity.astype(np.int32)))


def _predict(
    system: System, graph: GraphArrays, asked: _Asked, alpha: float | None, watch: Watch
) -> tuple[Predictive, Scored]:
    """Compute the distributions of the questions, in shards if they are many; α is chosen first if there is none."""
    alpha, before, devices = alpha or _own_alpha(system), 0, []
    do: Pass = predict_here
    if alpha is None:
        sample = distinct_questions(_sample(graph.valid))
        before = len(sample.side)
        keys, known = question_keys(sample, *graph.shape), answers_csr(sample, graph.valid, *graph.shape)
        first = _shifted(watch, 0, len(asked.keys))
        scorer = scorer_of(system, graph)
        found, device = predict_here(system, graph, keys, known, first, alpha=None, scorer=scorer)
        alpha, devices = best_alpha(found, known, graph.num_entities), [device]
        if not is_divided(graph, len(asked.keys)):
            do = partial(predict_here, scorer=scorer)
        del scorer  # each shard loads its own, and the memory may not hold two
    later = _shifted(watch, before, before)
    scored = do_pass("predict", do, system, graph, asked.keys, asked.answers, later, alpha=alpha)
    made = Predictive(keys=asked.keys, answers=asked.answers, alpha=alpha, **scored.arrays)
    return made, scored._replace(devices=[*devices, *scored.devices])


def predict_here(
    system: System,
    graph: GraphArrays,
    keys: np.ndarray,
    answers: Csr,
    watch: Watch,
    alpha: float | None,
    scorer: Any = None,
) -> tuple[DistributionResult, str]:
    """Compute the distributions of questions (sorted keys int64[n]) on this machine, and name the device.

    `scorer`: that of the system, if it is loaded already.
    """
    from pooling.scoring.distribution_pass import predict_questions  # and torch with it
    from pooling.scoring.scorer import name_of_device

    scorer, questions = scorer or scorer_of(system, graph), questions_from_keys(keys, *graph.shape)
    found = predict_questions(scorer, questions, answers=answers, keys=keys, alpha=alpha, watch=watch, seed=TIE_SEED)
    return found, name_of_device(scorer.device)


def _shifted(watch: Watch, before: int, more: int) -> Watch:
    """Watch a part of the work: `before` units were done, and the whole has `more` other units."""
    return watch._replace(tell=lambda done, total: watch.tell(before + done, more + total))


def _own_alpha(system: System) -> float | None:
    """Return the α of a probabilistic model's own distribution, the scale of its training; None for other models."""
    spec = get_system(system.kind)
    settings = with_neutral(system.settings)
    if not (isinstance(spec, SystemSpec) and spec.probabilistic and settings["loss"] == "cross-entropy"):
        return None
    scale = float(settings["scale"])
    return scale if scale in ALPHAS else None


def _sample(valid: np.ndarray) -> np.ndarray:
    """Return at most VALIDATION triples of valid int[n, 3], the same for all systems of a graph."""
    return valid[np.sort(np.random.default_rng(TIE_SEED).permutation(len(valid))[:VALIDATION])]


def _merged(old: Predictive, fresh: Predictive) -> Predictive:
    """Join old and fresh distributions, sorted by key; fresh ones replace old ones, since they know more answers."""
    kept = find(fresh.keys, old.keys) < 0
    place = np.concatenate([np.flatnonzero(kept), len(old.keys) + np.arange(len(fresh.keys))])
    order = place[np.argsort(np.concatenate([old.keys, fresh.keys])[place])]
    counts = np.concatenate([np.diff(part.answers.indptr) for part in (old, fresh)])
    _, at = entries(csr_of(counts, np.zeros(0, np.int32)), order)
    both = {
        name: np.concatenate([getattr(old, name), getattr(fresh, name)])[order]
        for name in ("keys", "top_entity", "top_score", "log_normaliser", "tvd", "draws")
    }
    indices = np.concatenate([old.answers.indices, fresh.answers.indices])[at]
    score = np.concatenate([old.answer_score, fresh.answer_score])[at]
    return Predictive(**both, answers=csr_of(counts[order], indices), answer_score=score, alpha=old.alpha)


def _store(system: System, run: Run, whole: Predictive, seconds: float, devices: Sequence[str]) -> Run:
    """Write the run to a new folder with these distributions; if killed, the old run stays whole."""
    arrays = whole._asdict()
    answers = arrays.pop("answers")
    with run_folder(system) as relative:
        with writing(artifact_path(relative) / PREDICTIVE) as aside, aside.open("wb") as file:
            np.savez(file, indptr=answers.indptr, indices=answers.indices, **arrays)
        fields = write_run(relative, system, run, {}, run.depth, seconds, written=[PREDICTIVE], devices=devices)
        return point_at(system, run, fields)
