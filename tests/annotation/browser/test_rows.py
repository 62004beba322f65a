"""By question: all candidates of a question on a page."""

import re

import pytest
from playwright.sync_api import expect

from annotation.models import Label
from tests.annotation.browser.hands import (
    GUARD,
    PAINTED,
    candidate,
    eventually,
    idle,
    notice,
    numbers_in,
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
    stop_clock,
)
from tests.annotation.factories import LINK

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
OTHER = "https://en.wikipedia.org/wiki/Bob"


def answers() -> list[tuple[str, str, str]]:
    return list(Label.objects.order_by("id").values_list("answer", "source_url", "comment"))


def test_refusal_is_in_sight_on_a_small_screen(world, open_page) -> None:
    page = open_page(world.ann, view="group", width=360)
    page.set_viewport_size({"width": 360, "height": 640})
    ready(page)
    row_at(page).locator("[data-change-link]").click()  # the form of its own link makes the row tall
    page.locator('[data-bar] [data-answer="Y"]').click()
    error = row_at(page).locator("[data-error]")
    shows(error, "no-link")
    box, zone = error.bounding_box(), page.locator(".zone-rows").bounding_box()
    assert zone["y"] <= box["y"] and box["y"] + box["height"] <= zone["y"] + zone["height"], (box, zone)


def test_missing_link_puts_the_cursor_into_its_field(world, open_page) -> None:
    page = open_page(world.ann, width=1440)
    page.locator('[data-show="group"]').click()
    ready(page)
    first = row_at(page).get_attribute("aria-label")
    press(page, "y")
    expect(page.locator("#question-link")).to_be_focused()
    assert row_at(page).get_attribute("aria-label") == first
    row_at(page).locator("[data-change-link]").click()
    row_at(page).locator('[data-give="Y"]').click()
    expect(row_at(page).locator("[data-own-link]")).to_be_focused()


def test_refused_link_of_the_question_is_offered_to_no_row(world, open_page) -> None:
    page = open_page(world.ann, view="group")
    ready(page)
    field = page.locator("#question-link")
    field.fill("https://example.com/sun")
    field.press("Enter")
    expect(field).to_be_focused()
    expect(rows(page).first.locator("[data-whose]")).to_have_text("")
    field.fill(LINK)
    field.press("Enter")
    shows(rows(page).locator("[data-whose]"), *["question"] * 7)


def test_question_link_fills_each_row_and_one_has_its_own(world, open_page) -> None:
    page = open_page(world.ann, view="group")
    ready(page)
    shoot(page, "group")
    expect(rows(page)).to_have_count(7)
    press(page, "y")
    shows(row_at(page).locator("[data-error]"), "no-link")
    assert Label.objects.count() == 0
    paste(page, LINK)
    expect(page.locator("#question-link")).to_have_value(LINK)
    shows(rows(page).locator("[data-whose]"), *["question"] * 7)
    expect(page.get_by_label("Link for all rows")).to_be_visible()
    press(page, "y")
    expect(page.get_by_label("Link for the open rows")).to_be_visible()
    second = row_at(page)
    second.locator("[data-change-link]").click()
    second.locator("[data-own-link]").fill("https://example.com/")
    page.keyboard.press("Enter")
    shows(second.locator("[data-error]"), "not-verified")
    paste(page, OTHER)  # the row's field is open, so there
    shoot(page, "group-own-link")
    expect(page.locator("#question-link")).to_have_value(LINK)
    shows(second.locator("[data-whose]"), "own")
    press(page, "n")
    press(page, "s")
    page.keyboard.type("too little is known")
    press(page, "Enter")
    shoot(page, "group-half")
    press(page, "Numpad1", "Numpad0")
    saved(page, 5)
    assert answers() == [
        ("Y", LINK, ""),
        ("N", OTHER, ""),
        ("?", "", "too little is known"),
        ("Y", LINK, ""),
        ("N", LINK, ""),
    ]
    page.locator("#question-link").fill(
        "https://en.wikipedia.org/wiki/Eve"
    )  # rows that are saved keep the link of before, and say so
    shows(
        rows(page).locator("[data-whose]"), "saved-with", "own", "", "saved-with", "saved-with", "question", "question"
    )


def test_a_link_for_one_row_takes_three_keys(world, open_page) -> None:
    page = open_page(world.ann, view="group")
    ready(page)
    paste(page, LINK)
    press(page, "ArrowDown", "e")
    expect(row_at(page).locator("[data-own-link]")).to_be_focused()
    paste(page, OTHER)
    press(page, "y", "y")  # of this row, and of the one after it
    saved(page, 2)
    assert list(Label.objects.order_by("id").values_list("source_url", flat=True)) == [OTHER, LINK]


def test_all_rows_answered_leads_to_the_next_question(no_links, open_page) -> None:
    page = open_page(no_links.ann, view="group")
    ready(page)
    first = page.locator("#group-question").inner_text()
    press(page, *"yynynyy")
    expect(page.locator("[data-next]")).to_be_focused()
    shoot(page, "group-done")
    answers_given = page.locator(".answers > [data-answer]")
    assert answers_given.evaluate_all("(buttons) => buttons.map((one) => one.disabled)") == [True] * 3
    press(page, "y")  # there is no row that it could be about
    saved(page, 7)
    press(page, "ArrowUp")
    assert answers_given.evaluate_all("(buttons) => buttons.map((one) => one.disabled)") == [False] * 3
    press(page, "ArrowDown")
    press(page, "Enter")
    assert page.locator("#group-question").inner_text() != first
    expect(rows(page)).to_have_count(7)
    press(page, *"nnnnnnn")
    press(page, "ArrowRight")
    shows(idle(page), "annotator nothing")
    saved(page, 14)
    assert [given for given, _, _ in answers()] == [*"YYNYNYY", *"NNNNNNN"]


def test_enter_in_the_link_field_does_not_press_the_next_question(no_links, open_page) -> None:
    page = open_page(no_links.ann, view="group")
    ready(page)
    first = page.locator("#group-question").inner_text()
    press(page, *"yyyyyyy")
    page.locator("#question-link").fill("example.com")  # which is refused
    press(page, "Enter")
    expect(page.locator("#question-link")).to_be_focused()
    page.locator("#question-link").fill(LINK)
    press(page, "Enter")
    expect(page.locator("[data-next]")).to_be_focused()
    assert page.locator("#group-question").inner_text() == first


@pytest.mark.parametrize("focus", ["body", "row", "zone", "empty field"])
def test_enter_goes_on_wherever_the_focus_is(no_links, open_page, focus: str) -> None:
    page = open_page(no_links.ann, view="group")
    ready(page)
    first = page.locator("#group-question").inner_text()
    press(page, *"yyyyyy", "Enter")  # one row is open
    expect(page.locator("#group-question")).to_have_text(first)
    press(page, "y")
    if focus == "body":
        page.evaluate("document.activeElement.blur()")
    elif focus == "row":
        press(page, "u")
    else:
        page.locator({"zone": ".zone-head", "empty field": "#question-link"}[focus]).focus()
    press(page, "Enter")
    expect(page.locator("#group-question")).not_to_have_text(first)


def test_enter_presses_the_button_or_link_that_has_the_focus(no_links, open_page) -> None:
    page = open_page(no_links.ann, view="group")
    ready(page)
    first = page.locator("#group-question").inner_text()
    press(page, *"yyyyyyy")
    page.locator('[data-act="keys"]').focus()
    press(page, "Enter")
    expect(page.locator('[data-dialog="keys"]')).to_be_visible()
    press(page, "Enter")  # in the dialog
    expect(page.locator("#group-question")).to_have_text(first)


@pytest.mark.parametrize("keys", [["y"], ["ArrowUp"], ["Enter"], ["one"]])
def test_what_undo_reopened_is_said_no_longer_than_it_is_in_use(no_links, open_page, keys: list[str]) -> None:
    page = open_page(no_links.ann, view="group")
    ready(page)
    press(page, *"yyyyyyy", "u")
    shows(notice(page, "info"), "changing")
    if keys == ["one"]:
        page.locator('[data-show="one"]').click()
    else:
        press(page, *keys)
    shows(notice(page, "info"), "")


def test_arrows_move_and_the_answer_goes_to_the_row_in_focus(no_links, open_page) -> None:
    page = open_page(no_links.ann, view="group")
    ready(page)
    names = rows(page).locator("[data-candidate]").all_inner_texts()
    press(page, "ArrowDown", "ArrowDown", "ArrowUp")
    assert candidate(row_at(page)) == names[1]
    expect(row_at(page)).to_be_focused()
    press(page, "n")
    saved(page, 1)
    expect(rows(page).nth(1)).to_have_attribute("data-answer", "N")
    said = rows(page).nth(1).locator("[data-said]")
    shows(said, "N saved")
    name = re.compile(rf"^2\D+7\D.*\b{re.escape(said.inner_text())}\W*$")  # 2 of 7, then what is said to the eye
    expect(rows(page).nth(1)).to_have_attribute("aria-label", name)
    shows(page.locator("[data-live]"), "answered-N")
    expect(page.locator("[data-live]")).to_contain_text(re.compile(rf"{re.escape(names[1])}\D+6\D+$"))
    assert candidate(row_at(page)) == names[2]
    press(page, *"yyyyy")
    assert candidate(row_at(page)) == names[0]  # the one that was passed over


def test_fast_double_press_answers_one_row(no_links, open_page) -> None:
    page = open_page(no_links.ann, view="group")
    stop_clock(page)
    page.clock.run_for(GUARD)
    page.keyboard.press("y")
    page.clock.run_for(PAINTED + 250)
    page.keyboard.press("y")
    page.clock.resume()
    settle(page)
    saved(page, 1)


def test_other_key_on_an_answered_row_changes_the_label(no_links, open_page) -> None:
    page = open_page(no_links.ann, view="group")
    ready(page)
    press(page, "y", "ArrowUp")
    press(page, "y")  # the same answer again is no change
    press(page, "ArrowUp", "n")
    saved(page, 2)
    assert [given for given, _, _ in answers()] == ["Y", "N"]
    assert Label.objects.last().supersedes == Label.objects.first()
    expect(rows(page).first).to_have_attribute("data-answer", "N")


def test_undo_goes_to_the_last_answer_also_of_the_question_before(no_links, open_page) -> None:
    page = open_page(no_links.ann, view="group")
    ready(page)
    first = page.locator("#group-question").inner_text()
    names = rows(page).locator("[data-candidate]").all_inner_texts()
    press(page, *"yyyyyyy", "Enter")
    assert page.locator("#group-question").inner_text() != first
    press(page, "u")
    assert (page.locator("#group-question").inner_text(), candidate(row_at(page))) == (first, names[-1])
    shows(notice(page, "info"), "changing")
    expect(notice(page, "info")).to_contain_text(names[-1])
    press(page, "u")
    assert candidate(row_at(page)) == names[-2]
    press(page, "n")
    saved(page, 8)
    assert Label.objects.last().supersedes.item_id == list(Label.objects.order_by("id"))[5].item_id


def test_switch_in_the_middle_loses_nothing(world, open_page) -> None:
    page = open_page(world.ann)
    ready(page)
    paste(page, LINK)
    press(page, "y")
    here = question(page)
    paste(page, OTHER)
    page.locator('[data-show="group"]').click()
    ready(page)
    expect(rows(page)).to_have_count(7)
    expect(rows(page).first).to_have_attribute("data-answer", "Y")
    assert here in row_at(page).get_attribute("aria-label")
    shows(row_at(page).locator("[data-whose]"), "own")
    press(page, "n")
    page.locator("#question-link").fill(LINK)
    page.keyboard.press("Enter")
    press(page, "y")
    page.locator('[data-show="one"]').click()
    ready(page)
    expect(page.locator("#link")).to_have_value("")  # it went out with an answer; for another statement it is offered
    press(page, "l", "n")
    saved(page, 4)
    assert answers() == [("Y", LINK, ""), ("N", OTHER, ""), ("Y", LINK, ""), ("N", LINK, "")]


def test_cant_tell_shows_the_link_that_it_was_saved_with(world, open_page) -> None:
    page = open_page(world.ann)
    ready(page)
    paste(page, OTHER)
    press(page, "s")
    page.keyboard.type("two of that name")
    press(page, "Enter")
    page.locator('[data-show="group"]').click()
    ready(page)
    paste(page, LINK)
    press(page, "s")
    page.keyboard.type("unknown")
    press(page, "Enter")
    saved(page, 2)
    assert answers() == [("?", OTHER, "two of that name"), ("?", "", "unknown")]
    shown = [("en.wikipedia.org/wiki/Bob", "saved-with"), ("", ""), ("en.wikipedia.org/wiki/Ada", "question")]
    for number, (link, whose) in enumerate(shown):
        expect(rows(page).nth(number).locator("[data-link]")).to_have_text(link)
        shows(rows(page).nth(number).locator("[data-whose]"), whose)


def test_view_is_remembered(no_links, open_page) -> None:
    page = open_page(no_links.ann)
    ready(page)
    assert page.locator("[data-question]").is_visible()
    page.locator('[data-show="group"]').click()
    page.reload()
    ready(page)
    assert page.locator("#group-question").is_visible() and page.locator("[data-question]").is_hidden()
    expect(page.locator('[data-show="group"]')).to_have_attribute("aria-pressed", "true")


def test_by_pointer_alone(no_links, open_page) -> None:
    page = open_page(no_links.ann, view="group")
    ready(page)
    for number, given in ((3, "N"), (0, "Y")):
        rows(page).nth(number).locator(f'[data-give="{given}"]').click()
        settle(page)
    rows(page).nth(5).locator('[data-give="?"]').click()
    page.keyboard.type("unknown")
    rows(page).nth(5).locator("[data-row-why] [type=submit]").click()
    saved(page, 3)
    assert [(given, why) for given, _, why in answers()] == [("N", ""), ("Y", ""), ("?", "unknown")]


def test_on_a_phone_the_bar_names_the_row_that_unfolded_evidence_covers(no_links, open_page) -> None:
    page = open_page(no_links.ann, view="group", width=360)
    page.set_viewport_size({"width": 360, "height": 740})
    ready(page)
    about, zone = page.locator(".answer-about"), page.locator(".zone-rows").bounding_box()
    expect(about).to_be_hidden()
    page.locator("[data-fold]:visible").click()
    expect(about).to_be_in_viewport(ratio=1)
    for _ in range(2):
        expect(about.locator("strong")).to_have_text(candidate(row_at(page)))
        page.locator('[data-bar] [data-answer="N"]').click()
        settle(page)
        page.locator('[data-fold][aria-expanded="false"]:visible').click()
    assert page.locator(".zone-rows").bounding_box() == zone


def test_chosen_answer_is_not_wider(no_links, open_page) -> None:
    page = open_page(no_links.ann, view="group")
    ready(page)
    last = rows(page).first.locator('[data-give="?"]')
    before = last.bounding_box()
    for answer in "YN":
        rows(page).first.locator(f'[data-give="{answer}"]').click()
        settle(page)
        expect(rows(page).first.locator(f'[data-give="{answer}"]')).to_have_attribute("aria-pressed", "true")
        assert last.bounding_box() == before


def test_refusal_by_the_server_opens_the_row_with_the_reason(world, open_page) -> None:
    page = open_page(world.ann, view="group")
    ready(page)
    world.campaign.sources.filter(host="wikipedia.org").delete()
    paste(page, LINK)
    press(page, "y")
    shows(rows(page).first.locator("[data-error]"), "server")
    expect(rows(page).first).to_have_attribute("data-state", "open")
    numbers_in(page.locator("[data-left]"), 7, 7)
    assert Label.objects.count() == 0


def test_time_of_a_row_begins_at_the_answer_before(no_links, open_page) -> None:
    page = open_page(no_links.ann, view="group")
    stop_clock(page)
    for ms in (1500, 500):
        page.clock.run_for(ms)
        page.keyboard.press("y")
    page.clock.resume()
    saved(page, 2)
    assert [*Label.objects.order_by("id").values_list("active_ms", flat=True)] == [1500, 500]
    eventually(page, lambda: set(Label.objects.values_list("away_ms", flat=True)), {0})


def test_on_a_phone_evidence_is_a_line_that_unfolds_over_the_rows(world, open_page) -> None:
    page = open_page(world.ann, view="group", width=360)
    page.set_viewport_size({"width": 360, "height": 640})
    ready(page)
    press(page, "g", "Escape")  # read, so that the notice is gone
    fold, passage = page.locator(".zones-group [data-fold]"), page.locator("#question-passage")
    links = page.locator(".candidate-at [data-links] a").all()
    assert len(links) == 3 and all(0 < link.bounding_box()["x"] + link.bounding_box()["width"] < 344 for link in links)
    zone = page.locator(".zone-rows").bounding_box()
    seen = page.evaluate(
        """() => {
            const {top, bottom} = document.querySelector(".zone-rows").getBoundingClientRect();
            const names = [...document.querySelectorAll(".candidate-name")].map((one) => one.getBoundingClientRect());
            return names.filter((name) => name.top >= top && name.bottom <= bottom).length;
        }"""
    )
    assert seen >= 4
    expect(passage).to_be_hidden()
    fold.click()
    expect(passage).to_be_visible()
    parts = ("#question-link", "#question-passage", "label[for=question-link]", "label[for=question-passage]")
    parts = (*parts, ".zones-group .searches > .muted", ".zones-group .searches li")
    boxes = [page.locator(part).first.bounding_box() for part in parts]
    assert len({box["x"] for box in boxes}) == 1 and all(box["width"] > 40 for box in boxes), boxes
    expect(fold).to_have_attribute("aria-expanded", "true")
    passage.fill("It says so.")
    press(page, "Enter")
    expect(passage).to_be_hidden()
    page.locator("#question-link").fill("https://example.com/a")
    expect(passage).to_be_hidden()
    press(page, "Enter")
    expect(page.locator("#question-link")).to_be_focused()
    shows(page.locator("#question-link-error"), "not-verified")
    expect(page.locator("#question-link-error")).to_be_visible()
    assert page.locator(".zone-rows").bounding_box() == zone


def test_link_of_the_question_that_no_answer_took_goes_along_to_one_by_one(world, open_page) -> None:
    page = open_page(world.ann, view="group")
    ready(page)
    paste(page, LINK)
    page.locator('[data-show="one"]').click()
    ready(page)
    expect(page.locator("#link")).to_have_value(LINK)
    press(page, "y")
    expect(page.locator("#link")).to_have_value("")


def test_undo_of_cant_tell_shows_its_reason_and_escape_leaves_it(no_links, open_page) -> None:
    page = open_page(no_links.ann, view="group")
    ready(page)
    press(page, "s")
    page.keyboard.type("two of that name")
    press(page, "Enter")
    second = candidate(row_at(page))
    for change in ("Escape", "n"):
        press(page, "u")
        expect(row_at(page).locator("[data-row-why] input")).to_have_value("two of that name")
        press(page, change)
        assert candidate(row_at(page)) == second
    saved(page, 2)
    assert answers() == [("?", "", "two of that name"), ("N", "", "")]


def test_on_a_phone_nothing_of_a_row_or_dialog_is_cut(no_links, open_page) -> None:
    page = open_page(no_links.ann, view="group", width=360, has_touch=True, is_mobile=True)
    page.set_viewport_size({"width": 360, "height": 740})
    ready(page)
    page.locator('[data-act="guidelines"]:visible').last.click()
    page.locator('[data-dialog="guidelines"] [data-close]').click()
    page.locator('[data-bar] [data-answer="?"]').click()
    save, zone = (page.locator(part).bounding_box() for part in (".candidate-at [type=submit]", ".zone-rows"))
    assert save["y"] + save["height"] <= zone["y"] + zone["height"] - 8
    page.keyboard.type("two of that name")
    page.locator(".candidate-at [type=submit]").click()
    expect(rows(page).first.locator("[data-key]")).to_be_hidden()
    page.locator('[data-act="flag"]').click()
    dialog = page.locator('[data-dialog="flag"]')
    assert dialog.evaluate("dialog => dialog.scrollHeight <= dialog.clientHeight")
    saved(page, 1)
