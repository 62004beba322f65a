"""Parquet files are read without pandas, and as pyarrow's own function reads them."""

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.conf import settings

from core.files.parquet import read_parquet


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
    ask = "import sys; from core.files.parquet import read_parquet; from pathlib import Path\n"
    ask += "print(read_parquet(Path(sys.argv[1])).num_rows, 'pandas' in sys.modules)"
    command = [sys.executable, "-c", ask, str(file)]
    done = subprocess.run(command, cwd=settings.BASE_DIR, capture_output=True, text=True, timeout=120)
    assert done.stdout == "4 False\n", done.stderr
