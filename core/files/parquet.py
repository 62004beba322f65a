"""Read Parquet files and their columns without pandas."""

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq


def read_parquet(
    path: Path, columns: Sequence[str] | None = None, *, coded: Collection[str] = (), threads: bool = True
) -> pa.Table:
    """Read some or all columns of a file; texts of the `coded` ones stay numbers of distinct values.

    pyarrow.parquet.read_table would do, but it imports pandas: one second, and 50 MiB in each process. Errors are those
    of pyarrow; a column that the file lacks is left out.
    """
    texts = [name for name in coded if name in pq.read_schema(path).names] if coded else None
    with pq.ParquetFile(path, read_dictionary=texts) as file:
        return file.read(columns, use_threads=threads)


def row_groups(path: Path, columns: Sequence[str], *, coded: Collection[str] = ()) -> Iterator[pa.Table]:
    """Yield some columns of one row group after the other; the arguments are those of `read_parquet`.

    In this thread alone: pyarrow's threads take more processor time, and each keeps memory that it freed.
    """
    with pq.ParquetFile(path, read_dictionary=list(coded)) as file:
        for i in range(file.num_row_groups):
            yield file.read_row_group(i, columns, use_threads=False)


def numbers(column: pa.Array | pa.ChunkedArray) -> np.ndarray:
    """Return a column of numbers as an array, not to be written to; without a copy where the column is in one piece.

    column.to_numpy() would do, but it imports pandas. TypeError: it has empty cells, or no numbers.
    """
    if isinstance(column, pa.ChunkedArray):
        column = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    return np.from_dlpack(column)
