"""The evaluation pages in Chromium: charts are drawn, tables sort, a label shows without a page load."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree

import numpy as np
import pytest
from playwright.sync_api import Page, Route, expect

from evaluation.analyses import discriminative
from evaluation.overview.rankings import overview
from evaluation.pages.registry import ANALYSES, get_analysis
from evaluation.sections.figure_cache import part_figure
from evaluation.sections.settings import Settings
from pooling.models import Pool
from pooling.systems.shown_names import shown_name
from tests.factories import judge

pytestmark = [
    pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("few_repeats")
]  # fmt: skip
PAGE = "/pools/p/evaluation"


@pytest.fixture
def page(sign_in, labelled: Pool, live_server, browser) -> Iterator[Page]:
    """As a researcher; a message in the console or an error of a script fails the test."""
    client, said = sign_in("researcher"), []
    context = browser.new_context(base_url=live_server.url, viewport={"width": 1280, "height": 900})
    session = client.cookies["sessionid"].value
    context.add_cookies([{"name": "sessionid", "value": session, "url": live_server.url}])
    page = context.new_page()
    page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    yield page
    context.close()
    assert said == []


def compute_all(pool: Pool) -> None:
    for analysis in ANALYSES:
        for part in analysis.parts:
            part_figure(pool, analysis, part, Settings())


def becomes_true(page: Page, expression: str) -> bool:
    """Within a minute. wait_for_function would need eval, which the policy of our pages refuses."""
    for _ in range(600):
        if page.evaluate(expression):
            return True
        page.wait_for_timeout(100)
    return False


def test_the_matrix_of_p_values_says_that_small_ones_are_small(page: Page, monkeypatch):
    told = np.array([[np.nan, 0.00009, 0.00012], [0.00009, np.nan, 0.5], [0.00012, 0.5, np.nan]])
    monkeypatch.setattr(discriminative, "_square", lambda *args: told)
    page.goto(f"{PAGE}/discriminative")
    told = page.locator("[data-chart=discriminative-matrix] .wide .cell-text").all_text_contents()
    assert sorted(told) == sorted(["–"] * 3 + ["< 0.0001"] * 2 + ["0.0001"] * 2 + ["0.5000"] * 2)


@pytest.mark.slow
def test_every_chart_is_drawn_and_axe_finds_nothing_serious(page: Page, labelled: Pool):
    from axe_playwright_python.sync_playwright import Axe

    compute_all(labelled)
    found = {}
    for path in (PAGE, *(f"{PAGE}/{analysis.key}" for analysis in ANALYSES), f"{PAGE}/questions", f"{PAGE}/labels"):
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            page.goto(path)
            for details in page.locator("main details").all():
                details.evaluate("one => one.open = true")
            charts = page.locator(".chart-card [data-chart]")
            for chart in charts.all():
                assert chart.locator("svg.drawing:visible").count(), path
            serious = [
                f"{one['id']}: {one['nodes'][0]['html'][:160]}"
                for one in Axe().run(page).response["violations"]
                if one["impact"] in ("serious", "critical")
            ]
            if serious:
                found[path, scheme] = serious
            page.set_viewport_size({"width": 360, "height": 800})
            if not becomes_true(page, "document.documentElement.scrollWidth <= window.innerWidth"):
                found[path, "360 px"] = ["wider than the screen"]
            page.set_viewport_size({"width": 1280, "height": 900})
    assert found == {}


def test_a_link_opens_the_folded_section_that_it_names(page: Page, labelled: Pool, monkeypatch):
    monkeypatch.setitem(vars(get_analysis("stability")), "opened", ("labels",))
    page.goto(f"{PAGE}/stability")
    expect(page.locator("details.fold")).not_to_have_attribute("open", "")
    page.evaluate("location.hash = '#questions'")
    expect(page.locator("#questions .chart-card")).to_be_visible()
    page.goto("/")
    page.goto(f"{PAGE}/stability#questions")
    expect(page.locator("#questions .chart-card")).to_be_visible()


@pytest.mark.parametrize("path", ["", "/labels"])
def test_figures_with_a_second_line_are_rows_of_36_to_40_px(path: str, page: Page):
    page.goto(PAGE + path)
    heights = page.evaluate("[...document.querySelectorAll('.two-lines tbody tr')].map((row) => row.offsetHeight)")
    assert heights and min(heights) >= 36 and sorted(heights)[len(heights) // 2] <= 40


def test_a_long_name_does_not_widen_the_page(page: Page):
    page.set_viewport_size({"width": 360, "height": 800})
    page.goto(f"{PAGE}/questions")
    page.locator("table.found-list a").first.click()
    expect(page.locator(".breadcrumbs [aria-current]")).to_have_count(1)
    page.locator(".breadcrumbs [aria-current]").evaluate(
        "one => { one.textContent = '/people/person/' + 'x'.repeat(90); }"
    )
    assert page.evaluate("document.documentElement.scrollWidth") == 360


def test_a_label_shows_on_every_live_page_without_a_page_load(page: Page, labelled: Pool):
    waiting = list(labelled.triples.filter(judgement=None, reason="")[:2])
    for path, triple in zip((PAGE, f"{PAGE}/measures"), waiting, strict=True):
        page.goto(path)
        page.evaluate("window.sameLoad = true")
        before = page.locator("caption").first.inner_text()
        count = int(before.split(" positive")[0].split()[-1].strip("("))
        judge(triple, "positive")
        expect(page.locator("caption").first).to_contain_text(f"{count + 1} positive")
        assert page.evaluate("window.sameLoad") is True


def test_an_open_page_asks_more_often_while_labels_come(page: Page, labelled: Pool):
    asked: list[str] = []
    page.clock.install()
    page.on("response", lambda response: asked.append(response.url) if response.url.endswith("/version") else None)
    page.goto(PAGE)
    page.clock.pause_at("2100-01-01")
    page.wait_for_timeout(500)  # what was asked meanwhile is answered

    def asks(after: int, *, within: int) -> None:
        """Let time pass without a question, then a little with one; the clock of the page stands still besides."""
        asked.clear()
        page.clock.run_for(after)
        assert asked == []
        with page.expect_response("**/version"):
            page.clock.run_for(within - after)
        page.wait_for_timeout(500)

    asks(900, within=1000)
    asks(900, within=1000)
    before = page.locator("#figures > [data-version]").get_attribute("data-version")
    judge(labelled.triples.filter(judgement=None, reason="")[0], "positive")
    asks(900, within=1000)
    expect(page.locator("#figures > [data-version]")).not_to_have_attribute("data-version", before)
    asks(150, within=200)
    asks(150, within=200)
    page.clock.fast_forward(60_000)
    page.wait_for_timeout(500)
    asks(900, within=1000)


def test_an_update_keeps_the_order_of_a_table_and_the_focus(page: Page, labelled: Pool):
    page.goto(f"{PAGE}/measures")
    page.locator("table.metrics").first.locator("thead button").nth(1).click()
    before = page.locator("caption").first.inner_text()
    judge(labelled.triples.filter(judgement=None, reason="")[0], "positive")
    expect(page.locator("caption").first).not_to_have_text(before)
    table = page.locator("table.metrics").first
    found = [float(row.locator("td").first.inner_text()) for row in table.locator("tbody tr").all()]
    assert found == sorted(found, reverse=True) and table.locator("th[aria-sort=descending]").count() == 1
    assert page.evaluate("document.activeElement.closest('th')?.getAttribute('aria-sort')") == "descending"


def test_a_click_on_a_heading_sorts_and_again_turns_it_round(page: Page):
    page.goto(f"{PAGE}/measures")
    table = page.locator("table.metrics").first
    heading = table.locator("thead button").nth(1)

    def values() -> list[float]:
        return [float(row.locator("td").first.inner_text()) for row in table.locator("tbody tr").all()]

    heading.click()
    assert values() == sorted(values(), reverse=True)
    assert table.locator("th[aria-sort=descending]").count() == 1
    heading.press("Enter")
    assert values() == sorted(values()) and table.locator("th[aria-sort=ascending]").count() == 1


def test_a_system_stands_out_on_every_chart_and_table_and_stays_so_while_labels_come(page: Page, labelled: Pool):
    page.goto(f"{PAGE}/correlation")
    shown = "[...document.querySelectorAll('.wide [data-at][data-mark]:not(.dimmed)')].map(one => one.dataset.name)"
    charts = page.locator(".chart-slope").count()
    assert charts and len(page.evaluate(shown)) == 3 * charts
    page.locator(".chart-slope .wide [data-name=ComplEx] text").first.click()
    assert page.evaluate(shown) == ["ComplEx"] * charts
    picked = page.locator("tr.picked > th[data-system]")
    assert set(picked.all_text_contents()) == {"ComplEx"}
    before = page.locator("#figures > [data-version]").get_attribute("data-version")
    judge(labelled.triples.filter(judgement=None, reason="")[0], "positive")
    expect(page.locator("#figures > [data-version]")).not_to_have_attribute("data-version", before)
    assert page.evaluate(shown) == ["ComplEx"] * charts
    page.keyboard.press("Escape")
    assert len(page.evaluate(shown)) == 3 * charts and picked.count() == 0


def test_a_link_to_a_section_that_is_still_being_computed_leads_there_once_it_is(page: Page, labelled: Pool):
    def with_more(route: Route) -> None:
        head, end, rest = route.fetch().text().partition(">")
        section = '<section id="comes-later"><h2>Here</h2></section>'
        route.fulfill(body=head + end + 200 * "<p>Above.</p>" + section + rest, content_type="text/html")

    page.route(lambda url: "part=figures" in url, with_more)
    page.goto(f"{PAGE}/correlation#comes-later")
    assert page.evaluate("scrollY") == 0
    judge(labelled.triples.filter(judgement=None, reason="")[0], "positive")
    expect(page.locator("#comes-later")).to_be_in_viewport()


def test_hover_tells_the_value_under_the_pointer(page: Page):
    page.goto(f"{PAGE}/depth")
    tip = page.locator(".chart-tip")
    expect(tip).to_be_hidden()
    mark = page.locator(
        "[data-chart=depth-values] .wide [data-name=rotate], [data-chart=depth-values] .wide [data-at]"
    ).first
    at, says = (mark.get_attribute(f"data-{key}") for key in ("at", "says"))
    x, y = map(float, at.split(" ")[-1].split(","))
    box = page.locator("[data-chart=depth-values] .wide").bounding_box()
    width = float(page.locator("[data-chart=depth-values] .wide").get_attribute("width"))
    page.mouse.move(box["x"] + x * box["width"] / width, box["y"] + y * box["width"] / width)
    expect(tip).to_be_visible()
    assert says.split("|")[-1].split(": ")[0] in tip.inner_text()
    page.mouse.move(2, 2)
    expect(tip).to_be_hidden()


def test_charts_are_there_without_scripts(page: Page, browser, live_server):
    context = browser.new_context(
        base_url=live_server.url, java_script_enabled=False, viewport={"width": 360, "height": 800}
    )
    context.add_cookies(page.context.cookies())
    plain = context.new_page()
    plain.goto(f"{PAGE}/depth")
    assert plain.locator("[data-chart] .narrow:visible").count() == plain.locator("[data-chart]").count() > 0
    assert plain.locator("[data-chart] .wide:visible").count() == plain.locator("[data-downloads]:visible").count() == 0
    context.close()


TRACES = "document.querySelector('.chart-3d').data.map(trace => [trace.type, trace.name])"
NO_WEBGL = """const own = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, more) {
  return kind.startsWith("webgl") ? null : own.call(this, kind, more);
};"""


def test_surfaces_come_when_they_are_opened_and_stay_while_labels_come(page: Page, labelled: Pool):
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{PAGE}/probe")
    assert page.locator("[data-chart=surface] .panel:visible").count() == 3
    assert not [url for url in asked if "plotly" in url]
    page.locator("[data-surface]").click()
    boxes = page.locator(".chart-choice input")
    expect(boxes).to_have_count(3)
    assert becomes_true(page, f"document.querySelector('.chart-3d')?.data && ({TRACES}).length === 2")
    for box in boxes.all():
        box.set_checked(False)
    page.locator(".chart-choice").get_by_label("ComplEx").check()
    page.locator(".chart-choice").get_by_label("TransE").check()
    assert page.evaluate(TRACES) == [["surface", "TransE"], ["surface", "ComplEx"]]
    before = page.locator("#figures > [data-version]").get_attribute("data-version")
    judge(labelled.triples.filter(judgement=None, reason="")[0], "positive")
    expect(page.locator("#figures > [data-version]")).not_to_have_attribute("data-version", before)
    expect(page.locator("#figures .chart-3d")).to_have_count(1)
    expect(page.locator("#figures .chart-choice input")).to_have_count(3)
    assert page.evaluate(TRACES) == [["surface", "TransE"], ["surface", "ComplEx"]]


def test_without_webgl_the_maps_are_pointed_to(page: Page):
    page.add_init_script(NO_WEBGL)
    page.goto(f"{PAGE}/probe")
    page.locator("[data-surface]").click()
    expect(page.locator("[data-message=no-webgl]")).to_be_visible()
    assert page.locator("[data-chart=surface] .panel:visible").count() == 3


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_a_chart_comes_as_a_file(page: Page, kind: str):
    page.goto(f"{PAGE}/measures")
    with page.expect_download() as download:
        page.locator(f"[data-format={kind}]").first.click()
    content = download.value.path().read_bytes()
    assert download.value.suggested_filename.endswith(f".{kind}")
    assert content.startswith(b"<svg" if kind == "svg" else b"\x89PNG") and len(content) > 2000


def test_a_name_with_signs_that_no_xml_holds_still_gives_a_file(page: Page):
    page.goto(f"{PAGE}/measures")
    page.locator("[data-chart] svg.drawing.wide text").first.evaluate(
        r"one => { one.textContent = 'A\ufffeB\u0001C\u{1f600}'; }"
    )
    with page.expect_download() as download:
        page.locator("[data-format=svg]").first.click()
    texts = [one.text for one in ElementTree.parse(download.value.path()).iter("{http://www.w3.org/2000/svg}text")]
    assert "A\ufffdB\ufffdC\U0001f600" in texts


def test_the_two_rankings_of_the_overview_come_as_a_file(page: Page, labelled: Pool):
    page.set_viewport_size({"width": 400, "height": 800})  # a file does not depend on the window
    page.goto(PAGE)
    with page.expect_download() as download:
        page.locator("[data-format=svg]").click()
    drawn = download.value.path().read_text()
    assert "current labels" in drawn and "class=" not in drawn and "var(" not in drawn
    for line in overview(labelled, "micro_mrr")["lines"]:
        assert drawn.count(f"{shown_name(line.change.system)} {line.change.sparse}</text>") == 1
        assert drawn.count(f">{line.change.completed} {shown_name(line.change.system)}</text>") == 1


def test_settings_are_in_the_address_and_come_back(page: Page):
    page.goto(f"{PAGE}/measures")
    page.select_option("select[name=labels]", "full-test")
    page.locator("form.settings details:has([name=measures]) summary").click()
    page.locator("[name=measures][value=bpref]").check()
    page.locator("form.settings [type=submit]").click()
    expect(page.locator("select[name=labels]")).to_have_value("full-test")
    assert "labels=full-test" in page.url and "measures=bpref" in page.url
    expect(page.locator("table.metrics").first).to_contain_text("bpref")
    page.go_back()
    expect(page.locator("select[name=labels]")).to_have_value("current")


def test_a_phone_shows_the_range_of_each_place(page: Page):
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto(PAGE)
    ranges = page.locator(".slope-span")
    assert ranges.count() > 0 and all(one.is_visible() for one in ranges.all())
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    right = page.locator(".slope").bounding_box()
    assert all(
        one.bounding_box()["x"] + one.bounding_box()["width"] <= right["x"] + right["width"] for one in ranges.all()
    )
