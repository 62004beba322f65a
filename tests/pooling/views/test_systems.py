"""Systems of a graph, the form that trains them, and the curves of a training."""

from __future__ import annotations

import re
from io import BytesIO

import pytest
from django.test import Client

from core.models import Job
from pooling.enums import PoolingJob, SystemState
from pooling.forms.systems import DIFFERS
from pooling.models import System
from pooling.systems import SYSTEMS, USUAL
from pooling.systems.spec import COMMON_SETTINGS
from pooling.training.curves import compared_charts, history_curves
from pooling.training.files import FILES, NOT_TRAINED
from pooling.training.train import BEST_OF_ONE
from pooling.views.systems import NOTHING_STARTED
from tests.page import element, elements, has, links, notices, numbers, parse, refused, table
from tests.pages.world import make_person, make_system, make_worker

URL = "/graphs/town/systems"
FORM = {"kinds": ["transe", "rotate"], "seeds": "1", "device": "auto"}


def test_training_makes_systems_and_one_job_each(graph, manager):
    assert manager.post(URL, FORM)["Location"] == URL
    assert list(System.objects.values_list("name", "state")) == [("transe", "waiting"), ("rotate", "waiting")]
    jobs = Job.objects.order_by("id").values_list("kind", "system__name", "state", "created_by__username")
    assert list(jobs) == [("train", "transe", "queued", "boss"), ("train", "rotate", "queued", "boss")]


def test_settings_and_seeds_are_passed_on(graph, manager):
    manager.post(URL, FORM | {"kinds": ["rotate"], "seeds": "2", "device": "cpu", "set_epochs": " 3 "})
    systems = System.objects.order_by("id")
    assert [system.name for system in systems] == ["rotate", "rotate-s1"]
    assert [(s.settings["epochs"], s.settings["device"]) for s in systems] == [(3, "cpu"), (3, "cpu")]
    assert {s.best_of_seeds for s in systems} == {False}


def test_the_best_of_seeds_is_asked_for_by_a_box(graph, manager):
    manager.post(URL, FORM | {"kinds": ["rotate"], "seeds": "2", "best": "on"})
    assert {s.best_of_seeds for s in System.objects.all()} == {True}


def test_the_form_offers_what_is_not_there_and_says_how_long_the_others_took(graph, manager):
    manager.post(URL, FORM | {"kinds": ["distmult", "rotate"]})
    System.objects.filter(kind="distmult").update(train_seconds=125)
    page = parse(manager.get(URL))
    boxes = page.all(tag="input", name="kinds")
    assert sorted(box["value"] for box in boxes if "checked" in box) == sorted({*USUAL} - {"distmult", "rotate"})
    assert numbers(page.one("took").text) == ["2", "05"]


def test_the_form_offers_the_usual_systems_and_what_settings_are_allowed(graph, manager):
    page = parse(manager.get(URL))
    boxes = page.all(tag="input", name="kinds")
    assert sorted(box["value"] for box in boxes if "checked" in box) == sorted(USUAL)
    assert {box["value"] for box in boxes} == set(SYSTEMS)
    assert not page.has("took")
    every, dim = (
        page.one(tag="input", type="number", name=f"set_{key}") for key in ("validate_every", "embedding_dim")
    )
    assert every["placeholder"] == "1"
    assert (dim["min"], dim["max"], dim["step"], dim["placeholder"]) == ("2", "4096", "1", DIFFERS)
    epochs, told = COMMON_SETTINGS["epochs"], page.one(id="id_set_epochs_helptext").text.casefold()
    assert told == f"{epochs.help}. {epochs.allowed}.".casefold()
    assert numbers(told.replace(",", "")) == ["1", "10000"]


@pytest.mark.parametrize(
    ("states", "primary"),
    [
        ([], "Train systems"),
        (["trained"], "Train systems"),
        (["trained", "trained"], "Build a pool"),
        (["trained", "trained", "waiting"], "Train systems"),
        (["trained", "trained", "training"], "Train systems"),
        (["trained", "trained", "failed"], "Build a pool"),
    ],
)
def test_the_primary_button_builds_a_pool_once_two_systems_are_trained_and_none_waits(states, primary, graph, manager):
    for name, state in zip(("transe", "rotate", "conve"), states, strict=False):
        make_system(graph, name, state=state, run=False)
    page = parse(manager.get(URL))
    assert [one.text for one in page.walk() if one.attrs.get("class") == "button-primary"] == [primary]
    if states:
        assert page.has("build")


def test_what_is_trained_is_not_trained_again(graph, manager):
    make_system(graph, "rotate")
    assert notices(manager.post(URL, FORM | {"kinds": ["rotate"]}, follow=True)) == [NOTHING_STARTED]
    assert Job.objects.count() == 0


def wrong(key: str, text: str) -> dict[str, list[str]]:
    """Return what the registry says against the value of a setting, at its field."""
    with pytest.raises(ValueError) as caught:
        COMMON_SETTINGS[key].parse(key, text)
    return {f"set_{key}": [str(caught.value)]}


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"kinds": []}, {"kinds": ["required"]}),
        ({"kinds": ["nothing"]}, {"kinds": ["invalid_choice"]}),
        ({"seeds": "0"}, {"seeds": ["min_value"]}),
        ({"set_epochs": "many"}, wrong("epochs", "many")),
        ({"set_learning_rate": "0"}, wrong("learning_rate", "0")),
        ({"set_optimizer": "sgd"}, wrong("optimizer", "sgd")),
        ({"best": "on"}, {"__all__": [BEST_OF_ONE]}),
    ],
)
def test_refusals_are_shown_at_the_form_and_start_nothing(changed: dict, why: dict, graph, manager):
    assert refused(manager.post(URL, FORM | changed)) == why
    assert (System.objects.count(), Job.objects.count()) == (0, 0)


def test_page_of_a_system(graph, manager):
    make_system(graph, "rotate")
    html = manager.get(f"{URL}/rotate").content.decode()
    assert [one.text for one in parse(html).all(tag="h1")] == ["RotatE"]
    assert element(html, "validation-mrr").text == "0.370"
    assert element(html, "setting-embedding_dim").text == "64"
    assert element(html, "help-embedding_dim")["title"] == SYSTEMS["rotate"].settings["embedding_dim"].help
    epochs = element(html, "setting-epochs")
    assert (epochs.text.split()[0], epochs.all(tag="span")[0].text.split()[-1]) == ("10", "20")
    assert element(html, "formula").children == [SYSTEMS["rotate"].formula]


def test_page_of_a_system_says_what_is_unusual(graph, manager):
    make_system(graph, "rotate", note="stopped: the loss is not finite", archived=True, peak_bytes=3 * 2**20)
    html = manager.get(f"{URL}/rotate").content.decode()
    assert element(html, "note").text == "Stopped: the loss is not finite"
    assert element(html, "system-state").text.split(", ") == [SystemState.TRAINED.label.lower(), "archived"]
    assert element(html, "peak-memory").text == "3.0 MB"


def test_page_of_a_failed_system_says_why_to_managers(graph, manager):
    system = make_system(graph, "rotate", run=False, state=SystemState.FAILED)
    for state, error in (("failed", "it needs 134 GB, 13 GB are free."), ("done", ""), ("failed", "<b> is odd.")):
        job = Job.objects.create(kind=PoolingJob.TRAIN, system=system, state=state, error=error)
    html = manager.get(f"{URL}/rotate").content.decode()
    failed = element(html, "failed")
    assert failed.text.startswith("<b> is odd. ") and failed.one(tag="a")["href"] == f"/jobs/{job.pk}"
    assert "134 GB" not in html  # of the last attempt only
    researcher = Client()
    researcher.force_login(make_person("rita", site="researcher"))
    seen = researcher.get(f"{URL}/rotate").content.decode()
    assert "is odd" not in seen and not has(seen, "failed")


def test_system_of_a_kind_that_is_not_in_the_registry(graph, manager):
    make_system(graph, "oddity", run=False, history=[], validation_mrr=None, state=SystemState.WAITING)
    assert "oddity" in element(manager.get(f"{URL}/oddity"), "unknown-kind").text


def test_form_warns_when_no_worker_is_running(graph, manager):
    assert has(manager.get(URL), "no-worker")
    make_worker()
    assert not has(manager.get(URL), "no-worker")


@pytest.mark.parametrize("count", [1, 3])
def test_queries_do_not_grow(count: int, graph, manager, django_assert_num_queries):
    for i in range(count):
        make_system(graph, f"rotate-s{i}")
    with django_assert_num_queries(10):
        manager.get(URL)
    with django_assert_num_queries(5):
        manager.get("/systems")
    with django_assert_num_queries(8):
        manager.get("/graphs/town/runs")


def test_archived_systems_are_in_their_own_list_only(graph, manager):
    make_system(graph, "rotate")
    make_system(graph, "transe", archived=True)
    pages = {url: links(manager.get(url)) for url in (URL, f"{URL}?archived=yes", "/systems")}
    shown = {
        url: [to.rpartition("/")[2] for to in found if re.fullmatch(rf"{URL}/[\w-]+", to)]
        for url, found in pages.items()
    }
    assert shown == {URL: ["rotate"], f"{URL}?archived=yes": ["transe"], "/systems": ["rotate"]}
    assert numbers(pages[URL]["?archived=yes"]) == ["1"]
    boxes = parse(manager.get("/pools/new?graph=town")).all(tag="input", name="systems")
    assert [box["value"] for box in boxes] == ["rotate"]


def test_curve_ends_at_the_corners_of_its_frame():
    loss, mrr = history_curves(
        [{"epoch": 1, "loss": 3.0, "validation_mrr": None}, {"epoch": 3, "loss": 1.0, "validation_mrr": 0.5}]
    )
    assert [(p.x, p.y, p.epoch) for p in loss.points] == [(56, 12, 1), (468, 136, 3)]
    assert sorted(loss.ticks) == [(12, "3.000"), (136, "1.000")]
    assert [(p.x, p.y) for p in mrr.points] == [(468, 12)]
    assert mrr.ticks == [(12, "0.500")]


def test_no_history_gives_no_curve():
    assert history_curves([]) == []


def test_jobs_of_training_are_train_jobs(graph, manager):
    manager.post(URL, FORM)
    assert set(Job.objects.values_list("kind", flat=True)) == {PoolingJob.TRAIN}


# -- compared ---------------------------------------------------------------------------------------------------


def test_systems_are_compared_in_figures_curves_and_settings(graph, manager):
    make_system(graph, "transe", peak_bytes=2**30)
    make_system(graph, "conve", settings={"embedding_dim": 64, "epochs": 12})
    make_system(graph, "rotate", archived=True)
    html = manager.get("/graphs/town/compare").content.decode()
    assert table(html, "reached")[0][3:9] == ["0.3700", "10", "10", "83.5", "8.35", "1,024"]
    assert [one["data-mark"] for one in parse(html).all(tag="button", class_="series")] == ["0", "1"]
    assert table(html, "differ") == [["epochs", "10", "12"]]
    assert element(html, "same-embedding_dim").text == "64"


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("?systems=transe", ["same"]),
        ("?systems=transe&systems=nobody", ["missing", "same"]),
        ("?systems=nobody", ["missing", "none-chosen"]),
    ],
)
def test_one_system_or_none_is_no_problem(query: str, shown: list[str], graph, manager):
    make_system(graph, "transe", history=[])
    html = manager.get(f"/graphs/town/compare{query}").content.decode()
    assert [name for name in ("missing", "none-chosen", "same") if has(html, name)] == shown
    assert "missing" not in shown or "nobody" in element(html, "missing").text
    assert "data-chart" not in html


@pytest.mark.parametrize("count", [1, 3])
def test_queries_of_a_comparison_do_not_grow(count: int, graph, manager, django_assert_num_queries):
    for i in range(count):
        make_system(graph, f"rotate-s{i}")
    with django_assert_num_queries(6):
        manager.get("/graphs/town/compare")


def test_compared_curves_leave_out_what_has_no_values():
    history = [{"epoch": 1, "loss": 3.0, "validation_mrr": None}, {"epoch": 2, "loss": 2.0, "validation_mrr": 0.5}]
    mrr, loss = compared_charts([("a", 4, history), ("rules", 5, [{"epoch": 1, "loss": None}]), ("c", 6, [])])
    assert (mrr.columns, mrr.rows) == (["a"], [(2, [0.5])])
    assert loss.data["data"]["series"] == [{"name": "a", "x": [1, 2], "y": [3.0, 2.0], "system": 4}]
    assert (loss.key, loss.rows) == ("loss", [(1, [3.0]), (2, [2.0])])
    assert compared_charts([("c", 6, [])]) == []


def test_values_of_a_chart_are_a_file_of_the_systems_compared(graph, manager):
    history = [{"epoch": 1, "loss": 3.0, "validation_mrr": None}, {"epoch": 2, "loss": 2.5, "validation_mrr": 0.5}]
    make_system(graph, "transe", history=history)
    make_system(graph, "rotate", history=history[1:])
    make_system(graph, "rules", history=[{"epoch": 1, "loss": None, "validation_mrr": 0.25}])
    files = [url for url in links(manager.get("/graphs/town/compare?systems=rotate&systems=transe")) if ".csv" in url]
    assert files == [
        "/graphs/town/compare/validation-mrr.csv?systems=rotate&systems=transe",
        "/graphs/town/compare/loss.csv?systems=rotate&systems=transe",
    ]
    response = manager.get(files[1])
    assert response["Content-Disposition"] == 'attachment; filename="town-loss.csv"'
    assert response.content.decode() == "epoch,transe,rotate\r\n1,3.0,\r\n2,2.5,2.5\r\n"
    every = manager.get("/graphs/town/compare/validation-mrr.csv").content.decode()
    assert every == "epoch,transe,rotate,rules\r\n1,,,0.25\r\n2,0.5,0.5,\r\n"
    assert "/graphs/town/compare/loss.csv" in links(manager.get("/graphs/town/compare"))
    assert manager.get("/graphs/town/compare/loss.csv?systems=rules").status_code == 404
    assert manager.get("/graphs/town/compare/hits.csv").status_code == 404


# -- files ------------------------------------------------------------------------------------------------------


def test_files_are_downloads_named_after_graph_and_system(graph, manager, monkeypatch):
    make_system(graph, "rotate")
    assert not has(manager.get(f"{URL}/rotate"), "take-away")  # it has no checkpoint
    System.objects.update(sha256="0" * 64)
    taken = element(manager.get(f"{URL}/rotate"), "take-away").all(tag="a")
    assert [a["href"] for a in taken if "download" in a.attrs] == [f"{URL}/rotate/files/{name}" for name in FILES]
    monkeypatch.setattr("pooling.views.systems.open_file", lambda system, name: BytesIO(name.encode()))
    response = manager.get(f"{URL}/rotate/files/entities.npy")
    assert response["Content-Disposition"] == 'attachment; filename="town-rotate-entities.npy"'
    assert b"".join(response.streaming_content) == b"entities.npy"


def test_files_that_are_not_there_say_why(graph, manager):
    make_system(graph, "rotate", state=SystemState.TRAINING)
    response = manager.get(f"{URL}/rotate/files/weights.safetensors")
    assert response.status_code == 409
    assert element(response, "problem").text == NOT_TRAINED.format("rotate")
    assert manager.get(f"{URL}/rotate/files/best.pt").status_code == 404


def test_the_page_of_a_system_shows_its_family_of_seeds_and_the_chosen_one(graph, manager):
    seeds = [make_system(graph, f"transe-s{seed}", kind="transe", seed=seed) for seed in range(3)]
    for system, mrr in zip(seeds, (0.1, 0.4, 0.3), strict=True):
        System.objects.filter(pk=system.pk).update(
            validation_mrr=mrr, settings={"epochs": 2}, state=SystemState.TRAINED
        )
    System.objects.filter(pk=seeds[0].pk).update(archived=True)
    page = manager.get(f"{URL}/transe-s2")
    assert element(page, "validation-over-seeds").text == "0.2667 ± 0.1528"
    chosen = [
        one for one in elements(page, "seeds")[0].walk() if one.attrs.get("data-test") in ("chosen", "seed-transe-s1")
    ]
    assert [one.tag for one in chosen] == ["tr", "strong"] and has(page, "seed-transe-s0")
    rows = [row[0] for row in table(page, "seeds")]
    assert rows == ["TransE (seed 1)", "TransE (seed 0)", "TransE (seed 2)"]
    assert [a["href"] for a in element(page, "seeds").all(tag="a")] == [f"{URL}/transe-s1", f"{URL}/transe-s0"]
    assert not has(page, "unlike-seeds")


def test_the_page_of_a_seed_with_another_setting_names_the_setting(graph, manager):
    for seed, epochs in enumerate((2, 5)):
        system = make_system(graph, f"transe-s{seed}", kind="transe", seed=seed)
        System.objects.filter(pk=system.pk).update(settings={"epochs": epochs})
    page = manager.get(f"{URL}/transe-s1")
    assert "epochs is 2 in transe-s0 and 5 in transe-s1" in element(page, "unlike-seeds").text
    make_system(graph, "alone", kind="rotate")
    assert not has(manager.get(f"{URL}/alone"), "seeds")
