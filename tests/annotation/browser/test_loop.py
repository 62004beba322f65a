"""The loops of annotators and adjudicators in a real browser, by keys."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import Browser, Page, expect, sync_playwright

from annotation.models import Item, Label, Slot
from tests.annotation.world import LINK, World, label_item, make_world, windows_closed

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
SHOTS = os.environ.get("SCREENSHOTS")  # a folder, for who wants to look


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = (
        "true"  # Playwright's own loop is no reason for Django to refuse
    )
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        yield started
        started.close()
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture
def world(transactional_db, tmp_path: Path) -> World:
    return make_world(tmp_path / "tsv", items=14)


@pytest.fixture
def open_page(browser: Browser, live_server) -> Iterator[Callable[..., Page]]:
    contexts, problems = [], []

    def opened(user: User, path: str, width: int = 1280) -> Page:
        client = Client()
        client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
        context = browser.new_context(viewport={"width": width, "height": 900})
        contexts.append(context)
        context.add_cookies(
            [{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}]
        )
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on(
            "console", lambda said: problems.append(said.text) if "Security Policy" in said.text else None
        )
        page.goto(live_server.url + path)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert problems == []


def question(page: Page) -> str:
    return page.locator("[data-question]").inner_text()


def press(page: Page, key: str) -> None:
    """A key, then a pause longer than the guard against double presses."""
    page.keyboard.press(key)
    page.wait_for_timeout(260)


def ready(page: Page) -> None:
    expect(page.locator("[data-question]")).to_be_visible()
    page.wait_for_timeout(260)


def saved(page: Page, labels: int) -> None:
    """Wait until the server has this many labels and the page knows."""
    for _ in range(100):
        if Label.objects.count() >= labels:
            break
        page.wait_for_timeout(100)
    expect(page.locator("[data-unsaved]")).to_be_hidden()
    assert Label.objects.count() == labels


def shoot(page: Page, name: str) -> None:
    if SHOTS:
        page.screenshot(path=f"{SHOTS}/{name}.png", full_page=True)


def test_ten_items_by_keys_with_paste_last_source_and_reason(world, open_page) -> None:
    page = open_page(world.ann, "/campaigns/p1/annotate")
    ready(page)
    shoot(page, "annotate")
    seen = []
    for number in range(10):
        seen.append(question(page))
        if number % 3 == 2:
            page.keyboard.press("s")
            expect(page.locator("#why")).to_be_focused()
            page.keyboard.type("yes no unclear")
            press(page, "Enter")
            continue
        if page.locator("[data-last]").is_visible():
            page.keyboard.press("l")
        else:
            page.locator("#link").fill(LINK)
            page.keyboard.press("Escape")
        expect(page.locator("#link")).to_have_value(LINK)
        press(page, "yn"[number % 2])
    saved(page, 10)
    assert len(set(seen)) == 10
    answers = list(Label.objects.order_by("id").values_list("answer", "source_url", "comment"))
    assert answers[:4] == [("Y", LINK, ""), ("N", LINK, ""), ("?", "", "yes no unclear"), ("N", LINK, "")]
    assert len(answers) == 10 and set(Label.objects.values_list("annotator", flat=True)) == {world.ann.pk}
    assert min(Label.objects.values_list("active_ms", flat=True)) > 100


def test_refused_link_names_the_hosts_and_loses_nothing(world, open_page) -> None:
    page = open_page(world.ann, "/campaigns/p1/annotate")
    ready(page)
    first = question(page)
    page.locator("#link").fill("javascript:alert(1)")
    page.keyboard.press("Escape")
    press(page, "y")
    expect(page.locator("#link-error")).to_contain_text("wikipedia.org")
    assert (question(page), page.locator("#link").input_value()) == (first, "javascript:alert(1)")
    assert Label.objects.count() == 0


def test_refusal_by_the_server_brings_the_question_back(world, open_page) -> None:
    page = open_page(world.ann, "/campaigns/p1/annotate")
    ready(page)
    first = question(page)
    world.campaign.sources.filter(host="wikipedia.org").delete()
    page.locator("#link").fill(LINK)
    page.keyboard.press("Escape")
    press(page, "y")
    expect(page.locator('[data-notice="error"]')).to_contain_text("Your answer was not saved yet")
    assert (question(page), page.locator("#link").input_value()) == (first, LINK)


def test_double_press_does_not_label_the_next(world, open_page) -> None:
    world.campaign.evidence_rule = "never"
    world.campaign.save()
    page = open_page(world.ann, "/campaigns/p1/annotate")
    ready(page)
    page.keyboard.press("y")
    page.keyboard.press("y")
    page.wait_for_timeout(400)
    saved(page, 1)


def test_keys_do_nothing_in_a_text_field_or_when_switched_off(world, open_page) -> None:
    world.campaign.evidence_rule = "never"
    world.campaign.save()
    page = open_page(world.ann, "/campaigns/p1/annotate")
    ready(page)
    page.locator("#link").focus()
    press(page, "y")
    assert page.locator("#link").input_value() == "y"
    page.locator("#link").fill("")
    page.keyboard.press("Escape")
    press(page, "?")
    page.locator("[data-keys-on]").uncheck()
    page.locator('[data-dialog="keys"] [data-close]').click()
    press(page, "y")
    assert Label.objects.count() == 0
    page.get_by_role("button", name="Yes").click()
    saved(page, 1)


def test_undo_changes_the_last_answer(world, open_page) -> None:
    page = open_page(world.ann, "/campaigns/p1/annotate")
    ready(page)
    first = question(page)
    page.locator("#link").fill(LINK)
    page.keyboard.press("Escape")
    press(page, "y")
    second = question(page)
    press(page, "u")
    assert (question(page), page.locator("#link").input_value()) == (first, LINK)
    expect(page.locator('[data-answer="Y"]')).to_have_attribute("aria-pressed", "true")
    press(page, "n")
    assert question(page) == second
    saved(page, 2)
    assert list(Label.objects.order_by("id").values_list("answer", flat=True)) == ["Y", "N"]
    assert Label.objects.last().supersedes == Label.objects.first()


def test_answers_wait_out_a_lost_connection(world, open_page) -> None:
    world.campaign.evidence_rule = "never"
    world.campaign.save()
    page = open_page(world.ann, "/campaigns/p1/annotate")
    ready(page)
    page.context.set_offline(True)
    for _ in range(3):
        press(page, "n")
    expect(page.locator("[data-unsaved]")).to_have_text("3 not saved yet")
    shoot(page, "annotate-offline")
    assert Label.objects.count() == 0
    page.context.set_offline(False)
    saved(page, 3)


def test_unsent_answers_survive_a_reload(world, open_page) -> None:
    world.campaign.evidence_rule = "never"
    world.campaign.save()
    page = open_page(world.ann, "/campaigns/p1/annotate")
    ready(page)
    page.route("**/api/v1/labels", lambda route: route.abort())
    press(page, "n")
    expect(page.locator("[data-unsaved]")).to_have_text("1 not saved yet")
    page.unroute("**/api/v1/labels")
    page.on("dialog", lambda dialog: dialog.accept())
    page.reload()
    ready(page)
    saved(page, 1)


def test_leaving_gives_the_leases_back(world, open_page) -> None:
    page = open_page(world.ann, "/campaigns/p1/annotate")
    ready(page)
    assert Slot.objects.filter(state="leased").count() > 0
    page.goto("about:blank")
    for _ in range(50):
        if not Slot.objects.filter(state="leased").exists():
            return
        page.wait_for_timeout(100)
    pytest.fail("leases were not given back")


def test_nothing_left_says_so(world, open_page) -> None:
    world.campaign.items.update(state="settled")
    page = open_page(world.ann, "/campaigns/p1/annotate")
    expect(page.locator("[data-idle] h2")).to_have_text("Nothing is left for you here")


def test_phone_has_no_sideways_scroll(world, open_page) -> None:
    page = open_page(world.ann, "/campaigns/p1/annotate", width=360)
    ready(page)
    shoot(page, "annotate-360")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_adjudicator_decides_with_the_link_of_an_answer(world, open_page) -> None:
    item = Item.objects.order_by("order").first()
    label_item(world, item, ann="Y", ben="N")
    windows_closed(item)
    page = open_page(world.ada, "/campaigns/p1/adjudicate")
    ready(page)
    shoot(page, "adjudicate")
    expect(page.locator("[data-given] article")).to_have_count(2)
    page.keyboard.press("a")
    expect(page.locator("#link")).to_have_value(LINK)
    press(page, "n")
    expect(page.locator("#reason")).to_be_focused()
    page.keyboard.type("the page says no")
    page.keyboard.press("Escape")
    press(page, "n")
    expect(page.locator("[data-idle] h2")).to_be_visible()
    saved(page, 3)
    item.refresh_from_db()
    assert (item.state, Label.objects.get(slot__number=3).comment) == ("settled", "the page says no")
