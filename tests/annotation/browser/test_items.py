"""Items of a campaign on a phone, as its manager chooses some of them and acts."""

import pytest
from playwright.sync_api import expect

from tests.annotation.browser.hands import shoot
from tests.annotation.factories import label_all

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_acts_are_in_reach_and_rows_are_short(world, open_page) -> None:
    page = open_page(world.manager, "/pools/p1/campaign/triples", width=360)
    bar, acts = page.locator('[data-test="selection"]'), page.locator("button[name=act]")
    row = page.locator('[data-test="item"]').first
    labels = row.locator(".on-demand:not([data-none])").first
    row.locator("[name=items]").check()
    box, tall = bar.bounding_box(), row.bounding_box()
    assert box and box["height"] <= 64 and box["y"] + box["height"] == 900  # at the lower edge of the screen
    assert tall and tall["height"] <= 90
    expect(labels).to_be_hidden()
    row.locator("[data-more]").click()
    expect(labels).to_be_visible()
    expect(acts.first).to_be_hidden()
    page.locator("[data-open-acts]").click()
    expect(page.locator("[data-open-acts]")).to_have_attribute("aria-expanded", "true")
    expect(acts.first).to_be_visible()
    shoot(page, "items-phone")
    page.locator('button[name=act][value="flag"]').click()
    expect(page.locator('[data-test="listed"]')).to_have_count(1)


@pytest.mark.parametrize("path", ["annotators", "quality", "triples?state=disputed"])
def test_figures_with_a_second_line_are_rows_of_36_to_40_px(path: str, world, items, open_page) -> None:
    label_all(world, items[:3], "YN?", "NNY")
    page = open_page(world.manager, f"/pools/p1/campaign/{path}", width=1440)
    heights = page.evaluate("[...document.querySelectorAll('.two-lines tbody tr')].map((row) => row.offsetHeight)")
    assert heights and min(heights) >= 36 and sorted(heights)[(len(heights) - 1) // 2] <= 40
