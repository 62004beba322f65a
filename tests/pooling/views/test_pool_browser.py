"""The form of a pool in a browser: what each choice changes is whole beside it."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.pages.world import make_system

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
SYSTEMS = ("transe", "rotate", "complex", "distmult", "rescal", "conve")


def test_every_choice_of_the_estimate_is_in_sight_without_scrolling_in_it(graph, manager: Client, live_server, browser):
    for name in SYSTEMS:
        make_system(graph, name, run=False)
    context = browser.new_context(base_url=live_server.url, viewport={"width": 1440, "height": 700})
    session = {"name": "sessionid", "value": manager.cookies["sessionid"].value, "url": live_server.url}
    context.add_cookies([session])
    page = context.new_page()
    page.goto("/pools/new")
    page.fill("[name=sample]", "1")
    page.locator('[data-test="changes"]').wait_for()
    left_out = page.locator('[data-test="change-without"]').evaluate_all("rows => rows.map((row) => row.dataset.about)")
    assert left_out == list(SYSTEMS)
    inner, outer = page.locator(".estimate").evaluate("box => [box.scrollHeight, box.clientHeight]")
    assert inner == outer
    context.close()
