"""Score triples: what a system gives the tail of each, as the answer to (head, relation, ?)."""

import numpy as np
import torch

from core.callbacks import UNWATCHED, Watch
from pooling.questions.kernel import Csr, Questions, questions_from_keys
from pooling.scoring.rank_rows import row_keys, rows_of
from pooling.scoring.ranking import Pass
from pooling.scoring.scorer import Scores
from pooling.scoring.streaming import on_device


def tail_scores(scorer: Scores, triples: np.ndarray, num_relations: int, watch: Watch = UNWATCHED) -> np.ndarray:
    """Return the score of each triple int[n, 3] among the answers of its tail question, float32[n].

    The bits are those of a ranking pass. NotFinite for a score that is NaN or infinite; InterruptedError once
    `watch.stop` returns true.
    """
    rows = rows_of(triples)
    keys = row_keys(rows, scorer.num_entities, num_relations)[: len(triples)]  # the tail questions come first
    distinct, place = np.unique(keys, return_inverse=True)
    question, entity = np.divmod(distinct, scorer.num_entities)
    asked, counts = np.unique(question, return_counts=True)
    wanted = Csr(np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), entity.astype(np.int32))
    questions = questions_from_keys(asked, scorer.num_entities, num_relations)
    return _Reading(scorer, questions, watch).read(wanted)[place]


class _Reading(Pass):
    def __init__(self, scorer: Scores, questions: Questions, watch: Watch) -> None:
        super().__init__(scorer, questions, 0, 0, None, None, watch)

    def read(self, wanted: Csr) -> np.ndarray:
        """Return the scores of the wanted entities of each question, float32[len(wanted.indices)]."""
        self.wanted = wanted
        self.buffer = torch.empty((self.height, min(self.chunk, self.num_entities)), device=self.device)
        self.found = np.empty(len(wanted.indices), np.float32)
        self.run()
        return self.found

    def score(self, start: int, stop: int) -> None:
        part = Questions(*(x[start:stop] for x in self.questions))
        begin, end = self.wanted.indptr[[start, stop]]
        row = np.repeat(np.arange(stop - start), np.diff(self.wanted.indptr[start : stop + 1]))
        entity = self.wanted.indices[begin:end].astype(np.int64)
        for first, last in self.chunks():
            self.stop_if_asked()
            inside = np.flatnonzero((entity >= first) & (entity < last))
            if not len(inside):
                continue
            scores = self.write_scores(part, first, last, self.buffer[: stop - start, : last - first])
            at = [on_device(x, self.device) for x in (row[inside], entity[inside] - first)]
            self.found[begin + inside] = scores[tuple(at)].cpu().numpy()
        bad = np.flatnonzero(~np.isfinite(self.found[begin:end]))
        if len(bad):
            raise self.not_finite(start + int(row[bad[0]]))
