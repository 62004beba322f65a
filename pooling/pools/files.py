"""Read seed files and pool files made elsewhere, line by line."""

import io
from array import array
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from core.files.lines import SENT, Bounds, lines_of, text_lines
from pooling.errors import PoolError
from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.pools.kernels.gathering import PROVENANCE, Gathered

MAX_DEPTH = 32767
EXAMPLES = 20
SHOWN = 200  # characters of what a line has, in a message
SEED_TRIPLE = "seed triple"


class Problems:
    """Collect what is wrong with a file: the first problems in words, and the count of all."""

    def __init__(self) -> None:
        self.first: list[str] = []
        self.count = 0

    def add(self, problem: str) -> None:
        self.count += 1
        if self.count <= EXAMPLES:
            self.first.append(problem)

    def __bool__(self) -> bool:
        return self.count > 0


def read_tsv(path: Path, bounds: Bounds = SENT) -> Iterator[tuple[int, list[str]]]:
    """Yield line number and fields of each line that is not empty; plain or .gz. LinesError if it cannot be read."""
    yield from ((number, line.split("\t")) for number, line in lines_of(path, bounds))


def tsv_lines(raw: bytes, name: str, bounds: Bounds = SENT) -> Iterator[tuple[int, list[str]]]:
    """Yield line number and fields of each line of a file's content that is not empty; messages call it `name`."""
    yield from ((number, line.split("\t")) for number, line in text_lines(io.BytesIO(raw), name, bounds))


def triple_ids(fields: Sequence[str], graph: GraphArrays) -> tuple[tuple[int, int, int] | None, str]:
    """Return the ids of head, relation, tail; or None and what the graph does not have."""
    head, relation, tail = fields[:3]
    for name, key, index in (
        ("head", head, graph.entity_index),
        ("relation", relation, graph.relation_index),
        ("tail", tail, graph.entity_index),
    ):
        if key not in index:
            return None, f"the graph does not have {name} {key[:SHOWN]!r}"
    return (graph.entity_index[head], graph.relation_index[relation], graph.entity_index[tail]), ""


def several(problems: Sequence[str] | Problems, advice: str) -> str:
    """List up to 20 problems, one a line, then what to do."""
    first, count = (
        (problems.first, problems.count) if isinstance(problems, Problems) else (problems[:EXAMPLES], len(problems))
    )
    more = [f"… and {count - EXAMPLES} more"] if count > EXAMPLES else []
    return "\n".join([*first, *more, advice])


def read_seed_file(path: Path, graph: GraphArrays, bounds: Bounds = SENT) -> np.ndarray:
    """Read seed triples int32[n, 3] from a TSV of head, relation, tail; each must be a test triple of the graph."""
    test = set(map(tuple, graph.test.tolist()))
    seeds: dict[tuple[int, int, int], int] = {}
    problems = Problems()
    for number, fields in read_tsv(path, bounds):
        triple, problem = triple_ids(fields, graph) if len(fields) == 3 else (None, "")
        if len(fields) != 3:
            problem = f"has {len(fields)} columns where head, relation, tail are 3"
        elif triple is not None and triple not in test:
            problem = "is not a test triple of the graph; seeds are sampled from test"
        elif triple is not None and triple in seeds:
            problem = f"repeats line {seeds[triple]}"
        if problem:
            problems.add(f"{path.name}:{number}: {problem}")
        elif triple is not None:
            seeds[triple] = number
    if problems:
        raise PoolError(several(problems, "Correct the seed file; nothing was made."))
    if not seeds:
        raise PoolError(f"{path.name} has no seed triples.")
    return np.array(list(seeds), dtype=np.int32)


class PoolFile(NamedTuple):
    """Hold the content of a pool file: triples in its order, who found them, lines that were left out."""

    gathered: Gathered
    contributors: list[str]
    report: list[dict[str, object]]


def read_pool_file(
    path: Path, seeds: np.ndarray, graph: GraphArrays, *, known_too: bool = False, bounds: Bounds = SENT
) -> PoolFile:
    """Read a TSV of head, relation, tail, smallest depth [, provenance `system:side:rank;…`].

    A line of the wrong shape refuses the file; a line that a pool cannot hold is left out and reported. `known_too`:
    known facts and seeds are kept as given.
    """
    refused = Problems()
    left_out: dict[str, Problems] = defaultdict(Problems)
    contributors: dict[str, int] = {}
    lines: dict[tuple[int, int, int], int] = {}
    depths: list[int] = []
    counts: list[int] = []  # findings of each line
    flat = array("i")  # system, side, rank of each finding
    never = {} if known_too else excluded(seeds, graph)
    name = path.name
    for number, fields in read_tsv(path, bounds):
        where = f"{name}:{number}"
        problem, depth, found = _shape(fields, contributors)
        if problem:
            refused.add(f"{where}: {problem}")
            continue
        triple, unknown = triple_ids(fields, graph)
        if triple is None:
            left_out["unknown entity or relation"].add(f"{where}: {unknown}")
        elif triple in lines:
            left_out["repeated triple"].add(f"{where}: repeats line {lines[triple]}")
        elif triple in never:
            left_out[never[triple]].add(f"{where}: {' '.join(fields[:3])}")
        else:
            lines[triple] = number
            depths.append(depth)
            counts.append(len(found) // 3)
            flat.extend(found)
    if refused:
        raise PoolError(several(refused, "Correct the pool file; nothing was made."))
    numbers = np.array(flat, np.int32).reshape(-1, 3)
    records = np.zeros(len(numbers), dtype=PROVENANCE)
    records["system"], records["side"], records["rank"] = numbers.T
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    triples = np.array(list(lines), dtype=np.int32).reshape(-1, 3)
    gathered = Gathered(triples, np.array(depths, dtype=np.int64), records, indptr)
    return PoolFile(gathered, list(contributors), report_of(left_out))


def report_of(left_out: Mapping[str, Problems]) -> list[dict[str, object]]:
    """Return Pool.report of the lines that were left out, by the kind of what is wrong with them."""
    return [{"kind": kind, "count": at.count, "examples": at.first} for kind, at in left_out.items()]


def excluded(seeds: np.ndarray, graph: GraphArrays) -> dict[tuple[int, ...], str]:
    """Return the triples that a pool never holds, with why: known facts (train, valid, unsampled test) and seeds."""
    why: dict[tuple[int, ...], str] = {}
    for name, triples in (("train", graph.train), ("valid", graph.valid), ("test", graph.test)):
        why.update(dict.fromkeys(map(tuple, triples.tolist()), f"known fact ({name})"))
    why.update(dict.fromkeys(map(tuple, seeds.tolist()), SEED_TRIPLE))
    return why


def _shape(fields: Sequence[str], contributors: dict[str, int]) -> tuple[str, int, list[int]]:
    """Return the problem of a pool line, or '', with its depth and system, side, rank of each of its findings in turn.

    Adds new contributors.
    """
    if len(fields) not in (4, 5):
        return (f"has {len(fields)} columns; head, relation, tail, depth and perhaps provenance are 4 or 5", 0, [])
    depth = rank_in(fields[3])
    if not depth:
        return f"depth {fields[3][:SHOWN]!r} is not a whole number from 1 to {MAX_DEPTH}", 0, []
    found: list[int] = []
    for part in filter(None, fields[4].split(";") if len(fields) == 5 else []):
        system, _, rest = part.partition(":")
        side, _, rank = rest.partition(":")
        if not system or side not in ("tail", "head") or not rank_in(rank):
            return f"provenance {part[:SHOWN]!r} is not system:tail:rank or system:head:rank", 0, []
        found += (contributors.setdefault(system, len(contributors)), side == "head", int(rank))
    if len(contributors) > 256:
        return "more than 256 systems in the provenance", 0, []
    return "", depth, found


def rank_in(text: str) -> int:
    """Read a whole number from 1 to MAX_DEPTH; 0 if the text is not one."""
    number = int(text) if len(text) <= 9 and text.isascii() and text.isdigit() else 0
    return number if number <= MAX_DEPTH else 0
