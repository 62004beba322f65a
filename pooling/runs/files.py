"""Read and write the files of a run: topk.parquet, ranks.parquet and run.json, with ids of questions.

topk.parquet holds question, rank, entity, score, raw_rank; ranks.parquet question, entity, strict, optimistic,
pessimistic; see docs/formats.md. Written as blocks, read whole, kept in memory until the run changes.
"""

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import lru_cache, partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from core.database import gone
from core.errors import UserError
from core.files.artifacts import ArtifactError, writing
from core.files.parquet import numbers, read_parquet, row_groups
from core.files.storage import checked as checked_file
from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.graphs.opening import open_graph
from pooling.models import Run
from pooling.questions.kernel import Csr, Questions, questions_from_keys
from pooling.runs.kernel import places
from pooling.scoring.rank_rows import find
from pooling.scoring.ranks import RankingResult

SIDES = ("tail", "head")
RANKS = ("strict", "optimistic", "pessimistic")
CHUNK = 10_000  # ids whose Python objects are held at once
RETURNED = "returned.parquet"  # imported runs only: everything in their file, in the form of ranks.parquet


class RunError(UserError):
    """A run is missing, or not deep enough for what was asked."""


class Candidates(NamedTuple):
    """Hold candidates of n questions: sorted question keys int64[n]; entity int32[n, K], best first, -1 padded."""

    keys: np.ndarray
    entity: np.ndarray

    def of(self, keys: np.ndarray) -> np.ndarray:
        """Return candidates of these questions, int32[m, K]; -1 where nothing was stored."""
        place = find(self.keys, keys)
        entity = np.full((len(keys), self.entity.shape[1]), -1, dtype=np.int32)
        entity[place >= 0] = self.entity[place[place >= 0]]
        return entity


class TopK(NamedTuple):
    """Hold candidates of n questions: sorted question keys int64[n]; entity int32[n, K], -1 padded; score float32.

    raw int32[n, K]: the position of each in the full list, known answers in place; 0 where it is not known.
    """

    keys: np.ndarray
    entity: np.ndarray
    score: np.ndarray
    raw: np.ndarray

    def of(self, keys: np.ndarray) -> np.ndarray:
        """Return candidates of these questions, int32[m, K]; -1 where nothing was stored."""
        return Candidates(self.keys, self.entity).of(keys)

    def raw_of(self, keys: np.ndarray, depth: int) -> np.ndarray:
        """Return the first `depth` places of the full lists, int32[m, depth]: -1 where a known answer has the place.

        Also -1 in every place of a question that was stored without raw positions (`lacks_raw`).
        """
        place = find(self.keys, keys)
        row = np.flatnonzero(place >= 0)
        raw = self.raw[place[row]]
        at, column = np.nonzero((raw > 0) & (raw <= depth))
        entity = np.full((len(keys), depth), -1, dtype=np.int32)
        entity[row[at], raw[at, column] - 1] = self.entity[place[row[at]], column]
        return entity

    @property
    def lacks_raw(self) -> np.ndarray:
        """Return the keys of the questions whose candidates have no raw positions, int64[m], sorted."""
        return self.keys[~self.raw.any(axis=1)]


class Pass(NamedTuple):
    """Hold the result of one scoring pass over questions (sorted keys)."""

    keys: np.ndarray
    csr: Csr
    scored: RankingResult


class RankRows(NamedTuple):
    """Hold sorted row keys int64[n], and ranks int32[3, n]: strict, optimistic, pessimistic."""

    keys: np.ndarray
    ranks: np.ndarray


# -- question ids -----------------------------------------------------------------------------------------------

_kept = lru_cache(maxsize=1 << 17)  # one entity is in many questions
_quoted, _unquoted = _kept(partial(quote, safe="")), _kept(unquote)


def question_id(side: int, entity_key: str, relation_key: str) -> str:
    """Return `tail:<entity>:<relation>` or `head:…` with percent-encoded parts."""
    return f"{SIDES[side]}:{_quoted(entity_key)}:{_quoted(relation_key)}"


def question_ids(questions: Questions, graph: GraphArrays) -> list[str]:
    return [
        question_id(s, graph.entities[e], graph.relations[r])
        for s, e, r in zip(*(column.tolist() for column in questions), strict=True)
    ]


def parse_question_id(text: str, graph: GraphArrays) -> int:
    """Return the key of a question id; KeyError or ValueError if the graph does not have it."""
    side, entity, relation = text.split(":")
    code = SIDES.index(side) * graph.num_relations + graph.relation_index[_unquoted(relation)]
    return int(code * graph.num_entities + graph.entity_index[_unquoted(entity)])


# -- files ------------------------------------------------------------------------------------------------------


def _question_column(keys: np.ndarray, repeats: np.ndarray, graph: GraphArrays) -> pa.DictionaryArray:
    codes = np.repeat(np.arange(len(keys), dtype=np.int32), repeats)
    questions = questions_from_keys(keys, *graph.shape)
    return pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(question_ids(questions, graph), pa.string()))


def write_blocks(path: Path, old: Path | None, table: pa.Table, replaced: Collection[str] = ()) -> None:
    """Write the old file's blocks and the new one, each a row group of its own.

    Rows of the `replaced` questions are left out of the old blocks; a column that these lack becomes 0.
    """
    with writing(path) as aside, pq.ParquetWriter(aside, table.schema, compression="zstd") as writer:
        if old is not None:
            file = pq.ParquetFile(old, read_dictionary=["question"])
            for i in range(file.num_row_groups):
                block = file.read_row_group(i)
                for field in (field for field in table.schema if field.name not in block.column_names):
                    block = block.append_column(field, pa.array(np.zeros(block.num_rows), field.type))
                if replaced:
                    import pyarrow.compute as pc  # here, since few need it: docs/measured/benchmarks.md, Start-up

                    question = block["question"].cast(pa.string())
                    block = block.filter(pc.invert(pc.is_in(question, pa.array(sorted(replaced), pa.string()))))
                writer.write_table(block.cast(table.schema))
        writer.write_table(table)


def candidates_table(
    keys: np.ndarray, counts: np.ndarray, entity: np.ndarray, score: np.ndarray, raw: np.ndarray, graph: GraphArrays
) -> pa.Table:
    """Return candidates of n questions (keys, and how many each has), one question after the other, best first.

    raw: the position of each in the full list, 0 where it is not known.
    """
    return pa.table(
        {
            "question": _question_column(keys, counts, graph),
            "rank": (places(counts) + 1).astype(np.int32),
            "entity": entity.astype(np.int32),
            "score": score.astype(np.float32),
            "raw_rank": raw.astype(np.int32),
        }
    )


def ranks_table(
    keys: np.ndarray, counts: np.ndarray, entity: np.ndarray, ranks: Iterable[np.ndarray], graph: GraphArrays
) -> pa.Table:
    """Return rank rows of n questions (keys, and how many each has); ranks: strict, optimistic, pessimistic."""
    columns = {"question": _question_column(keys, counts, graph), "entity": entity.astype(np.int32)}
    return pa.table({**columns, **dict(zip(RANKS, (rank.astype(np.int32) for rank in ranks), strict=True))})


def _read_coded(column: pa.ChunkedArray, graph: GraphArrays) -> tuple[np.ndarray, np.ndarray]:
    """Return the keys of the questions that a column names, int64, and which of them each row is."""
    if not column.num_chunks:  # for no chunk pyarrow would load pandas, 40 MiB
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    array = column.combine_chunks()
    if isinstance(array, pa.ChunkedArray):
        array = array.chunk(0)
    if not pa.types.is_dictionary(array.type):
        array = array.dictionary_encode()
    return _keys_of(array.dictionary, graph), numbers(array.indices)


_last: tuple[GraphArrays, pa.Array, np.ndarray] | None = None


def _keys_of(ids: pa.Array, graph: GraphArrays) -> np.ndarray:
    """Return keys of question ids. The files of a pool's runs name the same questions: the last ones are kept."""
    global _last
    held = _last
    if held is None or held[0] is not graph or not held[1].equals(ids):
        starts = range(0, len(ids), CHUNK)
        texts = chain.from_iterable(ids.slice(start, CHUNK).to_pylist() for start in starts)
        keys = np.fromiter((parse_question_id(text, graph) for text in texts), np.int64, len(ids))
        held = _last = graph, ids, keys
    return held[2]


_cache: dict[tuple[int, str, str], Any] = {}


def cached(run: Run, name: str, read: Callable[[Run], Any], *, keep: bool = True) -> Any:
    """Return `read` of a run, or of the run that took its place; GoneError if it was deleted meanwhile.

    With `keep`, what was read stays in memory until the run changes.
    """
    key = (run.pk, run.sha256, name)
    if key in _cache:
        return _cache[key]
    for old in [k for k in _cache if k[0] == run.pk and k[1] != run.sha256]:
        del _cache[old]
    try:
        found = read(run)
    except (ArtifactError, FileNotFoundError):
        if (newer := newer_than(run)) is not None:
            return cached(newer, name, read, keep=keep)
        if not Run.every.filter(pk=run.pk).exists():
            raise gone(run) from None
        raise
    if keep:
        _cache[key] = found
    return found


def newer_than(run: Run) -> Run | None:
    """Return the run that a job put in the place of this one since its row was read; it contains this one."""
    return Run.every.filter(pk=run.pk).exclude(artifact=run.artifact).first()


def is_lost(run: Run) -> bool:
    """Tell whether candidates or ranks of a run are missing or damaged, and its model can make them again."""
    if run.system.is_a_file:
        return False
    try:
        read_topk(run), read_ranks(run)
    except ArtifactError:
        return True
    return False


def files_of(run: Run) -> dict[str, str]:
    """Return names and checksums of the files in run.json; ArtifactError if run.json was changed."""
    about = checked_file(run.artifact, "run.json", run.sha256)
    files: dict[str, str] = json.loads(about.read_text(encoding="utf-8"))["sha256"]
    return files


def devices_of(run: Run | None) -> list[str]:
    """Return the devices that scored a run; empty for none, for an imported one, and before they were recorded."""
    if run is None:
        return []
    about = json.loads(checked_file(run.artifact, "run.json", run.sha256).read_text(encoding="utf-8"))
    devices: list[str] = about.get("scored_on", [])
    return devices


def checked(run: Run, name: str) -> Path:
    """Return the path of a file of a run after checking its checksum; ArtifactError if it was changed."""
    return checked_file(run.artifact, name, files_of(run)[name])


def read_topk(run: Run, *, keep: bool = True) -> TopK:
    """Read the stored candidates of a run, best first; `keep` as in `cached`."""

    def read(run: Run) -> TopK:
        path, graph = checked(run, "topk.parquet"), open_graph(run.system.graph)
        keys, codes = _read_coded(read_parquet(path, ["question"], coded=["question"])["question"], graph)
        distinct, place = np.unique(keys, return_inverse=True)
        cell = place[codes] * run.depth
        cell += numbers(read_parquet(path, ["rank"])["rank"]) - 1
        entity = np.full((len(distinct), run.depth), -1, dtype=np.int32)
        entity.put(cell, numbers(read_parquet(path, ["entity"])["entity"]))
        score = np.full((len(distinct), run.depth), -np.inf, dtype=np.float32)
        score.put(cell, numbers(read_parquet(path, ["score"])["score"]))
        raw = np.zeros((len(distinct), run.depth), dtype=np.int32)
        if "raw_rank" in pq.read_schema(path).names:  # runs made before it was kept have none
            raw.put(cell, numbers(read_parquet(path, ["raw_rank"])["raw_rank"]))
        return TopK(distinct, entity, score, raw)

    return cached(run, "topk", read, keep=keep)


def read_candidates(run: Run) -> Candidates:
    """Read the entities of the stored candidates alone, a row group at a time; they do not stay in memory."""

    def read(run: Run) -> Candidates:
        graph, blocks = open_graph(run.system.graph), list[Candidates]()
        for table in row_groups(checked(run, "topk.parquet"), ["question", "rank", "entity"], coded=["question"]):
            keys, cell = _read_coded(table["question"], graph)
            if not blocks or blocks[-1].keys is not keys:  # all row groups of a block name the same questions
                blocks.append(Candidates(keys, np.full((len(keys), run.depth), -1, dtype=np.int32)))
            place = cell.astype(np.int64)
            place *= run.depth
            place += numbers(table["rank"])
            place -= 1
            blocks[-1].entity.put(place, numbers(table["entity"]))
            del table, cell, place  # before the next row group is read
        return _one_block(blocks, run.depth)

    return cached(run, "candidates", read, keep=False)


def _one_block(blocks: Sequence[Candidates], depth: int) -> Candidates:
    """Join blocks, sort them by key, and leave out questions without candidates; one that is so is not copied."""
    held = [np.flatnonzero(block.entity.max(axis=1, initial=-1) >= 0) for block in blocks]
    if len(blocks) == 1 and len(held[0]) == len(blocks[0].keys) and (np.diff(blocks[0].keys) > 0).all():
        return blocks[0]
    keys = [np.zeros(0, np.int64), *(block.keys[rows] for block, rows in zip(blocks, held, strict=True))]
    entity = [np.zeros((0, depth), np.int32), *(block.entity[rows] for block, rows in zip(blocks, held, strict=True))]
    order = np.argsort(np.concatenate(keys))
    return Candidates(np.concatenate(keys)[order], np.concatenate(entity)[order])


def read_ranks(run: Run) -> RankRows:
    """Read the rank rows of a run, sorted by key; they stay in memory until the run changes."""
    return cached(run, "ranks", lambda run: _read_rows(run, "ranks.parquet"))


def read_returned(run: Run) -> RankRows:
    """Read the rank rows of everything that an imported run returned, pooled or not."""
    return cached(run, "all returned", lambda run: _read_rows(run, RETURNED), keep=False)


def returned_keys(run: Run) -> np.ndarray | None:
    """Return the question key of everything that a run returned, int64, sorted; None where it ranks all candidates."""

    def read(run: Run) -> np.ndarray | None:
        if RETURNED not in files_of(run):
            return None
        return read_returned(run).keys // open_graph(run.system.graph).num_entities

    return cached(run, "returned", read)


def _read_rows(run: Run, name: str) -> RankRows:
    graph = open_graph(run.system.graph)
    table = read_parquet(checked(run, name), coded=["question"], threads=False)
    questions, codes = _read_coded(table["question"], graph)
    keys = questions[codes] * graph.num_entities + numbers(table["entity"])
    order = np.argsort(keys, kind="stable")
    ranks = np.stack([numbers(table[name])[order] for name in RANKS])
    return RankRows(keys[order], ranks.astype(np.int32))


def came_with_test_set(run: Run) -> bool:
    """Tell whether a run has the ranks of a test set's own triples alone: of others there is neither model nor file."""
    return run.system.is_a_file and returned_keys(run) is None
