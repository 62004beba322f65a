"""Archiving and deleting in the browser, and the form of a judged test set; roles are in tests/pages/test_access.py."""

from __future__ import annotations

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from config.pages import PAGES
from core.enums import JobState
from core.forms import NOT_TYPED, TypedNameForm
from evaluation.enums import EvaluationJob
from evaluation.keeping.archive import archive
from evaluation.keeping.removal import USED_BY, preview, remove
from evaluation.labels.qrels import freeze_qrels
from evaluation.models import Qrels
from evaluation.test_sets.imports import import_test_set
from evaluation.views.keeping import DELETED
from evaluation.views.test_sets import IMPORTED
from pooling.graphs.opening import open_graph
from pooling.models import Graph, Pool, PooledTriple, System
from pooling.pools.build import check_name
from tests.factories import make_person, names_of
from tests.page import element, elements, fields, has, links, notices, numbers, parse, posts, refusal, refusals, table
from tests.pages.world import make_job, make_pool, make_system


def boss() -> Client:
    client = Client()
    client.force_login(make_person("boss", "manager"), backend="config.sign_in.Accounts")
    return client


def shown(client: Client, url: str) -> dict[str, str]:
    """Return the links of a page."""
    return links(client.get(url))


def heading(client: Client, url: str) -> str:
    return parse(client.get(url)).one(tag="h1").text


def test_what_is_archived_is_in_no_list_unless_asked_for(town: Graph):
    pool, client = make_pool(town, "old"), boss()
    link, listed = "/pools/old", ("/pools", "/", "/graphs/town")
    assert all(link in shown(client, url) for url in listed)
    assert client.post("/pools/old/archive").headers["Location"] == link
    assert Pool.objects.get().archived is True
    assert not any(link in shown(client, url) for url in listed)
    assert numbers(shown(client, "/pools")["?archived=yes"]) == ["1"]
    assert link in shown(client, "/pools?archived=yes")
    assert heading(client, "/pools?archived=yes") == PAGES["pools-archive"].heading
    page = client.get(link)
    assert has(page, "archived") and fields(page)["back"] == "yes" and "/pools/old/archive" in posts(page)
    client.post("/pools/old/archive", {"back": "yes"})
    assert link in shown(client, "/pools") and not has(client.get(link), "archived")
    link = "/graphs/town"
    make_system(town, "transe", run=False)
    archive(pool.graph, None)
    assert link not in shown(client, "/graphs") and link in shown(client, "/graphs?archived=yes")
    assert heading(client, "/graphs?archived=yes") == PAGES["graphs-archive"].heading
    assert has(client.get("/graphs"), "all-archived")
    System.objects.update(archived=True)
    assert has(client.get("/graphs/town/systems"), "all-archived")
    assert heading(client, "/graphs/town/systems?archived=yes") == PAGES["systems-archive"].heading
    assert "/graphs/town/systems/transe" not in client.get("/systems").content.decode()
    for url in ("/pools/new", "/test-sets/import"):
        offered = [option.attrs.get("value", option.text) for option in parse(client.get(url)).all(tag="option")]
        assert "town" not in offered


def test_a_name_must_be_typed_to_delete(town: Graph):
    pool, client = make_pool(town, "old"), boss()
    page = client.get("/pools/old/delete")
    going = preview(pool)
    assert table(page, "goes") == [[kind, f"{n:,}"] for kind, n in going.rows]
    assert dict(going.rows)[str(PooledTriple._meta.verbose_name_plural)] == 7
    asked = str(TypedNameForm(expected="old").fields["typed"].label)
    assert parse(page).one(tag="label", for_="id_typed").text == asked and asked.endswith(" old")
    for typed in ("", "Old", "xold "):
        answer = client.post("/pools/old/delete", {"typed": typed})
        assert answer.context["form"].errors == {"typed": [NOT_TYPED.format("old")]}
    assert Pool.objects.count() == 1
    assert client.post("/pools/old/delete", {"typed": "old"}).headers["Location"] == "/pools"
    assert Pool.objects.count() == 0
    assert notices(client.get("/pools")) == [DELETED.format("old")]


def test_what_has_to_stay_says_why_and_cannot_be_posted(town: Graph):
    system = make_system(town, "transe", run=False)
    make_pool(town, "old", systems=[system])
    client, url = boss(), "/graphs/town/systems/transe/delete"
    page = client.get(url)
    assert [one.text for one in elements(page, "stays")] == [USED_BY.format("old")] == preview(system).refused
    assert "typed" not in fields(page) and posts(page) == ["/graphs/town/systems/transe/archive"]
    assert element(page, "held-by").one(tag="a")["href"] == "/pools/old"
    assert refusals(client.post(url, {"typed": "transe"})) == refusal(lambda: remove(system, None))
    assert System.objects.count() == 1


def test_what_stays_leads_to_what_keeps_it_and_to_the_archive(labelled: Pool):
    graph, client = labelled.graph, boss()
    freeze_qrels(labelled, "v1")
    page = parse(client.get(f"/graphs/{graph.name}/delete"))
    assert page.one("held-by").one(tag="a")["href"] == f"/pools/{labelled.name}"
    assert f"/graphs/{graph.name}/archive" in [form["action"] for form in page.all(tag="form", method="post")]
    crumbs = page.one(tag="nav", class_="breadcrumbs").all(tag="a")
    assert [link["href"] for link in crumbs] == [f"/graphs/{graph.name}"]
    url = f"/pools/{labelled.name}/delete"
    pool = parse(client.get(url))
    assert not pool.has("held-by")  # its own labels keep it
    assert [link["href"] for link in pool.one(tag="nav", class_="breadcrumbs").all(tag="a")] == [
        f"/pools/{labelled.name}"
    ]
    archive(graph, None)
    assert f"/graphs/{graph.name}/archive" not in posts(client.get(f"/graphs/{graph.name}/delete"))
    job = make_job(EvaluationJob.EVALUATE, JobState.RUNNING, pool=labelled)
    assert element(client.get(url), "held-by").one(tag="a")["href"] == f"/jobs/{job.pk}"


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

    wrong = content.replace(b"\t0\n", b"\tmaybe\n")
    told = refusal(lambda: import_test_set(town, wrong, "t.tsv", name="theirs"))
    assert element(send(wrong), "refused").text == " ".join(told) and told[0].startswith("t.tsv:2: ")
    assert Pool.objects.count() == 0
    assert send(content).headers["Location"] == "/pools/theirs"
    assert (Qrels.objects.get().origin, Pool.objects.get().triples.count()) == ("imported", 2 - known)
    [told] = notices(client.get("/pools/theirs"))
    assert told.startswith(IMPORTED.format("theirs"))
    assert [element(send(content), "refused").text] == refusal(lambda: check_name("theirs"))
