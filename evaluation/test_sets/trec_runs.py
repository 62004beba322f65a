"""Write runs for trec_eval: whole lists as far as the last answer, and lists of judged entities alone for bpref.

trec_eval counts the lines of a list, so a measure without a cut is exact only where every place above an answer has a
line. A run keeps its first candidates and the places of the judged ones; any other place gets a filler.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from evaluation.labels.pool_table import triple_codes, whole_table
from evaluation.measures.label_state import LabelState
from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.models import Pool, Run
from pooling.questions.kernel import questions_of
from pooling.runs.export import words_of
from pooling.runs.files import Candidates, question_ids, read_candidates
from pooling.runs.trec_write import FILLER, run_pieces
from pooling.scoring.merged_lists import Merged, merge
from pooling.scoring.rank_rows import find, question_keys

MOST_LINES = 3_000_000  # of a run whose lists go to the last answer
CUT = 1_000  # the last place of a filler where that were more
QUESTIONS = 500  # lists that are merged at once
JUDGED = (LabelState.POSITIVE, LabelState.NEGATIVE, LabelState.ASSUMED_NEGATIVE)


class Placed(NamedTuple):
    """Hold m seeds and pooled triples, each in both its questions, under s systems.

    keys int64[n]: the questions, sorted; question int64[m], ascending index into `keys`; entity int32[m];
    state int8[m]; position int32[s, m]: without known facts, 0 where a run did not return it. common bool[n]: the
    questions that all compared systems were asked, of which the figures of the test set are.
    """

    graph: GraphArrays
    systems: list[str]
    keys: np.ndarray
    ids: list[str]
    question: np.ndarray
    entity: np.ndarray
    state: np.ndarray
    position: np.ndarray
    common: np.ndarray

    @property
    def answer(self) -> np.ndarray:
        """Return which rows are answers, bool[m]."""
        return self.state == LabelState.POSITIVE

    @property
    def answered(self) -> np.ndarray:
        """Return which questions have an answer, bool[n]."""
        return np.bincount(self.question[self.answer], minlength=len(self.keys)) > 0

    @property
    def compared(self) -> np.ndarray:
        """Return the sorted keys of the questions that the systems are compared on, as far as they have an answer."""
        return self.keys[self.common & self.answered]

    @property
    def judged(self) -> np.ndarray:
        """Return the sorted keys of all questions with an answer."""
        return self.keys[self.answered]


def placed(pool: Pool, systems: Sequence[str], triples: np.ndarray, state: np.ndarray) -> Placed | None:
    """Place seeds and pooled triples, int32[n, 3] with states int8[n]; None without systems.

    Other test triples are known facts, also where they are seeds by now, and what was pooled later is a candidate like
    any other.
    """
    if not systems:
        return None
    table = whole_table(pool)
    graph, (questions, _, _) = table.graph, questions_of(triples)
    codes, own = triple_codes(table.triples, graph), triple_codes(triples, graph)
    order = np.argsort(own)
    place_of = find(own[order], codes)  # of each triple of the table
    ranks = table.pool_of(table.is_test & (place_of >= 0)).table
    keys = question_keys(questions, *graph.shape)
    place = np.full(len(table.question_keys), -1, dtype=np.int64)
    place[find(table.question_keys, keys)] = np.arange(len(keys))
    rows = np.flatnonzero((place[ranks.question] >= 0) & (place_of[ranks.triple] >= 0))
    of_systems = [table.systems.index(name) for name in systems]
    common = table.of_systems(of_systems).compared().common
    return Placed(
        graph,
        list(systems),
        keys,
        question_ids(questions, graph),
        place[ranks.question[rows]],
        ranks.entity[rows],
        state[order[place_of[ranks.triple[rows]]]],
        ranks.strict[:, rows][of_systems],
        common[find(table.question_keys, keys)],
    )


# -- whole lists -------------------------------------------------------------------------------------------------


class Depth(NamedTuple):
    """Say how far the lists of an export go: `cut`, the last place of a filler; None: each to its last answer.

    `lost`: answers below the cut, of `answers`, over all systems; mrr, map: how much these means lack at most.
    """

    cut: int | None
    lost: int = 0
    answers: int = 0
    mrr: float = 0.0
    map: float = 0.0


def depth_of(found: Placed) -> Depth:
    """Choose how far the lists go: to the last answers, unless a run would have more than MOST_LINES lines."""
    deepest = np.zeros((len(found.systems), len(found.keys)), dtype=np.int64)
    rows = np.flatnonzero(found.answer)
    for last, position in zip(deepest, found.position, strict=True):
        np.maximum.at(last, found.question[rows], position[rows])
    if deepest.sum(axis=1).max(initial=0) <= MOST_LINES:
        return Depth(None)
    rows = rows[found.common[found.question[rows]]]
    lost = found.position[:, rows] > CUT
    counts = np.bincount(found.question[rows], minlength=len(found.keys))
    shares = [_shares(found, position, counts) for position in found.position]
    return Depth(
        CUT,
        int(lost.sum()),
        len(rows) * len(found.systems),
        max(mrr for mrr, _ in shares),
        max(mean for _, mean in shares),
    )


def _shares(found: Placed, position: np.ndarray, counts: np.ndarray) -> tuple[float, float]:
    """Return what answers below the cut add to mean reciprocal rank and mean average precision of one system."""
    rows = np.flatnonzero(found.answer & found.common[found.question] & (position > 0))
    rows = rows[np.lexsort((position[rows], found.question[rows]))]
    question, at = found.question[rows], position[rows]
    nth = np.arange(len(rows)) - np.searchsorted(question, question) + 1
    below, n = at > CUT, max(int((counts > 0).sum()), 1)
    first = below & (nth == 1)
    return float((1 / at[first]).sum() / n), float((nth[below] / at[below] / counts[question[below]]).sum() / n)


def whole_runs(pool: Pool, found: Placed | None) -> dict[str, Iterator[bytes]]:
    """Return for each system six columns, score = -rank: all candidates in strict order, to the last answer.

    A list goes on as far as its run holds every candidate. From there to the last answer (`depth_of` says how far) only
    judged and other pooled entities have their names; the places between them have fillers.
    """
    if found is None:
        return {}
    graph, depth = found.graph, depth_of(found)
    runs = Run.objects.select_related("system__graph").filter(system__graph=pool.graph, system__name__in=found.systems)
    of_system = {run.system.name: run for run in runs}
    names = words_of(graph)

    def lines(system: str) -> Iterator[bytes]:
        """Yield the lists of one run, whose candidates are in memory while it is written."""
        topk, position = read_candidates(of_system[system]), found.position[found.systems.index(system)]
        for first in range(0, len(found.ids), QUESTIONS):
            merged = _lists(found, position, topk, slice(first, first + QUESTIONS), depth.cut)
            longest = int(np.diff(merged.indptr).max(initial=0))
            fillers = pa.array([f"{FILLER}{rank}" for rank in range(1, longest + 1)], pa.string())
            yield from run_pieces(found.ids[first : first + QUESTIONS], merged, [names, fillers], system)

    return {system: lines(system) for system in found.systems}


def _lists(found: Placed, position: np.ndarray, topk: Candidates, part: slice, cut: int | None) -> Merged:
    """Return the lists of some questions; a filler is the number of entities plus its place less 1."""
    keys = found.keys[part]
    rows = slice(*np.searchsorted(found.question, [part.start, part.start + len(keys)]))
    question, entity, at = found.question[rows] - part.start, found.entity[rows], position[rows]
    held = merge(question, entity, at, topk.of(keys), found.graph.num_entities)
    lengths = np.diff(held.indptr)
    wanted = np.zeros(len(keys), dtype=np.int64)
    last = found.answer[rows] & ((at <= cut) if cut else True)
    np.maximum.at(wanted, question[last], at[last])
    whole = np.maximum(lengths, wanted)
    indptr = np.concatenate([[0], np.cumsum(whole)]).astype(np.int64)
    place = np.arange(indptr[-1]) - np.repeat(indptr[:-1], whole)
    listed = (found.graph.num_entities + place).astype(np.int32)
    listed[place < np.repeat(lengths, whole)] = held.entity
    deep = (at > lengths[question]) & (at <= whole[question])
    listed[indptr[question[deep]] + at[deep] - 1] = entity[deep]
    return Merged(listed, indptr)


# -- judged entities alone ---------------------------------------------------------------------------------------


def judged_runs(found: Placed | None, *, strict: bool = False) -> dict[str, Iterator[bytes]]:
    """Return for each system the judged entities of each answered question in their order, for bpref.

    bpref looks at nothing else, so that these short lists give it exactly. `strict`: assumed negatives are not judged.
    """
    if found is None:
        return {}
    judged = np.isin(found.state, JUDGED[:2] if strict else JUDGED) & found.answered[found.question]
    words = words_of(found.graph)

    def lines(position: np.ndarray, system: str) -> Iterator[bytes]:
        rows = np.flatnonzero(judged & (position > 0))
        rows = rows[np.lexsort((position[rows], found.question[rows]))]
        counts = np.bincount(found.question[rows], minlength=len(found.keys))
        merged = Merged(found.entity[rows], np.concatenate([[0], np.cumsum(counts)]).astype(np.int64))
        yield from run_pieces(found.ids, merged, [words], system)

    return {system: lines(of, system) for system, of in zip(found.systems, found.position, strict=True)}
