"""The pages of open-world studies: started, followed, taken away as files, refused in words."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest
from django.test import Client

from core.models import AuditEntry, Job
from evaluation.forms.open_world_study import NO_NUMBERS
from evaluation.models import Study
from evaluation.open_world.study import SMALL
from evaluation.open_world.study_curves import view_of
from evaluation.views.open_world import NOTHING_YET
from tests.evaluation.studies import finish, make_study
from tests.factories import make_person
from tests.page import charts, content, drawn, element, fields, has, numbers, parse, refusal, refused


@pytest.fixture
def boss(db) -> Client:
    client = Client()
    client.force_login(make_person("boss", "manager"), backend="config.sign_in.Accounts")
    return client


def test_studies_form_starts_the_first_job(boss):
    given = {
        "name": "mine",
        "size": "small",
        "systems": ["transe", "complex"],
        "density": "0.9, 0.7",
        "epochs": "4",
        "seed": "3",
        "device": "cpu",
    }
    answer = boss.post("/open-world/studies", given)
    assert answer["Location"] == "/open-world/studies/mine"
    options = Study.objects.get().options
    assert {key: options[key] for key in ("systems", "densities", "settings", "seed", "families")} == {
        "systems": ["transe", "complex"],
        "densities": [0.9, 0.7],
        "seed": 3,
        "families": 2,
        "settings": {"learning_rate": "0.005", "epochs": "4"},
    }
    job = Job.objects.get()
    assert (job.kind, job.system, job.params, job.created_by.username) == (
        "open-world",
        None,
        {"study": "mine"},
        "boss",
    )
    assert acts() == [("study-made", "boss", "mine")]
    assert has(boss.get("/open-world/studies/mine"), "preparing")
    assert "mine" in content(boss.get(f"/jobs/{job.pk}")).text


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"name": ""}, {"name": ["required"]}),
        ({"density": "0.7_5"}, {"density": [NO_NUMBERS]}),
        ({"density": "0.9 much"}, {"density": [NO_NUMBERS]}),
        ({"density": "1.5"}, {"__all__": refusal(lambda: replace(SMALL, densities=(1.5,)).check())}),
        ({"epochs": "1"}, {"epochs": ["min_value"]}),
    ],
)
def test_studies_form_refuses_with_the_reason(boss, change, why):
    given = {"name": "mine", "size": "small", "seed": "3", "device": "cpu", **change}
    answer = boss.post("/open-world/studies", given)
    assert answer.status_code == 200
    assert refused(answer) == why
    assert not Study.objects.exists()
    assert not Job.objects.exists()


@pytest.mark.parametrize("count", [1, 3])
def test_studies_list_asks_the_same_number_of_questions(boss, django_assert_num_queries, count):
    for i in range(count):
        Study.objects.create(name=f"s{i}", options={"densities": [0.9], "systems": ["transe"]})
    boss.get("/open-world/studies")
    with django_assert_num_queries(6):
        assert boss.get("/open-world/studies").status_code == 200


@pytest.mark.django_db(transaction=True)
def test_study_page_json_and_csv_of_a_finished_study():
    client = Client()
    client.force_login(make_person("r", "researcher"), backend="config.sign_in.Accounts")
    study = make_study()
    before = client.get("/open-world/studies/tiny/version").json()["version"]
    assert has(client.get("/open-world/studies/tiny"), "no-checkpoint")
    finish(study)
    assert client.get("/open-world/studies/tiny/version").json()["version"] != before
    page = client.get("/open-world/studies/tiny?density=0.6&division=predicted-present&chooser=transe")
    assert not has(page, "no-checkpoint") and numbers(element(page, "finished").text) == ["4", "4"]
    chosen = fields(page)
    assert (chosen["density"], chosen["division"], chosen["chooser"]) == ("0.6", "predicted-present", "transe")
    captions = parse(page).texts(tag="figcaption")
    assert [one for one in captions if "what TransE predicts is there" in one]
    shown = charts(page)
    assert list(shown) == ["mrr", "hits-1", "hits-3", "hits-10", "log-mrr", "p-mrr", "summary"]
    assert list(drawn(shown["mrr"])) == ["DistMult", "theory", "y = x"]
    whole = client.get("/open-world/studies/tiny.json?density=0.6").json()
    assert whole["view"] == {"density": 0.6, "division": "independent", "chooser": "distmult"}
    points = next(s for s in whole["sections"] if s["key"] == "checkpoints")["tables"][0]["rows"]
    answer = client.get("/open-world/studies/tiny/checkpoints.csv?density=0.6")
    assert "open-world-tiny-checkpoints" in answer["Content-Disposition"]
    rows = list(csv.reader(io.StringIO(answer.content.decode("utf-8-sig"))))
    assert rows[0][:4] == ["system", "epoch", "strength", "mrr_full"]
    assert [row[:2] for row in rows[1:]] == [[name, str(epoch)] for name, epoch, *_ in points]
    assert client.get("/open-world/studies/tiny/nothing.csv").status_code == 404


def test_study_page_of_what_there_is_not(boss):
    study = make_study()
    answer = boss.get("/open-world/studies/tiny?density=0.5")
    assert answer.status_code == 400
    assert [element(answer, "problem").text] == refusal(lambda: view_of(study, {"density": "0.5"}))
    assert boss.get("/open-world/studies/other").status_code == 404
    assert boss.get("/open-world/studies/tiny.json").json() == {"error": NOTHING_YET.format("tiny")}


def test_study_continue_starts_once(boss):
    make_study()
    boss.post("/open-world/studies/tiny/continue")
    boss.post("/open-world/studies/tiny/continue")
    assert Job.objects.filter(state="queued").count() == 1
    assert acts() == [("study-made", None, "tiny"), ("study-continued", "boss", "tiny")]


def acts() -> list[tuple[str, str | None, str]]:
    found = AuditEntry.objects.filter(act__startswith="study-")
    return list(found.order_by("pk").values_list("act", "person__username", "about"))
