"""Evidence: the side window, addresses as people paste them, the clipboard, and what the source says."""

import pytest
from playwright.sync_api import expect

from annotation.models import Label
from core.models import Preferences
from tests.annotation.browser.hands import eventually, notice, paste, press, question, ready, saved, shoot, shows
from tests.annotation.factories import LINK, windows_closed
from tests.annotation.sources.links import ACCEPTED, CLEANED, HOSTS

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
FIELD = {"one": "#link", "group": "#question-link"}


def test_page_has_the_rules_of_the_server(world, open_page) -> None:
    page = open_page(world.ann)
    found = page.evaluate(
        """async ([cleaned, accepted, hosts]) => {
            const { cleanLink, problemOf } = await import("/static/js/lib/links.js");
            return [cleaned.map(cleanLink), accepted.map((link) => problemOf(link, "Y", "both", hosts) === null)];
        }""",
        [list(CLEANED), list(ACCEPTED), HOSTS],
    )
    assert found == [list(CLEANED.values()), list(ACCEPTED.values())]


@pytest.mark.parametrize("view", ["one", "group"])
def test_keys_open_sources_in_one_window(world, open_page, view: str) -> None:
    page = open_page(world.ann, view=view)
    asked: list[str] = []
    page.context.on("request", lambda request: asked.append(request.url) if request.url.startswith("https:") else None)
    ready(page)
    links = page.locator(f'[data-view="{view}"] [data-searches] a')
    first, second = (links.nth(number).get_attribute("href") for number in (0, 1))
    page.context.route("https://**/*", lambda route: route.fulfill(body="a source"))
    with page.context.expect_page() as opened:
        page.keyboard.press("1")
    opened.value.wait_for_url(first)
    assert asked == [first]
    page.bring_to_front()
    page.keyboard.press("2")
    eventually(page, lambda: asked, [first, second])
    assert len(page.context.pages) == 2
    assert page.url.endswith("/annotate") and Label.objects.count() == 0


@pytest.mark.parametrize("view", ["one", "group"])
def test_what_is_pasted_is_cleaned_and_refused_at_once(world, open_page, view: str) -> None:
    page = open_page(world.ann, view=view)
    ready(page)
    field, error = page.locator(FIELD[view]), page.locator(f"{FIELD[view]}-error")
    paste(page, "see en.wikipedia.org/wiki/Ada, there")
    expect(field).to_have_value(LINK)
    assert error.is_hidden()
    paste(page, "https://example.com/Ada")
    shows(error, "not-verified")
    paste(page, "http://en.wikipedia.org/wiki/Ada")
    assert error.is_hidden() and field.input_value() == LINK
    paste(page, "no address")
    shows(notice(page, "info"), "no-address-pasted")
    assert field.input_value() == LINK


@pytest.mark.parametrize(
    ("link", "warning"),
    [
        ("https://en.wikipedia.org/", "front-page"),
        ("https://en.wikipedia.org/w/index.php?search=Ada", "search-page"),
        ("https://en.wikipedia.org/wiki/Ada", ""),
        ("https://en.wikipedia.org/?curid=7", ""),
    ],
)
def test_search_page_and_front_page_get_a_warning_and_may_stay(world, open_page, link: str, warning: str) -> None:
    page = open_page(world.ann)
    ready(page)
    paste(page, link)
    shows(page.locator("#link-error"), warning)
    press(page, "y")
    saved(page, 1)
    assert Label.objects.get().source_url == link


def test_copied_address_is_offered_on_coming_back_and_c_takes_it(world, open_page) -> None:
    page = open_page(world.ann)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    ready(page)
    page.evaluate("navigator.clipboard.writeText('https://en.wikipedia.org/wiki/Ada')")
    offer = page.locator('[data-view="one"] [data-copied]')
    page.evaluate("dispatchEvent(new Event('focus'))")
    page.wait_for_timeout(200)
    assert offer.is_hidden()  # nobody allowed it
    press(page, "?")
    page.locator("[data-clipboard]").check()
    while page.evaluate("localStorage.getItem('triplepool:clipboard')") != "on":  # the browser was asked first
        page.wait_for_timeout(50)
    page.keyboard.press("Escape")
    page.evaluate("dispatchEvent(new Event('focus'))")
    expect(offer).to_be_visible()
    press(page, "c", "y")
    saved(page, 1)
    assert Label.objects.get().source_url == LINK
    page.evaluate("navigator.clipboard.writeText('https://example.com/Ada')")
    page.evaluate("dispatchEvent(new Event('focus'))")
    page.wait_for_timeout(200)
    assert offer.is_hidden()  # no verified source


def test_passage_goes_with_the_answer_and_to_the_adjudicator(world, open_page) -> None:
    page = open_page(world.ann)
    ready(page)
    asked = question(page)
    paste(page, LINK)
    page.locator("#passage").fill("Ada <b>lived</b> there.")
    page.locator("#why").fill("page 7")
    page.keyboard.press("Enter")
    press(page, "y")
    assert page.locator("#passage").input_value() == ""
    press(page, "u")
    assert (page.locator("#passage").input_value(), page.locator("#why").input_value()) == (
        "Ada <b>lived</b> there.",
        "page 7",
    )
    saved(page, 1)
    label = Label.objects.get()
    assert (label.passage, label.comment) == ("Ada <b>lived</b> there.", "page 7")
    other = open_page(world.ben)
    ready(other)
    assert question(other) == asked  # items with one label come first
    other.locator("#link").fill(LINK)
    press(other, "Enter", "n")  # out of the field, then the answer
    saved(other, 2)
    windows_closed(label.item)
    judge = open_page(world.ada, "/campaigns/p1/adjudicate")
    ready(judge)
    assert judge.locator("[data-given] blockquote").all_inner_texts() == ["Ada <b>lived</b> there."]


def test_passage_of_the_question_goes_with_its_link_only(world, open_page) -> None:
    page = open_page(world.ann, view="group")
    ready(page)
    paste(page, LINK)
    page.locator("#question-passage").fill("she lived in all of them")
    page.keyboard.press("Enter")
    press(page, "y", "n", "s")
    page.keyboard.type("unclear")
    press(page, "Enter")
    page.locator(".candidate-at [data-change-link]").click()
    page.locator(".candidate-at [data-own-link]").fill("en.wikipedia.org/wiki/Bob")
    page.locator(".candidate-at [data-own-passage]").fill("of him")
    page.keyboard.press("Enter")
    press(page, "y")
    saved(page, 4)
    passages = ["she lived in all of them", "she lived in all of them", "", "of him"]
    assert list(Label.objects.order_by("id").values_list("passage", flat=True)) == passages
    assert Label.objects.latest("id").source_url == "https://en.wikipedia.org/wiki/Bob"


@pytest.mark.parametrize(("language", "width"), [("en", 1280), ("de", 360)])
def test_a_refused_link_leads_to_the_list_of_accepted_sites(world, open_page, language, width) -> None:
    Preferences.objects.create(person=world.ann, language=language)
    page = open_page(world.ann, width=width)
    ready(page)
    paste(page, "https://www.reddit.com/r/films")
    error = page.locator("#link-error")
    shows(error, "not-verified")
    hosts = list(world.campaign.sources.order_by("pk").values_list("host", flat=True))
    assert error.evaluate("(it) => it.scrollHeight <= it.clientHeight")  # all of its words are in sight
    shoot(page, f"refused-{language}-{width}")
    expect(error.locator("button")).to_be_in_viewport(ratio=1)
    error.locator("button").click()
    listed = page.locator('[data-dialog="sources"] li')
    assert sorted(listed.all_inner_texts()) == sorted(hosts)
    shoot(page, f"sources-{language}-{width}")
    press(page, "Escape")
    expect(page.locator('[data-dialog="sources"]')).to_be_hidden()
