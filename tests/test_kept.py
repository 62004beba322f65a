"""What is kept for the next test is what was made: the same rows and files, under the same numbers."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.conf import settings
from django.db import transaction

from pooling.models import Graph, Pool, PooledTriple
from tests import kept
from tests.factories import make_pool, make_systems, make_town

pytestmark = pytest.mark.django_db


def standing() -> tuple[dict[str, list[tuple]], dict[str, bytes]]:
    root = Path(settings.ARTIFACT_ROOT)
    rows = {table: kept._read(f'SELECT * FROM "{table}" ORDER BY 1') for table in kept._tables()}
    files = [path for path in sorted(root.rglob("*")) if path.is_file()]
    return rows, {path.relative_to(root).as_posix(): path.read_bytes() for path in files}


def test_rows_and_files_are_put_back_and_made_once(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(kept, "_kept", {})
    made: list[str] = []

    def make() -> None:
        made.append("town")
        graph = make_town(tmp_path / "town")
        make_systems(graph)
        make_pool(graph)

    found = []
    for part in ("one", "two"):
        settings.ARTIFACT_ROOT = tmp_path / part
        with transaction.atomic():
            kept.keep("all", make)
            found.append(standing())
            assert PooledTriple.objects.filter(pool=Pool.objects.get()).count() > 20
            transaction.set_rollback(True)
    assert made == ["town"]
    assert found[0] == found[1]
    assert len(found[0][1]) > 5


def test_what_stands_there_already_is_part_of_the_question(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(kept, "_kept", {})
    kept.keep("one", lambda: make_town(tmp_path / "one", "first"))
    kept.keep("one", lambda: make_town(tmp_path / "two", "second"))
    assert list(Graph.objects.order_by("pk").values_list("name", flat=True)) == ["first", "second"]


@pytest.mark.django_db(transaction=True)
def test_outside_of_a_transaction_nothing_is_kept(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(kept, "_kept", {})
    kept.keep("one", lambda: make_town(tmp_path / "one"))
    assert kept._kept == {} and Graph.objects.count() == 1
