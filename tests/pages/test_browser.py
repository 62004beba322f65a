"""In a browser: the switch of the theme, and htmx under the strict policy (parts that refresh, and stop)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.test import Client

from core.enums import JobState
from core.files.artifacts import artifact_path
from core.models import Job
from core.people.tokens import create_token
from evaluation.enums import EvaluationJob
from evaluation.labels.qrels import freeze_qrels
from evaluation.models import Export

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
WIDTHS = (360, 1440)
STAGE = "epoch 5 of 10"


@pytest.fixture
def page(world: dict, live_server, browser) -> Iterator:
    """A page signed in as manager; nothing may be written to its console."""
    client = Client()
    client.force_login(world["manager"])
    context = browser.new_context(base_url=live_server.url, color_scheme="light")
    context.add_cookies([{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}])
    page = context.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    yield page
    context.close()
    assert said == []


def ground(page) -> str:
    return page.evaluate("getComputedStyle(document.body).backgroundColor")


def test_theme_follows_the_device_until_it_is_chosen_and_the_choice_stays(page):
    page.goto("/")
    light = ground(page)
    page.emulate_media(color_scheme="dark")
    dark = ground(page)
    assert light != dark
    switch = page.locator("[data-theme-switch]")
    assert switch.get_attribute("data-message") == "auto"
    switch.click()
    assert (switch.get_attribute("data-message"), ground(page)) == ("light", light)
    page.goto("/pools")
    assert (switch.get_attribute("data-message"), ground(page)) == ("light", light)
    switch.click()
    page.emulate_media(color_scheme="light")
    assert (switch.get_attribute("data-message"), ground(page)) == ("dark", dark)
    switch.click()
    assert (switch.get_attribute("data-message"), ground(page)) == ("auto", light)


def test_job_refreshes_itself_and_stops_when_it_is_over(page, world: dict):
    page.goto(f"/jobs/{world['job'].pk}")
    assert page.locator("#job progress").get_attribute("value") == "35"
    Job.objects.update(done=500, stage=STAGE)
    page.get_by_text(STAGE).wait_for(timeout=60_000)
    assert page.locator("#job progress").get_attribute("value") == "50"
    Job.objects.update(state=JobState.DONE)
    page.locator("#job .badge-done").wait_for(timeout=60_000)
    assert page.locator("#job[hx-trigger]").count() == 0


def test_values_that_were_opened_stay_open_while_the_job_refreshes(page, world: dict):
    job = world["job"]
    page.set_viewport_size({"width": 360, "height": 800})
    page.goto(f"/jobs/{job.pk}")
    page.locator("#show-loss").press("Enter")
    page.evaluate("document.querySelector('#table-loss').scrollTop = 60")
    Job.objects.update(stage=STAGE)
    page.get_by_text(STAGE).wait_for(timeout=60_000)
    assert page.evaluate("[...document.querySelectorAll('#job details')].map((part) => part.open)") == [True, False]
    assert page.evaluate("document.querySelector('#table-loss').scrollTop") == 60
    assert page.evaluate("document.activeElement.id") == "show-loss"


def test_preview_follows_what_is_typed_and_saves_nothing(page):
    page.goto("/pools/town-pool/questions")
    page.locator(".template summary").first.click()
    page.locator("[name=statement]").first.fill("Has {subject} met {object}?")
    page.get_by_text("Has ada met emil?").wait_for(timeout=60_000)
    page.locator("[name=statement]").first.fill("Has {subject} met?")
    page.locator('[data-test="problem"]', has_text="{object}").wait_for(timeout=60_000)
    page.reload()
    assert page.get_by_text("Does ada know emil?").count() == 1


def test_no_page_is_wider_than_its_screen(page, world: dict):
    from tests.pages.test_frame import EVALUATOR_PAGES

    # the dashboard draws charts; its own tests look at it
    urls = [url for url in EVALUATOR_PAGES if not url.endswith("/evaluation")]
    wide = []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        for url in (*urls, f"/jobs/{world['job'].pk}"):
            page.goto(url)
            if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                wide.append((url, width))
    assert wide == []


def test_keyboard_reaches_the_content_first(page):
    page.goto("/pools")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_page_of_the_api_follows_the_theme_and_fits_a_phone(page):
    asked: set[str] = set()
    page.on("request", lambda request: asked.add(request.url.split("/")[2]))
    page.set_viewport_size({"width": 360, "height": 800})
    page.goto("/api/docs")
    page.locator(".opblock").first.wait_for(timeout=60_000)
    light, dark = page.locator("html:not(.dark-mode)"), page.locator("html.dark-mode")
    light.wait_for()
    page.emulate_media(color_scheme="dark")
    dark.wait_for()
    switch = page.locator("[data-theme-switch]")
    page.locator("[popovertarget=site-menu]").click()
    switch.click()
    light.wait_for()
    switch.click()
    dark.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    assert asked == {page.url.split("/")[2]}  # nothing from another host


def test_a_token_is_revoked_on_a_phone_without_scrolling_sideways(page, world: dict):
    create_token(world["manager"], "nightly script of the lab", ["read", "run"], 30)
    page.set_viewport_size({"width": 360, "height": 800})
    page.goto("/account/tokens")
    box = page.locator(".table-wrap [type=submit]").bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 360
    assert page.evaluate("document.querySelector('.table-wrap').scrollWidth") <= 360


def test_an_export_is_offered_when_it_is_written_and_options_stay_ticked(page, world: dict):
    qrels = freeze_qrels(world["pool"], "v1")
    page.goto("/pools/town-pool/export")
    page.locator("#frozen form [type=submit]").click()
    page.locator('[data-test="archive"]').wait_for()
    assert page.locator('[data-test="archive"][data-state="written"]').count() == 0
    assert page.locator(".messages").count() == 0
    page.locator("#frozen summary").click()  # other contents are folded once one is written
    page.locator("[name=positives_only]").check()
    path = artifact_path("exports/1.zip")
    path.parent.mkdir(parents=True)
    path.write_bytes(b"a test set")
    Export.objects.filter(qrels=qrels).update(artifact="exports/1.zip", sha256="0" * 64, num_bytes=10)
    Job.objects.filter(kind=EvaluationJob.EXPORT).update(state=JobState.DONE)
    page.locator('[data-test="archive"][data-state="written"] a').wait_for(timeout=60_000)
    assert page.locator("[name=positives_only]").is_checked()
