"""Both pages in every view: axe without serious findings, targets, reading order, narrow screens."""

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from annotation.models import Item, Label, QuestionTemplate
from core.people.languages import choose_language
from tests.annotation.browser.hands import paste, press, ready, row_at, saved, shoot
from tests.annotation.factories import LINK, World, label_item, windows_closed

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def findings(page: Page) -> list[tuple[str, list[Any]]]:
    """Serious and critical ones."""
    found = Axe().run(page).response["violations"]
    return [
        (one["id"], [node["target"] for node in one["nodes"]])
        for one in found
        if one["impact"] in ("serious", "critical")
    ]


def small_targets(page: Page) -> list[str]:
    """Buttons, fields and links outside of text that are less than 24 pixels wide or high."""
    return page.evaluate(  # type: ignore[no-any-return]
        """() => [...document.querySelectorAll("main button, main a, main input, main textarea")]
            .filter((one) => one.checkVisibility({visibilityProperty: true}) && !one.closest(".prose, label"))
            .filter((one) => { const box = one.getBoundingClientRect(); return box.width < 24 || box.height < 23.9; })
            .map((one) => `${one.outerHTML.slice(0, 90)} ${one.getBoundingClientRect().height}`)"""
    )


def look(page: Page, name: str) -> None:
    shoot(page, name)
    assert findings(page) == [], name
    assert small_targets(page) == [], name
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name


@pytest.mark.parametrize("width", [360, 1440])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_annotate_page_in_both_views(world, open_page, scheme: str, width: int) -> None:
    page = open_page(world.ann, width=width, color_scheme=scheme)
    ready(page)
    named = f"{scheme}-{width}"
    look(page, f"a-one-{named}")
    press(page, "y")  # the link is missing
    look(page, f"a-one-problem-{named}")
    page.keyboard.press("Escape")
    press(page, "s")
    look(page, f"a-one-why-{named}")
    page.keyboard.press("Escape")
    paste(page, LINK)
    press(page, "y")
    page.locator('[data-show="group"]').click()
    ready(page)
    look(page, f"a-group-{named}")
    press(page, "n")
    paste(page, LINK)
    press(page, "n", "s")
    look(page, f"a-group-why-{named}")
    page.keyboard.press("Escape")
    row_at(page).locator("[data-change-link]").click()
    look(page, f"a-group-own-{named}")
    page.locator("[data-candidate]").first.click()
    page.context.set_offline(True)
    press(page, "y")
    look(page, f"a-group-offline-{named}")


def test_annotate_page_in_german_on_a_phone(world, open_page) -> None:
    """German is longer: nothing is cut off or wider than the screen, and messages of script and server are German."""
    choose_language(world.ann, "de")
    page = open_page(world.ann, width=360)
    ready(page)
    look(page, "a-one-german")
    press(page, "y")
    assert page.locator("#link-error").inner_text().startswith("„Ja“ braucht einen Link")
    look(page, "a-one-problem-german")
    page.keyboard.press("Escape")
    press(page, "?")
    look(page, "a-keys-german")
    page.keyboard.press("Escape")
    page.locator('[data-show="group"]').click()
    ready(page)
    press(page, "s")
    look(page, "a-group-german")
    assert page.locator("html").get_attribute("lang") == "de"


@pytest.mark.parametrize("width", [360, 1440])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_dialogs_and_idle_page(world, open_page, scheme: str, width: int) -> None:
    page = open_page(world.ann, width=width, color_scheme=scheme)
    ready(page)
    for key, name in (("?", "keys"), ("g", "guidelines"), ("f", "flag")):
        press(page, key)
        expect(page.locator(f'[data-dialog="{name}"]')).to_be_visible()
        look(page, f"a-dialog-{name}-{scheme}-{width}")
        page.keyboard.press("Escape")
    Item.objects.update(state="settled")
    world.campaign.items.first().slots.model.objects.update(state="free", annotator=None)
    page.reload()
    expect(page.locator("[data-idle] h2")).to_be_visible()
    look(page, f"a-idle-{scheme}-{width}")


@pytest.mark.parametrize("width", [360, 1440])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_adjudicate_page(world, open_page, scheme: str, width: int) -> None:
    for item in Item.objects.order_by("order")[:3]:
        label_item(world, item, ann="Y", ben="N")
        windows_closed(item)
    Label.objects.filter(answer="Y").update(passage="She lived there from 1815 until she married. " * 3)
    page = open_page(world.ada, "/campaigns/p1/adjudicate", width=width, color_scheme=scheme)
    ready(page)
    look(page, f"d-{scheme}-{width}")
    press(page, "s", "d", "y")
    look(page, f"d-reason-{scheme}-{width}")
    page.locator("#link").fill("https://example.org/")
    press(page, "Escape", "d")
    look(page, f"d-problem-{scheme}-{width}")
    page.keyboard.press("Escape")
    press(page, "r")
    look(page, f"d-return-{scheme}-{width}")
    page.goto(page.url.split("?")[0] + "?dispute=over")
    expect(page.locator('[data-test="closed"]')).to_be_visible()
    look(page, f"d-closed-{scheme}-{width}")
    page.goto(page.url.split("?")[0].replace("adjudicate", "disputes"))
    expect(page.locator('[data-test="dispute"]')).to_have_count(2)
    look(page, f"d-queue-{scheme}-{width}")


def test_tab_goes_through_one_row_and_on(no_links, open_page) -> None:
    """Only the row that keys are about is in the order of Tab, so that a list of fifty is no maze."""
    page = open_page(no_links.ann, view="group")
    ready(page)
    press(page, "ArrowDown")
    reached = []
    for _ in range(14):
        page.keyboard.press("Tab")
        reached.append(
            page.evaluate(
                "document.activeElement.closest('.candidate-at') ? 'row' : document.activeElement.dataset.act ?? '-'"
            )
        )
    inside = reached.count("row")
    assert inside > 5 and reached[:inside] == ["row"] * inside
    assert reached[inside] == "flag"  # of the answer bar


def test_nothing_moves_where_motion_is_unwanted(no_links, open_page) -> None:
    page = open_page(no_links.ann, view="group", reduced_motion="reduce")
    ready(page)
    moving = page.evaluate(
        """() => [...document.querySelectorAll("*")].filter((one) => {
            const style = getComputedStyle(one);
            return parseFloat(style.transitionDuration) > 0 || style.animationName !== "none";
        }).length"""
    )
    assert moving == 0


def test_row_in_use_is_not_hidden_behind_the_line_above(no_links, open_page) -> None:
    page = open_page(no_links.ann, view="group", width=360)
    ready(page)
    press(page, *["ArrowDown"] * 6, *["ArrowUp"] * 5)
    box = row_at(page).bounding_box()
    line = page.locator(".rows-head").bounding_box()
    assert box["y"] >= line["y"] + line["height"] - 1


def dispute(world: World) -> None:
    item = Item.objects.earliest("order")
    label_item(world, item, ann="Y", ben="N")
    windows_closed(item)


@pytest.mark.parametrize("who", ["annotator", "adjudicator"])
def test_on_a_phone_what_is_left_is_not_cut(no_links, open_page, who: str) -> None:
    person, path = (no_links.ann, "annotate") if who == "annotator" else (no_links.ada, "adjudicate")
    if who == "adjudicator":
        dispute(no_links)
    page = open_page(person, f"/campaigns/p1/{path}", width=360)
    ready(page)
    expect(page.locator('[data-counts] [data-message="left"]')).to_be_visible()
    assert page.locator("[data-counts]").evaluate("(counts) => counts.scrollWidth <= counts.clientWidth")


def test_tapped_answer_keeps_its_colour(no_links, open_page) -> None:
    page = open_page(no_links.ann, width=360, has_touch=True, is_mobile=True, reduced_motion="reduce")
    ready(page)
    yes = page.locator(".answers [data-answer=Y]")
    before = yes.evaluate("(button) => getComputedStyle(button).color")
    yes.tap()
    saved(page, 1)
    yes.hover()  # as Chromium leaves it after a tap, unless the page moved meanwhile
    assert yes.evaluate("(button) => [button.matches(':hover'), getComputedStyle(button).color]") == [True, before]


@pytest.mark.parametrize("path", ["annotate", "adjudicate"])
def test_list_of_keys_opens_at_its_top(no_links, open_page, path: str) -> None:
    if path == "adjudicate":
        dispute(no_links)
    page = open_page(no_links.ann if path == "annotate" else no_links.ada, f"/campaigns/p1/{path}", width=360)
    page.set_viewport_size({"width": 360, "height": 640})
    ready(page)
    press(page, "?")
    expect(page.locator("#keys-title")).to_be_focused()
    assert page.locator('[data-dialog="keys"]').evaluate("(dialog) => dialog.scrollTop") == 0


@pytest.mark.parametrize("height", [640, 900])
def test_what_the_list_of_keys_hides_is_under_a_shade_above_its_buttons(no_links, open_page, height: int) -> None:
    page = open_page(no_links.ann)
    page.set_viewport_size({"width": 360 if height < 900 else 1440, "height": height})
    ready(page)
    page.keyboard.press("?")
    dialog = page.locator('[data-dialog="keys"]')
    whole = dialog.evaluate("(dialog) => dialog.scrollHeight <= dialog.clientHeight + 8")
    assert whole == (height == 900)
    shade = """(dialog) => {
        const of = (element, part) => getComputedStyle(element, part).content;
        return [of(dialog, "::after"), of(dialog.querySelector(".actions"), "::before")].map((own) => own !== "none");
    }"""
    expect(dialog).to_have_class("" if whole else "has-more")
    assert dialog.evaluate(shade) == [False, not whole]
    dialog.evaluate("(dialog) => dialog.scrollTo(0, dialog.scrollHeight)")
    expect(dialog).to_have_class("")
    assert dialog.evaluate(shade) == [False, False]


def test_hints_at_keys_are_for_people_who_have_keys(no_links, open_page) -> None:
    page = open_page(no_links.ann, width=360, has_touch=True, is_mobile=True)
    ready(page)
    assert page.locator("button kbd:visible, a kbd:visible").count() == 0
    assert page.locator('[data-act="keys"]:visible').count() == 0
    page = open_page(no_links.ben, width=360)  # a narrow window of a computer
    ready(page)
    assert page.locator(".answers kbd:visible").count() == 3


def test_a_long_name_is_whole_once_it_is_chosen(no_links, open_page) -> None:
    page = open_page(no_links.ann)
    ready(page)
    name = page.locator("[data-subject]")
    name.evaluate("name => { name.textContent = 'a long name '.repeat(20); }")
    is_whole = "name => name.scrollHeight <= name.clientHeight + 1 && name.scrollWidth <= name.clientWidth + 1"
    assert not name.evaluate(is_whole) and name.bounding_box()["height"] > 24  # two lines
    page.locator('[name="search-for"][value="subject"]').focus()
    assert name.evaluate(is_whole)


def test_on_a_phone_a_word_without_end_makes_the_own_labels_no_wider(no_links, open_page) -> None:
    label_item(no_links, Item.objects.earliest("order"), ann="Y")
    QuestionTemplate.objects.update(statement=f"Is {{subject}} {'w' * 300} {{object}}?")
    page = open_page(no_links.ann, "/campaigns/p1/labels", width=360)
    expect(page.locator(".own-labels strong")).to_contain_text("w" * 300)
    assert page.evaluate("document.documentElement.scrollWidth") == 360
