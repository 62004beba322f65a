"""Compute stratified infAP and infNDCG as the script of NIST's TREC tracks does (sample_eval.pl).

It weighs what it finds by the shares of each question: of N pooled triples of a stratum n are judged in this question,
where lists.py weighs by the shares of the whole pool. At an answer the precision is expected from the judged triples
above it, so nothing is assumed of pairs. The measures are those of Yilmaz, Kanoulas and Aslam (2008, a simple and
efficient sampling method for estimating AP and NDCG), with the script's constants.
"""

import numpy as np

from evaluation.estimates.kernels.lists import Lists
from evaluation.estimates.kernels.weights import CERTAIN, Sample
from evaluation.measures.prepared import Prepared, prepare
from evaluation.measures.rank_table import Flags, Floats, keep_rows

DEPTH = 1000  # of a list; what comes after is not looked at
SMALL = 0.00001  # added to the judged positives above an answer; three times this is added to the judged triples


def nist_lists(prepared: Prepared, sample: Sample, judged: Flags, asked: Flags) -> dict[str, Floats]:
    """Return nist_infap and nist_infndcg [systems], means over the asked questions that have a certain positive.

    judged bool [triples]: of those without a stratum, the ones with a label; they are a stratum of their own. The
    others have no part. A question whose list is empty counts 0; the script leaves it out. nan without a question.
    """
    table, certain = prepared.table, sample.stratum == CERTAIN
    known = np.zeros(table.questions, dtype=bool)
    known[table.question[(sample.positive & certain)[table.triple]]] = True
    known &= asked
    pooled = ~certain | judged
    lists = Lists(prepare(keep_rows(table, pooled[table.triple] & known[table.question])), by_score=False)
    systems, questions = len(lists.rank), int(known.sum())
    if not questions:
        return {name: np.full(systems, np.nan) for name in ("nist_infap", "nist_infndcg")}
    place = (np.cumsum(known) - 1)[lists.question]
    returned, labelled = lists.rank <= DEPTH, sample.drawn | certain
    answer = returned & sample.positive[lists.triple]
    strata = [sample.stratum == h for h in (*range(sample.population.size), CERTAIN)]

    def count(flags: Flags, of: Flags) -> Floats:
        """Count rows of flagged triples by question, [systems, questions]."""
        return np.stack([np.bincount(place, line, questions) for line in flags[lists.triple] & of])

    precision = np.ones(lists.rank.shape)
    for own in strata:
        above, _ = lists.above(own)
        positive, _ = lists.above(own & sample.positive)
        seen, _ = lists.above(own & labelled)
        precision += above * (positive + SMALL) / (seen + 3 * SMALL)
    precision = np.where(answer, precision / lists.rank, 0.0)
    gain = np.where(answer, 1.0 / np.log2(lists.rank + 1.0), 0.0)
    every = np.ones(lists.rank.shape, dtype=bool)
    relevant, sums, gains = (np.zeros((systems, questions)) for _ in range(3))
    for own in strata:
        weight = _ratio(count(own, every), count(own & labelled, every))
        relevant += weight * count(own & sample.positive, every)
        sums += weight * _sums(np.where(own[lists.triple], precision, 0.0), place, questions)
        share = _ratio(count(own, returned), count(own & labelled, returned))
        gains += share * _sums(np.where(own[lists.triple], gain, 0.0), place, questions)
    return {
        "nist_infap": (sums / relevant * np.maximum(relevant / DEPTH, 1.0)).mean(axis=1),
        "nist_infndcg": (gains / _ideal(relevant)).mean(axis=1),
    }


def _ratio(of: Floats, by: Floats) -> Floats:
    return np.divide(of, by, out=np.zeros(of.shape), where=by > 0)


def _sums(values: Floats, place: np.ndarray, questions: int) -> Floats:
    return np.stack([np.bincount(place, line, questions) for line in values])


def _ideal(relevant: Floats) -> Floats:
    """Return the DCG of a list of `relevant` answers, of which a last part of one does not count."""
    best = np.concatenate(([0.0], np.cumsum(1.0 / np.log2(np.arange(2, DEPTH + 2)))))
    return best[np.minimum(np.floor(relevant + 1e-9), DEPTH).astype(int)]
