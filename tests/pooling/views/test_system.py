"""Systems of a graph, the form that trains them, and the curves of a training."""

from __future__ import annotations

import pytest

from pooling.enums import JobKind, SystemState
from pooling.models import Job, System
from pooling.views.curve import history_curves
from tests.pages.world import make_system, make_worker

URL = "/graphs/town/systems"
FORM = {"kinds": ["transe", "rotate"], "seeds": "1", "device": "auto", "settings": ""}


def test_training_makes_systems_and_one_job_each(graph, manager):
    assert manager.post(URL, FORM)["Location"] == URL
    assert list(System.objects.values_list("name", "state")) == [("transe", "waiting"), ("rotate", "waiting")]
    jobs = Job.objects.order_by("id").values_list("kind", "system__name", "state", "created_by__username")
    assert list(jobs) == [("train", "transe", "queued", "boss"), ("train", "rotate", "queued", "boss")]


def test_settings_and_seeds_are_passed_on(graph, manager):
    manager.post(
        URL, FORM | {"kinds": ["rotate"], "seeds": "2", "device": "cpu", "settings": "epochs = 3\n\n"}
    )
    systems = System.objects.order_by("id")
    assert [system.name for system in systems] == ["rotate", "rotate-s1"]
    assert [(s.settings["epochs"], s.settings["device"]) for s in systems] == [(3, "cpu"), (3, "cpu")]


def test_what_is_trained_is_not_trained_again(graph, manager):
    make_system(graph, "rotate")
    html = manager.post(URL, FORM | {"kinds": ["rotate"]}, follow=True).content.decode()
    assert "nothing was started" in html
    assert Job.objects.count() == 0


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"kinds": []}, "Choose at least one system."),
        ({"kinds": ["hitter"]}, "hitter is not one of the available choices"),
        ({"seeds": "0"}, "greater than or equal to 1"),
        ({"settings": "epochs"}, "Line 1 is not key=value: epochs"),
        ({"settings": "epochs=1\nepochs=2"}, "Line 2 gives epochs a second time"),
        ({"settings": "epochs=many"}, "setting epochs=many: must be a whole number"),
        ({"settings": "colour=red"}, "has no setting"),
    ],
)
def test_refusals_are_shown_at_the_form_and_start_nothing(changed: dict, message: str, graph, manager):
    html = manager.post(URL, FORM | changed).content.decode()
    assert message in html
    assert (System.objects.count(), Job.objects.count()) == (0, 0)


def test_page_of_a_system(graph, manager):
    make_system(graph, "rotate")
    html = manager.get(f"{URL}/rotate").content.decode()
    assert "<dt>validation MRR</dt><dd>0.370</dd>" in html
    assert '<dt class="mono">embedding_dim</dt><dd>64</dd>' in html


def test_system_of_a_kind_that_is_not_in_the_registry(graph, manager):
    make_system(graph, "hitter", run=False, history=[], validation_mrr=None, state=SystemState.WAITING)
    assert "which this installation does not know" in manager.get(f"{URL}/hitter").content.decode()


def test_form_warns_when_no_worker_is_running(graph, manager):
    assert "No worker is running" in manager.get(URL).content.decode()
    make_worker()
    assert "No worker is running" not in manager.get(URL).content.decode()


@pytest.mark.parametrize("count", [1, 3])
def test_queries_do_not_grow(count: int, graph, manager, django_assert_num_queries):
    for i in range(count):
        make_system(graph, f"rotate-s{i}")
    with django_assert_num_queries(7):
        manager.get(URL)
    with django_assert_num_queries(5):
        manager.get("/systems")
    with django_assert_num_queries(6):
        manager.get("/graphs/town/runs")


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
    assert set(Job.objects.values_list("kind", flat=True)) == {JobKind.TRAIN}
