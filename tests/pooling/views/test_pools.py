"""Pools, their triples and their filter; the form that builds one; graphs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from core.enums import JobState
from core.forms import TOO_LARGE
from core.models import Job
from pooling.enums import SystemState
from pooling.errors import PoolError
from pooling.forms.pools import ASSUMED, MEASURED, NO_SEEDS, SEED_FILE_BYTES, PoolForm
from pooling.graphs.opening import open_graph
from pooling.models import Pool, System
from pooling.pools.build import check_name
from pooling.pools.diagnosis import Bucket, Diagnosis, as_stored, diagnosis_says
from pooling.pools.effort import ASSUMED_SECONDS, Pace, effort
from pooling.pools.kernels.filters import FILTERS, reason_label
from pooling.pools.seeds import draw_seeds
from pooling.runs.score import check_depth
from tests.annotation.factories import findings
from tests.page import content, element, elements, fields, has, numbers, parse, refusal, refused
from tests.pages.world import make_graph, make_pool, make_system

FORM = {
    "graph": "town", "name": "fresh", "systems": ["rotate"], "depth": "10", "sample": "0.5", "seed": "1",
    "filters": ["types"],
}  # fmt: skip


@pytest.fixture
def rotate(graph):
    return make_system(graph, "rotate")


def test_building_makes_a_pool_and_its_job(rotate, manager):
    assert manager.post("/pools/new", FORM)["Location"] == "/pools/fresh"
    pool = Pool.objects.get()
    assert (pool.seed_source, pool.filters, pool.depth) == ("sample 0.5 of test, seed 1", ["types"], 10)
    assert list(pool.systems.all()) == [rotate]
    assert list(Job.objects.values_list("kind", "pool__name", "state")) == [("build-pool", "fresh", JobState.QUEUED)]


def test_the_form_leads_to_the_import_of_another_graph(rotate, manager):
    assert element(manager.get("/pools/new"), "import-graph")["href"] == "/import-graph"


@pytest.mark.parametrize("share", ["0.5", ""])
def test_a_number_of_seeds_counts_instead_of_the_share(share: str, rotate, manager):
    asked = {"sample": share, "count": "2", "stratify": "relation,popularity"}
    assert manager.post("/pools/new", FORM | asked).status_code == 302
    source = "sample of 2 test triples, stratified by relation and popularity, seed 1"
    assert Pool.objects.get().seed_source == source


def test_form_starts_with_the_usual_filters_and_no_stratification(rotate, manager):
    form = manager.get("/pools/new").context["form"]
    assert form["filters"].value() == ["category-head", "category-tail", "types", "self-answer"]
    assert [name for name, _ in form.fields["filters"].choices] == list(FILTERS)
    assert (form["stratify"].value(), form["count"].value()) == (None, None)


def test_seed_file_is_read_and_named(rotate, manager):
    file = SimpleUploadedFile("my seeds.tsv", b"p0\tknows\tp3\n")
    assert manager.post("/pools/new", FORM | {"sample": "", "seeds_file": file}).status_code == 302
    pool = Pool.objects.get()
    assert (pool.seed_source, pool.seeds.count()) == ("my seeds.tsv", 1)


def large_file() -> str:
    field = PoolForm.base_fields["seeds_file"]
    return TOO_LARGE.format(5_000_001, SEED_FILE_BYTES, field.instead)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"name": "no spaces"}, {"name": ["invalid"]}),
        ({"name": "taken"}, lambda graph: check_name("taken")),
        ({"systems": []}, {"systems": ["required"]}),
        ({"systems": ["conve"]}, {"systems": ["invalid_choice"]}),
        ({"depth": "101"}, lambda graph: check_depth(101, graph.systems.filter(name="rotate"))),
        ({"depth": "1001"}, {"depth": ["max_value"]}),
        ({"sample": ""}, {"sample": [NO_SEEDS]}),
        ({"sample": "0"}, {"sample": [NO_SEEDS]}),
        ({"count": "0"}, {"count": ["min_value"]}),
        ({"count": "3"}, lambda graph: draw_seeds(open_graph(graph), count=3)),
        ({"stratify": "colour"}, {"stratify": ["invalid_choice"]}),
        ({"sample": "2"}, {"sample": ["max_value"]}),
        ({"filters": ["all"]}, {"filters": ["invalid_choice"]}),
        ({"seeds_file": SimpleUploadedFile("s.tsv", b"x" * 5_000_001)}, {"seeds_file": [large_file()]}),
    ],
    ids=lambda value: "refused by the domain" if callable(value) else str(value)[:30],
)
def test_refusals_are_shown_at_the_form_and_make_nothing(changed: dict, why, rotate, manager):
    make_system(rotate.graph, "conve", state=SystemState.TRAINING)
    make_pool(rotate.graph, "taken")
    told = {"__all__": refusal(lambda: why(rotate.graph))} if callable(why) else why
    assert refused(manager.post("/pools/new", FORM | changed)) == told
    assert (Pool.objects.count(), Job.objects.count()) == (1, 0)


def test_a_seed_file_that_is_refused_is_named_with_its_line(rotate, manager):
    file = SimpleUploadedFile("mine.tsv", b"p0\tknows\tnobody\n")
    told = refused(manager.post("/pools/new", FORM | {"seeds_file": file}))
    assert told.keys() == {"__all__"} and "mine.tsv:1" in told["__all__"][0]
    assert (Pool.objects.count(), Job.objects.count()) == (0, 0)


def test_form_starts_on_a_graph_with_trained_systems(rotate, manager, tmp_path):
    make_graph(tmp_path / "second", "a-graph-first-by-name")
    assert fields(manager.get("/pools/new"))["graph"] == "town"
    assert has(manager.get("/pools/new?graph=a-graph-first-by-name"), "no-system")
    assert has(manager.get("/pools/new?graph=none"), "no-such-graph")


@pytest.mark.parametrize(("state", "is_told"), [("waiting", True), ("training", True), ("failed", False)])
def test_form_says_that_systems_are_being_trained(rotate, manager, state: str, is_told: bool):
    System.objects.update(state=state)
    page = manager.get("/pools/new?graph=town")
    assert has(page, "no-system") and has(page, "training") == is_told


def test_form_ticks_the_first_system_of_each_kind_that_is_not_archived(graph, manager):
    make_system(graph, "rotate", archived=True)  # the best of its seeds was the next one
    make_system(graph, "rotate-s1")
    make_system(graph, "rotate-s2")
    make_system(graph, "complex", state=SystemState.TRAINING)
    make_system(graph, "complex-mine")
    make_system(graph, "complex-s1")
    page = manager.get("/pools/new")
    boxes = parse(page).all(tag="input", type="checkbox", name="systems")
    assert [box["value"] for box in boxes] == ["rotate-s1", "rotate-s2", "complex-mine", "complex-s1"]
    assert page.context["form"]["systems"].value() == ["rotate-s1", "complex-mine"]
    assert [box["value"] for box in boxes if "checked" in box] == ["rotate-s1", "complex-mine"]


@pytest.mark.parametrize("rule", ["filtered", "raw"])
def test_the_rule_is_asked_kept_and_shown(rule: str, rotate, manager, monkeypatch):
    monkeypatch.setattr("pooling.pools.build.check_raw", lambda *args: None)
    assert manager.get("/pools/new").context["form"]["rule"].value() == "filtered"
    assert manager.post("/pools/new", FORM | {"rule": rule}).status_code == 302
    assert Pool.objects.get().rule == rule
    for page in ("/pools/fresh", "/pools/fresh/triples"):
        assert element(manager.get(page), "rule")["data-value"] == rule
    assert rule in content(manager.get("/pools")).rows[0]
    assert manager.post("/pools/new", FORM | {"name": "b", "rule": "unknown"}).status_code == 200


def test_raw_pooling_that_is_refused_offers_to_score_again(rotate, manager, monkeypatch):
    def refuse(systems, seeds, graph, score_again: bool) -> None:
        if not score_again:
            raise PoolError("rotate lacks it for 2 of 4 questions")

    monkeypatch.setattr("pooling.pools.build.check_raw", refuse)
    assert "score_again" not in fields(manager.get("/pools/new"))
    page = manager.post("/pools/new", FORM | {"rule": "raw"})
    assert refused(page) == {"__all__": ["rotate lacks it for 2 of 4 questions"]}
    assert parse(page).all(tag="input", name="score_again")
    assert manager.post("/pools/new", FORM | {"rule": "raw", "score_again": "on"}).status_code == 302


ESTIMATE = "/pools/new?part=estimate"


def test_the_form_says_how_large_each_rule_would_be(graph, manager):
    """Nothing is scored: two questions of a seed, of which seven entities less the known answers can be candidates."""
    make_system(graph, "rotate", run=False)
    page = manager.post(ESTIMATE, FORM | {"name": "", "sample": "", "count": "1"})
    size = page.context["size"]
    for row in size.rules:
        shown = element(page, f"estimate-{row.rule.value}")
        work = effort(row.size.to_people, ASSUMED_SECONDS)
        told = [str(row.size.pooled), str(row.size.to_people), str(work.labels), f"{work.hours:.1f}"]
        assert (shown.texts(tag="td"), shown["data-exact"]) == (told, "no")
    gap = element(page, "gaps").one(tag="li")
    assert (gap["data-system"], numbers(gap.text)) == ("rotate", [str(size.questions)] * 2)
    assert (Pool.objects.count(), Job.objects.count()) == (0, 0)
    form = parse(manager.get("/pools/new")).one(tag="form", method="post", **{"hx-target": "#estimate"})
    assert form["hx-post"] == ESTIMATE


def test_hours_and_money_are_those_of_the_pace_and_the_rate_that_were_typed(graph, manager):
    make_system(graph, "rotate", run=False)
    page = manager.post(ESTIMATE, FORM | {"seconds": "36", "rate": "12.5"})
    size = page.context["size"].of("filtered")
    hours = 2 * size.to_people / 100
    shown = element(page, "estimate-filtered").texts(tag="td")
    assert shown[2:] == [str(2 * size.to_people), f"{hours:.1f}", f"{12.5 * hours:.0f}"]
    changed = [2 * change.size.to_people / 100 for change in page.context["size"].changes]
    rows = element(page, "changes").all(tag="tbody")[0].all(tag="tr")
    assert [row.texts(tag="td")[2:] for row in rows] == [[f"{h:.1f}", f"{12.5 * h:.0f}"] for h in changed]
    free = element(manager.post(ESTIMATE, FORM | {"seconds": "36", "rate": ""}), "changes")
    assert len(free.all(tag="tr")[0].all(tag="th")) == 4 == len(free.all(tag="tr")[1].all(tag="td")) + 1
    changes = element(page, "changes")
    assert [row["data-about"] for row in elements(page, "change-depth")] == ["5", "20"]
    assert len(changes.all(tag="tbody")[0].all(tag="tr")) == 2 + len(FILTERS)  # nothing is left without the one system
    assert "0" in element(manager.post(ESTIMATE, FORM | {"seconds": "0"}), "no-estimate").text


def test_what_a_filter_takes_is_not_known_before_scoring(graph, manager):
    make_system(graph, "rotate", run=False)

    page = manager.post(ESTIMATE, FORM | {"seconds": "36"})
    unknown = {row["data-test"] for row in element(page, "changes").all(tag="tr")[1:] if row.has("not-known")}
    assert unknown == {"change-filter", "change-no-filter"}
    assert all(row.has("not-known") for kind in ("filter", "no-filter") for row in elements(page, f"change-{kind}"))


def test_the_pace_is_assumed_until_somebody_labels_and_measured_afterwards(graph, manager, monkeypatch):
    make_system(graph, "rotate", run=False)
    form = manager.get("/pools/new").context["costs"]
    assert (form["seconds"].value(), form["seconds"].help_text) == (ASSUMED_SECONDS, ASSUMED)
    monkeypatch.setattr("pooling.views.pools.measured_pace", lambda: Pace(8.26, 1204))
    form = manager.get("/pools/new").context["costs"]
    assert (form["seconds"].value(), form["seconds"].help_text) == (8.3, MEASURED.format(1204))


def test_without_javascript_a_button_says_the_same_and_builds_nothing(graph, manager):
    make_system(graph, "rotate", run=False)
    page = manager.post("/pools/new", FORM | {"estimate": "yes", "seconds": "36"})
    alone = manager.post(ESTIMATE, FORM | {"seconds": "36"})
    assert element(page, "estimate").text == element(alone, "estimate").text
    assert not parse(alone).has(tag="form") and parse(page).has(tag="button", name="estimate")
    assert (Pool.objects.count(), Job.objects.count()) == (0, 0)


def test_a_form_that_is_not_whole_says_what_the_estimate_lacks(graph, manager):
    make_system(graph, "rotate", run=False)
    page = manager.post(ESTIMATE, FORM | {"systems": [], "depth": "101"})
    assert has(page, "no-estimate") and set(page.context["form"].errors) == {"systems"}
    page = manager.post(ESTIMATE, FORM | {"depth": "101"})
    assert "101" in element(page, "no-estimate").text
    assert (Pool.objects.count(), Job.objects.count()) == (0, 0)


def test_what_an_import_tells_of_the_rule_is_on_the_page(graph, manager):
    found = Diagnosis(10, 4, 3, 2, [Bucket("0", 4, 2.5), Bucket("1", 0, None)], [(1, 5), (10, 7)])
    pool = make_pool(graph)
    assert not has(manager.get("/pools/town-pool/triples"), "diagnosis")
    Pool.objects.filter(pk=pool.pk).update(rule="unknown", diagnosis=as_stored(found))
    page = manager.get("/pools/town-pool/triples")
    section = element(page, "diagnosis")
    assert section["data-not-filtered"] == "yes"
    assert section.texts(tag="p")[:2] == diagnosis_says(found)
    assert [row.texts(tag="td") for row in element(page, "by-known").all(tag="tr")[1:]] == [["2.5", "4"], ["–", "0"]]
    assert [row.texts(tag="td") for row in element(page, "by-depth").all(tag="tr")[1:]] == [["5"], ["7"]]


def test_triples_with_depth_reason_and_provenance(rotate, manager):
    make_pool(rotate.graph, systems=[rotate])
    first = content(manager.get("/pools/town-pool/triples")).rows[0]
    assert first == ["ada", "knows", "emil", "1", reason_label(""), "RotatE tail 1 p0 p4"]


def test_triples_name_the_system_with_the_best_rank_first(rotate, manager):
    pool = make_pool(rotate.graph, systems=[rotate])
    pool.contributors = ["rotate", "transe", "distmult"]
    pool.save()
    pool.triples.update(provenance=findings((0, 1, 7), (1, 0, 2), (2, 1, 4)))
    first = content(manager.get("/pools/town-pool/triples")).rows[0]
    assert first[5] == "TransE tail 2 + 2 DistMult head 4 RotatE head 7 p0 p4"


def test_triples_without_labels_have_each_id_once(rotate, manager, monkeypatch):
    make_pool(rotate.graph, systems=[rotate])
    known = replace(open_graph(rotate.graph), labels=[""] * rotate.graph.num_entities)
    monkeypatch.setattr("pooling.views.pools.open_graph", lambda graph: known)
    first = content(manager.get("/pools/town-pool/triples")).rows[0]
    assert first == ["p0", "knows", "p4", "1", reason_label(""), "RotatE tail 1"]


@pytest.mark.parametrize(
    ("reason", "count"), [("", 7), ("people", 4), ("filtered", 3), ("types", 1), ("category-head", 1), ("nonsense", 7)]
)
def test_triples_by_reason(reason: str, count: int, rotate, manager):
    make_pool(rotate.graph, systems=[rotate])
    assert len(content(manager.get("/pools/town-pool/triples", {"reason": reason})).rows) == count


def test_imported_pool_without_provenance_says_so(graph, manager):
    make_pool(graph)
    page = manager.get("/pools/town-pool/triples")
    assert len(elements(page, "not-known")) == len(content(page).rows) == 7
    assert content(page).texts(tag="h2") == []  # no overlap of systems


@pytest.mark.parametrize("url", ["/pools", "/graphs", "/systems", "/jobs", "/pools/new", "/import-pool"])
def test_empty_site_says_what_to_do_first(url: str, manager):
    assert parse(manager.get(url)).has(class_="empty")


def test_graph_page_tells_relations_and_degrees(graph, manager):
    page = content(manager.get("/graphs/town"))
    assert (page.figures["entities"], page.figures["mean-degree"]) == ("7", "5.1")
    knows, lives = ["knows", "N-N", "–", "–", "12", "2"], ["lives in", "N-1", "–", "–", "6", "0"]
    assert page.rows == [knows, lives]
    assert content(manager.get("/graphs/town?category=N-1")).rows == [lives]
    assert has(manager.get("/graphs/town?q=hates"), "no-relation")


def test_graph_page_says_what_comes_after_it_until_there_is_a_pool(graph, manager):
    page = manager.get("/graphs/town")
    assert "train systems, then build a pool" in " ".join(element(page, "next").text.split())
    make_system(graph, "rotate")
    assert element(manager.get("/graphs/town"), "next").one(tag="a")["href"] == "/pools/new?graph=town"
    make_pool(graph)
    assert not has(manager.get("/graphs/town"), "next")


def test_graph_page_without_its_files_shows_the_rows(graph, manager, artifact_root):
    from pooling.graphs import opening

    opening._opened.clear()
    artifact_root.rename(artifact_root.with_name("away"))
    page = manager.get("/graphs/town")
    assert has(page, "no-files")
    assert content(page).figures["entities"] == "7"


@pytest.mark.parametrize("count", [1, 3])
def test_queries_do_not_grow(count: int, graph, manager, tmp_path, django_assert_num_queries):
    systems = [make_system(graph, f"rotate-s{i}") for i in range(count)]
    for i in range(count):
        make_pool(graph, f"pool-{i}", systems=systems)
        make_graph(tmp_path / f"more{i}", f"more-{i}")
    for url, queries in (("/pools", 8), ("/graphs", 5), ("/pools/pool-0/triples", 9)):
        with django_assert_num_queries(queries):
            manager.get(url)


def test_pages_of_a_long_list(graph, manager):
    for i in range(60):
        make_system(graph, f"rotate-s{i}", run=False)

    def shown(page) -> list[str]:
        return numbers(element(page, "shown-rows").text)

    page = manager.get("/graphs/town/systems?page=2")
    assert shown(page) == ["51", "60", "60"]
    assert parse(page).one(rel="prev")["href"] == "?page=1"
    assert shown(manager.get("/graphs/town/systems?page=99")) == ["51", "60", "60"]
    assert shown(manager.get("/graphs/town/systems?page=x")) == ["1", "50", "60"]


def test_the_page_of_pools_offers_the_import_of_a_graph_until_there_is_one(manager, tmp_path):
    assert has(manager.get("/pools"), "import-graph")
    make_graph(tmp_path / "tsv")
    assert not has(manager.get("/pools"), "import-graph")
