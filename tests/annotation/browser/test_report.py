"""Reports of questions, and the guidelines drawer."""

import pytest
from playwright.sync_api import expect

from annotation.enums import FlagKind
from annotation.messages.guidelines import save_guidelines, version_read
from annotation.models import Flag, Label
from annotation.views.annotate import NO_CONTACT
from tests.annotation.browser.hands import (
    candidate,
    eventually,
    notice,
    press,
    question,
    ready,
    row_at,
    rows,
    saved,
    send_report,
    shoot,
    shows,
    unsaved,
)

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize("view", ["one", "group"])
def test_report_keeps_the_question_to_be_answered(no_links, open_page, view: str) -> None:
    page = open_page(no_links.ann, view=view)
    ready(page)
    if view == "group":
        press(page, "ArrowDown", "ArrowDown")
    press(page, "f")
    dialog = page.locator('[data-dialog="flag"]')
    expect(dialog.locator('[data-test="contact"]')).to_have_text(str(NO_CONTACT))
    asked = dialog.locator("[data-flag-question]").inner_text()
    assert candidate(row_at(page)) in asked if view == "group" else question(page) == asked
    shoot(page, "dialog-flag")
    send_report(page)
    shows(page.locator("#flag-error"), "no-kind")
    send_report(page, FlagKind.OTHER)
    shows(page.locator("#flag-error"), "no-text")
    page.keyboard.type("yes, n and s are letters")
    send_report(page)
    shows(notice(page, "info"), "reported")
    sent = Flag.objects.get()
    assert (sent.kind, sent.text, sent.person) == ("other", "yes, n and s are letters", no_links.ann)
    assert Label.objects.count() == 0
    press(page, "y")
    saved(page, 1)
    assert Label.objects.get().item == sent.item


def test_report_without_network_is_sent_later(no_links, open_page) -> None:
    page = open_page(no_links.ann)
    ready(page)
    page.context.set_offline(True)
    press(page, "f")
    send_report(page, FlagKind.NAME)
    unsaved(page, 1)
    press(page, "n")
    page.context.set_offline(False)
    saved(page, 1)
    assert Flag.objects.get().item == Label.objects.get().item


def test_contact_is_named(world, open_page) -> None:
    world.campaign.contact = world.manager
    world.campaign.save()
    page = open_page(world.ann)
    ready(page)
    press(page, "f")
    expect(page.locator('[data-test="contact"]')).to_have_text(world.manager.username)


def test_guidelines_that_were_read_on_their_page_are_not_pointed_out(no_links, sign_in, open_tab) -> None:
    window = sign_in(no_links.ann)
    page = open_tab(window, "/campaigns/p1/annotate")
    ready(page)
    told = notice(page, "guidelines")
    shows(told, "unread")
    save_guidelines(no_links.campaign, "# New", by=no_links.manager)
    read = open_tab(window, "/campaigns/p1/guidelines?version=1")
    expect(told).to_be_hidden()  # in the other tab, at once
    page.reload()
    ready(page)
    shows(told, "changed")
    read.goto(read.url.split("?")[0])
    expect(told).to_be_hidden()
    page.reload()
    ready(page)
    expect(told).to_be_hidden()


def test_guidelines_that_were_read_are_not_pointed_out_in_another_browser(no_links, open_page) -> None:
    page = open_page(no_links.ann)
    ready(page)
    shows(notice(page, "guidelines"), "unread")
    press(page, "g", "Escape")
    eventually(page, lambda: version_read(no_links.ann, no_links.campaign), 1)
    other = open_page(no_links.ann)
    ready(other)
    expect(notice(other, "guidelines")).to_be_hidden()
    save_guidelines(no_links.campaign, "# New", by=no_links.manager)
    other.reload()
    ready(other)
    shows(notice(other, "guidelines"), "changed")


def test_new_guidelines_are_pointed_out_once(no_links, open_page) -> None:
    page = open_page(no_links.ann)
    ready(page)
    told = notice(page, "guidelines")
    shows(told, "unread")
    press(page, "y")
    expect(told).to_be_visible()
    press(page, "g")
    expect(page.locator('[data-dialog="guidelines"]')).to_be_visible()
    shoot(page, "dialog-guidelines")
    page.keyboard.press("Escape")
    expect(told).to_be_hidden()
    page.reload()
    ready(page)
    expect(told).to_be_hidden()
    save_guidelines(
        no_links.campaign, "## New\n\nA *yes* needs **more**. <script>alert(1)</script>", by=no_links.manager
    )
    page.reload()
    ready(page)
    shows(told, "changed")
    press(page, "g")
    expect(page.locator('[data-dialog="guidelines"] strong')).to_have_text("more")
    assert page.locator('[data-dialog="guidelines"] script').count() == 0
    assert rows(page).count() == 0
    eventually(page, Label.objects.count, 1)
