"""In a browser: tables keep their head in sight, let people choose columns and stack on a phone; its bar is one row."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.test import Client

from tests.pages.world import make_system

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PHONE = {"width": 360, "height": 740}
SYSTEMS = "/graphs/town/systems"
ROWS = ["triples", "campaign/triples", "evaluation/questions", "evaluation/triples"]


@pytest.fixture
def opened(world: dict, live_server, browser) -> Iterator:
    """Return a function that opens a page as somebody; nothing may be written to its console."""
    contexts, said = [], []

    def open_page(path: str, who: str = "manager", **options: object):
        client = Client()
        client.force_login(world[who])
        context = browser.new_context(base_url=live_server.url, **options)
        contexts.append(context)
        context.add_cookies([{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}])
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(path)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert said == []


@pytest.mark.parametrize("path", ROWS)
def test_on_a_wide_screen_a_row_is_36_to_40_px_unless_it_has_much_to_say(path: str, opened):
    page = opened(f"/pools/town-pool/{path}", viewport={"width": 1440, "height": 900})
    heights = page.evaluate("[...document.querySelectorAll('main tbody tr')].map((row) => row.offsetHeight)")
    assert heights and sorted(heights)[len(heights) // 2] <= 40  # half of them


def test_on_a_phone_filters_fill_their_columns_and_ticks_have_room(opened, world: dict):
    page = opened("/pools/town-pool/campaign/triples", viewport=PHONE)
    gaps = page.locator(".inline-form .field :is(input, select):visible").evaluate_all(
        "found => found.map(one => one.closest('.field').clientWidth - one.offsetWidth)"
    )
    assert gaps == [0] * 5
    page.goto("/pools/town-pool/campaign/sources")
    rooms = page.locator("tr:has(input[name=relations])").evaluate_all("""rows => rows.map(row => {
      const [words, tick] = ['label', 'input'].map(name => row.querySelector(name).getBoundingClientRect());
      return words.left - tick.right;
    })""")
    assert rooms and min(rooms) >= 6


def test_on_a_phone_a_long_count_narrows_only_its_own_words(opened, world: dict):
    page = opened("/pools/town-pool/campaign", viewport=PHONE)
    long, short = (page.locator(f"[data-test={name}] dd").bounding_box() for name in ("labels", "held"))
    assert long["width"] > short["width"]
    assert abs(long["x"] + long["width"] - short["x"] - short["width"]) < 1  # they end in one line


def heads(page) -> list[str]:
    return [text.strip() for text in page.locator("table thead th:visible").all_inner_texts()]


@pytest.mark.parametrize(("width", "kind"), [(1440, "fits"), (1000, "scrolls")])
def test_the_head_of_a_long_table_stays_in_sight(opened, world: dict, width: int, kind: str):
    for number in range(40):
        make_system(world["graph"], f"s{number}", run=False)
    page = opened(SYSTEMS, viewport={"width": width, "height": 800})
    frame = page.locator(f".table-wrap.{kind}")
    frame.wait_for()
    if kind == "scrolls":
        frame.evaluate("frame => { frame.scrollIntoView(); frame.scrollTop = 600; }")
    else:
        page.evaluate("scrollTo(0, 800)")
    bounds = page.locator("table thead").bounding_box()
    assert 0 <= bounds["y"] <= 20
    at = [bounds["x"] + 40, bounds["y"] + bounds["height"] / 2]
    assert page.evaluate("([x, y]) => document.elementFromPoint(x, y).closest('thead') !== null", at)


def test_columns_are_chosen_by_key_and_the_choice_is_kept(opened):
    page = opened(SYSTEMS)
    every = heads(page)
    assert len(every) > 8
    page.locator(".column-choice summary").press("Enter")
    page.locator(".column-choice input").first.press("Space")
    assert heads(page) == [every[0], *every[2:]]
    assert page.locator("tbody tr").first.locator("td:visible, th:visible").count() == len(every) - 1
    page.reload()
    page.wait_for_selector(".column-choice")
    assert heads(page) == [every[0], *every[2:]]
    page.locator(".column-choice summary").press("Enter")
    page.locator(".column-choice input").first.press("Space")
    assert heads(page) == every


def test_a_choice_is_that_of_one_table(opened):
    page = opened(SYSTEMS)
    page.locator(".column-choice summary").click()
    page.locator(".column-choice input").first.uncheck()
    page.goto("/pools")
    assert page.locator("thead th:not(:visible)").count() == 0


def test_without_scripts_every_column_is_shown_and_nobody_is_asked(opened):
    page = opened(SYSTEMS, java_script_enabled=False)
    assert len(heads(page)) > 8 and page.locator(".column-choice").count() == 0


@pytest.mark.parametrize("who", ["manager", "annotator", "adjudicator"])
def test_the_bar_of_a_phone_is_one_row_with_all_in_its_menu(opened, who: str):
    page = opened("/", who, viewport=PHONE)
    assert page.locator(".site-header").bounding_box()["height"] <= 56
    menu = page.locator("#site-menu")
    assert not menu.is_visible()
    page.locator("[popovertarget=site-menu]").click()
    links = menu.locator("[data-test=site-nav] a")
    assert links.count() > 0
    for box in [link.bounding_box() for link in links.all()]:
        assert box["x"] >= 0 and box["x"] + box["width"] <= PHONE["width"]
    assert menu.evaluate("menu => menu.scrollWidth <= menu.clientWidth")
    assert menu.locator("[action$=logout] button").is_visible()
    page.keyboard.press("Escape")
    assert not menu.is_visible()


def test_a_wide_window_has_the_menu_in_the_bar(opened):
    page = opened("/", viewport={"width": 1280, "height": 800})
    assert page.locator("[data-test=site-nav]").is_visible()
    assert not page.locator("[popovertarget=site-menu]").is_visible()


def test_a_phone_reaches_the_pages_of_a_pool_from_its_bar(opened):
    page = opened("/pools/town-pool/campaign/triples", viewport=PHONE)
    assert page.locator(".site-header").bounding_box()["height"] <= 56
    page.locator("[popovertarget=sidebar]").click()
    assert page.locator("[data-test=sidebar]").is_visible()


ITEMS = "/pools/town-pool/campaign/triples"


@pytest.mark.parametrize("path", [ITEMS, "/pools/town-pool/campaign/people", "/pools", SYSTEMS, "/audit"])
def test_rows_are_stacked_with_their_headings_on_a_phone(opened, path: str):
    page = opened(path, viewport=PHONE)
    wide = ".table-wrap:has(.table-stack)"
    assert page.locator(wide).count() > 0
    assert page.evaluate(f"[...document.querySelectorAll('{wide}')].every(one => one.scrollWidth <= one.clientWidth)")
    cell = page.locator(".table-stack td[data-label]").nth(2 if path == ITEMS else 1)  # the state of an item has none
    shown = cell.evaluate("cell => getComputedStyle(cell, '::before').content")
    assert cell.get_attribute("data-label") in shown


def test_on_a_phone_long_names_make_no_page_and_no_table_wider(opened, world: dict):
    pool, person = world["pool"], world["annotator"]
    make_system(world["graph"], name="s" * 80, kind="transe", state="trained")
    type(pool).objects.filter(pk=pool.pk).update(name="p" * 80)
    type(person).objects.filter(pk=person.pk).update(username="n" * 150)
    for path in ("/people", "/pools/new?graph=town"):
        page = opened(path, viewport=PHONE)
        assert page.evaluate("document.documentElement.scrollWidth") == 360, path
        wider = "found => found.filter(one => one.scrollWidth > one.clientWidth).length"
        assert page.locator(".table-wrap").evaluate_all(wider) == 0, path


def test_what_a_finger_touches_is_24_px_high_at_least(opened):
    heights = "found => found.map(one => one.offsetHeight)"
    page = opened("/pools/new", viewport=PHONE)
    page.locator("label:has(> input[type=checkbox])").first.wait_for()
    ticks = page.locator("main label:has(> input[type=checkbox]):visible").evaluate_all(heights)
    page.goto("/pools/town-pool/campaign/people")
    buttons = page.locator("td .button-plain:visible").evaluate_all(heights)
    assert ticks and buttons and min(ticks + buttons) >= 24
