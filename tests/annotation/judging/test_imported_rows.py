"""Rows of imported labels and their judgements: the same as Django would write, on both databases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from annotation.judging.judgements import majority
from annotation.judging.label_file import LabelLine, read_label_file
from annotation.judging.label_import import import_labels
from annotation.models import ImportedLabel, Judgement
from core import clock
from core.database import insert_rows
from core.errors import UserError
from pooling.graphs.opening import open_graph
from pooling.models import Pool, PooledTriple
from tests.annotation.factories import make_graph, make_pool
from tests.evaluation.test_sets.test_hostile_texts import TEXTS
from tests.postgres import printed_on_postgres

PROGRAM = """
import django, json, sys
django.setup()
from pathlib import Path
from tests.annotation.judging.test_imported_rows import cut_short, nul_refused, stored
print(json.dumps([stored(Path(sys.argv[1])), cut_short(Path(sys.argv[1])), nul_refused()]))
"""
FIELDS = ("annotator", "source_url", "passage", "labelled_at", "side", "question_version", "cause")


def stored(folder: Path) -> dict[str, list[Any]]:
    """Import a line of each hostile text, then write the same lines with bulk_create; the rows of both."""
    pool = make_pool(make_graph(folder / "graph"))
    graph = open_graph(pool.graph)
    triples = list(pool.triples.order_by("pk"))
    path = folder / "labels.jsonl"
    with path.open("w") as file:
        for i, text in enumerate(TEXTS):
            triple = triples[i % len(triples)]
            key = {"head": graph.entities[triple.head], "relation": "lived_in", "tail": graph.entities[triple.tail]}
            more = (
                {"at": "2026-01-02T03:04:05.678901+02:00", "side": "head", "question_version": i + 1} if i % 2 else {}
            )
            told = {"annotator": text[:150], "passage": text, "evidence": f"https://example.org/{text}", **more}
            file.write(json.dumps({**key, "label": "YN?"[i % 3], **told}) + "\n")
    assert import_labels(pool, path).imported == len(TEXTS)
    ids = {(triple.head, triple.relation, triple.tail): triple.pk for triple in triples}
    lines = [line for line in read_label_file(path, graph) if isinstance(line, LabelLine)]
    ImportedLabel.objects.bulk_create(
        ImportedLabel(
            triple_id=ids[line.triple],
            line=line.line,
            answer=line.answer,
            file_name=path.name,
            file_sha256="other",
            **{name: getattr(line, name) for name in FIELDS},
        )
        for line in lines
    )
    answers: dict[int, list[str]] = {}
    for line in lines:
        answers.setdefault(ids[line.triple], []).append(line.answer)
    columns = ("triple", "line", "answer", "file_name", *FIELDS)
    rows = ImportedLabel.objects.order_by("pk").values_list(*columns)
    as_text = [[str(value) for value in row] for row in rows]
    now = clock.now()
    assert all(
        abs((now - at).total_seconds()) < 60 for at in ImportedLabel.objects.values_list("created_at", flat=True)
    )
    judged = Judgement.objects.order_by("pk").values_list("triple", "verdict", "origin", "pool")
    return {
        "imported": as_text[: len(TEXTS)],
        "created": as_text[len(TEXTS) :],
        "passages": [row[columns.index("passage")] for row in as_text[: len(TEXTS)]],
        "judged": [list(row) for row in judged],
        "expected": [[pk, majority(of), "import", pool.pk] for pk, of in sorted(answers.items())],
    }


def nul_refused() -> str:
    """Insert a row with a NUL; the name of the error."""
    triple = PooledTriple.objects.earliest("pk").pk
    fields = ("triple", "line", "answer", "annotator", "source_url", "passage", "side", "cause", "file_name")
    row = (triple, 99, "Y", "a\0b", "", "", "", "", "f", "x", clock.now())
    try:
        insert_rows(ImportedLabel, (*fields, "file_sha256", "created_at"), [row])
    except Exception as error:
        return f"{type(error).__module__}.{type(error).__name__}"
    return "none"


def cut_short(folder: Path) -> tuple[str, int]:
    """Import a file whose last line is not UTF-8; the error, and how many rows there are more."""
    path, before, pool = folder / "cut.tsv", ImportedLabel.objects.count(), Pool.objects.get()
    triple, graph = pool.triples.earliest("pk"), open_graph(pool.graph)
    line = f"{graph.entities[triple.head]}\tlived_in\t{graph.entities[triple.tail]}\tY\n".encode()
    path.write_bytes(line * 2 + b"\xff\n")
    with pytest.raises(UserError) as caught:
        import_labels(pool, path)
    return str(caught.value), ImportedLabel.objects.count() - before


CUT_SHORT = ("cut.tsv:3: is not UTF-8; save the file as UTF-8.", 0)


def check(found: dict[str, list[Any]]) -> None:
    assert found["imported"] == found["created"]
    assert found["passages"] == [text.strip() for text in TEXTS]
    assert found["judged"] == found["expected"]


@pytest.mark.django_db
def test_imported_rows_are_those_that_django_would_write(tmp_path: Path):
    check(stored(tmp_path))
    assert cut_short(tmp_path) == CUT_SHORT


@pytest.mark.postgres
def test_postgresql_copies_the_same_rows_and_refuses_nul(tmp_path: Path, migrated_postgres: str):
    found, cut, error = json.loads(printed_on_postgres(PROGRAM, str(tmp_path), like=migrated_postgres, var=tmp_path))
    check(found)
    assert tuple(cut) == CUT_SHORT
    assert error == "django.db.utils.DataError"
