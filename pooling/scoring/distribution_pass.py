"""Compute the predictive distribution of each question, p(y|q) ∝ exp(α·score), at eight α in one pass.

Nothing is masked: answers known from train count as others do. A pass keeps of each question its first entities, the
log-normaliser and the total variation distance to the uniform distribution at every α, draws at one α, and the scores
of its known answers.

The entities come in chunks of whole tiles, as in `ranking.py`. Where a row of scores fits into the buffer (up to
196,608 entities for 256 questions) it is scored once; else twice, first for the normaliser, then for what needs it.
Results depend on neither chunks nor batches (`softmax.py`).
Source: Mei et al. (2018), On link prediction in knowledge bases: max-k criterion and prediction protocols, SIGIR.
"""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from core.callbacks import UNWATCHED, Watch
from pooling.questions.kernel import Csr, Questions, entries
from pooling.scoring.distributions import ALPHAS, DRAWS, TOP, DistributionResult
from pooling.scoring.ranking import Pass
from pooling.scoring.scorer import TILE, Scores
from pooling.scoring.softmax import GROUP, Draws, Masses, sums_of_groups
from pooling.scoring.streaming import on_device
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
    batch_size: int | None = None,
    chunk: int | None = None,
    watch: Watch = UNWATCHED,
) -> DistributionResult:
    """Score every question and return its distribution over all entities.

    `keys` int64[n] name the questions, whatever else is asked.
    Draws are i.i.d. from p at `alpha`, one of ALPHAS, and follow from `seed` and the question's key alone. With
    `alpha` None neither tvd nor draws are made: both come back with no column. `seed` is also that of the
    tie permutation. The other arguments are those of `score_questions`, InterruptedError and NotFinite as well.
    """
    return _Prediction(scorer, questions, TOP, seed, batch_size, chunk, watch).predict(answers, keys, alpha, seed)


class _Prediction(Pass):
    def predict(self, answers: Csr, keys: np.ndarray, alpha: float | None, seed: int) -> DistributionResult:
        """Return the result of `predict_questions`."""
        self.answers, self.keys, self.seed = answers, keys, seed
        self.drawn = None if alpha is None else ALPHAS.index(alpha)
        self.tiles = self.chunk // TILE  # of a chunk
        self.buffer = torch.empty((self.height, self.chunk), device=self.device)
        at_once = TILES_CPU if self.device.type == "cpu" else TILES_GPU
        self.rows = min(max(at_once // self.tiles, 1), self.height)  # whose powers are held at once
        held = (len(ALPHAS) + 1, self.rows * self.tiles, TILE)
        self.powers = torch.empty(held, dtype=torch.float64, device=self.device)
        kept = 0 if alpha is None else 1
        self.result = DistributionResult(
            self.top_entity,
            self.top_score,
            np.empty((self.total, len(ALPHAS))),
            np.empty((self.total, kept * len(ALPHAS))),
            np.empty((self.total, kept * DRAWS), np.int32),
            np.empty(len(answers.indices), np.float32),
        )
        self.run()
        return self.result

    def score(self, start: int, stop: int) -> None:
        part = Questions(*(x[start:stop] for x in self.questions))
        top = TopCandidates(stop - start, self.width, self.place)
        masses = Masses(stop - start, self.num_entities, self.device)
        groups = None if self.drawn is None else self._groups(stop - start)
        for first, end in self.chunks():
            self.stop_if_asked()
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
        self.top_entity[here, : self.width], self.top_score[here, : self.width] = top.result(self.order)
        if groups is not None:
            self._write_draws(here, part, masses, groups, scores)

    def _write_draws(self, here: slice, part: Questions, masses: Masses, groups: Tensor, scores: Tensor) -> None:
        """Look at the scores a second time and write what needs the normalisers: draws and tvd."""
        assert self.drawn is not None
        # DRAWS numbers in [0, 1) for each question, from the seed and its key alone
        keys = self.keys[here].tolist()
        uniform = np.stack([np.random.default_rng([self.seed, key]).random(DRAWS) for key in keys])
        draws = Draws(uniform, masses, self.drawn)
        for first, end in self.chunks():
            if not self.whole:
                self.stop_if_asked()
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

    def _scores(self, part: Questions, first: int, end: int) -> Tensor:
        """Score the entities first..end in the buffer: [B, T, TILE], −inf behind the last."""
        tiles = -(-(end - first) // TILE)
        scores = self.buffer[: len(part.side), : tiles * TILE]
        scores[:, end - first :] = -torch.inf
        self.write_scores(part, first, end, scores[:, : end - first])
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
        places = [on_device(x[inside], self.device) for x in (row, column // TILE, column % TILE)]
        self.result.answer_score[at[inside]] = scores[tuple(places)].cpu().numpy()

    def _write_normaliser(self, here: slice, masses: Masses) -> None:
        """Write the log-normalisers; raise NotFinite where a score is NaN or infinite."""
        found = masses.log_normaliser.cpu().numpy().T
        if len(bad := np.flatnonzero(~np.isfinite(found).all(1))):
            raise self.not_finite(here.start + int(bad[0]))
        self.result.log_normaliser[here] = found
