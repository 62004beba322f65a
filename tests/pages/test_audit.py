"""The audit log, and the acts of the other apps in it."""

from __future__ import annotations

import pytest

from annotation.enums import AnnotationAct
from annotation.models import Item
from core.enums import JobState
from core.jobs.lifecycle import start_job
from core.models import AuditEntry
from core.people.audit_log import record
from evaluation.enums import EvaluationJob
from evaluation.models import Export
from pooling.enums import PoolingAct, PoolingJob
from tests.page import content, links
from tests.pages.world import make_job, make_pool


@pytest.fixture
def entries(world: dict):
    """Three acts of two people, one of them of the server; nothing from before."""
    AuditEntry.objects.all().delete()
    record(
        world["manager"], AnnotationAct.ROLE_GIVEN, pool=world["pool"], subject=world["annotator"], about="annotator"
    )
    record(None, PoolingAct.GRAPH_IMPORTED, about="town")
    record(
        world["annotator"],
        AnnotationAct.CONSENTED,
        pool=world["pool"],
        subject=world["annotator"],
        n=3,
        kinds=["a", "b"],
    )


def rows(page: object) -> list[list[str]]:
    """Return the words of each entry, without its time."""
    return [row[1:] for row in content(page).rows]


def test_newest_first_with_who_what_whom_where(entries, sign_in):
    assert rows(sign_in("manager").get("/audit")) == [
        ["annotator", AnnotationAct.CONSENTED.label, "–", "annotator", "town-pool", "n: 3; kinds: a, b"],
        ["server", PoolingAct.GRAPH_IMPORTED.label, "town", "–", "–", "–"],
        ["manager", AnnotationAct.ROLE_GIVEN.label, "annotator", "annotator", "town-pool", "–"],
    ]


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ({"act": "consented"}, 1),
        ({"act": "nonsense"}, 0),
        ({"person": "annotator"}, 2),  # by and to
        ({"person": "manager"}, 1),
        ({"person": "x"}, 0),
        ({"person": "٣"}, 0),
        ({"person": "9" * 40}, 0),
        ({"person": "9" * 5000}, 0),
        ({"pool": "town-pool"}, 2),
        ({"pool": "none\0"}, 0),
        ({"act": "role-given", "pool": "town-pool"}, 1),
        ({"person__password__startswith": "a", "order": "password"}, 3),  # filters nothing
    ],
)
def test_filters(query: dict, count: int, entries, world: dict, sign_in):
    if query.get("person") in ("annotator", "manager"):
        query = {"person": str(world[query["person"]].pk)}
    assert len(rows(sign_in("manager").get("/audit", query))) == count


def test_an_item_has_a_link_while_it_is_there(world: dict, sign_in):
    AuditEntry.objects.all().delete()
    item = Item.objects.filter(campaign=world["campaign"]).first()
    for about in (f"item {item.pk}", f"item {item.pk + 1000}", "item x", "annotator"):
        record(world["manager"], AnnotationAct.ITEM_RETURNED, pool=world["pool"], about=about)
    record(world["manager"], AnnotationAct.ITEM_RETURNED, about=f"item {item.pk}")  # of no pool
    page = sign_in("manager").get("/audit")
    assert [link for link in links(page) if "/triples/" in link] == [f"/pools/town-pool/campaign/triples/{item.pk}"]


@pytest.mark.parametrize("count", [1, 3])
def test_queries_do_not_grow_with_entries(count: int, world: dict, sign_in, django_assert_num_queries):
    AuditEntry.objects.all().delete()
    for _ in range(count):
        record(world["manager"], AnnotationAct.ROLE_GIVEN, pool=world["pool"], subject=world["annotator"])
    client = sign_in("manager")
    with django_assert_num_queries(6):
        client.get("/audit")


def last() -> tuple:
    entry = AuditEntry.objects.first()
    return entry.act, entry.person and entry.person.username, entry.pool and entry.pool.name, entry.about


def test_jobs_that_are_started_are_recorded_once(world: dict):
    before = AuditEntry.objects.count()
    for _ in range(2):  # the second is the same job
        start_job(PoolingJob.BUILD_POOL, pool=world["pool"], user=world["manager"])
    assert last() == ("pool-built", "manager", "town-pool", "town-pool")
    assert AuditEntry.objects.count() == before + 1
    start_job(EvaluationJob.EVALUATE, pool=world["pool"], user=world["manager"])
    assert AuditEntry.objects.count() == before + 1


def test_training_export_and_freezing_are_recorded(world: dict, sign_in):
    manager = sign_in("manager")
    system = world["graph"].systems.get(name="transe")
    start_job(PoolingJob.TRAIN, system=system, user=world["manager"])
    assert last() == ("systems-trained", "manager", None, "town/transe")
    manager.post("/pools/town-pool/export", {"name": "first"})
    assert last() == ("qrels-frozen", "manager", "town-pool", "first")
    manager.post("/pools/town-pool/export/first/write")
    assert AuditEntry.objects.first().details == {"qrels": "first", "export": Export.objects.get().pk}
    assert last()[:3] == ("test-set-exported", "manager", "town-pool")


def test_cancelled_and_retried_jobs_are_recorded_and_refused_ones_are_not(world: dict, sign_in):
    manager = sign_in("manager")
    job = make_job(PoolingJob.BUILD_POOL, JobState.QUEUED, pool=make_pool(world["graph"], "second"))
    manager.post(f"/jobs/{job.pk}/cancel")
    assert last() == ("job-cancelled", "manager", "second", "build pool second")
    count = AuditEntry.objects.count()
    manager.post(f"/jobs/{job.pk}/cancel")  # it is over
    assert AuditEntry.objects.count() == count
    manager.post(f"/jobs/{job.pk}/retry")
    assert last() == ("job-retried", "manager", "second", "build pool second")
