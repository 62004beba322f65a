"""Estimate measures with a model of undrawn triples, where inverse probabilities alone spread too far.

Each answer still counts 1 / its probability. How many undrawn positives stand above it follows a beta-binomial
distribution: every question has a share of positives of its own, around that of its triples' bands of pool depth, and
what was drawn of the question says where it lies (empirical Bayes). The model brings a bias of its own, which no
interval shows, and a spread that stays small; a sample of everything leaves nothing to model. Särndal, Swensson and
Wretman 1992 on estimators of that kind.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import betaln

from evaluation.estimates.kernels.estimator import OF_RANK, Estimates, ratio
from evaluation.estimates.kernels.lists import Lists
from evaluation.estimates.kernels.weights import CERTAIN, Sample
from evaluation.measures.prepared import Prepared, prepare
from evaluation.measures.rank_table import Flags, Floats, Ints, Order, keep_rows

LEAST, MOST = 0.001, 0.9  # correlation of two triples of a question: 0 and 1 have no beta distribution


class Beta(NamedTuple):
    """Share of positives among the undrawn triples of a question: parameters of its distribution, arrays."""

    yes: Floats
    no: Floats


class ModelEstimator:
    """Model-assisted estimates of a sample and of its subsets.

    asked bool [questions]: those that are evaluated. band int [triples], from 0: triples of a band share a prior.
    """

    def __init__(self, prepared: Prepared, sample: Sample, asked: Flags, band: Ints) -> None:
        table = prepared.table
        of_sample = sample.positive | (sample.stratum != CERTAIN)
        rows = prepare(keep_rows(table, of_sample[table.triple] & asked[table.question]))
        self._strict, self._scored = Lists(rows, by_score=False), Lists(rows, by_score=True)
        self._triple, self._question = rows.table.triple, rows.table.question
        self._questions, self._band = table.questions, band

    def estimate(self, sample: Sample) -> Estimates:
        model = _Model(sample, self._triple, self._question, self._questions, self._band)
        return self._micro(sample, model) | self._macro(sample, model)

    def _micro(self, sample: Sample, model: _Model) -> Estimates:
        lists = self._scored
        slots = np.nonzero(sample.positive[lists.triple] & (lists.rank < np.inf))
        higher, tied = lists.above(sample.positive)
        left, likely, left_tied = model.undrawn_above(lists, slots)
        beta = model.beta(lists.question[slots[1]], left, likely)
        # those at the same rank take half a place each; their mean is enough, ties are few
        rank = (lists.rank - higher - tied / 2.0)[slots] - left_tied / 2.0 * beta.yes / (beta.yes + beta.no)
        one = model.one[sample.stratum[lists.triple[slots]]]
        answers = model.one[sample.stratum[self._triple[sample.positive[self._triple]]]].sum()
        expected = _expected(rank, left, beta)
        return {f"micro_{name}": ratio(_by_system(slots, one * expected[name], lists), answers) for name in OF_RANK}

    def _macro(self, sample: Sample, model: _Model) -> Estimates:
        lists, systems = self._strict, len(self._strict.rank)
        above, _ = lists.above(sample.positive)
        slots = np.nonzero(sample.positive[lists.triple] & (above == 0))
        left, likely, _ = model.undrawn_above(lists, slots)
        beta = model.beta(lists.question[slots[1]], left, likely)
        none = np.exp(betaln(beta.yes, beta.no + left) - betaln(beta.yes, beta.no))
        first = none * model.one[sample.stratum[lists.triple[slots]]]
        certain = np.zeros(self._questions, dtype=bool)
        certain[self._question[(sample.positive & (sample.stratum == CERTAIN))[self._triple]]] = True
        opened = first[~certain[lists.question[slots[1]]]].sum() / systems
        questions = certain.sum() + opened  # one number for all systems, so that it favours none
        rank = lists.rank[slots]
        found: Estimates = {"questions": np.array([questions])}
        for name, of_rank in OF_RANK.items():
            found[f"macro_{name}"] = ratio(_by_system(slots, first * of_rank(rank), lists), questions)
        return found


def _by_system(slots: tuple[Order, ...], values: Floats, lists: Lists) -> Floats:
    return np.bincount(slots[0], values, len(lists.rank)).astype(np.float64)


class _Model:
    """Shares of positives by band and question, fitted by moments to what was drawn."""

    def __init__(self, sample: Sample, triple: Ints, question: Ints, questions: int, band: Ints) -> None:
        self.one: Floats = np.append(sample.population / sample.taken, 1.0)
        bands = int(band.max(initial=0)) + 1
        yes = np.bincount(band[sample.positive & sample.drawn], minlength=bands)
        self.share: Floats = ((yes + 0.5) / (np.bincount(band[sample.drawn], minlength=bands) + 1.0))[band]
        self._undrawn = (sample.stratum != CERTAIN) & ~sample.drawn
        drawn = sample.drawn[triple]
        asked, share = question[drawn], self.share[triple[drawn]]
        positive = sample.positive[triple[drawn]]
        self._drawn = np.bincount(asked, minlength=questions)
        self._yes = np.bincount(asked, positive, questions)
        expected = np.bincount(asked, share, questions)
        spread = np.bincount(asked, share * (1.0 - share), questions)
        # Var(yes) = spread * (1 + (drawn - 1) * correlation), summed over questions
        room = (spread * np.maximum(self._drawn - 1, 0)).sum()
        excess = ((self._yes - expected) ** 2).sum() - spread.sum()
        correlation = min(max(excess / room if room > 0 else LEAST, LEAST), MOST)
        self.weight = 1.0 / correlation - 1.0  # how many triples of a question the shares of the bands are worth

    def undrawn_above(self, lists: Lists, slots: tuple[Order, ...]) -> tuple[Ints, Floats, Ints]:
        """Return for each slot undrawn triples above, the mean share of their bands, and undrawn ones at its rank."""
        higher, tied = (count[slots] for count in lists.above(self._undrawn))
        likely, likely_tied = (total[slots] for total in lists.above(self._undrawn * self.share))
        either = higher + tied
        mean = np.where(either > 0, (likely + likely_tied) / np.maximum(either, 1), 0.5)  # of none: any will do
        return higher.astype(np.int64), np.clip(mean, 1e-6, 1.0 - 1e-6), tied.astype(np.int64)

    def beta(self, question: Ints, left: Ints, likely: Floats) -> Beta:
        yes = self._yes[question]
        return Beta(self.weight * likely + yes, self.weight * (1.0 - likely) + self._drawn[question] - yes)


def _expected(rank: Floats, left: Ints, beta: Beta) -> Estimates:
    """Return the mean value at a rank less a beta-binomial number of `left` triples, each [slots]."""
    order = np.argsort(-left, kind="stable")  # those with many left stay longest
    rank, left, yes, no = rank[order], left[order], beta.yes[order], beta.no[order]
    chance = np.exp(betaln(yes, no + left) - betaln(yes, no))  # of x = 0 positives among them
    mean = {name: np.zeros(rank.size) for name in OF_RANK}
    for x in range(int(left.max(initial=0)) + 1):
        active = int(np.searchsorted(-left, -x, side="right"))
        at, rest = chance[:active], left[:active]
        for name, of_rank in OF_RANK.items():
            mean[name][:active] += at * of_rank(rank[:active] - x)
        going = int(np.searchsorted(-left, -x, side="left"))  # left > x: there is one more
        chance = at[:going] * (rest[:going] - x) * (yes[:going] + x) / ((x + 1) * (no[:going] + rest[:going] - x - 1))
    back = np.argsort(order, kind="stable")
    return {name: value[back] for name, value in mean.items()}
