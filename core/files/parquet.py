"""Read Parquet files without pandas."""

from collections.abc import Collection, Sequence
from pathlib import Path

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
