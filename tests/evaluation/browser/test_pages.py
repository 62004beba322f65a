"""The evaluation pages in Chromium: charts are drawn, tables sort, a label shows without a page load."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from evaluation.analyses import discriminative
from evaluation.overview.rankings import overview
from evaluation.pages.registry import ANALYSES
from evaluation.sections.figure_cache import part_figure
from evaluation.sections.settings import Settings
from pooling.models import Pool
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
    chart = "document.querySelector('[data-chart=\"discriminative-matrix\"]').data"
    assert becomes_true(page, f"{chart} !== undefined")
    assert page.evaluate(f"{chart}[0].text") == [
        ["–", "< 0.0001", "0.0001"], ["< 0.0001", "–", "0.5000"], ["0.0001", "0.5000", "–"],
    ]  # fmt: skip


@pytest.mark.slow
def test_every_chart_is_drawn_and_axe_finds_nothing_serious(page: Page, labelled: Pool):
    from axe_playwright_python.sync_playwright import Axe

    compute_all(labelled)
    found = {}
    for path in (PAGE, *(f"{PAGE}/{analysis.key}" for analysis in ANALYSES), f"{PAGE}/questions", f"{PAGE}/labels"):
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            page.goto(path)
            charts = page.locator("[data-chart]")
            expect(page.locator("[data-chart].js-plotly-plot")).to_have_count(charts.count())
            for details in page.locator("main details").all():
                details.evaluate("one => one.open = true")
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


def test_a_system_stands_out_on_every_chart_and_again_it_does_not(page: Page):
    page.goto(f"{PAGE}/measures")
    chart = page.locator("[data-chart].js-plotly-plot").first
    opacities = "one => one.data.map(trace => trace.opacity ?? 1)"
    chart.locator(".legendtoggle").first.click()
    page.wait_for_function("() => document.querySelector('[data-chart]').data.some(trace => trace.opacity === 0.15)")
    found = chart.evaluate(opacities)
    assert found[0] == 1 and set(found[1:]) == {0.15}
    chart.locator(".legendtoggle").first.click()
    assert becomes_true(page, "document.querySelector('[data-chart]').data.every(trace => trace.opacity === 1)")


TRACES = "document.querySelector('[data-chart=surface]').data.map(trace => [trace.type, trace.name])"
NO_WEBGL = """const own = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, more) {
  return kind.startsWith("webgl") ? null : own.call(this, kind, more);
};"""


@pytest.mark.parametrize("kind", ["surface", "heatmap"])
def test_systems_are_chosen_for_surfaces_and_without_webgl_for_maps(page: Page, labelled: Pool, kind: str):
    if kind == "heatmap":
        page.add_init_script(NO_WEBGL)
    page.goto(f"{PAGE}/probe")
    boxes = page.locator(".chart-choice input")
    expect(boxes).to_have_count(3)
    at_first = page.evaluate(TRACES)
    assert at_first and {own for own, _ in at_first} == {kind}
    for box in boxes.all():
        box.set_checked(False)
    page.locator(".chart-choice").get_by_label("complex").check()
    page.locator(".chart-choice").get_by_label("transe").check()
    assert page.evaluate(TRACES) == [[kind, "transe"], [kind, "complex"]]
    assert boxes.count() == 3
    assert page.locator("[data-message=no-webgl]").count() == (kind == "heatmap")


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_a_chart_comes_as_a_file(page: Page, kind: str):
    page.goto(f"{PAGE}/measures")
    with page.expect_download() as download:
        page.locator(f"[data-format={kind}]").first.click()
    content = download.value.path().read_bytes()
    assert download.value.suggested_filename.endswith(f".{kind}")
    assert content.startswith(b"<svg" if kind == "svg" else b"\x89PNG") and len(content) > 2000


def test_the_two_rankings_of_the_overview_come_as_a_file(page: Page, labelled: Pool):
    page.set_viewport_size({"width": 400, "height": 800})  # a file does not depend on the window
    page.goto(PAGE)
    with page.expect_download() as download:
        page.locator("[data-format=svg]").click()
    drawn = download.value.path().read_text()
    assert 'width="1000"' in drawn and "current labels" in drawn
    for line in overview(labelled, "micro_mrr")["lines"]:
        assert drawn.count(f"{line.change.system} {line.change.sparse}<") == 1
        assert drawn.count(f">{line.change.completed} {line.change.system}<") == 1


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
