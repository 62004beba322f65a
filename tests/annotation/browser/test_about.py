"""What a graph says of its entities stands beside their names, in both views: description, aliases and a link."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.annotation.browser.hands import ready, shoot
from tests.annotation.factories import CITIES, PEOPLE, World, make_world

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
KEYS = [*(f"p{i}" for i in range(PEOPLE)), *(f"c{i}" for i in range(CITIES))]


@pytest.fixture
def world(live_server, tmp_path: Path) -> World:
    folder = tmp_path / "tsv"
    folder.mkdir()
    texts = {
        "entity_descriptions": [(key, f"the one called {key} <b>") for key in KEYS if key != "c7"],
        "entity_aliases": [(key, f"{key} {word}") for key in KEYS if key != "c7" for word in ("one", "two")],
        "entity_links": [(key, f"https://example.org/{key}?a=1") for key in KEYS if key != "c7"],
    }
    for stem, rows in texts.items():
        (folder / f"{stem}.tsv").write_text("".join("\t".join(row) + "\n" for row in rows))
    return make_world(folder, items=14)


def told(key: str) -> str:
    return f"the one called {key} <b>Also: {key} one, {key} twoexample.org"


def test_one_by_one_each_entity_has_its_line(world: World, open_page) -> None:
    page = open_page(world.ann)
    ready(page)
    shoot(page, "one-about")
    for side in ("subject", "object"):
        key = page.locator(f"[data-{side}-key]").inner_text()
        line = page.locator(f"[data-test={side}-about]")
        if key == "c7":
            assert line.is_hidden()
            continue
        label = page.evaluate("document.querySelector('[data-question]').textContent")
        name = line.locator("strong").text_content()
        assert line.text_content() == name + told(key) and name in label
        link = line.locator("a")
        assert (link.get_attribute("href"), link.get_attribute("rel"), link.get_attribute("target")) == (
            f"https://example.org/{key}?a=1", "noopener noreferrer", "_blank",
        )  # fmt: skip


@pytest.mark.parametrize("width", [360, 1280])
def test_by_question_each_candidate_has_its_line(world: World, open_page, width: int) -> None:
    page = open_page(world.ann, view="group")
    page.set_viewport_size({"width": width, "height": 900})
    ready(page)
    shoot(page, f"group-about-{width}")
    rows = page.locator(".candidate")
    assert rows.count() == 7
    for i in range(7):
        key = rows.nth(i).locator("[data-key]").text_content()
        line = rows.nth(i).locator("[data-test=about]")
        if key != "c7":
            parts = [rows.nth(i).locator(part).bounding_box() for part in (".candidate-name", "[data-test=about]")]
            name, about, answers = *parts, rows.nth(i).locator(".candidate-answers").bounding_box()
            assert name["y"] + name["height"] <= about["y"]
            below = answers["y"] >= about["y"] + about["height"]
            beside = answers["x"] >= name["x"] + name["width"] and answers["y"] + answers["height"] <= about["y"] + 1
            assert below if width == 360 else beside
        assert line.is_hidden() if key == "c7" else line.text_content() == told(key)
    assert page.evaluate("document.documentElement.scrollWidth") == width
