"""Write runs in TREC form, `question-id Q0 entity rank score tag`, plain or .gz; trec_read.py reads them."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

import numpy as np
import pyarrow as pa
from isal import isal_zlib

from pooling.scoring.merged_lists import Merged

PIECE = 10_000  # lines that are written at once
QUESTIONS = 1_000  # of a run, likewise
FILLER = "%unknown-"  # before a place: no word of an entity begins so, since trec_word encodes %
Made = TypeVar("Made")


def trec_word(text: str) -> str:
    """Return a key as one word of a space-separated file: white space and % are percent-encoded."""
    return re.sub(r"[\s%]", lambda match: quote(match[0]), text)


def run_pieces(ids: Sequence[str], merged: Merged, words: Sequence[pa.Array], tag: str) -> Iterator[bytes]:
    """Yield the bytes of a run's lines, score = -rank, without making a Python object for each line.

    ids: of the questions; merged: their entities, best first; words: trec_word of every entity, in one or more arrays.
    """
    lengths = np.diff(merged.indptr)
    ends = pa.array([f" {rank} {-rank} {tag}\n" for rank in range(1, int(lengths.max(initial=0)) + 1)], pa.string())
    for first in range(0, len(lengths), QUESTIONS):
        part = lengths[first : first + QUESTIONS]
        start, stop = merged.indptr[[first, first + len(part)]]
        begins = pa.array([f"{question} Q0 " for question in ids[first : first + QUESTIONS]], pa.string())
        if start == stop:
            continue
        place = np.empty((stop - start, 3), dtype=np.int32)  # of the three texts of each line, among all texts
        place[:, 0] = np.repeat(np.arange(len(part)), part)
        place[:, 1] = merged.entity[start:stop] + len(begins)
        place[:, 2] = np.arange(start, stop) - np.repeat(merged.indptr[first : first + len(part)], part)
        place[:, 2] += len(begins) + sum(map(len, words))
        texts = pa.chunked_array([begins, *words, ends])  # what is taken lies one after the other: these are the lines
        yield b"".join(map(bytes_of, texts.take(pa.array(place.ravel())).chunks))


def bytes_of(lines: pa.Array) -> bytes:
    """Return the text of an array of strings, one after the other, without a Python object for each."""
    _, offsets, text = lines.buffers()
    return text.slice(0, int(np.frombuffer(offsets, np.int32)[len(lines)])).to_pybytes()


def write_pieces(path: Path, content: Iterable[bytes]) -> None:
    """Write these bytes to a file; gzip if its name ends in .gz, the same bytes each time."""
    with path.open("wb") as raw:
        if path.suffix != ".gz":
            raw.writelines(content)
            return
        packer = _packer()
        for _ in _beside(lambda piece: raw.write(packer.compress(piece)), content):
            pass
        raw.write(packer.flush())


def packed(content: Iterable[bytes]) -> Iterator[bytes]:
    """Yield gzip with time 0."""
    packer = _packer()
    yield from filter(None, _beside(packer.compress, content))
    yield packer.flush()


def _packer() -> Any:
    """Return a packer of ISA-L, which is six times faster than zlib's fastest level, and packs smaller."""
    return isal_zlib.compressobj(2, isal_zlib.DEFLATED, 31)  # 31: with gzip's header


def _beside(act: Callable[[bytes], Made], content: Iterable[bytes]) -> Iterator[Made]:
    """Yield what `act` makes of each piece, in another thread, while the next piece is made here."""
    with ThreadPoolExecutor(1) as other:
        waiting: Future[Made] | None = None
        for piece in content:
            ready, waiting = waiting, other.submit(act, piece)
            if ready:
                yield ready.result()
        if waiting:
            yield waiting.result()


def pieces(lines: Iterable[str]) -> Iterator[bytes]:
    waiting = iter(lines)
    while held := list(islice(waiting, PIECE)):
        yield "\n".join([*held, ""]).encode()
