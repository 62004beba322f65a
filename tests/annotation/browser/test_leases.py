"""Leases and tabs: what a person holds, and what happens when they no longer do."""

from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from annotation.models import Campaign, Label, Slot, SurplusLabel
from tests.annotation.browser.hands import (
    eventually,
    idle,
    look_again,
    notice,
    numbers_in,
    press,
    question,
    ready,
    row_at,
    rows,
    saved,
    settle,
    shows,
)
from tests.annotation.factories import answer, claim

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
SUBMIT = "**/api/v1/labels"


def expire(world) -> None:
    Slot.objects.filter(annotator=world.ann).update(leased_until=timezone.now() - timedelta(minutes=1))


def let_others_take_all(world) -> None:
    expire(world)
    for person in (world.ben, world.cleo):
        for slot in claim(world.campaign, person, 50):
            answer(person, slot)


def test_late_answer_counts_while_nobody_took_the_question(no_links, open_page) -> None:
    page = open_page(no_links.ann)
    ready(page)
    expire(no_links)
    press(page, "y")
    saved(page, 1)
    assert SurplusLabel.objects.count() == 0 and page.locator("[data-outcomes]").is_hidden()


@pytest.mark.parametrize("view", ["one", "group"])
def test_late_answer_to_a_question_that_others_took_is_kept_apart_and_said_so(no_links, open_page, view: str) -> None:
    page = open_page(no_links.ann, view=view)
    ready(page)
    asked = question(page) if view == "one" else row_at(page).get_attribute("aria-label")
    let_others_take_all(no_links)
    before = Label.objects.count()
    press(page, "y")
    shows(notice(page, "info"), "apart")
    assert notice(page, "info").inner_text().split(":")[0] in asked
    expect(page.locator("[data-outcomes]")).to_be_hidden()
    assert (Label.objects.count(), SurplusLabel.objects.count()) == (before, 1)
    if view == "group":
        shows(rows(page).first.locator("[data-said]"), "Y apart")
    numbers_in(page.locator('[data-counts] [data-message="total"]'), 0)
    expect(page.locator('[data-act="undo"]')).to_be_disabled()
    page.context.set_offline(True)
    press(page, "y")  # what was said goes with the next answer, the first of the session that counts
    shows(notice(page, "info"), "changeable")


def test_answer_that_was_kept_apart_is_not_changed(no_links, open_page) -> None:
    page = open_page(no_links.ann, view="group")
    ready(page)
    let_others_take_all(no_links)
    page.context.set_offline(True)
    press(page, "y", "ArrowUp", "n", "ArrowUp", "y")
    page.context.set_offline(False)
    expect(page.locator("[data-unsaved]")).to_be_hidden()
    shows(notice(page, "info"), "apart")
    press(page, "ArrowUp", "n", "s")
    shows(row_at(page).locator("[data-said]"), "Y apart")
    expect(row_at(page).locator("[data-row-why]")).to_be_hidden()
    shows(page.locator("[data-live]"), "apart")
    assert SurplusLabel.objects.count() == 1


@pytest.mark.parametrize("view", ["one", "group"])
def test_closed_campaign_asks_nothing_more_and_still_sends_what_was_answered(no_links, open_page, view: str) -> None:
    page = open_page(no_links.ann, view=view)
    ready(page)
    press(page, "y")
    saved(page, 1)
    page.context.set_offline(True)
    press(page, "y", "n")
    Campaign.objects.update(state="closed")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "claim" in request.url else None)
    page.context.set_offline(False)
    shows(idle(page), "annotator closed")
    shows(notice(page, "info"), "apart")
    expect(page.locator("[data-unsaved]")).to_be_hidden()
    press(page, "y", "u")
    expect(page.locator("[data-loop]")).to_be_hidden()
    assert (asked, Label.objects.count(), SurplusLabel.objects.count()) == ([], 1, 2)
    with page.expect_response("**/claim"):  # before the campaign is opened again
        look_again(page)
    shows(idle(page), "annotator closed")
    assert len(asked) == 1
    Campaign.objects.update(state="open")
    look_again(page)
    ready(page)


def test_leaving_gives_the_leases_back(world, open_page) -> None:
    page = open_page(world.ann)
    ready(page)
    leased = Slot.objects.filter(state="leased")
    assert leased.count() == 14
    page.goto("about:blank")
    eventually(page, leased.count, 0)


# -- two tabs


def test_two_tabs_label_no_question_twice_and_lose_none(no_links, sign_in, open_tab) -> None:
    window = sign_in(no_links.ann)
    first = open_tab(window, "/campaigns/p1/annotate")
    second = open_tab(window, "/campaigns/p1/annotate")
    ready(first)
    ready(second)
    assert question(first) == question(second)
    for number in range(7):
        for here, there, key in ((first, second, "y"), (second, first, "n")):
            answered = question(here)
            press(here, key)
            if (number, key) != (6, "n"):
                expect(there.locator("[data-question]")).not_to_have_text(answered)
            if (number, key) == (0, "y"):
                shows(notice(there, "info"), "elsewhere")
            settle(there)
    saved(first, 14)
    assert Label.objects.values("item").distinct().count() == 14
    assert SurplusLabel.objects.count() == 0


def test_row_that_was_answered_in_another_tab_says_so(no_links, sign_in, open_tab) -> None:
    window = sign_in(no_links.ann)
    first = open_tab(window, "/campaigns/p1/annotate", view="group")
    second = open_tab(window, "/campaigns/p1/annotate", view="group")
    ready(first)
    ready(second)
    press(first, "y")
    shows(rows(second).first.locator("[data-said]"), "elsewhere")
    press(second, "ArrowDown", "ArrowUp", "n")  # nothing that it could change
    press(second, "ArrowDown", "n")
    saved(second, 2)
    assert SurplusLabel.objects.count() == 0


def test_closed_tab_gives_back_nothing_that_another_shows_and_leaves_it_its_answers(
    no_links, sign_in, open_tab
) -> None:
    window = sign_in(no_links.ann)
    first = open_tab(window, "/campaigns/p1/annotate")
    second = open_tab(window, "/campaigns/p1/annotate")
    ready(first)
    ready(second)
    first.route(SUBMIT, lambda route: route.abort())
    press(first, "y")
    first.close()
    second.wait_for_timeout(500)
    assert Slot.objects.filter(state="leased").count() == 14
    second.evaluate("document.dispatchEvent(new Event('visibilitychange'))")  # as a look at the tab
    saved(second, 1)
