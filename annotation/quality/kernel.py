"""Measure how far people agree beyond chance: arrays of answers in, figures with their n out.

An undefined coefficient is never a number. If every answer is the same, chance agreement is complete, and 0/0 is no
evidence of agreement (INCEpTION #2219 printed 1.0 there).
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.integer[Any]]

MISSING = -1
# what a bootstrap needs: with less, its intervals hold the true value in clearly less than 95 % of cases
LEAST_ITEMS, LEAST_EQUAL, LEAST_RARE = 30, 5, 10
NOTHING = "no item has two answers to compare"
ONE_CATEGORY = "every answer was the same, so agreement by chance would be complete too"
NO_TRIAL = "there is nothing to count yet"


class Coefficient(NamedTuple):
    """A coefficient over n items; if it has no value, `reason` says why."""

    value: float | None
    n: int
    reason: str = ""


class Share(NamedTuple):
    """`hits` of `n`; its value and interval are None where n is 0."""

    hits: int
    n: int

    @property
    def value(self) -> float | None:
        return self.hits / self.n if self.n else None

    @property
    def reason(self) -> str:
        return "" if self.n else NO_TRIAL

    @property
    def interval(self) -> tuple[float, float] | None:
        """The Wilson 95 % interval (Wilson 1927)."""
        if not self.n:
            return None
        from scipy.special import ndtri  # here, since few need it: docs/measured/benchmarks.md, Start-up

        z = float(ndtri(0.975))
        middle = self.hits + z**2 / 2
        reach = z * math.sqrt(self.hits * (self.n - self.hits) / self.n + z**2 / 4)
        return max((middle - reach) / (self.n + z**2), 0.0), min((middle + reach) / (self.n + z**2), 1.0)


class Agreement(NamedTuple):
    """Figures for items with two answers each, by any two people."""

    raw: Share
    alpha: Coefficient
    ac1: Coefficient


def agreement(first: Ints, second: Ints, categories: int) -> Agreement:
    """Return raw agreement, alpha and AC1 of category numbers int[items]; items with a MISSING answer are left out.

    The order of the two answers changes nothing.
    """
    first, second = _complete(first, second, categories)
    named = np.arange(categories)
    counts = np.add(first[:, None] == named, second[:, None] == named, dtype=np.int64)  # [items, categories]
    raw = Share(int(np.count_nonzero(first == second)), first.size)
    return Agreement(raw, krippendorff_alpha(counts), gwet_ac1(counts))


def cohen_kappa(first: Ints, second: Ints, categories: int) -> Coefficient:
    """Return Cohen's kappa of two people: category numbers int[items] of one, then of the other.

    (p_o - p_e) / (1 - p_e), where p_e is the agreement of two people who answer at random, each with the
    shares of categories of their own. Undefined where p_e is 1.
    Source: Cohen 1960, A coefficient of agreement for nominal scales, Educ. Psychol. Meas. 20, 37-46.
    """
    first, second = _complete(first, second, categories)
    n = first.size
    if not n:
        return Coefficient(None, 0, NOTHING)
    one, other = (np.bincount(answers, minlength=categories) for answers in (first, second))
    by_chance = int(one @ other)  # n² times p_e, in integers: no rounding decides what is undefined
    if by_chance == n * n:
        return Coefficient(None, n, ONE_CATEGORY)
    observed = n * int(np.count_nonzero(first == second))
    return Coefficient((observed - by_chance) / (n * n - by_chance), n)


class Intervals(NamedTuple):
    """95 % intervals of coefficients; None where the items are too few to tell."""

    alpha: tuple[float, float] | None
    ac1: tuple[float, float] | None
    kappa: tuple[float, float] | None


def bootstrap(first: Ints, second: Ints, categories: int, rng: np.random.Generator, draws: int = 1000) -> Intervals:
    """Return percentile intervals of the coefficients of two answers: category numbers int[items] each.

    Items are drawn with replacement. A coefficient depends only on how many items have each pair of answers, so a draw
    is one of a multinomial distribution. Too few: under LEAST_ITEMS items, under LEAST_EQUAL that agree or that differ,
    or under LEAST_RARE answers beside the most frequent one. Below that, intervals hold the true value less often.
    Source: Efron & Tibshirani 1993, An Introduction to the Bootstrap, chapter 13.
    """
    first, second = _complete(first, second, categories)
    n = first.size
    table = np.bincount(first * categories + second, minlength=categories**2)
    equal = int(np.count_nonzero(first == second))
    used = np.bincount(np.concatenate([first, second]), minlength=categories)
    if n < LEAST_ITEMS or min(equal, n - equal) < LEAST_EQUAL or 2 * n - used.max() < LEAST_RARE:
        return Intervals(None, None, None)
    drawn = rng.multinomial(n, table / n, size=draws).reshape(draws, categories, categories)
    values = coefficients_of_tables(drawn)
    low, high = np.nanquantile(values, [0.025, 0.975], axis=1).tolist()
    return Intervals(*zip(low, high, strict=True))


def coefficients_of_tables(tables: Ints) -> NDArray[np.float64]:
    """Return alpha, AC1 and kappa, float[3, tables], of int[tables, categories, categories]: items by both answers.

    All tables have the same number of items; NaN where a coefficient is undefined.
    """
    size = tables.shape[1]
    n = int(tables[0].sum())
    one, other = tables.sum(axis=2), tables.sum(axis=1)
    answers = one + other  # [tables, categories]
    equal = np.trace(tables, axis1=1, axis2=2)
    by_chance = (one * other).sum(axis=1)
    expected = (2 * n) ** 2 - (answers**2).sum(axis=1)
    share = answers / (2 * n)
    ac1_chance = (share * (1 - share)).sum(axis=1) / (size - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        alpha = 1 - (2 * n - 1) * 2 * (n - equal) / expected
        ac1 = (equal / n - ac1_chance) / (1 - ac1_chance)
        kappa = (n * equal - by_chance) / (n * n - by_chance)
    values = np.stack([alpha, ac1, kappa])
    values[:, expected == 0] = np.nan
    values[2, by_chance == n * n] = np.nan
    return values


def krippendorff_alpha(counts: Ints) -> Coefficient:
    """Return nominal alpha of counts int[items, categories]: how many people put the item in the category.

    1 - D_o / D_e over the answers that can be paired: items with one answer are left out, so people may have
    answered any part of the items. Undefined where these answers are all the same (D_e is 0).
    Source: Krippendorff 2011, Computing Krippendorff's alpha-reliability.
    """
    counts = np.asarray(counts, dtype=np.int64)
    counts = counts[counts.sum(axis=1) >= 2]
    if not len(counts):
        return Coefficient(None, 0, NOTHING)
    of_item = counts.sum(axis=1)  # answers of each item
    of_category = counts.sum(axis=0)
    total = int(of_item.sum())
    expected = total * total - int((of_category**2).sum())  # ordered pairs of unequal answers, of any items
    if not expected:
        return Coefficient(None, len(counts), ONE_CATEGORY)
    unequal = of_item**2 - (counts**2).sum(axis=1)  # ordered pairs within each item
    observed = float((unequal / (of_item - 1)).sum())
    return Coefficient(1 - (total - 1) * observed / expected, len(counts))


def gwet_ac1(counts: Ints) -> Coefficient:
    """Return Gwet's AC1 of counts int[items, categories]: how many people put the item in the category.

    (p_a - p_e) / (1 - p_e) with p_e = Σ π (1 - π) / (categories - 1), π the mean share of a category over
    items. `categories` are those that could be chosen, used or not. Chance agreement is small where one
    category prevails, so AC1 stays near the raw agreement where kappa and alpha fall towards 0. Where only
    one category was used the formula gives 1; such data cannot tell agreement from habit, so it is called
    undefined here, as the others are.
    Source: Gwet 2008, Computing inter-rater reliability and its variance in the presence of high agreement,
    Br. J. Math. Stat. Psychol. 61, 29-48, equations for any number of raters.
    """
    counts = np.asarray(counts, dtype=np.int64)
    counts = counts[counts.sum(axis=1) >= 1]
    of_item = counts.sum(axis=1)
    paired = of_item >= 2
    n = int(np.count_nonzero(paired))
    if not n:
        return Coefficient(None, 0, NOTHING)
    if np.count_nonzero(counts.sum(axis=0)) < 2:
        return Coefficient(None, n, ONE_CATEGORY)
    pairs = (of_item * (of_item - 1))[paired]
    observed = float(((counts * (counts - 1)).sum(axis=1)[paired] / pairs).mean())
    share = (counts / of_item[:, None]).mean(axis=0)  # [categories]
    by_chance = float((share * (1 - share)).sum()) / (counts.shape[1] - 1)
    return Coefficient((observed - by_chance) / (1 - by_chance), n)


def _complete(first: Ints, second: Ints, categories: int) -> tuple[Ints, Ints]:
    first, second = np.asarray(first), np.asarray(second)
    if first.shape != second.shape or first.ndim != 1:
        raise ValueError(f"answers of shapes {first.shape} and {second.shape}: two of the same length are needed")
    there = (first != MISSING) & (second != MISSING)
    first, second = first[there], second[there]
    if first.size and not (min(first.min(), second.min()) >= 0 and max(first.max(), second.max()) < categories):
        raise ValueError(f"categories are 0 to {categories - 1}, or {MISSING} for no answer")
    return first, second
