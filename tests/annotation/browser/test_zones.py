"""Question, evidence and answer bar stay where they are, whatever is asked, said or undone, at any size."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Item, QuestionTemplate
from tests.annotation.browser.hands import notice, paste, press, question, ready, shoot, shows
from tests.annotation.factories import LINK, label_item, make_world, windows_closed

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
SIZES = [(360, 640), (640, 360), (1280, 900)]  # the second is 1280 x 720 at 200 %
LONG = "a name without any end " * 9


@pytest.fixture
def world(live_server, tmp_path: Path):
    """Every other entity has a label of 200 characters and a description."""
    folder = tmp_path / "tsv"
    folder.mkdir()
    keys = [f"c{i}" for i in range(0, 10, 2)]
    (folder / "entity_descriptions.tsv").write_text("".join(f"{key}\t{'much is known ' * 20}\n" for key in keys))
    return make_world(folder, items=14)


def zones(page: Page) -> list[list[int]]:
    """Left, top, width and height of each zone and of each answer button that is shown."""
    return page.evaluate(  # type: ignore[no-any-return]
        """() => [...document.querySelectorAll(".zones > .zone, .answer-bar, .answers > [data-answer], .cause")]
            .filter((one) => one.checkVisibility()).map((one) => one.getBoundingClientRect())
            .map((box) => [box.x, box.y, box.width, box.height].map(Math.round))"""
    )


def stay(page: Page, placed: list[list[int]], *, unfolds: bool) -> bool:
    """Return whether all zones are where they were; the second, evidence, may unfold upwards if `unfolds`."""
    now = zones(page)
    if unfolds:
        (x, y, width, height), (_, old_y, _, old_height) = now[1], placed[1]
        if abs(y + height - old_y - old_height) <= 1:  # a pixel of rounding
            now[1] = [x, old_y, width, old_height]
    return now == placed


def test_on_a_phone_a_missing_link_leaves_what_one_reads_in_sight(world, open_page) -> None:
    page = open_page(world.ann, width=360)
    page.set_viewport_size({"width": 360, "height": 640})
    ready(page)
    evidence, passage = page.locator('[data-view="one"] .zone-evidence'), page.locator("#passage")
    before = evidence.bounding_box()
    page.locator('[data-bar] [data-answer="Y"]').click()
    shows(page.locator("#link-error"), "no-link")
    expect(page.locator("#link")).to_be_focused()
    expect(page.locator("#link-error")).to_be_in_viewport(ratio=1)
    expect(passage).to_be_hidden()
    assert before["y"] - evidence.bounding_box()["y"] <= 48  # two lines of what is wrong
    evidence.locator("[data-fold]").click()
    page.locator("#link").click()  # nothing moves away under the finger
    expect(passage).to_be_visible()


def make_long(world) -> None:
    QuestionTemplate.objects.update(statement=f"Has {{subject}}, {LONG}, lived in {{object}}?")


def test_ring_of_a_field_covers_nothing_that_is_said_of_it(world, open_page) -> None:
    page = open_page(world.ann, width=1440)
    ready(page)
    press(page, "y")
    shows(page.locator("#link-error"), "no-link")
    ring, said = page.evaluate(
        """() => {
            const field = document.activeElement;
            const style = getComputedStyle(field);
            const ring = parseFloat(style.outlineWidth) + parseFloat(style.outlineOffset);
            const said = document.getElementById("link-error");
            return [field.getBoundingClientRect().bottom + ring, said.getBoundingClientRect().top];
        }"""
    )
    assert ring <= said + 1


@pytest.mark.parametrize("size", SIZES)
def test_one_by_one_nothing_moves(world, open_page, size) -> None:
    page = open_page(world.ann, width=size[0])
    page.set_viewport_size({"width": size[0], "height": size[1]})
    ready(page)
    placed = zones(page)
    assert len(placed) == 6 and placed[2][1] + placed[2][3] == size[1]  # down to the edge of the screen
    seen = {question(page)}
    for keys in (["y"], ["Escape"], ["s"], ["Escape"]):  # a link is missing; a reason is asked for
        press(page, *keys)
        assert stay(page, placed, unfolds=size == (360, 640)), keys
    for _ in range(4):
        paste(page, LINK)
        press(page, "y")
        seen.add(question(page))
        assert zones(page) == placed
    assert len(seen) == 5
    press(page, "u")
    shows(notice(page, "info"), "changing")
    shoot(page, f"zones-undo-{size[0]}")
    assert zones(page) == placed
    press(page, "u", "Escape")
    assert zones(page) == placed
    assert page.evaluate("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]") == [*size]


@pytest.mark.parametrize("view", ["one", "group", "decide"])
@pytest.mark.parametrize("size", SIZES)
def test_no_zone_moves_when_a_notice_goes_and_it_covers_no_evidence(world, open_page, size, view: str) -> None:
    label_item(world, Item.objects.order_by("order")[0], ann="Y", ben="N")
    windows_closed(Item.objects.order_by("order")[0])
    if view == "decide":
        page = open_page(world.ada, "/campaigns/p1/adjudicate", width=size[0])
    else:
        page = open_page(world.ben, view=view, width=size[0])
    page.set_viewport_size({"width": size[0], "height": size[1]})
    ready(page)
    told = notice(page, "guidelines").locator("xpath=..")
    placed, box = zones(page), told.bounding_box()
    evidence = page.locator("[data-view]:not([hidden]) .zone-evidence").bounding_box()
    assert box["x"] + box["width"] <= size[0] and box["y"] >= 40
    below, above = box["y"] + box["height"] <= evidence["y"] + 1, box["y"] >= evidence["y"] + evidence["height"] - 1
    assert below or above or (size[0] == 1280 and view == "one")  # there evidence is beside, and its end is empty
    press(page, "g", "Escape")
    assert told.is_hidden() and zones(page) == placed


@pytest.mark.parametrize("size", SIZES)
def test_long_question_scrolls_in_its_zone(world, open_page, size) -> None:
    page = open_page(world.ann, width=size[0])
    page.set_viewport_size({"width": size[0], "height": size[1]})
    ready(page)
    placed = zones(page)
    make_long(world)
    page.reload()
    page.keyboard.press("Escape")
    ready(page)
    paste(page, LINK)
    press(page, "y")
    assert zones(page) == placed
    assert page.evaluate("document.documentElement.scrollWidth") == size[0]


@pytest.mark.parametrize("size", SIZES)
def test_by_question_question_link_and_bar_stay(world, open_page, size) -> None:
    page = open_page(world.ann, view="group", width=size[0])
    page.set_viewport_size({"width": size[0], "height": size[1]})
    ready(page)
    placed = zones(page)
    assert len(placed) == 7
    press(page, "y", "Escape")  # the link is missing
    assert zones(page) == placed
    paste(page, LINK)
    press(page, "y", "n", "ArrowDown", "ArrowDown", "u")
    shoot(page, f"zones-group-{size[0]}")
    assert zones(page) == placed
    press(page, "ArrowDown", *"ynyn")
    assert zones(page)[:4] == placed[:4]
    assert page.evaluate("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]") == [*size]


@pytest.mark.parametrize("size", SIZES)
def test_adjudication_zones_answers_and_reasons_stay(world, open_page, size) -> None:
    for item in Item.objects.order_by("order")[:3]:
        label_item(world, item, ann="Y", ben="N")
        windows_closed(item)
    page = open_page(world.ada, "/campaigns/p1/adjudicate", width=size[0])
    page.set_viewport_size({"width": size[0], "height": size[1]})
    ready(page)
    placed = zones(page)
    is_phone = size == (360, 640)  # there the bar grows upwards for the reasons; the answers stay at its bottom
    assert len(placed) == (6 if is_phone else 11) and placed[2][1] + placed[2][3] == size[1]
    for keys in (["w"], ["y"], ["t", "Escape"], ["ArrowDown"], ["n", "o"], ["s", "d"], ["u"], ["Escape"]):
        press(page, *keys)
        assert zones(page)[3:6] == placed[3:6] if is_phone else zones(page) == placed, keys
    shoot(page, f"zones-decide-{size[0]}")
    assert page.evaluate("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]") == [*size]
