"""From an empty site to an exported test set in a browser, without a shell: clicks and time to the first label.

The first manager joins by the link that `serve` prints. A click is a press of a button, link or box; typing and
choosing from a list are not counted.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.test_walk import GUARD_MS, Site, Window, served

pytestmark = [pytest.mark.slow, pytest.mark.browser]
MOST_CLICKS, MOST_SECONDS = 12, 300
PASSWORD = "walk on and on 7"
WIKI = "https://en.wikipedia.org/wiki/Family"


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Iterator[Site]:
    site = Site(tmp_path_factory.mktemp("first-walk"))
    site.manage("migrate", "-v", "0")
    with served(site):
        yield site


class Hand:
    """Press what a page offers, and count it."""

    def __init__(self) -> None:
        self.clicks = 0

    def press(self, page, name: str, role: str = "button") -> None:
        page.get_by_role(role, name=name, exact=True).first.click()
        self.clicks += 1


def join(browser, site: Site, hand: Hand, link: str, name: str) -> Window:
    """Open an invitation in a browser of one's own, and accept it."""
    someone = Window(browser, site)
    page = someone.page
    page.goto(link)
    page.fill("input[name=username]", name)
    for field in ("password", "again"):
        page.fill(f"input[name={field}]", PASSWORD)
    page.get_by_role("checkbox").check()
    hand.clicks += 1
    hand.press(page, "Make account and accept")
    page.wait_for_url(f"{site.url}/")
    return someone


def first_manager(browser, site: Site) -> Window:
    """Open the link that the terminal shows, and make the first account by the Enter key."""
    mara = Window(browser, site)
    page = mara.page
    page.goto(re.search(rf"{site.url}/invitations/\S+", site.said())[0])
    page.fill("input[name=username]", "Mara")
    page.fill("input[name=password]", PASSWORD)
    page.fill("input[name=again]", PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(f"{site.url}/")
    return mara


def label(page) -> None:
    """Answer the question that is shown with yes."""
    page.wait_for_selector("[data-loop]:not([hidden])")
    question = page.text_content("[data-question]")
    page.fill("#link", WIKI)
    page.locator("#link").blur()
    page.wait_for_timeout(GUARD_MS)
    page.keyboard.press("y")
    page.wait_for_function(
        "q => document.querySelector('[data-idle]').checkVisibility() "
        "|| document.querySelector('[data-question]').textContent !== q",
        arg=question,
    )


def invited_link(page) -> str:
    return page.input_value("[data-test=secret-link]")


def test_from_nothing_to_a_test_set_in_the_browser(site: Site, browser) -> None:
    mara, hand = first_manager(browser, site), Hand()
    page, begun = mara.page, time.monotonic()

    # 1. a graph
    hand.press(page, "Import a graph", "link")
    page.locator("[data-test=bundled] input[name=bundled_name]").fill("families")
    page.locator("[data-test=bundled]").get_by_role("button", name="Import").click()
    hand.clicks += 1
    page.wait_for_url("**/graphs/families")

    # 2. systems
    hand.press(page, "Train systems", "link")
    hand.press(page, "Train systems")
    page.wait_for_function("() => document.querySelectorAll('.badge-done').length >= 6", timeout=MOST_SECONDS * 1000)
    trained = time.monotonic() - begun

    # 3. a pool
    hand.press(page, "Build a pool", "link")
    page.fill("input[name=name]", "first")
    page.wait_for_selector("[data-test=estimate]")
    told = int(page.locator("[data-test=estimate-filtered] td").nth(1).text_content().replace(",", ""))
    hand.press(page, "Build pool")
    page.wait_for_selector("#stage-pool.stage-done", timeout=MOST_SECONDS * 1000)

    # 4. a campaign and its people
    page.locator("#stage-labels h2 a").click()
    hand.clicks += 1
    hand.press(page, "Open campaign")
    page.wait_for_url("**/campaign/people")
    hand.press(page, "Make invitation")
    link = invited_link(page)

    # 5. the first label
    anna = join(browser, site, hand, link, "Anna")
    hand.press(anna.page, "Annotate", "link")
    label(anna.page)
    seconds = time.monotonic() - begun
    print(json.dumps({"clicks": hand.clicks, "seconds": round(seconds, 1), "trained": round(trained, 1)}))
    assert hand.clicks <= MOST_CLICKS
    assert seconds <= MOST_SECONDS

    # the estimate was a bound of what came
    page.goto("/pools/first/filter")
    to_people = int(page.locator("[data-test=figures] dd").last.text_content().replace(",", ""))
    assert 0 < to_people <= told

    # the second label, with nothing to undo, and the test set
    page.goto("/pools/first/campaign/rules")
    page.fill("input[name=undo_minutes]", "0")
    page.get_by_role("button", name="Save").first.click()
    page.goto("/pools/first/campaign/people")
    page.get_by_role("button", name="Make invitation").click()
    ben = join(browser, site, Hand(), invited_link(page), "Ben")
    ben.page.get_by_role("link", name="Annotate", exact=True).first.click()
    label(ben.page)
    page.goto("/pools/first/export")
    page.fill("input[name=name]", "v1")
    page.get_by_role("button", name="Freeze qrels").click()
    page.get_by_role("button", name="Write test set").click()
    page.wait_for_selector("a:text('Download')", timeout=120_000)
    with page.expect_download() as download:
        page.get_by_role("link", name="Download").first.click()
    assert download.value.suggested_filename == "first-v1.zip"
    assert Path(download.value.path()).stat().st_size > 5_000
    for one in (anna, ben, mara):
        one.leave()
