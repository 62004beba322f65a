"""Files of pools made elsewhere: what is refused, and with which words."""

from __future__ import annotations

import gzip
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from core.files.lines import Bounds, LinesError, LinesTooLargeError
from pooling.errors import PoolError
from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.pools.files import read_pool_file, read_seed_file, read_tsv


@pytest.fixture
def graph() -> GraphArrays:
    """a knows b (train), b knows c (valid), c knows a and a knows c (test); d is somebody."""

    def ids(*rows: tuple[int, int, int]) -> np.ndarray:
        return np.array(rows, dtype=np.int32)

    return GraphArrays(
        ["a", "b", "c", "d"],
        [""] * 4,
        [()] * 4,
        ["knows"],
        ["N-N"],
        [""],
        [""],
        ids((0, 0, 1)),
        ids((1, 0, 2)),
        ids((2, 0, 0), (0, 0, 2)),
    )


SEEDS = np.array([[2, 0, 0]], dtype=np.int32)


def pool_file(folder: Path, *lines: str) -> Path:
    (folder / "pool.tsv").write_text("".join(f"{line}\n" for line in lines))
    return folder / "pool.tsv"


def test_lines_become_triples_depths_and_findings(graph, tmp_path):
    path = pool_file(tmp_path, "a\tknows\td\t3\trotate:tail:3;transe:head:12", "d\tknows\ta\t1", "", "b\tknows\ta\t2\t")
    read = read_pool_file(path, SEEDS, graph)
    assert read.gathered.triples.tolist() == [[0, 0, 3], [3, 0, 0], [1, 0, 0]]
    assert read.gathered.depth.tolist() == [3, 1, 2]
    assert read.gathered.findings.tolist() == [(0, 0, 3), (1, 1, 12)]
    assert read.gathered.indptr.tolist() == [0, 2, 2, 2]
    assert read.contributors == ["rotate", "transe"]
    assert read.report == []


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("a\tknows\td", "has 3 columns; head, relation, tail, depth and perhaps provenance are 4 or 5"),
        ("a\tknows\td\t1\tx:tail:1\t", "has 6 columns; head, relation, tail, depth and perhaps provenance are 4 or 5"),
        ("a\tknows\td\t0", "depth '0' is not a whole number from 1 to 32767"),
        ("a\tknows\td\t-1", "depth '-1' is not a whole number from 1 to 32767"),
        ("a\tknows\td\t1.0", "depth '1.0' is not a whole number from 1 to 32767"),
        ("a\tknows\td\t", "depth '' is not a whole number from 1 to 32767"),
        ("a\tknows\td\t²", "depth '²' is not a whole number from 1 to 32767"),
        ("a\tknows\td\t32768", "depth '32768' is not a whole number from 1 to 32767"),
        ("a\tknows\td\t" + "9" * 5000, f"depth '{'9' * 200}' is not a whole number from 1 to 32767"),
        ("a\tknows\td\t1\trotate:side:1", "provenance 'rotate:side:1' is not system:tail:rank or system:head:rank"),
        ("a\tknows\td\t1\trotate:tail", "provenance 'rotate:tail' is not system:tail:rank or system:head:rank"),
        ("a\tknows\td\t1\t:tail:1", "provenance ':tail:1' is not system:tail:rank or system:head:rank"),
        ("a\tknows\td\t1\tr:tail:0", "provenance 'r:tail:0' is not system:tail:rank or system:head:rank"),
        ("a\tknows\td\t1\tr:tail:²", "provenance 'r:tail:²' is not system:tail:rank or system:head:rank"),
        ("a\tknows\td\t1\tr:head:40000", "provenance 'r:head:40000' is not system:tail:rank or system:head:rank"),
    ],
)
def test_a_line_of_the_wrong_shape_refuses_the_file(graph, tmp_path, line, problem):
    path = pool_file(tmp_path, "d\tknows\ta\t1", line)
    with pytest.raises(PoolError) as caught:
        read_pool_file(path, SEEDS, graph)
    assert str(caught.value) == f"pool.tsv:2: {problem}\nCorrect the pool file; nothing was made."


def test_at_most_twenty_problems_are_named(graph, tmp_path):
    path = pool_file(tmp_path, *["a\tknows\td\t0"] * 23)
    with pytest.raises(PoolError) as caught:
        read_pool_file(path, SEEDS, graph)
    lines = str(caught.value).splitlines()
    assert len(lines) == 22
    assert lines[19:] == [
        "pool.tsv:20: depth '0' is not a whole number from 1 to 32767",
        "… and 3 more",
        "Correct the pool file; nothing was made.",
    ]


def test_what_a_pool_cannot_hold_is_left_out_and_reported(graph, tmp_path):
    path = pool_file(
        tmp_path,
        "a\tknows\td\t1",
        "a\tknows\tb\t1",
        "b\tknows\tc\t1",
        "a\tknows\tc\t1",
        "c\tknows\ta\t1",
        "x\tknows\ta\t1",
        "a\tlikes\tb\t1",
        "a\tknows\ty\t1",
        "a\tknows\td\t2",
    )
    read = read_pool_file(path, SEEDS, graph)
    assert read.gathered.triples.tolist() == [[0, 0, 3]]
    assert read.gathered.depth.tolist() == [1]
    assert read.report == [
        {"kind": "known fact (train)", "count": 1, "examples": ["pool.tsv:2: a knows b"]},
        {"kind": "known fact (valid)", "count": 1, "examples": ["pool.tsv:3: b knows c"]},
        {"kind": "known fact (test)", "count": 1, "examples": ["pool.tsv:4: a knows c"]},
        {"kind": "seed triple", "count": 1, "examples": ["pool.tsv:5: c knows a"]},
        {
            "kind": "unknown entity or relation",
            "count": 3,
            "examples": [
                "pool.tsv:6: the graph does not have head 'x'",
                "pool.tsv:7: the graph does not have relation 'likes'",
                "pool.tsv:8: the graph does not have tail 'y'",
            ],
        },
        {"kind": "repeated triple", "count": 1, "examples": ["pool.tsv:9: repeats line 1"]},
    ]


def test_too_many_systems_are_refused(graph, tmp_path):
    path = pool_file(tmp_path, "a\tknows\td\t1\t" + ";".join(f"s{i}:tail:1" for i in range(257)))
    with pytest.raises(PoolError, match=r"pool\.tsv:1: more than 256 systems in the provenance"):
        read_pool_file(path, SEEDS, graph)


def test_a_seed_file_without_lines_is_refused(graph, tmp_path):
    (tmp_path / "seeds.tsv").write_text("\n \n")
    with pytest.raises(PoolError) as caught:
        read_seed_file(tmp_path / "seeds.tsv", graph)
    assert str(caught.value) == "seeds.tsv has no seed triples."


def test_plain_and_gz_files_are_read_alike(tmp_path):
    content = "a\tb\n\nü\t日本\r\n"
    (tmp_path / "x.tsv").write_bytes(content.encode())
    (tmp_path / "x.tsv.gz").write_bytes(gzip.compress(content.encode(), mtime=0))
    lines = [(1, ["a", "b"]), (3, ["ü", "日本"])]
    assert list(read_tsv(tmp_path / "x.tsv")) == list(read_tsv(tmp_path / "x.tsv.gz")) == lines


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.tsv", b"a\tb\nc\t\xff\n", "x.tsv:2: is not UTF-8; save the file as UTF-8."),
        ("x.tsv.gz", b"no gzip", "x.tsv.gz is a damaged .gz file (Not a gzipped file (b'no')): copy or pack it again."),
        (
            "x.tsv.gz",
            gzip.compress(b"a\tb\n" * 99, mtime=0)[:20],
            "x.tsv.gz is a damaged .gz file (Compressed file ended before the end-of-stream marker was reached): copy "
            "or pack it again.",
        ),
        ("y.tsv", b"", "{folder}/x.tsv: No such file or directory"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(LinesError) as caught:
        list(read_tsv(tmp_path / name.replace("y", "x")))
    assert str(caught.value) == message.format(folder=tmp_path)


def test_a_byte_order_mark_is_no_part_of_the_first_name(graph, tmp_path):
    (tmp_path / "seeds.tsv").write_bytes(b"\xef\xbb\xbfc\tknows\ta\n")
    assert read_seed_file(tmp_path / "seeds.tsv", graph).tolist() == [[2, 0, 0]]


def test_a_small_gz_of_many_wrong_lines_costs_little_memory(graph, tmp_path):
    """Each wrong line was kept in words: 34 kB became 2.8 GB."""
    (tmp_path / "seeds.tsv.gz").write_bytes(gzip.compress(b"a\n" * 300_000))
    (tmp_path / "pool.tsv.gz").write_bytes(gzip.compress(b"x\ty\tz\t1\n" * 300_000))
    tracemalloc.start()
    with pytest.raises(PoolError, match="and 299980 more"):
        read_seed_file(tmp_path / "seeds.tsv.gz", graph)
    [unknown] = read_pool_file(tmp_path / "pool.tsv.gz", SEEDS, graph).report
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (unknown["count"], len(unknown["examples"])) == (300_000, 20)
    assert most < 3_000_000


def test_seed_and_pool_files_have_bounds(graph, tmp_path):
    (tmp_path / "x.tsv").write_text("a\tknows\td\t1\n" * 11)
    for read in (
        lambda: read_seed_file(tmp_path / "x.tsv", graph, Bounds(1000, 10)),
        lambda: read_pool_file(tmp_path / "x.tsv", SEEDS, graph, bounds=Bounds(1000, 10)),
    ):
        with pytest.raises(LinesTooLargeError, match="more than 10 lines"):
            read()
