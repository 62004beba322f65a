"""Draw the labels that were not drawn for judging, many times, given those that were.

A probit model with a term for each question and relation, and its slope in the rank, by Gibbs sampling of the latent
normals (Albert and Chib 1993, Bayesian analysis of binary and polychotomous response data). Terms of groups have
Student's distribution, since a few questions lie far from the others: nearly everything answers them. Draws of
parameters bring their uncertainty into the labels, as multiple imputation asks for (Rubin 1987).
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
    blocks = np.repeat([0, 1, 2], [1, given.shared.shape[1], given.own.shape[1]])
    fixed, terms = _Fixed(columns[drawn], blocks), [_Term(effect, drawn) for effect in given.effects]
    parts: list[_Fixed | _Term] = [fixed, *terms]
    undrawn, found = columns[~drawn], np.zeros((IMPUTATIONS, int((~drawn).sum())), dtype=bool)
    fit = np.zeros(len(positive))
    for step in range(BEGIN + IMPUTATIONS * STEP):
        latent = _truncated(fit, positive, rng)
        for part in parts:
            fit = fit - part.fit
            part.draw(latent - fit, rng)
            fit = fit + part.fit
        kept, rest = divmod(step - BEGIN, STEP)
        if kept >= 0 and rest == STEP - 1:
            likely = undrawn @ fixed.value + sum(term.undrawn(rng) for term in terms)
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


class _Fixed:
    """Coefficients of the columns [drawn, k]; those of a block have a variance in common."""

    def __init__(self, columns: Floats, block: np.ndarray) -> None:
        self._columns, self._block, self._square = columns, block, columns.T @ columns
        self._precision = np.array([FLAT, 10.0, 50.0])
        self.value, self.fit = np.zeros(columns.shape[1]), np.zeros(len(columns))

    def draw(self, target: Floats, rng: np.random.Generator) -> None:
        root = np.linalg.cholesky(self._square + np.diag(self._precision[self._block]))
        middle = np.linalg.solve(root, self._columns.T @ target)
        self.value = np.linalg.solve(root.T, middle + rng.standard_normal(middle.size))
        for block, before in ((1, SHARED), (2, OWN)):
            self._precision[block] = 1.0 / _variance(self.value[self._block == block], before, rng)
        self.fit = self._columns @ self.value


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
