"""The test set as people take it away: triples, judgements, TREC files, numbers, checksums."""

import hashlib
import re
import shutil
import uuid
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from urllib.parse import quote

import numpy as np

from annotation.domain.question import templates_at
from evaluation.domain import figures
from evaluation.domain.qrels import STATE_NAMES, read_qrels, state_counts
from evaluation.domain.table import EvaluationError, pool_table
from evaluation.kernels.state import LabelState
from evaluation.models import Qrels
from pooling.artifacts import ArtifactError
from pooling.domain.graph import open_graph
from pooling.domain.run_files import RunError, question_id, read_topk
from pooling.domain.template import fill
from pooling.kernels.graph import GraphArrays
from pooling.kernels.questions import Questions, questions_of
from pooling.kernels.rows import find, question_keys
from pooling.models import Pool, Run


def export_test_set(qrels: Qrels, folder: Path, strict: bool = False) -> list[Path]:
    """Write the test set of frozen qrels to a new or empty folder; the same bytes each time.

    train, valid and test.tsv make a graph folder again: test holds the positives. `strict` leaves assumed negatives
    unjudged (-1) in the TREC qrels.
    """
    check_folder(folder)
    pool = qrels.pool
    graph = open_graph(pool.graph)
    triples, state = read_qrels(qrels)
    aside = folder.with_name(f".{folder.name}.{uuid.uuid4().hex[:8]}.part")
    try:
        aside.mkdir(parents=True)
        for name, lines in _files(qrels, graph, triples, state, strict):
            with (aside / name).open("w", encoding="utf-8", newline="\n") as file:
                file.writelines(f"{line}\n" for line in lines)
        sums = [f"{_sha256(path)}  {path.name}" for path in sorted(aside.iterdir())]
        (aside / "SHA256SUMS").write_text("\n".join(sums) + "\n")
        if folder.exists():
            folder.rmdir()
        aside.replace(folder)
    except OSError as error:
        raise ArtifactError(
            f"{folder} could not be written: {error.strerror or error}. Nothing was left there."
        ) from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return sorted(folder.iterdir())


def check_folder(folder: Path) -> None:
    """Raise EvaluationError unless a test set can be written there."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise EvaluationError(
            f"{folder} exists and is not an empty folder: name a new one; nothing was written."
        )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _files(
    qrels: Qrels, graph: GraphArrays, triples: np.ndarray, state: np.ndarray, strict: bool
) -> Iterator[tuple[str, Iterable[str]]]:
    pool = qrels.pool
    positive = triples[state == LabelState.POSITIVE]
    questions, tail_question, head_question = questions_of(triples)
    ids = _ids(questions, graph)
    yield "train.tsv", _triples(graph.train, graph)
    yield "valid.tsv", _triples(graph.valid, graph)
    yield "test.tsv", _triples(_ordered(positive), graph)
    yield "entity_labels.tsv", (f"{k}\t{v}" for k, v in zip(graph.entities, graph.labels, strict=True) if v)
    yield "judgements.tsv", _judgements(qrels, graph, triples, state)
    yield "topics.tsv", topics(pool, questions, qrels.created_at)
    yield "qrels.txt", _trec_qrels(graph, triples, state, ids, tail_question, head_question, strict)
    yield "known_test.tsv", _triples(_ordered(_unsampled(pool, graph)), graph)
    for system in _evaluated(pool):
        yield f"run-{system}.txt", _trec_run(pool, system, questions, ids)
    yield "README.md", _readme(qrels, len(questions.side), state, strict)


def _unsampled(pool: Pool, graph: GraphArrays) -> np.ndarray:
    """Test triples that are no seeds: known facts, which no list of this test set holds."""
    seeds = set(pool.seeds.values_list("head", "relation", "tail"))
    return np.array([t for t in map(tuple, graph.test.tolist()) if t not in seeds], dtype=np.int32).reshape(
        -1, 3
    )


def _ordered(triples: np.ndarray) -> np.ndarray:
    return triples[np.lexsort((triples[:, 2], triples[:, 0], triples[:, 1]))]


def _triples(triples: np.ndarray, graph: GraphArrays) -> Iterator[str]:
    for h, r, t in triples.tolist():
        yield f"{graph.entities[h]}\t{graph.relations[r]}\t{graph.entities[t]}"


def _ids(questions: Questions, graph: GraphArrays) -> list[str]:
    return [
        question_id(s, graph.entities[e], graph.relations[r])
        for s, e, r in zip(*(x.tolist() for x in questions), strict=True)
    ]


def _judgements(qrels: Qrels, graph: GraphArrays, triples: np.ndarray, state: np.ndarray) -> Iterator[str]:
    """head, relation, tail, state, and why: seed, filter, people or import."""
    pooled = {
        row[:3]: (row[3], row[4])
        for row in qrels.pool.triples.values_list("head", "relation", "tail", "depth", "reason")
    }
    yield "head\trelation\ttail\tstate\tdepth\tfilter"
    for (h, r, t), value in zip(triples.tolist(), state.tolist(), strict=True):
        depth, reason = pooled.get((h, r, t), (0, ""))
        keys = f"{graph.entities[h]}\t{graph.relations[r]}\t{graph.entities[t]}"
        yield f"{keys}\t{STATE_NAMES[LabelState(value)]}\t{depth}\t{reason}"


def trec_word(text: str) -> str:
    """A key as a word of a space-separated file: white space and % percent-encoded."""
    return re.sub(r"[\s%]", lambda match: quote(match[0]), text)


def topics(pool: Pool, questions: Questions, when: datetime | None = None) -> Iterator[str]:
    """question id, side, entity, relation, text: one question a line, in the template's words of that time."""
    graph = open_graph(pool.graph)
    templates = templates_at(pool.graph, when)
    yield "question\tside\tentity\trelation\ttext"
    columns = zip(_ids(questions, graph), *(x.tolist() for x in questions), strict=True)
    for identifier, side, entity, relation in columns:
        template = templates[relation]
        text = template.head_question if side else template.tail_question
        words = fill(text, subject=graph.label(entity), object=graph.label(entity))
        keys = f"{graph.entities[entity]}\t{graph.relations[relation]}"
        yield f"{identifier}\t{'head' if side else 'tail'}\t{keys}\t{words}"


def pool_topics(pool: Pool) -> Iterator[str]:
    """Topics of the pool's seed questions."""
    seeds = np.array(pool.seeds.values_list("head", "relation", "tail"), dtype=np.int32).reshape(-1, 3)
    return topics(pool, questions_of(seeds)[0])


def _trec_qrels(
    graph: GraphArrays, triples: np.ndarray, state: np.ndarray, ids: list[str],
    tail_question: np.ndarray, head_question: np.ndarray, strict: bool,
) -> Iterator[str]:  # fmt: skip
    """`qid 0 entity rel`, both questions of every triple; 1 positive, 0 negative, -1 unjudged."""
    relevance = {
        LabelState.POSITIVE: 1, LabelState.NEGATIVE: 0, LabelState.UNJUDGED: -1,
        LabelState.ASSUMED_NEGATIVE: -1 if strict else 0,
    }  # fmt: skip
    value = np.array([relevance[LabelState(s)] for s in state.tolist()], dtype=np.int64)
    question = np.concatenate([tail_question, head_question])
    entity = np.concatenate([triples[:, 2], triples[:, 0]])
    both = np.concatenate([value, value])
    for i in np.lexsort((entity, question)).tolist():
        yield f"{ids[question[i]]} 0 {trec_word(graph.entities[entity[i]])} {both[i]}"


def _trec_run(pool: Pool, system: str, questions: Questions, ids: list[str]) -> Iterator[str]:
    """Six columns, score = -rank: each question's candidates in strict order, as far as the run holds them all."""
    table = pool_table(pool)
    graph, ranks = table.graph, table.pool.table
    row = table.systems.index(system)
    keys = question_keys(questions, graph.num_entities, graph.num_relations)
    topk = read_topk(
        Run.objects.select_related("system__graph").get(system__graph=pool.graph, system__name=system)
    )
    stored, asked = find(topk.keys, keys), find(table.question_keys, keys)
    for identifier, at, question in zip(ids, stored.tolist(), asked.tolist(), strict=True):
        rows = slice(ranks.start[question], ranks.start[question + 1])
        exact = dict(zip(ranks.entity[rows].tolist(), ranks.strict[row, rows].tolist(), strict=True))
        for rank, entity in enumerate(
            merge_candidates(exact, topk.entity[at].tolist() if at >= 0 else []), 1
        ):
            yield f"{identifier} Q0 {trec_word(graph.entities[entity])} {rank} {-rank} {system}"


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


def _readme(qrels: Qrels, num_questions: int, state: np.ndarray, strict: bool) -> Iterator[str]:
    pool = qrels.pool
    counts = state_counts(state)
    yield f"# Test set {pool.name}, qrels {qrels.name}"
    yield ""
    yield f"Graph {pool.graph.name}; pool of depth {pool.depth} from {', '.join(pool.contributors) or 'elsewhere'}; "
    yield f"seeds: {pool.seed_source}. Filters: {', '.join(pool.filters) or 'none'}. Qrels SHA-256 {qrels.sha256}."
    yield ""
    yield "| triples | number |"
    yield "|---|---|"
    for name, label in (
        ("positive", "positive (seed triples included)"), ("negative", "negative (people or an import)"),
        ("assumed_negative", "assumed negative (filtered, no human)"), ("unjudged", "pooled and unjudged"),
    ):  # fmt: skip
        yield f"| {label} | {counts[name]:,} |"
    yield f"| all | {len(state):,} |"
    yield ""
    yield f"{num_questions:,} questions. Assumed negatives are {'-1 (unjudged)' if strict else '0'} in qrels.txt."
    yield ""
    yield from _metrics_table(pool, qrels)
    yield ""
    yield "| file | what |"
    yield "|---|---|"
    yield "| train.tsv, valid.tsv, test.tsv | head, relation, tail; test.tsv holds the positives |"
    yield "| known_test.tsv | test triples that were not sampled: known facts, in no list and not judged |"
    yield "| judgements.tsv | every seed and pooled triple with its state, smallest depth and filter |"
    yield "| topics.tsv | question id, side, entity, relation, text |"
    yield "| qrels.txt | TREC: question id, 0, entity, 1 positive / 0 negative / -1 unjudged |"
    yield (
        "| run-*.txt | TREC: question id, Q0, entity, rank, -rank, system; train, valid and known_test answers "
        "removed |"
    )
    yield "| SHA256SUMS | checksums of all of these |"


def _evaluated(pool: Pool) -> list[str]:
    """Systems with all rank rows of the pool; labels can be taken away without any."""
    try:
        return pool_table(pool).systems
    except RunError:
        return []


def _metrics_table(pool: Pool, qrels: Qrels) -> Iterator[str]:
    if not _evaluated(pool):
        yield "No system of this graph has a complete run for this pool, so there are no measures."
        return
    content = figures.metrics(pool, f"qrels:{qrels.name}")
    names = list(content["n"])
    yield "| system | " + " | ".join(names) + " |"
    yield "|---" * (len(names) + 1) + "|"
    for system, row in content["systems"].items():
        cells = ["undefined" if row[name] is None else f"{row[name]:.4f}" for name in names]
        yield f"| {system} | " + " | ".join(cells) + " |"
