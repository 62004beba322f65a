"""Runs in a browser: a large file goes in parts, with its progress; pages fit a phone."""

from __future__ import annotations

import os

import pyarrow.parquet as pq
import pytest
from django.test import Client

from core.files.artifacts import artifact_path
from core.jobs import lifecycle
from core.jobs.execution import execute
from pooling.models import System
from pooling.runs import files as run_files
from pooling.runs import parts
from pooling.runs.asked import ASKED
from pooling.views import runs
from tests.pages.world import make_person, make_system

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
GOOD = b"tail:p0:knows Q0 p4 1 0.9 x\ntail:p0:knows Q0 p3 2 0.5 x\n"


@pytest.fixture
def page(graph, live_server, browser, monkeypatch):
    """A page of a researcher, on a phone; nothing may be written to its console."""
    run_files._cache.clear()
    monkeypatch.setattr(lifecycle, "_send", lambda job_id, kind: execute(job_id, "test"))
    client = Client()
    client.force_login(make_person("reader", site="researcher"))
    context = browser.new_context(base_url=live_server.url, viewport={"width": 360, "height": 800})
    context.add_cookies([{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}])
    page, said = context.new_page(), []
    page.on("console", lambda message: said.append(message.text) if "status of 400" not in message.text else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    yield page
    context.close()
    assert said == []


def shots(page, name: str) -> None:
    """Keep pictures of the page in the folder SHOTS, if it is set."""
    if folder := os.environ.get("SHOTS"):
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            for width in (360, 1440):
                page.set_viewport_size({"width": width, "height": 900})
                page.screenshot(path=f"{folder}/{name}-{scheme}-{width}.png", full_page=True)
        page.set_viewport_size({"width": 360, "height": 800})


def test_a_large_file_goes_in_parts_and_its_run_is_private(page, graph, monkeypatch):
    make_system(graph, "transe")
    monkeypatch.setattr(runs, "WHOLE_BYTES", 10)
    monkeypatch.setattr(parts, "PART_BYTES", 16)
    monkeypatch.setattr("pooling.api.uploads.PART_BYTES", 16)
    page.goto("/graphs/town/runs")
    shots(page, "runs")
    page.locator("[name=name]").fill("large")
    page.locator("[name=file]").set_input_files({"name": "their.run", "mimeType": "text/plain", "buffer": GOOD})
    topics = {"name": "t.tsv", "mimeType": "text/plain", "buffer": b"tail:p1:knows\n"}
    page.locator("[name=topics]").set_input_files(topics)
    page.locator("[data-test=import] button[type=submit]").click()
    page.wait_for_url("**/graphs/town/runs/large")
    system = System.every.get(name="large")
    assert (system.private, system.settings["file"], system.settings["lines"]) == (True, "their.run", 2)
    asked = pq.read_table(artifact_path(system.run.artifact) / ASKED)["question"].to_pylist()
    assert sorted(asked) == ["tail:p0:knows", "tail:p1:knows"]
    assert page.locator("[data-test=private]").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    shots(page, "run")
    page.goto("/graphs/town/runs")
    assert page.evaluate("document.documentElement.scrollWidth") == 360


def test_what_is_refused_is_told_beside_the_progress(page, graph, monkeypatch):
    make_system(graph, "transe")
    monkeypatch.setattr(runs, "WHOLE_BYTES", 10)
    page.goto("/graphs/town/runs")
    page.locator("[name=name]").fill("transe")
    page.locator("[name=file]").set_input_files({"name": "their.run", "mimeType": "text/plain", "buffer": GOOD})
    page.locator("[data-test=import] button[type=submit]").click()
    page.locator("[data-told].notice-error").wait_for()
    assert "has a system transe already" in page.locator("[data-told]").inner_text()
    assert page.locator("[data-test=import] button[type=submit]").is_enabled()


def test_a_refused_file_is_told_in_full_to_who_sent_it(page, graph, monkeypatch):
    monkeypatch.setattr(runs, "WHOLE_BYTES", 10)
    page.goto("/graphs/town/runs")
    page.locator("[name=name]").fill("large")
    bad = {"name": "their.run", "mimeType": "text/plain", "buffer": b"a b\n" + GOOD}
    page.locator("[name=file]").set_input_files(bad)
    page.locator("[data-test=import] button[type=submit]").click()
    page.locator("[data-told].notice-error").wait_for()
    told = page.locator("[data-told]").inner_text()
    assert "the upload:1: has 2 columns" in told and "Send again" not in told
    page.goto("/graphs/town/runs")
    assert "has 2 columns" in page.locator("[data-test=refused]").inner_text()
    page.locator("[name=name]").fill("large")
    page.locator("[name=file]").set_input_files({**bad, "buffer": GOOD})
    page.locator("[data-test=import] button[type=submit]").click()
    page.wait_for_url("**/graphs/town/runs/large")
