"""Import qrels made elsewhere: TSV of triples and labels, or TREC qrels of the topics that export_topics writes."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import unquote

import numpy as np
from django.contrib.auth.models import User
from django.db import transaction

from core.files.lines import Bounds, unpacked
from core.people.audit_log import record
from evaluation.enums import EvaluationAct, QrelsOrigin
from evaluation.labels.pool_table import EvaluationError
from evaluation.labels.qrels import STATE_NAMES, check_new, write_qrels
from evaluation.measures.label_state import LabelState
from evaluation.models import Qrels
from pooling.enums import PoolState
from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.graphs.opening import open_graph
from pooling.models import Pool
from pooling.pools.files import Problems, rank_in, several, triple_ids, tsv_lines
from pooling.pools.kernels.filters import REASONS
from pooling.questions.kernel import HEAD
from pooling.runs.files import parse_question_id

Triple = tuple[int, int, int]
BOUNDS = Bounds(200_000_000, 5_000_000)  # of the text, unpacked
WORDS = {
    "1": LabelState.POSITIVE, "0": LabelState.NEGATIVE, "-1": LabelState.UNJUDGED,
    "Y": LabelState.POSITIVE, "N": LabelState.NEGATIVE, "?": LabelState.UNJUDGED,
    **{name: state for state, name in STATE_NAMES.items()},
}  # fmt: skip
_RELEVANCE = {word: WORDS[word] for word in ("1", "0", "-1")}
GRADES = (0, 1, 2, 3)
THRESHOLDS = GRADES[1:]
_ADVICE = "Correct the file; nothing was imported."
Words = Mapping[str, LabelState]  # what a file may write of a triple


class Line(NamedTuple):
    number: int
    triple: Triple | None
    state: LabelState
    problem: str = ""
    depth: int = 0  # 0: the file does not say
    reason: str = ""  # the filter that took it, where the file says so


class Judged(NamedTuple):
    state: LabelState
    line: int
    depth: int = 0
    reason: str = ""


def import_qrels(
    pool: Pool,
    name: str,
    raw: bytes,
    file_name: str,
    format: str = "tsv",
    user: User | None = None,
    threshold: int | None = None,
) -> Qrels:
    """Keep the judgements of a file (its bytes, plain or gzip) under a new name; `notes` of the row say what is odd.

    With a `threshold` (1 to 3) the labels are grades from 0 to 3, or -1 for unjudged; a grade of the threshold or more
    is positive.

    All or nothing: EvaluationError names file and line of what the graph does not have, of labels that are none, and
    of lines that contradict each other. The file is used as given: what it says of a seed triple holds. Seed triples
    that it does not name are positive, pooled triples that it does not name unjudged, filtered or not. What is not in
    the pool has no rank rows and stays out; so do test triples that were not sampled, the pool's known facts.
    """
    check_new(pool, name)
    if pool.state != PoolState.READY:
        raise EvaluationError(f"Pool {pool.name} is {pool.state}: import its qrels when it is ready.")
    judged = read_judgements(raw, file_name, format, open_graph(pool.graph), threshold)
    notes = graded_note(threshold)
    if format == "trec":
        filtered = set(pool.triples.exclude(reason="").values_list("head", "relation", "tail"))
        notes += lost_in_trec({t: of for t, of in judged.items() if t in filtered}, "filtered triples")
    return keep_judgements(pool, name, judged, file_name, hashlib.sha256(raw).hexdigest(), user, notes)


def graded_note(threshold: int | None) -> list[str]:
    """Return a sentence that says how grades were taken; none without a threshold."""
    if threshold is None:
        return []
    least = f"{threshold} and more" if threshold < GRADES[-1] else f"{threshold}"
    return [f"Labels were read as grades from 0 to {GRADES[-1]}: {least} counts as positive, less as negative."]


def lost_in_trec(judged: dict[Triple, Judged], what: str) -> list[str]:
    """Return a sentence where TREC qrels call triples negative that may be assumed negatives; `what` names them."""
    n = sum(of.state == LabelState.NEGATIVE for of in judged.values())
    if not n:
        return []
    return [
        f"What is 0 in the file counts as judged negative ({n:,} of the {what}): TREC has no word for an assumed "
        "negative; judgements.tsv of a test set has one."
    ]


def keep_judgements(
    pool: Pool,
    name: str,
    judged: dict[Triple, Judged],
    file_name: str,
    file_sha256: str,
    user: User | None,
    more: Sequence[str] = (),
) -> Qrels:
    """Write the judgements of a file that was read as new qrels; `more` are further notes."""
    triples, state, notes = _placed(pool, judged, file_name)
    notes += more
    with transaction.atomic():
        qrels = write_qrels(pool, name, triples, state, origin=QrelsOrigin.IMPORTED, user=user, notes=notes)
        record(user, EvaluationAct.QRELS_IMPORTED, pool=pool, about=name, triples=len(judged), sha256=file_sha256)
    return qrels


def read_judgements(
    raw: bytes, file_name: str, format: str, graph: GraphArrays, threshold: int | None = None
) -> dict[Triple, Judged]:
    """Return what a file says of each triple, and in which line first; EvaluationError lists the wrong lines.

    With a `threshold` its labels are grades, as in `import_qrels`.
    """
    words = WORDS if format == "tsv" else _RELEVANCE
    if threshold is not None:
        words = _grades(threshold)
    found: dict[Triple, Judged] = {}
    problems = Problems()
    for line in FORMATS[format](_unpacked(raw, file_name), file_name, graph, words):
        problem = line.problem
        if line.triple is not None:
            first = found.setdefault(line.triple, Judged(line.state, line.number, line.depth, line.reason))
            if first.state != line.state:
                problem = (
                    f"says {STATE_NAMES[line.state]} of the triple that line {first.line} calls "
                    f"{STATE_NAMES[first.state]}"
                )
        if problem:
            problems.add(f"{file_name}:{line.number}: {problem}")
    if problems:
        raise EvaluationError(several(problems, _ADVICE))
    if not found:
        raise EvaluationError(f"{file_name} has no judgements; nothing was imported.")
    return found


def _grades(threshold: int) -> dict[str, LabelState]:
    if threshold not in THRESHOLDS:
        raise EvaluationError(
            f"{threshold} is not a valid threshold: give {', '.join(map(str, THRESHOLDS))}, the smallest grade that "
            "counts as positive. Nothing was imported."
        )
    states = (LabelState.NEGATIVE, LabelState.POSITIVE)
    return {"-1": LabelState.UNJUDGED, **{str(grade): states[grade >= threshold] for grade in GRADES}}


def _no_label(word: str, words: Words, what: str) -> str:
    """Say that a file has no such word, and what to do if it may be a grade."""
    known = f"{what} {word[:40]!r} is not one of {', '.join(words)}"
    may_be_grade = "1" in words and "2" not in words and word in map(str, GRADES)
    return f"{known}; for grades from 0 to {GRADES[-1]} give a threshold" if may_be_grade else known


def _unpacked(raw: bytes, file_name: str) -> bytes:
    return unpacked(raw, file_name, BOUNDS.bytes) if raw.startswith(b"\x1f\x8b") else raw


def _tsv(text: bytes, file_name: str, graph: GraphArrays, words: Words) -> Iterator[Line]:
    """Read head, relation, tail, label. A first line of names says where label (or state), depth and filter are."""
    label, depth, reason = 3, -1, -1
    for number, fields in tsv_lines(text, file_name, BOUNDS):
        if number == 1 and fields[:3] == ["head", "relation", "tail"]:
            label = next((fields.index(name) for name in ("state", "label") if name in fields), 3)
            depth, reason = (fields.index(name) if name in fields else -1 for name in ("depth", "filter"))
            continue
        triple, problem, state = None, "", LabelState.UNJUDGED
        if len(fields) <= label:
            problem = f"has {len(fields)} columns where head, relation, tail, label are {label + 1}"
        elif (word := fields[label].strip()) not in words:
            problem = _no_label(word, words, "label")
        else:
            triple, problem = triple_ids(fields, graph)
            state = words[word]
        yield Line(
            number,
            triple,
            state,
            problem,
            rank_in(fields[depth]) if 0 < depth < len(fields) else 0,
            fields[reason] if 0 < reason < len(fields) and fields[reason] in REASONS else "",
        )


def _trec(text: bytes, file_name: str, graph: GraphArrays, words: Words) -> Iterator[Line]:
    """Read question id, any word, entity, relevance; 1 positive, 0 negative, -1 unjudged, or grades."""
    questions: dict[str, tuple[int, int, int] | None] = {}
    for number, fields in tsv_lines(text, file_name, BOUNDS):
        cells = " ".join(fields).split()
        if len(cells) != 4:
            problem = f"has {len(cells)} words where question id, 0, entity, relevance are 4"
            yield Line(number, None, LabelState.UNJUDGED, problem)
            continue
        asked, _, word, relevance = cells
        if asked not in questions:
            questions[asked] = _question(asked, graph)
        problem = "" if relevance in words else _no_label(relevance, words, "relevance")
        state = words.get(relevance, LabelState.UNJUDGED)
        yield _trec_line(number, asked, questions[asked], word, state, graph, problem)


def _trec_line(
    number: int,
    asked: str,
    question: tuple[int, int, int] | None,
    word: str,
    state: LabelState,
    graph: GraphArrays,
    problem: str,
) -> Line:
    entity = graph.entity_index.get(unquote(word))
    if question is None:
        problem = f"the graph has no question {asked[:200]!r}; ids are as export_topics writes them"
    elif entity is None:
        problem = f"the graph does not have entity {unquote(word)[:200]!r}"
    if problem or question is None or entity is None:
        return Line(number, None, LabelState.UNJUDGED, problem)
    side, relation, given = question
    triple = (entity, relation, given) if side == HEAD else (given, relation, entity)
    return Line(number, triple, state)


def _question(text: str, graph: GraphArrays) -> tuple[int, int, int] | None:
    """Return side, relation and given entity of a question id; None if this graph does not have it."""
    try:
        code, entity = divmod(parse_question_id(text, graph), graph.num_entities)
    except (KeyError, ValueError):
        return None
    return (*divmod(code, graph.num_relations), entity)


FORMATS: dict[str, Callable[[bytes, str, GraphArrays, Words], Iterator[Line]]] = {"tsv": _tsv, "trec": _trec}


def _placed(pool: Pool, judged: dict[Triple, Judged], file_name: str) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Return seeds, then pooled triples, int32[n, 3]; their states, int8[n]; and notes."""
    seeds: list[Triple] = list(pool.seeds.order_by("id").values_list("head", "relation", "tail"))
    pooled: list[Triple] = list(pool.triples.order_by("id").values_list("head", "relation", "tail"))
    inside = {*seeds, *pooled}
    if inside.isdisjoint(judged):
        raise EvaluationError(
            f"{file_name}: pool {pool.name} has 0 of its {len(judged):,} triples; nothing was imported."
        )
    state = [judged[t].state if t in judged else LabelState.POSITIVE for t in seeds]
    state += [judged[t].state if t in judged else LabelState.UNJUDGED for t in pooled]
    triples = np.array([*seeds, *pooled], dtype=np.int32).reshape(-1, 3)
    test = set(map(tuple, open_graph(pool.graph).test.tolist()))
    notes = _notes(seeds, pooled, judged, Counter(triple in test for triple in judged if triple not in inside))
    return triples, np.array(state, dtype=np.int8), notes


def _notes(
    seeds: list[Triple], pooled: list[Triple], judged: dict[Triple, Judged], outside: Counter[bool]
) -> list[str]:
    """Say what a reader should know of an import, a sentence each; `outside` counts by test triple or not."""
    notes = []
    if n := outside[False]:
        notes.append(f"{_count(n)} not in the pool: {_they(n)} no rank rows and {_stay(n)} out.")
    if n := outside[True]:
        facts = "known facts of this pool" if n > 1 else "a known fact of this pool"
        notes.append(f"{_count(n)} of the test set and not sampled: {facts}, which {_stay(n)} out.")
    if n := sum(triple not in judged for triple in seeds):
        notes.append(f"{n:,} of {len(seeds):,} seed triples are not in the file and count as positive.")
    for state in (LabelState.NEGATIVE, LabelState.ASSUMED_NEGATIVE, LabelState.UNJUDGED):
        lines = sorted(judged[t].line for t in seeds if t in judged and judged[t].state == state)
        if lines:
            word = STATE_NAMES[state].replace("_", " ")
            notes.append(
                f"The file calls {len(lines):,} of {len(seeds):,} seed triples {word} (first in line "
                f"{lines[0]:,}), and so they count."
            )
    if n := sum(triple not in judged for triple in pooled):
        notes.append(f"{n:,} of {len(pooled):,} pooled triples are not in the file and count as unjudged.")
    return notes


def _count(n: int) -> str:
    return f"{n:,} triples are" if n > 1 else "1 triple is"


def _they(n: int) -> str:
    return "they have" if n > 1 else "it has"


def _stay(n: int) -> str:
    return "stay" if n > 1 else "stays"
