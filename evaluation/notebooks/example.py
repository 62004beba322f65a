"""Make small data for the examples in docstrings: three systems, four questions, labels of five candidates each."""

from dataclasses import replace

import numpy as np
import pandas as pd

from evaluation.measures.prepared import prepare
from evaluation.notebooks.rank_table import rank_table

LISTS = {
    "RotatE": ("abcde", "bacde", "cabde", "adcbe"),
    "TransE": ("bcade", "cbade", "acbde", "dacbe"),
    "Random": ("edcba", "edcab", "dbcae", "bceda"),
}
POSITIVE = ("ab", "b", "ca", "ad")  # answers of the four questions; "e" is unjudged, the others are negative

runs = pd.DataFrame(
    [
        (system, f"q{q}", candidate, rank)
        for system, lists in LISTS.items()
        for q, ranked_candidates in enumerate(lists, 1)
        for rank, candidate in enumerate(ranked_candidates, 1)
    ],
    columns=["system", "question", "candidate", "rank"],
)
qrels = pd.DataFrame(
    [
        (f"q{q}", candidate, -1 if candidate == "e" else int(candidate in answers))
        for q, answers in enumerate(POSITIVE, 1)
        for candidate in "abcde"
    ],
    columns=["question", "candidate", "label"],
)
_plain = rank_table(runs, qrels)
_asked = replace(
    _plain.prepared.table,
    side=np.array([0, 0, 1, 1], dtype=np.int8),  # q1 and q2 ask for the tail, q3 and q4 for the head
    relation=np.array([0, 1, 0, 1], dtype=np.int32),
)
ranked = replace(_plain, prepared=prepare(_asked))
prepared, state = ranked.prepared, ranked.state
