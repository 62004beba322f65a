"""Pages that show the state of work renew that part while the work goes on, and then stop."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from annotation.enums import AnnotationJob
from core.enums import JobState
from core.models import Job
from evaluation.enums import EvaluationJob
from pooling.enums import PoolingJob, PoolState
from pooling.models import Pool, System
from tests.page import Element, parse
from tests.pages.test_accessible import window
from tests.pages.world import make_job, make_pool

TRAINING, POOLING, STUDYING = PoolingJob.TRAIN, PoolingJob.EXTEND_POOL, EvaluationJob.OPEN_WORLD
# page: the part that renews itself, and the kind of work that it shows
PAGES = {
    "/": ("home", TRAINING),
    "/systems": ("systems", TRAINING),
    "/graphs/town/systems": ("systems", TRAINING),
    "/graphs/town/systems/rotate": ("system", TRAINING),
    "/graphs/town/compare": ("reached", TRAINING),
    "/graphs/town/runs": ("runs", POOLING),
    "/pools": ("pools", POOLING),
    "/pools/town-pool": ("stages", POOLING),
    "/pools/town-pool/triples": ("pool", POOLING),
    "/pools/town-pool/seeds": ("pool", POOLING),
    "/pools/town-pool/overlap": ("pool", POOLING),
    "/pools/town-pool/filter": ("pool", POOLING),
    "/pools/town-pool/growth": ("pool", POOLING),
    "/open-world/studies": ("studies", STUDYING),
}


@pytest.fixture
def client(world: dict, sign_in):
    Job.objects.all().delete()
    return sign_in("manager")


def start(kind: str) -> Job:
    subject = {
        TRAINING: {"system": System.objects.get(name="rotate")},
        POOLING: {"pool": Pool.objects.get()},
        STUDYING: {"params": {"study": "town-study"}},
    }
    return make_job(kind, **subject[kind])


def renewed(page: object) -> list[Element]:
    return [one for one in parse(page).walk() if "hx-trigger" in one and one["hx-trigger"].startswith("every")]


@pytest.mark.parametrize("url", PAGES)
def test_part_renews_itself_while_work_goes_on(url: str, client) -> None:
    name, kind = PAGES[url]
    assert renewed(client.get(url)) == []
    job = start(kind)
    (part,) = renewed(client.get(f"{url}?page=1"))
    # it comes out of the same page, and the state beside the heading with it
    assert (part["id"], part["hx-select"], part["hx-get"]) == (name, f"#{name}", f"{url}?page=1")
    assert {"page-state", "page-actions"} <= {one["id"] for one in parse(client.get(url)).walk() if "id" in one}
    Job.objects.filter(pk=job.pk).update(state=JobState.DONE)
    assert renewed(client.get(url)) == []


def test_order_shows_the_release_of_triples_while_it_goes_on(client) -> None:
    url = "/pools/town-pool/campaign/order"
    assert renewed(client.get(url)) == []
    job = make_job(AnnotationJob.RELEASE, pool=Pool.objects.get())
    (part,) = renewed(client.get(url))
    assert part["id"] == "work" and part.one("work")["data-job"] == str(job.pk)


def test_campaign_shows_how_far_its_opening_is(world: dict, client) -> None:
    pool = make_pool(world["graph"], "second")
    make_job(AnnotationJob.OPEN_CAMPAIGN, pool=pool)
    (part,) = renewed(client.get("/pools/second/campaign"))
    assert part["id"] == "opening" and part.has("work")


def test_result_shows_stage_count_rate_and_time_left_of_the_work_on_it(client) -> None:
    job = start(POOLING)
    work = parse(client.get("/pools/town-pool/triples")).one("work")
    assert work["data-job"] == str(job.pk) and job.stage in work.text
    assert work.text.endswith("350 of 1,000 % of an epoch · 10 per second · 1 min 05 s left")
    assert work.one(tag="progress")["value"] == "35"
    make_job(PoolingJob.SCORE, JobState.QUEUED, system=start(TRAINING).system)  # waits for the training
    assert parse(client.get("/graphs/town/systems")).texts("working") == ["35 %, 1 min 05 s left"]


def test_percentage_of_a_training_agrees_with_its_epochs_and_is_not_there_while_it_waits(client) -> None:
    job = start(TRAINING)
    Job.objects.filter(pk=job.pk).update(done=0, total=1_000, seconds_left=None)

    def shown(state: str, epochs: int) -> list[str]:
        System.objects.filter(name="rotate").update(state=state, epochs_done=epochs)
        return parse(client.get("/graphs/town/systems")).texts("working")

    assert shown("training", 7) == ["70 %"]
    assert shown("training", 0) == ["0 %"]
    Job.objects.filter(pk=job.pk).update(total=0)  # a worker has it and has not begun
    assert shown("waiting", 0) == []


def test_job_that_a_researcher_may_not_open_is_no_link(world: dict, sign_in, client) -> None:
    start(POOLING)
    work = parse(sign_in("researcher").get("/pools/town-pool/triples")).one("work")
    assert not work.has(tag="a")


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_systems_page_tells_that_training_ended_and_keeps_what_was_ticked(world: dict, live_server, browser, sign_in):
    Job.objects.all().delete()
    System.objects.filter(name="rotate").update(state="training")
    job = start(TRAINING)
    context = browser.new_context(base_url=live_server.url)
    session = sign_in("manager").cookies["sessionid"].value
    context.add_cookies([{"name": "sessionid", "value": session, "url": live_server.url}])
    page = context.new_page()
    page.goto("/graphs/town/systems")
    row = page.locator("#systems tr", has_text="RotatE")
    row.locator("input").check()
    row.locator("a").focus()
    assert row.locator("[data-test=working]").count() == 1
    System.objects.filter(name="rotate").update(state="trained")
    Job.objects.filter(pk=job.pk).update(state=JobState.DONE)
    row.locator(".badge-done").wait_for(timeout=60_000)
    assert row.locator("input").is_checked()
    assert page.evaluate("document.activeElement.textContent") == "RotatE"
    assert page.locator("#systems[hx-trigger]").count() == 0
    assert page.locator("main .button-primary").all_inner_texts() == ["Build a pool"]  # it was Train systems
    job = make_job(AnnotationJob.RELEASE, pool=Pool.objects.get())
    page.goto("/pools/town-pool/campaign/order")
    page.locator("#work").wait_for()
    Job.objects.filter(pk=job.pk).update(state=JobState.DONE)
    page.locator("#work").wait_for(state="detached", timeout=60_000)  # the page came anew
    assert page.locator("h2").count() > 0
    Pool.objects.update(state=PoolState.BUILDING)
    job = start(POOLING)
    page.goto("/pools/town-pool/triples")
    page.locator("#pool [data-test=work]").wait_for()
    Pool.objects.update(state=PoolState.READY)
    Job.objects.filter(pk=job.pk).update(state=JobState.DONE)
    page.locator("#page-state [data-test=pool-state]", has_text="labelling").wait_for(timeout=60_000)
    context.close()


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_notice_that_work_was_queued_goes_and_the_count_of_jobs_is_right_once_it_is_over(
    world: dict, live_server, browser
):
    Job.objects.all().delete()
    page = window(browser, live_server, world["manager"], 1280)
    page.goto("/graphs/town/systems")
    page.locator("[name=kinds]").first.check()
    page.locator("form:has([name=kinds]) button[type=submit]").first.click()
    page.locator("[data-until-done]").wait_for()
    jobs = page.locator("[data-count=jobs]").first
    expect(jobs).to_have_text(str(Job.objects.count()))
    System.objects.filter(jobs__in=Job.objects.all()).update(state="training")
    Job.objects.update(state=JobState.RUNNING, total=10)
    page.locator("#systems [data-test=working]").first.wait_for()
    assert page.locator("[data-until-done]").count() == 1
    System.objects.filter(jobs__in=Job.objects.all()).update(state="trained")
    Job.objects.update(state=JobState.DONE)
    expect(page.locator(".messages")).to_have_count(0, timeout=15_000)
    expect(jobs).to_be_hidden(timeout=5_000)  # sooner than the page asks by itself


def test_only_a_notice_of_work_that_was_queued_goes_by_itself(client) -> None:
    def goes(url: str, **asked: str) -> list[bool]:
        return ["data-until-done" in one for one in parse(client.post(url, asked, follow=True)).all("message")]

    kind = parse(client.get("/graphs/town/systems")).all(name="kinds")[0]["value"]
    assert goes("/graphs/town/systems", kinds=kind, seeds="5", device="auto") == [True]
    assert goes("/graphs/town/systems/rotate/archive") == [False]
