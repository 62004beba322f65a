"""Runs in TREC form: `question-id Q0 entity rank score tag`, plain or .gz. trec_read.py reads them."""

import re
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import quote

from pooling.kernels.graph import GraphArrays

PIECE = 10_000  # lines that are written at once


def trec_word(text: str) -> str:
    """A key as a word of a space-separated file: white space and % percent-encoded."""
    return re.sub(r"[\s%]", lambda match: quote(match[0]), text)


def run_lines(question: str, entities: Iterable[int], graph: GraphArrays, tag: str) -> Iterator[str]:
    """Six columns, score = -rank, of one question's entities, best first."""
    for rank, entity in enumerate(entities, 1):
        yield f"{question} Q0 {trec_word(graph.entities[entity])} {rank} {-rank} {tag}"


def merge_candidates(exact: dict[int, int], candidates: list[int]) -> list[int]:
    """Entities of a question in strict order, up to the first position that the run does not hold.

    exact: entity -> position of its pooled triples and seed answers; candidates: the stored first ones, best first
    (-1: no more), which lack the seed answers and stand in the places that these leave free.
    """
    by_position = {position: entity for entity, position in exact.items()}
    merged: list[int] = []
    waiting = iter(entity for entity in candidates if entity >= 0 and entity not in exact)
    while True:
        entity = by_position.get(len(merged) + 1)
        if entity is None and (entity := next(waiting, None)) is None:
            return merged
        merged.append(entity)


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """UTF-8, a line feed after each line; gzip where the name ends in .gz, the same bytes each time."""
    with path.open("wb") as raw:
        for piece in encoded(lines, gz=path.suffix == ".gz"):
            raw.write(piece)


def encoded(lines: Iterable[str], *, gz: bool) -> Iterator[bytes]:
    """The bytes of a file with these lines, in pieces; as gzip without a clock in it."""
    packer = zlib.compressobj(6, zlib.DEFLATED, wbits=31) if gz else None  # 31: with gzip's header, time 0
    for piece in _pieces(lines):
        yield packer.compress(piece) if packer else piece
    if packer:
        yield packer.flush()


def _pieces(lines: Iterable[str]) -> Iterator[bytes]:
    held: list[str] = []
    for line in lines:
        held.append(line)
        if len(held) == PIECE:
            yield "\n".join([*held, ""]).encode()
            held = []
    if held:
        yield "\n".join([*held, ""]).encode()
