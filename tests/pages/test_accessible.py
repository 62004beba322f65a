"""Every page of the route table as its people see it: axe finds nothing, in light and dark."""

from __future__ import annotations

import pytest
from django.test import Client

from config.languages import TRANSLATED
from tests.annotation.browser.hands import shoot
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


def window(browser, live_server, person, width: int, **more: str):
    """A page in a window of a person; None: a stranger."""
    context = browser.new_context(base_url=live_server.url, viewport={"width": width, "height": 900}, **more)
    if person is not None:
        client = Client()
        client.force_login(person)
        context.add_cookies([{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}])
    return context.new_page()


def findings(page) -> list[str]:
    from axe_playwright_python.sync_playwright import Axe

    return [f"{one['id']}: {one['nodes'][0]['html'][:120]}" for one in Axe().run(page).response["violations"]]


@pytest.mark.parametrize("role", [None, "adjudicator", pytest.param("manager", marks=pytest.mark.slow)])
def test_axe_finds_nothing(world: dict, live_server, browser, role: str | None) -> None:
    names = pages_of(role)
    assert len(names) >= (5 if role is None else 8)
    found: dict[tuple[str, str], list[str]] = {}
    page = window(browser, live_server, world[role] if role else None, 1280)
    for name in names:
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)  # before the page comes: colours fade into each other
            response = page.goto(url_of(name, world))
            assert response is not None and response.status == 200, name
            if name == "api-docs":
                open_operation(page)
            if wrong := findings(page):
                found[name, scheme] = wrong
    assert found == {}


@pytest.mark.parametrize("language", ["de", "he"])
@pytest.mark.parametrize("role", [None, "adjudicator"])
def test_translated_pages_on_a_phone(world: dict, live_server, browser, settings, role: str | None, language: str):
    """German is longer than English; Hebrew, into which nothing of ours is translated, goes from right to left."""
    settings.LANGUAGES = [("en", "English"), (language, "another")]
    names = sorted(set(pages_of(role)) & (TRANSLATED | {"home"}) - {"api-own-labels", "api-progress"})
    assert len(names) >= (5 if role is None else 8)
    page = window(browser, live_server, world[role] if role else None, 360, locale=language)
    found: dict[str, list[str]] = {}
    for name in names:
        page.goto(url_of(name, world))
        shoot(page, f"{language}-{role}-{name}")
        said = page.evaluate("[document.documentElement.lang, document.documentElement.dir]")
        wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
        wrong = findings(page) + (["wider than the phone"] if wide else [])
        if wrong or said != [language, "rtl" if language == "he" else ""]:
            found[name] = [*wrong, *said]
    assert found == {}
