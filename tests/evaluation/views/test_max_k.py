"""The page Max-k: a manager has runs scored again, and everybody sees how far it is."""

from __future__ import annotations

import pytest

from core.enums import JobState
from core.jobs.execution import execute
from core.models import Job
from pooling.enums import PoolingJob
from pooling.models import Pool
from pooling.training.train import systems_with_runs
from tests.factories import make_job
from tests.page import element, fields, has, links, notices, parse, posts

PAGE = "/pools/p/evaluation/max-k"
SCORE = f"{PAGE}/score"


def test_only_managers_have_the_button(sign_in, labelled: Pool):
    manager, researcher = (sign_in(role).get(PAGE).content.decode() for role in ("manager", "researcher"))
    assert SCORE in posts(manager) and SCORE not in posts(researcher)
    assert "Not shown: TransE, DistMult and ComplEx." in researcher


@pytest.mark.django_db(transaction=True)
def test_one_click_scores_what_is_missing_and_the_page_shows_it(sign_in, labelled: Pool):
    client = sign_in("manager")
    answer = client.post(SCORE, follow=True)
    html = answer.content.decode()
    jobs = list(Job.objects.filter(kind=PoolingJob.SCORE).order_by("pk"))
    assert answer.redirect_chain == [(PAGE, 302)]
    assert [said.split()[0] for said in notices(answer)] == ["3"]
    assert [(job.system.name, job.params) for job in jobs] == [(name, {}) for name in ("transe", "distmult", "complex")]
    assert {job.created_by.username for job in jobs} == {"manager"}
    for job in jobs:
        shown = element(html, f"job-{job.system.name}")
        assert shown["data-state"] == "queued" and "0 %" in shown.text
        assert [a["href"] for a in shown.all(tag="a")] == [f"/jobs/{job.pk}"]
    seen = sign_in("researcher").get(PAGE).content.decode()
    assert "0 %" in element(seen, "job-transe").text
    client.post(SCORE)
    assert Job.objects.filter(kind=PoolingJob.SCORE).count() == 3
    for job in jobs:
        execute(job.pk, "w")
    html = client.get(PAGE).content.decode()
    assert not has(html, "job-transe") and SCORE not in posts(html) and has(html, "models-title")
    assert len(notices(client.post(SCORE, follow=True))) == 1
    assert Job.objects.filter(kind=PoolingJob.SCORE).count() == 3  # no run lacks anything


def test_a_job_that_failed_is_told_until_another_one_is_there(sign_in, labelled: Pool):
    client = sign_in("manager")
    client.post(SCORE)
    Job.objects.filter(system__name="transe").update(state="failed", error="the disk is full")
    Job.objects.filter(system__name="complex").update(state="cancelled")
    html = client.get(PAGE).content.decode()
    assert element(html, "job-transe")["data-state"] == "failed"
    assert element(html, "job-transe").text.split(": ")[1].startswith("the disk is full")
    assert not has(html, "job-complex")
    client.post(SCORE)
    make_job(PoolingJob.EXTEND_POOL, JobState.RUNNING, pool=labelled, done=1, total=4)
    html = client.get(PAGE).content.decode()
    assert element(html, "job-transe")["data-state"] == "queued" and "0 %" in element(html, "job-transe").text
    assert "25 %" in element(html, "job-pool").text


@pytest.mark.django_db(transaction=True)
def test_secondary_sections_are_folded_and_say_what_they_find(sign_in, labelled: Pool):
    client = sign_in("manager")
    client.post(SCORE)
    for job in Job.objects.filter(kind=PoolingJob.SCORE):
        execute(job.pk, "w")
    figures = parse(client.get(PAGE)).one(id="figures")
    folds = figures.all(tag="details", class_="section fold")
    folded = {fold.one(tag="section")["id"]: fold for fold in folds}
    every = [one["id"] for one in figures.all(tag="section", class_="section") if "id" in one]
    assert [key for key in every if key not in folded] == ["usual-labels", "models", "protocol-f1"]
    assert {"usual-against", "protocol-precision", "alpha", "alpha-recall", "contrast"} <= {*folded}
    for key, fold in folded.items():
        assert "open" not in fold
        summary = fold.elements[0]
        assert summary.has(tag="h2", id=f"{key}-title") and summary.one(class_="fold-finding").text.endswith(".")


def test_who_may_have_them_scored(sign_in, labelled: Pool):
    for role, status in (("researcher", 403), ("annotator", 403), ("guest", 403), ("stranger", 302)):
        assert sign_in(role).post(SCORE).status_code == status
    assert sign_in("manager").get(SCORE).status_code == 405
    assert not Job.objects.filter(kind=PoolingJob.SCORE).exists()


def test_a_pool_that_nobody_can_evaluate_says_so(sign_in, labelled: Pool):
    for system in systems_with_runs(labelled):
        system.run.delete()
    answer = sign_in("manager").post(SCORE, follow=True)
    assert "No system has the rank rows" in answer.content.decode()


def test_the_form_has_the_systems_and_what_is_chosen(sign_in, labelled: Pool):
    html = sign_in("researcher").get(f"{PAGE}?system=distmult&answers=filtered&k=5").content.decode()
    [select] = [one for one in parse(html).all(tag="select") if one["name"] == "system"]
    assert [option["value"] for option in select.all(tag="option")] == ["", "transe", "distmult", "complex"]
    assert (fields(html)["system"], fields(html)["answers"]) == ("distmult", "filtered")
    assert "/help/lenses#max-k" in links(html)
