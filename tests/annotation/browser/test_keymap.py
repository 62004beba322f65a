"""Own keys: chosen at the account page, shown and used where questions are answered."""

from playwright.sync_api import expect

from annotation.models import Label
from tests.annotation.browser.hands import press, question, ready
from tests.annotation.factories import World


def field(page, usual: str):
    return page.locator(f"[data-keymap] input[data-usual='{usual}']")


def test_own_keys_answer_and_are_shown(no_links: World, sign_in, open_tab):
    window = sign_in(no_links.ann)
    account = open_tab(window, "/account")
    problem = account.locator("[data-keymap] [data-problem]")
    field(account, "y").press("j")
    expect(field(account, "y")).to_have_value("J")
    for key, refusal in (("j", "taken"), ("w", "taken"), ("7", "no-key")):  # W is of adjudication, which ann has not
        field(account, "n").press(key)
        expect(problem).to_have_attribute("data-message", refusal)
        expect(field(account, "n")).to_have_value("N")
    field(account, "n").press("y")
    expect(problem).to_be_hidden()
    page = open_tab(window, "/campaigns/p1/annotate")
    ready(page)
    caps = page.locator("[data-answer] .kbd")
    expect(caps).to_have_text(["J", "Y", "S"])
    first = question(page)
    press(page, "n")  # has no act any more
    assert question(page) == first
    press(page, "j", "y", "Numpad1")
    expect(page.locator("[data-unsaved]")).to_be_hidden()
    assert list(Label.objects.order_by("pk").values_list("answer", flat=True)) == ["Y", "N", "Y"]
    account.locator("[data-keymap] [data-reset]").click()
    expect(caps).to_have_text(["Y", "N", "S"])  # in the other tab, at once
    page.close()
    other = open_tab(sign_in(no_links.ben), "/account")
    expect(field(other, "y")).to_have_value("Y")
