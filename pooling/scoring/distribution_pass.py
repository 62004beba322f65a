"""Compute the predictive distribution of each question, p(y|q) ∝ exp(α·score), at eight α in one pass.

Nothing is masked: answers known from train count as others do. A pass keeps of each question its first entities, the
log-normaliser and the total variation distance to the uniform distribution at every α, draws at one α, and the scores
of its known answers.

The entities come in chunks of whole tiles, as in `ranking.py`. Where a row of scores fits into the buffer (up to
196,608 entities for 256 questions) it is scored once; else twice, first for the normaliser, then for what needs it.
Results depend on neither chunks nor batches (`softmax.py`).
Source: Mei et al. (2018), On link prediction in knowledge bases: max-k criterion and prediction protocols, SIGIR.
"""

from collections.abc import Callable, Iterator

import numpy as np
import torch
from torch import Tensor

from core.callbacks import Stop, Tell
from pooling.questions.kernel import Csr, Questions, entries, name_of
from pooling.scoring.distributions import ALPHAS, DRAWS, TOP, DistributionResult
from pooling.scoring.ranking import BUFFER_FLOATS, score_batches
from pooling.scoring.ranks import NotFinite, tie_order
from pooling.scoring.scorer import HEIGHT, TILE, Score, Scores
from pooling.scoring.softmax import GROUP, Draws, Masses, sums_of_groups
from pooling.scoring.top_candidates import TopCandidates

# Tiles whose powers are held at once: 4 MiB of eight α, in the cache of a CPU core; or one row, if longer.
TILES_CPU, TILES_GPU = 64, 1 << 12


def predict_questions(
    scorer: Scores,
    questions: Questions,
    *,
    answers: Csr,
    keys: np.ndarray,
    alpha: float | None,
    seed: int,
    batch_size: int = HEIGHT,
    chunk: int | None = None,
    progress: Tell | None = None,
    should_stop: Stop | None = None,
) -> DistributionResult:
    """Score every question and return its distribution over all entities.

    `keys` int64[n] name the questions, whatever else is asked.
    Draws are i.i.d. from p at `alpha`, one of ALPHAS, and follow from `seed` and the question's key alone. With
    `alpha` None neither tvd nor draws are made: both come back with no column. `seed` is also that of the
    tie permutation. The other arguments are those of `score_questions`, InterruptedError and NotFinite as well.
    """
    total = len(questions.side)
    work = _Pass(scorer, questions, answers, keys, alpha, seed, max(min(batch_size, total), 1), chunk)
    score_batches(work.score, total, batch_size, progress, should_stop)
    return work.result


class _Pass:
    """Hold what all batches of a pass share, and write their results."""

    def __init__(
        self,
        scorer: Scores,
        questions: Questions,
        answers: Csr,
        keys: np.ndarray,
        alpha: float | None,
        seed: int,
        height: int,
        chunk: int | None,
    ) -> None:
        self.scorer, self.questions, self.answers, self.keys = scorer, questions, answers, keys
        self.seed, self.num_entities, self.device = seed, scorer.num_entities, scorer.device
        self.drawn = None if alpha is None else ALPHAS.index(alpha)
        self.order = tie_order(self.num_entities, seed)
        place = torch.empty(self.num_entities, dtype=torch.int64)
        place[self.order] = torch.arange(self.num_entities)
        self.place, self.width = place.to(self.device), min(TOP, self.num_entities)
        tiles = -(-self.num_entities // TILE)
        self.tiles = min(max((chunk or BUFFER_FLOATS // height) // TILE, 1), tiles)  # of a chunk
        self.whole = self.tiles == tiles
        self.buffer = torch.empty((height, self.tiles * TILE), device=self.device)
        at_once = TILES_CPU if self.device.type == "cpu" else TILES_GPU
        self.rows = min(max(at_once // self.tiles, 1), height)  # whose powers are held at once
        held = (len(ALPHAS) + 1, self.rows * self.tiles, TILE)
        self.powers = torch.empty(held, dtype=torch.float64, device=self.device)
        self.columns: dict[int, Score] = {}  # that score the entities of the chunk that begins there
        total, kept = len(questions.side), 0 if alpha is None else 1
        self.result = DistributionResult(
            np.full((total, TOP), -1, np.int32),
            np.full((total, TOP), -np.inf, np.float32),
            np.empty((total, len(ALPHAS))),
            np.empty((total, kept * len(ALPHAS))),
            np.empty((total, kept * DRAWS), np.int32),
            np.empty(len(answers.indices), np.float32),
        )

    def score(self, start: int, stop: int, stop_if_asked: Callable[[], None]) -> None:
        """Write the results of questions start..stop."""
        part = Questions(*(x[start:stop] for x in self.questions))
        top = TopCandidates(stop - start, self.width, self.place)
        masses = Masses(stop - start, self.num_entities, self.device)
        groups = None if self.drawn is None else self._groups(stop - start)
        for first, end in self._chunks():
            stop_if_asked()
            scores = self._scores(part, first, end)
            top.add(scores.flatten(1)[:, : end - first], first)
            self._read_answers(scores, start, stop, first, end)
            for rows, tiles, out in self._blocks(scores, first):
                powers = masses.add(rows, tiles, scores[rows], out)
                if self.whole:
                    masses.close(rows)
                    self._finish(masses, groups, rows, tiles, powers, out[-1])
        here = slice(start, stop)
        if not self.whole:
            masses.close(slice(None))
        self._write_normaliser(here, masses)
        self.result.top_entity[here, : self.width], self.result.top_score[here, : self.width] = top.result(self.order)
        if groups is not None:
            self._write_draws(here, part, masses, groups, scores, stop_if_asked)

    def _write_draws(
        self,
        here: slice,
        part: Questions,
        masses: Masses,
        groups: Tensor,
        scores: Tensor,
        stop_if_asked: Callable[[], None],
    ) -> None:
        """Look at the scores a second time and write what needs the normalisers: draws and tvd."""
        assert self.drawn is not None
        draws = Draws(_uniforms(self.seed, self.keys[here]), masses, self.drawn)
        for first, end in self._chunks():
            if not self.whole:
                stop_if_asked()
                scores = self._scores(part, first, end)
                for rows, tiles, out in self._blocks(scores, first):
                    powers = masses.powers(rows, tiles, scores[rows], out)
                    self._finish(masses, groups, rows, tiles, powers, out[-1])
            draws.find(scores, groups[:, : scores.shape[1]], first // TILE)
        self.result.tvd[here] = masses.tvd().cpu().numpy().T
        self.result.draws[here] = draws.entity.cpu().numpy()

    def _finish(
        self, masses: Masses, groups: Tensor | None, rows: slice, tiles: slice, powers: Tensor, spare: Tensor
    ) -> None:
        if groups is not None and self.drawn is not None:
            masses.exceed(rows, tiles, powers, spare)
            groups[rows, : tiles.stop - tiles.start] = sums_of_groups(powers[self.drawn])

    def _groups(self, rows: int) -> Tensor:
        return torch.empty((rows, self.tiles, TILE // GROUP), dtype=torch.float64, device=self.device)

    def _chunks(self) -> Iterator[tuple[int, int]]:
        """Yield the first entity and last + 1 of each chunk."""
        for first in range(0, self.num_entities, self.tiles * TILE):
            yield first, min(first + self.tiles * TILE, self.num_entities)

    def _scores(self, part: Questions, first: int, end: int) -> Tensor:
        """Score the entities first..end in the buffer: [B, T, TILE], −inf behind the last."""
        if first not in self.columns:
            self.columns[first] = self.scorer.in_order(np.arange(first, end))
        tiles = -(-(end - first) // TILE)
        scores = self.buffer[: len(part.side), : tiles * TILE]
        scores[:, end - first :] = -torch.inf
        self.columns[first](*part, out=scores[:, : end - first])
        return scores.unflatten(1, (tiles, TILE))

    def _blocks(self, scores: Tensor, first: int) -> Iterator[tuple[slice, slice, Tensor]]:
        """Yield some rows at a time: the rows, the tiles, and where their powers go, float64 [A + 1, R, T, TILE]."""
        tiles = scores.shape[1]
        for row in range(0, len(scores), self.rows):
            rows = min(self.rows, len(scores) - row)
            out = self.powers[:, : rows * tiles].unflatten(1, (rows, tiles))
            yield slice(row, row + rows), slice(first // TILE, first // TILE + tiles), out

    def _read_answers(self, scores: Tensor, start: int, stop: int, first: int, end: int) -> None:
        """Write the scores of those known answers that are in the chunk."""
        row, at = entries(self.answers, np.arange(start, stop))
        column = self.answers.indices[at].astype(np.int64) - first
        inside = (column >= 0) & (column < end - first)
        places = [torch.as_tensor(x[inside], device=self.device) for x in (row, column // TILE, column % TILE)]
        self.result.answer_score[at[inside]] = scores[tuple(places)].cpu().numpy()

    def _write_normaliser(self, here: slice, masses: Masses) -> None:
        """Write the log-normalisers; raise NotFinite where a score is NaN or infinite."""
        found = masses.log_normaliser.cpu().numpy().T
        if len(bad := np.flatnonzero(~np.isfinite(found).all(1))):
            of = getattr(self.scorer, "label", "")
            name = name_of(self.questions, here.start + int(bad[0]))
            raise NotFinite(f"{of}{': ' if of else ''}the scores of the {name} are not finite")
        self.result.log_normaliser[here] = found


def _uniforms(seed: int, keys: np.ndarray) -> np.ndarray:
    """Draw DRAWS numbers in [0, 1) for each question, from the seed and its key; float64 [n, DRAWS]."""
    return np.stack([np.random.default_rng([seed, key]).random(DRAWS) for key in keys.tolist()])
