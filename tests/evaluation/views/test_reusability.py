"""A system that cannot be compared: told beside its name, added to the pool by one click of a manager."""

from __future__ import annotations

import pytest

from core.jobs.execution import execute
from core.models import AuditEntry, Job
from pooling.enums import PoolingAct, PoolingJob
from pooling.models import Pool, System
from pooling.runs.score import score_for_pool
from tests.factories import make_system, progress_of
from tests.page import Element, element, fields, has, parse, posts

PAGE = "/pools/p/evaluation/reusability"
ADD = f"{PAGE}/add-system"
MARK = '<span class="not-comparable">not comparable</span>'


def has_mark(one: Element) -> bool:
    return any(isinstance(c, Element) and c.attrs.get("class") == "not-comparable" for c in one.children)


@pytest.fixture
def beside(labelled: Pool) -> System:
    system = make_system(labelled.graph, "rotate")
    score_for_pool(system, labelled, progress_of(labelled))
    return system


def test_a_system_that_was_not_pooled_is_marked_beside_its_name(sign_in, labelled: Pool, beside: System):
    client = sign_in("researcher")
    overview = client.get("/pools/p/evaluation").content.decode()
    marked = [one.text for one in parse(overview).walk() if one.tag in ("span", "th") and has_mark(one)]
    assert marked == ["RotatE not comparable"] * 3  # both rankings and the table of measures
    assert overview.count(MARK) == 3
    assert {"RotatE", "5"} <= set(element(overview, "not-comparable").text.split())
    measures = client.get("/pools/p/evaluation/measures").content.decode()
    tables = measures.count('data-system="rotate"')
    assert measures.count(MARK) == tables > 0
    heads = [th for th in parse(measures).all(tag="th") if th.attrs.get("data-system") == "rotate"]
    assert [has_mark(th) for th in heads] == [True] * tables


def test_nobody_is_marked_where_all_were_pooled(sign_in, labelled: Pool):
    client = sign_in("researcher")
    for page in ("/pools/p/evaluation", "/pools/p/evaluation/measures", PAGE):
        html = client.get(page).content.decode()
        assert MARK not in html and not has(html, "not-comparable")


def test_only_managers_have_the_button(sign_in, labelled: Pool, beside: System):
    manager, researcher = (sign_in(role).get(PAGE).content.decode() for role in ("manager", "researcher"))
    assert ADD in posts(manager) and fields(manager)["system"] == "rotate"
    assert posts(researcher) == [] and "Not comparable: RotatE" in researcher


@pytest.mark.django_db(transaction=True)
def test_one_click_adds_what_is_missing(sign_in, labelled: Pool, beside: System):
    client = sign_in("manager")
    before = labelled.triples.count()
    answer = client.post(ADD, {"system": "rotate"})
    job = Job.objects.get(kind=PoolingJob.EXTEND_POOL)
    assert answer["Location"] == f"/jobs/{job.pk}"
    assert job.params["systems"] == ["rotate"] and job.created_by is not None
    assert AuditEntry.objects.filter(act=PoolingAct.POOL_EXTENDED, person=job.created_by).count() == 1
    execute(job.pk, "w")
    job.refresh_from_db()
    assert (job.state, job.error) == ("done", "")
    labelled.refresh_from_db()
    assert labelled.triples.count() == before + labelled.growth[-1]["triples"] > before
    assert list(labelled.systems.order_by("id").values_list("name", flat=True))[-1] == "rotate"
    assert "section-action" not in client.get(PAGE).content.decode()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({}, "No system was named"),
        ({"system": "nobody"}, "nobody"),
        ({"system": "transe"}, "Pool p has transe already."),
    ],
)
def test_what_cannot_be_added_is_said(sign_in, labelled: Pool, data, words):
    answer = sign_in("manager").post(ADD, data, follow=True)
    assert answer.redirect_chain == [(PAGE, 302)] and words in answer.content.decode()
    assert not Job.objects.filter(kind=PoolingJob.EXTEND_POOL).exists()


def test_who_may_add(sign_in, labelled: Pool, beside: System):
    for role, status in (("researcher", 403), ("annotator", 403), ("guest", 403), ("stranger", 302)):
        assert sign_in(role).post(ADD, {"system": "rotate"}).status_code == status
    assert sign_in("manager").get(ADD).status_code == 405
    assert not Job.objects.filter(kind=PoolingJob.EXTEND_POOL).exists()
    assert Pool.objects.get(pk=labelled.pk).growth == []
