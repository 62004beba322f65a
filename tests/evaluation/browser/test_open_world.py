"""The open-world page in Chromium: sliders and numbers go together, the figures and the address follow."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from evaluation.open_world.theory_page import SECTIONS
from evaluation.open_world.theory_settings import TheorySettings
from tests.evaluation.browser.test_pages import page, pytestmark  # noqa: F401  # fixture and marks of these pages


def test_a_slider_moves_the_figures_and_the_address(page: Page):  # noqa: F811
    page.goto("/open-world")
    charts = sum(make(TheorySettings()).chart is not None for make in SECTIONS.values())
    expect(page.locator("[data-chart] .wide:visible")).to_have_count(charts)
    slider = page.locator("[data-of=strength]")
    slider.focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    expect(page.locator("#strength")).to_have_value("0.75")
    expect(page.locator("#numbers")).to_contain_text("ℓ = 0.75")
    assert "strength=0.75" in page.url
    page.locator("#theory summary").click()
    page.locator("#beta").fill("0.5")
    expect(page.locator("[data-of=beta]")).to_have_value("0.5")
    expect(page.locator("#numbers")).to_contain_text("β = 0.5")
    expect(page.locator("#theory details")).to_have_attribute("open", "")
    expect(page.locator("[data-chart] .wide:visible")).to_have_count(charts)
    page.reload()
    expect(page.locator("#beta")).to_have_value("0.5")
    expect(page.locator("#numbers")).to_contain_text("β = 0.5, ℓ = 0.75")


def test_what_cannot_be_is_said_and_mended(page: Page):  # noqa: F811
    page.goto("/open-world")
    page.locator("#rho").fill("0.9")
    expect(page.locator('[data-test="problem"]')).to_be_visible()
    page.locator("#rho").fill("0.1")
    expect(page.locator("#numbers")).to_contain_text("ρ = 0.1")
    expect(page.locator('[data-test="problem"]')).to_have_count(0)
