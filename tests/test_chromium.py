"""Which browser the tests start, and what they say where there is none."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.signals import request_finished, request_started

from tests import chromium
from tests.conftest import _missing_browser

SHELL, WHOLE = "/usr/bin/chromium-headless-shell", "/usr/bin/chromium"


@pytest.mark.parametrize(
    ("installed", "found"), [((WHOLE, SHELL), SHELL), ((SHELL,), SHELL), ((WHOLE,), WHOLE), ((), None)]
)
def test_headless_shell_comes_first(monkeypatch, installed: tuple[str, ...], found: str | None):
    there = {Path(path).name: path for path in installed}
    monkeypatch.setattr(shutil, "which", there.get)
    assert chromium.find() == found
    said = "" if found else "no Chromium (chromium-headless-shell or chromium)"
    assert _missing_browser() == said


@pytest.mark.browser
def test_what_a_test_leaves_open_is_there_while_it_runs(browser):
    browser.new_context().new_page()
    assert len(browser.contexts) == 1


@pytest.mark.browser
def test_what_a_test_leaves_open_is_gone_for_the_next(browser):
    assert browser.contexts == []
    assert browser.version.split(".")[0].isdigit()


@pytest.fixture
def served(live_server) -> Iterator[tuple[list[str], list[str]]]:
    """Requests that the server began and ended, each after half a second; looked at when the browser has closed."""
    begun: list[str] = []
    ended: list[str] = []

    def begin(sender, environ, **more) -> None:
        begun.append(environ["PATH_INFO"])
        time.sleep(0.5)

    def end(sender, **more) -> None:
        ended.append("")

    request_started.connect(begin)
    request_finished.connect(end)
    yield begun, ended
    request_started.disconnect(begin)
    request_finished.disconnect(end)
    assert len(begun) == len(ended)


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_a_test_ends_after_the_last_request_of_its_pages(served, live_server, browser):
    page = browser.new_page()
    page.goto(live_server.url + "/login")
    begun, ended = served
    before = len(begun)
    page.evaluate("fetch('/login').catch(() => {}); 1")
    while len(begun) == before:
        page.wait_for_timeout(20)
    assert len(ended) < len(begun)
