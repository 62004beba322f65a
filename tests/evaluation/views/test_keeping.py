"""Archiving and deleting in the browser, and the form of a judged test set; roles are in tests/pages/test_access.py."""

from __future__ import annotations

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from evaluation.keeping.archive import archive
from evaluation.models import Qrels
from pooling.graphs.opening import open_graph
from pooling.models import Graph, Pool, System
from tests.factories import make_person, names_of
from tests.pages.world import make_pool, make_system


def boss() -> Client:
    client = Client()
    client.force_login(make_person("boss", "manager"), backend="django.contrib.auth.backends.ModelBackend")
    return client


def text(client: Client, url: str) -> str:
    return " ".join(client.get(url).content.decode().split())


def test_what_is_archived_is_in_no_list_unless_asked_for(town: Graph):
    pool, client = make_pool(town, "old"), boss()
    link, listed = 'href="/pools/old"', ("/pools", "/")
    assert all(link in text(client, url) for url in listed)
    assert link in text(client, "/graphs/town")
    assert client.post("/pools/old/archive").headers["Location"] == "/pools/old"
    assert Pool.objects.get().archived is True
    assert not any(link in text(client, url) for url in (*listed, "/graphs/town"))
    assert '<a href="?archived=yes">Archive (1)</a>' in text(client, "/pools")
    assert link in text(client, "/pools?archived=yes")
    assert "<h1>Archived pools</h1>" in text(client, "/pools?archived=yes")
    page = text(client, "/pools/old")
    assert "Archived: it is in no list." in page and ">Take back</button>" in page
    client.post("/pools/old/archive", {"back": "yes"})
    assert link in text(client, "/pools")
    link = 'href="/graphs/town"'
    make_system(town, "transe", run=False)
    archive(pool.graph, None)
    assert link not in text(client, "/graphs") and link in text(client, "/graphs?archived=yes")
    assert "<h1>Archived graphs</h1>" in text(client, "/graphs?archived=yes")
    assert "<h2>Every graph is in the archive</h2>" in text(client, "/graphs")
    System.objects.update(archived=True)
    assert "<h2>Every system of town is in the archive</h2>" in text(client, "/graphs/town/systems")
    assert "<h1>Archived systems</h1>" in text(client, "/graphs/town/systems?archived=yes")
    assert "/graphs/town/systems/transe" not in text(client, "/systems")
    assert "<option selected>town</option>" not in text(client, "/pools/new")
    assert '<option value="town">' not in text(client, "/test-sets/import")


def test_a_name_must_be_typed_to_delete(town: Graph):
    make_pool(town, "old")
    client = boss()
    page = text(client, "/pools/old/delete")
    assert '<tr><th scope="row">pooled triples</th><td class="number">7</td></tr>' in page
    assert "To delete it for good, type its name: old" in page
    for typed in ("", "Old", "old "):
        shown = client.post("/pools/old/delete", {"name": f"x{typed}" if typed == "old " else typed})
        assert "Type old to delete it; nothing was deleted." in shown.content.decode()
    assert Pool.objects.count() == 1
    assert client.post("/pools/old/delete", {"name": "old"}).headers["Location"] == "/pools"
    assert Pool.objects.count() == 0
    assert "old is deleted." in text(client, "/pools")


def test_what_has_to_stay_says_why_and_cannot_be_posted(town: Graph):
    system = make_system(town, "transe", run=False)
    make_pool(town, "old", systems=[system])
    client, url = boss(), "/graphs/town/systems/transe/delete"
    page = text(client, url)
    assert "Pool old uses it: archive it instead." in page and "Delete for good" not in page
    shown = client.post(url, {"name": "transe"}).content.decode()
    assert "town/transe stays. Pool old uses it: archive it instead." in shown
    assert System.objects.count() == 1


def test_a_judged_test_set_is_imported_and_its_pool_shown(town: Graph):
    seed = open_graph(town).test[0].tolist()
    rows = [[*names_of(town, seed), "1"], [*names_of(town, (0, 1, 21)), "0"], [*names_of(town, (3, 1, 23)), "Y"]]
    train = {tuple(t) for t in open_graph(town).train.tolist()}
    known = sum(t in train for t in ((0, 1, 21), (3, 1, 23)))
    client = boss()
    content = "".join("\t".join(row) + "\n" for row in rows).encode()

    def send(content: bytes, name: str = "theirs"):
        file = SimpleUploadedFile("t.tsv", content)
        return client.post("/test-sets/import", {"graph": "town", "name": name, "format": "tsv", "file": file})

    shown = send(content.replace(b"\t0\n", b"\tmaybe\n")).content.decode()
    assert "t.tsv:2: label &#x27;maybe&#x27; is none of" in shown and Pool.objects.count() == 0
    assert send(content).headers["Location"] == "/pools/theirs"
    assert (Qrels.objects.get().origin, Pool.objects.get().triples.count()) == ("imported", 2 - known)
    assert "Imported theirs." in text(client, "/pools/theirs")
    assert "There is a pool &#x27;theirs&#x27; already" in send(content).content.decode()
