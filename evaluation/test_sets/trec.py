"""Write a pool in TREC form: topics, pool, qrels and runs for trec_eval, pytrec_eval and ir_measures."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

import numpy as np

from annotation.questions.templates import templates_at
from core.people.roles import Person
from evaluation.labels.pool_table import triple_codes
from evaluation.labels.qrels import pooled_state, read_qrels
from evaluation.measures.label_state import LabelState
from evaluation.models import Qrels
from evaluation.test_sets.trec_runs import Placed, judged_runs, placed, whole_runs
from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.graphs.opening import open_graph
from pooling.models import Pool
from pooling.questions.kernel import HEAD, TAIL, Questions, questions_of
from pooling.questions.templates import fill
from pooling.runs.files import question_ids
from pooling.runs.lacking import lacking_questions
from pooling.runs.score import triple_array
from pooling.runs.trec_write import pieces, trec_word
from pooling.scoring.rank_rows import find, question_keys

TREC_TYPE = "text/plain; charset=utf-8"  # of topics, pool and qrels as downloads
CHUNK = 10_000  # lines whose Python objects are held at once


def topics(pool: Pool, questions: Questions, when: datetime | None = None) -> Iterator[str]:
    """Yield question id, side, entity, relation and text of each question, in the template's words of that time."""
    graph = open_graph(pool.graph)
    templates = templates_at(pool.graph, when)
    yield "question\tside\tentity\trelation\ttext"
    for start in range(0, len(questions.side), CHUNK):
        part = Questions(*(column[start : start + CHUNK] for column in questions))
        columns = (column.tolist() for column in part)
        for identifier, side, entity, relation in zip(question_ids(part, graph), *columns, strict=True):
            template = templates[relation]
            text = template.head_question if side else template.tail_question
            words = fill(text, subject=graph.label(entity), object=graph.label(entity))
            keys = f"{graph.entities[entity]}\t{graph.relations[relation]}"
            yield f"{identifier}\t{'head' if side else 'tail'}\t{keys}\t{words}"


def pool_topics(pool: Pool, lacking: str = "", person: Person | None = None) -> Iterator[str]:
    """Yield the topics of a pool, those of export_trec; with `lacking` only those that a system was not asked.

    RunError unless the person may see the run of that system; None: a command, which sees all.
    """
    if lacking:
        return topics(pool, lacking_questions(pool, lacking, person))
    return topics(pool, questions_of(pooled_state(pool)[0])[0])


def seed_topics(pool: Pool) -> Iterator[str]:
    """Yield the topics of a pool's seed questions."""
    seeds = np.array(pool.seeds.values_list("head", "relation", "tail"), dtype=np.int32).reshape(-1, 3)
    return topics(pool, questions_of(seeds)[0])


def qrels_lines(
    graph: GraphArrays,
    triples: np.ndarray,
    state: np.ndarray,
    strict: bool = False,
    *,
    unjudged: bool = False,
    only: np.ndarray | None = None,
) -> Iterator[str]:
    """Yield `qid 0 entity rel` of the questions with an answer; 1 positive, 0 negative, -1 unjudged if asked for.

    Other tools take a line of -1 for a judgement; infAP alone needs to know what was pooled. `only`: sorted keys
    int64[n] of the questions to yield; None: all.
    """
    relevance = np.zeros(max(LabelState) + 1, dtype=np.int8)
    relevance[[LabelState.POSITIVE, LabelState.UNJUDGED]] = 1, -1
    relevance[LabelState.ASSUMED_NEGATIVE] = -1 if strict else 0
    return _sides(graph, triples, relevance[state], lambda answered, value: answered & ((value >= 0) | unjudged), only)


def pool_lines(graph: GraphArrays, pooled: np.ndarray) -> Iterator[str]:
    """Yield the pooled triples int32[n, 3] as qrels that tell nothing of labels: both questions of each, all -1."""
    return _sides(graph, pooled, np.full(len(pooled), -1, dtype=np.int8), lambda answered, value: value < 0)


def _sides(
    graph: GraphArrays,
    triples: np.ndarray,
    value: np.ndarray,
    chosen: Callable[[np.ndarray, np.ndarray], np.ndarray],
    only: np.ndarray | None = None,
) -> Iterator[str]:
    """Yield a line for each triple with its value int8[n], on each side where `chosen` takes it.

    `chosen` is asked with arrays of n: whether its question has a 1, and the value. `only`: as in qrels_lines.
    """
    words = [trec_word(key) for key in graph.entities]
    for side, given, answer in ((TAIL, triples[:, 0], triples[:, 2]), (HEAD, triples[:, 2], triples[:, 0])):
        question = triples[:, 1].astype(np.int64) * graph.num_entities + given
        taken = chosen(np.isin(question, question[value == 1]), value)
        if only is not None:
            of_side = Questions(np.full(len(given), side), given, triples[:, 1])
            taken &= find(only, question_keys(of_side, *graph.shape)) >= 0
        kept = np.flatnonzero(taken)
        order = kept[np.lexsort((answer[kept], question[kept]))]
        for start in range(0, len(order), CHUNK):
            rows = order[start : start + CHUNK]
            distinct, asked = np.unique(question[rows], return_inverse=True)
            relation, entity = np.divmod(distinct, graph.num_entities)
            ids = question_ids(Questions(np.full(len(distinct), side), entity, relation), graph)
            columns = zip(asked.tolist(), answer[rows].tolist(), value[rows].tolist(), strict=True)
            yield from (f"{ids[at]} 0 {words[wanted]} {number}" for at, wanted, number in columns)


def trec_lists(pool: Pool, qrels: Qrels | None = None, strict: bool = False) -> dict[str, Iterator[str]]:
    """Return the lines of topics, pool and qrels by file name.

    Topics are the questions of all seeds and pooled triples. The labels are those of now, or of `qrels`; with `strict`
    assumed negatives are unjudged: not in qrels.txt, and -1 in qrels_infap.txt.
    """
    triples, state = read_qrels(qrels) if qrels else pooled_state(pool)
    return lists_of(pool, pooled_triples(pool), triples, state, qrels, strict)


def lists_of(
    pool: Pool,
    pooled: np.ndarray,
    triples: np.ndarray,
    state: np.ndarray,
    qrels: Qrels | None,
    strict: bool,
    found: Placed | None = None,
) -> dict[str, Iterator[str]]:
    """Return `trec_lists` of these triples int32[n, 3], seeds and pooled ones, with states int8[n].

    pooled: from `pooled_triples`. found: the systems whose runs go with the lists. Where one of them was not asked a
    question, qrels.txt and qrels_infap.txt have only the questions that the systems are compared on, since trec_eval
    takes means over the questions of qrels; qrels_all.txt has them all.
    """
    graph = open_graph(pool.graph)
    only = found.compared if found is not None and len(found.compared) < len(found.judged) else None
    every = {} if only is None else {"qrels_all.txt": qrels_lines(graph, triples, state, strict)}
    return every | {
        "topics.tsv": _late(lambda: topics(pool, questions_of(triples)[0], qrels.created_at if qrels else None)),
        "pool.txt": _late(
            lambda: pool_lines(graph, pooled if qrels is None else pooled[is_among(pooled, triples, graph)])
        ),
        "qrels.txt": qrels_lines(graph, triples, state, strict, only=only),
        "qrels_infap.txt": qrels_lines(graph, triples, state, strict, unjudged=True, only=only),
    }


def _late(make: Callable[[], Iterator[str]]) -> Iterator[str]:
    """Make the lines when the first is wanted: an export asks for one list after the other."""
    yield from make()


def trec_files(
    pool: Pool,
    systems: Sequence[str],
    triples: np.ndarray,
    state: np.ndarray,
    qrels: Qrels | None = None,
    strict: bool = False,
) -> dict[str, Iterator[bytes]]:
    """Return lists and runs by file name: everything that a TREC evaluation needs, of now or of `qrels`."""
    found = placed(pool, systems, triples, state)
    lists = lists_of(pool, pooled_triples(pool), triples, state, qrels, strict, found)
    files = {name: pieces(lines) for name, lines in lists.items()}
    for folder, runs in (("runs", whole_runs(pool, found)), ("bpref", judged_runs(found, strict=strict))):
        files |= {f"{folder}/{system}.txt.gz": content for system, content in runs.items()}
    return files


def is_among(triples: np.ndarray, others: np.ndarray, graph: GraphArrays) -> np.ndarray:
    """Return which triples of the graph int[n, 3] are among others int[m, 3], bool[n]."""
    return np.isin(triple_codes(triples, graph), triple_codes(others, graph))


def pooled_triples(pool: Pool) -> np.ndarray:
    """Return the pooled triples int32[n, 3] in the order in which they were pooled."""
    return triple_array(pool.triples.order_by("id"))
