"""Parquet runs, PyKEEN's prediction frames and numpy matrices: small files of exactly their form."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from pooling.graphs.opening import open_graph
from pooling.models import Graph
from pooling.runs.adapters.base import Outside
from pooling.runs.adapters.matrix import MATRIX
from pooling.runs.adapters.parquet import coded, read_table
from pooling.runs.imports import import_run
from pooling.runs.trec_read import TrecError
from tests.pooling.runs.adapters.conftest import (
    HEAD,
    HEAD_QUESTION,
    RELATION,
    TAIL,
    TAIL_QUESTION,
    Lists,
    candidates,
    rank,
    write,
)


def refusal(graph: Graph, path: Path, form: str = "auto") -> str:
    with pytest.raises(TrecError) as caught:
        import_run(graph, path, name="x", form=form)
    assert not graph.systems.exists()
    return str(caught.value)


# -- Parquet ----------------------------------------------------------------------------------------------------


def test_parquet_with_scores_or_ranks_or_ids_is_the_same_run(town: Graph, lists: Lists, tmp_path: Path):
    given = [lists.tails[0], TAIL, lists.tails[1]]
    index = open_graph(town).entity_index
    columns = {"question": [TAIL_QUESTION] * 3}
    frames = {
        "scores": pd.DataFrame(columns | {"entity": given, "score": [3.0, 2.0, 1.0]}),
        "ranks": pd.DataFrame(columns | {"entity": given, "rank": [1, 2, 3]}),
        "ids": pd.DataFrame(columns | {"entity": [index[key] for key in given], "rank": [1, 2, 3], "score": [3, 2, 1]}),
    }
    for name, frame in frames.items():
        frame.to_parquet(tmp_path / name)
        imported = import_run(town, tmp_path / name, name=name)
        run = imported.system.run
        assert (candidates(run, TAIL_QUESTION), rank(run, TAIL_QUESTION, TAIL)) == (lists.tails[:2], [2, 2, 2]), name
        assert ("It has no scores: the ranks decide." in imported.notes) == (name == "ranks")


def test_a_text_that_parquet_repeats_is_in_memory_once(town: Graph, tmp_path: Path):
    path, rows = tmp_path / "long.parquet", 4_000
    pd.DataFrame({"question": ["q" * 100_000] * rows, "entity": "e", "rank": 1}).to_parquet(path, row_group_size=1_000)
    before = pa.total_allocated_bytes()
    table = read_table(Outside(path, path.name, open_graph(town), None), ("question", "entity", "rank"))
    assert table.num_rows == rows and pa.total_allocated_bytes() - before < 10_000_000
    codes, names = coded(Outside(path, path.name, open_graph(town), None), table["question"], "question")
    assert (set(codes.tolist()), [len(name) for name in names]) == ({0}, [100_000])


def test_parquet_names_what_is_wrong(town: Graph, lists: Lists, tmp_path: Path):
    path = tmp_path / "run.parquet"
    row = {"question": [TAIL_QUESTION], "entity": [TAIL]}
    pd.DataFrame(row).to_parquet(path)
    assert refusal(town, path) == (
        "run.parquet: has columns entity, question. Give columns question and entity, with score, rank or both; "
        "nothing was imported."
    )
    pd.DataFrame(row | {"entity": ["nobody"], "score": [np.nan]}).to_parquet(path)
    assert refusal(town, path) == (
        "run.parquet:1: the graph does not have entity 'nobody'\nrun.parquet:1: score nan is not a finite number\n"
        "Correct the file; nothing was imported."
    )
    pd.DataFrame(row | {"entity": [9_999], "score": [1]}).to_parquet(path)
    assert "column entity has ids from 9,999 to 9,999" in refusal(town, path)
    pd.DataFrame(row | {"question": [None], "score": [1]}).to_parquet(path)
    assert "column question has" in refusal(town, path)
    pd.DataFrame({"query": ["q"], "doc": ["d"], "score": [1]}).to_parquet(path)
    assert "has columns doc, query, score. Give columns question and entity" in refusal(town, path)
    whole = path.read_bytes()
    for damaged in (whole[:40], whole[40:] + whole[:40]):  # cut off, or in the wrong order
        path.write_bytes(damaged)
        assert "is a damaged Parquet file" in refusal(town, path)
    pd.DataFrame({"question": [TAIL_QUESTION] * 9, "entity": lists.tails[:9], "score": range(9)}).to_parquet(path)
    with pytest.raises(TrecError, match="has 9 rows; at most 8 can be sent here"):
        import_run(town, path, name="x", max_bytes=160)


# -- PyKEEN -----------------------------------------------------------------------------------------------------


def pykeen_frames(graph: Graph):
    """Frames as pykeen.predict makes them, from a model that is not trained."""
    from pykeen.models import TransE
    from pykeen.predict import predict_all, predict_target
    from pykeen.triples import TriplesFactory

    arrays = open_graph(graph)
    rows = np.array(
        [[arrays.entities[h], arrays.relations[r], arrays.entities[t]] for h, r, t in arrays.train.tolist()], dtype=str
    )
    factory = TriplesFactory.from_labeled_triples(rows)
    model = TransE(triples_factory=factory, embedding_dim=4, random_seed=0)
    tails = predict_target(model=model, head=HEAD, relation=RELATION, triples_factory=factory).df
    heads = predict_target(model=model, relation=RELATION, tail=TAIL, triples_factory=factory).df
    everything = predict_all(model=model, k=None).process(factory=factory).df
    return tails, heads, everything


def test_frames_of_predict_target_answer_the_side_that_was_predicted(town: Graph, lists: Lists, tmp_path: Path):
    tails, heads, everything = pykeen_frames(town)
    assert set(tails) == {"tail_id", "score", "tail_label"}  # what PyKEEN itself writes
    frame = pd.concat(
        [tails.assign(head_label=HEAD, relation_label=RELATION), heads.assign(relation_label=RELATION, tail_label=TAIL)]
    )
    frame.to_csv(tmp_path / "target.tsv", sep="\t", index=False)
    frame.to_csv(tmp_path / "target.csv")
    frame.to_parquet(tmp_path / "target.parquet")
    everything.to_csv(tmp_path / "all.tsv", sep="\t", index=False)
    expected = [key for key in tails["tail_label"] if key in lists.tails]
    expected_heads = [key for key in heads["head_label"] if key in lists.heads]
    for number, name in enumerate(("target.tsv", "target.csv", "target.parquet", "all.tsv")):
        run = import_run(town, tmp_path / name, name=f"r{number}").system.run
        assert candidates(run, TAIL_QUESTION) == expected, name
        assert candidates(run, HEAD_QUESTION) == expected_heads, name


def test_frames_without_what_was_given_are_refused(town: Graph, lists: Lists, tmp_path: Path):
    path = write(tmp_path / "frame.tsv", f"tail_id\tscore\ttail_label\n3\t0.5\t{TAIL}\n")
    assert refusal(town, path).startswith("frame.tsv: has no column head_label, relation_label. predict_target leaves")
    row = f"head_label\trelation_label\ttail_label\tscore\n{HEAD}\t{RELATION}\t{TAIL}\t1\n"
    assert "row 1 has neither head_id nor tail_id" in refusal(town, write(path, row))
    wrong = f"head_label\trelation_label\ttail_label\tscore\ttarget\n{HEAD}\tnone\t{TAIL}\t1\ttail\n"
    assert "frame.tsv:1: the graph does not have relation 'none'" in refusal(town, write(path, wrong))
    said = wrong.replace("none", RELATION)
    assert "column target has 'relation'" in refusal(town, write(path, said.replace("1\ttail", "1\trelation")))
    number = said.replace("\t1\ttail", "\t1_000\ttail")
    assert "Row #2: CSV conversion error to double: invalid value '1_000'" in refusal(town, write(path, number))
    run = import_run(town, write(path, said), name="x").system.run
    assert rank(run, TAIL_QUESTION, TAIL) == [1, 1, 1] and run.num_questions == 0


# -- numpy ------------------------------------------------------------------------------------------------------


def test_a_matrix_ranks_all_entities(town: Graph, lists: Lists, tmp_path: Path):
    entities = open_graph(town).entities[::-1]  # in any order
    scores = np.arange(len(entities), dtype=np.float32)[None, :].repeat(2, 0)
    scores[0, entities.index(lists.tails[0])] = -np.inf
    questions = [TAIL_QUESTION, HEAD_QUESTION]
    np.savez(tmp_path / "run.npz", scores=scores, questions=questions, entities=entities)
    folder = tmp_path / "folder"
    folder.mkdir()
    np.save(folder / "scores.npy", scores)
    write(folder / "topics.tsv", "question\tside\n" + "".join(f"{question}\tx\n" for question in questions))
    write(folder / "entities.txt", "".join(f"{key}\n" for key in entities))
    for number, path in enumerate((tmp_path / "run.npz", folder)):
        imported = import_run(town, path, name=f"r{number}")
        best = [key for key in entities[::-1] if key in lists.tails[1:]]
        assert candidates(imported.system.run, TAIL_QUESTION) == best
        assert "1 scores are -inf and were left out." in imported.notes


def test_a_matrix_of_another_shape_is_refused(town: Graph, tmp_path: Path, monkeypatch):
    path = tmp_path / "run.npz"
    np.savez(path, scores=np.zeros((2, 3)), questions=[TAIL_QUESTION], entities=["a", "b", "c"])
    assert "run.npz: scores is float64 of shape (2, 3); it must be numbers of shape (1, 3)" in refusal(town, path)
    np.savez(path, scores=np.zeros((2, 3)))
    assert "run.npz: lacks questions, entities. Give scores" in refusal(town, path)
    np.savez(path, scores=np.array([{}], dtype=object))
    assert "cannot be read as numpy arrays" in refusal(town, path)
    monkeypatch.setattr("pooling.runs.adapters.matrix.MOST_SCORES", 5)
    np.savez(path, scores=np.zeros((2, 3)), questions=[TAIL_QUESTION, "x"], entities=["a", "b", "c"])
    assert "holds 6 scores; at most 5 are read" in refusal(town, path, MATRIX.name)


def zeros(rows: int, columns: int) -> bytes:
    """Return the header and first bytes of a .npy file of float64 [rows, columns]; the rest is never read."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (rows, columns)})
    return header.getvalue() + bytes(8)


def archive(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            file.writestr(name, data)
    return path


def test_the_size_of_a_matrix_is_known_before_it_is_read(town: Graph, tmp_path: Path, monkeypatch):
    def never(*_, **__):
        raise AssertionError("data was read")

    large = zeros(100_000, 1_000)
    npz = archive(tmp_path / "run.npz", {"scores.npy": large})
    zipped = archive(tmp_path / "run.zip", {"scores.npy": large, "topics.tsv": b"question\n"})
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "scores.npy").write_bytes(large)
    nested = archive(tmp_path / "nested.zip", {"run.npz": npz.read_bytes()})
    open_graph(town)  # kept in memory, so that below only the run is read
    monkeypatch.setattr(np, "load", never)
    for path in (npz, zipped, folder, folder / "scores.npy", nested):
        told = refusal(town, path, MATRIX.name)
        assert "holds 100,000,000 scores; at most 20,000,000 are read. Register the model as a scorer" in told, path
    monkeypatch.setattr(zipfile.ZipFile, "read", never)
    for path in (npz, zipped):
        assert "holds 100,000,000 scores" in refusal(town, path, MATRIX.name)


def test_texts_beside_a_matrix_are_measured_before_they_are_read(town: Graph, tmp_path: Path, monkeypatch):
    monkeypatch.setattr("pooling.runs.adapters.matrix.MOST_HELD", 1_000)
    path = archive(tmp_path / "run.zip", {"scores.npy": zeros(1, 1), "entities.txt": b"a\n" * 500})
    monkeypatch.setattr(zipfile.ZipFile, "read", lambda *_: pytest.fail("data was read"))
    assert "bytes unpacked; at most 1,000 are read. Register the model" in refusal(town, path, MATRIX.name)
