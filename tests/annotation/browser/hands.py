"""What a person does at the page, and what they see there."""

import os
import re
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Locator, Page, expect

from annotation.models import Label

SHOTS = os.environ.get("SCREENSHOTS")  # a folder, for who wants to look
GUARD = 340  # ms: longer than the guard against presses that were meant for the question before
PAINTED = 20  # ms: within these the next frame is painted


def question(page: Page) -> str:
    return page.locator("[data-question]").inner_text()


def settle(page: Page) -> None:
    """Until keys count again: what is to be shown was painted, and the guard is over."""
    page.evaluate(f"new Promise((done) => requestAnimationFrame(() => setTimeout(done, {GUARD})))")


def press(page: Page, *keys: str) -> None:
    """Each key, and its effect."""
    for key in keys:
        page.keyboard.press(key)
        settle(page)


def ready(page: Page) -> None:
    """The first question is there, and so long that keys count."""
    expect(page.locator("[data-question]:visible, #group-question:visible")).not_to_be_empty()
    settle(page)


def stop_clock(page: Page) -> None:
    """Load the page anew, in a time that passes by `page.clock.run_for` only: no press comes late on a busy machine."""
    page.clock.install(time=0)
    page.clock.pause_at(1)
    page.reload()
    expect(page.locator("[data-question]:visible, #group-question:visible")).not_to_be_empty()


def paste(page: Page, text: str) -> None:
    """As Ctrl+V does where the focus is, without the system's clipboard."""
    page.evaluate(
        """text => {
            const data = new DataTransfer();
            data.setData("text", text);
            const event = new ClipboardEvent("paste", {clipboardData: data, bubbles: true, cancelable: true});
            document.activeElement.dispatchEvent(event);
        }""",
        text,
    )


def eventually(page: Page, found: Callable[[], Any], wanted: Any = True, seconds: float = 60) -> None:
    """Wait until the server has it."""
    for _ in range(int(seconds * 10)):
        if found() == wanted:
            return
        page.wait_for_timeout(100)
    last = found()
    assert last == wanted, f"{last}, not {wanted}"


def saved(page: Page, labels: int) -> None:
    """The server has this many labels, and the page knows."""
    eventually(page, Label.objects.count, labels)
    expect(page.locator("[data-unsaved]")).to_be_hidden()
    assert Label.objects.count() == labels


def shows(element: Locator, *messages: str) -> None:
    """Expect each of these elements to show the message of this name (static/js/lib/messages.js); "" is none."""
    expect(element).to_have_count(len(messages))
    for number, name in enumerate(messages):
        expect(element.nth(number)).to_have_attribute("data-message", name)


def numbers_in(element: Locator, *wanted: int | str) -> None:
    """Expect these numbers in the words of an element, in this order, and no others."""
    expect(element).to_have_text(re.compile(r"^\D*" + r"\D+".join(map(str, wanted)) + r"\D*$"))


def unsaved(page: Page, number: int) -> None:
    numbers_in(page.locator("[data-unsaved]"), number)


def notice(page: Page, kind: str) -> Locator:
    """The words of the notice: error, guidelines or info."""
    return page.locator(f'[data-notice="{kind}"] p')


def idle(page: Page) -> Locator:
    """What is there instead of a question."""
    return page.locator("[data-idle] h2")


def look_again(page: Page) -> None:
    page.locator('[data-act="again"]').click()


def send_report(page: Page, kind: str = "") -> None:
    """Press the button of the dialog, after a choice of what is wrong."""
    if kind:
        page.locator(f'[data-dialog="flag"] [name=kind][value="{kind}"]').check()
    page.locator('[data-dialog="flag"] [type=submit]').click()


def rows(page: Page) -> Locator:
    return page.locator("[data-rows] > .candidate")


def row_at(page: Page) -> Locator:
    """The row that keys are about."""
    return page.locator(".candidate-at")


def candidate(row: Locator) -> str:
    return row.locator("[data-candidate]").inner_text()


def shoot(page: Page, name: str) -> None:
    if SHOTS:
        page.screenshot(path=f"{SHOTS}/{name}.png", full_page=True)
