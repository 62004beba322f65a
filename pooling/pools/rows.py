"""Read and write rows of pooled triples by the hundred thousand, without objects, as fast as each database can."""

from collections.abc import Iterator

import numpy as np
from django.db import connection

from core.database import insert_rows
from pooling.models import Pool, PooledTriple
from pooling.pools.kernels.gathering import PROVENANCE, Gathered

BATCH = 20_000
Row = tuple[int, int, int, int, int, str, bytes]  # in the order of the columns
COLUMNS = ("pool_id", "head", "relation", "tail", "depth", "reason", "provenance")
TABLE = PooledTriple._meta.db_table
UPSERT = (
    "ON CONFLICT (pool_id, head, relation, tail) DO UPDATE "
    "SET depth = excluded.depth, reason = excluded.reason, provenance = excluded.provenance"
)


def write_rows(pool: Pool, gathered: Gathered, reason: np.ndarray, chosen: np.ndarray) -> None:
    """Write the triples with the indices `chosen`, int[k]; reason str[n] of all.

    A triple that the pool has already keeps its row and gets the new depth, reason and provenance. The caller holds the
    transaction.
    """
    names = ", ".join(COLUMNS)
    with connection.cursor() as cursor:
        if not pool.triples.exists():
            insert_rows(PooledTriple, COLUMNS, _rows(pool, gathered, reason, chosen))
        elif connection.vendor == "postgresql":
            cursor.execute(f"CREATE TEMPORARY TABLE fresh AS SELECT id AS place, {names} FROM {TABLE} LIMIT 0")
            with cursor.copy(f"COPY fresh (place, {names}) FROM STDIN") as copy:
                for place, row in enumerate(_rows(pool, gathered, reason, chosen)):
                    copy.write_row((place, *row))
            # ids follow the order of the pool
            cursor.execute(f"INSERT INTO {TABLE} ({names}) SELECT {names} FROM fresh ORDER BY place {UPSERT}")
            cursor.execute("DROP TABLE fresh")
        else:
            marks = ", ".join(["%s"] * len(COLUMNS))
            cursor.executemany(
                f"INSERT INTO {TABLE} ({names}) VALUES ({marks}) {UPSERT}",
                _rows(pool, gathered, reason, chosen),  # type: ignore[arg-type]  # sqlite3 takes any iterable
            )
        if connection.vendor == "postgresql":
            cursor.execute(f"ANALYZE {TABLE}")  # otherwise its planner believes for minutes that the table is empty


def _rows(pool: Pool, gathered: Gathered, reason: np.ndarray, chosen: np.ndarray) -> Iterator[Row]:
    packed = gathered.findings.tobytes()
    starts = gathered.indptr * PROVENANCE.itemsize
    for at in range(0, len(chosen), BATCH):  # never all rows as Python objects at once
        part = chosen[at : at + BATCH]
        columns = (gathered.triples[part], gathered.depth[part], reason[part], starts[part], starts[part + 1])
        for (h, r, t), depth, why, start, end in zip(*(c.tolist() for c in columns), strict=True):
            yield pool.pk, h, r, t, depth, why, packed[start:end]


def read_rows(pool: Pool) -> tuple[np.ndarray, Gathered, np.ndarray]:
    """Read the triples of a pool in order: ids int64[n], the triples as gathered, the reason of each, str[n]."""
    names = ("id", "head", "relation", "tail", "depth", "reason", "provenance")
    found = pool.triples.order_by("id").values_list(*names)
    numbers: list[tuple[int, int, int, int, int]] = []
    reason: list[str] = []
    packed: list[bytes] = []
    for pk, h, r, t, depth, why, provenance in found.iterator(chunk_size=BATCH):
        numbers.append((pk, h, r, t, depth))
        reason.append(why)
        packed.append(bytes(provenance))
    columns = np.array(numbers, dtype=np.int64).reshape(-1, 5)
    counts = [len(one) // PROVENANCE.itemsize for one in packed]
    gathered = Gathered(
        columns[:, 1:4].astype(np.int32),
        columns[:, 4],
        np.frombuffer(b"".join(packed), dtype=PROVENANCE),
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
    )
    return columns[:, 0], gathered, np.array(reason, dtype=object)
