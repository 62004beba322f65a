"""Evaluations by the API say what the command and the pages say."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import call_command

from core.enums import JobState
from core.models import Job
from evaluation.enums import EvaluationJob
from evaluation.labels.qrels import freeze_qrels
from evaluation.measures.registry import MEASURES
from evaluation.pages.registry import ANALYSES
from evaluation.sections import figure_cache
from pooling.models import Pool

URL = "/api/v1/pools/p/evaluations"


@pytest.fixture
def researcher(sign_in):
    return sign_in("researcher")


def printed(*arguments: str) -> dict:
    out = StringIO()
    call_command("evaluate", "p", "--json", *arguments, stdout=out, stderr=StringIO())
    return json.loads(out.getvalue())


@pytest.mark.parametrize(
    ("query", "arguments"),
    [
        ({}, []),
        ({"labels": "seeds", "measures": "micro_mrr,judged@7"}, ["--labels=seeds", "--measures=micro_mrr,judged@7"]),
        ({"questions": "original", "assumed": "unjudged"}, ["--questions=original", "--assumed=unjudged"]),
        ({"labels": "qrels:v1", "measures": ["bpref", "map"]}, ["--labels=qrels:v1", "--measures=bpref,map"]),
    ],
)  # fmt: skip
def test_the_same_as_the_command(researcher, labelled: Pool, query, arguments):
    freeze_qrels(labelled, "v1")
    told, said = researcher.get(URL, query).json(), printed(*arguments)
    assert {key: told[key] for key in said} == said
    assert set(told) - set(said) == {"name", "questions", "assumed_is_judged", "counts", "n", "left_out"}
    assert list(said["systems"]) == ["transe", "distmult", "complex"]


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"labels": "tomorrow"}, "Unknown label set 'tomorrow': give seeds, current, full-test"),
        ({"labels": "qrels:nöne 'x'"}, "Pool p has no qrels \"nöne 'x'\". Qrels: none yet."),
        ({"labels": "a\0"}, "The address holds a NUL character, which no text here has"),
        ({"measures": "mrr"}, "measure: unknown measure 'mrr'"),
        ({"measures": ",".join(f"micro_hits@{k}" for k in range(1, 30))}, "29 measures were chosen"),
        ({"questions": "all"}, "questions is 'all': choose grown or original."),
        ({"label": "seeds"}, "label: An evaluation has no such parameter: it has assumed, labels, measures"),
    ],
)
def test_what_cannot_be_evaluated_is_said(researcher, query, words):
    answer = researcher.get(URL, query)
    assert answer.status_code == 400
    assert words in answer.json()["error"]


def test_an_analysis_is_that_of_its_page(researcher):
    query = {"labels": "seeds", "measures": "micro_mrr"}
    told = researcher.get(f"{URL}/measures", query).json()
    page = researcher.get("/pools/p/evaluation/measures.json", query).json()
    for content in (told, page):  # one tells the time to the millisecond
        content["parts"][0]["computed_at"] = content["parts"][0]["computed_at"][:23]
    assert told == page and told["parts"][0]["computed"]


def test_a_part_that_takes_long_is_a_job(researcher):
    assert [p["computed"] for p in researcher.get(f"{URL}/stability").json()["parts"]] == [True, False, False]
    answer = researcher.post(f"{URL}/stability?seed=3", {"part": "labels"}, content_type="application/json")
    job = Job.objects.get(kind=EvaluationJob.EVALUATE)
    assert (answer.status_code, answer.json()["id"]) == (202, job.pk)
    assert job.params == {"analysis": "stability", "part": "labels", "settings": "seed=3"}
    assert job.created_by.username == "researcher"
    again = researcher.post(f"{URL}/stability?seed=3", {"part": "labels"}, content_type="application/json")
    assert again.json()["id"] == job.pk


def test_computations_that_one_person_has_waiting_are_limited(researcher, monkeypatch):
    def ask(seed: int):
        body = {"part": "labels"}
        return researcher.post(f"{URL}/stability?seed={seed}", body, content_type="application/json")

    monkeypatch.setattr(figure_cache, "MOST_ASKED", 2)
    assert [ask(seed).status_code for seed in (3, 4, 5, 3)] == [202, 202, 400, 202]  # the last is the first
    assert ask(5).json()["error"].startswith("2 computations that you asked for are waiting or under way.")
    page = researcher.post("/pools/p/evaluation/stability/labels/compute", {"settings": "seed=5"}, follow=True)
    assert "2 computations that you asked for" in page.content.decode()
    Job.objects.filter(params__settings="seed=3").update(state=JobState.DONE)
    assert ask(5).status_code == 202


@pytest.mark.parametrize(
    ("url", "body", "status", "words"),
    [
        (f"{URL}/none", {"part": "labels"}, 404, "There is nothing here"),
        ("/api/v1/pools/none/evaluations/stability", {"part": "labels"}, 404, "There is nothing here"),
        (f"{URL}/stability", {}, 400, "part: This field is required."),
        (f"{URL}/stability", {"part": "questions"}, 400, "Parts of this analysis that a job computes: labels"),
        (f"{URL}/measures", {"part": "x"}, 400, "computes: "),
        (f"{URL}/stability?labels=none", {"part": "labels"}, 400, "Unknown label set 'none'"),
        (f"{URL}/stability?robustness=1", {"part": "labels"}, 400, "This analysis has no such parameter"),
    ],
)
def test_what_no_job_computes_is_said(researcher, url, body, status, words):
    answer = researcher.post(url, body, content_type="application/json")
    assert answer.status_code == status and words in answer.json()["error"]
    assert not Job.objects.filter(kind=EvaluationJob.EVALUATE).exists()


def test_registries_are_lists(researcher):
    measures = researcher.get("/api/v1/measures").json()
    assert [row["name"] for row in measures["results"]] == [measure.name for measure in MEASURES]
    analyses = researcher.get("/api/v1/analyses").json()["results"]
    assert [row["key"] for row in analyses] == ["overview", *(analysis.key for analysis in ANALYSES)]
    assert next(row for row in analyses if row["key"] == "stability")["by_job"][0] == "labels"
    wrong = researcher.get("/api/v1/measures?page_size=5")
    assert (wrong.status_code, wrong.json()["error"]) == (
        400,
        "page_size: This list has no such parameter: it has none.",
    )
    one = researcher.get("/api/v1/measures/micro_hits@7").json()
    assert (one["label"], one["k"]) == ("Micro Hits@7", 7)
    for name in ("none", "micro_hits@0", "a b", "x'\"", "ü"):
        assert researcher.get(f"/api/v1/measures/{name}").status_code == 404
