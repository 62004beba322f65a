"""Pages in a real browser that are signed in."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db import connections
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, Page
from pytest_django.live_server_helper import LiveServer

from annotation.models import Campaign
from tests.annotation.factories import World, make_world


@pytest.fixture
def database_file(transactional_db, tmp_path: Path) -> Iterator[None]:
    """SQLite in a file: in memory, all threads of the server would share one connection and its transactions."""
    before = connections["default"]
    if before.vendor != "sqlite":
        yield
        return
    name = before.settings_dict["NAME"]
    file = tmp_path / "test.sqlite3"
    with before.cursor() as cursor:
        cursor.execute("VACUUM INTO %s", [str(file)])
    before.settings_dict["NAME"] = str(file)
    del connections["default"]  # the next use, in every thread, opens the file
    yield
    connections["default"].close()
    before.settings_dict["NAME"] = name
    connections["default"] = before


@pytest.fixture
def live_server(database_file) -> Iterator[LiveServer]:
    server = LiveServer("127.0.0.1")
    yield server
    server.stop()


@pytest.fixture
def world(live_server, tmp_path: Path) -> World:
    return make_world(tmp_path / "tsv", items=14)


@pytest.fixture
def no_links(world: World) -> World:
    """Where no answer needs a link."""
    Campaign.objects.filter(pk=world.campaign.pk).update(evidence_rule="never")
    world.campaign.refresh_from_db()
    return world


@pytest.fixture
def sign_in(live_server, browser: Browser) -> Callable[..., BrowserContext]:
    """A window of a person: tabs of it share cookies and local storage."""

    def opened(user: User, width: int = 1280, **more: str) -> BrowserContext:
        client = Client()
        client.force_login(user, backend="config.sign_in.Accounts")
        context = browser.new_context(viewport={"width": width, "height": 900}, **more)  # type: ignore[arg-type]
        context.add_cookies([{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}])
        return context

    return opened


@pytest.fixture
def open_tab(live_server) -> Iterator[Callable[..., Page]]:
    """A page in a window; at the end no script may have failed nor the policy been broken."""
    problems: list[str] = []

    def opened(context: BrowserContext, path: str, view: str = "one") -> Page:
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda said: problems.append(said.text) if "Security Policy" in said.text else None)
        page.on("dialog", lambda dialog: dialog.accept())  # "leave the page?" while answers are unsaved
        if view != "one":
            page.add_init_script(
                f"localStorage.getItem('triplepool:view') ?? localStorage.setItem('triplepool:view', '{view}')"
            )
        page.goto(live_server.url + path)
        return page

    yield opened
    assert problems == []


@pytest.fixture
def open_page(sign_in, open_tab) -> Callable[..., Page]:
    """open_page(world.ann, "/campaigns/p1/annotate"): a window with one page."""

    def opened(
        user: User, path: str = "/campaigns/p1/annotate", view: str = "one", width: int = 1280, **more: str
    ) -> Page:
        return open_tab(sign_in(user, width, **more), path, view)

    return opened
