"""Entity cards, in both views: what the graph says of an entity, as text."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Locator

from core.people.languages import choose_language
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


def told(key: str, also: str = "Also:") -> list[str]:
    return [f"the one called {key} <b>", f"{also} {key} one, {key} two", "example.org"]


def parts(card: Locator) -> list[str]:
    """The lines of a card below its name and above its facts and link."""
    return card.locator(":scope > p, :scope > a").all_text_contents()


def test_one_by_one_each_entity_has_its_card(world: World, open_page) -> None:
    choose_language(world.ann, "de")
    page = open_page(world.ann)
    ready(page)
    shoot(page, "one-cards")
    for side in ("subject", "object"):
        card = page.locator(f"[data-test={side}-card]")
        key = card.locator("[data-card-key]").inner_text()
        label = page.evaluate("document.querySelector('[data-question]').textContent")
        assert card.locator("h3").inner_text().removesuffix(f" {key}") in label
        assert parts(card) == ([] if key == "c7" else told(key, "Auch:"))
        assert card.evaluate("card => card.closest('[lang]').lang") == "en"  # the words of the page have its own
        assert card.locator(".card-aliases [lang]").evaluate_all("all => all.map((one) => one.lang)") in ([], ["de"])
        if key != "c7":
            link = card.locator("a")
            assert (link.get_attribute("href"), link.get_attribute("rel"), link.get_attribute("target")) == (
                f"https://example.org/{key}?a=1", "noopener noreferrer", "_blank",
            )  # fmt: skip


def test_card_has_types_and_facts_of_other_relations(tmp_path: Path, live_server, open_page) -> None:
    folder = tmp_path / "tsv"
    folder.mkdir()
    (folder / "entity_types.tsv").write_text("".join(f"p{i}\t/people/<b>person\n" for i in range(PEOPLE)))
    world = make_world(
        folder, items=1, more_train=[("p1", "met_by", "p3"), ("p1", "met_by", "c9"), ("p4", "met_by", "p1")]
    )
    page = open_page(world.ann)
    ready(page)
    card = page.locator("[data-test=subject-card]")
    assert card.locator(".card-types li").all_inner_texts() == ["<b>person"]
    facts = ["Person 1 met by Person 3", "Person 4 met by Person 1", "Person 1 met by City 9"]
    assert card.locator(".card-facts li").all_inner_texts() == facts


def test_one_by_one_both_cards_are_in_sight_on_a_phone(tmp_path: Path, live_server, open_page) -> None:
    folder = tmp_path / "tsv"
    folder.mkdir()
    more = [
        (key, relation, f"p{i}") for key in KEYS for i, relation in enumerate(("met_by", "knows", "met_by", "near"))
    ]
    page = open_page(make_world(folder, items=1, more_train=more).ann, width=360)
    page.set_viewport_size({"width": 360, "height": 640})
    ready(page)
    page.keyboard.press("g")  # read, so that the notice is gone
    page.keyboard.press("Escape")
    zone = page.locator('[data-view="one"] .zone-evidence').bounding_box()
    for side in ("subject", "object"):
        card = page.locator(f"[data-test={side}-card]")
        assert card.locator(".card-facts li").count() == 3
        box = card.bounding_box()
        assert box["y"] + box["height"] <= zone["y"]
    link, searches = page.locator("#link"), page.locator('[data-view="one"] [data-searches] a')
    assert link.is_visible() and searches.count() == 3 and all(one.is_visible() for one in searches.all())
    assert not page.locator("#passage").is_visible()


def test_by_question_three_facts_are_in_sight_on_a_phone(tmp_path: Path, live_server, open_page) -> None:
    folder = tmp_path / "tsv"
    folder.mkdir()
    more = [
        (f"p{i}", relation, f"p{j}")
        for i in range(PEOPLE)
        for relation, j in (("met_by", 3), ("knows", 4), ("met_by", 5))
    ]
    page = open_page(make_world(folder, items=1, more_train=more).ann, view="group", width=360)
    page.set_viewport_size({"width": 360, "height": 740})
    ready(page)
    assert page.locator(".zone-head .card-facts li").count() == 3
    inner, outer = page.locator(".zone-head").evaluate("zone => [zone.scrollHeight, zone.clientHeight]")
    assert inner <= outer


def test_by_question_on_a_phone_the_long_name_of_the_row_in_use_is_whole(world: World, open_page) -> None:
    page = open_page(world.ann, view="group", width=360)
    ready(page)
    is_cut = "one => one.scrollWidth > one.clientWidth"
    names = page.locator(".candidate-name")
    for i in (0, 1):
        names.nth(i).locator("strong").evaluate("one => { one.textContent = 'a very long label '.repeat(10); }")
    assert not names.nth(0).evaluate(is_cut) and names.nth(0).bounding_box()["height"] > 60
    assert names.nth(1).evaluate(is_cut)
    assert page.evaluate("document.documentElement.scrollWidth") == 360


@pytest.mark.parametrize("width", [360, 1280])
def test_by_question_the_row_in_use_has_its_card(world: World, open_page, width: int) -> None:
    page = open_page(world.ann, view="group", width=width)
    ready(page)
    shoot(page, f"group-cards-{width}")
    rows = page.locator(".candidate")
    assert rows.count() == 7
    for i in range(7):
        key = rows.nth(i).locator("[data-key]").text_content()
        card = rows.nth(i).locator("[data-test=card]")
        assert parts(card) == ([] if key == "c7" else told(key))
        assert card.is_visible() == (i == 0)
        if i or width > 960:
            assert 39 <= rows.nth(i).bounding_box()["height"] <= 41
    page.keyboard.press("ArrowDown")
    assert (
        rows.nth(1).locator("[data-test=card]").is_visible()
        and not rows.nth(0).locator("[data-test=card]").is_visible()
    )
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_a_name_turns_round_no_other_part_of_a_fact(tmp_path: Path, live_server, open_page) -> None:
    folder = tmp_path / "tsv"
    folder.mkdir()
    page = open_page(make_world(folder, items=1, more_train=[(f"p{i}", "knows", "p3") for i in range(PEOPLE)]).ann)
    ready(page)
    where = page.locator(".card-facts li").first.evaluate("""(fact) => {
        const [one, , two] = fact.children;
        one.textContent = "\u202eeman";
        fact.style.whiteSpace = "nowrap";
        return [one, two].map((part) => part.getBoundingClientRect().x);
    }""")
    assert where[0] < where[1]
