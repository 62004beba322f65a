"""Reading a TSV folder: every refusal names file and line, several at once; good files in any dress."""

import gzip
from pathlib import Path

import pytest

from pooling.enums import Split
from pooling.graphs.source_data import GraphError
from pooling.graphs.tsv import read_tsv

TRAIN = b"a\tr\tb\nb\tr\tc\nc\ts\ta\n"
VALID = b"a\ts\tc\n"
TEST = b"b\ts\ta\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, content in (("train.tsv", TRAIN), ("valid.tsv", VALID), ("test.tsv", TEST)):
        (tmp_path / name).write_bytes(content)
    return tmp_path


def refusal(folder: Path) -> list[str]:
    with pytest.raises(GraphError) as caught:
        read_tsv(folder)
    return str(caught.value).split("\n")


def triples(folder: Path) -> dict[str, list[tuple[str, ...]]]:
    source = read_tsv(folder)
    return {
        split.value: [tuple(source.keys[code] for code in row) for row in source.splits[split].rows] for split in Split
    }


EXPECTED = {
    "train": [("a", "r", "b"), ("b", "r", "c"), ("c", "s", "a")],
    "valid": [("a", "s", "c")],
    "test": [("b", "s", "a")],
}


def test_read_tsv_plain(folder):
    assert triples(folder) == EXPECTED


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("train.txt", TRAIN),
        ("train.tsv.gz", gzip.compress(TRAIN, mtime=0)),
        ("train.txt.gz", gzip.compress(TRAIN, mtime=0)),
        ("train.tsv", TRAIN.replace(b"\n", b"\r\n")),
        ("train.tsv", TRAIN.removesuffix(b"\n")),
        ("train.tsv", b"\xef\xbb\xbf" + TRAIN),
    ],
    ids=["txt", "tsv.gz", "txt.gz", "crlf", "no last line end", "byte order mark"],
)
def test_read_tsv_other_dress_same_triples(folder, name, content):
    (folder / "train.tsv").unlink()
    (folder / name).write_bytes(content)
    assert triples(folder) == EXPECTED


def test_read_tsv_names_keep_spaces_and_other_line_separators(folder):
    odd = "New York\u2028\x0b\x85\u00a0x"
    (folder / "valid.tsv").write_text(f"{odd}\tr\tb\n")
    assert triples(folder)["valid"] == [(odd, "r", "b")]


ROW = "(head, relation, tail, separated by tabs): correct the line or remove it."


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"a\tr\tb\na\tr\n", [f"valid.tsv:2: 2 columns instead of 3 {ROW} The line: a\\tr"]),
        (b"a\tr\tb\tc\n", [f"valid.tsv:1: 4 columns instead of 3 {ROW} The line: a\\tr\\tb\\tc"]),
        (b"a\tr\tb\n\n\n", [f"valid.tsv:{n}: 1 column instead of 3 {ROW}" for n in (2, 3)]),
        (b"a r b\n", [f"valid.tsv:1: 1 column instead of 3 {ROW} The line: a r b"]),
        (b"\tr\tb\n", ["valid.tsv:1: column 1 (head) is empty: fill it in or remove the line. The line: \\tr\\tb"]),
        (
            b"a\tr\tb\na\t\tb\na\tr\t\n",
            [
                "valid.tsv:2: column 2 (relation) is empty: fill it in or remove the line. The line: a\\t\\tb",
                "valid.tsv:3: column 3 (tail) is empty: fill it in or remove the line. The line: a\\tr\\t",
            ],
        ),
        (
            b"a\tr\tb\nK\xf6ln\tr\tb\n",
            ["valid.tsv:2: byte 0xf6 is not UTF-8: save the file as UTF-8. The line: K\\xf6ln\\tr\\tb"],
        ),
        (
            b"a\tr\tb\nc\rd\tr\tb\n",
            ["valid.tsv:2: there is a carriage return inside the line: take it out. The line: c\\rd\\tr\\tb"],
        ),
        (
            b"a\tr\tb\nc\0\tr\tb\n",
            ["valid.tsv:2: there is a NUL byte inside the line: take it out. The line: c\\x00\\tr\\tb"],
        ),
        (b"", ["valid.tsv: there are no triples in it: a graph needs train, valid and test triples."]),
    ],
)
def test_read_tsv_bad_line_refused(folder, content, expected):
    (folder / "valid.tsv").write_bytes(content)
    assert refusal(folder) == expected


def test_read_tsv_several_problems_in_several_files_shown_at_once(folder):
    (folder / "train.tsv").write_bytes(b"a\tr\nb\tr\tc\n\tr\tb\n\xff\tr\tb\n")
    (folder / "test.tsv").write_bytes(b"a\n")
    (folder / "entity_labels.tsv").write_bytes(b"a\tAnna\nb\n")
    assert refusal(folder) == [
        f"train.tsv:1: 2 columns instead of 3 {ROW} The line: a\\tr",
        "train.tsv:3: column 1 (head) is empty: fill it in or remove the line. The line: \\tr\\tb",
        "train.tsv:4: byte 0xff is not UTF-8: save the file as UTF-8. The line: \\xff\\tr\\tb",
        f"test.tsv:1: 1 column instead of 3 {ROW} The line: a",
        "entity_labels.tsv:2: 1 column instead of 2 (entity, label, separated by tabs): correct the line or remove it."
        " The line: b",
    ]


def test_read_tsv_many_problems_first_twenty_and_how_many_more(folder):
    (folder / "train.tsv").write_bytes(b"a\n" * 1500)
    lines = refusal(folder)
    assert lines[:20] == [f"train.tsv:{n}: 1 column instead of 3 {ROW} The line: a" for n in range(1, 21)]
    assert lines[20:] == ["… and 1,480 more problems, 1,500 in all."]


def test_read_tsv_missing_files_named(folder):
    (folder / "valid.tsv").unlink()
    (folder / "test.tsv").unlink()
    assert refusal(folder) == [
        f"{folder}: there is no {name}.tsv (nor {name}.txt, nor either with .gz): add it." for name in ("valid", "test")
    ]


def test_read_tsv_no_folder():
    with pytest.raises(GraphError) as caught:
        read_tsv("/no/such/folder")
    assert str(caught.value) == (
        "/no/such/folder is not a folder: give the folder that holds train.tsv, valid.tsv and test.tsv."
    )


def test_read_tsv_same_split_twice_refused(folder):
    (folder / "train.txt").write_bytes(TRAIN)
    assert refusal(folder) == [f"{folder}: train. is there 2 times (train.tsv and train.txt): keep one of them."]


def test_read_tsv_broken_gzip(folder):
    (folder / "train.tsv").unlink()
    (folder / "train.tsv.gz").write_bytes(gzip.compress(TRAIN)[:-9])
    assert refusal(folder) == [
        "train.tsv.gz is a damaged .gz file (Compressed file ended before the end-of-stream marker was reached): "
        "copy or pack it again."
    ]


def test_read_tsv_white_space_around_a_field_reported(folder):
    (folder / "valid.tsv").write_bytes(b"a\tr\tc\n a\tr\tc \n")
    assert read_tsv(folder).report == [
        {
            "kind": "whitespace",
            "count": 2,
            "message": "2 fields with white space at an end; it was kept as part of the name.",
            "examples": ["valid.tsv:2 ' a'", "valid.tsv:2 'c '"],
        }
    ]
    assert triples(folder)["valid"] == [("a", "r", "c"), (" a", "r", "c ")]


def test_read_tsv_domain_and_range_may_be_empty(folder):
    (folder / "relation_domain_range.tsv").write_bytes(b"r\tperson\t\ns\t\tplace\n")
    table = read_tsv(folder).domain_range
    assert table is not None and table.rows == [("r", "person", ""), ("s", "", "place")]
