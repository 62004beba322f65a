"""A file is read line by line, within bounds of what it is unpacked."""

from __future__ import annotations

import gzip
import tracemalloc
from pathlib import Path

import pytest

from core.files.lines import LONGEST_LINE, SENT, Bounds, LinesError, LinesTooLargeError, lines_of, unpacked


def refusal(path: Path, bounds: Bounds = SENT) -> str:
    with pytest.raises(LinesError) as caught:
        list(lines_of(path, bounds))
    return str(caught.value)


@pytest.mark.parametrize("name", ["x.tsv", "x.tsv.gz"])
@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"ok\n" * 4, "{} has more than 3 lines, the most that are read here."),
        (b"x" * 101, "{} holds more than 100 bytes of text, the most that are read here."),
        (b"ok\na\0b\n", "{}:2: holds a NUL character, which text has not; save the file as UTF-8."),
        ("ok\nü".encode("latin-1"), "{}:2: is not UTF-8; save the file as UTF-8."),
        ("ok".encode("utf-16"), "{}:1: is not UTF-8; save the file as UTF-8."),
        ("ok".encode("utf-16-le"), "{}:1: holds a NUL character, which text has not; save the file as UTF-8."),
        ("öü".encode("utf-16"), "{}:1: is not UTF-8; save the file as UTF-8."),
        (gzip.compress(b"ok", mtime=0), "{}:1: is not UTF-8; save the file as UTF-8."),
    ],
)
def test_what_is_too_much_or_no_text_is_refused(tmp_path: Path, name: str, content: bytes, told: str):
    path = tmp_path / name
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    assert refusal(path, Bounds(100, 3)) == told.format(name)


def test_line_without_an_end_is_refused_before_it_is_read_whole(tmp_path: Path):
    (tmp_path / "x.gz").write_bytes(gzip.compress(b"x" * (30 << 20)))
    tracemalloc.start()
    told = refusal(tmp_path / "x.gz")
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert told == "x.gz:1: has more than 1,048,576 bytes; end each line with a line feed."
    assert most < 8 * LONGEST_LINE


@pytest.mark.parametrize("packed", [b"no gzip", gzip.compress(b"a\n" * 100, mtime=0)[:-9], b"\x1f\x8b", b""])
def test_gzip_that_is_damaged_is_told(tmp_path: Path, packed: bytes):
    (tmp_path / "x.gz").write_bytes(packed)
    if not packed:
        assert list(lines_of(tmp_path / "x.gz")) == []
        return
    assert refusal(tmp_path / "x.gz").startswith("x.gz is a damaged .gz file (")
    with pytest.raises(LinesError):
        unpacked(packed, "x.gz", 100)


def test_content_of_gzip_has_a_bound():
    assert unpacked(gzip.compress(b"x" * 100), "x", 100) == b"x" * 100
    with pytest.raises(LinesTooLargeError):
        unpacked(gzip.compress(b"x" * 101), "x", 100)


def test_lines_are_numbered_and_end_alike(tmp_path: Path):
    (tmp_path / "x").write_bytes(b"\xef\xbb\xbfa\r\n\n \nb\r\r\nc")
    assert list(lines_of(tmp_path / "x")) == [(1, "a"), (4, "b"), (5, "c")]
