import gzip
import json
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from annotation.judging.judgements import current_verdicts, decide, decision_times, labels_version, majority
from annotation.judging.label_import import import_labels
from annotation.models import ImportedLabel, Item, Judgement
from core.errors import UserError
from pooling.graphs.opening import open_graph
from pooling.models import PooledTriple
from tests.annotation.factories import label_item


@pytest.fixture
def keys(world) -> list[tuple[str, str, str]]:
    """Keys of the pooled triples, in order; the last one was filtered."""
    names = open_graph(world.pool.graph).entities
    return [(names[t.head], "lived_in", names[t.tail]) for t in PooledTriple.objects.order_by("id")]


def write(tmp_path, lines: list[str], name: str = "labels.tsv"):
    path = tmp_path / name
    text = "".join(line + "\n" for line in lines).encode()
    path.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    return path


def row(key: tuple[str, str, str], *rest: str) -> str:
    return "\t".join([*key, *rest])


def verdicts() -> dict[int, tuple[str, str]]:
    return {j.triple_id: (j.verdict, j.origin) for j in Judgement.objects.all()}


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ({}, ("open", None)),
        ({2: "N"}, ("open", None)),
        ({1: "Y", 2: "Y"}, ("settled", "positive")),
        ({1: "Y", 2: "N"}, ("disputed", None)),
        ({1: "?", 2: "?"}, ("disputed", None)),
        ({1: "Y", 2: "Y", 3: "N"}, ("settled", "negative")),
        ({1: "Y", 2: "N", 3: "?"}, ("undecided", "undecided")),
    ],
)
def test_decide(answers, expected) -> None:
    assert decide(answers) == expected


@pytest.mark.parametrize(
    ("answers", "expected"),
    [("Y", "positive"), ("NYN", "negative"), ("YN", "undecided"), ("?", "undecided"), ("?Y", "positive")],
)
def test_majority(answers, expected) -> None:
    assert majority(answers) == expected


@pytest.mark.parametrize("name", ["labels.tsv", "labels.tsv.gz"])
def test_import_judges_and_names_every_irregular_line(world, keys, tmp_path, name) -> None:
    path = write(
        tmp_path,
        [
            row(keys[0], "Y"),
            row(keys[1], "N", "ann", "https://en.wikipedia.org/wiki/X", "2020-01-02T03:04:05"),
            row(keys[2], " N"),
            row(keys[0], "Y"),
            row(keys[3], ""),
            row(keys[6], "Y"),
            row(("p1", "lived_in", "c7"), "Y"),
            row(("p5", "lived_in", "c0"), "Y"),
            row(("nobody", "lived_in", "c0"), "Y"),
            row(keys[4], "maybe"),
            "p1\tlived_in",
            row(keys[4], "N", "x", "", "yesterday"),
        ],
        name,
    )
    report = import_labels(world.pool, path)
    assert (report.read, report.imported, report.known) == (12, 5, 0)
    assert (report.positive, report.negative, report.undecided) == (2, 2, 0)
    assert [tuple(line) for line in report.skipped] == [
        (5, "has no label"),
        (7, "is a seed triple, positive by definition"),
        (8, "is a triple outside pool p1"),
        (9, "the graph does not have head 'nobody'"),
        (10, "label 'maybe' is not one of Y, N, ?, 1, 0, -1, positive, negative"),
        (11, "has 2 columns where 4 to 7 are expected"),
        (12, "time 'yesterday' is not in ISO format"),
    ]
    assert [tuple(line) for line in report.notes] == [
        (3, "label ' N' has a stray space"),
        (4, "is another label of the triple of line 1"),
        (6, "labels a triple that filter types took; the label counts"),
    ]
    ids = list(PooledTriple.objects.order_by("id").values_list("id", flat=True))
    expected = {ids[0]: "positive", ids[1]: "negative", ids[2]: "negative", ids[6]: "positive"}
    assert verdicts() == {pk: (verdict, "import") for pk, verdict in expected.items()}
    second = ImportedLabel.objects.get(line=2)
    assert (second.annotator, second.source_url, second.labelled_at.isoformat()) == (
        "ann",
        "https://en.wikipedia.org/wiki/X",
        "2020-01-02T03:04:05+00:00",
    )


@pytest.mark.parametrize(
    ("word", "verdict"), [("1", "positive"), ("positive", "positive"), ("0", "negative"), ("negative", "negative")]
)
def test_labels_may_be_numbers_or_words(world, keys, tmp_path, word: str, verdict: str) -> None:
    report = import_labels(world.pool, write(tmp_path, [row(keys[0], word), row(keys[1], "-1")]))
    assert (report.positive + report.negative, report.undecided) == (1, 1)
    assert {verdict for verdict, _ in verdicts().values()} >= {verdict}


def test_labels_of_a_test_set_are_json_lines(world, keys, tmp_path) -> None:
    def told(key: tuple[str, ...], **more: object) -> str:
        return json.dumps({**dict(zip(("head", "relation", "tail"), key, strict=True)), **more})

    url = "https://en.wikipedia.org/wiki/X"
    lines = [
        told(keys[0], label="Y", role="annotator", annotator="p-1", at="2026-01-02T03:04:05Z", active_ms=7),
        told(keys[1], label="N", at=None, evidence=url, passage=" She did. ", side="head", question_version=2),
        "{",
        "[1]",
        told(keys[2], label=1),
        told(keys[2], label="Y", at=5),
        told(keys[2], label="perhaps"),
        told(keys[2], label="Y", passage="x" * 1001),
        told(keys[2], label="Y", side="head"),
        told(keys[2], label="Y", side="left", question_version=1),
        told(keys[2], label="Y", cause="bored"),
        told(keys[2], label="Y", cause="dated"),
    ]
    path = tmp_path / "labels.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    report = import_labels(world.pool, path)
    assert (report.imported, report.positive, report.negative) == (4, 2, 1)
    assert [tuple(line) for line in report.notes] == [
        (11, "cause 'bored' is not one of entity, source, dated, misread: left out; the label counts"),
        (12, "is another label of the triple of line 11"),
    ]
    assert [tuple(line) for line in report.skipped] == [
        (3, "is not JSON"),
        (4, "is not a JSON object"),
        (5, "has no text under label"),
        (6, "has something else than text under at"),
        (7, "label 'perhaps' is not one of Y, N, ?, 1, 0, -1, positive, negative"),
        (8, "has a passage of 1001 characters, more than 1000"),
        *((line, "has no side (head or tail) with a question_version from 1") for line in (9, 10)),
    ]
    columns = ("answer", "annotator", "source_url", "passage", "labelled_at", "side", "question_version", "cause")
    kept = list(ImportedLabel.objects.order_by("line").values_list(*columns))
    at = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert kept == [
        ("Y", "p-1", "", "", at, "", None, ""),
        ("N", "", url, "She did.", None, "head", 2, ""),
        ("Y", "", "", "", None, "", None, ""),
        ("Y", "", "", "", None, "", None, "dated"),
    ]


def test_import_again_adds_nothing(world, keys, tmp_path) -> None:
    path = write(tmp_path, [row(keys[0], "Y"), row(keys[1], "N")])
    import_labels(world.pool, path)
    version = labels_version(world.pool)
    report = import_labels(world.pool, path)
    assert (report.imported, report.known, ImportedLabel.objects.count()) == (0, 2, 2)
    assert labels_version(world.pool) == version


def test_another_file_may_turn_the_majority(world, keys, tmp_path) -> None:
    import_labels(world.pool, write(tmp_path, [row(keys[0], "Y")]))
    version = labels_version(world.pool)
    import_labels(world.pool, write(tmp_path, [row(keys[0], "N"), row(keys[0], "N")], "more.tsv"))
    assert [verdict for verdict, _ in verdicts().values()] == ["negative"]
    assert labels_version(world.pool) > version


def test_a_decision_that_is_written_after_a_later_one_changes_the_version(world, keys, tmp_path) -> None:
    import_labels(world.pool, write(tmp_path, [row(keys[0], "Y"), row(keys[1], "N")]))
    version = labels_version(world.pool)
    first = Judgement.objects.order_by("decided_at", "pk").first()
    assert first is not None
    between = first.decided_at - timedelta(seconds=1)
    Judgement.objects.filter(pk=first.pk).update(verdict="negative", decided_at=between)
    assert labels_version(world.pool) != version


def test_people_win_over_imports_whoever_came_first(world, keys, tmp_path) -> None:
    first, second = (Item.objects.get(triple=t) for t in PooledTriple.objects.order_by("id")[:2])
    import_labels(world.pool, write(tmp_path, [row(keys[0], "N")]))
    label_item(world, first, ann="Y", ben="Y")
    label_item(world, second, ann="Y", ben="Y")
    import_labels(world.pool, write(tmp_path, [row(keys[1], "N")], "more.tsv"))
    assert verdicts() == {item.triple_id: ("positive", "people") for item in (first, second)}


def test_dispute_of_people_leaves_the_import_in_place(world, keys, tmp_path) -> None:
    item = Item.objects.get(triple=PooledTriple.objects.order_by("id").first())
    import_labels(world.pool, write(tmp_path, [row(keys[0], "N")]))
    label_item(world, item, ann="Y", ben="N")
    assert verdicts() == {item.triple_id: ("negative", "import")}


def test_file_that_is_not_there_is_named(world, tmp_path) -> None:
    with pytest.raises(UserError, match=r"none\.tsv"):
        import_labels(world.pool, tmp_path / "none.tsv")


def test_current_verdicts_are_arrays_by_triple_id(world, keys, tmp_path) -> None:
    assert labels_version(world.pool) == ""
    import_labels(world.pool, write(tmp_path, [row(keys[1], "N"), row(keys[0], "Y"), row(keys[2], "?")]))
    found = current_verdicts(world.pool)
    ids = list(PooledTriple.objects.order_by("id").values_list("id", flat=True)[:3])
    assert found.triple_id.tolist() == ids
    assert found.verdict.tolist() == ["positive", "negative", "undecided"]
    triple_id, decided_at = decision_times(world.pool)
    assert triple_id.tolist() == ids and decided_at.dtype == np.dtype("datetime64[us]")
    stored = Judgement.objects.order_by("triple_id").values_list("decided_at", flat=True)
    assert decided_at.tolist() == [at.replace(tzinfo=None) for at in stored]
