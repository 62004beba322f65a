"""Read FB15k-237 for the training and ranking benchmarks, without a database."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent


def fb15k237() -> tuple[np.ndarray, np.ndarray, np.ndarray, int, int]:
    """Return train, valid, test int32[n, 3] of FB15k-237 and the numbers of entities and relations."""
    folder = Path(os.environ.get("TRIPLEPOOL_DATA", ROOT / "../shared/data")) / "fb15k-237"
    entities: dict[str, int] = {}
    relations: dict[str, int] = {}
    splits = []
    for split in ("train", "valid", "test"):
        with gzip.open(folder / f"{split}.tsv.gz", "rt", encoding="utf-8") as file:
            rows = (line.rstrip("\n").split("\t") for line in file)
            ids = [
                (
                    entities.setdefault(head, len(entities)),
                    relations.setdefault(relation, len(relations)),
                    entities.setdefault(tail, len(entities)),
                )
                for head, relation, tail in rows
            ]
        splits.append(np.array(ids, np.int32))
    return splits[0], splits[1], splits[2], len(entities), len(relations)
