"""Compute relation categories (1-1, 1-N, N-1, N-N) from the training triples."""

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


def relation_counts(train: npt.NDArray[np.int32], num_relations: int) -> tuple[Ints, Ints, Ints]:
    """Count the distinct (h, r, t), (h, r) and (r, t) of each relation: three int64[num_relations].

    `train` is int32[n, 3]; tails per head are the first divided by the second, heads per tail by the third.
    """
    head, relation, tail = train.astype(np.int64).T
    size = int(train[:, [0, 2]].max(initial=0)) + 1

    def per_relation(entities: Ints) -> tuple[Ints, npt.NDArray[np.intp]]:
        """Count the distinct (relation, entity) per relation; number the pair of every row."""
        pairs, number = np.unique(relation * size + entities, return_inverse=True)
        return np.bincount(pairs // size, minlength=num_relations), number

    heads, head_pair = per_relation(head)
    tails, _ = per_relation(tail)
    _, first = np.unique(head_pair * size + tail, return_index=True)
    return np.bincount(relation[first], minlength=num_relations), heads, tails


def relation_categories(train: npt.NDArray[np.int32], num_relations: int) -> list[str]:
    """Return the category of each relation id; '' for a relation that has no training triple.

    "Many" means more than 1.5 on average, compared in integers: exactly 1.5 is "1". Source: Bordes et al. (2013),
    Translating embeddings for modeling multi-relational data, NeurIPS.
    """
    triples, heads, tails = relation_counts(train, num_relations)
    many_tails, many_heads = 2 * triples > 3 * heads, 2 * triples > 3 * tails
    return [
        f"{'N' if heads_many else '1'}-{'N' if tails_many else '1'}" if count else ""
        for count, heads_many, tails_many in zip(triples, many_heads, many_tails, strict=True)
    ]
