"""Every page of the route table as its people see it: axe finds nothing serious, in light and dark."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.pages.test_access import PAGES, ROLES, url_of

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
FILES = {
    "campaign-triples-csv",
    "hours",
    "systems-compare-csv",
    "pool-overlap-csv",
    "pool-questions-tsv",
    "pool-seeds-csv",
    "account-data",
    "evaluation-version",
    "open-world-csv",
    "open-world-study-version",
    "report-download",
    "evaluation-questions-csv",
    "evaluation-triples-csv",
    "export-trec-file",
    "words",
    "attention",
    "pool-attention",
    "pool-switch",
}  # downloads, data and a list that other pages fetch: no pages


def pages_of(role: str | None) -> list[str]:
    """Names of the pages that this role is shown; managers see what researchers see."""
    at = ROLES.index(role)
    return [
        name
        for name, (_, statuses) in PAGES.items()
        if statuses[at] == 200 and (name == "api-docs" or not name.startswith("api-")) and name not in FILES
    ]


def open_operation(page) -> None:
    """The list of the API comes after its page; one operation is opened and tried."""
    operation = page.locator(".opblock-post", has=page.locator("[data-path='/api/v1/pools/{pool}/exports']"))
    operation.locator(".opblock-summary-control").click()
    operation.get_by_role("button", name="Try it out").click()
    operation.get_by_label("pool").wait_for()


@pytest.mark.parametrize("role", [None, "adjudicator", pytest.param("manager", marks=pytest.mark.slow)])
def test_axe_finds_nothing_serious(world: dict, live_server, browser, role: str | None) -> None:
    from axe_playwright_python.sync_playwright import Axe

    names = pages_of(role)
    assert len(names) >= (5 if role is None else 8)
    found: dict[tuple[str, str], list[str]] = {}
    context = browser.new_context(base_url=live_server.url, viewport={"width": 1280, "height": 900})
    if role is not None:
        client = Client()
        client.force_login(world[role])
        context.add_cookies([{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}])
    page = context.new_page()
    for name in names:
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)  # before the page comes: colours fade into each other
            response = page.goto(url_of(name, world))
            assert response is not None and response.status == 200, name
            if name == "api-docs":
                open_operation(page)
            serious = [
                f"{one['id']}: {one['nodes'][0]['html'][:120]}"
                for one in Axe().run(page).response["violations"]
                if one["impact"] in ("serious", "critical")
            ]
            if serious:
                found[name, scheme] = serious
    assert found == {}
