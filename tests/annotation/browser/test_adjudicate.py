"""Adjudication: two answers that differ, and what may become of them."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Locator, Page, expect

from annotation.enums import FlagKind
from annotation.labelling.withdraw import reopen_judgement
from annotation.messages.flags import answer_flag
from annotation.models import Flag, Item, Label, Slot
from annotation.sources.verified import choose_sources
from core.models import Preferences
from tests.annotation.browser.hands import (
    eventually,
    idle,
    look_again,
    notice,
    numbers_in,
    paste,
    press,
    question,
    ready,
    saved,
    send_report,
    shoot,
    shows,
    unsaved,
)
from tests.annotation.factories import LINK, World, answer, label_item, slot_for, windows_closed

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PAGE = "/campaigns/p1/adjudicate"
OTHER = "https://en.wikipedia.org/wiki/Byron"


@pytest.fixture
def disputed(world: World) -> list[Item]:
    items = list(Item.objects.order_by("order")[:2])
    for item in items:
        label_item(world, item, ann="Y", ben="N")
        windows_closed(item)
    return items


def open_dialog(page: Page, key: str, name: str) -> None:
    press(page, key)
    expect(page.locator(f'[data-dialog="{name}"]')).to_be_visible()


def test_two_keys_decide_with_the_source_of_the_answer_agreed_with(world, disputed, open_page) -> None:
    """The rows of a question, then the next question: two keys each, and nothing else."""
    Label.objects.filter(answer="N").update(source_url=OTHER, passage="She never did.")
    item = Item.objects.exclude(group=disputed[0].group).first()
    label_item(world, item, ann="Y", ben="N")
    windows_closed(item)
    page = open_page(world.ada, PAGE)
    ready(page)
    shoot(page, "adjudicate")
    assert {"ann", "ben"}.isdisjoint(page.locator("[data-loop]").inner_text().split())
    expect(page.locator("[data-given] article")).to_have_count(2)
    expect(page.locator(".dispute-row")).to_have_count(2)
    asked = []
    for keys in ("nw", "nd", "ym"):
        asked.append(question(page))
        press(page, *keys)
        shows(notice(page, "info"), "decided changeable" if len(asked) == 1 else "decided")
    shows(idle(page), "adjudicator nothing")
    assert len(set(asked)) == 3 and page.url.endswith(PAGE)
    saved(page, 9)
    decided = Label.objects.filter(slot__number=3).order_by("id")
    assert list(decided.values_list("answer", "cause", "source_url", "passage", "comment")) == [
        ("N", "entity", OTHER, "She never did.", ""),
        ("N", "source", OTHER, "She never did.", ""),
        ("Y", "misread", LINK, "", ""),
    ]
    assert set(Item.objects.filter(labels__in=decided).values_list("state", flat=True)) == {"settled"}


def test_page_says_whose_link_goes_with_the_decision_and_lets_choose(world, disputed, open_page) -> None:
    Label.objects.filter(answer="N").update(source_url=OTHER)
    page = open_page(world.ada, PAGE)
    ready(page)
    used, why = page.locator("#link").locator("xpath=..").locator("[data-rule]"), notice(page, "info")
    yes, no = (page.locator(f'[data-test="given-{answer}"]') for answer in "YN")

    def expect_used(whose: Locator | None, name: str) -> None:
        shows(used, name)
        shows(why, "why")
        if whose:  # said beside the answer as well
            expect(why).to_contain_text(re.compile(rf"\b{whose.locator('[data-name]').inner_text()}’s"))
        for card in (yes, no):
            expect(card.locator("[data-take]")).to_have_attribute("aria-pressed", str(card is whose).lower())
        if whose:
            expect(used).to_contain_text(re.compile(rf"\b{whose.locator('[data-name]').inner_text()}$"))

    shows(used, "would-take")
    press(page, "y")
    expect_used(yes, "link-of")
    press(page, "n")
    expect_used(no, "link-of")
    yes.locator("[data-take]").click()
    expect_used(yes, "link-of")
    paste(page, f"{LINK}_2")
    expect_used(None, "link-own")
    press(page, "w")
    saved(page, 5)
    assert Label.objects.get(slot__number=3).source_url == f"{LINK}_2"
    shows(used, "would-take")


@pytest.mark.parametrize(
    ("link", "name"),
    [
        ("https://en.wikipedia.org/w/index.php?search=Ada", "why-search-page"),
        ("https://en.wikipedia.org/", "why-front-page"),
    ],
)
def test_a_link_that_shows_nothing_by_itself_is_named_before_the_reason(world, disputed, open_page, link, name) -> None:
    Label.objects.filter(answer="N").update(source_url=link)
    page = open_page(world.ada, PAGE)
    ready(page)
    press(page, "n")
    shows(notice(page, "info"), name)
    press(page, "y")
    shows(notice(page, "info"), "why")


def test_link_that_both_gave_is_said_once(world, disputed, open_page) -> None:
    page = open_page(world.ada, PAGE)
    ready(page)
    used = page.locator("#link").locator("xpath=..").locator("[data-rule]")
    shows(used, "same")
    press(page, "y")
    shows(used, "link-both")
    expect(page.locator("[data-given] [data-take]")).to_have_count(1)
    expect(page.locator("[data-given] [data-take]")).to_have_attribute("aria-pressed", "true")


def test_same_link_with_other_passages_leaves_the_choice(world, disputed, open_page) -> None:
    Label.objects.filter(answer="N").update(passage="She never did.")
    page = open_page(world.ada, PAGE)
    ready(page)
    press(page, "n")
    pressed = {a: page.locator(f'[data-test="given-{a}"] [data-take]') for a in "YN"}
    expect(pressed["N"]).to_have_attribute("aria-pressed", "true")
    expect(pressed["Y"]).to_have_attribute("aria-pressed", "false")
    pressed["Y"].click()
    expect(pressed["Y"]).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#passage")).to_have_value("")


def test_reopened_item_says_why_and_one_key_confirms_its_labels(world, open_page) -> None:
    item = Item.objects.earliest("order")
    label_item(world, item, ann="N", ben="N")
    windows_closed(item)
    reopen_judgement(item, by=world.manager, reason="A source has changed.")
    page = open_page(world.ada, PAGE)
    ready(page)
    page.set_viewport_size({"width": 360, "height": 740})
    shoot(page, "reopened-phone")
    expect(page.locator("[data-reopened]")).to_be_in_viewport(ratio=1)
    page.set_viewport_size({"width": 1280, "height": 800})
    shoot(page, "reopened")
    expect(page.locator("[data-reopened]")).to_contain_text("A source has changed.")
    expect(page.locator(".causes-head")).to_have_text("Why were both answers wrong?")
    press(page, "n")
    saved(page, 3)
    assert (Label.objects.latest("pk").answer, Label.objects.latest("pk").cause) == ("N", "")


def test_a_reason_waits_for_an_answer_and_may_be_in_words(world, disputed, open_page) -> None:
    page = open_page(world.ada, PAGE)
    ready(page)
    first = question(page)
    written = page.locator('[data-cause=""]')
    expect(written).to_have_attribute("aria-disabled", "true")
    press(page, "w")
    shows(notice(page, "info"), "choose-first")
    press(page, "n", "Escape", "w")
    shows(notice(page, "info"), "choose-first")
    press(page, "y")
    shows(notice(page, "info"), "why")
    press(page, "n")
    expect(written).to_have_attribute("aria-disabled", "false")
    expect(written).to_have_attribute("aria-pressed", "false")
    press(page, "t")
    expect(page.locator("#reason")).to_be_focused()
    expect(written).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("Enter")
    shows(page.locator("#reason-error"), "no-reason")
    shows(notice(page, "info"), "write")  # no more that a reason is missing
    page.keyboard.type("the page says no")
    press(page, "Enter")
    assert question(page) != first
    shows(notice(page, "info"), "decided changeable")
    saved(page, 5)
    label = Label.objects.get(slot__number=3)
    assert (label.answer, label.cause, label.comment) == ("N", "", "the page says no")


def test_a_reason_that_was_written_first_is_saved_by_one_key_after_the_answer(world, disputed, open_page) -> None:
    page = open_page(world.ada, PAGE)
    ready(page)
    page.locator("#reason").fill("the page says no")
    page.locator("#reason").press("Escape")
    press(page, "n")
    shows(notice(page, "info"), "written")
    press(page, "t")
    saved(page, 5)
    label = Label.objects.get(slot__number=3)
    assert (label.answer, label.cause, label.comment) == ("N", "", "the page says no")


def test_next_dispute_begins_at_the_top_of_its_evidence(world, disputed, open_page) -> None:
    page = open_page(world.ada, PAGE, width=360)
    page.set_viewport_size({"width": 360, "height": 640})
    ready(page)
    page.locator('[data-answer="N"]').click()
    assert page.get_by_role("group", name=page.locator(".causes-head").inner_text(), exact=True).is_visible()
    page.locator('[data-cause=""]').click()
    zone = page.locator(".zone-evidence")
    expect(page.locator("#reason")).to_be_focused()
    page.keyboard.type("the page says no")
    press(page, "Enter")
    saved(page, 5)
    assert zone.evaluate("zone => zone.scrollTop") == 0


def test_hint_that_a_reason_is_missing_goes_with_the_reason(world, disputed, open_page) -> None:
    page = open_page(world.ada, PAGE)
    ready(page)
    press(page, "y")
    shows(notice(page, "info"), "why")
    page.locator("#link").fill("")
    page.locator('[data-cause="entity"]').click()
    shows(page.locator("#link-error"), "no-link")
    expect(page.locator('[data-notice="info"]')).to_be_hidden()


def test_source_of_an_answer_opens_by_its_key_and_is_taken_by_another(world, disputed, open_page) -> None:
    Label.objects.filter(answer="Y").update(source_url=OTHER)
    page = open_page(world.ada, PAGE)
    page.evaluate("window.open = (address) => { window.opened = address; return window; }")
    ready(page)
    yes = page.locator('[data-test="given-Y"]')
    press(page, yes.locator("[data-name]").inner_text().lower())
    assert page.evaluate("window.opened") == OTHER
    press(page, "l", "n", "o")
    saved(page, 5)
    label = Label.objects.get(slot__number=3)
    assert (label.answer, label.cause, label.source_url) == ("N", "dated", OTHER)  # not the source of the no


def test_passage_of_an_answer_goes_with_its_link_only(world, disputed, open_page) -> None:
    Label.objects.filter(answer="Y").update(passage="She did.")
    page = open_page(world.ada, PAGE)
    ready(page)
    press(page, "y")
    expect(page.locator("#passage")).to_have_value("She did.")
    press(page, "n")
    expect(page.locator("#passage")).to_have_value("")
    press(page, "y")
    paste(page, OTHER)
    press(page, "w")
    page.locator('[data-test="given-Y"] [data-take]').click()
    press(page, "n", "w")
    saved(page, 6)
    decided = Label.objects.filter(slot__number=3).order_by("id")
    assert list(decided.values_list("answer", "source_url", "passage")) == [("Y", OTHER, ""), ("N", LINK, "She did.")]


def test_address_names_the_dispute_and_reload_comes_back_to_it(world, disputed, open_page) -> None:
    tickets = [str(Slot.objects.get(item=item, number=3).ticket) for item in disputed]
    page = open_page(world.ada, f"{PAGE}?dispute={tickets[1]}")
    ready(page)
    asked = question(page)
    assert page.url.endswith(tickets[1])
    page.reload()
    ready(page)
    assert question(page) == asked
    press(page, "ArrowUp")
    assert question(page) != asked and page.url.endswith(tickets[0])
    numbers_in(page.locator("[data-left]"), 2, 2)
    press(page, "y", "o")
    assert question(page) == asked
    numbers_in(page.locator("[data-left]"), 1, 2)
    saved(page, 5)
    page.goto(page.url.replace(tickets[1], tickets[0]))
    expect(page.locator('[data-test="closed"]')).to_have_attribute("data-reason", "own")


@pytest.mark.parametrize("language", ["en", "de"])
def test_answers_sources_and_what_is_left_are_in_sight_on_every_screen(world, disputed, open_page, language) -> None:
    """On a phone, both answers come before the entities, above the fold; the line of sources ends with "12 more"."""
    choose_sources(world.campaign, [0], list(world.campaign.sources.values_list("pk", flat=True)))
    world.campaign.sources.update(search_url="https://example.org/{query}", name="A long name of a source")
    Preferences.objects.create(person=world.ada, language=language)
    Label.objects.update(source_url=f"{OTHER}?{'of_the_poet_' * 9}")
    page = open_page(world.ada, PAGE, width=360)
    page.set_viewport_size({"width": 360, "height": 640})
    ready(page)
    press(page, "g", "Escape")  # read, so that the notice is gone
    evidence = page.locator(".zone-evidence").bounding_box()
    for card in page.locator("[data-given] article").all():
        box = card.bounding_box()
        assert box["y"] + box["height"] <= evidence["y"] and box["x"] + box["width"] <= 360
        assert card.evaluate("card => card.scrollWidth <= card.clientWidth + 1")
    assert page.locator(".answers").bounding_box()["y"] > evidence["y"]
    expect(page.locator('[data-counts] [data-message="left"]')).to_be_in_viewport()
    page.set_viewport_size({"width": 1440, "height": 900})
    more = page.locator("[data-searches] .button-plain")
    expect(more).to_be_in_viewport(ratio=1)
    shoot(page, f"adjudicate-1440-{language}")


def test_quick_answer_is_pointed_out(world, open_page) -> None:
    item = Item.objects.order_by("order").first()
    answer(world.ann, slot_for(world.campaign, world.ann, item), "Y", active_ms=900)
    answer(world.ben, slot_for(world.campaign, world.ben, item), "N", active_ms=9000)
    windows_closed(item)
    page = open_page(world.ada, PAGE)
    ready(page)
    expect(page.locator('[data-test="given-Y"] [data-test="quick"]')).to_be_visible()
    expect(page.locator('[data-test="given-N"]')).to_be_visible()
    expect(page.locator('[data-test="given-N"] [data-test="quick"]')).to_have_count(0)


def test_returns_a_dispute_to_the_pool(world, disputed, open_page) -> None:
    page = open_page(world.ada, PAGE)
    ready(page)
    first = question(page)
    press(page, "r")  # the key of no for the remaining rows
    expect(page.locator("dialog[open]")).to_have_count(0)
    open_dialog(page, "p", "return")
    shoot(page, "dialog-return")
    page.locator('[data-dialog="return"] [type=submit]').click()
    expect(page.locator("#return-error")).to_be_visible()
    left = page.locator('[data-counts] [data-message="left"]')
    numbers_in(left, 2)
    page.locator("#return-reason").fill("both mean another city")
    page.locator('[data-dialog="return"] [type=submit]').click()
    numbers_in(left, 1)
    shows(notice(page, "info"), "returned")
    assert question(page) != first
    eventually(page, Slot.objects.filter(state="withdrawn").count, 2)
    returned = Slot.objects.filter(state="withdrawn").first().item
    assert returned.state == "open"
    assert list(returned.slots.filter(number=3).values_list("state", flat=True)) == ["free"]  # given to nobody


def test_asking_for_other_words_sets_the_dispute_aside(world, disputed, open_page) -> None:
    page = open_page(world.ada, PAGE)
    ready(page)
    first = question(page)
    open_dialog(page, "f", "flag")
    page.locator("#flag-text").fill("it asks for the wrong side")
    send_report(page, FlagKind.WORDS)
    shows(notice(page, "info"), "held")
    second = question(page)
    assert second != first
    eventually(page, Flag.objects.filter(holds_item=True).count, 1)
    notice(page, "info").locator("a").wait_for()
    assert question(page) == second
    answer_flag(Flag.objects.get(), "The words are new.", by=world.manager)
    ready(page)
    press(page, "y", "d")
    expect(page.locator("[data-question]")).to_have_text(first)


def test_other_report_leaves_the_dispute_on_the_screen(world, disputed, open_page) -> None:
    page = open_page(world.ada, PAGE)
    ready(page)
    first = question(page)
    open_dialog(page, "f", "flag")
    send_report(page, FlagKind.SOURCE)
    eventually(page, Flag.objects.count, 1)
    assert (question(page), Flag.objects.get().holds_item) == (first, False)


def test_answers_without_network_and_undo(world, disputed, open_page) -> None:
    page = open_page(world.ada, PAGE)
    ready(page)
    page.context.set_offline(True)
    for given in "yn":
        page.locator("#reason").fill("read it")
        page.keyboard.press("Escape")
        press(page, given, "m")
    unsaved(page, 2)
    page.context.set_offline(False)
    saved(page, 6)
    press(page, "u")
    ready(page)
    expect(page.locator("#reason")).to_have_value("read it")
    expect(page.locator("[data-cause=misread]")).to_have_attribute("aria-pressed", "true")
    press(page, "y", "d")
    saved(page, 7)
    current = Label.objects.filter(slot__number=3, superseded_by=None).order_by("id")
    assert list(current.values_list("answer", "cause")) == [("Y", "misread"), ("Y", "source")]


def test_empty_queue_says_when_the_next_dispute_opens(world, disputed, open_page) -> None:
    Label.objects.update(created_at=timezone.now() - timedelta(minutes=5))
    page = open_page(world.ada, PAGE)
    shows(idle(page), "adjudicator later")
    numbers_in(page.locator("[data-idle] p"), 10)
    shoot(page, "adjudicate-later")
    Item.objects.update(state="settled")
    look_again(page)
    shows(idle(page), "adjudicator nothing")


def test_on_a_phone_question_and_answers_have_the_room(world, disputed, open_page) -> None:
    """Evidence is one line that unfolds upwards; the reasons come once an answer waits for one."""
    page = open_page(world.ada, PAGE, width=360)
    page.set_viewport_size({"width": 360, "height": 740})
    ready(page)
    fold, reasons, field = page.locator("[data-fold]"), page.locator(".causes"), page.locator("#reason")
    assert page.locator(".zone-read").bounding_box()["height"] > 740 * 0.6
    answers = page.locator(".answers").bounding_box()
    expect(reasons).to_be_hidden()
    expect(field).to_be_hidden()
    fold.click()
    expect(field).to_be_visible()
    page.locator(".given").first.click()
    page.locator("[data-question]").focus()
    expect(field).to_be_hidden()
    page.locator('[data-answer="Y"]').click()
    expect(reasons).to_be_visible()
    assert page.locator(".answers").bounding_box() == answers
    page.locator('[data-cause=""]').click()
    expect(field).to_be_focused()
    page.locator("#link").fill("https://example.com/a")
    press(page, "Enter")
    expect(page.locator("#link")).to_be_focused()
    expect(page.locator("#link-error")).to_be_visible()
    shoot(page, "adjudicate-360-refused")


def test_a_decided_dispute_is_not_returned(world, disputed, open_page) -> None:
    page = open_page(world.ada, PAGE)
    ready(page)
    button = page.locator('[data-act="return"]')
    press(page, "y", "w")
    expect(button).to_be_enabled()
    press(page, "u")
    expect(button).to_be_disabled()
    press(page, "Escape")
    expect(button).to_be_enabled()


def test_notice_covers_no_row_and_shades_no_fact(world, open_page) -> None:
    for item in Item.objects.order_by("order")[:5]:
        label_item(world, item, ann="Y", ben="N")
        windows_closed(item)
    page = open_page(world.ada, PAGE, width=1440)
    ready(page)
    told = notice(page, "guidelines").locator("xpath=..")
    expect(told).to_be_visible()
    expect(page.locator(".zone-question")).not_to_have_class(re.compile("has-more"))
    over, rows = told.bounding_box(), page.locator(".disputes").bounding_box()
    assert over["x"] >= rows["x"] + rows["width"]
    areas = [page.locator(f".zone-{name}").bounding_box() for name in ("question", "disputes")]
    press(page, "g", "Escape")
    expect(told).to_be_hidden()
    assert areas == [page.locator(f".zone-{name}").bounding_box() for name in ("question", "disputes")]


@pytest.mark.parametrize(
    ("link", "name"),
    [
        ("https://en.wikipedia.org/w/index.php?search=Ada", "same-search-page"),
        ("https://en.wikipedia.org/", "same-front-page"),
    ],
)
def test_search_page_that_both_gave_leaves_the_link_required(world, disputed, open_page, link, name) -> None:
    Label.objects.update(source_url=link)
    page = open_page(world.ada, PAGE)
    ready(page)
    shows(page.locator("#link").locator("xpath=..").locator("[data-rule]"), "rule")
    shows(page.locator("[data-given] [data-weak]"), name, "")


def test_cant_tell_between_yes_and_no_asks_why_it_cant_be_told(world, disputed, open_page) -> None:
    page = open_page(world.ada, PAGE)
    ready(page)
    head, unfit = page.locator(".causes-head"), page.locator('[data-cause="entity"], [data-cause="misread"]')
    comes_then = head.inner_text()
    press(page, "y")
    blames = head.inner_text()
    press(page, "s")
    assert len({comes_then, blames, head.inner_text()}) == 3
    assert [button.is_visible() for button in unfit.all()] == [False, False]
    press(page, "w")
    shows(notice(page, "info"), "unfit")
    press(page, "y")
    assert head.inner_text() == blames and unfit.first.is_visible()
    press(page, "s", "d")
    saved(page, 5)
    label = Label.objects.get(slot__number=3)
    assert (label.answer, label.cause) == ("?", "source")


def test_row_keeps_its_height_when_it_is_decided(world, disputed, open_page) -> None:
    page = open_page(world.ada, PAGE)
    ready(page)
    dispute = page.locator(".dispute-row").first
    assert dispute.get_attribute("title") == dispute.locator(".dispute-name").inner_text().replace("\n", " ")
    for part in ("[data-candidate]", "[data-key]"):
        dispute.locator(part).evaluate("name => { name.textContent = 'Tamar_Korhonen of the upper lake'; }")
    before = dispute.bounding_box()
    press(page, "s", "d")
    saved(page, 5)
    expect(dispute).to_have_attribute("data-answer", "?")
    assert dispute.bounding_box()["height"] == before["height"] < 50
