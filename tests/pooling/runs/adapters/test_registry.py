"""The registry of forms: its table in docs/pooling.md, and files that are in none of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings

from pooling.models import Graph
from pooling.runs.adapters.registry import ADAPTERS
from pooling.runs.imports import import_run
from pooling.runs.trec_read import TrecError


def test_the_table_of_the_docs_is_the_registry():
    text = (Path(settings.BASE_DIR) / "docs" / "pooling.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \| (.+) \|$", text.split("### Forms of runs")[1], re.M)
    assert rows == [(one.name, one.title, one.content) for one in ADAPTERS.values()]


def test_a_form_that_does_not_exist_and_a_folder_of_none_are_refused(town: Graph, tmp_path: Path):
    with pytest.raises(TrecError, match="Unknown form 'xml': give auto, parquet, pykeen"):
        import_run(town, tmp_path, name="x", form="xml")
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "notes.md").write_text("nothing")
    with pytest.raises(TrecError, match="is in none of the forms parquet, pykeen"):
        import_run(town, tmp_path / "own", name="x")
