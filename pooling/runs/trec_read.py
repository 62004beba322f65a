"""Read runs in TREC form line by line; a refusal names the wrong lines."""

import gzip
import io
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, NamedTuple
from urllib.parse import unquote

import numpy as np

from core.callbacks import Tell
from core.errors import TooLargeError, UserError
from core.files.lines import Unpacking
from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.questions.kernel import questions_from_keys
from pooling.runs.files import parse_question_id, question_id
from pooling.runs.trec_write import FILLER
from pooling.scoring.rank_rows import find

BLOCK = 1 << 20  # bytes that are read at once, and the longest line
COLUMNS = 6
EXAMPLES = 20  # lines that a refusal names
GZIP = b"\x1f\x8b"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class TrecError(UserError):
    """A run file is malformed; nothing was imported."""


class RunTooLargeError(TrecError, TooLargeError):
    """A run file is too large to be sent; nothing was imported."""


class RunFile(NamedTuple):
    """Hold n lines: number int64, question key int64, entity int64, score float64, rank int64 (-1: not a number)."""

    line: np.ndarray
    question: np.ndarray
    entity: np.ndarray
    score: np.ndarray
    rank: np.ndarray


class Topics(NamedTuple):
    """Hold the questions that a run may answer: sorted keys int64[n], and whose they are in words."""

    keys: np.ndarray
    whose: str


def read_run_file(
    path: Path,
    name: str,
    graph: GraphArrays,
    topics: Topics,
    *,
    max_bytes: int | None = None,
    progress: Tell | None = None,
) -> RunFile:
    """Read every line of a run in order; TrecError counts the wrong lines and names up to 20.

    Messages call the file `name`; unpacked it may have `max_bytes`. `progress(done, total)` counts bytes of the file.
    """
    wrong = Wrong(name)
    reader = _Reader(graph, topics, wrong)
    with _opened(path, name) as (raw, file):
        total = path.stat().st_size
        for first, block in _blocks(file, name, max_bytes):
            reader.read(first, block)
            if progress is not None:
                progress(min(raw.tell(), total), total)
    found = _without_fillers(reader.found(), graph)
    if not len(found.line) and not wrong.count:
        raise TrecError(f"{name} is empty: it has no line of a run; nothing was imported.")
    find_repeats(found, graph, wrong)
    wrong.refuse()
    return found


class Wrong:
    """Collect what is wrong with a file: the first wrong lines in words, and the count of all."""

    def __init__(self, name: str) -> None:
        self.name, self.count = name, 0
        self.lines: list[str] = []

    def add(self, line: int, problem: str) -> None:
        self.count += 1
        if self.count <= EXAMPLES:
            self.lines.append(f"{self.name}:{line}: {problem}")

    def refuse(self) -> None:
        if self.count:
            more = [f"… and {self.count - EXAMPLES:,} more lines"] if self.count > EXAMPLES else []
            raise TrecError("\n".join([*self.lines, *more, "Correct the file; nothing was imported."]))


@contextmanager
def _opened(path: Path, name: str) -> Iterator[tuple[IO[bytes], IO[bytes] | io.BufferedReader]]:
    """Open the file, which knows how far it was read, and its content, unpacked if it is gzip."""
    try:
        with path.open("rb") as raw:
            packed = raw.read(len(GZIP)) == GZIP
            raw.seek(0)
            yield raw, io.BufferedReader(Unpacking(raw, name)) if packed else raw
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise TrecError(f"{name} is a damaged .gz file ({error}); nothing was imported.") from error
    except OSError as error:
        raise TrecError(f"{name}: {error.strerror or error}; nothing was imported.") from error


def _blocks(file: IO[bytes] | io.BufferedReader, name: str, max_bytes: int | None) -> Iterator[tuple[int, bytes]]:
    """Yield blocks of whole lines with the number of their first line."""
    line, read, rest = 1, 0, b""
    while chunk := file.read(BLOCK):
        read += len(chunk)
        if max_bytes is not None and read > max_bytes:
            raise RunTooLargeError(
                f"{name} holds more than {max_bytes:,} bytes unpacked, which is too much to send at once: "
                "send it in parts (docs/api.md), or use import_run on the server."
            )
        whole, feed, after = chunk.rpartition(b"\n")
        if not feed and len(rest) + len(chunk) > BLOCK:
            raise TrecError(f"{name}:{line}: has more than {BLOCK:,} bytes, so it is not a line of a run.")
        if feed:
            block = (rest + whole + feed).removeprefix(BYTE_ORDER_MARK if line == 1 else b"")
            yield line, block
            line, rest = line + block.count(b"\n"), after
        else:
            rest += chunk
    if rest:
        yield line, rest.removeprefix(BYTE_ORDER_MARK if line == 1 else b"")


class _Reader:
    """Turn lines into numbers, block by block, and add what is wrong to `wrong`."""

    def __init__(self, graph: GraphArrays, topics: Topics, wrong: Wrong) -> None:
        self.wrong = wrong
        self.questions = _Ids(lambda word: question_of(word, graph, topics))
        self.entities = _Ids(lambda word: entity_of(word, graph))
        self.parts: list[RunFile] = []

    def read(self, first: int, block: bytes) -> None:
        try:
            block.decode()
        except UnicodeDecodeError as error:
            line = first + block[: error.start].count(b"\n")
            raise TrecError(
                f"{self.wrong.name}:{line}: is not UTF-8; save the file as UTF-8. Nothing was imported."
            ) from error
        lines = block.split(b"\n")
        widths = np.array([len(line.split()) for line in lines])
        whole = np.flatnonzero(widths == COLUMNS)
        bad = np.flatnonzero((widths != COLUMNS) & (widths > 0)).tolist()
        wrong = [(first + i, _misshapen(int(widths[i]))) for i in bad]
        # one list of words, by strides: lists of lists of words would keep the garbage collector busy
        words = (b"\n".join([lines[i] for i in whole.tolist()]) if bad else block).split()
        wrong += self._read(first + whole, words)
        for number, problem in sorted(wrong):
            self.wrong.add(number, problem)

    def _read(self, line: np.ndarray, words: list[bytes]) -> list[tuple[int, str]]:
        """Keep the lines of one block, six words each; return what is wrong with them."""
        scores, ranks = words[4::COLUMNS], words[3::COLUMNS]
        question = np.fromiter(map(self.questions.__getitem__, words[0::COLUMNS]), np.int64, len(line))
        entity = np.fromiter(map(self.entities.__getitem__, words[2::COLUMNS]), np.int64, len(line))
        score = _each(scores, float, np.dtype(np.float64), np.nan)
        rank = _each(ranks, int, np.dtype(np.int64), -1)
        self.parts.append(RunFile(line, question, entity, score, rank))
        wrong = []
        # a word in place of a rank is none; but 1_000 means a number
        odd = rank == -1
        odd[odd] = [b"_" in ranks[i] for i in np.flatnonzero(odd).tolist()]
        for i in np.flatnonzero((question < 0) | (entity < 0) | ~np.isfinite(score) | odd).tolist():
            if question[i] < 0:
                problem = self.questions.problem(int(question[i]))
            elif entity[i] < 0:
                problem = self.entities.problem(int(entity[i]))
            elif not np.isfinite(score[i]):
                problem = f"score {scores[i].decode()[:40]!r} is not a finite number"
            else:
                problem = f"rank {ranks[i].decode()[:40]!r} is not a whole number"
            wrong.append((int(line[i]), problem))
        return wrong

    def found(self) -> RunFile:
        if not self.parts:
            return RunFile(*(np.zeros(0, np.int64) for _ in RunFile._fields))
        return RunFile(*(np.concatenate(column) for column in zip(*self.parts, strict=True)))


class _Ids(dict[bytes, int]):
    """Map words to ids, looked up once; a negative id stands for a problem, which `problem` says in words."""

    def __init__(self, look_up: Callable[[str], int | str]) -> None:
        super().__init__()
        self._look_up = look_up
        self._problems: list[str] = []

    def __missing__(self, word: bytes) -> int:
        found = self._look_up(word.decode())
        if isinstance(found, str):
            self._problems.append(found)
            found = -len(self._problems)
        self[word] = found
        return found

    def problem(self, identifier: int) -> str:
        return self._problems[-identifier - 1]


def _misshapen(columns: int) -> str:
    return f"has {columns} columns where question id, Q0, entity, rank, score, tag are {COLUMNS}"


def plain_int(word: str) -> int:
    """Return a whole number of at most 18 digits; ValueError for 1_000 and other digits, which Python takes too."""
    if not re.fullmatch(r"[-+]?[0-9]{1,18}", word.strip()):
        raise ValueError(f"{word[:40]!r} is not a whole number")
    return int(word)


def _each(words: list[bytes], read: Callable[[bytes], float], dtype: np.dtype, otherwise: float) -> np.ndarray:
    """Read every word as a number; `otherwise` if it is not one, or is 1_000, which Python takes for one."""

    def one(word: bytes) -> float:
        try:
            if b"_" in word:
                return otherwise
            return np.array(read(word), dtype=dtype).item()
        except (ValueError, OverflowError):
            return otherwise

    with suppress(ValueError, OverflowError):
        if b"_" not in b" ".join(words):
            return np.fromiter(map(read, words), dtype, len(words))
    return np.fromiter(map(one, words), dtype, len(words))


def entity_of(word: str, graph: GraphArrays, *, quoted: bool = True) -> int | str:
    """Return the id of an entity key, percent-encoded if `quoted`, or what is wrong with it in words."""
    if quoted and word.startswith(FILLER):
        return graph.num_entities
    key = unquote(word) if quoted else word
    found = graph.entity_index.get(key)
    return f"the graph does not have entity {key[:200]!r}" if found is None else found


def question_of(word: str, graph: GraphArrays, topics: Topics) -> int | str:
    """Return the key of a question id, or what is wrong with it: not of this graph, the other side, not a topic."""
    try:
        key = parse_question_id(word, graph)
    except (KeyError, ValueError):
        return f"the graph has no question {word[:200]!r}; ids are as export_topics writes them"
    half = graph.num_relations * graph.num_entities  # keys of tail questions come first
    other = key + half if key < half else key - half
    is_topic, other_is = find(topics.keys, np.array([key, other])) >= 0
    if is_topic:
        return key
    if other_is:
        wrong_side, right_side = ("head", "tail") if key >= half else ("tail", "head")
        return (
            f"question {word[:200]!r} asks for the {wrong_side}, where {topics.whose} ask for the {right_side}: "
            f"{id_of(other, graph)}"
        )
    return f"question {word[:200]!r} is not one of {topics.whose}"


def id_of(key: int, graph: GraphArrays) -> str:
    """Return the question id of a key."""
    side, entity, relation = questions_from_keys(np.array([key]), graph.num_entities, graph.num_relations)
    return question_id(int(side[0]), graph.entities[int(entity[0])], graph.relations[int(relation[0])])


def _without_fillers(found: RunFile, graph: GraphArrays) -> RunFile:
    """End each list above its first filler (trec/runs/ of a test set): who comes there is not known."""
    fillers = found.entity == graph.num_entities
    if not fillers.any():
        return found
    questions, place = np.unique(found.question, return_inverse=True)
    end = np.full(len(questions), -np.inf)
    np.maximum.at(end, place[fillers], found.score[fillers])
    kept = ~(found.score <= end[place])
    return RunFile(*(column[kept] for column in found))


def find_repeats(found: RunFile, graph: GraphArrays, wrong: Wrong) -> None:
    """Add each line whose entity an earlier line of the same question has."""
    keys = found.question * graph.num_entities + found.entity
    order = np.argsort(keys, kind="stable")
    order = order[(found.question[order] >= 0) & (found.entity[order] >= 0)]
    sorted_keys = keys[order]
    fresh = np.ones(len(order), dtype=bool)
    fresh[1:] = sorted_keys[1:] != sorted_keys[:-1]
    first = np.maximum.accumulate(np.where(fresh, np.arange(len(order)), 0))  # first line of each pair
    repeats = sorted(zip(order[~fresh].tolist(), order[first[~fresh]].tolist(), strict=True))
    for at, earlier in repeats[:EXAMPLES]:
        entity = graph.entities[int(found.entity[at])]
        question = id_of(int(found.question[at]), graph)
        wrong.add(int(found.line[at]), f"repeats line {found.line[earlier]}: {entity[:200]!r} in {question}")
    wrong.count += len(repeats[EXAMPLES:])
