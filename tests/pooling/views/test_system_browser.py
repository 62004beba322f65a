"""Systems side by side in a browser: one key for both charts, tables that sort."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client

from tests.pages.world import make_system

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
SHOWN = """[...document.querySelectorAll("[data-chart]")].map(
    (chart) => [...chart.querySelectorAll(".narrow [data-at]:not(.dimmed)")].map((mark) => mark.dataset.name))"""


def test_a_name_stands_out_on_both_charts_and_tables_sort(graph, manager: Client, live_server, browser):
    make_system(graph, "transe", validation_mrr=0.2)
    make_system(graph, "rotate", validation_mrr=0.3)
    context = browser.new_context(base_url=live_server.url, viewport={"width": 360, "height": 800})
    session = {"name": "sessionid", "value": manager.cookies["sessionid"].value, "url": live_server.url}
    context.add_cookies([session])
    page = context.new_page()
    page.goto("/graphs/town/compare")
    assert page.evaluate(SHOWN) == [["TransE", "RotatE"], ["TransE", "RotatE"]]
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    key = page.locator(".series", has_text="RotatE")
    key.press("Enter")
    assert key.get_attribute("aria-pressed") == "true"
    page.wait_for_function(f'() => JSON.stringify({SHOWN}) === \'[["RotatE"],["RotatE"]]\'')
    key.press("Enter")
    page.wait_for_function(f"() => ({SHOWN})[0].length === 2")
    page.locator("th button", has_text="Validation MRR").click()
    assert page.locator("#compared tbody th a").all_inner_texts() == ["RotatE", "TransE"]
    with page.expect_download() as download:
        page.locator("[data-format=svg]").first.click()
    drawing = Path(download.value.path()).read_text(encoding="utf-8")
    assert drawing.count('width="480"') == 1 and 'width="320"' not in drawing  # the larger of the two drawings
    context.close()
