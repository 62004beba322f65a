"""Run files: every bad line with its number and words, and what is written comes back."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.questions.kernel import questions_of
from pooling.runs import trec_read as module
from pooling.runs.files import question_id
from pooling.runs.trec_read import Topics, TrecError, id_of, read_run_file
from pooling.runs.trec_write import packed, pieces, trec_word, write_pieces
from pooling.scoring.rank_rows import question_keys

ENTITIES = ["ada", "per son", "50%", "a:b", "ü/é", "x+y&z", "nbsp\u00a0key", "%41"]
RELATIONS = ["knows", "lives in"]
TEST = np.array([[0, 0, 1], [2, 0, 3], [4, 1, 5]], dtype=np.int32)


def make_graph(entities: list[str], relations: list[str], test: np.ndarray) -> GraphArrays:
    none, words = np.zeros((0, 3), np.int32), [""] * len(relations)
    return GraphArrays(
        entities, [""] * len(entities), [()] * len(entities), relations, words, words, words, none, none, test
    )


GRAPH = make_graph(ENTITIES, RELATIONS, TEST)
TOPICS = Topics(question_keys(questions_of(TEST)[0], len(ENTITIES), len(RELATIONS)), "the topics of town")
ASKED = question_id(0, "ada", "knows")
END = "Correct the file; nothing was imported."


def line(entity: str, rank: object = 1, score: object = 1, question: str = ASKED) -> str:
    return f"{question} Q0 {trec_word(entity)} {rank} {score} them"


def write(path: Path, *lines: str) -> Path:
    write_pieces(path, pieces(lines))
    return path


def refusal(path: Path, **options: object) -> str:
    with pytest.raises(TrecError) as caught:
        read_run_file(path, "their.run", GRAPH, TOPICS, **options)  # type: ignore[arg-type]
    return str(caught.value)


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        ("a b c d e", "has 5 columns where question id, Q0, entity, rank, score, tag are 6"),
        ("a b c d e f g", "has 7 columns where question id, Q0, entity, rank, score, tag are 6"),
        (line("a:b", 1, "1_000"), "score '1_000' is not a finite number"),
        (line("a:b", "1_000"), "rank '1_000' is not a whole number"),
        (line("a:b", "1_000", "1_0"), "score '1_0' is not a finite number"),
        (line("a:b", 1, "1" + "ü" * 40), f"score '1{'ü' * 39}' is not a finite number"),
        (line("a:b", 1, "nan"), "score 'nan' is not a finite number"),
        (line("a:b", 1, "-inf"), "score '-inf' is not a finite number"),
        (line("a:b", 1, "1e999"), "score '1e999' is not a finite number"),
        (line("a:b", 1, "best"), "score 'best' is not a finite number"),
        (line("nobody at all"), "the graph does not have entity 'nobody at all'"),
        (line("ada", question="301"), "the graph has no question '301'; ids are as export_topics writes them"),
        (
            line("ada", question="tail:nobody:knows"),
            "the graph has no question 'tail:nobody:knows'; ids are as export_topics writes them",
        ),
        (
            line("ada", question="both:ada:knows"),
            "the graph has no question 'both:ada:knows'; ids are as export_topics writes them",
        ),
        (
            line("ada", question="tail:ada:lives%20in"),
            "question 'tail:ada:lives%20in' is not one of the topics of town",
        ),
        (
            line("ada", question="head:ada:knows"),
            "question 'head:ada:knows' asks for the head, where the topics of town ask for the tail: tail:ada:knows",
        ),
        (
            line("ada", question="tail:per%20son:knows"),
            "question 'tail:per%20son:knows' asks for the tail, where the topics of town ask for the head: "
            "head:per%20son:knows",
        ),
        (line("ada"), "repeats line 1: 'ada' in tail:ada:knows"),
    ],
)
def test_a_bad_line_is_refused_with_its_number(tmp_path: Path, bad: str, problem: str):
    path = write(tmp_path / "run", line("ada"), "", bad, line("per son"))
    assert refusal(path) == f"their.run:3: {problem}\n{END}"


def test_bad_lines_come_in_their_order_and_repeats_at_the_end(tmp_path: Path):
    path = write(
        tmp_path / "run", line("ada"), line("50%", score="inf"), "x", line("who"), line("ada"), line("ada"), line("who")
    )
    assert refusal(path).splitlines() == [
        "their.run:2: score 'inf' is not a finite number",
        "their.run:3: has 1 columns where question id, Q0, entity, rank, score, tag are 6",
        "their.run:4: the graph does not have entity 'who'",
        "their.run:7: the graph does not have entity 'who'",
        "their.run:5: repeats line 1: 'ada' in tail:ada:knows",
        "their.run:6: repeats line 1: 'ada' in tail:ada:knows",
        END,
    ]


def test_an_entity_written_in_two_ways_is_the_same(tmp_path: Path):
    path = write(tmp_path / "run", line("ada"), f"{ASKED} Q0 %61da 2 0 them", f"{ASKED} Q0 %2541 3 0 them")
    assert refusal(path) == f"their.run:2: repeats line 1: 'ada' in {ASKED}\n{END}"


def test_of_many_bad_lines_20_are_named_and_all_are_counted(tmp_path: Path):
    path = write(tmp_path / "run", *["too short"] * 1500)
    words = "has 2 columns where question id, Q0, entity, rank, score, tag are 6"
    named = [f"their.run:{n}: {words}" for n in range(1, 21)]
    assert refusal(path) == "\n".join([*named, "… and 1,480 more lines", END])
    repeats = refusal(write(tmp_path / "run", *[line("ada")] * 1500)).splitlines()
    assert repeats[19:] == [f"their.run:21: repeats line 1: 'ada' in {ASKED}", "… and 1,479 more lines", END]


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path):
    path = tmp_path / "run"
    assert refusal(path) == "their.run: No such file or directory; nothing was imported."
    for nothing in (b"", b"\n \n", gzip.compress(b"")):
        path.write_bytes(nothing)
        assert refusal(path) == "their.run is empty: it has no line of a run; nothing was imported."
    good = (line("ada") + "\n").encode()
    path.write_bytes(good + b"tail:\xff Q0 a 1 1 t\n")
    assert refusal(path) == "their.run:2: is not UTF-8; save the file as UTF-8. Nothing was imported."


def test_a_damaged_gzip_is_refused(tmp_path: Path):
    path = tmp_path / "run"
    packed = gzip.compress((line("ada") + "\n").encode() * 50, mtime=0)
    path.write_bytes(packed[:-9])
    assert refusal(path) == (
        "their.run is a damaged .gz file (Compressed file ended before the end-of-stream marker was reached); "
        "nothing was imported."
    )
    path.write_bytes(packed[:-8] + b"\0" * 8)
    assert refusal(path).startswith("their.run is a damaged .gz file (CRC check failed")
    path.write_bytes(packed[:10] + b"\xff" * 20)
    assert refusal(path).startswith("their.run is a damaged .gz file (Error -3 while decompressing data")


def test_lines_across_blocks_keep_their_numbers(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(module, "BLOCK", 64)
    lines = [line(key, i, -i) for i, key in enumerate(ENTITIES)]
    path = write(tmp_path / "run", *lines)
    read = read_run_file(path, "r", GRAPH, TOPICS)
    assert read.line.tolist() == list(range(1, 9))
    assert read.entity.tolist() == list(range(8))
    path.write_bytes(path.read_bytes() + b"bad line")
    assert refusal(path).startswith("their.run:9: has 2 columns")
    path.write_bytes(b"x" * 200)
    assert refusal(path) == "their.run:1: has more than 64 bytes, so it is not a line of a run."


def test_more_than_is_allowed_unpacked_is_refused(tmp_path: Path):
    path = write(tmp_path / "run.gz", line("ada") + "x" * 5000)
    assert path.stat().st_size < 1000
    assert refusal(path, max_bytes=1000) == (
        "their.run holds more than 1,000 bytes unpacked, which is too much to send at once: send it in parts "
        "(docs/api.md), or use import_run on the server."
    )
    size = len(gzip.decompress(path.read_bytes()))
    assert len(read_run_file(path, "r", GRAPH, TOPICS, max_bytes=size).line) == 1


def test_byte_order_mark_tabs_and_windows_line_ends_are_read(tmp_path: Path):
    lines = [line("ada", 1, 2), "", line("per son", "7.5", "1e-3"), line("50%", 10**30, 0), line("a:b", "-", 0)]
    (tmp_path / "run").write_bytes(b"\xef\xbb\xbf" + "\r\n".join(lines).replace(" ", "\t").encode())
    read = read_run_file(tmp_path / "run", "r", GRAPH, TOPICS)
    assert read.line.tolist() == [1, 3, 4, 5]
    assert read.entity.tolist() == [0, 1, 2, 3]
    assert read.score.tolist() == [2, 0.001, 0, 0]
    assert read.rank.tolist() == [1, -1, -1, -1]  # no whole number, one that is too large for any list, and a word
    assert set(read.question.tolist()) == {TOPICS.keys[0]}


def test_progress_counts_the_bytes_of_the_file(tmp_path: Path):
    path = write(tmp_path / "run.gz", line("ada"))
    seen: list[tuple[int, int]] = []
    read_run_file(path, "r", GRAPH, TOPICS, progress=lambda done, total: seen.append((done, total)))
    size = path.stat().st_size
    assert seen == [(size, size)]


# keys hold any text without tab and line ends
KEYS = st.text(st.characters(codec="utf-8", exclude_characters="\t\r\n"), min_size=1, max_size=8)


@given(st.data(), st.lists(KEYS, min_size=3, max_size=7, unique=True), st.booleans())
def test_what_is_written_comes_back(tmp_path_factory: pytest.TempPathFactory, data, keys: list[str], gz: bool):
    """Any keys, any number of answers to any of the questions."""
    graph = make_graph(keys, keys[:2], np.array([[0, 0, 1], [2, 1, 0]], dtype=np.int32))
    asked = question_keys(questions_of(graph.test)[0], len(keys), 2)
    lists = {
        key: data.draw(st.permutations(range(len(keys))).flatmap(lambda p: st.integers(0, len(p)).map(lambda n: p[:n])))
        for key in asked.tolist()
    }
    lines = [
        f"{id_of(key, graph)} Q0 {trec_word(keys[entity])} {rank} {-rank} us"
        for key, found in lists.items()
        for rank, entity in enumerate(found, 1)
    ]
    if not lines:
        return
    path = tmp_path_factory.mktemp("runs") / ("run.gz" if gz else "run")
    write_pieces(path, pieces(lines))
    read = read_run_file(path, "r", graph, Topics(asked, "these"))
    expected = [(key, entity, -rank, rank) for key, found in lists.items() for rank, entity in enumerate(found, 1)]
    assert list(zip(*(column.tolist() for column in read[1:]), strict=True)) == expected
    assert read.line.tolist() == list(range(1, len(lines) + 1))


def test_a_packed_file_is_the_same_bytes_each_time_and_pieces_change_nothing(monkeypatch):
    lines = [f"line {i}" for i in range(7)]
    whole = b"".join(packed(pieces(lines)))
    assert gzip.decompress(whole).decode() == "".join(f"{text}\n" for text in lines)
    assert whole[4:8] == b"\0\0\0\0"  # no time
    monkeypatch.setattr("pooling.runs.trec_write.PIECE", 3)
    assert list(pieces(lines)) == [b"line 0\nline 1\nline 2\n", b"line 3\nline 4\nline 5\n", b"line 6\n"]


def test_a_file_is_packed_as_a_download_and_a_full_disk_ends_it(tmp_path: Path):
    content = [bytes([i]) * 100_000 for i in range(5)]
    write_pieces(tmp_path / "run.gz", content)
    assert (tmp_path / "run.gz").read_bytes() == b"".join(packed(content))
    (tmp_path / "full.gz").symlink_to("/dev/full")
    noise, made = np.random.default_rng(1), iter(range(20))
    with pytest.raises(OSError, match="No space left"):
        write_pieces(tmp_path / "full.gz", (noise.bytes(100_000) for _ in made))
    assert next(made) < 10  # it ends at once


def test_no_lines_are_an_empty_file():
    assert b"".join(pieces([])) == b""
    assert gzip.decompress(b"".join(packed(pieces([])))) == b""
