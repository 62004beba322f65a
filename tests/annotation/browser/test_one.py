"""One by one: the loop of an annotator by keys."""

import re
from urllib.parse import quote

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from annotation.labelling.own_labels import CHANGEABLE
from annotation.models import Label
from core.models import Preferences
from tests.annotation.browser.hands import (
    GUARD,
    PAINTED,
    idle,
    notice,
    numbers_in,
    paste,
    press,
    question,
    ready,
    saved,
    settle,
    shoot,
    shows,
    stop_clock,
)
from tests.annotation.factories import LINK

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
SUBMIT = "**/api/v1/labels"


def link_field(page: Page, view: str) -> Locator:
    return page.locator("#link" if view == "one" else "#question-link")


def test_ten_items_by_keys_with_paste_last_source_and_reason(world, open_page) -> None:
    page = open_page(world.ann)
    ready(page)
    shoot(page, "one")
    seen = []
    for number in range(10):
        seen.append(question(page))
        if number % 3 == 2:
            page.keyboard.press("s")
            expect(page.locator("#why")).to_be_focused()
            page.keyboard.type("yes no unclear")
            press(page, "Enter")
            continue
        if page.locator('[data-view="one"] [data-last]').is_visible():
            page.keyboard.press("l")
        else:
            paste(page, LINK)
        expect(page.locator("#link")).to_have_value(LINK)
        press(page, "yn"[number % 2])
    saved(page, 10)
    assert len(set(seen)) == 10
    answers = list(Label.objects.order_by("id").values_list("answer", "source_url", "comment"))
    assert answers == [("?", "", "yes no unclear") if i % 3 == 2 else ("YN"[i % 2], LINK, "") for i in range(10)]
    assert set(Label.objects.values_list("annotator", flat=True)) == {world.ann.pk}
    assert min(Label.objects.values_list("active_ms", flat=True)) > 100
    counts = page.locator("[data-counts] > *")
    shows(counts, "session", "today", "total", "left")
    for number, figures in enumerate([(10,), (10,), (10,), (4,)]):
        numbers_in(counts.nth(number), *figures)
    # all of today and of this session: said once
    assert [counts.nth(number).is_visible() for number in range(4)] == [False, True, False, True]


def test_session_and_last_source_outlive_a_visit_of_another_page(world, open_page, live_server) -> None:
    page = open_page(world.ann)
    ready(page)
    paste(page, LINK)
    press(page, "y")
    shows(notice(page, "info"), "changeable")
    numbers_in(notice(page, "info"), CHANGEABLE, world.campaign.undo_minutes)
    page.keyboard.press("l")
    press(page, "n")
    expect(notice(page, "info")).to_be_hidden()  # said once
    saved(page, 2)
    group = page.locator('[data-view="one"] [data-group]').inner_text()
    page.goto(f"{live_server.url}/campaigns/p1/labels")
    page.go_back()
    ready(page)
    assert page.locator('[data-view="one"] [data-group]').inner_text() == group
    numbers_in(page.locator('[data-counts] [data-message="session"]'), 2)
    page.keyboard.press("l")
    expect(page.locator("#link")).to_have_value(LINK)
    press(page, "y")
    expect(notice(page, "info")).to_be_hidden()
    numbers_in(page.locator('[data-counts] [data-message="session"]'), 3)
    saved(page, 3)
    page.reload()
    page.locator('[data-show="group"]').click()
    ready(page)
    numbers_in(page.locator("[data-earlier]"), 3)
    shoot(page, "earlier")
    shown = page.context.new_page()  # another tab is another session
    shown.goto(page.url)
    numbers_in(shown.locator('[data-counts] [data-message="session"]'), 0)


def test_a_key_without_a_link_to_take_says_so_and_enter_in_the_field_says_what_comes_next(world, open_page) -> None:
    page = open_page(world.ann)
    ready(page)
    for key, said in (("l", "no-last"), ("c", "no-copied")):
        page.keyboard.press(key)
        shows(notice(page, "info"), said)
    page.locator("#link").fill(LINK)
    page.locator("#link").press("Enter")
    shows(notice(page, "info"), "then-answer")
    expect(page.locator('[data-view="one"] [data-question]')).to_be_focused()
    press(page, "y")
    saved(page, 1)


@pytest.mark.parametrize("view", ["one", "group"])
def test_enter_gives_the_answer_that_waited_for_a_link(world, open_page, view: str) -> None:
    page = open_page(world.ann, view=view)
    ready(page)
    field = link_field(page, view)
    press(page, "n")
    expect(field).to_be_focused()
    field.press("Enter")  # there is no link yet
    assert Label.objects.count() == 0
    press(page, "y")
    field.fill(LINK)
    field.press("Enter")
    saved(page, 1)
    press(page, "Enter")  # nothing waits for another one
    field.fill("")
    press(page, "Escape", "y")
    paste(page, LINK)
    shows(notice(page, "info"), "then-enter")
    press(page, "Enter")
    saved(page, 2)
    assert set(Label.objects.values_list("answer", flat=True)) == {"Y"}


@pytest.mark.parametrize("view", ["one", "group"])
def test_a_link_that_is_warned_of_is_not_sent_by_the_same_enter(world, open_page, view: str) -> None:
    page = open_page(world.ann, view=view)
    ready(page)
    press(page, "y")
    field = link_field(page, view)
    field.fill("https://en.wikipedia.org/w/index.php?search=Ada")
    field.press("Enter")
    shows(page.locator(f'[data-view="{view}"] .field-error').first, "search-page")
    shows(notice(page, "info"), "then-enter")
    assert Label.objects.count() == 0
    press(page, "Enter")
    saved(page, 1)


def test_what_is_typed_in_a_narrow_window_goes_to_the_field_and_not_to_the_keys(world, open_page) -> None:
    page = open_page(world.ann, view="group", width=360)
    ready(page)
    press(page, "n")
    expect(page.locator("#question-link")).to_be_focused()
    page.keyboard.type(LINK)
    page.keyboard.press("Enter")
    saved(page, 1)
    assert Label.objects.get().answer == "N" and Label.objects.get().source_url == LINK


@pytest.mark.parametrize("view", ["one", "group"])
def test_a_pasted_link_says_what_comes_next_until_the_first_answer(world, open_page, view: str) -> None:
    page = open_page(world.ann, view=view)
    ready(page)
    paste(page, LINK)
    shows(notice(page, "info"), "then-answer")
    press(page, "y")
    saved(page, 1)
    shows(notice(page, "info"), "changeable")
    paste(page, f"{LINK}_(poet)")
    expect(link_field(page, view)).to_have_value(f"{LINK}_(poet)")
    shows(notice(page, "info"), "changeable")


@pytest.mark.parametrize("view", ["one", "group"])
def test_an_answer_does_not_wait_for_a_link_on_another_statement(world, open_page, view: str) -> None:
    page = open_page(world.ann, view=view)
    ready(page)
    field = link_field(page, view)
    press(page, "y")
    press(page, "Escape", *(["ArrowDown"] if view == "group" else ["s"]))
    if view == "one":
        page.keyboard.type("not enough is known")
        press(page, "Enter")
        saved(page, 1)
    field.fill(LINK)
    field.press("Enter")
    shows(notice(page, "info"), "then-answer")
    assert Label.objects.count() == (view == "one")


@pytest.mark.parametrize("view", ["one", "group"])
def test_undo_after_a_reload_leads_to_the_own_labels(no_links, open_page, view: str) -> None:
    page = open_page(no_links.ann, view=view)
    ready(page)
    press(page, "y")
    saved(page, 1)
    page.reload()
    ready(page)
    press(page, "u")
    shows(notice(page, "info"), "no-undo")
    expect(notice(page, "info").locator("a")).to_have_attribute("href", re.compile("/labels$"))


def test_a_refused_link_keeps_the_cursor_in_its_field(world, open_page) -> None:
    page = open_page(world.ann)
    ready(page)
    field = page.locator("#link")
    for enter in (lambda: field.press("Enter"), lambda: paste(page, "https://example.com/other")):
        field.fill("https://example.com/sun")
        enter()
        shows(page.locator('[data-view="one"] .field-error').first, "not-verified")
        expect(field).to_be_focused()
    page.keyboard.type(LINK)  # over what was refused
    expect(field).to_have_value(LINK)
    field.press("Enter")
    expect(page.locator('[data-view="one"] [data-question]')).to_be_focused()
    press(page, "y")
    saved(page, 1)


def test_searches_ask_for_the_names_and_only_over_https(world, open_page) -> None:
    world.campaign.sources.update(search_url="http://insecure.org/?q={query}")
    world.campaign.sources.filter(host="wikipedia.org").update(search_url="https://search.org/{query}?in=wiki")
    page = open_page(world.ann)
    ready(page)
    subject, object_ = (page.locator(f"[data-{side}]").inner_text() for side in ("subject", "object"))
    links = page.locator('[data-view="one"] [data-searches] a')
    for what, query in (("both", f"{subject} {object_}"), ("object", object_), ("subject", subject)):
        page.locator(f'[name="search-for"][value="{what}"]').check()
        expect(links).to_have_count(1)
        expect(links).to_have_attribute("href", f"https://search.org/{quote(query)}?in=wiki")


def test_fast_double_press_labels_one_question(no_links, open_page) -> None:
    page = open_page(no_links.ann)
    stop_clock(page)
    page.clock.run_for(GUARD)
    page.keyboard.press("y")
    page.clock.run_for(PAINTED + 250)
    page.keyboard.press("y")
    page.keyboard.press("n")
    shows(notice(page, "info"), "too-fast")
    expect(page.locator("[data-bar]")).to_have_class("answer-bar too-fast")
    page.clock.resume()
    settle(page)
    saved(page, 1)
    press(page, "n")
    assert notice(page, "info").is_hidden()
    expect(page.locator("[data-bar]")).to_have_class("answer-bar")
    saved(page, 2)
    assert list(Label.objects.order_by("id").values_list("answer", flat=True)) == ["Y", "N"]


def test_a_press_that_waits_for_a_link_is_no_longer_called_too_fast(world, open_page) -> None:
    page = open_page(world.ann)
    stop_clock(page)
    page.clock.run_for(GUARD - 100)
    page.keyboard.press("n")
    shows(notice(page, "info"), "too-fast")
    page.clock.run_for(200)
    page.keyboard.press("n")
    expect(page.locator("#link")).to_be_focused()
    assert notice(page, "info").is_hidden()


def test_chosen_pace_lengthens_the_guard(no_links, open_page) -> None:
    page = open_page(no_links.ann)
    page.evaluate("localStorage.setItem('triplepool:pace', '1000')")
    stop_clock(page)
    asked = question(page)
    page.clock.run_for(950)
    page.keyboard.press("y")  # the question is there for less than a second
    assert question(page) == asked and Label.objects.count() == 0
    page.clock.run_for(PAINTED + 50)
    page.keyboard.press("n")
    page.clock.resume()
    saved(page, 1)
    assert Label.objects.get().answer == "N"


@pytest.mark.parametrize(("key", "given"), [("Numpad1", "Y"), ("Numpad0", "N"), ("Shift+Y", "Y")])
def test_keys_that_mean_the_same(no_links, open_page, key: str, given: str) -> None:
    page = open_page(no_links.ann)
    ready(page)
    press(page, key)
    saved(page, 1)
    assert Label.objects.get().answer == given


@pytest.mark.parametrize("key", ["Control+y", "Alt+y", "Meta+y"])
def test_keys_with_modifiers_answer_nothing(no_links, open_page, key: str) -> None:
    page = open_page(no_links.ann)
    ready(page)
    press(page, key)
    assert page.locator("[data-unsaved]").is_hidden() and Label.objects.count() == 0
    press(page, "y")
    saved(page, 1)


def test_held_key_answers_once(no_links, open_page) -> None:
    page = open_page(no_links.ann)
    ready(page)
    page.keyboard.down("y")
    for _ in range(6):
        page.wait_for_timeout(150)
        page.keyboard.down("y")  # as the system repeats it
    page.keyboard.up("y")
    saved(page, 1)


def test_keys_do_nothing_in_a_field_a_dialog_or_when_switched_off(no_links, open_page) -> None:
    page = open_page(no_links.ann)
    ready(page)
    page.locator("#link").focus()
    press(page, "y")
    assert page.locator("#link").input_value() == "y"
    page.locator("#link").fill("")
    page.keyboard.press("Escape")
    press(page, "?")
    expect(page.locator('[data-dialog="keys"]')).to_be_visible()
    shoot(page, "dialog-keys")
    boxes = page.evaluate(
        """() => [...document.querySelectorAll('[data-dialog="keys"] label')].map((label) => {
            const [box, words] = [...label.children].map((one) => one.getBoundingClientRect());
            return words.left > box.right && Math.abs(words.top - box.top) <= 6;
        })"""
    )
    assert boxes == [True, True]  # the words begin beside their box
    press(page, "y")
    page.locator("[data-keys-on]").uncheck()
    page.locator('[data-dialog="keys"] [data-close]').click()
    press(page, "y")
    page.reload()
    ready(page)
    press(page, "y")  # still off
    assert Label.objects.count() == 0
    page.locator('[data-bar] [data-answer="Y"]').click()
    saved(page, 1)


def test_refused_link_leads_to_the_hosts_and_loses_nothing(world, open_page) -> None:
    page = open_page(world.ann)
    ready(page)
    first = question(page)
    page.locator("#link").fill("javascript:alert(1)")
    page.keyboard.press("Escape")
    press(page, "y")
    shows(page.locator("#link-error"), "no-https")
    expect(page.locator("#link-error button")).to_be_visible()
    assert (question(page), page.locator("#link").input_value()) == (first, "javascript:alert(1)")
    assert Label.objects.count() == 0


def test_refusal_by_the_server_brings_the_question_back(world, open_page) -> None:
    page = open_page(world.ann)
    ready(page)
    first = question(page)
    world.campaign.sources.filter(host="wikipedia.org").delete()
    paste(page, LINK)
    press(page, "y")
    shows(notice(page, "error"), "here-again")
    assert (question(page), page.locator("#link").input_value()) == (first, LINK)


def test_undo_changes_the_last_answer(world, open_page) -> None:
    page = open_page(world.ann)
    ready(page)
    first = question(page)
    paste(page, LINK)
    press(page, "y")
    second = question(page)
    press(page, "u")
    assert (question(page), page.locator("#link").input_value()) == (first, LINK)
    expect(page.locator('[data-bar] [data-answer="Y"]')).to_have_attribute("aria-pressed", "true")
    press(page, "n")
    assert question(page) == second
    shows(notice(page, "info"), "changed-answer")
    saved(page, 2)
    assert list(Label.objects.order_by("id").values_list("answer", flat=True)) == ["Y", "N"]
    assert Label.objects.last().supersedes == Label.objects.first()


def test_undo_twice_goes_back_two_and_escape_leaves_both(no_links, open_page) -> None:
    page = open_page(no_links.ann)
    ready(page)
    first = question(page)
    press(page, "y", "n")
    third = question(page)
    press(page, "u", "u")
    assert question(page) == first
    shows(notice(page, "info"), "changing")
    press(page, "Escape")
    assert question(page) == third
    shows(notice(page, "info"), "kept")
    saved(page, 2)


def test_beside_undo_is_what_was_saved_last_once_the_server_has_it(no_links, open_page) -> None:
    page = open_page(no_links.ann)
    ready(page)
    last = page.locator("[data-last-answer]")
    shows(last, "")
    press(page, "n")
    shows(last, "saved-answer")
    expect(last).to_contain_text("No")
    page.route(SUBMIT, lambda route: route.abort())
    press(page, "y")
    shows(last, "")  # not saved yet
    page.unroute(SUBMIT)
    page.reload()
    ready(page)
    saved(page, 2)
    press(page, "y", "n")
    shows(last, "saved-answer")
    press(page, "u")
    shows(last, "")  # beside a reopened answer it would be taken for that one's
    press(page, "Escape")
    shows(last, "saved-answer")
    page.locator('[data-show="group"]').click()
    shows(last, "")  # there the rows say it
    saved(page, 4)


def test_cant_tell_needs_a_reason(no_links, open_page) -> None:
    page = open_page(no_links.ann)
    ready(page)
    first = question(page)
    press(page, "s", "Enter", "Escape")
    assert (question(page), Label.objects.count()) == (first, 0)
    press(page, "s")
    page.keyboard.type("two of that name")
    press(page, "Enter")
    saved(page, 1)
    assert Label.objects.values_list("answer", "comment").get() == ("?", "two of that name")


def test_cant_tell_shows_as_chosen_and_has_a_button_to_save(no_links, open_page) -> None:
    page = open_page(no_links.ann)
    ready(page)
    cant_tell, save = page.locator('[data-bar] [data-answer="?"]'), page.locator("[data-save-why]")
    expect(save).to_be_hidden()
    page.locator("#why").fill("a comment")
    cant_tell.click()
    expect(cant_tell).to_have_attribute("aria-pressed", "true")
    press(page, "Escape")
    expect(cant_tell).to_have_attribute("aria-pressed", "false")
    expect(page.locator("#why")).to_have_value("a comment")
    press(page, "s")
    page.locator("#why").fill("two of that name")
    save.click()
    saved(page, 1)
    assert Label.objects.values_list("answer", "comment").get() == ("?", "two of that name")


def test_reason_of_cant_tell_goes_with_no_other_answer(no_links, open_page) -> None:
    page = open_page(no_links.ann)
    ready(page)
    press(page, "s")
    page.keyboard.type("two of that name")
    press(page, "Enter", "u")
    expect(page.locator("#why")).to_have_value("two of that name")
    expect(page.locator("[data-why-label]")).to_be_visible()
    page.locator('[data-bar] [data-answer="N"]').click()
    shows(notice(page, "info"), "changed-answer reason-dropped")
    settle(page)
    expect(page.locator("#why")).to_have_value("")
    page.locator("#why").fill("a comment")
    page.locator('[data-bar] [data-answer="Y"]').click()
    expect(notice(page, "info")).to_be_hidden()
    saved(page, 3)
    assert list(Label.objects.order_by("id").values_list("answer", "comment")) == [
        ("?", "two of that name"),
        ("N", ""),
        ("Y", "a comment"),
    ]


@pytest.mark.parametrize("language", ["en", "de"])
def test_on_a_phone_all_fields_and_what_undo_says_are_whole(world, open_page, language: str) -> None:
    Preferences.objects.create(person=world.ann, language=language)
    page = open_page(world.ann, width=360)
    page.set_viewport_size({"width": 360, "height": 740})
    ready(page)
    paste(page, LINK)
    press(page, "y", "u")
    shoot(page, f"phone-undo-{language}")
    last, foot = page.locator("[data-last-answer]"), page.locator(".loop-foot")
    shows(last, "")  # the answer that is open again is the only one
    press(page, "Escape", "s")
    page.keyboard.type("two of that name")
    press(page, "Enter")
    shows(last, "saved-answer")
    assert last.evaluate("said => [said.scrollWidth <= said.clientWidth, said.scrollHeight <= 32]") == [True, True]
    assert foot.evaluate("foot => foot.scrollWidth <= foot.clientWidth && foot.offsetHeight <= 34")
    shoot(page, f"phone-saved-{language}")
    press(page, "u", "u")
    page.locator('[data-view="one"] [data-fold]').click()
    for field in ("#link", "#passage", "#why"):
        expect(page.locator(field)).to_be_in_viewport(ratio=1)
        zone, box = (page.locator(name).bounding_box() for name in ('[data-view="one"] .zone-evidence', field))
        assert zone["y"] <= box["y"] and box["y"] + box["height"] <= zone["y"] + zone["height"]
    said = page.locator(".answer-bar-said")
    assert said.evaluate("said => said.scrollHeight <= said.clientHeight")
    press(page, "s")
    expect(page.locator("[data-save-why]")).to_be_in_viewport(ratio=1)
    assert page.locator("[data-why-label]").evaluate(
        "label => label.parentElement.scrollWidth <= label.parentElement.clientWidth"
    )


def test_cant_tell_takes_back_that_a_link_is_missing(world, open_page) -> None:
    page = open_page(world.ann)
    ready(page)
    press(page, "y")
    shows(page.locator("#link-error"), "no-link")
    press(page, "Escape", "s")
    shows(page.locator("#link-error"), "")


@pytest.mark.parametrize("size", [(720, 450), (640, 360)])  # 1440 x 900 and 1280 x 720 at 200 %
def test_what_is_refused_and_asked_is_in_sight_at_200_percent(world, open_page, size) -> None:
    page = open_page(world.ann, width=size[0])
    page.set_viewport_size({"width": size[0], "height": size[1]})
    ready(page)
    zone = page.locator('[data-view="one"] .zone-evidence').bounding_box()

    def is_whole(selector: str) -> None:
        box = page.locator(selector).bounding_box()
        assert zone["y"] <= box["y"] and box["y"] + box["height"] <= zone["y"] + zone["height"], selector
        assert box["width"] > 40 and box["height"] > 12, selector

    for part in ("#link", "#passage", "#why"):
        is_whole(part)
    press(page, "y")
    shows(page.locator("#link-error"), "no-link")
    for part in ("#link", "#link-error", "#passage", "#why"):
        is_whole(part)
    assert page.locator("#passage").evaluate("one => getComputedStyle(one, '::placeholder').opacity") == "1"
    press(page, "Escape", "s", "Enter")
    shows(page.locator("#why-error"), "no-reason")
    for part in ("[data-why-label]", "#why", "#why-error", "[data-save-why]"):
        is_whole(part)


def test_nothing_left_says_so(world, open_page) -> None:
    world.campaign.items.update(state="settled")
    page = open_page(world.ann)
    shows(idle(page), "annotator nothing")
    shoot(page, "idle")


BAD = "<img src=x onerror=document.title='bad'>{{ 7*7 }}"


@pytest.mark.parametrize("view", ["one", "group"])
def test_names_with_markup_are_text(world, open_page, view: str) -> None:
    page = open_page(world.ann, view=view)
    ready(page)

    def worse(route: Route) -> None:
        """What the server sends, with markup in every word."""
        sent = route.fetch().json()
        for item in sent["items"]:
            item |= {"question": BAD, "group_question": BAD}
            for side in ("subject", "object"):
                item[side] = {"key": BAD, "label": BAD, "description": BAD, "aliases": [BAD], "link": f"https://{BAD}"}
                item[side] |= {"types": [BAD], "facts": [{"head": BAD, "relation": BAD, "tail": BAD}]}
        route.fulfill(json=sent)

    page.route("**/claim", worse)
    page.reload()
    ready(page)
    assert page.locator("[data-question]:visible, #group-question:visible").inner_text() == BAD
    shown = page.locator("[data-object]" if view == "one" else ".candidate-at [data-candidate]")
    assert shown.inner_text() == BAD
    assert page.locator("main img").count() == 0 and page.title() == "Annotate p1 · TriplePool"


@pytest.mark.parametrize("view", ["one", "group"])
@pytest.mark.parametrize("language", ["en", "de"])
def test_on_a_phone_a_button_keeps_a_reopened_answer(no_links, open_page, view: str, language: str) -> None:
    Preferences.objects.create(person=no_links.ann, language=language)
    page = open_page(no_links.ann, view=view, width=360, has_touch=True, is_mobile=True)
    ready(page)
    keep = page.locator('[data-act="keep"]')
    page.locator('[data-bar] [data-answer="Y"]').click()
    saved(page, 1)
    expect(keep).to_be_hidden()
    page.locator('[data-act="undo"]').click()
    shows(notice(page, "info"), "changing")
    assert "Esc" not in page.locator("[data-bar]").inner_text()
    keep.click()
    expect(keep).to_be_hidden()
    # another one is open
    expect(page.locator('[data-bar] [data-answer="Y"]')).to_have_attribute("aria-pressed", "false")
    saved(page, 1)
