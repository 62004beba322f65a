"""In a browser: an invitation from the button to the first question, and the settings that a browser keeps."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.views.told import BULK_ACTS
from core.people.languages import choose_language

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def visit(world: dict, live_server, browser) -> Iterator:
    """Pages in browsers of their own, signed in by role or not at all; nothing may be written to a console."""
    said: list[str] = []

    def page_of(role: str | None):
        context = browser.new_context(base_url=live_server.url, color_scheme="light")
        if role is not None:
            client = Client()
            client.force_login(world[role])
            cookie = {"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}
            context.add_cookies([cookie])
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        return page

    yield page_of
    for context in browser.contexts:
        context.close()
    assert said == []


def test_invitation_from_the_button_to_the_first_question(visit):
    manager, guest = visit("manager"), visit(None)
    manager.goto("/pools/town-pool/campaign/people")
    manager.locator("form:has([value=invite]) [type=submit]").click()
    manager.locator("[data-copy]").click()
    manager.locator('[data-copied][data-message="copied"], [data-copied][data-message="selected"]').wait_for()
    guest.goto(manager.locator("[data-copy-from]").input_value())
    guest.locator("[name=username]").fill("nina")
    guest.locator("[name=password]").fill("quite another phrase")
    guest.locator("[name=again]").fill("quite another phrase")
    guest.locator(".main-form [type=checkbox]").check()
    guest.locator(".main-form .button-primary").click()
    guest.locator('[data-test="message"]', has_text="nina").wait_for()
    guest.locator(".main a[href='/campaigns/town-pool/annotate']").click()
    guest.locator("[data-question]", has_text="know").wait_for()
    assert User.objects.get(username="nina").memberships.get().consented_at is not None


@pytest.mark.parametrize("role", ["annotator", "adjudicator"])
def test_the_site_bar_is_one_row_in_german(visit, world: dict, role: str):
    choose_language(world[role], "de")
    page = visit(role)
    page.goto("/")
    for width in (960, 1024, 1280, 1440):
        page.set_viewport_size({"width": width, "height": 700})
        assert page.locator(".site-header").bounding_box()["height"] <= 52, width
        assert page.evaluate("document.documentElement.scrollWidth") == width
    switch = page.locator("[data-theme-switch]")
    assert switch.get_attribute("title") == switch.text_content() != ""


def test_settings_are_kept_in_the_browser(visit):
    page = visit("annotator")
    page.goto("/account")
    chosen = "[...document.querySelectorAll('[data-settings] input:checked')].map((box) => box.value)"
    assert page.evaluate(chosen) == ["auto", "one", "on", "300"]
    for value in ("dark", "group", "off", "1000"):
        page.locator(f"[data-settings] [value='{value}']").check()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert page.locator("[data-theme-switch]").get_attribute("data-message") == "dark"
    stored = ("theme", "triplepool:view", "triplepool:keys", "triplepool:pace")
    kept = [page.evaluate("(name) => localStorage.getItem(name)", name) for name in stored]
    assert kept == ["dark", "group", "off", "1000"]
    page.reload()
    assert page.evaluate(chosen) == ["dark", "group", "off", "1000"]


def test_a_setting_that_is_on_no_list_is_as_if_nothing_was_chosen(visit):
    page = visit("annotator")
    page.goto("/account")
    page.evaluate("for (const n of ['view', 'keys', 'pace']) localStorage.setItem(`triplepool:${n}`, '<b>')")
    page.evaluate("localStorage.setItem('theme', '<b>')")
    page.reload()
    chosen = "[...document.querySelectorAll('[data-settings] input:checked')].map((box) => box.value)"
    assert page.evaluate(chosen) == ["auto", "one", "on", "300"]


def test_each_of_many_links_has_its_copy_button(visit):
    manager = visit("manager")
    manager.goto("/pools/town-pool/campaign/people")
    manager.locator("form:has([value=many]) textarea").fill("a@example.org\nb@example.org")
    manager.locator("form:has([value=many]) [type=submit]").click()
    rows = manager.locator('[data-test="hand-over"]')
    assert rows.count() == 2
    for row in rows.all():
        row.locator("[data-copy]").click()
        row.locator('[data-copied][data-message="copied"], [data-copied][data-message="selected"]').wait_for()


def test_an_act_that_the_chosen_items_refuse_cannot_be_pressed(world: dict, visit):
    item = world["campaign"].items.order_by("order").first()
    item.state = "disputed"
    item.save()
    manager = visit("manager")
    manager.goto("/pools/town-pool/campaign/triples")
    assign, why = manager.locator("[name=act][value=assign]"), manager.locator("[data-whys]")
    assert assign.is_disabled() and why.inner_text() == BULK_ACTS["reopen"][1]  # no item here is judged
    disputed, other = manager.locator(f"#item-{item.pk}"), manager.locator("[name=items]").last
    disputed.check()
    assert assign.is_disabled() and why.inner_text() == f"{BULK_ACTS['reopen'][1]} {BULK_ACTS['assign'][1]}"
    other.check()
    assert assign.is_enabled()
    disputed.uncheck()
    assert assign.is_enabled()


def test_a_name_breaks_at_no_hyphen_and_a_label_is_beside_its_value_on_a_phone(world: dict, visit):
    User.objects.filter(pk=world["annotator"].pk).update(username="sim-annotator-of-the-second-group-of-the-year-12")
    page = visit("manager")
    for address in ("/people", "/pools/town-pool/campaign/people"):
        page.set_viewport_size({"width": 360, "height": 740})
        page.goto(address)
        name = page.locator(".person", has_text="sim-annotator-of-the-second-group-of-the-year-12")
        assert name.bounding_box()["height"] < 30
        assert page.evaluate("document.documentElement.scrollWidth") == 360
    cell, value = page.locator("td[data-label=Role]").first, page.locator("td[data-label=Role] > .row").first
    assert value.bounding_box()["x"] > cell.bounding_box()["x"] + 20  # its label is before it, not above
