"""Import runs: a file of a form in adapters/ becomes a system of kind "imported" and its run, all or nothing."""

import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from django.contrib.auth.models import User
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction

from core import clock
from core.callbacks import TellStage
from core.database import held, named_once
from core.files.artifacts import sha256_of
from core.files.storage import delete
from core.jobs.fencing import fenced
from core.people.audit_log import record
from pooling.enums import PoolingAct, PoolState, SystemState
from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.graphs.opening import open_graph
from pooling.models import Graph, Pool, PooledTriple, Run, System
from pooling.models.system import IMPORTED
from pooling.questions.kernel import distinct, distinct_questions
from pooling.runs.adapters.base import Outside
from pooling.runs.adapters.registry import AUTO, known_suffix, read_answers
from pooling.runs.asked import ASKED, asked_table, read_topics, supposed_asked
from pooling.runs.contradictions import check_ranks, placed
from pooling.runs.files import RETURNED, candidates_table, ranks_table, read_topk
from pooling.runs.kernel import Listed, list_positions, places
from pooling.runs.ownership import check_changeable, hold, is_private_at_first
from pooling.runs.score import MOST_CANDIDATES, TIE_SEED, run_folder, triple_array, wanted_triples, write_run
from pooling.runs.trec_read import RunFile, RunTooLargeError, Topics, TrecError
from pooling.scoring.rank_rows import find, question_keys, row_keys, rows_of
from pooling.systems.spec import FAMILIES
from pooling.training.train import check_name

NOT_KNOWN = "not known"
TOPICS = "topics.tsv"  # what a topics file that was sent is called in messages
MOST_TOPICS_BYTES = 8 << 20  # of a topics file that is sent
MOST_BYTES = 50_000_000  # sent to a page or the API, and unpacked: 436,000 lines of FB15k-237 take 2 s and 140 MB


class Imported(NamedTuple):
    """Hold the system made from a file, and notes for its reader, a sentence each."""

    system: System
    notes: list[str]


def import_run(
    graph: Graph,
    file: Path,
    *,
    name: str,
    family: str = NOT_KNOWN,
    pool: Pool | None = None,
    form: str = AUTO,
    scores_decide: bool = False,
    replaces: System | None = None,
    topics_file: Path | None = None,
    user: User | None = None,
    file_name: str = "",
    max_bytes: int | None = None,
    progress: TellStage | None = None,
) -> Imported:
    """Make a system called `name` and its run from a file or folder of a `form` in ADAPTERS.

    Its questions must be topics: of `pool`, or of the graph's test set and pools. The run keeps which it was asked:
    those of `topics_file`, else the topics of `pool` at this time, else the questions of the file. Asked questions that
    the file lacks count as not returned; the run has no figure on others. Messages call the file `file_name`; unpacked
    it may have `max_bytes`. If most of its ranks contradict its scores, it is refused, unless `scores_decide`. A run is
    private if `user` is no manager. With `replaces`, it takes the place of the run of that system, which keeps its
    name, owner and whether it is private.
    """
    if replaces is None:
        check_name(graph, name)
    if family not in (*FAMILIES, NOT_KNOWN):
        raise TrecError(f"Unknown family {family[:80]!r}: give {', '.join(FAMILIES)} or {NOT_KNOWN!r}.")
    if pool is not None:
        check_pool(graph, pool)
    started, called = time.monotonic(), file_name or file.name
    tell = progress or (lambda stage, done, total: None)
    arrays, whose = open_graph(graph), pool.name if pool else graph.name
    triples = _asked_triples(graph, arrays, pool)
    topics = Topics(_question_keys(triples, arrays), f"the topics of {'pool ' if pool else ''}{whose}")
    outside = Outside(file, called, arrays, topics, max_bytes, partial(tell, f"reading {called}"))
    read, said, position = read_answers(outside, form)
    known = _keys_of(np.concatenate([arrays.train, arrays.valid]), arrays)
    listed = placed(_listed(read, known, arrays, called), position)
    # positions that an adapter gives are the order itself, with gaps where nothing was returned
    if position is None and (wrong := check_ranks(listed, read, arrays, called, scores_decide)):
        said.append(wrong)
    tell(f"writing the run of {name}", 0, 1)
    asked, own = _asked(read, arrays, topics, pool, topics_file)
    wanted = np.setdiff1d(_keys_of(triples, arrays), known, assume_unique=True)
    wanted = wanted[find(asked, wanted // arrays.num_entities) >= 0]
    raw = np.zeros(len(listed.line), np.int32) if position is not None else _raw_positions(read, listed, arrays)
    tables, depth = _tables(listed, raw, wanted, arrays)
    tables[ASKED] = asked_table(asked, arrays)
    about = {
        "file": called[:200],
        "sha256": sha256_of(file) if file.is_file() else "",
        "lines": len(read.line),
        "topics": whose,
    }
    about["longest"] = int(np.unique(read.question, return_counts=True)[1].max())
    settings = {"family": family, **about}
    system = replaces or System(graph=graph, name=name, kind=IMPORTED, state=SystemState.TRAINED, artifact="")
    system.settings = settings
    notes = [*_notes(read, listed, topics, own, asked, tables), *said, *_asked_notes(asked, own, pool)]
    notes.append(_raw_note(listed, raw))
    store = _replace if replaces else _store
    store(system, tables, depth, time.monotonic() - started, user)
    tell(f"writing the run of {name}", 1, 1)
    return Imported(system, notes)


def pool_of_runs(graph: Graph, name: str) -> Pool:
    """Return the pool whose questions a run of the graph answers; TrecError if it cannot."""
    pool = Pool.objects.select_related("graph").filter(name=name).first()
    if pool is None:
        raise TrecError(f"There is no pool {name[:80]!r}: choose another one, or the questions of the graph.")
    check_pool(graph, pool)
    return pool


def check_pool(graph: Graph, pool: Pool) -> None:
    """Raise TrecError unless a run of the graph can answer the questions of the pool."""
    if pool.graph_id != graph.pk:
        raise TrecError(f"Pool {pool.name} is of graph {pool.graph.name}, not of {graph.name}.")
    if pool.state != PoolState.READY:
        raise TrecError(f"Pool {pool.name} is {pool.state}: import its runs when it is ready.")


def _asked(
    read: RunFile, arrays: GraphArrays, topics: Topics, pool: Pool | None, topics_file: Path | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the questions that a run was asked, and those that every evaluation asks (not only full test)."""
    answered, own = np.unique(read.question), topics.keys
    seeds = own[:0]
    if pool is not None:  # seeds and pooled triples are what topics.tsv of a pool asks
        seeds = _question_keys(triple_array(pool.seeds.all()), arrays)
        own = np.union1d(seeds, _question_keys(triple_array(pool.triples.all()), arrays))
    if topics_file is not None:
        return np.union1d(answered, read_topics(topics_file, arrays, topics)), own
    if pool is None:
        return answered, own
    grown, only_test = np.setdiff1d(own, seeds), np.setdiff1d(topics.keys, own)
    return supposed_asked(answered, seeds, grown, only_test), own


def _asked_notes(asked: np.ndarray, own: np.ndarray, pool: Pool | None) -> Iterator[str]:
    """Say how many questions the run was not asked, and what follows from that."""
    lacking = int((find(asked, own) < 0).sum())
    if lacking:
        whose = f"of pool {pool.name}" if pool else "of the graph"
        yield (
            f"It was not asked {lacking:,} of {len(own):,} questions {whose}: it has no figure on them, and systems are"
            " compared on the others. If it was asked them, import it with its topics file."
        )


def import_sent_run(
    graph: Graph,
    file: "UploadedFile[Any]",
    *,
    name: str,
    user: User,
    family: str = NOT_KNOWN,
    pool: Pool | None = None,
    form: str = AUTO,
    scores_decide: bool = False,
    replaces: System | None = None,
    topics: "UploadedFile[Any] | None" = None,
) -> Imported:
    """Import an uploaded run file and, if given, its topics file; TrecError as import_run, or if one is too large."""
    if replaces is not None:
        check_changeable(replaces, user, "replaced")
    size = file.size or 0
    if size > MOST_BYTES:
        raise RunTooLargeError(
            f"The file has {size:,} bytes; at most {MOST_BYTES:,} can be sent at once. "
            "Send it in parts (docs/api.md), or use import_run on the server."
        )
    if topics is not None:
        check_topics_size(topics.size or 0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"run{known_suffix(str(file.name))}"  # its own name is told, never used as a path
        _write(file, path)
        topics_file = None
        if topics is not None:
            topics_file = Path(folder) / TOPICS
            _write(topics, topics_file)
        return import_run(
            graph,
            path,
            name=name,
            family=family,
            pool=pool,
            form=form,
            scores_decide=scores_decide,
            replaces=replaces,
            topics_file=topics_file,
            user=user,
            file_name=str(file.name),
            max_bytes=MOST_BYTES,
        )


def _write(file: "UploadedFile[Any]", path: Path) -> None:
    with path.open("wb") as kept:
        for piece in file.chunks():
            kept.write(piece)


def check_topics_size(size: int) -> None:
    """Raise RunTooLargeError if a topics file is too large to be sent; size in bytes."""
    if size > MOST_TOPICS_BYTES:
        raise RunTooLargeError(
            f"The topics file has {size:,} bytes; at most {MOST_TOPICS_BYTES:,} can be sent. Send its first column "
            "alone, the question ids."
        )


def _asked_triples(graph: Graph, arrays: GraphArrays, pool: Pool | None) -> np.ndarray:
    """Return the triples whose questions are topics, int32[n, 3]: test, and the pool or all pools of the graph."""
    if pool is not None:
        return wanted_triples(pool, arrays)
    pooled = triple_array(PooledTriple.objects.filter(pool__graph=graph).order_by().distinct())
    return np.concatenate([pooled, arrays.test])


def imported_for(pool: Pool) -> list[System]:
    """Return the imported systems, not archived, whose run has candidates for a seed question of the pool."""
    keys = _question_keys(triple_array(pool.seeds.all()), open_graph(pool.graph))
    rows = Run.objects.filter(system__graph=pool.graph_id, system__kind=IMPORTED, system__archived=False)
    runs = rows.select_related("system__graph").order_by("system_id")
    return [run.system for run in runs if (find(read_topk(run).keys, keys) >= 0).any()]


def _question_keys(triples: np.ndarray, arrays: GraphArrays) -> np.ndarray:
    return question_keys(distinct_questions(triples), *arrays.shape)


def _keys_of(triples: np.ndarray, arrays: GraphArrays) -> np.ndarray:
    """Return distinct sorted row keys of both sides of the triples."""
    return distinct(row_keys(rows_of(triples), *arrays.shape))


def _listed(read: RunFile, known: np.ndarray, arrays: GraphArrays, name: str) -> Listed:
    """Order what was returned, without known answers (sorted row keys)."""
    new = find(known, read.question * arrays.num_entities + read.entity) < 0
    if not new.any():
        raise TrecError(
            f"{name}: all its {len(new):,} lines are known answers (train or valid), so nothing is left to rank; "
            "nothing was imported."
        )
    listed = list_positions(read.question[new], read.entity[new], read.score[new], arrays.num_entities, TIE_SEED)
    return listed._replace(line=np.flatnonzero(new)[listed.line])


def _raw_positions(read: RunFile, listed: Listed, arrays: GraphArrays) -> np.ndarray:
    """Return the position of each of the listed in its full list, known answers in place; 0 where nobody can tell.

    Lists that hold answers of train were not filtered: nobody filters by the other splits alone. Of other files, a
    list is still full if no split has an answer to its question that it lacks.
    """
    e = arrays.num_entities
    full = list_positions(read.question, read.entity, read.score, e, TIE_SEED)
    position = np.empty(len(read.line), dtype=np.int32)
    position[full.line] = full.strict
    lines = np.sort(read.question * e + read.entity)
    if (find(lines, _keys_of(arrays.train, arrays)) >= 0).any():
        return position[listed.line]
    known = _keys_of(np.concatenate([arrays.train, arrays.valid, arrays.test]), arrays)
    lacking = np.unique(known[find(lines, known) < 0] // e)
    return np.where(find(lacking, listed.question) < 0, position[listed.line], 0)


def _raw_note(listed: Listed, raw: np.ndarray) -> str:
    """Say whether raw pools can be made of the run."""
    asked, without = len(np.unique(listed.question)), len(np.unique(listed.question[raw == 0]))
    if not without:
        return "Its lists hold known answers in their places, so pools of the rule raw can use it."
    return (
        f"Known answers are missing from its lists: positions in the full list are not known for {without:,} of "
        f"{asked:,} questions, so pools of the rule raw cannot use it."
    )


def _tables(
    listed: Listed, raw: np.ndarray, wanted: np.ndarray, arrays: GraphArrays
) -> tuple[dict[str, pa.Table], int]:
    """Make the files of the run; also return the most candidates of a question.

    raw: positions in the full lists, from _raw_positions; wanted: sorted keys of the rank rows to make.
    """
    keys = listed.question * arrays.num_entities + listed.entity
    asked, counts = np.unique(listed.question, return_counts=True)
    ranks = np.stack([listed.strict, listed.optimistic, listed.pessimistic])
    returned = ranks_table(asked, counts, listed.entity, ranks, arrays)
    order = np.argsort(keys)
    at = find(keys[order], wanted)
    found = np.where(at >= 0, ranks[:, order[at]], 0)
    questions, rows = np.unique(wanted // arrays.num_entities, return_counts=True)
    stored = ranks_table(questions, rows, wanted % arrays.num_entities, found, arrays)
    candidate = np.flatnonzero(find(_keys_of(arrays.test, arrays), keys) < 0)
    kept = candidate[places(np.unique(listed.question[candidate], return_counts=True)[1]) < MOST_CANDIDATES]
    having, held = np.unique(listed.question[kept], return_counts=True)
    top = candidates_table(having, held, listed.entity[kept], listed.score[kept], raw[kept], arrays)
    return {"topk.parquet": top, "ranks.parquet": stored, RETURNED: returned}, int(held.max(initial=0))


def _notes(
    read: RunFile, listed: Listed, topics: Topics, own: np.ndarray, asked: np.ndarray, tables: dict[str, pa.Table]
) -> list[str]:
    """Say what a reader should know about questions, known answers and depth, a sentence each.

    own: keys of the topics that every evaluation asks; only full test asks the others. asked: the keys that the
    run was asked.
    """
    answered, counts = np.unique(listed.question, return_counts=True)
    of_own, every = int((find(own, answered) >= 0).sum()), len(own)
    told = f"{len(read.line):,} lines, answers to {of_own:,} of {every:,} questions"
    if others := len(topics.keys) - every:
        told += f", and to {len(answered) - of_own:,} of {others:,} that only full test asks"
    notes = [f"{told}."]
    if len(answered) < len(asked):
        notes.append("What was not returned has no rank: its reciprocal rank and hits are 0.")
    if known := len(read.line) - len(listed.line):
        notes.append(f"{known:,} known answers (train or valid) were left out.")
    held = np.unique(tables["topk.parquet"]["question"].chunk(0).indices.to_numpy(), return_counts=True)[1]
    least, most = (int(held.min()), int(held.max())) if len(held) == len(answered) else (0, int(held.max(initial=0)))
    alike = f"{most:,} candidates of each question"
    notes.append(f"It holds {alike if least == most else f'{least:,} to {most:,} candidates of a question'}.")
    if counts.max() > MOST_CANDIDATES:
        notes.append(f"Pools can use the first {MOST_CANDIDATES:,}; ranks are kept of all.")
    return notes


def _store(system: System, tables: dict[str, pa.Table], depth: int, seconds: float, user: User | None) -> None:
    """Write the files, then both rows in one transaction; if anything fails, nothing stays."""
    system.owner, system.private = user, is_private_at_first(user)
    with run_folder(system) as relative:
        fields = write_run(relative, system, None, tables, depth, seconds)
        # another request may have been faster
        with fenced(), named_once(lambda: check_name(system.graph, system.name)):
            held(system.graph)
            system.save()
            Run.objects.create(system=system, **fields)
            record(user, PoolingAct.RUN_IMPORTED, about=str(system), **system.settings)


def _replace(system: System, tables: dict[str, pa.Table], depth: int, seconds: float, user: User | None) -> None:
    """Write the files, then let the run's row point at them; readers see the old run or the new one."""
    with run_folder(system) as relative:
        fields = write_run(relative, system, None, tables, depth, seconds)
        with fenced():
            hold(system)
            check_changeable(system, user, "replaced")
            old = Run.every.get(system=system)
            System.every.filter(pk=system.pk).update(settings=system.settings)
            Run.every.filter(pk=old.pk).update(**fields, updated_at=clock.now())
            record(user, PoolingAct.RUN_REPLACED, about=str(system), **system.settings)
            transaction.on_commit(lambda: delete(old.artifact))
