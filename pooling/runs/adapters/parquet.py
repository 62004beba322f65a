"""Read Parquet runs: columns question, entity, and rank or score; also topk.parquet of a test set's run."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from core.files.parquet import read_parquet
from pooling.runs.adapters.base import NONE_IMPORTED, Adapter, Answers, Outside, places_by_score, rows_of_names

MAGIC = b"PAR1"
NEEDED = "Give columns question and entity, with score, rank or both"


def is_parquet(path: Path) -> bool:
    """Tell whether a file begins as Parquet does."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def knows(path: Path) -> bool:
    """Tell whether a file is Parquet or is named so, even if it is damaged or has other columns: `read` says so."""
    return is_parquet(path) or (path.suffix == ".parquet" and path.is_file())


def columns_of(path: Path) -> set[str]:
    """Return the names of the columns of a Parquet file; empty if it cannot be read."""
    try:
        return set(pq.read_schema(path).names)
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        return set()


def read_table(outside: Outside, wanted: Sequence[str]) -> pa.Table:
    """Read those of the wanted columns that the file has; TrecError if it is damaged or too large.

    Texts stay coded: a long one that a small file repeats a million times is in memory once.
    """
    try:
        about = pq.read_metadata(outside.path)
        outside.check_rows(about.num_rows)
        schema = about.schema.to_arrow_schema()
        columns = [name for name in wanted if name in schema.names]
        check_once(outside, columns, schema.names)
        texts = [name for name in columns if schema.field(name).type in (pa.string(), pa.large_string())]
        return read_parquet(outside.path, columns, coded=texts)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise outside.refusal(f"is a damaged Parquet file ({error}); {NONE_IMPORTED}") from error


def check_once(outside: Outside, wanted: Sequence[str], names: Sequence[str]) -> None:
    """Raise TrecError if one of the wanted columns is there more than once."""
    if twice := [name for name in wanted if names.count(name) > 1]:
        raise outside.refusal(f"has column {twice[0]} {names.count(twice[0])} times; keep one; {NONE_IMPORTED}")


def coded(outside: Outside, column: pa.ChunkedArray, name: str) -> tuple[np.ndarray, list[str]]:
    """Return the distinct texts of a column, and the index of each row into them, int64[n]."""
    if pa.types.is_dictionary(column.type):
        column = column.unify_dictionaries()
    array = column.combine_chunks()
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)
    if array.null_count:
        raise outside.refusal(f"column {name} has {array.null_count:,} empty cells; {NONE_IMPORTED}")
    if not pa.types.is_dictionary(array.type):
        if pa.types.is_nested(array.type):
            raise outside.refusal(f"column {name} is not text; {NONE_IMPORTED}")
        array = array.dictionary_encode()
    names = array.dictionary.to_pylist()
    if not all(isinstance(one, str) for one in names):
        raise outside.refusal(f"column {name} is not text; {NONE_IMPORTED}")
    return array.indices.to_numpy().astype(np.int64), names


def numbers(outside: Outside, table: pa.Table, name: str) -> np.ndarray:
    """Return a column as float64[n]; TrecError if it has no numbers."""
    kind = table.schema.field(name).type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        found = kind.value_type if pa.types.is_dictionary(kind) else kind
        raise outside.refusal(f"column {name} has no numbers but {found}; {NONE_IMPORTED}")
    return table[name].cast(pa.float64()).to_numpy()


def read(outside: Outside) -> Answers:
    """Read the rows; entities are keys, or ids of the graph where the column holds integers."""
    table = read_table(outside, ("question", "entity", "rank", "score"))
    there = table.column_names
    if "question" not in there or "entity" not in there or not {"rank", "score"} & set(there):
        has = ", ".join(sorted(columns_of(outside.path)))
        raise outside.refusal(f"has columns {has[:300]}. {NEEDED}; {NONE_IMPORTED}")
    rank = numbers(outside, table, "rank") if "rank" in there else None
    score = numbers(outside, table, "score") if "score" in there else -numbers(outside, table, "rank")
    question = coded(outside, table["question"], "question")
    if pa.types.is_integer(table.schema.field("entity").type):
        keys, ids = outside.graph.entities, numbers(outside, table, "entity").astype(np.int64)
        if len(ids) and not 0 <= ids.min() <= ids.max() < len(keys):
            raise outside.refusal(
                f"column entity has ids from {ids.min():,} to {ids.max():,}; the graph has 0 to {len(keys) - 1:,}. "
                f"Give keys of entities as text instead; {NONE_IMPORTED}"
            )
        distinct, codes = np.unique(ids, return_inverse=True)
        entity = codes, [keys[one] for one in distinct.tolist()]
    else:
        entity = coded(outside, table["entity"], "entity")
    given = places_by_score(question[0], score) if rank is None else np.nan_to_num(rank, nan=-1, posinf=-1, neginf=-1)
    file = rows_of_names(outside, question, entity, score, given)
    notes = [] if rank is not None else ["It has no ranks: the scores decide."]
    return Answers(file, notes if "score" in there else ["It has no scores: the ranks decide."])


PARQUET = Adapter(
    "parquet",
    "Parquet",
    "Columns `question` (ids of `topics.tsv`), `entity` (key, or id of the graph as an integer), `rank` or `score` or "
    "both; also `topk.parquet`.",
    knows,
    read,
)
