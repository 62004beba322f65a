"""The evaluation overview: who may see it, what it says, and when it says something new."""

from __future__ import annotations

import json
import re

import pytest
from django.utils import timezone
from django.utils.html import escape

from evaluation.domain.dashboard import overview, page_version
from evaluation.models import Figure
from pooling.enums import JobKind
from pooling.models import Job, Pool, Worker
from tests.factories import judge, make_system

PAGE, VERSION, COMPUTE = (f"/pools/p/evaluation{part}" for part in ("", "/version", "/compute"))
LOGIN = "/login?next="


@pytest.mark.parametrize(
    ("role", "status"),
    [
        ("manager", 200), ("researcher", 200), ("annotator", 403), ("adjudicator", 403), ("guest", 403),
        ("stranger", 302),
    ],
)  # fmt: skip
def test_who_may_see_the_evaluation(sign_in, role, status):
    client = sign_in(role)
    for url in (PAGE, f"{PAGE}?part=figures", VERSION):
        answer = client.get(url)
        assert answer.status_code == status
        if status == 302:
            assert answer["Location"].startswith(LOGIN)
        if status == 403:
            assert "complex" not in answer.content.decode()
    posted = client.post(COMPUTE)
    assert posted.status_code == (302 if status == 200 else status)
    assert Job.objects.filter(kind=JobKind.EVALUATE).count() == (1 if status == 200 else 0)


def test_the_page_says_it_in_a_sentence_and_shows_every_system(sign_in, labelled: Pool):
    html = sign_in("researcher").get(PAGE).content.decode()
    found = overview(labelled, "micro_mrr")
    assert found["new_positives"] > 0
    assert escape(found["sentence"]) in html
    for name in ("transe", "distmult", "complex"):
        assert html.count(f'<th scope="row">{name}</th>') == 4  # three label sets, and the shares
    assert f'data-version="{page_version(labelled)}"' in html


def test_the_figures_part_is_the_part_alone_and_the_same(sign_in):
    client = sign_in("manager")
    page, part = (client.get(url).content.decode() for url in (PAGE, f"{PAGE}?part=figures"))
    assert "<html" in page and "<html" not in part
    for heading in ("Two rankings", "Measures", "Does the order hold?", "Pool depth"):
        assert page.count(f">{heading}</h2>") == part.count(f">{heading}</h2>") == 1
    charts = [re.search(r'<script id="chart-data"[^>]*>(.*?)</script>', text, re.S) for text in (page, part)]
    assert charts[0] and charts[1] and json.loads(charts[0][1]) == json.loads(charts[1][1])


@pytest.mark.parametrize("measure", ["macro_mrr", "ndcg@20"])
def test_the_rankings_are_by_the_measure_that_was_chosen(sign_in, labelled: Pool, measure):
    html = sign_in("manager").get(PAGE, {"measure": measure}).content.decode()
    assert f'<option value="{measure}" selected>' in html
    assert escape(overview(labelled, measure)["sentence"]) in html


@pytest.mark.parametrize("measure", ["micro_mr", "no-such", "<script>"])
def test_a_measure_that_ranks_nothing_is_the_first_one(sign_in, measure):
    html = sign_in("manager").get(PAGE, {"measure": measure}).content.decode()
    assert '<option value="micro_mrr" selected>' in html
    assert "<script>" not in html


def test_the_version_changes_with_a_label_and_only_then(sign_in, labelled: Pool):
    client = sign_in("researcher")

    def ask() -> str:
        return client.get(VERSION).json()["version"]

    first = ask()
    client.get(PAGE)
    assert ask() == first
    judge(labelled.triples.filter(judgement=None)[0], "positive")
    second = ask()
    assert second != first
    assert f'data-version="{second}"' in client.get(f"{PAGE}?part=figures").content.decode()


def test_asking_for_the_version_computes_nothing(sign_in, django_assert_num_queries):
    client = sign_in("researcher")
    with django_assert_num_queries(
        8
    ):  # session, person, groups; pool, labels, runs, last pooled triple, stability
        client.get(VERSION)
    assert not Figure.objects.exists()


def test_a_second_look_computes_nothing(sign_in, monkeypatch):
    from evaluation.domain import figures

    client = sign_in("researcher")
    client.get(PAGE)
    for key in figures.QUICK:
        monkeypatch.setitem(figures.QUICK, key, lambda pool: pytest.fail("it was computed again"))
    assert client.get(PAGE).status_code == 200


def test_without_runs_the_page_says_what_to_do(sign_in, labelled: Pool):
    for system in labelled.systems.all():
        system.run.delete()
    html = sign_in("manager").get(PAGE).content.decode()
    assert "No system has the rank rows that pool p needs: run score_runs p" in html
    assert 'id="figures"' not in html


def test_a_system_without_all_rows_is_named(sign_in, labelled: Pool):
    import numpy as np

    from pooling.domain.graph import open_graph
    from pooling.domain.run import score_system

    late = make_system(labelled.graph, "rescal")
    score_system(late, seeds=np.zeros((0, 3), np.int32), triples=open_graph(labelled.graph).test)
    html = sign_in("manager").get(PAGE).content.decode()
    assert "Left out, their rank rows are incomplete: rescal." in html


def test_stability_is_started_once(sign_in):
    client = sign_in("researcher")
    assert "Compute stability" in client.get(PAGE).content.decode()
    for _ in range(2):
        assert client.post(COMPUTE)["Location"] == PAGE
    job = Job.objects.get(kind=JobKind.EVALUATE)
    html = client.get(PAGE).content.decode()
    assert f"Job {job.pk}" in html and '<button class="button" type="submit">Compute stability' not in html
    assert client.get(COMPUTE).status_code == 405


def test_a_pool_that_is_not_there(sign_in):
    client = sign_in("manager")
    for url in ("/pools/q/evaluation", "/pools/q/evaluation/version"):
        assert client.get(url).status_code == 404


def test_an_old_stability_curve_is_computed_anew_where_a_worker_lives(sign_in, labelled: Pool):
    client, curves = sign_in("researcher"), Job.objects.filter(kind=JobKind.EVALUATE)
    client.get(PAGE)
    assert not curves.exists()  # nobody would do it
    Worker.objects.create(name="w", queues="cpu", seen_at=timezone.now())
    client.get(PAGE)
    client.get(PAGE)
    assert [job.pool for job in curves] == [labelled]
