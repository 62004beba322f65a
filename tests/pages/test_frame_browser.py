"""The frame in a browser: the search (Ctrl+K, Escape, focus, Enter, a phone, no answer), and the sidebar in sight."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.pages.test_accessible import findings, window

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
IS_OPEN = "document.querySelector('#search').open"


def type_in_search(page, text: str) -> None:
    page.keyboard.press("Control+k")
    page.locator("#search input[type=search]").wait_for()
    page.keyboard.type(text)
    page.wait_for_function("text => document.querySelector('#search-text').value === text", arg=text)


def test_one_escape_closes_the_search_and_the_focus_is_where_it_was(world: dict, live_server, browser):
    page = window(browser, live_server, world["manager"], 1280)
    page.goto("/account")
    field = page.locator("input[name=email]")
    field.focus()
    type_in_search(page, "export")
    page.keyboard.press("Escape")
    assert not page.evaluate(IS_OPEN)
    assert field.evaluate("field => field === document.activeElement")
    type_in_search(page, "")
    page.keyboard.press("Escape")
    assert not page.evaluate(IS_OPEN)
    assert field.evaluate("field => field === document.activeElement")


def test_enter_opens_the_first_result_of_what_was_typed_last(world: dict, live_server, browser):
    page = window(browser, live_server, world["manager"], 1280)
    page.goto("/")
    type_in_search(page, "freeze")
    page.keyboard.press("Enter")
    page.wait_for_url("**/pools/town-pool/export")


def test_arrows_go_through_the_results(world: dict, live_server, browser):
    page = window(browser, live_server, world["adjudicator"], 1280)
    page.goto("/")
    type_in_search(page, "undo")
    page.locator("#search [data-found] a", has_text="undo").wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/campaigns/town-pool/labels")


def test_the_page_of_questions_keeps_its_keys_to_itself_while_the_search_is_open(world: dict, live_server, browser):
    page = window(browser, live_server, world["annotator"], 360)
    page.goto("/campaigns/town-pool/annotate")
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if request.method == "POST" else None)
    page.locator("[data-answer]").first.wait_for()
    sent.clear()
    type_in_search(page, "ynsu")
    assert [url for url in sent if "submit" in url] == []
    page.keyboard.press("Escape")
    assert not page.evaluate(IS_OPEN)
    page.locator("[data-test=loop-search]").click()
    page.locator("#search input[type=search]").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_without_an_answer_the_search_says_so_and_nothing_is_lost(world: dict, live_server, browser):
    page = window(browser, live_server, world["annotator"], 1280)
    page.goto("/account")
    page.locator("input[name=email]").fill("kept@example.org")
    page.route("**/search?*", lambda route: route.abort())
    page.keyboard.press("Control+k")
    told = page.locator("#search p")
    assert told.inner_text() == page.locator("#search").get_attribute("data-failed")
    page.keyboard.press("Escape")
    assert page.locator("input[name=email]").input_value() == "kept@example.org"


@pytest.mark.parametrize("role", ["annotator", "adjudicator", "manager"])
@pytest.mark.parametrize("width", [360, 1440])
def test_the_search_and_the_bar_are_accessible_and_fit(world: dict, live_server, browser, role: str, width: int):
    page = window(browser, live_server, world[role], width)
    found: dict[str, list[str]] = {}
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.goto("/")
        if width == 360:
            page.locator(".menu-button").click()
        found[f"{scheme} bar"] = findings(page)
        page.locator("[data-test=search-link]").click()
        page.locator("#search [data-found] a").first.wait_for()
        found[f"{scheme} search"] = findings(page)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.keyboard.press("Escape")
        wanted = ".menu-button" if width == 360 else ".search-link"  # what was in the menu is out of sight
        page.wait_for_function("wanted => document.activeElement.matches(wanted)", arg=wanted)
    assert {place: wrong for place, wrong in found.items() if wrong} == {}


@pytest.mark.parametrize("width", [360, 1440])
def test_the_current_page_is_in_sight_in_the_sidebar(world: dict, live_server, browser, width: int):
    page = window(browser, live_server, world["manager"], width)
    page.set_viewport_size({"width": width, "height": 500})
    for path in ("evaluation/report", "filter", "campaign/triples?state=disputed"):
        page.goto(f"/pools/town-pool/{path}")
        if width == 360:
            page.locator(".drawer-button").click()
        link = page.locator("#sidebar [aria-current=page]")
        assert link.get_attribute("href").endswith(path)
        page.wait_for_function("at => at.getBoundingClientRect().bottom <= innerHeight", arg=link.element_handle())
        assert page.evaluate("scrollY") == 0
        cut = "[...document.querySelectorAll('#sidebar :is(a, summary)')].filter(at => at.scrollWidth > at.clientWidth)"
        assert page.evaluate(f"{cut}.map(at => at.textContent)") == []


def test_a_closed_entry_has_the_sum_of_its_counts(world: dict, live_server, browser):
    page = window(browser, live_server, world["manager"], 1440)
    page.route("**/attention", lambda route: route.fulfill(json={"inbox": 1, "disputes": 1200}))
    page.goto("/pools/town-pool")
    work = page.locator("#sidebar .entry-group", has=page.locator("summary", has_text="Work"))
    counts = work.locator(".count:visible")
    counts.get_by_text("1,201").wait_for()
    assert (counts.count(), counts.get_attribute("title")) == (1, "Inbox and Disputes")
    work.locator("summary").first.click()
    assert counts.all_inner_texts() == ["1", "1,200"]


@pytest.mark.parametrize("width", [960, 1440])
def test_the_count_of_notices_covers_nothing(world: dict, live_server, browser, width: int):
    page = window(browser, live_server, world["manager"], width)
    page.route("**/attention", lambda route: route.fulfill(json={"jobs": 12, "notices": 1234}))
    page.goto("/")
    count = page.locator(".bell .count")
    count.get_by_text("1,234").wait_for()
    boxes = [
        page.locator(part).bounding_box()
        for part in (".search-link", ".bell svg", ".bell .count", "[data-theme-switch]")
    ]
    for before, after in pairwise(boxes):
        assert before["x"] + before["width"] <= after["x"]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_group_opened_by_hand_leaves_others_and_a_closed_one_is_marked(world: dict, live_server, browser):
    page = window(browser, live_server, world["manager"], 1440)
    page.goto("/pools/town-pool/questions")
    page.locator("#sidebar .entry-group > summary", has_text="Quality").click()
    opened = page.locator("#sidebar .entry-group[open] > summary")
    assert [one.strip() for one in opened.all_text_contents()] == ["Setup", "Quality"]
    place = page.locator("#sidebar .entry-group > summary", has_text="Setup")
    colour = "one => getComputedStyle(one).backgroundColor"
    before = place.evaluate(colour)
    place.click()
    page.mouse.move(900, 600)
    assert place.evaluate(colour) == page.locator("#sidebar [aria-current=page]").evaluate(colour) != before


def test_the_search_marks_what_enter_opens(world: dict, live_server, browser):
    page = window(browser, live_server, world["manager"], 1280)
    page.goto("/")
    type_in_search(page, "pool")
    links = page.locator("#search [data-found] a")
    links.nth(1).wait_for()
    marks = links.evaluate_all("links => links.map(one => getComputedStyle(one, '::after').content !== 'none')")
    assert marks.index(True) == 0 and marks.count(True) == 1


def test_in_the_search_the_pointer_and_what_enter_opens_look_different_and_touch_no_heading(
    world: dict, live_server, browser
):
    page = window(browser, live_server, world["manager"], 1280)
    page.goto("/")
    type_in_search(page, "pool")
    page.keyboard.press("ArrowDown")
    page.locator("#search [data-found] a:focus").wait_for()  # the arrow waits for what was typed last
    page.keyboard.press("ArrowUp")
    page.locator("#search input:focus").wait_for()
    links = page.locator("#search [data-found] a")
    links.nth(1).hover()
    colour = "link => getComputedStyle(link).backgroundColor"
    assert links.nth(0).evaluate(colour) != links.nth(1).evaluate(colour)
    page.keyboard.press("ArrowDown")
    page.locator("#search [data-found] a:focus").wait_for()
    heading = page.locator("#search [data-found] h2").first.bounding_box()
    assert heading["y"] + heading["height"] <= links.nth(0).bounding_box()["y"] - 2
    assert links.nth(0).evaluate("link => parseFloat(getComputedStyle(link).outlineOffset)") <= -2  # within the link


def test_every_notice_is_as_wide_as_the_page(world: dict, live_server, browser):
    page = window(browser, live_server, world["manager"], 1440)
    page.goto("/pools/town-pool/export")
    notices = page.locator("main p.notice").all()
    header = page.locator(".page-header").bounding_box()
    assert notices and header
    for box in [one.bounding_box() for one in notices]:  # a block of a notice fills the page
        assert box and round(box["width"]) == round(header["width"])


def test_cards_of_an_account_leave_no_holes(world: dict, live_server, browser):
    page = window(browser, live_server, world["annotator"], 1440)
    page.goto("/account")
    page.locator("[data-usual]").first.wait_for()
    boxes = [box for one in page.locator("main .card").all() if (box := one.bounding_box())]
    columns = {x: [box for box in boxes if round(box["x"]) == x] for x in {round(box["x"]) for box in boxes}}
    assert len(columns) == 2
    for own in columns.values():
        own.sort(key=lambda box: box["y"])
        assert all(round(b["y"] - a["y"] - a["height"]) == 16 for a, b in pairwise(own))
    below = "(card) => card.getBoundingClientRect().bottom - card.lastElementChild.getBoundingClientRect().bottom"
    assert all(one.evaluate(below) < 48 for one in page.locator("main .card").all())
    ends = [own[-1]["y"] + own[-1]["height"] for own in columns.values()]
    assert max(ends) - min(ends) < 200
