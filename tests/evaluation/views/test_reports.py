"""The page of the report, and its file; who may see them is in tests/pages/test_access.py."""

from __future__ import annotations

import json
from html import unescape
from pathlib import Path

import pytest

from evaluation.overview.full_report import full_report, report_html, report_json
from evaluation.pages.registry import ANALYSES
from evaluation.sections.settings import Settings
from pooling.models import Pool
from tests.page import elements

PAGE = "/pools/p/evaluation/report"
FILE = f"{PAGE}/download"
QUERY = "?measures=macro_mrr&against=depth:1&alpha=0.1"
ASKED = Settings(measures=("macro_mrr",), against="depth:1", alpha=0.1)


def test_page_says_what_the_report_will_hold(sign_in):
    page = unescape(sign_in("researcher").get(PAGE + QUERY).content.decode())
    links = [one.all(tag="a")[0] for one in elements(page, "content")]
    assert [link.text for link in links] == [a.title for a in ANALYSES]
    asked = dict(link["href"].removeprefix("/pools/p/evaluation/").partition("?")[::2] for link in links)
    assert list(asked) == [a.key for a in ANALYSES]
    assert asked["discriminative"] == "measures=macro_mrr&alpha=0.1"
    assert page.count("not computed</span> randomised Tukey HSD") == 1
    assert f'form="report-settings" formaction="{FILE}"' in page
    assert '<option value="depth:1" selected>' in page


def test_page_with_settings_that_are_wrong_says_so(sign_in):
    answer = sign_in("researcher").get(f"{PAGE}?alpha=7")
    assert answer.status_code == 400
    assert "alpha is &#x27;7&#x27;: give a number from 0.0001 to 0.5." in answer.content.decode()


def test_download_is_the_report_under_the_settings_asked_for(sign_in, labelled: Pool):
    answer = sign_in("researcher").get(FILE + QUERY)
    assert answer.status_code == 200
    assert answer["Content-Type"] == "text/html; charset=utf-8"
    assert answer["Content-Disposition"] == 'attachment; filename="p-report.html"'
    assert answer.content.decode() == report_html(full_report(labelled, ASKED))


def test_json_is_the_report_under_the_settings_asked_for(sign_in, labelled: Pool):
    answer = sign_in("researcher").get(f"{FILE}{QUERY}&format=json")
    assert answer["Content-Disposition"] == 'attachment; filename="p-report.json"'
    content = answer.json()
    expected = json.loads(json.dumps(report_json(full_report(labelled, ASKED)), default=str))
    assert content["as_of"][:19] == expected.pop("as_of")[:19].replace(" ", "T")
    del content["as_of"]
    assert content == expected


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("?measures=nonsense", "measure: unknown measure 'nonsense'"),
        ("?labels=qrels:none", "Pool p has no qrels 'none'. Qrels: none yet."),
    ],
)
def test_download_with_settings_that_are_wrong_is_refused(sign_in, query: str, said: str):
    answer = sign_in("researcher").get(FILE + query)
    assert answer.status_code == 400
    assert answer.content.decode().startswith(said)


def test_report_of_no_pool_is_404(sign_in):
    client = sign_in("manager")
    urls = ["/pools/none/evaluation/report", "/pools/none/evaluation/report/download"]
    assert [client.get(url).status_code for url in urls] == [404, 404]


@pytest.mark.browser
def test_file_draws_all_its_charts_without_a_server(labelled: Pool, tmp_path: Path, browser):
    report = full_report(labelled, Settings())
    file = tmp_path / "report.html"
    file.write_text(report_html(report), encoding="utf-8")
    charts = sum(bool(s["chart"]) for chapter in report.chapters for shown in chapter.parts for s in shown.sections)
    page = browser.new_context(color_scheme="dark", viewport={"width": 688, "height": 900}).new_page()
    asked, errors = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.goto(file.as_uri())
    drawn = "[...document.querySelectorAll('[data-chart]')].filter(c => [...c.children].some(s => s.checkVisibility()))"
    assert page.evaluate(f"{drawn}.length") == charts
    assert (asked, errors) == ([file.as_uri()], [])
    # light, whatever the screen is, and no table is cut on paper
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    page.emulate_media(media="print")
    assert page.evaluate("document.documentElement.scrollWidth") == 688
