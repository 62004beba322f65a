"""Parquet files are read without pandas, and as pyarrow's own function reads them."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.conf import settings

from core.files.parquet import numbers, read_parquet


@pytest.fixture
def file(tmp_path: Path) -> Path:
    table = pa.table({"word": ["a", "b", "a", None], "number": [1, 2, 3, 4], "many": [[1], [], [2, 3], [4]]})
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=3)
    return tmp_path / "t.parquet"


@pytest.mark.parametrize("columns", [None, ["number"], ["many", "word"]])
@pytest.mark.parametrize("coded", [[], ["word", "none"]])
def test_table_is_that_of_pyarrow(file: Path, columns, coded):
    assert read_parquet(file, columns, coded=coded) == pq.read_table(file, columns=columns, read_dictionary=coded)


def test_pandas_is_not_imported(file: Path):
    ask = "import sys; from core.files.parquet import numbers, read_parquet; from pathlib import Path\n"
    ask += "print(*numbers(read_parquet(Path(sys.argv[1]))['number']), 'pandas' in sys.modules)"
    command = [sys.executable, "-c", ask, str(file)]
    done = subprocess.run(command, cwd=settings.BASE_DIR, capture_output=True, text=True, timeout=120)
    assert done.stdout == "1 2 3 4 False\n", done.stderr


@pytest.mark.parametrize("kind", [pa.int8(), pa.int32(), pa.uint32(), pa.int64(), pa.float32()], ids=str)
@pytest.mark.parametrize("pieces", [[], [[]], [[1, 2, 3]], [[1, 2], [], [3]]], ids=str)
def test_numbers_are_those_of_pyarrow(kind: pa.DataType, pieces: list[list[int]]):
    column = pa.chunked_array(pieces, kind)
    for one in (column, column.slice(1), column.combine_chunks()):
        found, expected = numbers(one), one.to_numpy()
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


@pytest.mark.filterwarnings("ignore:Exporting an unversioned DLPack")  # numpy tries again where pyarrow refuses
@pytest.mark.parametrize("cells", [[1, None], ["a", "b"]], ids=str)
def test_empty_cells_and_texts_are_no_numbers(cells: list[object]):
    with pytest.raises(TypeError):
        numbers(pa.chunked_array([cells]))
