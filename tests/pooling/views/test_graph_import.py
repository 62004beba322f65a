"""The pages that import a graph: upload, preview, other options, confirmation; nothing before it is in the database."""

from __future__ import annotations

import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from core.files.artifacts import artifact_path
from core.models import Job
from pooling.layouts import uploads
from pooling.models import Graph
from tests.page import element, has, posts, refusals, table
from tests.pages.world import EVIL, make_person

TRAIN = f"a\tlikes\t{EVIL}\nb\tlikes\tc\nc\tknows\ta\na\tknows\tc\nb\tlikes\ta\nb\tknows\t{EVIL}\n"
FILES = {"train.tsv": TRAIN, "valid.tsv": "a\tlikes\tc\n", "test.tsv": "b\tknows\ta\n", "x.docx": "x"}


def send(client: Client, files: dict[str, str] = FILES):
    return client.post("/import-graph", {"sent": [SimpleUploadedFile(n, t.encode()) for n, t in files.items()]})


def test_upload_is_shown_and_imported_when_it_is_confirmed(manager: Client):
    place = send(manager)["Location"]
    page = manager.get(place)
    assert page.status_code == 200 and page["Cache-Control"] == "no-store"
    assert EVIL not in page.content.decode()
    rows = table(page, "triples")
    assert [row[-3:] for row in rows[:3]] == [["a", "likes", EVIL], ["b", "likes", "c"], ["c", "knows", "a"]]
    assert element(page, "ignored").text == "not read: x.docx"
    assert not Graph.objects.exists() and not Job.objects.exists()
    done = manager.post(place, {"name": "mine"})
    assert done["Location"] == "/graphs/mine"
    assert Graph.objects.get().num_train == 6 and list(artifact_path("uploads").iterdir()) == []
    assert manager.get(place).status_code == 404


def test_options_of_the_address_are_those_of_the_import(manager: Client):
    place = send(manager, {"graph.csv": "r,a,b\nr,b,c\ns,c,a\ns,a,c\nr,b,a\ns,b,c\n"})["Location"]
    asked = "?columns=rht&valid_share=.2&test_share=.2&seed=3&link_pattern=https%3A%2F%2Fa.org%2F%7Bid%7D"
    page = manager.get(place + asked)
    assert {row[-2] for row in table(page, "triples")} == {"r", "s"}
    assert posts(page) == [(place + asked)]
    assert has(page, "drawn")
    manager.post(place + asked, {"name": "mine"})
    graph = Graph.objects.get()
    assert graph.options["columns"] == "rht" and graph.options["link_pattern"] == "https://a.org/{id}"
    assert (graph.num_relations, graph.num_train, graph.num_valid, graph.num_test) == (2, 4, 1, 1)


def test_what_cannot_be_read_is_told_and_can_be_read_in_another_way(manager: Client):
    dated = {name: re.sub(r"\n", "\t2014-01-01\n", text) for name, text in FILES.items() if name != "x.docx"}
    place = send(manager, dated)["Location"]
    page = manager.get(place)
    assert "“Leave out times of quadruples”" in element(page, "refused").text and not has(page, "import")
    assert "open" in element(page, "options")
    assert has(manager.get(f"{place}?ignore_time=on"), "import")
    assert manager.post(place, {"name": "mine"}).status_code == 422
    assert not Graph.objects.exists()


def test_warnings_are_above_the_button(manager: Client):
    page = manager.get(send(manager, FILES | {"entity_labels.tsv": "a\tAnna\n"})["Location"])
    assert element(page, "warnings").texts(tag="li") == ["3 of 4 entities have no label."]
    text = page.content.decode()
    assert text.index('data-test="warnings"') < text.index('data-test="import"')


@pytest.mark.parametrize("name", ["", "with space", "there"])
def test_name_that_cannot_be_is_refused_at_its_field(manager: Client, name: str):
    place = send(manager)["Location"]
    manager.post(place, {"name": "there"})
    place = send(manager)["Location"]
    refused = manager.post(place, {"name": name})
    assert refused.status_code == 422
    assert element(refused, "import").errors
    assert Graph.objects.count() == 1


def test_larger_graph_goes_to_its_job(manager: Client, monkeypatch):
    monkeypatch.setattr(uploads, "AT_ONCE", 6)
    done = manager.post(send(manager)["Location"], {"name": "mine"})
    assert done["Location"] == f"/jobs/{Job.objects.get().pk}"
    assert not Graph.objects.exists()


def test_uploads_of_others_are_not_there(manager: Client):
    place = send(manager)["Location"]
    other = Client()
    other.force_login(make_person("other", site="manager"))
    assert (other.get(place).status_code, other.post(place, {"name": "mine"}).status_code) == (404, 404)


def test_nothing_sent_and_too_much_are_told_at_the_field(manager: Client, monkeypatch):
    nothing = manager.post("/import-graph", {})
    assert nothing.status_code == 422 and element(nothing, "upload").errors
    monkeypatch.setattr(uploads, "MOST_BYTES", 10)
    assert any("at most 10 can be sent here" in said for said in refusals(send(manager)))


def test_graphs_page_leads_managers_to_the_import(manager: Client):
    assert element(manager.get("/graphs"), "import")["href"] == "/import-graph"
    reader = Client()
    reader.force_login(make_person("reader", site="researcher"))
    assert not has(reader.get("/graphs"), "import")


def test_advice_on_a_header_names_the_field_and_its_choice(manager: Client):
    place = send(manager, {name: f"kopf\tart\tziel\n{text}" for name, text in FILES.items()})["Location"]
    told = element(manager.get(place), "warnings").text
    assert "set “First line” to “names columns”" in told and "--header" not in told


@pytest.mark.parametrize(
    ("bundled", "size"), [("families", (260, 23)), ("nations", (14, 55)), ("umls", (135, 46)), ("kinships", (104, 25))]
)
def test_a_graph_that_comes_with_the_program_is_imported(manager: Client, bundled: str, size: tuple[int, int]):
    done = manager.post("/import-graph", {"act": "bundled", "bundled": bundled, "bundled_name": "mine"})
    assert done["Location"] == "/graphs/mine"
    graph = Graph.objects.get()
    assert (graph.num_entities, graph.num_relations, graph.created_by.username) == (*size, "boss")
    again = manager.post("/import-graph", {"act": "bundled", "bundled": bundled, "bundled_name": "mine"})
    assert again.status_code == 422 and "mine" in " ".join(refusals(again)) and Graph.objects.count() == 1


def test_an_unknown_bundled_graph_is_refused(manager: Client):
    page = manager.post("/import-graph", {"act": "bundled", "bundled": "freebase", "bundled_name": "mine"})
    assert page.status_code == 422 and not Graph.objects.exists()
    assert "Choose a graph of the list." in refusals(page)
