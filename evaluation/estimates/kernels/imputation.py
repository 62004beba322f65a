"""Draw the labels that were not drawn for judging, many times, given those that were.

A probit model whose slopes differ between bands of depth, with a term for each question and relation, and its slope in
the rank, by Gibbs sampling of the latent normals (Albert and Chib 1993, Bayesian analysis of binary and polychotomous
response data). Terms of groups have Student's distribution, since a few questions lie far from the others: nearly
everything answers them. Draws of parameters bring their uncertainty into the labels, as multiple imputation asks for
(Rubin 1987).
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, ndtri

from core.callbacks import Tell
from evaluation.estimates.kernels.covariates import Covariates, Effect
from evaluation.measures.rank_table import Flags, Floats

IMPUTATIONS, BEGIN, STEP = 40, 200, 5  # states that are kept, steps before the first, and from one to the next
FREEDOM = 4.0  # of Student's distribution
FLAT = 0.25  # precision of the constant: shares from 0.01 % to 99.99 % are likely beforehand
SHARED, OWN, GROUPS = (0.5, 0.05), (0.5, 0.01), (1.0, 0.1)  # inverse gamma distributions of variances beforehand


def impute(given: Covariates, drawn: Flags, positive: Flags, rng: np.random.Generator, tell: Tell) -> Flags:
    """Return likely labels of the undrawn triples, bool [IMPUTATIONS, undrawn].

    drawn bool [n]; positive bool [drawn ones].
    """
    columns = np.concatenate([np.ones((len(drawn), 1)), given.shared, given.own], axis=1)
    bands = int(given.band.max(initial=0)) + 1
    by_band, undrawn = (_Banded(columns[which], given.band[which], bands) for which in (drawn, ~drawn))
    fixed = _Fixed(by_band, given.shared.shape[1])
    terms = [_Term(effect, drawn) for effect in given.effects]
    parts: list[_Fixed | _Term] = [fixed, *terms]
    found = np.zeros((IMPUTATIONS, undrawn.rows), dtype=bool)
    fit = np.zeros(len(positive))
    for step in range(BEGIN + IMPUTATIONS * STEP):
        latent = _truncated(fit, positive, rng)
        for part in parts:
            fit = fit - part.fit
            part.draw(latent - fit, rng)
            fit = fit + part.fit
        kept, rest = divmod(step - BEGIN, STEP)
        if kept >= 0 and rest == STEP - 1:
            likely = undrawn.times(fixed.value) + sum(term.undrawn(rng) for term in terms)
            found[kept] = rng.random(len(likely)) < ndtr(likely)
            tell(kept + 1, IMPUTATIONS)
    return found


def _truncated(mean: Floats, above: Flags, rng: np.random.Generator) -> Floats:
    """Draw normals of variance 1 that are above 0 where told, else below."""
    below = ndtr(-mean)
    share = rng.random(mean.size)
    share = np.where(above, below + share * (1.0 - below), share * below)
    return mean + ndtri(np.clip(share, 1e-12, 1.0 - 1e-12))


def _variance(values: Floats, before: tuple[float, float], rng: np.random.Generator) -> float:
    """Draw the variance of normal values around 0."""
    return float((before[1] + (values**2).sum() / 2.0) / rng.gamma(before[0] + values.size / 2.0))


class _Banded:
    """Columns [n, k] whose rows are of a band each."""

    def __init__(self, columns: Floats, band: np.ndarray, bands: int) -> None:
        self.rows, self.width = columns.shape
        self._at = [np.flatnonzero(band == b) for b in range(bands)]
        self._columns = [columns[at] for at in self._at]

    def times(self, value: Floats) -> Floats:
        """Multiply each row by the coefficients of its band: value [bands, k] -> [n]."""
        found = np.empty(self.rows)
        for at, columns, of_band in zip(self._at, self._columns, value, strict=True):
            found[at] = columns @ of_band
        return found

    def against(self, target: Floats) -> Floats:
        """Return the products of the columns of each band with target [n], [bands, k]."""
        return np.stack([columns.T @ target[at] for at, columns in zip(self._at, self._columns, strict=True)])

    def squares(self) -> Floats:
        """Return the products of the columns of each band with each other, [bands, k, k]."""
        return np.stack([columns.T @ columns for columns in self._columns])


class _Fixed:
    """Coefficients in common and what each band adds to them; those of a block have a variance in common.

    Blocks: 0 the constant, 1 and 2 shared and own covariates, 3 and 4 what bands add to these. value [bands, k].
    """

    def __init__(self, columns: _Banded, shared: int) -> None:
        squares, k = columns.squares(), columns.width
        bands = len(squares)
        self._columns, self._square = columns, np.zeros(((1 + bands) * k,) * 2)
        self._square[:k, :k] = squares.sum(axis=0)
        for b, square in enumerate(squares, 1):
            own = slice(b * k, (b + 1) * k)
            self._square[own, own] = self._square[:k, own] = self._square[own, :k] = square
        block = np.repeat([0, 1, 2], [1, shared, k - 1 - shared])
        self._block = np.concatenate([block, np.tile(np.where(block == 2, 4, 3), bands)])
        self._precision = np.array([FLAT, 10.0, 50.0, 20.0, 100.0])
        self.value, self.fit = np.zeros((bands, k)), np.zeros(columns.rows)

    def draw(self, target: Floats, rng: np.random.Generator) -> None:
        from scipy.linalg import solve_triangular  # here: few need it, and it takes 9 MiB

        root = np.linalg.cholesky(self._square + np.diag(self._precision[self._block]))
        against = self._columns.against(target)
        middle = solve_triangular(root, np.concatenate([against.sum(axis=0), against.ravel()]), lower=True)
        every = solve_triangular(root.T, middle + rng.standard_normal(middle.size))
        for block, before in ((1, SHARED), (2, OWN), (3, SHARED), (4, OWN)):
            self._precision[block] = 1.0 / _variance(every[self._block == block], before, rng)
        common, *added = every.reshape(-1, self._columns.width)
        self.value = common + np.stack(added)
        self.fit = self._columns.times(self.value)


class _Term:
    """Values of the groups of an effect; those without a drawn triple are drawn from the distribution of all."""

    def __init__(self, effect: Effect, drawn: Flags) -> None:
        seen, self._of = np.unique(effect.group[drawn], return_inverse=True)
        self._x, self._left_x = effect.x[drawn], effect.x[~drawn]
        self._weight = np.bincount(self._of, self._x**2, seen.size)
        every = np.append(seen, np.setdiff1d(effect.group[~drawn], seen))
        order = np.argsort(every)
        self._left = order[np.searchsorted(every, effect.group[~drawn], sorter=order)]
        self._unseen = every.size - seen.size
        self._value, self._scale = np.zeros(seen.size), np.ones(seen.size)
        self._variance = 0.3
        self.fit = np.zeros(self._of.size)

    def draw(self, target: Floats, rng: np.random.Generator) -> None:
        spread = 1.0 / (self._weight + self._scale / self._variance)
        mean = spread * np.bincount(self._of, self._x * target, spread.size)
        self._value = mean + np.sqrt(spread) * rng.standard_normal(spread.size)
        self._variance = _variance(self._value * np.sqrt(self._scale), GROUPS, rng)
        rate = (FREEDOM + self._value**2 / self._variance) / 2.0
        self._scale = rng.gamma((FREEDOM + 1.0) / 2.0, size=spread.size) / rate
        self.fit = self._value[self._of] * self._x

    def undrawn(self, rng: np.random.Generator) -> Floats:
        """Return the term of the undrawn triples."""
        unseen = np.sqrt(self._variance) * rng.standard_t(FREEDOM, self._unseen)
        return np.append(self._value, unseen)[self._left] * self._left_x
