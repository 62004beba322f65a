"""Read label files: TSV of head, relation, tail, label and, optionally, annotator, source URL, ISO time; or JSON lines.

JSON lines are as in the labels.jsonl of a test set: an object with head, relation, tail, label and, optionally,
annotator, evidence, at, passage and cause, and side with question_version.
"""

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from annotation.enums import Answer, Cause
from annotation.sources.evidence import problem_of
from core.files.lines import lines_of
from pooling.enums import Side
from pooling.errors import PoolError
from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.pools.files import read_tsv, triple_ids

Triple = tuple[int, int, int]
WORDS = {
    "Y": Answer.YES, "N": Answer.NO, "?": Answer.CANT_TELL, "1": Answer.YES, "0": Answer.NO, "-1": Answer.CANT_TELL,
    "positive": Answer.YES, "negative": Answer.NO,
}  # fmt: skip
REQUIRED, OPTIONAL = ("head", "relation", "tail", "label"), ("annotator", "evidence", "at", "passage", "cause")
MAX_PASSAGE = 1000  # characters
SHOWN = 80  # characters of what a line has, in its reason
UNKEPT = re.compile("[\\0\ud800-\udfff]")  # JSON can escape it, and no database keeps it


class LabelLine(NamedTuple):
    line: int
    triple: Triple
    answer: Answer
    annotator: str
    source_url: str
    labelled_at: datetime | None
    notes: tuple[str, ...]  # irregular, yet understood
    passage: str = ""  # what the source says; JSON lines alone have it, as the next three
    side: str = ""  # of the question, head or tail
    question_version: int | None = None
    cause: str = ""  # a Cause, of a decision


class SkippedLine(NamedTuple):
    line: int
    reason: str


def read_label_file(
    path: Path, graph: GraphArrays, hosts_of: Callable[[int], Collection[str]] | None = None
) -> Iterator[LabelLine | SkippedLine]:
    """Yield every non-empty line, either understood or skipped with the reason.

    A file whose name ends with .jsonl or .jsonl.gz holds JSON lines. `hosts_of` returns the verified hosts of a
    relation (index); links to other hosts are noted. Raises LinesError if the file cannot be read.
    """
    is_json = path.name.removesuffix(".gz").endswith(".jsonl")
    for number, content in lines_of(path) if is_json else read_tsv(path):
        line = _json_line(number, content, graph) if isinstance(content, str) else _line(number, content, graph)
        if hosts_of is not None and isinstance(line, LabelLine) and line.source_url:
            problem = problem_of(line.source_url, hosts_of(line.triple[1]))
            if problem:
                note = f"source {line.source_url[:80]!r} {problem}; the label counts"
                line = line._replace(notes=(*line.notes, note))
        yield line


def _json_line(number: int, text: str, graph: GraphArrays) -> LabelLine | SkippedLine:
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        return SkippedLine(number, "is not JSON")
    if not isinstance(given, dict):
        return SkippedLine(number, "is not a JSON object")
    if missing := [key for key in REQUIRED if not isinstance(given.get(key), str)]:
        return SkippedLine(number, f"has no text under {', '.join(missing)}")
    more = [given.get(key) or "" for key in OPTIONAL]
    if wrong := [key for key, value in zip(OPTIONAL, more, strict=True) if not isinstance(value, str)]:
        return SkippedLine(number, f"has something else than text under {', '.join(wrong)}")
    if unkept := [key for key, value in zip(OPTIONAL, more, strict=True) if UNKEPT.search(value)]:
        return SkippedLine(number, f"has a NUL or half of a character under {', '.join(unkept)}")
    *more, passage, cause = more
    line = _line(number, [*(given[key] for key in REQUIRED), *more], graph)
    if len(passage) > MAX_PASSAGE:
        return SkippedLine(number, f"has a passage of {len(passage)} characters, more than {MAX_PASSAGE}")
    side, version = given.get("side"), given.get("question_version")
    if (side is None) != (version is None) or (side is not None and not _is_question(side, version)):
        return SkippedLine(number, "has no side (head or tail) with a question_version from 1")
    if not isinstance(line, LabelLine):
        return line
    if cause not in ("", *Cause.values):
        note = f"cause {cause[:80]!r} is not one of {', '.join(Cause.values)}: left out; the label counts"
        line, cause = line._replace(notes=(*line.notes, note)), ""
    return line._replace(passage=passage.strip(), side=side or "", question_version=version, cause=cause)


def _is_question(side: object, version: object) -> bool:
    return side in Side.values and type(version) is int and 1 <= version < 2**31


def _line(number: int, fields: list[str], graph: GraphArrays) -> LabelLine | SkippedLine:
    if not 3 <= len(fields) <= 7:
        return SkippedLine(number, f"has {len(fields)} columns where 4 to 7 are expected")
    raw = fields[3] if len(fields) > 3 else ""
    if not raw.strip():
        return SkippedLine(number, "has no label")
    answer = WORDS.get(raw.strip())
    if answer is None:
        return SkippedLine(number, f"label {raw[:SHOWN]!r} is not one of {', '.join(WORDS)}")
    triple, unknown = triple_ids(fields, graph)
    if triple is None:
        return SkippedLine(number, unknown)
    annotator, source_url, time = (field.strip() for field in [*fields[4:], "", "", ""][:3])
    for what, text, most in (("annotator", annotator, 150), ("source address", source_url, 2000)):
        if len(text) > most:
            return SkippedLine(number, f"the {what} has {len(text):,} characters, more than {most:,}")
    if source_url and not source_url.lower().startswith(("https://", "http://")):
        return SkippedLine(number, f"source {source_url[:SHOWN]!r} is not a web address")
    try:
        at = _in_utc(datetime.fromisoformat(time)) if time else None
    except (ValueError, OverflowError):
        return SkippedLine(number, f"time {time[:SHOWN]!r} is not in ISO format")
    notes = (f"label {raw[:SHOWN]!r} has a stray space",) if raw != raw.strip() else ()
    return LabelLine(number, triple, answer, annotator, source_url, at, notes)


def _in_utc(at: datetime) -> datetime:
    """Return a time in UTC, as a time without a zone is; OverflowError for one before the year 1 or after 9999."""
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)


def read_truth(path: Path, graph: GraphArrays) -> tuple[Mapping[Triple, Answer], list[SkippedLine]]:
    """Return a label file as the truth of a simulation, the last label of a triple, and the lines that are skipped.

    PoolError if the file has no label at all.
    """
    skipped: list[SkippedLine] = []
    truth: dict[Triple, Answer] = {}
    for line in read_label_file(path, graph):
        if isinstance(line, SkippedLine):
            skipped.append(line)
        else:
            truth[line.triple] = line.answer
    if not truth:
        first = f"; line {skipped[0].line}: {skipped[0].reason}" if skipped else ""
        raise PoolError(
            f"{path.name} has no label that simulated people could use{first}. Write head, relation, tail and Y or N, "
            "separated by tabs, with ids of the graph. Nothing was labelled."
        )
    return truth, skipped
