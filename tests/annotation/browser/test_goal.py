"""A goal of the day: set at the account page, shown beside the labels of today."""

from playwright.sync_api import expect

from tests.annotation.browser.hands import press, ready
from tests.annotation.factories import World
from tests.page import numbers


def test_the_goal_is_shown_until_it_is_reached(no_links: World, sign_in, open_tab):
    window = sign_in(no_links.ann)
    account = open_tab(window, "/account")
    saved, goal = account.locator("[data-saved]"), account.locator("#goal")
    for wrong in ("0", "1.5"):
        goal.fill(wrong)
        goal.blur()
        expect(saved).to_have_attribute("data-message", "no-number")
    goal.fill("2")
    goal.blur()
    expect(saved).to_have_attribute("data-message", "saved")
    page = open_tab(window, "/campaigns/p1/annotate")
    ready(page)
    press(page, "y")
    assert numbers(page.locator("[data-message=of-goal]").inner_text()) == ["1", "2"]
    press(page, "y")
    assert numbers(page.locator("[data-message=goal-reached]").inner_text()) == ["2", "2"]
    goal.fill("")
    goal.blur()
    press(page, "y")
    assert numbers(page.locator("[data-message=today]").inner_text()) == ["3"]
