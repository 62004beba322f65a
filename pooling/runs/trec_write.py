"""Write runs in TREC form, `question-id Q0 entity rank score tag`, plain or .gz; trec_read.py reads them."""

import re
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pyarrow as pa
from isal import isal_zlib

from pooling.scoring.merged_lists import Merged

PIECE = 10_000  # lines that are written at once
QUESTIONS = 1_000  # of a run, likewise
FILLER = "%unknown-"  # before a place: no word of an entity begins so, since trec_word encodes %


def trec_word(text: str) -> str:
    """Return a key as one word of a space-separated file: white space and % are percent-encoded."""
    return re.sub(r"[\s%]", lambda match: quote(match[0]), text)


def run_pieces(ids: Sequence[str], merged: Merged, words: pa.Array, tag: str) -> Iterator[bytes]:
    """Yield the bytes of a run's lines, score = -rank, without making a Python object for each line.

    ids: of the questions; merged: their entities, best first; words: trec_word of every entity.
    """
    import pyarrow.compute as pc  # here, since few need it: docs/measured/benchmarks.md, Start-up

    lengths = np.diff(merged.indptr)
    ends = pa.array([f" {rank} {-rank} {tag}\n" for rank in range(1, int(lengths.max(initial=0)) + 1)])
    for first in range(0, len(lengths), QUESTIONS):
        part = lengths[first : first + QUESTIONS]
        start, stop = merged.indptr[[first, first + len(part)]]
        begins = pa.array([f"{question} Q0 " for question in ids[first : first + QUESTIONS]])
        question = np.repeat(np.arange(len(part)), part)
        rank = np.arange(start, stop) - merged.indptr[first + question]
        if not len(rank):
            continue
        columns = (
            begins.take(pa.array(question)),
            words.take(pa.array(merged.entity[start:stop])),
            ends.take(pa.array(rank)),
        )
        yield bytes_of(pc.binary_join_element_wise(*columns, ""))


def bytes_of(lines: pa.Array) -> bytes:
    """Return the text of an array of strings, one after the other, without a Python object for each."""
    _, offsets, text = lines.buffers()
    return text.slice(0, int(np.frombuffer(offsets, np.int32)[len(lines)])).to_pybytes()


def write_pieces(path: Path, content: Iterable[bytes]) -> None:
    """Write these bytes to a file; gzip if its name ends in .gz, the same bytes each time."""
    with path.open("wb") as raw:
        for piece in packed(content) if path.suffix == ".gz" else content:
            raw.write(piece)


def packed(content: Iterable[bytes]) -> Iterator[bytes]:
    """Yield gzip with time 0; ISA-L is six times faster than zlib's fastest level, and packs smaller."""
    packer = isal_zlib.compressobj(2, isal_zlib.DEFLATED, 31)  # 31: with gzip's header
    with ThreadPoolExecutor(1) as other:  # one piece is packed while the next is made
        waiting: Future[bytes] | None = None
        for piece in content:
            ready, waiting = waiting, other.submit(packer.compress, piece)
            if ready:
                yield ready.result()
        if waiting:
            yield waiting.result()
    yield packer.flush()


def pieces(lines: Iterable[str]) -> Iterator[bytes]:
    waiting = iter(lines)
    while held := list(islice(waiting, PIECE)):
        yield "\n".join([*held, ""]).encode()
