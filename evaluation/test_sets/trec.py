"""Write a pool in TREC form: topics, pool, qrels and runs for trec_eval, pytrec_eval and ir_measures."""

from collections.abc import Iterator, Sequence
from datetime import datetime

import numpy as np

from annotation.questions.templates import templates_at
from evaluation.labels.pool_table import evaluated, pool_table, triple_codes
from evaluation.labels.qrels import pooled_state, read_qrels
from evaluation.measures.label_state import LabelState
from evaluation.models import Qrels
from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.graphs.opening import open_graph
from pooling.models import Pool, Run
from pooling.questions.kernel import HEAD, TAIL, Questions, questions_of
from pooling.questions.templates import fill
from pooling.runs.export import Known, list_pieces, words_of
from pooling.runs.files import question_ids, read_topk
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


def pool_topics(pool: Pool) -> Iterator[str]:
    """Yield the topics of a pool's seed questions."""
    seeds = np.array(pool.seeds.values_list("head", "relation", "tail"), dtype=np.int32).reshape(-1, 3)
    return topics(pool, questions_of(seeds)[0])


def qrels_lines(graph: GraphArrays, triples: np.ndarray, state: np.ndarray, strict: bool = False) -> Iterator[str]:
    """Yield `qid 0 entity rel` for both questions of every triple; 1 positive, 0 negative, -1 unjudged."""
    relevance = np.zeros(max(LabelState) + 1, dtype=np.int8)
    relevance[[LabelState.POSITIVE, LabelState.UNJUDGED]] = 1, -1
    relevance[LabelState.ASSUMED_NEGATIVE] = -1 if strict else 0
    words = [trec_word(key) for key in graph.entities]
    for side, given, answer in ((TAIL, triples[:, 0], triples[:, 2]), (HEAD, triples[:, 2], triples[:, 0])):
        question = triples[:, 1].astype(np.int64) * graph.num_entities + given
        order = np.lexsort((answer, question))
        for start in range(0, len(order), CHUNK):
            rows = order[start : start + CHUNK]
            distinct, asked = np.unique(question[rows], return_inverse=True)
            relation, entity = np.divmod(distinct, graph.num_entities)
            ids = question_ids(Questions(np.full(len(distinct), side), entity, relation), graph)
            values = relevance[state[rows]]
            for at, wanted, value in zip(asked.tolist(), answer[rows].tolist(), values.tolist(), strict=True):
                yield f"{ids[at]} 0 {words[wanted]} {value}"


def pool_lines(graph: GraphArrays, pooled: np.ndarray) -> Iterator[str]:
    """Yield the pooled triples int32[n, 3] as qrels that tell nothing of labels: both questions of each, all -1."""
    return qrels_lines(graph, pooled, np.full(len(pooled), LabelState.UNJUDGED, dtype=np.int8))


def pool_runs(pool: Pool, systems: Sequence[str], triples: np.ndarray) -> dict[str, Iterator[bytes]]:
    """Return for each system six columns, score = -rank: candidates in strict order, as far as its run holds all.

    triples int32[n, 3]: seeds and pooled ones. Other test triples are known facts, also where they are seeds by now,
    and what was pooled later is a candidate like any other.
    """
    if not systems:
        return {}
    table, (questions, _, _) = pool_table(pool), questions_of(triples)
    graph = table.graph
    among = is_among(table.triples, triples, graph)
    ranks = table.pool_of(table.is_test & among).table
    keys = question_keys(questions, graph.num_entities, graph.num_relations)
    place = np.full(len(table.question_keys), -1, dtype=np.int64)
    place[find(table.question_keys, keys)] = np.arange(len(keys))
    rows = np.flatnonzero((place[ranks.question] >= 0) & among[ranks.triple])
    known = Known(keys, place[ranks.question[rows]], ranks.entity[rows])
    ids, words = question_ids(questions, graph), words_of(graph)
    runs = Run.objects.select_related("system__graph").filter(system__graph=pool.graph, system__name__in=systems)
    found = {run.system.name: run for run in runs}
    positions = {system: ranks.strict[table.systems.index(system), rows] for system in systems}

    def lines(system: str) -> Iterator[bytes]:
        """Yield the lists of one run, whose candidates are in memory while it is written."""
        run = found[system]
        yield from list_pieces(run, known, positions[system], read_topk(run, keep=False), ids, words)

    return {system: lines(system) for system in systems}


def trec_lists(pool: Pool, qrels: Qrels | None = None, strict: bool = False) -> dict[str, Iterator[str]]:
    """Return the lines of topics, pool and qrels by file name.

    Topics are the questions of all seeds and pooled triples. The labels are those of now, or of `qrels`; `strict`
    leaves assumed negatives unjudged (-1).
    """
    graph, pooled = open_graph(pool.graph), _pooled(pool)
    triples, state = read_qrels(qrels) if qrels else pooled_state(pool)
    return {
        "topics.tsv": topics(pool, questions_of(triples)[0], qrels.created_at if qrels else None),
        "pool.txt": pool_lines(graph, pooled if qrels is None else pooled[is_among(pooled, triples, graph)]),
        "qrels.txt": qrels_lines(graph, triples, state, strict),
    }


def trec_files(pool: Pool, qrels: Qrels | None = None, strict: bool = False) -> dict[str, Iterator[bytes]]:
    """Return the lists and runs by file name: everything that a TREC evaluation of the pool needs."""
    triples, _ = read_qrels(qrels) if qrels else pooled_state(pool)
    lists = {name: pieces(lines) for name, lines in trec_lists(pool, qrels, strict).items()}
    runs = pool_runs(pool, evaluated(pool), triples)
    return lists | {f"run-{name}.txt.gz": content for name, content in runs.items()}


def is_among(triples: np.ndarray, others: np.ndarray, graph: GraphArrays) -> np.ndarray:
    """Return which triples of the graph int[n, 3] are among others int[m, 3], bool[n]."""
    return np.isin(triple_codes(triples, graph), triple_codes(others, graph))


def _pooled(pool: Pool) -> np.ndarray:
    rows = pool.triples.order_by("id").values_list("head", "relation", "tail")
    return np.array(rows, dtype=np.int32).reshape(-1, 3)
