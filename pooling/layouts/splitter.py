"""Draw valid and test, or valid alone, from train where a source does not have them, by a seed."""

from collections import Counter
from collections.abc import Mapping

import numpy as np

from pooling.enums import Split
from pooling.graphs.source_data import GraphError
from pooling.layouts.layout import Triples


def divide(triples: Triples, shares: Mapping[Split, float], seed: int) -> dict[Split, Triples]:
    """Return splits with these shares of the triples, drawn, and train with all others.

    A split has one triple at least. Every entity and relation stays in train, so that a share may not be reached.
    Repeats are left out first.
    GraphError for shares that leave no train, and where nothing can be taken out of train.
    """
    if min(shares.values()) <= 0 or sum(shares.values()) >= 1:
        told = " and ".join(f"{share:g}" for share in shares.values())
        raise GraphError(f"Shares of valid and test: {told}. Give two above 0, below 1 together.")
    if not triples.rows:
        raise GraphError(f"{triples.file}: there are no triples in it: a graph needs triples of train, valid and test.")
    places = {row: i for i, row in reversed(list(enumerate(triples.rows)))}  # the first of equal ones
    rows = list(dict.fromkeys(triples.rows))
    entities = Counter(name for h, _, t in rows for name in {h, t})
    relations = Counter(r for _, r, _ in rows)
    wanted = {split: max(1, round(share * len(rows))) for split, share in shares.items()}
    drawn: dict[Split, list[tuple[str, str, str]]] = {split: [] for split in shares}
    taken = set()
    for i in np.random.default_rng(seed).permutation(len(rows)).tolist():
        split = next((split for split, most in wanted.items() if len(drawn[split]) < most), None)
        if split is None:
            break
        h, r, t = rows[i]
        if min(entities[h], entities[t], relations[r]) > 1:
            drawn[split].append(rows[i])
            taken.add(i)
            entities.subtract({h, t})
            relations[r] -= 1
    if not all(drawn.values()):
        raise GraphError(
            f"{triples.file}: {len(rows):,} triples cannot be divided: every entity and relation has to stay in train."
            " Give files of train, valid and test."
        )
    train = [row for i, row in enumerate(rows) if i not in taken]
    parts = {Split.TRAIN: train, **drawn}
    return {
        split: Triples(
            f"{triples.file} ({split.value})",
            part,
            [triples.lines[places[row]] for row in part] if triples.lines else (),
            triples.form,
        )
        for split, part in parts.items()
    }
