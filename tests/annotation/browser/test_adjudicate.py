"""Adjudication: two answers that differ, and what may become of them."""

from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotation.enums import FlagKind
from annotation.messages.flags import answer_flag
from annotation.models import Flag, Item, Label, Slot
from tests.annotation.browser.hands import (
    eventually,
    idle,
    look_again,
    notice,
    numbers_in,
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


def test_decides_with_the_link_of_an_answer_and_a_reason(world, disputed, open_page) -> None:
    page = open_page(world.ada, PAGE)
    ready(page)
    shoot(page, "adjudicate")
    first = question(page)
    expect(page.locator("[data-given] article")).to_have_count(2)
    assert "ann" not in page.locator("[data-loop]").inner_text().split()
    press(page, "a")
    expect(page.locator("#link")).to_have_value(LINK)
    press(page, "n")
    expect(page.locator("#reason")).to_be_focused()
    page.keyboard.type("the page says no")
    page.keyboard.press("Enter")
    press(page, "n")
    assert question(page) != first
    saved(page, 5)
    decided = Label.objects.get(slot__number=3)
    assert (decided.answer, decided.comment, decided.source_url) == ("N", "the page says no", LINK)
    assert (decided.item.state, decided.annotator) == ("settled", world.ada)


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
    open_dialog(page, "r", "return")
    shoot(page, "dialog-return")
    page.locator('[data-dialog="return"] [type=submit]').click()
    expect(page.locator("#return-error")).to_be_visible()
    page.locator("#return-reason").fill("both mean another city")
    page.locator('[data-dialog="return"] [type=submit]').click()
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
    press(page, "a")
    page.locator("#reason").fill("as A says")
    page.keyboard.press("Escape")
    press(page, "y")
    ready(page)
    assert question(page) == first


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
        press(page, "b")
        page.locator("#reason").fill("read it")
        page.keyboard.press("Escape")
        press(page, given)
    unsaved(page, 2)
    page.context.set_offline(False)
    saved(page, 6)
    press(page, "u")
    ready(page)
    expect(page.locator("#reason")).to_have_value("read it")
    press(page, "y")
    saved(page, 7)
    assert Label.objects.filter(slot__number=3, superseded_by=None).values_list("answer").distinct().get() == ("Y",)


def test_empty_queue_says_when_the_next_dispute_opens(world, disputed, open_page) -> None:
    Label.objects.update(created_at=timezone.now() - timedelta(minutes=5))
    page = open_page(world.ada, PAGE)
    shows(idle(page), "adjudicator later")
    numbers_in(page.locator("[data-idle] p"), 10)
    shoot(page, "adjudicate-later")
    Item.objects.update(state="settled")
    look_again(page)
    shows(idle(page), "adjudicator nothing")
