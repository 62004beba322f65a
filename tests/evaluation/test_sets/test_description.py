"""test_set.json of an archive that somebody changed: each strange value is refused in words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.errors import UserError
from evaluation.labels.qrels import freeze_qrels
from evaluation.models import Qrels
from evaluation.test_sets.archive import NAME
from evaluation.test_sets.description import read_description
from evaluation.test_sets.export import export_test_set
from evaluation.test_sets.restore import restore_test_set
from pooling.models import Graph, Pool
from tests.evaluation.test_sets.test_restore import counts, spoiled

WRONG = [
    (("format",), 2, "is of format 2, which this version does not know"),
    (("created_at",), "yesterday", "cannot be read"),
    (("terms", 0, "url"), "javascript:alert(1)", "is not an address"),
    (("terms", 0, "creators"), [{"name": "Ada", "orcid": "1"}], "is not an ORCID iD"),
    (("terms", 0, "creators"), [{"name": 3, "orcid": ""}], "cannot be read"),
    (("terms", 0, "licence"), "x" * 201, "the licence is too long"),
    (("terms", 0, "version"), "one", "cannot be read"),
    (("terms", 0), None, "cannot be read"),
    (("pool", "contributors"), [1], "contributors is not what export_test_set writes"),
    (("pool", "filters"), "none", "filters is not what export_test_set writes"),
    (("pool", "depth"), "5", "a depth or seed is not a whole number"),
    (("pool", "rule"), "raw?", "cannot be read"),
    (("systems", 0, "family"), {}, "family is not what export_test_set writes"),
    (("systems", 0, "seed"), -1, "a depth or seed is not a whole number"),
    (("systems", 0, "name"), "../x", "System name '../x'"),
    (("qrels",), "a/b", "use letters, digits, - and _"),
    (("name",), "a/b", "use letters, digits, - and _"),
    (("graph",), "a/b", "use letters, digits, - and _"),
]


@pytest.fixture
def folder(labelled: Pool, tmp_path: Path) -> Path:
    export_test_set(freeze_qrels(labelled, "v1"), tmp_path / "out")
    return tmp_path / "out"


def test_each_strange_value_is_refused_and_leaves_nothing(folder: Path):
    text = (folder / NAME).read_text(encoding="utf-8")
    assert read_description(folder, "mine.zip").qrels == "v1"
    before = counts()
    for path, value, why in WRONG:
        told = json.loads(text)
        at = told
        for step in path[:-1]:
            at = at[step]
        at[path[-1]] = value
        spoiled(folder, NAME, json.dumps(told).encode())
        names = {key: other for key, other in (("name", "q"), ("graph_name", "g")) if path != (key.split("_")[0],)}
        with pytest.raises(UserError) as caught:
            restore_test_set(folder, **names)
        assert why in str(caught.value), path
        assert counts() == before, path
    assert (Graph.objects.count(), Qrels.objects.count()) == (1, 1)


def test_a_description_that_is_a_folder_is_told_without_its_path(folder: Path):
    (folder / NAME).unlink()
    (folder / NAME).mkdir()
    with pytest.raises(UserError) as caught:
        read_description(folder, "mine.zip")
    assert str(caught.value).startswith(f"{NAME} cannot be read (Is a directory): ")
