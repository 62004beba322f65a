"""The questions pages: the list with its preview, versions, files, missing labels."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotation.models import QuestionTemplate
from annotation.questions.templates import save_template
from pooling.models import PooledTriple, Relation
from tests.annotation.world import label_item
from tests.pages.world import make_world as make_town

QUESTIONS = "/pools/p1/questions"
IMPORT = f"{QUESTIONS}/import"
TEXTS = {
    "relation": "0",
    "statement": "Is {subject} at home in {object}?",
    "tail_question": "Where is {subject} at home?",
    "head_question": "Who is at home in {object}?",
}
NEW = "lived_in\tIs {subject} of {object}?\tOf what is {subject}?\tWhat is of {object}?\n"


@pytest.fixture
def manager(world, as_user) -> Client:
    return as_user(world.manager)


@pytest.fixture
def town(db, tmp_path: Path, as_user) -> Client:
    """The manager of a pool in which one person's name would be a script."""
    return as_user(make_town(tmp_path / "town")["manager"])


def read(client: Client, url: str, data: dict[str, str] | None = None) -> str:
    return client.get(url, data).content.decode()


def more_relations(world, count: int) -> None:
    """One triple to people of each of so many more relations."""
    for index in range(1, count + 1):
        Relation.objects.create(graph=world.pool.graph, index=index, key=f"more {index:02}")
        PooledTriple.objects.create(pool=world.pool, head=0, relation=index, tail=1, depth=1)


def keys(html: str) -> list[str]:
    return re.findall(r'<h2 class="mono break" id="h\d+">([^<]+)</h2>', html)


# -- the list ------------------------------------------------------------------------------------------------


def test_relations_that_people_are_asked_about_most_triples_first(world, manager) -> None:
    more_relations(world, 2)
    Relation.objects.create(graph=world.pool.graph, index=3, key="asked of nobody")
    html = read(manager, QUESTIONS)
    assert keys(html) == ["lived_in", "more 01", "more 02"]
    assert "<strong>6 of 8</strong> triples to people (75 %)" in html
    assert (
        "1 of 3 relations have written questions; those of 2 are made from the relation’s name, "
        f'<a href="{QUESTIONS}?made=odd">2 of them from a name that is no words</a>: write these first.'
    ) in html
    assert "6 triples · N-N" in html


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"made": "name"}, ["more 01", "more 02"]),
        ({"made": "written"}, ["lived_in"]),
        ({"made": "odd"}, ["more 01", "more 02"]),
        ({"q": "LIVED"}, ["lived_in"]),
        ({"q": "more", "made": "written"}, []),
        ({"order": "name"}, ["lived_in", "more 01", "more 02"]),
        ({"made": "nonsense", "order": "nonsense", "offset": "x"}, ["lived_in", "more 01", "more 02"]),
    ],
)
def test_list_is_filtered(world, manager, query: dict[str, str], expected: list[str]) -> None:
    more_relations(world, 2)
    html = read(manager, QUESTIONS, query)
    assert keys(html) == expected
    assert ("No relation is like that." in html) == (not expected)


def test_three_examples_and_others_on_asking(manager) -> None:
    asked = re.compile(r'<p class="(?:large)?">(Has [^<]+ lived in [^<]+\?)</p>')
    first, other, again = (asked.findall(read(manager, QUESTIONS, {"offset": offset})) for offset in ("0", "1", "2"))
    assert len(set(first)) == 3 and len(set(first + other)) == 6
    assert again == first
    assert f'href="{QUESTIONS}?offset=1#r0"' in read(manager, QUESTIONS)
    assert f'href="{QUESTIONS}?q=lived&amp;offset=1#r0"' in read(manager, QUESTIONS, {"q": "lived"})


def test_researcher_reads_and_changes_nothing(world, as_user) -> None:
    client = as_user(world.researcher)
    html = read(client, QUESTIONS)
    assert "Save questions" not in html and "Import TSV" not in html and "Download as TSV" in html
    assert client.post(QUESTIONS, TEXTS).status_code == 403


def test_pool_without_triples_to_people_says_what_to_do(world, manager) -> None:
    PooledTriple.objects.update(reason="types")
    assert "Nobody is asked anything yet" in read(manager, QUESTIONS)


@pytest.mark.parametrize("count", [1, 3])
def test_queries_of_the_list_do_not_grow(world, manager, count: int, django_assert_num_queries) -> None:
    more_relations(world, count - 1)
    read(manager, QUESTIONS)
    with django_assert_num_queries(9):
        assert len(keys(read(manager, QUESTIONS))) == count


# -- saving and its preview ----------------------------------------------------------------------------------


def test_change_is_a_new_version_and_comes_back_to_the_same_list(world, manager) -> None:
    response = manager.post(f"{QUESTIONS}?q=lived&page=1&evil=https://e.example", TEXTS)
    assert (response.status_code, response["Location"]) == (302, f"{QUESTIONS}?q=lived&page=1#r0")
    newest = QuestionTemplate.objects.order_by("-version").first()
    assert (newest.version, newest.statement, newest.created_by) == (2, TEXTS["statement"], world.manager)
    html = read(manager, QUESTIONS)
    assert "Questions of lived_in saved as version 2." in html
    assert len(re.findall(r"Is Person \d+ at home in City \d\?", html)) == 3


def test_refused_change_stays_on_the_page(manager) -> None:
    bad = TEXTS | {"tail_question": "Where <b>?"}
    html = manager.post(f"{QUESTIONS}?q=nothing", bad).content.decode()
    assert "the tail question has no {subject}" in html
    assert 'value="Where &lt;b&gt;?"' in html
    assert keys(html) == ["lived_in"]  # although the filter would hide it
    assert QuestionTemplate.objects.count() == 1


def test_preview_reads_with_several_real_names_and_saves_nothing(manager) -> None:
    html = read(manager, QUESTIONS, TEXTS | {"part": "preview"})
    assert len(re.findall(r"Is Person \d+ at home in City \d\?", html)) == 3
    assert len(re.findall(r"Who is at home in City \d\?", html)) == 3
    assert "<html" not in html and QuestionTemplate.objects.filter(version=2).count() == 0
    other = read(manager, QUESTIONS, TEXTS | {"part": "preview", "offset": "1"})
    assert other != html and '<input type="hidden" name="offset" value="1">' in other


def test_preview_says_what_is_wrong(manager) -> None:
    html = read(manager, QUESTIONS, TEXTS | {"part": "preview", "statement": "{subject} {name}"})
    assert "the statement has no {object}" in html and "braces other than" in html


@pytest.mark.parametrize("statement", ["<b>{subject}</b> {object}", "<script>{object}{subject}</script>"])
def test_preview_and_names_are_escaped(town, statement: str) -> None:
    for offset in ("0", "1"):
        data = TEXTS | {"part": "preview", "statement": statement, "offset": offset}
        html = read(town, "/pools/town-pool/questions", data)
        assert re.findall(r"<(?!/?(?:input|ul|li|p|a)\b)[^>]*>", html) == []
        assert statement.replace("{subject}", "").replace("{object}", "") not in unescape(html)
        shown = re.findall(r'<p class="large">([^<]*)</p>', html)
        assert len(shown) == 1 and unescape(shown[0]).startswith(statement[:3])
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in read(town, "/pools/town-pool/questions")


@pytest.mark.parametrize("relation", ["", "x", "99", "-1", "9" * 30])
def test_unknown_relation_is_404(manager, relation: str) -> None:
    assert manager.post(QUESTIONS, TEXTS | {"relation": relation}).status_code == 404


# -- versions ------------------------------------------------------------------------------------------------


def test_versions_of_a_relation_with_their_labels(world, manager) -> None:
    label_item(world, world.campaign.items.first(), ann="Y")
    save_template(world.pool.graph.relations.get(), "{subject} & {object}?", "{subject}?", "{object}?", world.manager)
    html = read(manager, f"{QUESTIONS}/0")
    rows = re.findall(r'<tr><th scope="row">(\d+)</th>.*?<td class="number">(\d+)</td></tr>', html)
    assert rows == [("2", "0"), ("1", "1")]
    assert "{subject} &amp; {object}?" in html and "<td>manager</td>" in html
    assert manager.get(f"{QUESTIONS}/7").status_code == 404


@pytest.mark.parametrize("count", [1, 3])
def test_queries_of_the_versions_do_not_grow(world, manager, count: int, django_assert_num_queries) -> None:
    for n in range(1, count):
        save_template(world.pool.graph.relations.get(), f"{n} {{subject}} {{object}}?", "{subject}?", "{object}?")
    read(manager, f"{QUESTIONS}/0")
    with django_assert_num_queries(9):
        assert read(manager, f"{QUESTIONS}/0").count('<tr><th scope="row">') == count


# -- files ---------------------------------------------------------------------------------------------------


def upload(raw: bytes, name: str = "my.tsv") -> dict[str, SimpleUploadedFile]:
    return {"file": SimpleUploadedFile(name, raw)}


def test_download_is_the_file_that_comes_back(world, manager) -> None:
    Relation.objects.create(graph=world.pool.graph, index=1, key="other")
    response = manager.get(f"{QUESTIONS}.tsv")
    assert response["Content-Type"] == "text/tab-separated-values; charset=utf-8"
    assert response["Content-Disposition"] == 'attachment; filename="p1-relation_templates.tsv"'
    assert response.content.decode().split("\t")[0] == "lived_in"
    assert response.content.count(b"\n") == 1
    whole = manager.get(f"{QUESTIONS}.tsv", {"of": "graph"})
    assert whole["Content-Disposition"] == 'attachment; filename="small-relation_templates.tsv"'
    assert whole.content.count(b"\n") == 2
    assert "Nothing changes" in manager.post(IMPORT, upload(whole.content)).content.decode()


def test_import_shows_what_changes_and_then_changes_it(world, manager) -> None:
    html = manager.post(IMPORT, upload(NEW.encode(), "<b>.tsv")).content.decode()
    assert "<strong>&lt;b&gt;.tsv</strong> changes the questions of 1 relation." in html
    assert "− Has {subject} lived in {object}?" in html and "+ Is {subject} of {object}?" in html
    assert QuestionTemplate.objects.filter(version=2).count() == 0
    text = unescape(re.search(r'name="text" value="([^"]*)"', html)[1])
    response = manager.post(IMPORT, {"text": text, "file_name": "my.tsv"})
    assert (response.status_code, response["Location"]) == (302, QUESTIONS)
    saved = QuestionTemplate.objects.get(version=2)
    assert (saved.statement, saved.created_by) == ("Is {subject} of {object}?", world.manager)
    assert "1 relation has new questions." in read(manager, QUESTIONS)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({}, "Choose a file."),
        (upload(b""), "The submitted file is empty."),
        (upload(b"x" * 1_048_577), "The file has 1,048,577 bytes: at most 1,048,576 are taken."),
        (upload(NEW.encode() + b"nope\ta\tb\tc\n"), "my.tsv:2: the graph does not have relation &#x27;nope&#x27;"),
        (upload(b"\xff\xfe"), "my.tsv:1: is not UTF-8; save the file as UTF-8."),
        (upload(b"<b>\tc\n", "../../<i>.tsv"), "&lt;i&gt;.tsv:1: has 2 columns"),
        ({"text": "lived_in\tno\tno\tno\n", "file_name": "my.tsv"}, "my.tsv:1: the statement has no"),
    ],
)
def test_import_that_is_refused_changes_nothing(manager, data, message: str) -> None:
    for value in data.values():
        if isinstance(value, SimpleUploadedFile):
            value.seek(0)
    html = manager.post(IMPORT, data).content.decode()
    assert message in html and "Show what it changes" in html
    assert QuestionTemplate.objects.filter(version=2).count() == 0


def test_file_of_the_largest_size_is_read(manager) -> None:
    raw = NEW.encode() + b"\n" * (1_048_576 - len(NEW))
    html = manager.post(IMPORT, upload(raw)).content.decode()
    assert "changes the questions of 1 relation." in html


# -- missing labels ------------------------------------------------------------------------------------------


def test_every_label_is_there(manager) -> None:
    assert "Every entity in them has a label." in read(manager, QUESTIONS)
    assert "None is missing" in read(manager, f"{QUESTIONS}/missing-labels")


def test_missing_labels_are_listed_and_downloaded(world, manager, monkeypatch) -> None:
    from annotation.questions.review import MissingLabel
    from annotation.views import question_files, questions

    rows = [MissingLabel("=<b>1", 4), *(MissingLabel(f"q{n}", 1) for n in range(200))]
    for module in (questions, question_files):
        monkeypatch.setattr(module, "missing_labels", lambda pool: rows)
    assert "201 entities without a label" in read(manager, QUESTIONS)
    html = read(manager, f"{QUESTIONS}/missing-labels")
    assert html.count('<tr><th scope="row"') == 200
    assert '<th scope="row" class="mono break">=&lt;b&gt;1</th><td class="number">4</td>' in html
    assert "the first 200 are here, the file has all" in html
    lines = read(manager, f"{QUESTIONS}/missing-labels", {"as": "tsv"}).splitlines()
    assert (len(lines), lines[0], lines[-1]) == (201, "=<b>1\t4", "q199\t1")
