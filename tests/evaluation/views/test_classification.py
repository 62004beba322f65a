"""The page Triple classification: a manager has runs scored again, and the page then shows all systems."""

from __future__ import annotations

from core.jobs.execution import execute
from core.models import Job
from pooling.enums import PoolingJob
from pooling.models import Pool
from tests.page import element, has, posts

PAGE = "/pools/p/evaluation/classification"
SCORE = f"{PAGE}/score"


def test_one_click_scores_what_is_missing_and_the_page_shows_it(sign_in, labelled: Pool):
    client = sign_in("manager")
    assert SCORE in posts(client.get(PAGE).content.decode())
    assert SCORE not in posts(sign_in("researcher").get(PAGE).content.decode())
    answer = client.post(SCORE, follow=True)
    assert answer.redirect_chain == [(PAGE, 302)]
    jobs = list(Job.objects.filter(kind=PoolingJob.SCORE).order_by("pk"))
    assert [job.system.name for job in jobs] == ["transe", "distmult", "complex"]
    html = answer.content.decode()
    assert all(element(html, f"job-{job.system.name}")["data-state"] == "queued" for job in jobs)
    for job in jobs:
        execute(job.pk, "w")
    html = client.get(PAGE).content.decode()
    assert SCORE not in posts(html) and not has(html, "job-transe")
    assert has(html, "classification-title") and has(html, "halves-title") and has(html, "by-relation-title")


def test_the_same_figures_come_as_json_and_csv(sign_in, labelled: Pool):
    client = sign_in("manager")
    client.post(SCORE)
    for job in Job.objects.filter(kind=PoolingJob.SCORE):
        execute(job.pk, "w")
    content = client.get(f"{PAGE}.json?assumed=unjudged").json()
    sections = {section["key"]: section for part in content["parts"] for section in part["sections"]}
    rows = sections["classification"]["tables"][0]["rows"]
    lines = client.get(f"{PAGE}/classification.csv?assumed=unjudged").content.decode().splitlines()
    table = [line.split(",") for line in lines if line.startswith(("transe,", "distmult,", "complex,"))]
    assert [(row[0], round(row[1], 6)) for row in rows] == [(cells[0], round(float(cells[1]), 6)) for cells in table]
