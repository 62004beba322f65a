"""Rank wanted answers and collect candidates, for many questions, in one pass over the scores.

A question is one side of a triple masked: `(h, r, ?)`, side 0, or `(?, r, t)`, side 1. Its candidates are all
entities but the masked (known) ones. Ranks are positions among the candidates, from 1:

- optimistic: 1 + candidates with a higher score; pessimistic: candidates with an equal or higher score;
- strict: ties are broken by one seeded random permutation of the entities, never by id.

The entities come in chunks, so that memory does not grow with them: counts add up, top lists merge. The score of the
wanted answer is read from the very row it is compared with: from another kernel it would differ in the last
bits, and ties would be missed (LibKGE issues 221 and 242). Where there are several chunks, the tiles of the wanted
answers are scored first, by the same calls that score them later.
Source: Berrendorf et al. (2020), On the ambiguity of rank-based evaluation of entity alignment or link
prediction methods.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from core.callbacks import UNWATCHED, Watch
from pooling.questions.kernel import Csr, Questions, answers_csr, entries, joined, name_of, questions_of, without
from pooling.scoring.batches import LOOP_ROWS, Batch, Listed, LoopBatch, TorchBatch, batch_class, read
from pooling.scoring.free_memory import check_free, free_bytes
from pooling.scoring.rank_rows import find
from pooling.scoring.ranks import NotFinite, RankingResult, Ranks, tie_order
from pooling.scoring.scorer import ADVICE, HEIGHT, HEIGHT_GPU, TILE, TILE_GPU, Score, Scores
from pooling.scoring.streaming import on_device
from pooling.scoring.torch_state import full_precision

# Scores held at once, in floats (192 MiB): 256 questions against 196,608 entities. A GPU holds up to 1 GiB of them,
# and at most a quarter of what is free.
BUFFER_FLOATS, BUFFER_FLOATS_GPU = 3 << 24, 1 << 28

FLOAT = 4  # bytes


def score_questions(
    scorer: Scores,
    questions: Questions,
    *,
    masked: Csr,
    top_masked: Csr,
    wanted: Csr,
    top_k: int = 100,
    seed: int,
    batch_size: int | None = None,
    chunk: int | None = None,
    watch: Watch = UNWATCHED,
) -> RankingResult:
    """Score every question once; return its first `top_k` candidates and the ranks of its wanted answers.

    `masked` entities are no candidates at all (train ∪ valid answers); `top_masked` ones (test answers) count
    in ranks but are kept out of the top list, which also says where each candidate is among all entities, with both
    kinds in place. `seed` is of the tie permutation. `chunk` entities are scored at a time, a multiple of the device's
    tile; None: as many as the buffer holds. `batch_size` questions are scored at a time; None: as suits the device.
    `watch.tell` is called after every batch. A pass that `watch.stop` ends raises InterruptedError.
    ValueError: a wanted entity is masked. NotFinite: a score is not. Both name the question.
    """
    _check_wanted(wanted, masked, questions, scorer.num_entities)
    return _Ranking(scorer, questions, top_k, seed, batch_size, chunk, watch).rank(masked, top_masked, wanted)


class Pass(ABC):
    """Score questions in batches, against the entities chunk by chunk, and hold what all batches share."""

    def __init__(
        self,
        scorer: Scores,
        questions: Questions,
        top_k: int,
        seed: int,
        batch_size: int | None,
        chunk: int | None,
        watch: Watch,
    ) -> None:
        self.scorer, self.questions, self.watch = scorer, questions, watch
        self.num_entities, self.device, self.total = scorer.num_entities, scorer.device, len(questions.side)
        height, self.tile = (HEIGHT, TILE) if self.device.type == "cpu" else (HEIGHT_GPU, TILE_GPU)
        self.batch_size = batch_size or self.usual_batch_size(height)
        self.height = max(min(self.batch_size, self.total), 1)
        self.order = tie_order(self.num_entities, seed)
        place = torch.empty(self.num_entities, dtype=torch.int64)
        place[self.order] = torch.arange(self.num_entities)
        self.place, self.width = on_device(place, self.device), min(top_k, self.num_entities)
        tiles = max(
            (chunk or _held(self.device, self.height, min(self.tile, self.num_entities)) // self.height) // self.tile, 1
        )  # of a chunk
        self.chunk = min(tiles * self.tile, -(-self.num_entities // TILE) * TILE)
        self.whole = self.chunk >= self.num_entities
        self.columns: dict[tuple[int, int], Score] = {}  # that score entities first..end
        self.top_entity = np.full((self.total, top_k), -1, np.int32)
        self.top_score = np.full((self.total, top_k), -np.inf, np.float32)
        self.top_raw = np.zeros((self.total, top_k), np.int32)

    def usual_batch_size(self, height: int) -> int:
        """Return how many questions are scored at a time if nobody says; `height` suits the device's products."""
        return height

    @abstractmethod
    def score(self, start: int, stop: int) -> None:
        """Write the results of questions start..stop."""

    def run(self) -> None:
        """Score every batch, in full float32 and without gradients."""
        with full_precision(), torch.no_grad():
            for start in range(0, self.total, self.batch_size):
                self.start, stop = start, min(start + self.batch_size, self.total)
                self.score(start, stop)
                self.watch.tell(stop, self.total)

    def stop_if_asked(self) -> None:
        if self.watch.stop():
            raise InterruptedError(f"scoring was stopped after {self.start} of {self.total} questions")

    def chunks(self) -> Iterator[tuple[int, int]]:
        """Yield the first entity and last + 1 of each chunk."""
        for first in range(0, self.num_entities, self.chunk):
            yield first, min(first + self.chunk, self.num_entities)

    def write_scores(self, part: Questions, first: int, end: int, out: Tensor) -> Tensor:
        """Score the entities first..end into `out` [B, end - first], which is returned."""
        if (first, end) not in self.columns:
            self.columns[first, end] = self.scorer.in_order(np.arange(first, end))
        return self.columns[first, end](*part, out=out)

    def not_finite(self, question: int) -> NotFinite:
        """Return the error for a question with a score that is NaN or infinite."""
        of = getattr(self.scorer, "label", "")
        where = name_of(self.questions, question)
        return NotFinite(f"{of}{': ' if of else ''}the scores of the {where} are not finite")


def _held(device: torch.device, height: int, tile: int) -> int:
    """Return how many scores of `height` questions are held at once; NoRoomError if a GPU has no room for one tile."""
    if device.type == "cpu":
        return BUFFER_FLOATS
    what = f"Scoring {height:,} questions at a time against {tile:,} entities needs"
    check_free(4 * FLOAT * height * tile, str(device), what, ADVICE)  # scores, and what is made of them
    return min(BUFFER_FLOATS_GPU, (free_bytes(str(device)) or 0) // (4 * FLOAT))


def _check_wanted(wanted: Csr, masked: Csr, questions: Questions, num_entities: int) -> None:
    """Raise ValueError if a wanted entity is masked."""
    every = np.arange(len(questions.side))
    keys = [row * num_entities + csr.indices for csr in (wanted, masked) for row, _ in [entries(csr, every)]]
    if (bad := find(np.sort(keys[1]), keys[0]) >= 0).any():
        question, entity = divmod(int(keys[0][bad][0]), num_entities)
        raise ValueError(f"entity {entity} is wanted and masked in the {name_of(questions, question)}")


class _Ranking(Pass):
    @cached_property
    def batch_class(self) -> type[Batch]:
        return batch_class(self.device, self.total, self.num_entities)

    def usual_batch_size(self, height: int) -> int:
        if self.batch_class is not LoopBatch:
            return height
        return min(max(BUFFER_FLOATS // self.num_entities // height * height, height), LOOP_ROWS)

    def rank(self, masked: Csr, top_masked: Csr, wanted: Csr) -> RankingResult:
        """Return the result of `score_questions`."""
        self.masked, self.top_masked, self.wanted = masked, top_masked, wanted
        self.known = joined(masked, top_masked, self.num_entities)  # what the top list leaves out
        # Rows begin at whole cache lines: MKL takes 1.6 times as long for a product into others.
        held = -(-min(self.chunk, self.num_entities) // 16) * 16
        self.buffer = torch.empty((self.height, held), device=self.device)
        self.ranks = [np.empty(len(wanted.indices), np.int32) for _ in range(3)]
        self.run()
        return RankingResult(self.top_entity, self.top_score, self.top_raw, *self.ranks)

    def score(self, start: int, stop: int) -> None:
        counts = np.diff(self.wanted.indptr[start : stop + 1])
        chosen = np.arange(start, stop)
        if self.batch_class is TorchBatch:  # which is fastest on rows sorted by this
            chosen = start + np.argsort(-counts, kind="stable")
        part = Questions(*(x[chosen] for x in self.questions))
        row, at = entries(self.wanted, chosen)
        wanted = Listed(row, self.wanted.indices[at].astype(np.int64))
        own = None if self.whole else self._own_scores(part, wanted)
        masked, known = (_listed(csr, chosen) for csr in (self.masked, self.known))
        batch = self.batch_class(self.buffer[: stop - start], wanted, masked, known, own, self.place, self.width)
        for first, end in self.chunks():
            self.stop_if_asked()
            bad = batch.add(self._scores(part, first, end), first)
            if len(bad):
                raise self.not_finite(int(chosen[bad].min()))
        above, at_least, before = batch.counts()
        for of, found in zip(self.ranks, (1 + above + before, 1 + above, at_least), strict=True):
            of[at] = found
        if self.width:
            best = batch.best(self.order)
            for into, found in zip((self.top_entity, self.top_score, self.top_raw), best, strict=True):
                into[chosen, : self.width] = found

    def _scores(self, part: Questions, first: int, end: int) -> Tensor:
        return self.write_scores(part, first, end, self.buffer[: len(part.side), : end - first])

    def _own_scores(self, part: Questions, wanted: Listed) -> Tensor:
        """Return the scores [w] of the wanted entities, each from its tile."""
        own = torch.empty(len(wanted.row), device=self.device)
        tiles = wanted.entity // self.tile
        for tile in np.unique(tiles).tolist():
            self.stop_if_asked()
            here = np.flatnonzero(tiles == tile)
            first = tile * self.tile
            self._scores(part, first, min(first + self.tile, self.num_entities))
            own[on_device(here, self.device)] = read(self.buffer, wanted.row[here], wanted.entity[here] - first)
        return own


def _listed(csr: Csr, chosen: np.ndarray) -> Listed:
    """Return what the questions in `chosen` list."""
    row, at = entries(csr, chosen)
    return Listed(row, csr.indices[at].astype(np.int64))


def rank_of_triples(
    scorer: Scores,
    triples: np.ndarray,
    *filters: np.ndarray,
    num_relations: int,
    seed: int = 0,
    batch_size: int | None = None,
    watch: Watch = UNWATCHED,
) -> Ranks:
    """Return the filtered ranks of both sides of triples int[m, 3].

    Other answers that `filters` (int[·, 3] each) and the triples themselves hold for a question do not count.
    """
    triples = np.asarray(triples).reshape(-1, 3)
    num_entities = scorer.num_entities
    questions, tail_q, head_q = questions_of(triples)
    wanted = answers_csr(questions, triples, num_entities, num_relations)
    known = answers_csr(questions, np.concatenate([triples, *filters]), num_entities, num_relations)
    scored = score_questions(
        scorer,
        questions,
        masked=without(known, wanted, num_entities),
        top_masked=Csr(np.zeros(len(questions.side) + 1, np.int64), np.zeros(0, np.int32)),
        wanted=wanted,
        top_k=0,
        seed=seed,
        batch_size=batch_size,
        watch=watch,
    )
    row = np.repeat(np.arange(len(questions.side)), np.diff(wanted.indptr))
    # Where each triple's two (question, answer) pairs are among the wanted ones, which ascend.
    pair = np.concatenate([tail_q * num_entities + triples[:, 2], head_q * num_entities + triples[:, 0]])
    place = np.searchsorted(row * num_entities + wanted.indices, pair)
    # Answers of one question are not counted against each other: subtract those above.
    return Ranks(
        (scored.strict - _before(row, scored.strict, "left"))[place],
        (scored.optimistic - _before(row, scored.optimistic, "left"))[place],
        (scored.pessimistic - _before(row, scored.pessimistic, "right") + 1)[place],
    )


def _before(row: np.ndarray, rank: np.ndarray, side: Literal["left", "right"]) -> np.ndarray:
    """Count the wanted ones of the same row with a smaller rank ("left"), or an equal or smaller one ("right")."""
    key = row.astype(np.int64) << 32 | rank.astype(np.int64)
    ordered = np.sort(key)
    start = np.searchsorted(ordered, row.astype(np.int64) << 32)
    return (np.searchsorted(ordered, key, side) - start).astype(np.int32)


def validation_mrr(
    scorer: Scores,
    train: np.ndarray,
    valid: np.ndarray,
    num_relations: int,
    *,
    size: int,
    seed: int,
    watch: Watch = UNWATCHED,
) -> float | None:
    """Return the MRR of both sides of `size` triples of valid int[n, 3], drawn by `seed`; None without triples.

    Size 0 takes all of them. Ranks are filtered by all of train and valid. Errors are those of `score_questions`.
    """
    if not len(valid):
        return None
    sample = valid
    if 0 < size < len(valid):
        sample = valid[np.random.default_rng(seed).choice(len(valid), size, replace=False)]
    return rank_of_triples(scorer, sample, train, valid, num_relations=num_relations, watch=watch).mrr
