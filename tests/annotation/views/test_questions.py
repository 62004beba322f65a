"""The questions pages: the list with its preview, versions, files, missing labels."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotation.models import QuestionTemplate
from annotation.questions.reading import mark_read
from annotation.questions.templates import read_templates, save_template
from annotation.views import told
from pooling.models import PooledTriple, Relation
from pooling.questions.templates import check_template
from tests.annotation.factories import label_item, more_relations
from tests.page import codes, numbers, refusal
from tests.page import read as read_page
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
def town(db, tmp_path: Path, as_user) -> Client:
    """The manager of a pool in which one person's name would be a script."""
    return as_user(make_town(tmp_path / "town")["manager"])


def read(client: Client, url: str, data: dict[str, str] | None = None) -> str:
    return client.get(url, data).content.decode()


def keys(html: str) -> list[str]:
    return read_page(html).texts("key")


# -- the list ------------------------------------------------------------------------------------------------


def test_relations_that_people_are_asked_about_most_triples_first(world, manager) -> None:
    more_relations(world, 2)
    Relation.objects.create(graph=world.pool.graph, index=3, key="asked of nobody")
    html = read(manager, QUESTIONS)
    assert keys(html) == ["lived_in", "more 01", "more 02"]
    page = read_page(html)
    assert numbers(page.one("coverage").text) == ["6", "8", "75"]  # triples in written words, of all, per cent
    relations = page.one("relations")
    assert numbers(relations.text) == ["1", "3", "2"]  # written, of all, from the name
    assert numbers(page.one("unread").one(tag="a", href=f"{QUESTIONS}?made=unread").text) == ["2"]
    assert not page.has("odd")
    assert page.texts("words") == ["lived in", "more 01", "more 02"]
    about = page.all("about")[0].text.split(" · ")
    assert (about[0], numbers(about[1]), about[2]) == ("lived_in", ["6"], "N-N")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"made": "name"}, ["more 01", "more 02"]),
        ({"made": "written"}, ["lived_in"]),
        ({"made": "odd"}, []),
        ({"made": "unread"}, ["more 01", "more 02"]),
        ({"q": "LIVED"}, ["lived_in"]),
        ({"q": "lived in"}, ["lived_in"]),
        ({"q": "more", "made": "written"}, []),
        ({"order": "name"}, ["lived_in", "more 01", "more 02"]),
        ({"made": "nonsense", "order": "nonsense", "offset": "x"}, ["lived_in", "more 01", "more 02"]),
        ({"offset": "9" * 5000}, ["lived_in", "more 01", "more 02"]),
    ],
)
def test_list_is_filtered(world, manager, query: dict[str, str], expected: list[str]) -> None:
    more_relations(world, 2)
    html = read(manager, QUESTIONS, query)
    assert keys(html) == expected
    assert read_page(html).has("empty") == (not expected)


def test_three_examples_and_others_on_asking(manager) -> None:
    pages = (read_page(read(manager, QUESTIONS, {"offset": offset})) for offset in ("0", "1", "2"))
    first, other, again = (page.texts("statement") for page in pages)
    assert all(re.fullmatch(r"Has .+ lived in .+\?", text) for text in first + other)
    assert len(set(first)) == 3 and len(set(first + other)) == 6
    assert again == first
    assert f'href="{QUESTIONS}?offset=1#r0"' in read(manager, QUESTIONS)
    assert f'href="{QUESTIONS}?q=lived&amp;offset=1#r0"' in read(manager, QUESTIONS, {"q": "lived"})


def test_researcher_reads_and_changes_nothing(world, as_user) -> None:
    client = as_user(world.researcher)
    page = read_page(read(client, QUESTIONS))
    assert not page.has(name="statement") and not page.has(tag="a", href=IMPORT)
    assert page.has(tag="a", href=f"{QUESTIONS}.tsv")
    assert client.post(QUESTIONS, TEXTS).status_code == 403


def test_pool_without_triples_to_people_says_what_to_do(world, manager) -> None:
    PooledTriple.objects.update(reason="types")
    page = read_page(read(manager, QUESTIONS))
    assert page.has("empty") and not page.has("coverage")


def test_automatic_questions_are_read_one_by_one_or_all_at_once(world, manager) -> None:
    more_relations(world, 3)
    Relation.objects.filter(index=3).update(key="P131")
    page = read_page(read(manager, QUESTIONS))
    assert (len(page.all("read")), numbers(page.one("read-all").text)) == (2, ["2"])
    assert numbers(page.one("odd").one(tag="a", href=f"{QUESTIONS}?made=odd").text) == ["1"]
    response = manager.post(f"{QUESTIONS}?made=unread", {"act": "read", "relation": "2"})
    assert response["Location"] == f"{QUESTIONS}?made=unread#r2"
    assert keys(read(manager, QUESTIONS, {"made": "unread"})) == ["more 01"]
    assert keys(read(manager, QUESTIONS, {"made": "odd"})) == ["P131"]
    page = read_page(manager.post(QUESTIONS, {"act": "read"}, follow=True).content.decode())
    assert page.messages[-1] == told.questions_read(1)
    assert not page.has("unread") and not page.has("read") and not page.has("all-read")  # P131 must be written
    manager.post(QUESTIONS, TEXTS | {"relation": "3"})
    assert read_page(read(manager, QUESTIONS)).has("all-read")
    assert world.manager.username in read(manager, f"{QUESTIONS}/1")


def test_a_name_that_is_not_a_word_cannot_be_read_and_only_managers_read(world, manager, as_user) -> None:
    more_relations(world, 1)
    Relation.objects.filter(index=1).update(key="P131")
    html = manager.post(QUESTIONS, {"act": "read", "relation": "1"}, follow=True).content.decode()
    assert read_page(html).messages == refusal(
        lambda: mark_read(world.pool, world.manager, Relation.objects.get(index=1))
    )
    assert manager.post(QUESTIONS, {"act": "read", "relation": "x"}).status_code == 404
    researcher = as_user(world.researcher)
    assert researcher.post(QUESTIONS, {"act": "read"}).status_code == 403
    assert not read_page(read(researcher, QUESTIONS)).has("read-all")


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
    assert read_page(html).messages == [told.questions_saved(newest.relation, 2)]
    assert len(re.findall(r"Is Person \d+ at home in City \d\?", html)) == 3


def test_refused_change_stays_on_the_page(manager) -> None:
    bad = TEXTS | {"tail_question": "Where <b>?"}
    html = manager.post(f"{QUESTIONS}?q=nothing", bad).content.decode()
    why = refusal(lambda: check_template(bad["statement"], bad["tail_question"], bad["head_question"]))
    assert read_page(html).texts("problem") == why
    assert 'value="Where &lt;b&gt;?"' in html
    assert keys(html) == ["lived_in"]  # although the filter would hide it
    assert QuestionTemplate.objects.count() == 1


def test_preview_reads_with_several_real_names_and_saves_nothing(manager) -> None:
    html = read(manager, QUESTIONS, TEXTS | {"part": "preview"})
    assert len(re.findall(r"Is Person \d+ at home in City \d\?", html)) == 3
    assert len(re.findall(r"Who is at home in City \d\?", html)) == 3
    assert "<html" not in html and QuestionTemplate.objects.filter(version=2).count() == 0
    other = read(manager, QUESTIONS, TEXTS | {"part": "preview", "offset": "1"})
    assert other != html and read_page(other).one(name="offset")["value"] == "1"


def test_preview_says_what_is_wrong(manager) -> None:
    html = read(manager, QUESTIONS, TEXTS | {"part": "preview", "statement": "{subject} {name}"})
    texts = ("{subject} {name}", TEXTS["tail_question"], TEXTS["head_question"])
    assert read_page(html).texts("problem") == refusal(lambda: check_template(*texts))


@pytest.mark.parametrize("statement", ["<b>{subject}</b> {object}", "<script>{object}{subject}</script>"])
def test_preview_and_names_are_escaped(town, statement: str) -> None:
    for offset in ("0", "1"):
        data = TEXTS | {"part": "preview", "statement": statement, "offset": offset}
        html = read(town, "/pools/town-pool/questions", data)
        assert re.findall(r"<(?!/?(?:input|ul|li|p|a)\b)[^>]*>", html) == []
        assert statement.replace("{subject}", "").replace("{object}", "") not in unescape(html)
        shown = [one.text for one in read_page(html).all("statement") if one["class"] == "large"]
        assert len(shown) == 1 and shown[0].startswith(statement[:3])
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in read(town, "/pools/town-pool/questions")


@pytest.mark.parametrize("relation", ["", "x", "99", "-1", "9" * 30, "9" * 5000])
def test_unknown_relation_is_404(manager, relation: str) -> None:
    assert manager.post(QUESTIONS, TEXTS | {"relation": relation}).status_code == 404


# -- versions ------------------------------------------------------------------------------------------------


def test_versions_of_a_relation_with_their_labels(world, manager) -> None:
    label_item(world, world.campaign.items.first(), ann="Y")
    save_template(world.pool.graph.relations.get(), "{subject} & {object}?", "{subject}?", "{object}?", world.manager)
    newest, first = read_page(read(manager, f"{QUESTIONS}/0")).rows
    assert [(row[0], row[-1]) for row in (newest, first)] == [("2", "0"), ("1", "1")]
    assert (newest[2], newest[3].startswith("{subject} & {object}?")) == ("manager", True)
    assert manager.get(f"{QUESTIONS}/7").status_code == 404


@pytest.mark.parametrize("count", [1, 3])
def test_queries_of_the_versions_do_not_grow(world, manager, count: int, django_assert_num_queries) -> None:
    for n in range(1, count):
        save_template(world.pool.graph.relations.get(), f"{n} {{subject}} {{object}}?", "{subject}?", "{object}?")
    read(manager, f"{QUESTIONS}/0")
    with django_assert_num_queries(9):
        assert len(read_page(read(manager, f"{QUESTIONS}/0")).rows) == count


# -- files ---------------------------------------------------------------------------------------------------


def upload(raw: bytes, name: str = "my.tsv") -> dict[str, SimpleUploadedFile]:
    return {"file": SimpleUploadedFile(name, raw)}


def rewind(data) -> None:
    for value in data.values():
        if isinstance(value, SimpleUploadedFile):
            value.seek(0)


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
    assert read_page(manager.post(IMPORT, upload(whole.content))).has("empty")


def test_import_shows_what_changes_and_then_changes_it(world, manager) -> None:
    html = manager.post(IMPORT, upload(NEW.encode(), "<b>.tsv")).content.decode()
    page = read_page(html)
    assert page.one("file").text == "<b>.tsv" and numbers(page.one("changes").text) == ["1"]
    assert page.texts("went")[0] == "− Has {subject} lived in {object}?"
    assert page.texts("came")[0] == "+ Is {subject} of {object}?"
    assert QuestionTemplate.objects.filter(version=2).count() == 0
    text = page.one(name="text")["value"]
    response = manager.post(IMPORT, {"text": text, "file_name": "my.tsv"})
    assert (response.status_code, response["Location"]) == (302, QUESTIONS)
    saved = QuestionTemplate.objects.get(version=2)
    assert (saved.statement, saved.created_by) == ("Is {subject} of {object}?", world.manager)
    assert read_page(read(manager, QUESTIONS)).messages == [told.questions_imported(1)]


@pytest.mark.parametrize(
    ("data", "code"), [({}, "required"), (upload(b""), "empty"), (upload(b"x" * 1_048_577), "large")]
)
def test_import_without_a_file_of_a_fit_size_changes_nothing(manager, data, code: str) -> None:
    rewind(data)
    response = manager.post(IMPORT, data)
    assert codes(response.context["form"])["file"][0] == code
    page = read_page(response)
    assert page.has("refused") and page.has(tag="input", type="file")
    assert QuestionTemplate.objects.filter(version=2).count() == 0


@pytest.mark.parametrize(
    ("data", "raw", "place"),
    [
        (upload(NEW.encode() + b"nope\ta\tb\tc\n"), NEW.encode() + b"nope\ta\tb\tc\n", "my.tsv:2: "),
        (upload(b"\xff\xfe"), b"\xff\xfe", "my.tsv:1: "),
        (upload(b"<b>\tc\n", "../../<i>.tsv"), b"<b>\tc\n", "<i>.tsv:1: "),
        ({"text": "lived_in\tno\tno\tno\n", "file_name": "my.tsv"}, b"lived_in\tno\tno\tno\n", "my.tsv:1: "),
    ],
)
def test_import_that_is_refused_changes_nothing(world, manager, data, raw: bytes, place: str) -> None:
    rewind(data)
    page = read_page(manager.post(IMPORT, data))
    why = refusal(lambda: read_templates(world.pool.graph, raw, place.partition(":")[0]))
    assert page.one("refused").text == " ".join(why) and why[0].startswith(place)
    assert page.has(tag="input", type="file")
    assert QuestionTemplate.objects.filter(version=2).count() == 0


def test_file_of_the_largest_size_is_read(manager) -> None:
    raw = NEW.encode() + b"\n" * (1_048_576 - len(NEW))
    assert numbers(read_page(manager.post(IMPORT, upload(raw))).one("changes").text) == ["1"]


# -- missing labels ------------------------------------------------------------------------------------------


def test_every_label_is_there(manager) -> None:
    assert read_page(read(manager, QUESTIONS)).has("all-labelled")
    assert read_page(read(manager, f"{QUESTIONS}/missing-labels")).has("empty")


def test_missing_labels_are_listed_and_downloaded(world, manager, monkeypatch) -> None:
    from annotation.questions.review import MissingLabel
    from annotation.views import questions

    rows = [MissingLabel("=<b>1", 4), *(MissingLabel(f"q{n}", 1) for n in range(200))]
    for module in (questions,):
        monkeypatch.setattr(module, "missing_labels", lambda pool: rows)
    link = read_page(read(manager, QUESTIONS)).one(tag="a", href=f"{QUESTIONS}/missing-labels")
    assert numbers(link.text) == ["201"]
    page = read_page(read(manager, f"{QUESTIONS}/missing-labels"))
    assert (len(page.rows), page.rows[0]) == (200, ["=<b>1", "4"])
    assert numbers(page.one("count").text) == ["201", "200"]
    lines = read(manager, f"{QUESTIONS}/missing-labels", {"as": "tsv"}).splitlines()
    assert (len(lines), lines[0], lines[-1]) == (201, "=<b>1\t4", "q199\t1")
