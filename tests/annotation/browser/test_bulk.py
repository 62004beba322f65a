"""By question: no for the remaining candidates, taken back, sent, and never lost."""

import pytest
from playwright.sync_api import expect

from annotation.models import Label
from tests.annotation.browser.hands import (
    GUARD,
    notice,
    paste,
    press,
    ready,
    row_at,
    rows,
    saved,
    settle,
    shoot,
    shows,
    stop_clock,
)
from tests.annotation.factories import LINK

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_four_keys_and_a_paste_answer_seven_candidates(world, open_page) -> None:
    page = open_page(world.ann, view="group")
    ready(page)
    paste(page, LINK)
    press(page, "y", "r")
    shows(notice(page, "info"), "bulk")
    shoot(page, "bulk")
    assert Label.objects.count() <= 1  # the others wait
    press(page, "Enter")
    saved(page, 7)
    given = list(Label.objects.order_by("id").values_list("answer", "source_url", "is_bulk"))
    assert given == [("Y", LINK, False), *[("N", LINK, True)] * 6]


def test_no_for_the_remaining_ones_waits_for_a_link_too(world, open_page) -> None:
    page = open_page(world.ann, view="group")
    ready(page)
    press(page, "r")
    shows(page.locator('[data-view="group"] .field-error').first, "no-link")
    expect(page.locator('[data-bar] [data-answer="N"]')).to_have_attribute("aria-pressed", "true")
    page.locator("#question-link").fill(LINK)
    page.locator("#question-link").press("Enter")
    shows(notice(page, "info"), "bulk")
    press(page, "Enter")
    saved(page, 7)
    assert set(Label.objects.values_list("answer", "source_url")) == {("N", LINK)}


def test_undo_takes_all_of_them_back_and_nothing_is_sent(no_links, open_page) -> None:
    page = open_page(no_links.ann, view="group")
    ready(page)
    press(page, "n", "r", "u")
    assert rows(page).locator("xpath=self::*[@data-state='open']").count() == 6
    shows(notice(page, "info"), "reopened")
    press(page, "y")
    saved(page, 2)
    assert list(Label.objects.order_by("id").values_list("answer", "is_bulk")) == [("N", False), ("Y", False)]


def test_enter_goes_on_after_they_were_sent_by_themselves(no_links, open_page) -> None:
    page = open_page(no_links.ann, view="group")
    stop_clock(page)
    page.clock.run_for(GUARD)
    first = page.locator("#group-question").inner_text()
    page.keyboard.press("r")
    page.clock.run_for(11_000)
    page.clock.resume()
    saved(page, 7)
    settle(page)
    expect(page.locator("[data-next]")).to_be_focused()
    press(page, "Enter")
    expect(page.locator("#group-question")).not_to_have_text(first)


def test_another_answer_to_one_of_them_leaves_the_others(no_links, open_page) -> None:
    page = open_page(no_links.ann, view="group")
    ready(page)
    press(page, "r", "ArrowUp", "y")
    page.locator('[data-show="one"]').click()  # sends what waits
    saved(page, 7)
    bulk = Label.objects.filter(is_bulk=True)
    assert set(bulk.values_list("answer", flat=True)) == {"N"} and bulk.count() == 6
    assert Label.objects.get(is_bulk=False).answer == "Y"


def test_leaving_the_page_keeps_them(no_links, open_page) -> None:
    page = open_page(no_links.ann, view="group")
    ready(page)
    press(page, "r")
    page.reload()
    saved(page, 7)
    assert Label.objects.filter(is_bulk=True).count() == 7


def test_going_to_another_page_sends_all_of_them(no_links, open_page) -> None:
    page = open_page(no_links.ann, view="group")
    ready(page)
    press(page, "r")
    page.locator('.loop-top a[href="/"]').first.click()
    page.wait_for_url("**/")
    saved(page, 7)  # without another look at the loop
    assert Label.objects.filter(is_bulk=True).count() == 7
    page.go_back()  # what the browser has kept is sent again, and is the same
    ready(page)
    assert Label.objects.count() == 7


def test_missing_link_is_told_at_the_first_row(world, open_page) -> None:
    page = open_page(world.ann, view="group")
    ready(page)
    press(page, "ArrowDown", "r")
    shows(rows(page).first.locator("[data-error]"), "no-link")
    assert row_at(page).get_attribute("aria-label") == rows(page).first.get_attribute("aria-label")
    assert Label.objects.count() == 0
