"""The open-world page: works as a form, gives its figures alone to its script, refuses in words, has CSV."""

from __future__ import annotations

import csv
import io
import json
import re

from evaluation.open_world.theory_page import SECTIONS
from evaluation.open_world.theory_settings import TheorySettings

PAGE = "/open-world"


def test_the_page_shows_every_section_and_the_settings_of_its_address(sign_in):
    answer = sign_in("researcher").get(f"{PAGE}?n=20&beta=0.5&metric=p_mrr")
    html = answer.content.decode()
    assert answer.status_code == 200
    charts = json.loads(re.search(r'<script id="chart-data"[^>]*>(.*?)</script>', html, re.S)[1])
    settings = TheorySettings(n=20, beta=0.5, metric="p_mrr")
    sections = [make(settings) for make in SECTIONS.values()]
    assert [chart["key"] for chart in charts] == [section.key for section in sections if section.chart]
    for key in SECTIONS:
        assert f'id="{key}-title"' in html
        assert f'href="{PAGE}/{key}.csv?n=20&amp;beta=0.5&amp;metric=p_mrr"' in html
    for name, value in {"n": 20, "beta": 0.5, "strength": 0.7, "questions": 500}.items():
        assert re.search(rf'name="{name}" value="{value}"', html), name
    assert '<option value="p_mrr" selected>' in html
    assert not re.search(r"<script(?![^>]*(src=|application/json))", html) and " style=" not in html


def test_the_figures_come_alone(sign_in):
    html = sign_in("researcher").get(f"{PAGE}?part=figures").content.decode()
    assert html.startswith('<div data-rho="−0.892 to 0.480">') and 'id="chart-data"' in html
    assert "<form" not in html and "<html" not in html


def test_bad_settings_are_refused_in_words_and_kept_in_the_form(sign_in):
    client = sign_in("researcher")
    answer = client.get(f"{PAGE}?rho=0.9")
    html = answer.content.decode()
    assert answer.status_code == 400 and "ρ is 0.9, which cannot be" in html
    assert 'name="rho" value="0.9"' in html and "chart-data" not in html
    part = client.get(f"{PAGE}?n=x&part=figures")
    assert part.status_code == 200 and "give a whole number from 1 to 200" in part.content.decode()


def test_csv_is_the_table(sign_in):
    client = sign_in("researcher")
    for key, make in SECTIONS.items():
        answer = client.get(f"{PAGE}/{key}.csv?n=20")
        rows = list(csv.reader(io.StringIO(answer.content.decode().removeprefix("\ufeff"))))
        (table,) = make(TheorySettings(n=20)).tables
        columns = [column.key for column in table.columns]
        assert rows[0][: len(columns)] == columns and len(rows) == len(table.rows) + 1
        assert f'filename="open-world-{key}-n-20.csv"' in answer["Content-Disposition"]


def test_csv_of_what_is_not_there(sign_in):
    client = sign_in("researcher")
    assert client.get(f"{PAGE}/nothing.csv").status_code == 404
    bad = client.get(f"{PAGE}/theory.csv?beta=2")
    assert (bad.status_code, bad["Content-Type"]) == (400, "text/plain; charset=utf-8")
    assert "β (beta) is '2'" in bad.content.decode()


def test_pool_page_and_home_lead_to_it(sign_in):
    client = sign_in("researcher")
    for page in ("/", "/pools/p/evaluation/open-world"):
        assert f'href="{PAGE}"' in client.get(page).content.decode()
    assert f'href="{PAGE}"' not in sign_in("annotator").get("/").content.decode()
