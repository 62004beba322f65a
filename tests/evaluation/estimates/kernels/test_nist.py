"""infAP and infNDCG as NIST's script computes them: a literal walk down the lists, and numbers that the script gave."""

from __future__ import annotations

from math import floor, log2

import numpy as np
import pytest

from evaluation.estimates.kernels.nist import DEPTH, nist_lists
from evaluation.estimates.kernels.weights import CERTAIN, Sample
from evaluation.measures.prepared import Prepared, prepare
from evaluation.measures.rank_table import RankTable


def lists_of(positions: np.ndarray, question: np.ndarray) -> Prepared:
    """Triples with one row each, at positions [systems, triples]."""
    triple = np.arange(len(question), dtype=np.int32)
    rank, questions = positions.astype(np.int32), int(question.max()) + 1
    none = np.zeros(questions, dtype=np.int32)
    asked = question.astype(np.int32)
    return prepare(RankTable(asked, triple, triple, rank, rank, rank, none.astype(np.int8), none, none + 2000))


def walk(position: list[int], stratum: list[int], label: list[int]) -> tuple[float, float]:
    """Go down one list as the paper says; label 1, 0, or -1 where a pooled triple is not judged."""
    strata = sorted(set(stratum))
    docs = {h: stratum.count(h) for h in strata}
    judged = {h: sum(s == h and r >= 0 for s, r in zip(stratum, label, strict=True)) for h in strata}
    right = {h: sum(s == h and r == 1 for s, r in zip(stratum, label, strict=True)) for h in strata}
    relevant = sum(right[h] * docs[h] / judged[h] for h in strata if judged[h])
    seen_docs, seen_judged, seen_right, precision, gain = (dict.fromkeys(strata, 0.0) for _ in range(5))
    for rank, i in sorted((rank, i) for i, rank in enumerate(position) if 0 < rank <= 1000):
        h = stratum[i]
        if label[i] == 1:
            total = sum(seen_docs.values())
            above = sum(
                seen_docs[c] / total * (seen_right[c] + 0.00001) / (seen_judged[c] + 0.00003)
                for c in strata
                if seen_docs[c]
            )
            precision[h] += 1 / rank + total / rank * above
            gain[h] += 1 / log2(rank + 1)
            seen_right[h] += 1
        seen_docs[h] += 1
        seen_judged[h] += label[i] >= 0
    ap = sum(right[h] * docs[h] / judged[h] / relevant * precision[h] / right[h] for h in strata if right[h])
    dcg = sum(seen_docs[h] * gain[h] / seen_judged[h] for h in strata if seen_judged[h])
    ideal = sum(1 / log2(r + 1) for r in range(1, min(floor(relevant + 1e-9), 1000) + 1))
    return ap * max(relevant / 1000, 1), dcg / ideal


@pytest.mark.parametrize("seed", range(8))
def test_values_are_those_of_a_walk_down_the_lists(seed: int):
    rng = np.random.default_rng(seed)
    question = np.repeat(np.arange(5), 9)
    n, systems = question.size, 3
    positions = np.zeros((systems, n), dtype=int)
    for q in range(5):
        for s in range(systems):
            positions[s, question == q] = rng.permutation(30)[:9] + 1
    positions[1, rng.permutation(n)[:4]] = 0
    positions[2, [3, 30]] = DEPTH + 1, DEPTH
    stratum = rng.integers(-1, 2, n)
    stratum[::9] = CERTAIN
    drawn = (stratum != CERTAIN) & (rng.random(n) < 0.6)
    drawn[[np.flatnonzero(stratum == h)[0] for h in (0, 1)]] = True
    judged = (stratum == CERTAIN) & (rng.random(n) < 0.7)
    judged[::9] = True
    positive = (drawn | judged) & (rng.random(n) < 0.4)
    positive[:36:9] = True
    positive[36] = False  # the last question
    positive[36:] &= stratum[36:] != CERTAIN
    asked = np.array([True, True, False, True, True])
    found = nist_lists(lists_of(positions, question), Sample(stratum, drawn, positive), judged, asked)
    label = np.where(positive, 1, np.where(drawn | judged, 0, -1))
    kept = (stratum != CERTAIN) | judged
    for s in range(systems):
        each = [
            walk(positions[s, own].tolist(), stratum[own].tolist(), label[own].tolist())
            for own in (kept & (question == q) for q in (0, 1, 3))  # 2 is not asked, 4 has no certain positive
        ]
        assert (found["nist_infap"][s], found["nist_infndcg"][s]) == pytest.approx(tuple(np.mean(each, axis=0)))


def test_without_a_certain_positive_there_is_no_question():
    sample = Sample(np.zeros(2, dtype=int), np.array([True, False]), np.array([True, False]))
    prepared = lists_of(np.array([[1, 2]]), np.zeros(2, dtype=int))
    found = nist_lists(prepared, sample, sample.positive, np.ones(1, dtype=bool))
    assert np.isnan(found["nist_infap"]).all() and np.isnan(found["nist_infndcg"]).all()


# fmt: off
# sample_eval.pl of NIST (its version for lists of 1,000) was given these lists, filled up to 1,500 with documents
# outside the qrels: infAP and infNDCG of all topics, as it prints them
POSITIONS = [
    [6, 14, 29, 2, 15, 8, 4, 21, 26, 12, 18, 3, 27, 20, 22, 18, 5, 14, 11, 17, 1, 6, 15, 19, 21, 25, 22, 27, 26, 6, 1,
     16, 13, 20, 30, 3, 26, 17, 28, 1, 27, 16, 14, 29, 7, 15, 4, 6],
    [7, 17, 18, 26, 1, 0, 19, 1500, 15, 6, 9, 29, 10, 8, 14, 16, 20, 0, 24, 13, 4, 5, 23, 18, 15, 2, 12, 27, 18, 26, 4,
     24, 13, 22, 10, 7, 22, 28, 19, 20, 10, 8, 1, 14, 13, 23, 25, 3],
]
STRATUM = [-1, -1, 1, 1, 0, 0, 1, 0, 0, 0, 1, 0, -1, -1, 1, 0, 1, 1, 0, 1, 1, 1, 0, 1, -1, -1, 1, 1, 1, 1, 0, 1, 1, 1,
           1, 0, -1, -1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1]
DRAWN = [2, 5, 6, 7, 8, 9, 11, 14, 15, 16, 18, 22, 26, 29, 30, 31, 32, 34, 35, 38, 39, 40, 41, 42, 43, 44, 45, 46]
POSITIVE = [0, 5, 8, 9, 11, 12, 14, 16, 18, 24, 30, 35, 36, 39, 42, 43]
PRINTED = {"nist_infap": [0.3966, 0.2719], "nist_infndcg": [0.6769, 0.5199]}
# fmt: on


def test_values_are_those_that_the_script_prints():
    stratum, places = np.array(STRATUM), np.arange(48)
    sample = Sample(stratum, np.isin(places, DRAWN), np.isin(places, POSITIVE))
    prepared = lists_of(np.array(POSITIONS), places // 12)
    found = nist_lists(prepared, sample, stratum == CERTAIN, np.ones(4, dtype=bool))
    for name, printed in PRINTED.items():
        assert found[name] == pytest.approx(printed, abs=0.00005), name
