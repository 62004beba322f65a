"""The first steps of a new site: what each state offers, and that they go when all four are done."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotation.campaigns.lifecycle import open_campaign
from annotation.people.invitations import invite
from core.enums import JobState
from core.models import Job
from pooling.enums import PoolState, SystemState
from pooling.models import Pool, System
from tests.page import read
from tests.pages.world import make_graph, make_job, make_person, make_pool, make_system


@pytest.fixture
def boss(db, client):
    client.force_login(make_person("boss", site="manager"))
    return client


def steps(client) -> list[tuple[str, str, str]]:
    """Key, whether it is done, and the address of its button, of every step."""
    page = read(client.get("/"))
    found = []
    for key in ("graph", "systems", "pool", "people"):
        step = page.one(f"step-{key}")
        found.append((key, step["data-done"], " ".join(a["href"] for a in step.all(tag="a"))))
    return found


def test_steps_of_a_site_from_nothing_to_its_people(boss, tmp_path: Path):
    waiting = [("systems", "no", ""), ("pool", "no", ""), ("people", "no", "")]
    assert steps(boss) == [("graph", "no", "/import-graph"), *waiting]
    graph = make_graph(tmp_path / "tsv")
    train = ("systems", "no", "/graphs/town/systems")
    done = ("graph", "yes", "")
    assert steps(boss) == [done, train, *waiting[1:]]
    system = make_system(graph, "rotate", state=SystemState.TRAINING)
    assert steps(boss) == [done, train, *waiting[1:]]
    System.objects.update(state=SystemState.TRAINED)
    trained = ("systems", "yes", "")
    assert steps(boss) == [done, trained, ("pool", "no", "/pools/new?graph=town"), waiting[2]]
    pool = make_pool(graph, systems=[system])
    Pool.objects.update(state=PoolState.BUILDING)
    people = ("people", "no", "/pools/town-pool/campaign/people")
    assert steps(boss) == [done, trained, ("pool", "no", "/pools/new?graph=town"), people]
    Pool.objects.update(state=PoolState.READY)
    assert steps(boss) == [done, trained, ("pool", "yes", ""), people]
    pool.refresh_from_db()
    invite("annotator", open_campaign(pool), email="", days=7)
    assert not read(boss.get("/")).has("first-steps")


def test_only_the_next_step_is_the_primary_button(boss, tmp_path: Path):
    graph = make_graph(tmp_path / "tsv")
    make_pool(graph)  # imported, without systems
    page = read(boss.get("/"))
    assert [a["href"] for a in page.all(tag="a", class_="button-primary")] == ["/graphs/town/systems"]
    assert page.one("step-people").has(tag="a", class_="button")


def test_steps_renew_themselves_while_jobs_are_live(boss, tmp_path: Path):
    job = make_job(system=make_system(make_graph(tmp_path / "tsv"), "rotate", state=SystemState.TRAINING))
    page = read(boss.get("/"))
    (part,) = [one for one in page.walk() if "hx-get" in one and one.has("first-steps")]
    assert part["hx-get"] == "/"
    assert not page.has("no-worker")
    Job.objects.filter(pk=job.pk).update(state=JobState.QUEUED)
    assert read(boss.get("/")).has("no-worker")
    Job.objects.update(state=JobState.DONE)
    assert not [one for one in read(boss.get("/")).walk() if "hx-get" in one and one.has("first-steps")]


def test_who_cannot_manage_sees_no_steps(db, client):
    client.force_login(make_person("rosa", site="researcher"))
    assert not read(client.get("/")).has("first-steps")


def test_what_needs_a_graph_offers_its_import_while_there_is_none(boss, tmp_path: Path):
    for address in ("/pools/new", "/test-sets/import"):
        assert read(boss.get(address)).one("empty").one(tag="a")["href"] == "/import-graph"
    make_graph(tmp_path / "tsv")
    assert read(boss.get("/pools/new?graph=other")).one("no-such-graph").one(tag="a")["href"] == "/graphs"


def test_the_theory_is_explained_among_the_help_pages(boss, client):
    assert not read(boss.get("/")).has(tag="a", href="/open-world")
    assert read(boss.get("/help")).one("theory")["href"] == "/open-world"
