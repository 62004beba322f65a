"""Question templates as files: out, changed, in again; all or nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotation.models import QuestionTemplate
from annotation.questions.templates import current_template, read_templates, save_changes, save_template, templates_tsv
from core.files.lines import LinesError
from core.models import AuditEntry
from pooling.models import Graph, Relation
from pooling.questions.templates import TemplateError

GIVEN = "lived_in\tHas {subject} lived in {object}?\tWhere has {subject} lived?\tWho has lived in {object}?\n"
NEW = "lived_in\tIs {subject} of {object}?\tOf what is {subject}?\tWhat is of {object}?\n"


@pytest.fixture
def two(graph: Graph) -> Graph:
    """The graph with a relation that no file and no pool has words for."""
    Relation.objects.create(graph=graph, index=1, key="=works for")
    return graph


def test_tsv_has_the_newest_texts_as_they_are(two: Graph) -> None:
    works = two.relations.get(index=1)
    assert templates_tsv(two).startswith(f"{GIVEN}=works for\tDoes ")
    save_template(works, "=1+1 {subject} {object}", "+{subject}", "@{object}")
    assert templates_tsv(two).splitlines()[1] == "=works for\t=1+1 {subject} {object}\t+{subject}\t@{object}"


def test_tsv_of_a_pool_has_the_relations_that_people_are_asked_about(world) -> None:
    graph = world.pool.graph
    Relation.objects.create(graph=graph, index=1, key="other")
    assert templates_tsv(graph, world.pool) == GIVEN
    assert [line.split("\t")[0] for line in templates_tsv(graph).splitlines()] == ["lived_in", "other"]


def test_exported_file_comes_back_and_changes_nothing(two: Graph) -> None:
    save_template(two.relations.get(index=1), '"{subject}" & {object}', "'{subject}", "-{object}")
    assert read_templates(two, templates_tsv(two).encode(), "t.tsv") == []
    assert read_templates(two, b"\xef\xbb\xbf" + templates_tsv(two).replace("\n", "\r\n").encode(), "t.tsv") == []


def test_import_takes_the_whole_file_or_nothing(graph: Graph, tmp_path: Path) -> None:
    file = tmp_path / "t.tsv"
    file.write_text(NEW + "nope\ta\tb\tc\n")
    with pytest.raises(TemplateError, match=r"t.tsv:2: the graph does not have relation 'nope'"):
        save_changes(graph, read_templates(graph, file.read_bytes(), file.name))
    assert QuestionTemplate.objects.filter(version=2).count() == 0
    file.write_text(NEW)
    assert save_changes(graph, read_templates(graph, file.read_bytes(), file.name)) == 1
    assert current_template(graph.relations.get(index=0)).statement == "Is {subject} of {object}?"
    assert save_changes(graph, read_templates(graph, file.read_bytes(), file.name)) == 0
    assert AuditEntry.objects.filter(act="questions-imported").count() == 1


def test_every_bad_line_is_named(graph: Graph) -> None:
    raw = (
        f"{NEW}\n"
        "lived_in\t{subject} {object}\t{subject}\t{object}\n"
        "nope\ta\tb\tc\n"
        "lived_in\tonly two\n"
        "lived_in\t\t\t\n"
    )
    with pytest.raises(TemplateError) as refused:
        read_templates(graph, raw.encode(), "my.tsv")
    assert str(refused.value).splitlines() == [
        "my.tsv:3: repeats relation 'lived_in'",
        "my.tsv:4: the graph does not have relation 'nope'",
        "my.tsv:5: has 2 columns where relation, statement, tail question, head question are 4",
        "my.tsv:6: repeats relation 'lived_in'",
        "Correct the file; no question was changed.",
    ]


@pytest.mark.parametrize(
    ("raw", "error", "message"),
    [
        (b"lived_in\t\xff\t\t\n", LinesError, r"t.tsv:1: is not UTF-8"),
        (NEW.encode("utf-16"), LinesError, r"t.tsv:1: is not UTF-8"),
        (b"lived_in\t{subject}\t{subject}\t{object}\n", TemplateError, r"the statement has no \{object\}"),
        (b"lived_in\t{subject} {object} \x01\t{subject}\t{object}\n", TemplateError, "control character"),
        (b"lived_in\t{subject} {object} {{x}}\t{subject}\t{object}\n", TemplateError, "braces other than"),
    ],
)
def test_file_that_cannot_be_taken(graph: Graph, raw: bytes, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        read_templates(graph, raw, "t.tsv")
    assert QuestionTemplate.objects.filter(version=2).count() == 0


def test_changes_are_saved_together_with_one_entry(world) -> None:
    two = world.pool.graph
    Relation.objects.create(graph=two, index=1, key="=works for")
    raw = NEW + "=works for\tIs {subject} at {object}?\tWhere is {subject}?\tWho is at {object}?\n"
    changes = read_templates(two, raw.encode(), "t.tsv")
    assert [(change.relation.key, change.newest.version) for change in changes] == [("lived_in", 1), ("=works for", 1)]
    assert QuestionTemplate.objects.filter(version=2).count() == 0
    assert save_changes(two, changes, by=world.manager, pool=world.pool) == 2
    assert list(QuestionTemplate.objects.filter(version=2).values_list("statement", "is_default", "created_by")) == [
        ("Is {subject} of {object}?", False, world.manager.pk),
        ("Is {subject} at {object}?", False, world.manager.pk),
    ]
    entry = AuditEntry.objects.get(act="questions-imported")
    assert (entry.person, entry.about, entry.details) == (world.manager, "2 relations of graph small", {"n": 2})


def test_changes_that_somebody_else_overtook_are_not_saved(two: Graph) -> None:
    raw = NEW + "=works for\tIs {subject} at {object}?\tWhere is {subject}?\tWho is at {object}?\n"
    changes = read_templates(two, raw.encode(), "t.tsv")
    save_template(two.relations.get(index=1), "{subject}, {object}?", "{subject}?", "{object}?")
    with pytest.raises(TemplateError, match="Somebody else changed these questions"):
        save_changes(two, changes)
    assert QuestionTemplate.objects.filter(version=2).count() == 1
    assert AuditEntry.objects.filter(act="questions-imported").count() == 0
