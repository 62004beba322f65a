"""The page of runs: what is there, importing one, and taking one away."""

from __future__ import annotations

import gzip
import io
import re

import pyarrow.parquet as pq
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from core.errors import UserError
from core.files.artifacts import artifact_path
from core.models import AuditEntry
from pooling.models import Graph, Run, System
from pooling.runs import files as run_files
from pooling.runs import imports as run_upload
from pooling.runs.adapters.registry import ADAPTERS
from pooling.runs.asked import ASKED
from pooling.training.train import refuse_imported
from pooling.views import runs
from tests.page import element, has, links, notices, numbers, parse, refusals, table
from tests.pages.world import make_person, make_pool, make_system

PAGE = "/graphs/town/runs"
GOOD = b"tail:p0:knows Q0 p4 1 0.9 x\ntail:p0:knows Q0 p3 2 0.5 x\n"


@pytest.fixture(autouse=True)
def _nothing_in_memory():
    """Row ids come back in every test."""
    run_files._cache.clear()


@pytest.fixture
def researcher(db) -> Client:
    client = Client()
    client.force_login(make_person("reader", site="researcher"))
    return client


def upload(content: bytes = GOOD, name: str = "their.run", **fields: str) -> dict[str, object]:
    return {"name": "theirs", "family": "neural", "pool": "", "file": SimpleUploadedFile(name, content), **fields}


@pytest.mark.parametrize("number", [1, 3])
def test_the_list_takes_the_same_queries_for_1_and_3_runs(
    number: int, graph: Graph, researcher: Client, django_assert_num_queries
):
    for name in ("transe", "rotate", "complex")[:number]:
        make_system(graph, name)
    with django_assert_num_queries(8):
        html = researcher.get(PAGE).content.decode()
    names = [system.name for system in System.objects.all()]
    assert [element(html, f"origin-{name}")["data-value"] for name in names] == ["here"] * number
    assert has(html, "import")  # researchers bring their own


def test_an_imported_run_is_in_the_list_as_such(graph: Graph, manager: Client):
    answer = manager.post(PAGE, upload(), follow=True)
    assert answer.redirect_chain == [(PAGE, 302)]
    [said] = notices(answer)
    # lines, questions answered, of all, depth, not asked, of all, questions without raw positions, of all
    assert re.findall(r"\d+", said) == ["2", "1", "4", "1", "3", "4", "1", "1"]
    origin = element(answer, "origin-theirs")
    assert (origin["data-value"], origin.all(tag="span")[-1].text) == ("imported", "their.run")
    system = System.objects.get()
    assert (system.kind, system.settings["family"], system.run.depth) == ("imported", "neural", 1)
    entry = AuditEntry.objects.get(act="run-imported")
    assert (entry.person.username, entry.about) == ("boss", "town/theirs")


def test_a_run_for_a_pool_has_all_its_rank_rows(graph: Graph, manager: Client):
    make_pool(graph)
    assert manager.post(PAGE, upload(gzip.compress(GOOD), "r.gz", pool="town-pool")).status_code == 302
    own = Run.objects.get().num_rank_rows
    assert manager.post(PAGE, upload(name="other")).status_code == 200  # theirs is taken
    assert manager.post(PAGE, upload() | {"name": "other"}).status_code == 302
    assert own > Run.objects.get(system__name="other").num_rank_rows


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"name": "no spaces"}, "Use only letters, digits, - and _"),
        ({"name": "transe"}, "Graph town has a system transe already: choose another name."),
        ({"family": "magic"}, "magic is not one of the available choices"),
        ({"pool": "none"}, "none is not one of the available choices"),
        ({"file": ""}, "This field is required."),
        (
            {"file": SimpleUploadedFile("x", GOOD + b"a b\n")},
            "x:3: has 2 columns where question id, Q0, entity, rank, score, tag are 6",
        ),
        (
            {"file": SimpleUploadedFile("x", b"x" * 100_001)},
            "The file has 100,001 bytes; at most 100,000 can be sent at once. Send it in parts (docs/api.md), or use "
            "import_run on the server.",
        ),
        (
            {"file": SimpleUploadedFile("x", gzip.compress(GOOD * 2000))},
            "x holds more than 100,000 bytes unpacked, which is too much to send at once: send it in parts "
            "(docs/api.md), or use import_run on the server.",
        ),
    ],
)
def test_what_is_refused_is_said_at_the_form(changed: dict, message: str, graph: Graph, manager: Client, monkeypatch):
    monkeypatch.setattr(run_upload, "MOST_BYTES", 100_000)
    make_system(graph, "transe")
    answer = manager.post(PAGE, upload() | changed)
    assert answer.status_code == 200
    _, *at_fields = refusals(answer)
    assert [message in said for said in at_fields] == [True]
    assert System.objects.count() == 1


def test_researchers_bring_runs(graph: Graph, researcher: Client):
    assert researcher.post(PAGE, upload())["Location"] == f"{PAGE}/theirs"
    assert AuditEntry.objects.get(act="run-imported").person.username == "reader"


def test_a_run_is_taken_away_as_it_came(graph: Graph, manager: Client, researcher: Client):
    manager.post(PAGE, upload())
    answer = researcher.get(reverse("run-file", args=["town", "theirs"]))
    assert answer["Content-Disposition"] == 'attachment; filename="town-theirs.txt.gz"'
    content = gzip.decompress(b"".join(answer.streaming_content)).decode()
    assert content == "tail:p0:knows Q0 p4 1 -1 theirs\ntail:p0:knows Q0 p3 2 -2 theirs\n"
    assert researcher.get(reverse("run-file", args=["town", "none"])).status_code == 404


def test_a_run_is_taken_away_as_parquet_and_comes_back(graph: Graph, manager: Client, researcher: Client):
    manager.post(PAGE, upload())
    answer = researcher.get(reverse("run-parquet", args=["town", "theirs"]))
    assert answer["Content-Disposition"] == 'attachment; filename="town-theirs.parquet"'
    content = b"".join(answer.streaming_content)
    assert pq.read_table(io.BytesIO(content)).to_pylist() == [
        {"question": "tail:p0:knows", "entity": "p4", "rank": 1, "score": -1.0},
        {"question": "tail:p0:knows", "entity": "p3", "rank": 2, "score": -2.0},
    ]
    assert manager.post(PAGE, upload(content, "any name") | {"name": "again"}).status_code == 302
    first, again = (run_files.read_ranks(run) for run in Run.objects.order_by("pk"))
    assert (again.keys.tolist(), again.ranks.tolist()) == (first.keys.tolist(), first.ranks.tolist())


def test_ranks_that_contradict_most_scores_need_the_box(graph: Graph, manager: Client):
    distances = GOOD.replace(b"0.9", b"0.1")
    answer = manager.post(PAGE, upload(distances))
    assert "has rank 2 with score 0.5" in refusals(answer)[1]
    assert manager.post(PAGE, upload(distances, scores_decide="on")).status_code == 302


def test_the_page_lists_the_forms(graph: Graph, researcher: Client):
    said = element(researcher.get(PAGE), "forms")
    assert [one.text for one in said.all(tag="th")[2:]] == [adapter.title for adapter in ADAPTERS.values()]


def test_a_run_whose_files_are_gone_says_so(graph: Graph, researcher: Client):
    make_system(graph, "transe")
    answer = researcher.get(reverse("run-file", args=["town", "transe"]))
    assert answer.status_code == 409
    assert "run.json" in element(answer, "problem").text


def test_the_page_of_an_imported_system_says_what_it_is_and_offers_no_training(graph: Graph, manager: Client):
    manager.post(PAGE, upload())
    page = manager.get("/graphs/town/systems/theirs")
    assert element(page, "imported").text.endswith("neural.")
    for absent in ("validation-mrr", "training", "take-away", "uses"):
        assert not has(page, absent)
    assert not [address for address in links(page) if address.endswith(("/clone", "/retrain"))]
    for act, done in (("clone", "cloned"), ("retrain", "trained")):
        with pytest.raises(UserError) as reason:
            refuse_imported(System.objects.get(), done)
        for ask in (manager.get, manager.post):
            answer = ask(f"/graphs/town/systems/theirs/{act}", follow=True)
            assert answer.redirect_chain == [("/graphs/town/systems/theirs", 302)]
            assert notices(answer) == [str(reason.value)]
    answer = manager.get("/graphs/town/systems/theirs/files/weights.safetensors")
    assert answer.status_code == 409
    assert element(answer, "problem").text.startswith("theirs ")
    [row] = table(manager.get("/graphs/town/systems"), "systems")
    assert row[:3] == ["theirs", "neural", "imported"]


def test_an_imported_run_is_not_ticked_for_a_new_pool(graph: Graph, manager: Client):
    make_system(graph, "transe")
    manager.post(PAGE, upload())
    form = manager.get("/pools/new?graph=town").context["form"]
    assert form.fields["systems"].choices == [("transe", "TransE"), ("theirs", "theirs")]
    assert form.fields["systems"].initial == ["transe"]


@pytest.fixture
def own(graph: Graph, researcher: Client) -> System:
    """A private run of the researcher."""
    assert researcher.post(PAGE, upload()).status_code == 302
    return System.every.get(name="theirs")


def client_of(name: str, site: str | None) -> Client:
    client = Client()
    if site is not None:
        client.force_login(make_person(name, site=site))
    return client


def test_private_runs_are_on_the_pages_of_owner_and_managers_only(own: System, manager: Client, researcher: Client):
    page = reverse("run", args=["town", "theirs"])
    files = [reverse(name, args=["town", "theirs"]) for name in ("run-file", "run-parquet")]
    other = client_of("other", "researcher")
    for client, sees in ((researcher, True), (manager, True), (other, False)):
        listed = client.get(PAGE)
        assert has(listed, "private-theirs") == sees
        assert [client.get(address).status_code for address in (page, *files)] == [200 if sees else 404] * 3
        assert client.get(reverse("system", args=["town", "theirs"])).status_code == 404
    for act in ("run-publish", "run-replace", "run-delete"):
        assert other.post(reverse(act, args=["town", "theirs"])).status_code == 404
    assert System.every.get(name="theirs").private


def test_a_run_has_its_counts_and_compares_only_if_somebody_brought_it(own: System, graph: Graph, researcher: Client):
    run = Run.every.get(system=own)
    Run.objects.filter(system=make_system(graph, "rotate")).update(num_questions=1234)
    for name, questions, shown in (("theirs", run.num_questions, "theirs"), ("rotate", 1234, "RotatE")):
        page = parse(researcher.get(reverse("run", args=["town", name])))
        assert page.one(tag="h1").text == f"Run {shown}"
        assert numbers(page.one("facts").text.replace(",", ""))[0] == str(questions)
        assert bool(page.all(id="figures-title")) == (name == "theirs")


def test_strangers_and_annotators_reach_no_act(own: System):
    for client, status in ((client_of("", None), 302), (client_of("ann", ""), 403)):
        for act in ("run-publish", "run-replace", "run-delete"):
            assert client.post(reverse(act, args=["town", "theirs"])).status_code == status
    assert System.every.get(name="theirs").private


def test_an_owner_replaces_publishes_and_deletes(own: System, researcher: Client):
    page = reverse("run", args=["town", "theirs"])
    assert has(researcher.get(page), "publish")
    [said] = notices(researcher.post(reverse("run-replace", args=["town", "theirs"]), {"file": ""}, follow=True))
    assert "Choose a file" in said
    other = SimpleUploadedFile("new.run", GOOD.splitlines(keepends=True)[0])
    [said] = notices(researcher.post(reverse("run-replace", args=["town", "theirs"]), {"file": other}, follow=True))
    assert said.startswith(runs.REPLACED.format("theirs"))
    assert System.every.get(name="theirs").settings["file"] == "new.run"
    [said] = notices(researcher.post(reverse("run-publish", args=["town", "theirs"]), follow=True))
    assert said == runs.PUBLISHED.format("theirs")
    assert not has(researcher.get(page), "publish") and System.objects.filter(name="theirs").exists()
    answer = researcher.post(reverse("run-delete", args=["town", "theirs"]), follow=True)
    assert answer.redirect_chain == [(PAGE, 302)] and notices(answer) == [runs.DELETED.format("theirs")]
    assert not System.every.filter(name="theirs").exists()


def test_the_run_of_a_trained_system_is_not_replaced(own: System, manager: Client):
    """It was an error of the server: only systems that somebody brought say their family."""
    System.every.filter(pk=own.pk).update(kind="rotate", settings={}, private=False)
    sent = {"file": SimpleUploadedFile("new.run", GOOD)}
    [said] = notices(manager.post(reverse("run-replace", args=["town", "theirs"]), sent, follow=True))
    assert "a system of this site" in said


def test_a_topics_file_says_what_a_run_was_asked_on_both_forms(graph: Graph, researcher: Client):
    def topics(*questions: str) -> SimpleUploadedFile:
        return SimpleUploadedFile("t.tsv", "\n".join(["question\tside", *questions]).encode())

    def asked() -> list[str]:
        table = pq.read_table(artifact_path(Run.every.get(system__name="theirs").artifact) / ASKED)
        return sorted(table["question"].to_pylist())

    [wrong] = refusals(researcher.post(PAGE, upload(topics=topics("tail:p0:hates"))))[1:]
    assert wrong.startswith("topics.tsv:2: 'tail:p0:hates' is not among the topics of town")
    assert researcher.post(PAGE, upload(topics=topics("tail:p1:knows"))).status_code == 302
    assert asked() == ["tail:p0:knows", "tail:p1:knows"]
    replace = reverse("run-replace", args=["town", "theirs"])
    sent = {"file": SimpleUploadedFile("new", GOOD), "topics": topics("tail:p1:knows", "head:p3:knows")}
    said = notices(researcher.post(replace, sent, follow=True))[-1]
    assert said.startswith(runs.REPLACED.format("theirs"))
    assert asked() == ["head:p3:knows", "tail:p0:knows", "tail:p1:knows"]


def test_a_published_run_of_another_researcher_is_seen_and_not_changed(own: System, researcher: Client):
    researcher.post(reverse("run-publish", args=["town", "theirs"]))
    other = client_of("other", "researcher")
    page = other.get(reverse("run", args=["town", "theirs"]))
    assert page.status_code == 200 and not has(page, "delete")
    [said] = notices(other.post(reverse("run-delete", args=["town", "theirs"]), follow=True))
    assert "belongs to somebody else" in said
    assert System.objects.filter(name="theirs").exists()
