"""The registry of forms: its table in docs/pooling.md, and files that are in none of them."""

from __future__ import annotations

import io
import json
import re
import zipfile
from pathlib import Path

import numpy as np
import pytest
from django.conf import settings
from numpy.lib.format import write_array_header_1_0

from pooling.graphs.opening import open_graph
from pooling.models import Graph
from pooling.runs.adapters.registry import ADAPTERS
from pooling.runs.imports import import_run
from pooling.runs.trec_read import TrecError


def test_the_table_of_the_docs_is_the_registry():
    text = (Path(settings.BASE_DIR) / "docs" / "pooling.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \| (.+) \|$", text.split("### Forms of runs")[1], re.M)
    assert rows == [(one.name, one.title, one.content) for one in ADAPTERS.values()]


def test_a_form_that_does_not_exist_and_a_folder_of_none_are_refused(town: Graph, tmp_path: Path):
    with pytest.raises(TrecError, match="Unknown form 'xml': give auto, pykeen, parquet"):
        import_run(town, tmp_path, name="x", form="xml")
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "notes.md").write_text("nothing")
    with pytest.raises(TrecError, match="Known formats: pykeen, parquet"):
        import_run(town, tmp_path / "own", name="x")


def test_a_damaged_archive_is_refused(town: Graph, tmp_path: Path):
    with zipfile.ZipFile(tmp_path / "run.zip", "w") as archive:
        archive.writestr("scores.npy", b"0")
    content = (tmp_path / "run.zip").read_bytes()
    (tmp_path / "run.zip").write_bytes(content.replace(b"PK\x01\x02", b"PK\x01\x00"))
    with pytest.raises(TrecError, match=r"run\.zip: is a damaged zip archive"):
        import_run(town, tmp_path / "run.zip", name="x")


def test_arrays_in_an_archive_are_bounded_and_damaged_ones_refused(town: Graph, tmp_path: Path):
    inner, header = io.BytesIO(), io.BytesIO()
    np.savez_compressed(inner, scores=np.zeros(1_000_000))
    with zipfile.ZipFile(tmp_path / "run.zip", "w") as archive:
        archive.writestr("run.npz", inner.getvalue())
    with pytest.raises(TrecError, match=r"holds 8,000,[0-9]+ bytes unpacked; at most 1,000,000"):
        import_run(town, tmp_path / "run.zip", name="x", max_bytes=1_000_000)
    write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**13, 10)})
    wrong = {b"": "cannot be read as numpy arrays", header.getvalue(): "holds 100,000,000,000,000 scores"}
    for content, words in wrong.items():
        (tmp_path / "scores.npy").write_bytes(content)
        with pytest.raises(TrecError, match=words):
            import_run(town, tmp_path / "scores.npy", name="x")


@pytest.mark.parametrize("changed", [{"head": 3}, {"topk_score_info": "{"}, {"topk_score_info": '{"a": "b"}'}, None])
def test_an_entry_of_simkgc_that_is_none_is_refused(town: Graph, tmp_path: Path, changed: dict | None):
    graph = open_graph(town)
    head, relation, tail = graph.test[0]
    words = {"head": graph.label(head), "relation": graph.relations[relation], "tail": graph.label(tail)}
    entry = words | {"topk_score_info": json.dumps({words["tail"]: 0.5}), "rank": 1}
    (tmp_path / "run.json").write_text(json.dumps([entry, entry | changed if changed else {}]))
    with pytest.raises(TrecError, match="an entry lacks head, relation, tail, topk_score_info"):
        import_run(town, tmp_path / "run.json", name="x")
