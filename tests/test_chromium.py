"""Which browser the tests start, and what they say where there is none."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

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
