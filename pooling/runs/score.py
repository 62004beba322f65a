"""Score systems: one pass gives the candidates and rank rows of a run, later passes add what is missing.

Ranks are positions among E \\ (train ∪ valid), candidates are the first 100 of E \\ (train ∪ valid ∪ test): what is
known is never a candidate. The same pass keeps the place of each candidate in the full list, known answers and all
(`raw_rank`), from which pools of the rule `raw` are made.
"""

import shutil
import time
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from django.db.models import QuerySet

from core import clock
from core.callbacks import UNWATCHED, Watch
from core.files.artifacts import ArtifactError, artifact_path, sha256_of, write_json, writing
from core.files.storage import checked as checked_file
from core.files.storage import delete, local, publish
from core.jobs.fencing import fenced
from core.jobs.progress import Progress
from core.libraries import versions_of
from pooling.enums import PoolState
from pooling.errors import PoolError
from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.graphs.opening import open_graph
from pooling.models import Pool, PooledTriple, Run, SeedTriple, System
from pooling.questions.kernel import Csr, Questions, answers_csr, distinct_questions, questions_from_keys
from pooling.runs.asked import was_asked
from pooling.runs.files import (
    Pass,
    RunError,
    came_with_test_set,
    candidates_table,
    checked,
    devices_of,
    files_of,
    is_lost,
    question_ids,
    ranks_table,
    read_ranks,
    read_returned,
    read_topk,
    write_blocks,
)
from pooling.runs.kernel import csr_of
from pooling.runs.scorers import OutsideScorer
from pooling.runs.shards import Scored, do_pass, forget
from pooling.scoring.rank_rows import find, group_rows, question_keys, row_keys, rows_of
from pooling.scoring.ranks import NotFinite, RankingResult
from pooling.training.train import check_device

TOP_K = 100
MOST_CANDIDATES = 1000  # kept for each question of an imported run, for pools; ranks are kept for all
_LOST = "Without a backup, clone the system on its page and train the clone: a model cannot be made again in its place."
EXTEND_ATTEMPTS = 5  # when several jobs extend one run at the same time
TIE_SEED = 20221017  # one permutation for all runs: ties fall the same way for every system


def check_depth(depth: int, systems: Iterable[System]) -> None:
    """Raise PoolError for a depth that no pool of these systems can have; short imported runs give what they have."""
    imported = all(system.is_imported for system in systems)
    most = MOST_CANDIDATES if imported else TOP_K
    if not 1 <= depth <= most:
        of = "an imported run gives" if imported else "a run holds"
        raise PoolError(f"Depth {depth}: {of} the first {most:,} candidates of a question; give 1 to {most:,}.")


def wanted_triples(pool: Pool, graph: GraphArrays) -> np.ndarray:
    """Return the distinct triples whose ranks an evaluation of the pool needs, pooled and test ones, int32[n, 3]."""
    return np.unique(np.concatenate([triple_array(pool.triples.order_by()), graph.test]), axis=0)


def triple_array(rows: QuerySet[SeedTriple] | QuerySet[PooledTriple]) -> np.ndarray:
    """Return seed or pooled triples as ids int32[n, 3]."""
    # without a Python object for each of a million
    return np.fromiter(rows.values_list("head", "relation", "tail").iterator(), dtype=(np.int32, 3))


def score_system(
    system: System, *, seeds: np.ndarray, triples: np.ndarray, raw: bool = False, watch: Watch = UNWATCHED
) -> Run:
    """Bring a system's run up to date: candidates for both questions of the seeds, rank rows for the triples.

    seeds and triples are int[n, 3]. What the run has is not scored again, with `raw` only if it has raw positions.
    Triples of train or valid get no rank rows, since such an entity is not a candidate. An imported run gets no
    candidates; of the questions that it was asked, it gets rank 0 for triples that its file lacks, of others no rows.
    """
    return on_newest(system, lambda run: _extend(system, run, seeds, triples, raw, watch))


def on_newest(system: System, act: Callable[[Run | None], Run]) -> Run:
    """Let `act` extend the system's current run; if another job was faster, repeat on its result."""
    for _ in range(EXTEND_ATTEMPTS):
        run = Run.every.filter(system=system).first()
        try:
            return act(run)
        except (RunError, ArtifactError):
            # another job may have extended it meanwhile, and taken the old files away: go on from its run
            now = Run.every.filter(system=system).values_list("artifact", flat=True).first()
            if now == (run.artifact if run else None):
                raise
    raise RunError(f"Other jobs keep extending the run of {system}; start this one again.")


def _extend(system: System, run: Run | None, seeds: np.ndarray, triples: np.ndarray, raw: bool, watch: Watch) -> Run:
    graph = open_graph(system.graph)
    lost = run is not None and is_lost(run)
    if lost:  # other pools need it too
        pools = Pool.objects.filter(graph=system.graph_id, state=PoolState.READY)
        seeds = np.concatenate([seeds, *(triple_array(pool.seeds.all()) for pool in pools)])
        triples = np.concatenate([triples, *(wanted_triples(pool, graph) for pool in pools)])
    seed_keys = question_keys(distinct_questions(seeds), *graph.shape)
    known = row_keys(rows_of(np.concatenate([graph.train, graph.valid])), *graph.shape)
    wanted = np.setdiff1d(row_keys(rows_of(triples), *graph.shape), known)
    seed_keys = seed_keys[:0] if system.is_a_file else seed_keys[_has_candidates(seed_keys, graph)]
    if run is not None and not lost:
        held = read_topk(run)
        if system.is_imported:
            wanted = wanted[was_asked(run, wanted // graph.num_entities)]
        seed_keys = np.setdiff1d(seed_keys, np.setdiff1d(held.keys, held.lacks_raw) if raw else held.keys)
        wanted = np.setdiff1d(wanted, read_ranks(run).keys)
        if not len(seed_keys) and not len(wanted):
            return run
    started = time.monotonic()
    questions, csr = _questions_for(seed_keys, wanted, graph)
    keys = question_keys(questions, *graph.shape)
    if system.is_a_file:
        scored = Scored(_returned(system, run, wanted, len(keys))._asdict(), [], [])
    else:
        scored = do_pass("rank", rank_here, system, graph, keys, csr, watch)
    fresh = Pass(keys, csr, RankingResult(**scored.arrays))
    stored = _store(system, run, graph, fresh, time.monotonic() - started, scored.devices, lost)
    forget(scored.parts)
    return stored


def rank_here(
    system: System, graph: GraphArrays, keys: np.ndarray, wanted: Csr, watch: Watch
) -> tuple[RankingResult, str]:
    """Rank questions (sorted keys int64[n]) on this machine; return the result, and the device that scored."""
    from pooling.scoring.ranking import score_questions  # imports torch, which only jobs need
    from pooling.scoring.scorer import name_of_device

    scorer, questions = scorer_of(system, graph), questions_from_keys(keys, *graph.shape)
    try:
        scored = score_questions(
            scorer,
            questions,
            masked=answers_csr(questions, np.concatenate([graph.train, graph.valid]), *graph.shape),
            top_masked=answers_csr(questions, graph.test, *graph.shape),
            wanted=wanted,
            top_k=TOP_K,
            seed=TIE_SEED,
            watch=watch,
        )
        return scored, name_of_device(scorer.device)
    except NotFinite as error:
        advice = f"mend the scorer {system.scorer}" if system.scorer else "train it anew with a lower learning_rate"
        raise RunError(f"System {system} cannot be ranked. {error}: {advice}.") from error


def _returned(system: System, run: Run | None, wanted: np.ndarray, num_questions: int) -> RankingResult:
    """Return the ranks of wanted rows (sorted keys) from the file of an imported run; 0 for what it lacks."""
    if run is None:
        raise RunError(f"The run of {system} is gone: import its file anew under another name.")
    if came_with_test_set(run):
        raise RunError(
            f"The run of {system} came with a test set, which has the ranks of its own triples alone: import a run of "
            "the system under another name to rank what was pooled later."
        )
    held = read_returned(run)
    at = find(held.keys, wanted)
    none = np.zeros((num_questions, 0))
    top = none.astype(np.int32), none.astype(np.float32), none.astype(np.int32)
    return RankingResult(*top, *np.where(at >= 0, held.ranks[:, at], 0))


def _has_candidates(keys: np.ndarray, graph: GraphArrays) -> np.ndarray:
    """Tell of each question whether any entity does not answer it in any split; bool[n]."""
    known = np.concatenate([graph.train, graph.valid, graph.test])
    answers = answers_csr(questions_from_keys(keys, *graph.shape), known, *graph.shape)
    return np.diff(answers.indptr) < graph.num_entities


def scorer_of(system: System, graph: GraphArrays) -> Any:
    """Load the scorer of a trained system; RunError, ArtifactError or SystemError_ if it cannot be had here."""
    from pooling.systems import get_system
    from pooling.training.trainers import loader_of

    if system.scorer:
        return OutsideScorer(system.scorer, graph)
    if not system.sha256:
        raise RunError(f"System {system} is not trained yet: run train_systems {system.graph.name} first.")
    try:
        spec = get_system(system.kind)
    except ValueError as error:
        raise RunError(f"System {system} cannot be ranked here: {error}.") from error
    check_device(system, "ranked")
    hyper, folder = dict(system.settings), checked_file(system.artifact, spec.weights, system.sha256, _LOST).parent
    device = hyper.pop("device", "auto")
    return loader_of(system.kind)(system.kind, folder, *graph.shape, hyper, device, graph.train)


def _questions_for(seed_keys: np.ndarray, wanted: np.ndarray, graph: GraphArrays) -> tuple[Questions, Csr]:
    """Return the questions of wanted rows and of seeds, sorted by key, and the wanted entities of each."""
    questions, csr = group_rows(wanted, *graph.shape)
    keys = question_keys(questions, *graph.shape)
    every = np.union1d(keys, seed_keys)
    counts = np.zeros(len(every), dtype=np.int64)
    counts[np.searchsorted(every, keys)] = np.diff(csr.indptr)
    return questions_from_keys(every, *graph.shape), csr_of(counts, csr.indices)


def _store(
    system: System,
    run: Run | None,
    graph: GraphArrays,
    fresh: Pass,
    seconds: float,
    devices: Sequence[str],
    lost: bool = False,
) -> Run:
    """Write the run to a new folder, then let the row point at it; if killed, the old run stays whole.

    Of a run whose files are `lost`, nothing is taken over.
    """
    present = fresh.scored.top_entity >= 0
    replaced: list[str] = []  # what had no raw positions has them now
    whole = None if lost else run
    if whole is not None:
        old = read_topk(whole)
        anew = np.isin(fresh.keys, old.lacks_raw) & present.any(1)
        present &= (anew | ~np.isin(fresh.keys, old.keys))[:, None]
        replaced = question_ids(questions_from_keys(fresh.keys[anew], *graph.shape), graph)
    counts = present.sum(1)
    top = fresh.scored.top_entity[present], fresh.scored.top_score[present], fresh.scored.top_raw[present]
    ranks = fresh.scored.strict, fresh.scored.optimistic, fresh.scored.pessimistic
    tables = {
        "topk.parquet": candidates_table(fresh.keys[counts > 0], counts[counts > 0], *top, graph),
        "ranks.parquet": ranks_table(fresh.keys, np.diff(fresh.csr.indptr), fresh.csr.indices, ranks, graph),
    }
    with run_folder(system) as relative:
        depth = whole.depth if whole else TOP_K
        fields = write_run(relative, system, whole, tables, depth, seconds, replaced=replaced, devices=devices)
        return point_at(system, run, fields)


def point_at(system: System, run: Run | None, fields: Mapping[str, Any]) -> Run:
    """Write the fields from write_run to the run's row, and delete the old files.

    RunError if the row has changed since it was read.
    """
    with fenced():
        if run is None:
            stored, made = Run.every.get_or_create(system=system, defaults=fields)
        else:
            same = Run.every.filter(pk=run.pk, artifact=run.artifact, sha256=run.sha256)
            made = same.update(**fields, updated_at=clock.now()) == 1
            stored = Run.every.get(pk=run.pk)
    if not made:
        raise RunError(f"The run of {system} was extended by another job in the meantime.")
    if run is not None:
        delete(run.artifact)
    return stored


@contextmanager
def run_folder(system: System) -> Iterator[str]:
    """Give a new folder for the files of a run, relative to the artifact folder; it is deleted if anything fails."""
    relative = f"runs/{system.pk or 'new'}-{uuid.uuid4().hex[:12]}"
    try:
        yield relative
    except BaseException:
        delete(relative)
        raise


def write_run(
    relative: str,
    system: System,
    run: Run | None,
    tables: Mapping[str, pa.Table],
    depth: int,
    seconds: float,
    *,
    written: Sequence[str] = (),
    replaced: Collection[str] = (),
    devices: Sequence[str] = (),
) -> dict[str, Any]:
    """Write the content of `run` and the tables to a folder and publish it; return the fields for the row.

    `written` are files that are in the folder already and replace those of `run`; `replaced` are questions whose old
    candidates the new ones replace. `devices` scored this pass; those of earlier ones stay named.
    """
    folder, old = artifact_path(relative), local(run.artifact) if run else None
    for name, table in tables.items():
        gone = replaced if name == "topk.parquet" else ()
        write_blocks(folder / name, old / name if old else None, table, gone)
    names = [*tables, *written]
    if run is not None:
        for name in sorted(set(files_of(run)) - set(names)):
            try:
                path = checked(run, name)
            except ArtifactError:
                if system.is_a_file:
                    raise
                continue  # of a model's own run it is made again when it is needed
            with writing(folder / name) as aside:
                shutil.copyfile(path, aside)
            names.append(name)
    write_json(
        folder / "run.json",
        {
            "system": system.name,
            "kind": system.kind,
            "settings": system.settings,
            "seed": system.seed,
            "device": system.device,  # of the training
            "scored_on": sorted({*devices_of(run), *devices}),
            "libraries": versions_of("torch", "numpy"),
            "depth": depth,
            "tie_seed": TIE_SEED,
            "checkpoint_sha256": system.sha256,
            "filter_splits": {"ranks": ["train", "valid"], "candidates": ["train", "valid", "test"]},
            "sha256": {name: sha256_of(folder / name) for name in names},
        },
    )
    publish(relative)
    asked = len(tables["topk.parquet"]["question"].chunk(0).dictionary) if "topk.parquet" in tables else 0
    return {
        "artifact": relative,
        "sha256": sha256_of(folder / "run.json"),
        "depth": depth,
        "num_questions": (run.num_questions if run else 0) + asked - len(replaced),
        "num_rank_rows": pq.read_metadata(folder / "ranks.parquet").num_rows,
        "seconds": (run.seconds if run else 0) + seconds,
    }


def score_for_pool(system: System, pool: Pool, progress: Progress) -> Run:
    """Make the candidates and rank rows of one system for everything in the pool."""
    return score_triples(
        system, triple_array(pool.seeds.all()), wanted_triples(pool, open_graph(system.graph)), progress
    )


def score_triples(
    system: System, seeds: np.ndarray, triples: np.ndarray, progress: Progress, *, raw: bool = False
) -> Run:
    """Score candidates for the questions of seeds int[n, 3] and rank rows for triples int[m, 3], in one pass.

    `raw`: questions whose candidates have no raw positions are scored again.
    """
    watch = progress.watch(f"scoring {system.name}", "questions")
    return score_system(system, seeds=seeds, triples=triples, raw=raw, watch=watch)
