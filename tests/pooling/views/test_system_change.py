"""Pages on which managers set up, clone, retrain and archive a system."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.test import Client

from core.models import Job
from pooling.enums import SystemState
from pooling.models import System
from pooling.systems import get_system, resolve_settings
from pooling.systems.spec import NEUTRAL
from pooling.training.upkeep import uses_of
from pooling.views.system_change import ARCHIVED, RESTORED
from tests.page import content, element, links, notices
from tests.pages.world import make_job, make_person, make_system

URL = "/graphs/town/systems/rotate"


def field(html: str, name: str) -> str:
    """The value that a field of the form begins with; of a list the chosen one."""
    if found := re.search(rf'<input [^>]*name="{name}"[^>]*>', html):
        value = re.search(r'value="([^"]*)"', found[0])
        return value[1] if value else ""
    options = re.search(rf'<select name="{name}".*?</select>', html, re.S)
    assert options is not None, name
    return re.search(r'<option value="([^"]*)" selected', options[0])[1]


def test_a_new_system_begins_with_its_preset(graph, manager):
    html = manager.get("/graphs/town/train/conve").content.decode()
    assert [field(html, name) for name in ("name", "seed", "set_epochs")] == ["conve", "0", ""]
    assert re.search(r'name="set_channels"[^>]*placeholder="32"', html)
    assert '<option value="" selected>preset: adam</option>' in html
    make_system(graph, "conve")
    html = manager.get("/graphs/town/train/conve").content.decode()
    assert [field(html, name) for name in ("name", "seed")] == ["conve-s1", "1"]


def test_a_new_system_is_trained_with_what_was_set(graph, manager):
    sent = {"name": "small", "seed": "4", "device": "cpu", "set_channels": "8", "set_optimizer": "adagrad"}
    assert manager.post("/graphs/town/train/conve", sent)["Location"] == "/graphs/town/systems/small"
    made = System.objects.get()
    assert (made.kind, made.seed, made.settings["channels"], made.settings["optimizer"]) == ("conve", 4, 8, "adagrad")
    assert made.settings["feature_map_dropout"] == 0.2  # of the preset
    assert Job.objects.get().system == made


def test_a_clone_begins_with_the_settings_of_the_other(graph, manager):
    make_system(graph, "rotate", settings={"embedding_dim": 32, "scale": 2.0, "device": "cpu", "optimizer": "adagrad"})
    html = manager.get(f"{URL}/clone").content.decode()
    names = ("name", "seed", "device", "set_embedding_dim", "set_scale", "set_optimizer", "set_epochs")
    assert [field(html, name) for name in names] == ["rotate-2", "1", "cpu", "32", "2", "adagrad", ""]
    sent = {"name": "rotate-2", "seed": "1", "device": "cpu", "set_embedding_dim": "16", "set_scale": "2"}
    assert manager.post(f"{URL}/clone", sent)["Location"] == "/graphs/town/systems/rotate-2"
    settings = System.objects.get(name="rotate-2").settings
    assert (settings["embedding_dim"], settings["scale"], settings["optimizer"]) == (16, 2.0, "adam")
    assert System.objects.get(name="rotate").settings["embedding_dim"] == 32


@pytest.mark.parametrize(
    ("changed", "at", "message"),
    [
        ({"set_embedding_dim": "1"}, "set_embedding_dim", "setting embedding_dim=1: must be a whole number from 2"),
        ({"name": "two words"}, "name", "Use only letters, digits, - and _"),
        ({"name": "rotate"}, "", "Graph town has a system rotate already: choose another name."),
        ({"seed": "-1"}, "seed", "Ensure this value is greater than or equal to 0."),
    ],
)
def test_what_is_wrong_stands_at_its_field_and_starts_nothing(changed: dict, at: str, message: str, graph, manager):
    make_system(graph, "rotate")
    sent = {"name": "other", "seed": "1", "device": "cpu", **changed}
    form = manager.post(f"{URL}/clone", sent).context["form"]
    errors = {name or "": [str(e) for e in found] for name, found in form.errors.items()}
    assert list(errors) == [at or "__all__"]
    assert errors[at or "__all__"][0].startswith(message)
    assert (System.objects.count(), Job.objects.count()) == (1, 0)


@pytest.mark.parametrize(
    ("kind", "setting", "value", "message"),
    [
        ("roth", "embedding_dim", "7", "embedding_dim is 7: RotH needs"),
        ("rotate", "loss", "self-adversarial", "loss=self-adversarial with num_negatives=0: "),
    ],
)
def test_settings_that_do_not_go_together_are_refused_at_the_field_named(graph, manager, kind, setting, value, message):
    sent = {"name": "other", "seed": "1", "device": "cpu", f"set_{setting}": value}
    form = manager.post(f"/graphs/town/train/{kind}", sent).context["form"]
    assert list(form.errors) == [f"set_{setting}"]
    assert form.errors[f"set_{setting}"][0].startswith(message)
    assert not System.objects.exists()


def test_retrain_is_offered_while_nothing_rests_on_the_system(graph, manager):
    make_system(graph, "rotate", run=False)
    assert f'href="{URL}/retrain"' in manager.get(URL).content.decode()
    html = manager.get(f"{URL}/retrain").content.decode()
    assert 'name="name"' not in html
    assert manager.post(f"{URL}/retrain", {"seed": "5", "device": "cpu", "set_epochs": "3"})["Location"] == URL
    system = System.objects.get()
    assert (system.name, system.seed, system.settings["epochs"], system.state) == ("rotate", 5, 3, "waiting")
    html = manager.get(URL).content.decode()  # now a job works on it
    assert f'href="{URL}/retrain"' not in html
    assert f'action="{URL}/archive"' not in html


def sent_back(html: str, settings: dict) -> dict[str, str]:
    """What a browser sends where nothing was changed."""
    keys = [key for key in settings if key != "device"]
    return {name: field(html, name) for name in ["seed", "device", *(f"set_{key}" for key in keys)]}


def test_an_unchanged_retrain_has_the_same_settings(graph, manager):
    settings = resolve_settings("rotate", 10, 10, {"learning_rate": 0.0123456789, "max_seconds": 1234567.0})
    settings["device"] = "cpu"
    make_system(graph, "rotate", run=False, settings=settings)
    html = manager.get(f"{URL}/retrain").content.decode()
    assert manager.post(f"{URL}/retrain", sent_back(html, settings))["Location"] == URL
    assert System.objects.get().settings == settings


def test_what_an_older_row_does_not_say_is_not_the_preset_of_today(graph, manager):
    preset = resolve_settings("hake", 10, 10, {})
    assert preset["loss"] == "self-adversarial"
    old = {key: value for key, value in preset.items() if key not in NEUTRAL}
    make_system(graph, "rotate", kind="hake", run=False, settings={**old, "device": "cpu"})
    for page in ("clone", "retrain"):
        html = manager.get(f"{URL}/{page}").content.decode()
        assert {key: field(html, f"set_{key}") for key in NEUTRAL} == {
            "loss": "cross-entropy",
            "margin": "9",
            "temperature": "1",
            "smoothing": "0",
            "n3": "0",
            "l2": "0",
            "precision": "full",
        }
    assert manager.post(f"{URL}/retrain", sent_back(html, preset))["Location"] == URL
    assert System.objects.get().settings == {**old, **NEUTRAL, "device": "cpu"}


def test_a_system_that_mines_rules_has_no_losses_to_fill_in(graph, manager):
    make_system(graph, "rotate", kind="rules", run=False, settings={"device": "cpu"})
    form = manager.get(f"{URL}/clone").context["form"]
    assert sorted(form.initial) == ["device", "name", "seed"]


def test_a_system_with_a_run_is_not_retrained(graph, manager):
    make_system(graph, "rotate")
    page = manager.get(URL)
    assert f"{URL}/retrain" not in links(page)
    [use] = uses_of(System.objects.get())
    assert use in element(page, "uses").text
    [said] = notices(manager.get(f"{URL}/retrain", follow=True))
    assert use in said
    form = manager.post(f"{URL}/retrain", {"seed": "5", "device": "cpu"}).context["form"]
    assert form.non_field_errors() == [said]
    assert System.objects.get().state == SystemState.TRAINED


def test_archiving_and_taking_back(graph, manager):
    make_system(graph, "rotate")
    assert notices(manager.post(f"{URL}/archive", follow=True)) == [ARCHIVED.format("rotate")]
    assert System.objects.get().archived is True
    assert notices(manager.post(f"{URL}/restore", follow=True)) == [RESTORED.format("rotate")]
    assert System.objects.get().archived is False


def test_archiving_waits_for_the_job(graph, manager):
    job = make_job(system=make_system(graph, "rotate", state=SystemState.TRAINING))
    [said] = notices(manager.post(f"{URL}/archive", follow=True))
    assert said.startswith(f"Job {job.pk} ")
    assert System.objects.get().archived is False


@pytest.mark.parametrize("typed", ["PairRE", " pairre ", "pykeen:PairRE"])
def test_a_model_of_pykeen_is_set_up_by_the_name_of_its_class(graph, manager, typed: str):
    response = manager.get("/graphs/town/systems", {"model": typed})
    assert response["Location"] == "/graphs/town/train/pykeen-PairRE"
    html = manager.get(response["Location"]).content.decode()
    assert get_system("pykeen:PairRE").label in content(html).all(tag="h1")[0].text
    assert [field(html, name) for name in ("name", "seed", "set_epochs")] == ["pykeen-PairRE", "0", ""]
    sent = {"name": "pykeen-PairRE", "seed": "0", "device": "cpu", "set_embedding_dim": "16"}
    assert manager.post(response["Location"], sent)["Location"] == "/graphs/town/systems/pykeen-PairRE"
    made = System.objects.get()
    assert (made.kind, made.settings["embedding_dim"]) == ("pykeen:PairRE", 16)
    assert Job.objects.get().system == made
    html = manager.get(response["Location"]).content.decode()
    assert [field(html, name) for name in ("name", "seed")] == ["pykeen-PairRE-s1", "1"]


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("PairRF", "PyKEEN has no model 'PairRF' that can be built from triples alone: did you mean pykeen:PairRE?"),
        ("RGCN", "PyKEEN has no model 'RGCN' that can be built from triples alone: "),
        (" ", "Give the name of a class."),
    ],
)
def test_a_class_that_pykeen_lacks_is_refused_at_its_field(graph, manager, typed: str, said: str):
    response = manager.get("/graphs/town/systems", {"model": typed})
    errors = response.context["other"].errors
    assert (response.status_code, list(errors)) == (200, ["model"])
    assert errors["model"][0].startswith(said)
    assert said in unescape(response.content.decode())
    assert manager.get("/graphs/town/train/pykeen-PairRF").status_code == 404


def test_classes_offered_are_those_that_no_system_of_ours_has(graph, manager):
    html = manager.get("/graphs/town/systems").content.decode()
    offered = re.findall(r'<option value="(\w+)"></option>', html)
    assert ("PairRE" in offered, "TransE" in offered, len(offered)) == (True, False, 23)


def test_only_managers_are_led_to_set_up_a_model_of_pykeen(graph):
    found = {}
    for role in ("researcher", "annotator"):
        client = Client()
        client.force_login(make_person(role, site=role if role == "researcher" else ""))
        listed = client.get("/graphs/town/systems", {"model": "PairRE"})
        field_is_there = b'name="model"' in listed.content
        found[role] = (listed.status_code, field_is_there, client.get("/graphs/town/train/pykeen-PairRE").status_code)
    assert found == {"researcher": (200, False, 403), "annotator": (403, False, 403)}


def test_a_model_of_pykeen_can_be_cloned(graph, manager):
    make_system(graph, "pykeen-PairRE", kind="pykeen:PairRE", settings={"embedding_dim": 32})
    html = manager.get("/graphs/town/systems/pykeen-PairRE").content.decode()
    assert "PyKEEN's PairRE with PyKEEN's own settings" in unescape(html)
    assert '>32 <span class="muted small">preset 64</span>' in html
    html = manager.get("/graphs/town/systems/pykeen-PairRE/clone").content.decode()
    assert [field(html, name) for name in ("name", "set_embedding_dim")] == ["pykeen-PairRE-2", "32"]


def test_a_system_of_an_unknown_kind_can_only_be_archived(graph, manager):
    make_system(graph, "oddity", kind="oddity", run=False)
    html = manager.get("/graphs/town/systems/oddity").content.decode()
    assert ("/clone" in html, "/retrain" in html, "/archive" in html) == (False, False, True)
    assert manager.get("/graphs/town/systems/oddity/clone").status_code == 404
