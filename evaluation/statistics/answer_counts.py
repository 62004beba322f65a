"""Count the answers of questions on triples, and bin the counts: 0, 1, 2, 3-5, 6-10, 11-50, more."""

import numpy as np
from numpy.typing import NDArray

from pooling.questions.kernel import Questions
from pooling.scoring.rank_rows import question_keys, row_keys, rows_of

BINS = (0, 1, 2, 3, 6, 11, 51)  # the smallest number of each bin; the last one is open


def label_of_bin(i: int) -> str:
    """Return the label of a bin: "0", "3–5", "> 50"."""
    if i == len(BINS) - 1:
        return f"> {BINS[i] - 1}"
    last = BINS[i + 1] - 1
    return str(last) if last == BINS[i] else f"{BINS[i]}–{last}"


def bin_counts(answers: NDArray[np.integer]) -> NDArray[np.int64]:
    """Count how many of the numbers int[n], none negative, lie in each bin: int64[7]."""
    if answers.size and answers.min() < 0:
        raise ValueError("a question cannot have fewer than 0 answers")
    return np.bincount(np.searchsorted(BINS, answers, side="right") - 1, minlength=len(BINS))


def answer_counts(
    questions: Questions, triples: NDArray[np.integer], num_entities: int, num_relations: int
) -> NDArray[np.int64]:
    """Count the distinct answers that triples int[m, 3] hold for each of n questions, int64[n].

    Sorted and compared by hand: np.unique without an inverse hashes, ten times slower on keys like these.
    """
    known = np.sort(row_keys(rows_of(triples), num_entities, num_relations))
    first = np.ones(len(known), dtype=bool)
    first[1:] = known[1:] != known[:-1]
    asked = known[first] // num_entities  # one question key a distinct (question, answer), ascending
    keys = question_keys(questions, num_entities, num_relations)
    return np.searchsorted(asked, keys, side="right") - np.searchsorted(asked, keys, side="left")
