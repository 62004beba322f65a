"""Answers on their way: nothing that was answered is lost, whatever the connection and the server do."""

import json
import time
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import BrowserContext, Route, expect

from annotation.labelling.submit import TOO_LATE
from annotation.models import Label, SurplusLabel
from tests.annotation.browser.hands import (
    GUARD,
    eventually,
    notice,
    paste,
    press,
    question,
    ready,
    row_at,
    rows,
    saved,
    settle,
    shoot,
    shows,
    unsaved,
)
from tests.annotation.factories import LINK

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
SUBMIT = "**/api/v1/labels"


@pytest.fixture
def sign_in(sign_in: Callable[..., BrowserContext]) -> Callable[..., BrowserContext]:
    """Windows that route from the start: a page that is already open may send its first request past a new route."""

    def opened(*args, **more) -> BrowserContext:
        context = sign_in(*args, **more)
        context.route("**/nothing-asks-for-this", lambda route: route.abort())
        return context

    return opened


@pytest.mark.parametrize("view", ["one", "group"])
def test_ten_seconds_without_network_lose_nothing(no_links, open_page, view: str) -> None:
    page = open_page(no_links.ann, view=view)
    ready(page)
    press(page, "y", "n")
    saved(page, 2)
    page.context.set_offline(True)
    press(page, *"nynyn")
    unsaved(page, 5)
    shows(notice(page, "error"), "offline kept")
    shoot(page, f"offline-{view}")
    if view == "group":
        said = rows(page).locator("[data-said]")
        shows(said, "Y saved", "N saved", "N unsent", "Y unsent", "N unsent", "Y unsent", "N unsent")
    page.wait_for_timeout(10_000 - 5 * GUARD)
    assert Label.objects.count() == 2
    page.context.set_offline(False)
    if view == "group":
        press(page, "Enter")
    press(page, "y")
    saved(page, 8)
    expect(page.locator('[data-notice="error"]')).to_be_hidden()
    assert [*Label.objects.order_by("id").values_list("answer", flat=True)] == [*"YNNYNYNY"]
    assert SurplusLabel.objects.count() == 0


def test_change_of_an_answer_that_is_not_sent_yet(no_links, open_page) -> None:
    page = open_page(no_links.ann, view="group")
    ready(page)
    page.context.set_offline(True)
    press(page, "y", "ArrowUp", "n", "ArrowUp", "y")
    unsaved(page, 3)
    page.context.set_offline(False)
    saved(page, 3)
    labels = list(Label.objects.order_by("id"))
    assert [label.answer for label in labels] == ["Y", "N", "Y"]
    assert [label.supersedes for label in labels] == [None, labels[0], labels[1]]


def test_later_answer_takes_the_place_of_a_refused_one(world, open_page) -> None:
    page = open_page(world.ann, view="group")
    ready(page)
    page.context.set_offline(True)
    paste(page, LINK)
    press(page, "y", "ArrowUp")
    row_at(page).locator("[data-change-link]").click()
    page.keyboard.type("https://www.imdb.com/name/nm1/")
    page.keyboard.press("Enter")
    press(page, "n")
    unsaved(page, 2)
    world.campaign.sources.filter(host="wikipedia.org").delete()
    page.context.set_offline(False)
    saved(page, 1)
    assert Label.objects.values_list("answer", "source_url").get() == ("N", "https://www.imdb.com/name/nm1/")
    shows(rows(page).first.locator("[data-said]"), "N saved")
    assert page.locator("[data-outcomes]").is_hidden() and page.locator('[data-notice="error"]').is_hidden()


def test_lost_reply_makes_no_second_label(no_links, open_page) -> None:
    page = open_page(no_links.ann)
    ready(page)
    lost = []

    def lose(route: Route) -> None:
        lost.append(route.fetch().status)  # the server has it, the page never hears of it
        route.abort()

    page.route(SUBMIT, lose, times=1)
    press(page, "y", "n")
    saved(page, 2)
    assert lost == [201] and SurplusLabel.objects.count() == 0


@pytest.mark.parametrize(
    ("status", "body", "name", "says"),
    [
        (500, "<h1>Server Error (500)</h1>", "failed kept", ""),
        (429, "{}", "busy kept", ""),
        (401, '{"error": "no"}', "signed-out kept", ""),
        (403, '{"error": "Agree first.", "consent": "/campaigns/p1/consent"}', "forbidden kept", "Agree first."),
        (403, '{"error": "You are not a member of p1."}', "forbidden kept", "You are not a member of p1."),
        (200, "<p>Welcome to the hotel's network</p>", "offline kept", ""),
    ],
)
def test_answer_waits_out_a_refusal_of_the_moment(
    no_links, open_page, status: int, body: str, name: str, says: str
) -> None:
    page = open_page(no_links.ann)
    ready(page)
    page.route(SUBMIT, lambda route: route.fulfill(status=status, body=body))
    press(page, "y", "n")
    unsaved(page, 2)
    shows(notice(page, "error"), name)
    expect(notice(page, "error")).to_contain_text(says)  # what the server says, if it says something
    if "consent" in body:
        expect(notice(page, "error").locator("a")).to_have_attribute("href", "/campaigns/p1/consent")
    page.unroute(SUBMIT)
    page.locator("[data-send]").click()
    saved(page, 2)
    expect(page.locator('[data-notice="error"]')).to_be_hidden()


def test_busy_server_is_asked_again_when_it_said(no_links, open_page) -> None:
    page = open_page(no_links.ann)
    ready(page)
    tries: list[float] = []

    def busy(route: Route) -> None:
        tries.append(time.monotonic())
        if len(tries) == 1:
            route.fulfill(status=429, body="{}", headers={"Retry-After": "4"})
        else:
            route.continue_()

    page.route(SUBMIT, busy)
    press(page, "y")
    saved(page, 1)
    first, second = tries
    assert second - first > 3.9  # unasked it would be one second


def test_error_of_the_server_for_one_answer_does_not_hold_up_the_others(no_links, open_page) -> None:
    page = open_page(no_links.ann)
    ready(page)
    stuck: list[str] = []

    def fail_first(route: Route) -> None:
        sent = json.loads(route.request.post_data or "")
        stuck.append(sent["slot"]) if not stuck else None
        if sent["slot"] == stuck[0]:
            route.fulfill(status=500, body="")
        else:
            route.continue_()

    page.route(SUBMIT, fail_first)
    press(page, "y", "n", "y")
    eventually(page, Label.objects.count, 2)
    unsaved(page, 1)
    page.unroute(SUBMIT)
    saved(page, 3)


def test_unsent_answers_survive_a_reload(no_links, open_page) -> None:
    page = open_page(no_links.ann)
    ready(page)
    page.route(SUBMIT, lambda route: route.abort())
    first = question(page)
    press(page, "n")
    unsaved(page, 1)
    page.unroute(SUBMIT)
    page.reload()
    ready(page)
    saved(page, 1)
    assert question(page) != first


def test_leaving_with_unsent_answers_is_asked_about(no_links, open_page) -> None:
    page = open_page(no_links.ann)
    ready(page)
    asked: list[str] = []
    page.on("dialog", lambda dialog: asked.append(dialog.type))
    page.route(SUBMIT, lambda route: route.abort())
    press(page, "n")
    page.reload()
    assert asked == ["beforeunload"]


def test_browser_that_keeps_nothing_says_so_and_still_sends(no_links, open_page) -> None:
    page = open_page(no_links.ann)
    ready(page)
    page.evaluate("void (Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); })")
    page.route(SUBMIT, lambda route: route.abort())
    press(page, "y")
    unsaved(page, 1)
    shows(notice(page, "error"), "offline not-kept")
    page.unroute(SUBMIT)
    saved(page, 1)


def test_refused_answer_is_listed_until_it_is_dismissed(world, open_page) -> None:
    page = open_page(world.ann)
    ready(page)
    asked, said = question(page), "This question was withdrawn."
    page.route(SUBMIT, lambda route: route.fulfill(status=409, json={"error": said}))
    paste(page, LINK)
    press(page, "y")
    page.unroute(SUBMIT)
    listed = page.locator("[data-outcomes] li")
    for _ in range(2):
        expect(listed).to_have_count(1)
        shows(listed.locator("strong"), "refused")
        expect(listed.locator('[data-test="question"]')).to_have_text(asked)
        expect(listed.locator("p").first).to_contain_text(LINK)
        expect(listed.locator("p").last).to_have_text(said)
        shoot(page, "refused")
        page.reload()
        ready(page)
    listed.locator("button").click()
    expect(page.locator("[data-outcomes]")).to_be_hidden()
    page.reload()
    ready(page)
    expect(page.locator("[data-outcomes]")).to_be_hidden()


def test_change_that_comes_too_late_leaves_the_label_and_says_so(no_links, open_page) -> None:
    page = open_page(no_links.ann, view="group")
    ready(page)
    press(page, "y")
    saved(page, 1)
    Label.objects.update(created_at=timezone.now() - timedelta(hours=1))
    press(page, "ArrowUp", "n")
    expect(notice(page, "info")).to_contain_text(str(TOO_LATE))
    expect(page.locator("[data-outcomes]")).to_be_hidden()  # nothing was typed that could be lost
    expect(rows(page).first).to_have_attribute("data-answer", "Y")
    expect(rows(page).first).to_have_attribute("data-state", "over")
    assert [*Label.objects.values_list("answer", flat=True)] == ["Y"]


def test_typed_link_of_a_change_that_comes_too_late_stays_in_sight(no_links, open_page) -> None:
    page = open_page(no_links.ann, view="group")
    ready(page)
    press(page, "y")
    saved(page, 1)
    Label.objects.update(created_at=timezone.now() - timedelta(hours=1))
    press(page, "ArrowUp")
    paste(page, LINK)
    press(page, "n")
    expect(page.locator("[data-outcomes] li")).to_contain_text(LINK)
    expect(page.locator("[data-outcomes] li")).to_contain_text(str(TOO_LATE))


def test_a_row_says_when_its_answer_can_no_longer_be_changed(no_links, open_page) -> None:
    page = open_page(no_links.ann, view="group")
    page.clock.install()
    page.reload()
    ready(page)
    press(page, "y")
    saved(page, 1)
    first = rows(page).first
    expect(first).to_have_attribute("data-state", "saved")
    page.clock.fast_forward(no_links.campaign.undo_minutes * 60_000 + 1000)
    expect(first).to_have_attribute("data-state", "over")
    expect(first.locator("[data-give=N]")).to_have_attribute("aria-disabled", "true")
    expect(page.locator('[data-act="undo"]')).to_be_disabled()
    press(page, "u")
    shows(notice(page, "info"), "late-undo")
    press(page, "ArrowUp", "n")
    expect(first.locator("[data-error]")).to_have_text(str(TOO_LATE))
    settle(page)
    assert [*Label.objects.values_list("answer", flat=True)] == ["Y"]
